//! The SQL that SQLite and PostgreSQL both accept.

/// The columns of a compaction, in the order in which they are bound and decoded.
macro_rules! compaction_columns {
    () => {
        "id, conversation, node, model_class, state, head_entries, covered_entries, \
         tokens_before, tokens_after, summary, record, created_ms"
    };
}
pub(crate) use compaction_columns;

pub(crate) const SELECT_STORE_KEYS: &str = "SELECT id FROM store_keys ORDER BY id";

pub(crate) const INSERT_STORE_KEY: &str =
    "INSERT INTO store_keys (id) VALUES ($1) ON CONFLICT (id) DO NOTHING";

/// The secret of a tenant in a file of a version before those that encrypt.
pub(crate) const SELECT_TENANT_KEY: &str = "SELECT key FROM tenants WHERE tenant = $1";

pub(crate) const INSERT_COMPACTION: &str = concat!(
    "INSERT INTO compactions (tenant, ",
    compaction_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
    ON CONFLICT (tenant, node, model_class) WHERE state <> 'undone' DO NOTHING"
);

pub(crate) const SELECT_LIVE_COMPACTION: &str = concat!(
    "SELECT ",
    compaction_columns!(),
    " FROM compactions \
    WHERE tenant = $1 AND node = $2 AND model_class = $3 AND state <> 'undone'"
);

pub(crate) const SELECT_COMPACTION_STATE: &str =
    "SELECT state FROM compactions WHERE tenant = $1 AND id = $2";

pub(crate) const UPDATE_COMPACTION_STATE: &str =
    "UPDATE compactions SET state = $3 WHERE tenant = $1 AND id = $2";

pub(crate) const UPDATE_COMPACTION_RECORD: &str =
    "UPDATE compactions SET record = $3 WHERE tenant = $1 AND id = $2";

pub(crate) const SELECT_COMPACTIONS_OF: &str = concat!(
    "SELECT ",
    compaction_columns!(),
    " FROM compactions WHERE tenant = $1 AND conversation = $2 ORDER BY created_ms, id"
);

/// The conversation itself first, then the one that it branched off from, and so on. Whatever names are stored, it ends.
/// `CROSS JOIN` keeps SQLite from going through all compactions of the tenant.
pub(crate) const SELECT_COMPACTIONS_ALONG: &str = concat!(
    "WITH RECURSIVE line (place, distance) AS ( \
        SELECT id, 0 FROM conversations WHERE tenant = $1 AND id = $2 \
        UNION ALL \
        SELECT o.parent, line.distance + 1 FROM line \
            JOIN conversations AS o ON o.tenant = $1 AND o.id = line.place \
            WHERE o.parent IS NOT NULL AND line.distance < 64 \
    ) \
    SELECT ",
    compaction_columns!(),
    " FROM line CROSS JOIN compactions AS c \
        WHERE c.tenant = $1 AND c.conversation = line.place AND c.state <> 'undone' \
    ORDER BY line.distance, created_ms DESC, id DESC LIMIT $3"
);

pub(crate) const SELECT_COMPACTION: &str = concat!(
    "SELECT ",
    compaction_columns!(),
    " FROM compactions WHERE tenant = $1 AND id = $2"
);

/// The columns of a conversation as it is listed.
macro_rules! select_conversation {
    () => {
        "SELECT c.id, c.parent, c.label, c.created_ms, c.touched_ms, \
            (SELECT count(*) FROM nodes AS n \
                WHERE n.tenant = c.tenant AND n.conversation = c.id), \
            (SELECT count(*) FROM compactions AS k \
                WHERE k.tenant = c.tenant AND k.conversation = c.id) \
        FROM conversations AS c WHERE c.tenant = $1 "
    };
}

pub(crate) const SELECT_CONVERSATIONS: &str = concat!(
    select_conversation!(),
    "ORDER BY c.touched_ms DESC, c.id LIMIT $2"
);

pub(crate) const SELECT_CONVERSATION: &str = concat!(select_conversation!(), "AND c.id = $2");

/// The last node of a conversation. `$nodes` is the table; SQLite has to be told the index, or it goes through all nodes of the tenant.
macro_rules! select_tip {
    ($nodes:literal) => {
        concat!(
            "SELECT digest, parent, entry, position, conversation FROM ",
            $nodes,
            " WHERE tenant = $1 AND conversation = $2 ORDER BY position DESC, digest LIMIT 1"
        )
    };
}
pub(crate) use select_tip;

pub(crate) const SELECT_PATH: &str = "\
    WITH RECURSIVE path (digest, parent, entry, position, conversation) AS ( \
        SELECT digest, parent, entry, position, conversation FROM nodes \
            WHERE tenant = $1 AND digest = $2 \
        UNION ALL \
        SELECT n.digest, n.parent, n.entry, n.position, n.conversation FROM path \
            JOIN nodes AS n ON n.tenant = $1 AND n.digest = path.parent \
    ) \
    SELECT digest, parent, entry, position, conversation FROM path ORDER BY position";

/// The position is there for the sake of decoding.
pub(crate) const SELECT_ENTRY: &str =
    "SELECT CAST(0 AS BIGINT), key, raw, wire, tokens FROM entries WHERE tenant = $1 AND key = $2";

pub(crate) const SELECT_CHANGES: &str = "\
    SELECT conversation, seq, kind, compaction, body, at_ms FROM changes \
    WHERE tenant = $1 AND conversation = $2 ORDER BY seq";

pub(crate) const IS_NEXT_CHANGE: &str = "\
    SELECT $3 = (SELECT count(*) FROM changes WHERE tenant = $1 AND conversation = $2) \
        AND ($4 IS NULL OR EXISTS (SELECT 1 FROM leases \
            WHERE tenant = $1 AND conversation = $2 AND fence = $4 AND holder IS NOT NULL))";

pub(crate) const INSERT_CHANGE: &str = "\
    INSERT INTO changes (tenant, conversation, seq, kind, compaction, body, at_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// One statement, so that two processes cannot both be granted it.
pub(crate) const ACQUIRE_LEASE: &str = "\
    INSERT INTO leases (tenant, conversation, holder, fence, until_ms) VALUES ($1, $2, $3, 1, $5) \
    ON CONFLICT (tenant, conversation) DO UPDATE SET \
        fence = leases.fence + CASE WHEN leases.holder = excluded.holder \
            AND leases.until_ms > $4 THEN 0 ELSE 1 END, \
        until_ms = CASE WHEN leases.holder = excluded.holder \
            AND leases.until_ms > excluded.until_ms THEN leases.until_ms ELSE excluded.until_ms END, \
        holder = excluded.holder \
    WHERE leases.holder IS NULL OR leases.holder = excluded.holder OR leases.until_ms <= $4 \
    RETURNING fence";

/// What nobody asked for again within an hour is not wanted any more: a client that goes on asks again.
pub(crate) const LONGEST_WANTED_MS: i64 = 3_600_000;

pub(crate) const DELETE_JOB: &str = "DELETE FROM jobs WHERE tenant = $1 AND conversation = $2";

/// How long counts of links are kept behind the newest one of their conversation.
pub(crate) const COUNTED_FOR_MS: i64 = 86_400_000;

pub(crate) const UPSERT_COUNTED: &str = "\
    INSERT INTO counted \
        (tenant, node, conversation, kind, compaction, real_tokens, estimated_tokens, at_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant, node) DO UPDATE SET \
        conversation = excluded.conversation, kind = excluded.kind, \
        compaction = excluded.compaction, real_tokens = excluded.real_tokens, \
        estimated_tokens = excluded.estimated_tokens, at_ms = excluded.at_ms \
    WHERE excluded.at_ms >= counted.at_ms";

pub(crate) const RENEW_LEASE: &str = "\
    UPDATE leases SET until_ms = CASE WHEN until_ms > $4 THEN until_ms ELSE $4 END \
    WHERE tenant = $1 AND conversation = $2 AND fence = $3 AND holder IS NOT NULL";

pub(crate) const RELEASE_LEASE: &str = "\
    UPDATE leases SET holder = NULL \
    WHERE tenant = $1 AND conversation = $2 AND fence = $3 AND holder IS NOT NULL";

/// Unordered on purpose: sorting would move the bytes of every entry through a temporary table.
pub(crate) const SELECT_HISTORY: &str = "\
    WITH RECURSIVE path (parent, entry, position) AS ( \
        SELECT parent, entry, position FROM nodes WHERE tenant = $1 AND digest = $2 \
        UNION ALL \
        SELECT n.parent, n.entry, n.position FROM path \
            JOIN nodes AS n ON n.tenant = $1 AND n.digest = path.parent \
    ) \
    SELECT path.position, e.key, e.raw, e.wire, e.tokens FROM path \
        JOIN entries AS e ON e.tenant = $1 AND e.key = path.entry";

pub(crate) const UPSERT_PIN: &str = "\
    INSERT INTO pins (tenant, conversation, text, mark, at_ms) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (tenant, conversation, text) DO UPDATE \
        SET mark = excluded.mark, at_ms = excluded.at_ms";

/// The conversation itself first, then the one that it branched off from, and so on. Whatever names are stored, it ends.
pub(crate) const SELECT_PINS: &str = "\
    WITH RECURSIVE line (id, distance) AS ( \
        SELECT id, 0 FROM conversations WHERE tenant = $1 AND id = $2 \
        UNION ALL \
        SELECT c.parent, line.distance + 1 FROM line \
            JOIN conversations AS c ON c.tenant = $1 AND c.id = line.id \
            WHERE c.parent IS NOT NULL AND line.distance < 64 \
    ) \
    SELECT p.conversation, p.text, p.mark, p.at_ms FROM line \
        CROSS JOIN pins AS p WHERE p.tenant = $1 AND p.conversation = line.id \
    ORDER BY line.distance, p.at_ms, p.text";

pub(crate) const DELETE_PIN: &str =
    "DELETE FROM pins WHERE tenant = $1 AND conversation = $2 AND text = $3";

pub(crate) const INSERT_TURN: &str = "\
    INSERT INTO turns (tenant, id, previous, items, compaction, at_ms) \
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, id) DO NOTHING";

/// The ids first, so that only those, and no bytes, go through the recursion. `UNION` leaves out what was there: whatever is
/// stored, it ends.
pub(crate) const SELECT_TURNS: &str = "\
    WITH RECURSIVE line (id, previous) AS ( \
        SELECT id, previous FROM turns WHERE tenant = $1 AND id = $2 \
        UNION \
        SELECT t.id, t.previous FROM line \
            JOIN turns AS t ON t.tenant = $1 AND t.id = line.previous \
    ) \
    SELECT t.id, t.previous, t.items, t.compaction, t.at_ms FROM line \
        JOIN turns AS t ON t.tenant = $1 AND t.id = line.id";

pub(crate) const INSERT_OUTCOME: &str = "\
    INSERT INTO outcomes \
        (tenant, conversation, at_ms, action, reason, tokens_before, tokens_after, model) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub(crate) const SELECT_OUTCOMES: &str = "\
    SELECT conversation, at_ms, action, reason, tokens_before, tokens_after, model \
    FROM outcomes WHERE tenant = $1 ORDER BY at_ms DESC, id DESC LIMIT $2";

pub(crate) const UPSERT_WINDOW: &str = "\
    INSERT INTO windows (endpoint, model, window_tokens, at_ms) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (endpoint, model) DO UPDATE \
        SET window_tokens = excluded.window_tokens, at_ms = excluded.at_ms \
        WHERE excluded.at_ms >= windows.at_ms";

/// The time is that of the window: counts come from every proxy on the store, and a window that one of them learned a
/// moment earlier but writes later must not be lost to them.
pub(crate) const UPSERT_BELIEF: &str = "\
    INSERT INTO beliefs (endpoint, model, \"window\", counts, at_ms) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (endpoint, model) DO UPDATE \
        SET \"window\" = coalesce(excluded.\"window\", beliefs.\"window\"), \
            counts = coalesce(excluded.counts, beliefs.counts), \
            at_ms = CASE WHEN excluded.\"window\" IS NULL THEN beliefs.at_ms ELSE excluded.at_ms END \
        WHERE excluded.\"window\" IS NULL OR beliefs.\"window\" IS NULL OR excluded.at_ms >= beliefs.at_ms";

pub(crate) const SELECT_BELIEFS: &str =
    "SELECT endpoint, model, \"window\", counts, at_ms FROM beliefs ORDER BY endpoint, model";

pub(crate) const SELECT_BELIEF: &str = "\
    SELECT endpoint, model, \"window\", counts, at_ms FROM beliefs WHERE endpoint = $1 AND model = $2";

pub(crate) const DELETE_BELIEF: &str = "DELETE FROM beliefs WHERE endpoint = $1 AND model = $2";

pub(crate) const DELETE_WINDOW: &str = "DELETE FROM windows WHERE endpoint = $1 AND model = $2";

pub(crate) const SELECT_WINDOWS: &str =
    "SELECT endpoint, model, window_tokens, at_ms FROM windows ORDER BY endpoint, model";

/// The lengths are known without reading what is long.
pub(crate) const SELECT_USAGE: &str = "\
    SELECT (SELECT count(*) FROM conversations WHERE tenant = $1), CAST( \
        COALESCE((SELECT sum(octet_length(raw)) FROM entries WHERE tenant = $1), 0) \
        + COALESCE((SELECT sum(octet_length(items)) FROM turns WHERE tenant = $1), 0) \
        + COALESCE((SELECT sum(octet_length(summary) + octet_length(record)) \
            FROM compactions WHERE tenant = $1), 0) AS BIGINT)";

pub(crate) const ADD_SUMMARY_SPEND: &str = "\
    INSERT INTO summary_spend (tenant, day, nanodollars) VALUES ($1, $2, $3) \
    ON CONFLICT (tenant, day) DO UPDATE \
        SET nanodollars = summary_spend.nanodollars + excluded.nanodollars";

pub(crate) const SELECT_SUMMARY_SPEND: &str = "\
    SELECT CAST(COALESCE(sum(nanodollars), 0) AS BIGINT) FROM summary_spend \
        WHERE tenant = $1 AND day >= $2";
