//! Whom the server believes beside those who have a key: bearers of tokens of an OpenID Connect issuer.
//!
//! The issuer's keys come from a file or from its address. They are read at the start, from time to time, and when a
//! token names one that is not known, but not at every such token. Where they cannot be read, those known before hold.

mod fetch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use armilla_env::{Clock, Env};
use armilla_rest_wire::authorization::open_id::{DataRole, KeySet, OpenId, OpenIdOptions};
use http::Uri;
use tokio::sync::Notify;

use crate::limits::{OPEN_ID_BYTES_MAX, OPEN_ID_LOOK_PERIOD, OPEN_ID_LOOK_PERIOD_MIN};

/// Where an issuer's keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Address(Uri),
}

impl KeySource {
    /// Tells files and addresses apart.
    pub(crate) fn parse(text: &str) -> Result<KeySource> {
        if !text.contains("://") {
            return Ok(KeySource::File(PathBuf::from(text)));
        }
        let address: Uri = text.parse().map_err(|_| anyhow!("'{text}' is no address"))?;
        match (address.scheme_str(), address.host()) {
            (Some("http" | "https"), Some(_)) => Ok(KeySource::Address(address)),
            _ => bail!("'{text}' is neither a file nor an address with http:// or https://"),
        }
    }

    async fn load(&self) -> Result<KeySet> {
        let text = match self {
            KeySource::File(path) => read_file(path)?,
            KeySource::Address(address) => fetch::fetch(address).await?,
        };
        KeySet::parse(&text).map_err(|why| anyhow!("no set of keys: {why}"))
    }
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeySource::File(path) => path.display().fmt(f),
            KeySource::Address(address) => address.fmt(f),
        }
    }
}

/// Which issuer is believed, and what its tokens allow.
#[derive(Debug, Clone)]
pub(crate) struct OpenIdSettings {
    pub(crate) issuer: String,
    pub(crate) audience: String,
    pub(crate) keys: KeySource,
    pub(crate) roles_claim: String,
    pub(crate) roles: BTreeMap<String, DataRole>,
}

/// Reads a file of roles: TOML, a line for each bearer, such as `"3f2a..." = "contributor"`.
pub(crate) fn read_roles(path: &Path) -> Result<BTreeMap<String, DataRole>> {
    let text = read_file(path)?;
    let text = String::from_utf8(text).with_context(|| format!("{} is no text", path.display()))?;
    let names: BTreeMap<String, String> =
        toml::from_str(&text).map_err(|error| anyhow!("{}: {}", path.display(), error.message()))?;
    let role = |(bearer, name): (String, String)| match DataRole::from_name(&name) {
        Some(role) => Ok((bearer, role)),
        None => bail!("{}: '{name}' is no role: there are reader and contributor", path.display()),
    };
    names.into_iter().map(role).collect()
}

/// Begins to believe an issuer. An address that does not answer now is asked again later; a file must be there.
pub(crate) async fn start(settings: &OpenIdSettings, env: &Env) -> Result<Arc<OpenId>> {
    let keys = match (settings.keys.load().await, &settings.keys) {
        (Ok(keys), _) => keys,
        (Err(error), KeySource::File(path)) => {
            return Err(error.context(format!("cannot use the keys in {}", path.display())));
        }
        (Err(error), KeySource::Address(address)) => {
            tracing::warn!(%address, error = format!("{error:#}"), "no keys of the issuer yet: its tokens are refused");
            KeySet::default()
        }
    };
    let options = OpenIdOptions {
        issuer: settings.issuer.clone(),
        audience: settings.audience.clone(),
        roles_claim: settings.roles_claim.clone(),
        roles: settings.roles.clone(),
    };
    let wanted = Arc::new(Notify::new());
    let tell = wanted.clone();
    let open_id = Arc::new(OpenId::new(options, keys, move || tell.notify_one()));
    // Ends with the program.
    drop(tokio::spawn(look_again(open_id.clone(), settings.keys.clone(), wanted, env.clock.clone())));
    Ok(open_id)
}

async fn look_again(open_id: Arc<OpenId>, source: KeySource, wanted: Arc<Notify>, clock: Arc<dyn Clock>) {
    loop {
        tokio::select! {
            () = wanted.notified() => {}
            () = clock.sleep(OPEN_ID_LOOK_PERIOD) => {}
        }
        match source.load().await {
            Ok(keys) => open_id.set_keys(keys),
            Err(error) => {
                tracing::warn!(%source, error = format!("{error:#}"), "the issuer's keys cannot be read again");
            }
        }
        clock.sleep(OPEN_ID_LOOK_PERIOD_MIN).await;
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read as _;

    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(OPEN_ID_BYTES_MAX as u64 + 1).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() > OPEN_ID_BYTES_MAX {
        bail!("{} is larger than {OPEN_ID_BYTES_MAX} bytes", path.display());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_addresses() {
        for (text, expected) in [
            ("keys.json", Some(KeySource::File("keys.json".into()))),
            (
                "https://login.example/keys",
                Some(KeySource::Address(Uri::from_static("https://login.example/keys"))),
            ),
            ("ftp://login.example/keys", None),
            ("https://", None),
        ] {
            assert_eq!(KeySource::parse(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn roles_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roles.toml");
        for (text, expected) in [
            ("\"a\" = \"reader\"\nb = \"Contributor\"", Ok(2)),
            ("", Ok(0)),
            ("a = \"owner\"", Err("'owner' is no role")),
            ("a = 1", Err("roles.toml")),
        ] {
            std::fs::write(&path, text).unwrap();
            match (read_roles(&path), expected) {
                (Ok(roles), Ok(count)) => assert_eq!(roles.len(), count, "{text}"),
                (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
        assert!(read_roles(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    }
}
