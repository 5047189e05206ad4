//! Tenants and their secrets.

use sqlx::PgConnection;

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::query;
use crate::housekeeping::secret::secret;
use crate::{Result, TenantId, Tenants};

secret!(PgConnection);

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
    let keys = connections.keys();
    let mut transaction = connections.begin().await?;
    if let Some(key) = stored_secret(&mut transaction, keys, tenant).await? {
        return Ok(key);
    }
    let key = keep_secret(&mut transaction, keys, tenant, fresh).await?;
    transaction.commit().await?;
    Ok(key)
}
