//! Whose requests a server takes, and how much each may use.

use epitome_store::TenantId;
use http::HeaderName;

use super::StartError;
use super::host::HostName;
use super::key::KeyDigest;
use super::network::Network;

/// Whose requests a server takes. Without any tenant everybody is the tenant `local`.
#[derive(Clone, Debug)]
pub struct TenantSettings {
    /// Those whose requests are taken.
    pub tenants: Vec<TenantConfig>,
    /// The header in which a trusted peer says who asks.
    pub principal_header: HeaderName,
    /// From where that header is believed.
    pub trusted_peers: Vec<Network>,
    /// The names that the server is reached by beside those of this machine; they are settled at the start. Without any it answers to
    /// every name where it listens for others, and there to no principal.
    pub hosts: Vec<HostName>,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            tenants: Vec::new(),
            principal_header: HeaderName::from_static("x-forwarded-user"),
            trusted_peers: Vec::new(),
            hosts: Vec::new(),
        }
    }
}

/// One tenant: how its requests are known, and what it may use.
#[derive(Clone, Debug)]
pub struct TenantConfig {
    /// Its name.
    pub id: TenantId,
    /// Its keys, which its clients send as `x-epitome-key`.
    pub keys: Vec<KeyDigest>,
    /// The provider keys of its clients, which they send as `authorization` or `x-api-key` anyway.
    pub provider_keys: Vec<KeyDigest>,
    /// Who belongs to it, as a trusted peer names them.
    pub principals: Vec<String>,
    /// What it may use.
    pub limits: QuotaLimits,
}

/// What a tenant may use; what is not said has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuotaLimits {
    /// Conversations that are kept.
    pub conversations: Option<u64>,
    /// Bytes that are kept.
    pub bytes: Option<u64>,
    /// What summaries by models may cost in a period, in dollars.
    pub summary_usd: Option<f64>,
    /// How long a period is.
    pub period: Period,
}

/// How long a sum of money has to last. Days and months are those of UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Period {
    /// A day.
    Day,
    /// A month.
    #[default]
    Month,
}

impl TenantSettings {
    /// Whether requests are told apart at all.
    pub(crate) fn are_set(&self) -> bool {
        !self.tenants.is_empty()
    }

    /// A tenant that may not use as much as it wants.
    pub(crate) fn limited(&self) -> Option<&TenantId> {
        let is_limited = |limits: &QuotaLimits| {
            limits.conversations.is_some() || limits.bytes.is_some() || limits.summary_usd.is_some()
        };
        let mut tenants = self.tenants.iter();
        let limited = tenants.find(|tenant| is_limited(&tenant.limits));
        limited.map(|tenant| &tenant.id)
    }

    /// A tenant that is known by what a trusted peer says.
    pub(crate) fn with_principals(&self) -> Option<&TenantId> {
        let mut tenants = self.tenants.iter();
        let named = tenants.find(|tenant| !tenant.principals.is_empty());
        named.map(|tenant| &tenant.id)
    }

    pub(crate) fn check(&self) -> Result<(), StartError> {
        for (at, tenant) in self.tenants.iter().enumerate() {
            let TenantConfig {
                id,
                keys,
                provider_keys,
                principals,
                ..
            } = tenant;
            if keys.is_empty() && provider_keys.is_empty() && principals.is_empty() {
                return Err(StartError::UnknowableTenant(id.clone()));
            }
            if !principals.is_empty() && self.trusted_peers.is_empty() {
                return Err(StartError::NoTrustedPeers(id.clone()));
            }
            for other in self.tenants.iter().skip(at + 1) {
                let is_shared = |own: &[KeyDigest], others: &[KeyDigest]| {
                    own.iter().any(|key| others.contains(key))
                };
                let is_shared = is_shared(keys, &other.keys)
                    || is_shared(provider_keys, &other.provider_keys)
                    || principals.iter().any(|one| other.principals.contains(one))
                    || *id == other.id;
                if is_shared {
                    return Err(StartError::SharedKey(id.clone(), other.id.clone()));
                }
            }
        }
        Ok(())
    }
}
