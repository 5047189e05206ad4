//! Tenants and their secrets.

use sqlx::SqliteConnection;

use super::arguments::query;
use super::decode;
use super::transaction::begin;
use super::{Access, SqliteStore};
use crate::housekeeping::secret::secret;
use crate::statements as sql;
use crate::{Result, TenantId, Tenants};

secret!(SqliteConnection);

impl Tenants for SqliteStore {
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send {
        tenant_key(self, tenant, fresh)
    }
}

async fn tenant_key(store: &SqliteStore, tenant: &TenantId, fresh: [u8; 32]) -> Result<[u8; 32]> {
    if let Some(key) = known_key(store, tenant).await? {
        return Ok(key);
    }
    let mut transaction = begin(&store.writer).await?;
    let key = keep_secret(&mut transaction, &store.keys, tenant, fresh).await?;
    transaction.commit().await?;
    Ok(key)
}

async fn known_key(store: &SqliteStore, tenant: &TenantId) -> Result<Option<[u8; 32]>> {
    let mut connection = store.readers.acquire().await?;
    // A file of an earlier version that may only be read has no encrypted ones.
    let is_old = store.access == Access::ReadOnly
        && !super::schema::has_table(&mut connection, "sealed_secrets").await?;
    if !is_old {
        return stored_secret(&mut connection, &store.keys, tenant).await;
    }
    let key: Option<Vec<u8>> = sqlx::query_scalar(sql::SELECT_TENANT_KEY)
        .bind(tenant.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    key.map(|key| decode::secret(&key)).transpose()
}
