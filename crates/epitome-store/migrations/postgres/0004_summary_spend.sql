-- What summaries by models cost, by tenant and day (since 1970-01-01, UTC), in billionths of a dollar. No content, and no
-- conversation: what is deleted was paid all the same.
CREATE TABLE summary_spend (
    tenant      TEXT COLLATE "C" NOT NULL,
    day         BIGINT NOT NULL,
    nanodollars BIGINT NOT NULL CHECK (nanodollars >= 0),
    PRIMARY KEY (tenant, day)
);
