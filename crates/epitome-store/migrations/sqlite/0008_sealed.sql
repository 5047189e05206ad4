-- How often an entry has each of its words, a line for each: a conversation is searched entry by entry, however many others
-- there are. Nothing for what an earlier version indexed.
ALTER TABLE indexed_entries ADD COLUMN counts BLOB;

-- The names of the keys that values here are encrypted with, the keys themselves never. Without them the store is not opened.
CREATE TABLE store_keys (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 8)
) STRICT, WITHOUT ROWID;

-- Secrets of tenants, encrypted. Their rows in `tenants` have zeros instead.
CREATE TABLE sealed_secrets (
    tenant TEXT NOT NULL PRIMARY KEY,
    key    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What SQLite would find out by counting in a large store. Without it it takes the tenant for the best there is to look for, and goes
-- through all that the tenant has. The numbers are that large so that going through a whole table never looks like the cheaper
-- way. The first `ANALYZE` makes the table, the second has it read.
ANALYZE store_keys;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('nodes', 'nodes', '1000000000 1000000000 1'),
    ('nodes', 'nodes_by_conversation', '1000000000 1000000000 100 1 1'),
    ('nodes', 'nodes_by_entry', '1000000000 1000000000 2 1'),
    ('nodes', 'nodes_by_parent', '1000000000 1000000000 2 1'),
    ('compactions', 'sqlite_autoindex_compactions_1', '1000000000 1000000000 1'),
    ('compactions', 'compactions_live', '1000000000 1000000000 2 1'),
    ('compactions', 'compactions_by_conversation', '1000000000 1000000000 3 1'),
    ('compactions', 'compactions_by_node', '1000000000 1000000000 2'),
    ('conversations', 'conversations', '1000000000 1000000000 1'),
    ('conversations', 'conversations_by_touch', '1000000000 1000000000 2 1'),
    ('conversations', 'conversations_by_parent', '1000000000 1000000000 10 1'),
    ('conversations', 'conversations_by_age', '1000000000 2 1 1'),
    ('changes', 'changes', '1000000000 1000000000 3 1'),
    ('changes', 'changes_by_compaction', '1000000000 1000000000 2 1 1'),
    ('pins', 'pins', '1000000000 1000000000 3 1'),
    ('entries', 'sqlite_autoindex_entries_1', '1000000000 1000000000 1'),
    ('indexed_entries', 'sqlite_autoindex_indexed_entries_1', '1000000000 1000000000 1'),
    ('memories', 'sqlite_autoindex_memories_1', '1000000000 1000000000 1'),
    ('memories', 'sqlite_autoindex_memories_2', '1000000000 1000000000 1'),
    ('memories', 'memories_by_time', '1000000000 1000000000 2 1'),
    ('memories', 'memories_by_conversation', '1000000000 1000000000 5'),
    ('outcomes', 'outcomes_by_time', '1000000000 1000000000 2 1'),
    ('outcomes', 'outcomes_by_conversation', '1000000000 1000000000 100'),
    ('turns', 'sqlite_autoindex_turns_1', '1000000000 1000000000 1'),
    ('deleted_nodes', 'deleted_nodes', '1000000000 1000000000 1');
ANALYZE sqlite_schema;
