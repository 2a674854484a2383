//! The address of a server.

use std::fmt;

use anyhow::{Context, Result, bail};
use http::Uri;
use rustls::pki_types::ServerName;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    is_secure: bool,
    /// Without the brackets of an IPv6 address.
    host: String,
    port: u16,
}

impl Endpoint {
    /// The server on this machine.
    pub(crate) fn local(port: u16) -> Endpoint {
        Endpoint { is_secure: false, host: "localhost".to_owned(), port }
    }

    /// Reads an address such as `https://db.example:8081/`.
    pub(crate) fn parse(url: &str) -> Result<Endpoint> {
        let objection = || format!("--endpoint is {url}, but must be like http://localhost:8081/");
        let uri: Uri = url.parse().with_context(objection)?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => bail!(objection()),
        };
        let has_path =
            uri.path_and_query().is_some_and(|path| path.as_str() != "/" && !path.as_str().is_empty());
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || has_path {
            bail!(objection());
        }
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        Ok(Endpoint { is_secure, host: host.to_owned(), port })
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.is_secure
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What the `Host` header says.
    pub(crate) fn authority(&self) -> String {
        let Endpoint { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// The name that the certificate must have.
    pub(crate) fn tls_name(&self) -> Result<ServerName<'static>> {
        ServerName::try_from(self.host.clone()).with_context(|| format!("{} is no name for TLS", self.host))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}/", self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (url, expected) in [
            ("http://localhost:8081", "http://localhost:8081/"),
            ("https://db.example/", "https://db.example:443/"),
            ("http://127.0.0.1", "http://127.0.0.1:80/"),
            ("https://[::1]:9000/", "https://[::1]:9000/"),
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            assert_eq!(endpoint.to_string(), expected, "{url}");
            endpoint.tls_name().unwrap();
        }
        for url in ["", "localhost:8081", "ftp://x/", "http:///", "http://x/dbs", "http://x/?a", "a b", "/x"]
        {
            let error = format!("{:#}", Endpoint::parse(url).unwrap_err());
            assert!(error.contains("must be like http://localhost:8081/"), "{url}: {error}");
        }
    }
}
