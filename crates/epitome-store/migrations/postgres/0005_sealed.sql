-- How often an entry has each of its words, a line for each, encrypted: where there is a key there are no rows in
-- `entry_words`, and a conversation is searched by these.
ALTER TABLE indexed_entries ADD COLUMN counts BYTEA;

-- The names of the keys that values here are encrypted with, the keys themselves never. Without them the store is not opened.
CREATE TABLE store_keys (
    id BYTEA PRIMARY KEY CHECK (octet_length(id) = 8)
);

-- Secrets of tenants, encrypted. Their rows in `tenants` have zeros instead.
CREATE TABLE sealed_secrets (
    tenant TEXT COLLATE "C" PRIMARY KEY,
    key    BYTEA NOT NULL
);
