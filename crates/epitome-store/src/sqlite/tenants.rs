//! Tenants and their secrets.

use sqlx::SqlitePool;

use super::SqliteStore;
use super::decode;
use super::transaction::begin;
use crate::statements as sql;
use crate::{Result, TenantId, Tenants};

impl Tenants for SqliteStore {
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send {
        tenant_key(&self.readers, &self.writer, tenant, fresh)
    }
}

async fn tenant_key(
    readers: &SqlitePool,
    writer: &SqlitePool,
    tenant: &TenantId,
    fresh: [u8; 32],
) -> Result<[u8; 32]> {
    if let Some(key) = stored_key(readers, tenant).await? {
        return Ok(key);
    }
    let mut transaction = begin(writer).await?;
    sqlx::query(sql::INSERT_TENANT_KEY)
        .bind(tenant.as_str())
        .bind(fresh.as_slice())
        .execute(&mut *transaction)
        .await?;
    let key: Vec<u8> = sqlx::query_scalar(sql::SELECT_TENANT_KEY)
        .bind(tenant.as_str())
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    decode::secret(&key)
}

async fn stored_key(readers: &SqlitePool, tenant: &TenantId) -> Result<Option<[u8; 32]>> {
    let key: Option<Vec<u8>> = sqlx::query_scalar(sql::SELECT_TENANT_KEY)
        .bind(tenant.as_str())
        .fetch_optional(readers)
        .await?;
    key.map(|key| decode::secret(&key)).transpose()
}
