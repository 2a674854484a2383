//! What is not a node of the account gets nowhere.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use armilla_peer::{CallError, Link, Secret};
use bytes::Bytes;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::node::{Node, PATIENCE, a_while, eventually, link};

const HELLO_BYTES: usize = 44;

#[derive(Debug)]
struct Anything;

impl ServerCertVerifier for Anything {
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
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}

fn acceptor() -> TlsAcceptor {
    let certified = rcgen::generate_simple_self_signed(["armilla.node".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"armilla-nodes".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

fn connector() -> TlsConnector {
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anything))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"armilla-nodes".to_vec()];
    TlsConnector::from(Arc::new(config))
}

async fn connect(address: SocketAddr) -> tokio_rustls::client::TlsStream<TcpStream> {
    let socket = TcpStream::connect(address).await.unwrap();
    connector().connect(ServerName::try_from("armilla.node").unwrap(), socket).await.unwrap()
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn check_refused(link: &Link) {
    let result = link.call(Bytes::from_static(b"e"), PATIENCE).await;
    assert!(matches!(result, Err(CallError::Refused(_))), "{result:?}");
    // Told at once to those that come right after.
    let result = link.call(Bytes::from_static(b"e"), PATIENCE).await;
    assert!(matches!(result, Err(CallError::Refused(_))), "{result:?}");
}

#[tokio::test]
async fn a_caller_of_another_account_is_refused() {
    let node = Node::start().await;
    check_refused(&Link::new(&node.address.to_string(), Secret::derive("another key"), Handle::current()))
        .await;
    assert_eq!((node.doing.sessions(), node.doing.begun()), (0, 0));
    // The node goes on for its own.
    node.link().call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
}

#[tokio::test]
async fn a_server_that_welcomes_everyone_is_refused_and_sees_no_call() {
    let (listener, address) = listen().await;
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = seen.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let mut stream = acceptor().accept(socket).await.unwrap();
            let mut hello = [0; HELLO_BYTES];
            stream.read_exact(&mut hello).await.unwrap();
            // The best that it has is the proof of the caller itself.
            let mut answer = [0; 43];
            answer[..8].copy_from_slice(b"armnodes");
            answer[9] = 1;
            answer[11..].copy_from_slice(&hello[12..]);
            stream.write_all(&answer).await.unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            counted.fetch_add(rest.len() + 1, Ordering::SeqCst);
        }
    });
    check_refused(&link(address)).await;
    eventually(|| seen.load(Ordering::SeqCst) > 0).await;
    assert_eq!(seen.load(Ordering::SeqCst), 1, "bytes of a call were sent");
}

#[tokio::test]
async fn one_who_sits_between_two_nodes_is_refused() {
    let node = Node::start().await;
    let (listener, address) = listen().await;
    let target = node.address;
    let forwarded = Arc::new(AtomicUsize::new(0));
    let counted = forwarded.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let mut caller = acceptor().accept(socket).await.unwrap();
            let mut server = connect(target).await;
            let copied = tokio::io::copy_bidirectional(&mut caller, &mut server).await;
            let (to_server, to_caller) = copied.unwrap_or_default();
            counted.fetch_add(usize::try_from(to_server + to_caller).unwrap() + 1, Ordering::SeqCst);
        }
    });
    check_refused(&link(address)).await;
    assert_eq!((node.doing.sessions(), node.doing.begun()), (0, 0));
}

#[tokio::test]
async fn a_proof_of_one_session_is_worth_nothing_in_another() {
    let node = Node::start().await;
    let (listener, address) = listen().await;
    let link = link(address);
    let call = tokio::spawn(async move { link.call(Bytes::from_static(b"e"), PATIENCE).await });
    let mut caller = acceptor().accept(listener.accept().await.unwrap().0).await.unwrap();
    let mut hello = [0; HELLO_BYTES];
    caller.read_exact(&mut hello).await.unwrap();
    for _ in 0..2 {
        let mut server = connect(node.address).await;
        server.write_all(&hello).await.unwrap();
        let mut answer = Vec::new();
        let _ = server.read_to_end(&mut answer).await;
        assert_eq!((answer[8], &answer[11..]), (1, &[0; 32][..]));
    }
    drop(caller);
    assert!(call.await.unwrap().is_err());
    assert_eq!(node.doing.sessions(), 0);
}

#[tokio::test]
async fn garbage_is_not_served() {
    let node = Node::start().await;
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 4096], &[0xFF; 100_000], b"\x16\x03\x01\xFF\xFF\x01"]
    {
        let mut socket = TcpStream::connect(node.address).await.unwrap();
        let _ = socket.write_all(garbage).await;
        let _ = socket.shutdown().await;
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest).await;
        // Inside of TLS it is no better.
        let mut stream = connect(node.address).await;
        let _ = stream.write_all(garbage).await;
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut rest).await;
    }
    assert_eq!(node.doing.sessions(), 0);
    node.link().call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
}

#[tokio::test]
async fn a_server_of_something_else_is_refused() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.write_all(b"220 mail.example ESMTP\r\n").await;
            let _ = socket.read(&mut [0; 1000]).await;
        }
    });
    check_refused(&link(address)).await;
}

#[tokio::test]
async fn an_address_at_which_nothing_listens() {
    let (listener, address) = listen().await;
    drop(listener);
    let link = link(address);
    let begun = Instant::now();
    for _ in 0..1_000 {
        let result = link.call(Bytes::from_static(b"e"), PATIENCE).await;
        assert!(matches!(result, Err(CallError::NotSent(_))), "{result:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
    let unknown = Link::new("no-such-host.invalid:1", Secret::derive("the key"), Handle::current());
    let result = unknown.call(Bytes::from_static(b"e"), PATIENCE).await;
    assert!(matches!(result, Err(CallError::NotSent(_))), "{result:?}");
}

#[tokio::test]
async fn strangers_are_bounded_and_do_not_stay() {
    let node = Node::start().await;
    let mut strangers = Vec::new();
    for _ in 0..300 {
        strangers.push(TcpStream::connect(node.address).await.unwrap());
    }
    a_while().await;
    let begun = Instant::now();
    let link = node.link();
    // It takes until the first of them have been sent away.
    link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    assert!(begun.elapsed() > Duration::from_secs(1), "{:?}", begun.elapsed());
    let mut byte = [0];
    assert_eq!(strangers[0].read(&mut byte).await.unwrap_or(0), 0, "it is closed");
}
