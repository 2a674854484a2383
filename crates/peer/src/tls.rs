//! TLS between nodes: it encrypts, and says nothing about who the other side is.
//!
//! Certificates are made at every start and prove nothing, so any is taken. What is proved is proved inside of the session,
//! about the session ([`crate::hello`]).

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring as provided};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};

/// The name that certificates of nodes have.
const NAME: &str = "armilla.node";

/// What both sides say that they speak, so that a node that is called on a wrong port is refused early.
const PROTOCOL: &[u8] = b"armilla-nodes";

/// Returns how a server of nodes speaks TLS, with a certificate made for it.
pub(crate) fn server() -> Result<ServerConfig, Error> {
    let certified = rcgen::generate_simple_self_signed([NAME.to_owned()])
        .map_err(|error| Error::General(format!("cannot make a certificate: {error}")))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Returns how a caller speaks TLS.
pub(crate) fn client() -> Result<ClientConfig, Error> {
    let provider = provider();
    let verifier = AnyCertificate(provider.signature_verification_algorithms);
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(config)
}

/// Returns the name that is asked for.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::try_from(NAME).expect("the name of nodes is a name")
}

/// Returns the ciphers. The one that takes the least comes first.
fn provider() -> CryptoProvider {
    let mut provider = provided::default_provider();
    provider.cipher_suites = vec![
        provided::cipher_suite::TLS13_AES_128_GCM_SHA256,
        provided::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ];
    provider
}

/// Takes any certificate. That the other side has its key is checked, as TLS asks for it.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("nodes speak TLS 1.3".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
