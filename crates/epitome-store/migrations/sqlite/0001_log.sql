-- Marks the file as epitome's ("epit"), so that another program's database is never written to.
PRAGMA application_id = 1701865844;

CREATE TABLE tenants (
    tenant TEXT NOT NULL PRIMARY KEY,
    key    BLOB NOT NULL CHECK (length(key) = 32)
) STRICT, WITHOUT ROWID;

-- `parent` is no foreign key: it is a link for people, and the parent may be written later.
CREATE TABLE conversations (
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    parent     TEXT,
    label      TEXT,
    created_ms INTEGER NOT NULL,
    touched_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_by_touch ON conversations (tenant, touched_ms DESC, id);

-- Rows are large, so this one table keeps its rowid: bytes lie in the order of arrival.
CREATE TABLE entries (
    tenant TEXT    NOT NULL,
    key    BLOB    NOT NULL CHECK (length(key) = 32),
    wire   TEXT    NOT NULL,
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    raw    BLOB    NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;

CREATE TABLE nodes (
    tenant       TEXT    NOT NULL,
    digest       BLOB    NOT NULL CHECK (length(digest) = 32),
    parent       BLOB,
    entry        BLOB    NOT NULL,
    position     INTEGER NOT NULL CHECK (position >= 0),
    conversation TEXT    NOT NULL,
    PRIMARY KEY (tenant, digest),
    FOREIGN KEY (tenant, parent) REFERENCES nodes (tenant, digest),
    FOREIGN KEY (tenant, entry) REFERENCES entries (tenant, key),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX nodes_by_conversation ON nodes (tenant, conversation);

CREATE TABLE compactions (
    tenant          TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    conversation    TEXT    NOT NULL,
    node            BLOB    NOT NULL,
    model_class     TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('prepared', 'published', 'undone')),
    head_entries    INTEGER NOT NULL CHECK (head_entries >= 0),
    covered_entries INTEGER NOT NULL CHECK (covered_entries >= 0),
    tokens_before   INTEGER NOT NULL CHECK (tokens_before >= 0),
    tokens_after    INTEGER NOT NULL CHECK (tokens_after >= 0),
    summary         TEXT    NOT NULL,
    record          TEXT    NOT NULL,
    created_ms      INTEGER NOT NULL,
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, node) REFERENCES nodes (tenant, digest),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id)
) STRICT;

-- The first writer wins: one live compaction for each epoch.
CREATE UNIQUE INDEX compactions_live ON compactions (tenant, node, model_class) WHERE state <> 'undone';

CREATE INDEX compactions_by_conversation ON compactions (tenant, conversation, created_ms);

CREATE TABLE outcomes (
    id            INTEGER PRIMARY KEY,
    tenant        TEXT    NOT NULL,
    conversation  TEXT,
    at_ms         INTEGER NOT NULL,
    action        TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    tokens_before INTEGER NOT NULL CHECK (tokens_before >= 0),
    tokens_after  INTEGER NOT NULL CHECK (tokens_after >= 0),
    model         TEXT    NOT NULL
) STRICT;

CREATE INDEX outcomes_by_time ON outcomes (tenant, at_ms DESC, id DESC);

CREATE TABLE windows (
    endpoint      TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    window_tokens INTEGER NOT NULL CHECK (window_tokens >= 0),
    at_ms         INTEGER NOT NULL,
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
