-- What people said about the pins of a conversation: `mark` is whether one is dropped or was restored. It holds for the
-- conversations that branched off as well, until one of them says otherwise.
-- `mark` has no CHECK, so that another one needs no new table; the crate reads only those it knows.
CREATE TABLE pins (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    mark         TEXT    NOT NULL,
    at_ms        INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, text),
    FOREIGN KEY (tenant, conversation) REFERENCES conversations (tenant, id)
) STRICT, WITHOUT ROWID;
