-- Background work that is wanted. Who does it holds the lease of the conversation; a job whose lease is over was left behind by a
-- node that is gone. Times are of this server's clock. No foreign keys: a conversation may be stored later than its job.
CREATE TABLE jobs (
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL,
    reason       TEXT   NOT NULL,
    wanted_ms    BIGINT NOT NULL,
    begun_ms     BIGINT,
    tries        BIGINT NOT NULL CHECK (tries >= 0),
    PRIMARY KEY (tenant, conversation)
);

CREATE INDEX jobs_by_age ON jobs (wanted_ms);

-- What providers counted for requests, by the last link of each. `kind` are the bits of an unsigned number. Only the newest few links
-- of a conversation are asked for, so that older rows go.
CREATE TABLE counted (
    tenant           TEXT COLLATE "C" NOT NULL,
    node             BYTEA  NOT NULL CHECK (octet_length(node) = 32),
    conversation     TEXT COLLATE "C" NOT NULL,
    kind             BIGINT NOT NULL,
    compaction       BYTEA,
    real_tokens      BIGINT NOT NULL CHECK (real_tokens >= 0),
    estimated_tokens BIGINT NOT NULL CHECK (estimated_tokens >= 0),
    at_ms            BIGINT NOT NULL,
    PRIMARY KEY (tenant, node)
);

CREATE INDEX counted_by_conversation ON counted (tenant, conversation, at_ms);
