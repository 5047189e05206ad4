-- What is believed of a model at an endpoint: its window, how it counts, and why. `body` is JSON of the program's own.
-- `windows` keeps what earlier versions learned without evidence.
CREATE TABLE beliefs (
    endpoint TEXT    NOT NULL,
    model    TEXT    NOT NULL,
    body     TEXT    NOT NULL,
    at_ms    INTEGER NOT NULL,
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
