//! A client of a port, with TLS or without.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::port::{PATIENCE, Port};

/// How a client connects.
#[derive(Debug, Clone, Copy)]
pub(super) enum Security {
    Plain,
    Tls,
}

pub(super) const BOTH: [Security; 2] = [Security::Plain, Security::Tls];

trait Duplex: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Duplex for T {}

/// A connection.
pub(super) struct Client {
    stream: Pin<Box<dyn Duplex>>,
}

impl Client {
    pub(super) async fn connect(port: &Port, security: Security) -> Client {
        let stream = TcpStream::connect(port.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let Security::Tls = security else { return Client { stream: Box::pin(stream) } };
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate { provider }))
            .with_no_client_auth();
        // A browser would rather have HTTP/2, also where it wants to change the protocol.
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        Client { stream: Box::pin(stream) }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Reads so many bytes.
    pub(super) async fn read(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let read = tokio::time::timeout(PATIENCE, self.stream.read_exact(&mut bytes)).await;
        read.expect("nothing came").unwrap();
        bytes
    }

    /// Reads up to some bytes, those included.
    pub(super) async fn read_to(&mut self, last: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        while !bytes.ends_with(last) {
            bytes.extend(self.read(1).await);
        }
        bytes
    }

    /// Reads what is left until the server closes the connection, in good order or not.
    pub(super) async fn read_to_end(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await;
        match read.expect("the connection is still open") {
            Ok(_) => bytes,
            Err(error) if is_end(&error) => bytes,
            Err(error) => panic!("{error}"),
        }
    }

    /// Tells whether something can be read, be it the end, within a moment.
    pub(super) async fn has_more(&mut self) -> bool {
        let moment = std::time::Duration::from_millis(100);
        tokio::time::timeout(moment, self.stream.read(&mut [0])).await.is_ok()
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

/// Takes every certificate.
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
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
