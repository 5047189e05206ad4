-- What is believed of a model at an endpoint: its window and why, and how it counts. Both are JSON of the program's own.
-- They are written apart: a node that counts must not bring back a window that another has unlearned.
-- `windows` keeps what earlier versions learned without evidence.
CREATE TABLE beliefs (
    endpoint TEXT    NOT NULL,
    model    TEXT    NOT NULL,
    window   TEXT,
    counts   TEXT,
    at_ms    INTEGER NOT NULL,
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
