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
