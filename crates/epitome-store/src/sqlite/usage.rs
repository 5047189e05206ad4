//! What tenants have used.

use sqlx::Row as _;

use super::SqliteStore;
use super::arguments::{query, signed};
use crate::statements as sql;
use crate::{Result, TenantId, TenantUsage, Usage};

impl Usage for SqliteStore {
    async fn usage(&self, tenant: &TenantId) -> Result<TenantUsage> {
        let counted = query(sql::SELECT_USAGE).bind(tenant.as_str());
        let row = counted.fetch_one(&self.readers).await?;
        Ok(TenantUsage {
            conversations: row.try_get::<i64, _>(0)?.unsigned_abs(),
            bytes: row.try_get::<i64, _>(1)?.unsigned_abs(),
        })
    }

    async fn add_summary_spend(&self, tenant: &TenantId, day: i64, nanodollars: u64) -> Result<()> {
        query(sql::ADD_SUMMARY_SPEND)
            .bind(tenant.as_str())
            .bind(day)
            .bind(signed(nanodollars))
            .execute(&self.writer)
            .await?;
        Ok(())
    }

    async fn summary_spend(&self, tenant: &TenantId, from_day: i64) -> Result<u64> {
        let asked = query(sql::SELECT_SUMMARY_SPEND);
        let asked = asked.bind(tenant.as_str()).bind(from_day);
        let row = asked.fetch_one(&self.readers).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }
}
