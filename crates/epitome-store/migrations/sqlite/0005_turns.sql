-- Turns of conversations whose history the provider keeps, by the ids of their answers. `items` is a JSON array of what a
-- turn added: what the client sent and what the model answered, as a client may send it back. `compaction` is the one that
-- the provider's history begins with. Neither `previous` nor `compaction` is a foreign key: they may be written later.
CREATE TABLE turns (
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    previous   TEXT,
    items      BLOB    NOT NULL,
    compaction TEXT,
    at_ms      INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
