//! One port: TLS and plain, HTTP/1.1 and HTTP/2.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::http;
use crate::process::Server;

const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

pub(crate) type Tls = StreamOwned<ClientConnection, TcpStream>;

/// Connects as a client that trusts one certificate.
fn connect_tls(server: &Server, certificate: &Path, name: &str, protocols: &[&str]) -> std::io::Result<Tls> {
    secure(server.connect(), certificate, name, protocols)
}

/// Begins TLS on a connection as a client that trusts one certificate.
pub(crate) fn secure(
    mut stream: TcpStream,
    certificate: &Path,
    name: &str,
    protocols: &[&str],
) -> std::io::Result<Tls> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from(name.to_string()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    while client.is_handshaking() {
        client.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(client, stream))
}

#[test]
fn tls_and_plain_share_the_port() {
    let server = Server::start(&["--tls-name", "db.example"]);
    let certificate = server.folder().join("armilla-data/tls/cert.pem");
    for name in ["localhost", "127.0.0.1", "::1", "db.example"] {
        let mut stream = connect_tls(&server, &certificate, name, &["http/1.1"]).unwrap();
        assert_eq!(http::exchange(&mut stream, HEALTH).body, r#"{"status":"ok"}"#);
        // The connection stays open for the next request.
        assert_eq!(http::exchange(&mut stream, HEALTH).status, 200);
    }
    assert!(connect_tls(&server, &certificate, "elsewhere.example", &[]).is_err());
    server.assert_well();
}

#[test]
fn the_certificate_survives_a_restart() {
    let server = Server::start(&[]);
    let before = std::fs::read(server.folder().join("armilla-data/tls/cert.pem")).unwrap();
    let server = Server::start_in(server.stop(), &[], |_| {});
    let path = server.folder().join("armilla-data/tls/cert.pem");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    connect_tls(&server, &path, "localhost", &[]).unwrap();
}

#[test]
fn own_certificates_are_shown() {
    let folder = Server::start(&["--tls-name", "own.example"]).stop();
    let tls = folder.path().join("armilla-data/tls");
    let (certificate, key) = (tls.join("cert.pem"), tls.join("key.pem"));
    let arguments =
        ["--memory", "--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = Server::start(&arguments);
    connect_tls(&server, &certificate, "own.example", &[]).unwrap();
}

#[test]
fn http2_by_agreement_under_tls() {
    let server = Server::start(&[]);
    let certificate = server.folder().join("armilla-data/tls/cert.pem");
    let mut stream = connect_tls(&server, &certificate, "localhost", &["h2", "http/1.1"]).unwrap();
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
    check_http2(&mut stream);
    server.assert_well();
}

#[test]
fn http2_by_prior_knowledge_in_the_clear() {
    let server = Server::start(&["--memory"]);
    let mut stream = server.connect();
    check_http2(&mut stream);
    server.assert_well();
}

/// Asks for `/health` in HTTP/2 frames written by hand.
fn check_http2(stream: &mut (impl Read + Write)) {
    const HEADERS: u8 = 1;
    const DATA: u8 = 0;
    const END_STREAM_END_HEADERS: u8 = 5;
    let mut fields = vec![0x82, 0x86]; // :method GET, :scheme http
    for (index, value) in [(4u8, "/health"), (1, "localhost")] {
        fields.extend([index, value.len() as u8]);
        fields.extend(value.as_bytes());
    }
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]); // no settings of our own
    bytes.extend([0, 0, fields.len() as u8, HEADERS, END_STREAM_END_HEADERS, 0, 0, 0, 1]);
    bytes.extend(fields);
    stream.write_all(&bytes).unwrap();
    let mut status_is_200 = false;
    loop {
        let mut head = [0u8; 9];
        stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).unwrap();
        match head[3] {
            // The first field is `:status 200` from the static table.
            HEADERS => status_is_200 = payload[0] == 0x88,
            DATA => {
                assert!(status_is_200);
                assert_eq!(payload, br#"{"status":"ok"}"#);
                return;
            }
            _ => {}
        }
    }
}
