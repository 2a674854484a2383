//! Asks an address for a document, once, with whom the system trusts.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::limits::{OPEN_ID_BYTES_MAX, OPEN_ID_FETCH_TIMEOUT};

/// Returns what is there.
pub(super) async fn fetch(address: &Uri) -> Result<Vec<u8>> {
    let answered = tokio::time::timeout(OPEN_ID_FETCH_TIMEOUT, ask(address)).await;
    answered.map_err(|_| anyhow!("no answer in {OPEN_ID_FETCH_TIMEOUT:?}"))?
}

async fn ask(address: &Uri) -> Result<Vec<u8>> {
    let host = address.host().context("an address without a host")?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_secure = address.scheme_str() == Some("https");
    let port = address.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let socket = TcpStream::connect((host, port)).await.context("nothing answers there")?;
    if !is_secure {
        return exchange(socket, address).await;
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).context("no name of a host")?;
    let secure = TlsConnector::from(Arc::new(config)).connect(name, socket).await;
    exchange(secure.context("no TLS with a host that the system trusts")?, address).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: &Uri,
) -> Result<Vec<u8>> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driving = tokio::spawn(connection);
    let path = address.path_and_query().map_or("/", |path| path.as_str());
    let authority = address.authority().context("an address without a host")?;
    let request = Request::get(path)
        .header(header::HOST, authority.as_str())
        .header(header::ACCEPT, "application/json")
        .body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    if answer.status() != StatusCode::OK {
        bail!("the answer is {}", answer.status());
    }
    let body = Limited::new(answer.into_body(), OPEN_ID_BYTES_MAX).collect().await;
    let body = body.map_err(|error| anyhow!("the answer cannot be read: {error}"))?;
    driving.abort();
    Ok(body.to_bytes().to_vec())
}
