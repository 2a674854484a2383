//! A server and the key to it.

use std::fmt;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use armilla_env::Env;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known;
use http::HeaderValue;

use crate::config::{self, Config};
use crate::endpoint::Endpoint;
use crate::limits::THROTTLE_PATIENCE;
use crate::options::{PORT, ServerOptions};
use crate::session::Session;
use crate::trust::Trust;

/// A server and the key to it. Cloning is cheap.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

/// What all sessions of a client have in common.
pub(crate) struct Shared {
    pub(crate) endpoint: Endpoint,
    /// What the `Host` header says.
    pub(crate) host: HeaderValue,
    pub(crate) key: AccountKey,
    pub(crate) trust: Trust,
    pub(crate) env: Env,
}

impl Client {
    /// Takes the options, and those of the file they name. Nothing is sent yet.
    pub fn new(options: &ServerOptions, env: Env) -> Result<Client> {
        let file = match &options.config {
            Some(path) => config::read(path)?,
            None => Config::default(),
        };
        let endpoint = match &options.endpoint {
            Some(url) => Endpoint::parse(url)?,
            None => Endpoint::local(file.port.unwrap_or(PORT)),
        };
        let key = options.key.as_deref().or(file.key.as_deref()).unwrap_or(well_known::COSMOS_KEY);
        let host = HeaderValue::try_from(endpoint.authority())?;
        let shared = Shared {
            host,
            key: AccountKey::new(key).context("cannot sign with this key")?,
            trust: Trust::new(options.cacert.as_deref())?,
            endpoint,
            env,
        };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// Returns a session, which keeps a connection of its own; it is opened with the first request.
    pub fn session(&self) -> Session {
        Session::new(self.shared.clone(), THROTTLE_PATIENCE)
    }

    /// Returns the outside world that the client was given.
    pub fn env(&self) -> &Env {
        &self.shared.env
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.endpoint.fmt(f)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.shared.endpoint).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(options: &ServerOptions) -> Client {
        Client::new(options, Env::system()).unwrap()
    }

    #[test]
    fn port_and_key_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("armilla.toml");
        std::fs::write(&path, "port = 9000\nkey = \"AAAA\"\n").unwrap();
        let of_file = client(&ServerOptions { config: Some(path.clone()), ..Default::default() });
        assert_eq!(of_file.to_string(), "http://localhost:9000/");
        let given = client(&ServerOptions {
            config: Some(path.clone()),
            endpoint: Some("https://[::1]:1/".to_owned()),
            key: Some("BBBB".to_owned()),
            cacert: None,
        });
        assert_eq!(given.to_string(), "https://[::1]:1/");
        assert_eq!(client(&ServerOptions::default()).to_string(), "http://localhost:8081/");
        std::fs::write(&path, "key = \"?\"\n").unwrap();
        let error = Client::new(&ServerOptions { config: Some(path), ..Default::default() }, Env::system());
        assert!(format!("{:#}", error.unwrap_err()).contains("not base64"));
    }
}
