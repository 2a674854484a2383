//! The server's certificate: our own self-signed one, kept in the data folder, or the user's.
//!
//! `tls/cert.pem` and `tls/key.pem` (readable by the owner alone) are what clients and openssl know;
//! `tls/about.txt` says which names the certificate has and until when it is valid, so that nobody has
//! to parse certificates to find out. It is removed first and written last, so a half-written pair is
//! made anew at the next start.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use armilla_env::{Clock, Env};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::data_dir::{Readers, write_durably};
use crate::limits::{CERTIFICATE_RENEWAL, CERTIFICATE_VALID, PEM_FILE_BYTES_MAX};
use crate::settings::Certificate;

/// The names that every self-signed certificate has. Clients of tables may put the account before the host, and some
/// tell by the host which of the two services they speak to.
const NAMES: [&str; 5] = ["localhost", "127.0.0.1", "::1", "*.table.localhost", "*.table.cosmos.localhost"];

/// Certificates count from a day ago, for clients whose clock is behind.
const BACKDATED: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the TLS configuration, as it is for all protocols. Without a folder the self-signed certificate is made afresh.
pub(crate) fn server_config(
    certificate: &Certificate,
    folder: Option<&Path>,
    env: &Env,
) -> Result<ServerConfig> {
    match certificate {
        Certificate::Files { certificate, key } => {
            let pair = Pair { certificate: read_pem(certificate)?, key: read_pem(key)? };
            pair.config().with_context(|| {
                format!("cannot use certificate {} with key {}", certificate.display(), key.display())
            })
        }
        Certificate::SelfSigned { names } => {
            let mut all: Vec<&str> = NAMES.to_vec();
            for name in names {
                if !all.contains(&name.as_str()) {
                    all.push(name);
                }
            }
            match folder {
                None => make(&all, env)?.0.config(),
                Some(folder) => kept(folder, &all, env)
                    .with_context(|| format!("cannot keep a certificate in {}", folder.display())),
            }
        }
    }
}

/// Returns what speaks TLS for a protocol, which clients may ask for by these names.
pub(crate) fn acceptor(config: &ServerConfig, names: &[&[u8]]) -> TlsAcceptor {
    let mut config = config.clone();
    config.alpn_protocols = names.iter().map(|name| name.to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Pair {
    fn config(&self) -> Result<ServerConfig> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<_, _>>()
            .context("the certificate is not PEM")?;
        if chain.is_empty() {
            bail!("there is no certificate in the file");
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key).context("the key is not PEM")?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("no TLS version is left")?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .context("the key does not fit the certificate")?;
        Ok(config)
    }
}

/// Returns the certificate of the data folder, made or renewed when it must be.
fn kept(folder: &Path, names: &[&str], env: &Env) -> Result<ServerConfig> {
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let about_path = folder.join("about.txt");
    let about = match fs::read_to_string(&about_path) {
        Ok(text) => Some(text),
        // Damaged is as good as missing: both are made anew.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => None,
        Err(error) => return Err(error).context("cannot read about.txt"),
    };
    if about.is_some_and(|about| is_current(&about, names, env.clock.as_ref())) {
        let pair = read_pem(&certificate)
            .and_then(|certificate| Ok(Pair { certificate, key: read_pem(&key)? }))
            .and_then(|pair| pair.config());
        match pair {
            Ok(config) => return Ok(config),
            Err(error) => {
                tracing::warn!("the certificate in {} is replaced: {error:#}", folder.display());
            }
        }
    }
    fs::create_dir_all(folder)?;
    match fs::remove_file(&about_path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let (pair, about) = make(names, env)?;
    write_durably(&key, &pair.key, Readers::Owner)?;
    write_durably(&certificate, &pair.certificate, Readers::Everybody)?;
    write_durably(&about_path, about.as_bytes(), Readers::Everybody)?;
    tracing::info!("made a self-signed certificate for {}", names.join(", "));
    pair.config()
}

/// Makes a certificate and what is to be remembered about it.
fn make(names: &[&str], env: &Env) -> Result<(Pair, String)> {
    let now = Duration::from_secs(u64::try_from(env.clock.now_seconds()).unwrap_or(0));
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let names_owned: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = rcgen::CertificateParams::new(names_owned).context("a name is not fit for TLS")?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, "localhost");
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "Armilla, self-signed");
    params.not_before = epoch + now.saturating_sub(BACKDATED);
    params.not_after = epoch + (now + CERTIFICATE_VALID);
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let key = rcgen::KeyPair::generate().context("cannot make a key")?;
    let certificate = params.self_signed(&key).context("cannot make a certificate")?;
    let pair = Pair { certificate: certificate.pem().into_bytes(), key: key.serialize_pem().into_bytes() };
    Ok((pair, about(names, now + CERTIFICATE_VALID)))
}

fn about(names: &[&str], until: Duration) -> String {
    format!("names={}\nvalid_until_unix_seconds={}\n", names.join(","), until.as_secs())
}

/// Tells whether a certificate has these names and is valid for a while.
fn is_current(about_text: &str, names: &[&str], clock: &dyn Clock) -> bool {
    let until = about_text
        .lines()
        .find_map(|line| line.strip_prefix("valid_until_unix_seconds="))
        .and_then(|seconds| seconds.parse().ok())
        .map(Duration::from_secs);
    let Some(until) = until else { return false };
    let now = Duration::from_secs(u64::try_from(clock.now_seconds()).unwrap_or(0));
    // A certificate that is valid for longer than we make them was made under a clock that was set wrong.
    let remaining = until.saturating_sub(now);
    about_text == about(names, until) && remaining > CERTIFICATE_RENEWAL && remaining <= CERTIFICATE_VALID
}

pub(crate) fn read_pem(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(PEM_FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() as u64 > PEM_FILE_BYTES_MAX {
        bail!("{} is larger than {PEM_FILE_BYTES_MAX} bytes", path.display());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate_after(folder: &Path, names: &[&str], env: &Env) -> Vec<u8> {
        let certificate = Certificate::SelfSigned { names: names.iter().map(ToString::to_string).collect() };
        server_config(&certificate, Some(folder), env).unwrap();
        fs::read(folder.join("cert.pem")).unwrap()
    }

    #[test]
    fn the_certificate_is_kept_until_names_or_time_change() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("tls");
        let (env, clock) = Env::simulated(1);
        let first = certificate_after(&folder, &[], &env);
        assert_eq!(certificate_after(&folder, &[], &env), first);
        let named = certificate_after(&folder, &["db.example", "localhost"], &env);
        assert_ne!(named, first);
        assert_eq!(certificate_after(&folder, &["db.example"], &env), named);
        clock.advance(CERTIFICATE_VALID - CERTIFICATE_RENEWAL - Duration::from_secs(1));
        assert_eq!(certificate_after(&folder, &["db.example"], &env), named);
        clock.advance(Duration::from_secs(1));
        let renewed = certificate_after(&folder, &["db.example"], &env);
        assert_ne!(renewed, named);

        // Damaged or half-written pairs are made anew.
        fs::write(folder.join("key.pem"), "nonsense").unwrap();
        let repaired = certificate_after(&folder, &["db.example"], &env);
        assert_ne!(repaired, renewed);
        fs::write(folder.join("about.txt"), [0xFF, 0xFE]).unwrap();
        assert_ne!(certificate_after(&folder, &["db.example"], &env), repaired);
        let repaired = fs::read(folder.join("cert.pem")).unwrap();
        fs::remove_file(folder.join("about.txt")).unwrap();
        assert_ne!(certificate_after(&folder, &["db.example"], &env), repaired);
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_for_the_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let temporary = tempfile::tempdir().unwrap();
        let (env, _) = Env::simulated(1);
        certificate_after(temporary.path(), &[], &env);
        let mode = fs::metadata(temporary.path().join("key.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn files_of_the_user() {
        let temporary = tempfile::tempdir().unwrap();
        let (env, _) = Env::simulated(1);
        let (one, two) = (temporary.path().join("one"), temporary.path().join("two"));
        certificate_after(&one, &[], &env);
        certificate_after(&two, &[], &env);
        let files = |certificate: &Path, key: &Path| Certificate::Files {
            certificate: certificate.to_path_buf(),
            key: key.to_path_buf(),
        };
        server_config(&files(&one.join("cert.pem"), &one.join("key.pem")), None, &env).unwrap();
        for (certificate, key, word) in [
            (one.join("cert.pem"), two.join("key.pem"), "does not fit"),
            (one.join("key.pem"), one.join("key.pem"), "no certificate"),
            (one.join("none.pem"), one.join("key.pem"), "cannot read"),
            (one.join("cert.pem"), one.join("cert.pem"), "the key is not PEM"),
        ] {
            let error = server_config(&files(&certificate, &key), None, &env).unwrap_err();
            assert!(format!("{error:#}").contains(word), "{error:#}");
        }
        // In memory mode there is no folder.
        server_config(&Certificate::SelfSigned { names: vec![] }, None, &env).unwrap();
        let bad = Certificate::SelfSigned { names: vec!["ümlaut".to_string()] };
        assert!(server_config(&bad, None, &env).is_err());
    }
}
