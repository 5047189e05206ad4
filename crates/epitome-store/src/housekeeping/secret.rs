//! Secrets of tenants, encrypted where there is a key.

pub(crate) const SELECT: &str = "\
    SELECT t.key, s.key FROM tenants AS t LEFT JOIN sealed_secrets AS s ON s.tenant = t.tenant \
        WHERE t.tenant = $1";

pub(crate) const INSERT: &str =
    "INSERT INTO tenants (tenant, key) VALUES ($1, $2) ON CONFLICT (tenant) DO NOTHING";

pub(crate) const INSERT_SEALED: &str = "INSERT INTO sealed_secrets (tenant, key) VALUES ($1, $2)";

/// What stands in place of a secret that is encrypted.
pub(crate) const SEALED: [u8; 32] = [0; 32];

/// `stored_secret`, and `keep_secret`, part of a transaction that the caller commits.
macro_rules! secret {
    ($connection:ty) => {
        pub(super) async fn stored_secret(
            connection: &mut $connection,
            keys: &crate::Keys,
            tenant: &TenantId,
        ) -> Result<Option<[u8; 32]>> {
            let row = query(crate::housekeeping::secret::SELECT)
                .bind(tenant.as_str())
                .fetch_optional(connection)
                .await?;
            let Some(row) = row else {
                return Ok(None);
            };
            let clear: Vec<u8> = sqlx::Row::try_get(&row, 0)?;
            let sealed: Option<Vec<u8>> = sqlx::Row::try_get(&row, 1)?;
            let secret = match sealed {
                Some(sealed) => keys.open(tenant, crate::seal::Value::Secret, sealed.into())?,
                None => clear.into(),
            };
            decode::secret(&secret).map(Some)
        }

        /// The tenant's secret: the given one when there was none.
        pub(super) async fn keep_secret(
            connection: &mut $connection,
            keys: &crate::Keys,
            tenant: &TenantId,
            fresh: [u8; 32],
        ) -> Result<[u8; 32]> {
            use crate::housekeeping::secret as sql;
            let clear = if keys.is_empty() { fresh } else { sql::SEALED };
            // It waits for whoever is storing one at this moment.
            let inserted = query(sql::INSERT)
                .bind(tenant.as_str())
                .bind(clear.as_slice())
                .execute(&mut *connection)
                .await?;
            if inserted.rows_affected() > 0 && !keys.is_empty() {
                let sealed = keys.seal(tenant, crate::seal::Value::Secret, &fresh)?;
                query(sql::INSERT_SEALED)
                    .bind(tenant.as_str())
                    .bind(sealed.into_owned())
                    .execute(&mut *connection)
                    .await?;
            }
            stored_secret(connection, keys, tenant)
                .await?
                .ok_or_else(|| crate::Error::corrupt("the secret of a tenant vanished"))
        }
    };
}
pub(crate) use secret;
