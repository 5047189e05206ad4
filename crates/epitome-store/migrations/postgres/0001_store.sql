-- Everything a store keeps. Two rules hold throughout:
-- - What a caller may fill with any text is BYTEA: TEXT refuses the character NUL, and bytes sort the same on every server.
-- - Names that this crate checks or makes are TEXT COLLATE "C", so that they sort as SQLite sorts them.

CREATE TABLE tenants (
    tenant TEXT COLLATE "C" PRIMARY KEY,
    key    BYTEA NOT NULL CHECK (octet_length(key) = 32)
);

-- `parent` is no foreign key: it is a link for people, and the parent may be written later.
CREATE TABLE conversations (
    tenant     TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    parent     TEXT COLLATE "C",
    label      BYTEA,
    created_ms BIGINT NOT NULL,
    touched_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE INDEX conversations_by_touch ON conversations (tenant, touched_ms DESC, id);

CREATE TABLE entries (
    tenant TEXT COLLATE "C" NOT NULL,
    key    BYTEA  NOT NULL CHECK (octet_length(key) = 32),
    wire   TEXT   NOT NULL,
    tokens BIGINT NOT NULL CHECK (tokens >= 0),
    raw    BYTEA  NOT NULL,
    PRIMARY KEY (tenant, key)
);

CREATE TABLE nodes (
    tenant       TEXT COLLATE "C" NOT NULL,
    digest       BYTEA  NOT NULL CHECK (octet_length(digest) = 32),
    parent       BYTEA,
    entry        BYTEA  NOT NULL,
    position     BIGINT NOT NULL CHECK (position >= 0),
    conversation TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, digest),
    FOREIGN KEY (tenant, parent) REFERENCES nodes (tenant, digest),
    FOREIGN KEY (tenant, entry) REFERENCES entries (tenant, key),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id)
);

-- The newest node of a conversation is found without reading the others.
CREATE INDEX nodes_by_conversation ON nodes (tenant, conversation, position);

-- From an entry that was found by its words to where it stands.
CREATE INDEX nodes_by_entry ON nodes (tenant, entry);

CREATE TABLE compactions (
    tenant          TEXT COLLATE "C" NOT NULL,
    id              BYTEA  NOT NULL,
    conversation    TEXT COLLATE "C" NOT NULL,
    node            BYTEA  NOT NULL,
    model_class     BYTEA  NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('prepared', 'published', 'undone')),
    head_entries    BIGINT NOT NULL CHECK (head_entries >= 0),
    covered_entries BIGINT NOT NULL CHECK (covered_entries >= 0),
    tokens_before   BIGINT NOT NULL CHECK (tokens_before >= 0),
    tokens_after    BIGINT NOT NULL CHECK (tokens_after >= 0),
    summary         BYTEA  NOT NULL,
    record          BYTEA  NOT NULL,
    created_ms      BIGINT NOT NULL,
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, node) REFERENCES nodes (tenant, digest),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id)
);

-- The first writer wins: one live compaction for each epoch.
CREATE UNIQUE INDEX compactions_live ON compactions (tenant, node, model_class) WHERE state <> 'undone';

CREATE INDEX compactions_by_conversation ON compactions (tenant, conversation, created_ms);

-- What happened to a conversation, in order. `seq` counts from 0 without gaps: of two writers the second is refused.
-- `kind` has no CHECK, so that another kind needs no new table; the crate reads only those it knows.
CREATE TABLE changes (
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL CHECK (seq >= 0),
    kind         TEXT   NOT NULL,
    compaction   BYTEA,
    body         BYTEA  NOT NULL,
    at_ms        BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation, seq),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id),
    FOREIGN KEY (tenant, compaction) REFERENCES compactions (tenant, id)
);

-- What people said about the pins of a conversation. `mark` has no CHECK, as `kind` above.
CREATE TABLE pins (
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL,
    text         BYTEA  NOT NULL,
    mark         TEXT   NOT NULL,
    at_ms        BIGINT NOT NULL,
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id)
);

-- A sentence may be longer than what an index row can hold, so its digest stands for it.
CREATE UNIQUE INDEX pins_by_text ON pins (tenant, conversation, sha256(text));

-- A released lease keeps its row (without a holder), so that the fence never falls back. `until_ms` is a time of this
-- server's clock.
CREATE TABLE leases (
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL,
    holder       BYTEA,
    fence        BIGINT NOT NULL CHECK (fence > 0),
    until_ms     BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation)
);

CREATE TABLE outcomes (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant        TEXT COLLATE "C" NOT NULL,
    conversation  TEXT COLLATE "C",
    at_ms         BIGINT NOT NULL,
    action        TEXT   NOT NULL,
    reason        TEXT   NOT NULL,
    tokens_before BIGINT NOT NULL CHECK (tokens_before >= 0),
    tokens_after  BIGINT NOT NULL CHECK (tokens_after >= 0),
    model         BYTEA  NOT NULL
);

CREATE INDEX outcomes_by_time ON outcomes (tenant, at_ms DESC, id DESC);

CREATE TABLE windows (
    endpoint      BYTEA  NOT NULL,
    model         BYTEA  NOT NULL,
    window_tokens BIGINT NOT NULL CHECK (window_tokens >= 0),
    at_ms         BIGINT NOT NULL,
    PRIMARY KEY (endpoint, model)
);

-- What is believed of a model at an endpoint: its window and why, and how it counts. They are written apart: a node that
-- counts must not bring back a window that another has unlearned.
CREATE TABLE beliefs (
    endpoint BYTEA  NOT NULL,
    model    BYTEA  NOT NULL,
    "window" BYTEA,
    counts   BYTEA,
    at_ms    BIGINT NOT NULL,
    PRIMARY KEY (endpoint, model)
);

-- `number` is the row in `memory_words`, `words` how many words it has. `entries` is a JSON array of positions.
CREATE TABLE memories (
    number       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       TEXT COLLATE "C" NOT NULL,
    id           BYTEA  NOT NULL,
    key          BYTEA  NOT NULL CHECK (octet_length(key) = 32),
    kind         BYTEA  NOT NULL,
    text         BYTEA  NOT NULL,
    conversation TEXT COLLATE "C",
    entries      TEXT   NOT NULL,
    created_ms   BIGINT NOT NULL,
    words        BIGINT NOT NULL,
    UNIQUE (tenant, id),
    UNIQUE (tenant, key)
);

CREATE INDEX memories_by_time ON memories (tenant, created_ms DESC, number DESC);

CREATE TABLE memory_words (
    memory BIGINT NOT NULL,
    word   TEXT COLLATE "C" NOT NULL,
    count  BIGINT NOT NULL,
    PRIMARY KEY (memory, word)
);

-- The entries whose words are known. `number` is the row in `entry_words`, `words` how many words it has.
CREATE TABLE indexed_entries (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL,
    key    BYTEA  NOT NULL,
    words  BIGINT NOT NULL,
    UNIQUE (tenant, key),
    FOREIGN KEY (tenant, key) REFERENCES entries (tenant, key)
);

-- The words of entries, without case and accents. By its first key a conversation is searched entry by entry, however
-- many others there are. Both references stand in `indexed_entries`, written in the same transaction; a foreign key would
-- check every word.
CREATE TABLE entry_words (
    entry  BIGINT NOT NULL,
    word   TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    count  BIGINT NOT NULL,
    PRIMARY KEY (entry, word)
);

CREATE INDEX entry_words_by_word ON entry_words (tenant, word);
