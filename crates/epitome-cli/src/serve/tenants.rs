//! Whose requests the proxy takes.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use epitome_config::{Digests, Loaded, Period as Configured, Tenant, Texts};
use epitome_server::{KeyDigest, Period, QuotaLimits, TenantConfig, TenantSettings};

/// A key that is shorter can be found by trying.
const SHORTEST_KEY: usize = 16;

/// What a configuration says of tenants. Keys that stand in files and variables are read now, and only their digests are kept.
pub(super) fn settings(loaded: &Loaded) -> Result<TenantSettings> {
    let tenants = loaded.tenants.iter();
    let tenants: Result<Vec<TenantConfig>> = tenants
        .map(|(name, tenant)| of_tenant(name, tenant).with_context(|| format!("tenants.{name}")))
        .collect();
    let server = &loaded.server;
    Ok(TenantSettings {
        tenants: tenants?,
        principal_header: server
            .principal_header
            .parse()
            .context("server.principal_header is not the name of a header")?,
        trusted_peers: all_of(&server.trusted_peers).context("server.trusted_peers")?,
        hosts: all_of(&server.hosts).context("server.hosts")?,
    })
}

fn all_of<T: FromStr>(texts: &Texts) -> Result<Vec<T>, T::Err> {
    let texts = texts.as_slice().iter();
    texts.map(|text| text.parse()).collect()
}

fn of_tenant(name: &str, tenant: &Tenant) -> Result<TenantConfig> {
    let mut keys = digests(&tenant.keys)?;
    if let Some(variable) = &tenant.key_env {
        let variable = variable.as_str();
        let key = std::env::var(variable);
        let key =
            key.map_err(|_| anyhow::anyhow!("the variable {variable} holds no key: set it"))?;
        keys.push(digest(&key).with_context(|| format!("the variable {variable}"))?);
    }
    if let Some(path) = &tenant.key_file {
        keys.extend(keys_in(path)?);
    }
    Ok(TenantConfig {
        id: name.parse()?,
        keys,
        provider_keys: digests(&tenant.provider_keys)?,
        principals: tenant.principals.as_slice().to_vec(),
        limits: QuotaLimits {
            conversations: tenant.max_conversations,
            bytes: tenant.max_bytes,
            summary_usd: tenant.max_summary_usd,
            period: match tenant.summary_period {
                Configured::Day => Period::Day,
                _ => Period::Month,
            },
        },
    })
}

fn digests(digests: &Digests) -> Result<Vec<KeyDigest>> {
    let digests = digests.as_slice().iter();
    digests.map(|digest| Ok(digest.parse()?)).collect()
}

fn keys_in(path: &Path) -> Result<Vec<KeyDigest>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("the key file {shown} cannot be read"))?;
    let lines = text.lines().enumerate();
    let keys = lines.filter(|(_, line)| !line.trim().is_empty());
    let keys = keys.map(|(at, line)| {
        digest(line).with_context(|| format!("line {} of the key file {shown}", at + 1))
    });
    let keys: Vec<KeyDigest> = keys.collect::<Result<_>>()?;
    if keys.is_empty() {
        bail!("the key file {shown} holds no key");
    }
    Ok(keys)
}

/// The digest of a key; what is wrong with one is said without it.
fn digest(key: &str) -> Result<KeyDigest> {
    let key = key.trim();
    if key.len() < SHORTEST_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "a key has at least {SHORTEST_KEY} visible ASCII characters and no spaces; `epitome config key` makes one"
        );
    }
    Ok(KeyDigest::of(key))
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn what_is_wrong_with_a_key_is_said_without_it() {
        assert!(digest(" 0123456789abcdef\n").is_ok());
        for wrong in [
            "",
            "hunter2",
            "hunter2 hunter2 hunter2",
            "hunter2-hunter2-\u{fc}",
        ] {
            let said = format!("{:#}", digest(wrong).unwrap_err());
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
