-- Background work that is wanted. Who does it holds the lease of the conversation; a job whose lease is over was left behind by a
-- process that is gone. No foreign keys: a conversation may be stored later than its job.
CREATE TABLE jobs (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    wanted_ms    INTEGER NOT NULL,
    begun_ms     INTEGER,
    tries        INTEGER NOT NULL CHECK (tries >= 0),
    PRIMARY KEY (tenant, conversation)
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_by_age ON jobs (wanted_ms);

-- What providers counted for requests, by the last link of each. `kind` are the bits of an unsigned number. Only the newest few links
-- of a conversation are asked for, so that older rows go.
CREATE TABLE counted (
    tenant           TEXT    NOT NULL,
    node             BLOB    NOT NULL CHECK (length(node) = 32),
    conversation     TEXT    NOT NULL,
    kind             INTEGER NOT NULL,
    compaction       TEXT,
    real_tokens      INTEGER NOT NULL CHECK (real_tokens >= 0),
    estimated_tokens INTEGER NOT NULL CHECK (estimated_tokens >= 0),
    at_ms            INTEGER NOT NULL,
    PRIMARY KEY (tenant, node)
) STRICT, WITHOUT ROWID;

CREATE INDEX counted_by_conversation ON counted (tenant, conversation, at_ms);

-- As in 0008: without it a conversation's counts would be looked for among all of its tenant.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('counted', 'counted', '1000000000 1000000000 1'),
    ('counted', 'counted_by_conversation', '1000000000 1000000000 100 1 1');
ANALYZE sqlite_schema;
