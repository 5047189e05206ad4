//! Tenants and their secrets.

use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::query;
use crate::statements as sql;
use crate::{Error, Result, TenantId, Tenants};

impl Tenants for PostgresStore {
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send {
        tenant_key(&self.connections, tenant, fresh)
    }
}

async fn tenant_key(
    connections: &Connections,
    tenant: &TenantId,
    fresh: [u8; 32],
) -> Result<[u8; 32]> {
    let mut transaction = connections.begin().await?;
    if let Some(key) = stored_key(&mut transaction, tenant).await? {
        return Ok(key);
    }
    // It waits for whoever is storing one at this moment.
    query(sql::INSERT_TENANT_KEY)
        .bind(tenant.as_str())
        .bind(fresh.as_slice())
        .execute(&mut *transaction)
        .await?;
    let key = stored_key(&mut transaction, tenant).await?;
    transaction.commit().await?;
    key.ok_or_else(|| Error::corrupt("the key of a tenant vanished"))
}

async fn stored_key(connection: &mut PgConnection, tenant: &TenantId) -> Result<Option<[u8; 32]>> {
    let row = query(sql::SELECT_TENANT_KEY)
        .bind(tenant.as_str())
        .fetch_optional(connection)
        .await?;
    row.map(|row| decode::secret(row.try_get(0)?)).transpose()
}
