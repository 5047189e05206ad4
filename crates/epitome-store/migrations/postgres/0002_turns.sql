-- Turns of conversations whose history the provider keeps, by the ids of their answers. `items` is a JSON array of what a
-- turn added: what the client sent and what the model answered, as a client may send it back. `compaction` is the one that
-- the provider's history begins with. Neither `previous` nor `compaction` is a foreign key: they may be written later.
CREATE TABLE turns (
    tenant     TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    previous   TEXT COLLATE "C",
    items      BYTEA  NOT NULL,
    compaction TEXT COLLATE "C",
    at_ms      BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
