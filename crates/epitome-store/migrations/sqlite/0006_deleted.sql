-- What was deleted on purpose: whoever sends it again does not bring it back. No content, only names and links.
CREATE TABLE deleted_conversations (
    tenant TEXT    NOT NULL,
    id     TEXT    NOT NULL,
    at_ms  INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

-- The last links of what was deleted, and what was to come behind them. Never the first link of a conversation: another one may
-- begin with the same words.
CREATE TABLE deleted_nodes (
    tenant TEXT    NOT NULL,
    digest BLOB    NOT NULL CHECK (length(digest) = 32),
    at_ms  INTEGER NOT NULL,
    PRIMARY KEY (tenant, digest)
) STRICT, WITHOUT ROWID;

-- From a row to those that stand on it, which a deletion has to know.
CREATE INDEX nodes_by_parent ON nodes (tenant, parent);
CREATE INDEX compactions_by_node ON compactions (tenant, node);
CREATE INDEX changes_by_compaction ON changes (tenant, compaction);
CREATE INDEX outcomes_by_conversation ON outcomes (tenant, conversation);
CREATE INDEX memories_by_conversation ON memories (tenant, conversation);
CREATE INDEX conversations_by_parent ON conversations (tenant, parent);

-- The oldest ones of all tenants.
CREATE INDEX conversations_by_age ON conversations (touched_ms, tenant, id);
