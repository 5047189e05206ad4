-- The newest node of a conversation is found without reading the others.
DROP INDEX nodes_by_conversation;
CREATE INDEX nodes_by_conversation ON nodes (tenant, conversation, position);

-- From an entry that was found by its words to where it stands.
CREATE INDEX nodes_by_entry ON nodes (tenant, entry);

-- What happened to a conversation, in order. `seq` counts from 0 without gaps: of two writers the second is refused.
-- `kind` has no CHECK, so that another kind needs no new table; the crate reads only those it knows.
CREATE TABLE changes (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    seq          INTEGER NOT NULL CHECK (seq >= 0),
    kind         TEXT    NOT NULL,
    compaction   TEXT,
    body         TEXT    NOT NULL,
    at_ms        INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, seq),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id),
    FOREIGN KEY (tenant, compaction) REFERENCES compactions (tenant, id)
) STRICT, WITHOUT ROWID;

-- A released lease keeps its row (without a holder), so that the fence never falls back.
CREATE TABLE leases (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    holder       TEXT,
    fence        INTEGER NOT NULL CHECK (fence > 0),
    until_ms     INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation)
) STRICT, WITHOUT ROWID;

-- `number` is the row of `memory_words`. `entries` is a JSON array of positions.
CREATE TABLE memories (
    number       INTEGER PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    key          BLOB    NOT NULL CHECK (length(key) = 32),
    kind         TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    conversation TEXT,
    entries      TEXT    NOT NULL,
    created_ms   INTEGER NOT NULL,
    UNIQUE (tenant, id),
    UNIQUE (tenant, key)
) STRICT;

CREATE INDEX memories_by_time ON memories (tenant, created_ms DESC, number DESC);

-- The entries whose words are known. `number` is the row of `entry_words`; the row of `entries` would not do, because
-- a VACUUM may renumber it.
CREATE TABLE indexed_entries (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    key    BLOB NOT NULL CHECK (length(key) = 32),
    UNIQUE (tenant, key),
    FOREIGN KEY (tenant, key) REFERENCES entries (tenant, key)
) STRICT;

-- The words only, not the text: bytes are stored once, in `entries`. Every word is marked with its tenant. Marks of
-- letters (`M*`) belong to words, or those of many scripts would fall apart.
CREATE VIRTUAL TABLE entry_words USING fts5 (
    words, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* M* Co' tokenchars '_'"
);

CREATE VIRTUAL TABLE memory_words USING fts5 (
    words, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* M* Co' tokenchars '_'"
);
