//! Which certificates a command takes from a server.
//!
//! On this machine any: whoever can listen here can also read the key of the command, and the certificate of
//! a server is its own making. Anywhere else the one that was given, and none without.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use crate::config::bounded;
use crate::limits::PEM_FILE_BYTES_MAX;

/// What is trusted.
pub(crate) struct Trust {
    given: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl Trust {
    /// Reads the certificate that was given.
    pub(crate) fn new(certificate: Option<&Path>) -> Result<Trust> {
        let given = certificate
            .map(|path| roots(path).with_context(|| format!("cannot use --cacert {}", path.display())))
            .transpose()?;
        Ok(Trust { given, provider: Arc::new(rustls::crypto::ring::default_provider()) })
    }

    /// Returns what speaks TLS with a server at an address.
    pub(crate) fn connector(&self, peer: IpAddr) -> Result<TlsConnector> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()
            .context("no TLS version is left")?;
        let config = match &self.given {
            Some(roots) => builder.with_root_certificates(roots.clone()).with_no_client_auth(),
            None if peer.to_canonical().is_loopback() => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate {
                    provider: self.provider.clone(),
                }))
                .with_no_client_auth(),
            None => bail!(
                "{peer} is another machine, and nothing says which certificate it has: give it with --cacert \
                 (DATA/tls/cert.pem there)"
            ),
        };
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

fn roots(path: &Path) -> Result<RootCertStore> {
    let text = bounded(path, PEM_FILE_BYTES_MAX)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        roots.add(certificate.context("the file is not PEM")?).context("the certificate is not usable")?;
    }
    if roots.is_empty() {
        bail!("there is no certificate in the file");
    }
    Ok(roots)
}

/// Takes every certificate, but holds its owner to it.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_needs_a_certificate() {
        let none = Trust::new(None).unwrap();
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.9.9.9"] {
            none.connector(address.parse().unwrap()).unwrap();
        }
        for address in ["10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"] {
            let error = none.connector(address.parse().unwrap()).err().unwrap().to_string();
            assert!(error.contains("--cacert"), "{error}");
        }
    }

    #[test]
    fn files_that_are_no_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cert.pem");
        for (text, expected) in [
            ("", "there is no certificate in the file"),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "the certificate is not usable",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", Trust::new(Some(&path)).err().unwrap());
            assert!(error.contains(expected), "{error}");
        }
    }
}
