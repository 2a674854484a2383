//! What can be set.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub use armilla_gremlin_wire::GraphSon2;

use crate::limits::{TRAVERSAL_TIME_DEFAULT, USER_BYTES_MAX};

/// Whose rules hold where the service and TinkerPop differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// TinkerPop's, with everything that there is.
    #[default]
    Open,
    /// The service's, with its failures.
    CosmosStrict,
}

/// A graph by its place in the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphName {
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
}

impl FromStr for GraphName {
    type Err = &'static str;

    /// Reads `/dbs/<database>/colls/<graph>`, as users are called who log in.
    fn from_str(text: &str) -> Result<GraphName, &'static str> {
        const EXPECTED: &str = "a graph is named /dbs/<database>/colls/<graph>";
        let trimmed = text.trim_matches('/');
        let parts: Vec<&str> = trimmed.split('/').collect();
        match parts.as_slice() {
            ["dbs", database, "colls", container]
                if !database.is_empty() && !container.is_empty() && text.len() <= USER_BYTES_MAX =>
            {
                Ok(GraphName { database: (*database).to_owned(), container: (*container).to_owned() })
            }
            _ => Err(EXPECTED),
        }
    }
}

/// Another name of a graph, by which requests can ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The name, such as `gmodern`.
    pub name: String,
    /// The graph.
    pub graph: GraphName,
}

impl FromStr for Alias {
    type Err = &'static str;

    /// Reads `NAME=/dbs/<database>/colls/<graph>`.
    fn from_str(text: &str) -> Result<Alias, &'static str> {
        let Some((name, graph)) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err("an alias is written NAME=/dbs/<database>/colls/<graph>");
        };
        Ok(Alias { name: name.trim().to_owned(), graph: graph.trim().parse()? })
    }
}

/// Settings of the API.
#[derive(Debug, Clone)]
pub struct GremlinApiOptions {
    /// The account's keys, as text.
    pub keys: Vec<String>,
    /// Keys that may read only.
    pub read_only_keys: Vec<String>,
    /// Whether clients need not log in: then every one may do everything.
    pub is_open: bool,
    /// Whose rules hold.
    pub dialect: Dialect,
    /// What is answered to GraphSON 2.0.
    pub graphson2: GraphSon2,
    /// How long a traversal may take if its client does not say.
    pub timeout: Duration,
    /// Other names of graphs.
    pub aliases: Vec<Alias>,
}

impl GremlinApiOptions {
    /// Returns the settings with one key and all else as it is by default.
    pub fn new(key: impl Into<String>) -> GremlinApiOptions {
        GremlinApiOptions {
            keys: vec![key.into()],
            read_only_keys: Vec::new(),
            is_open: false,
            dialect: Dialect::default(),
            graphson2: GraphSon2::default(),
            timeout: TRAVERSAL_TIME_DEFAULT,
            aliases: Vec::new(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        if self.keys.is_empty() || self.keys.iter().chain(&self.read_only_keys).any(String::is_empty) {
            return Err(OptionsError("an account needs a key"));
        }
        if self.timeout.is_zero() {
            return Err(OptionsError("a traversal needs some time"));
        }
        Ok(())
    }
}

/// Settings that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionsError(&'static str);

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for OptionsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_named_by_their_place() {
        for text in ["/dbs/d/colls/g", "dbs/d/colls/g", "/dbs/d/colls/g/"] {
            let name: GraphName = text.parse().unwrap();
            assert_eq!((&*name.database, &*name.container), ("d", "g"), "{text}");
        }
        for text in
            ["", "/", "/dbs/d", "/dbs//colls/g", "/dbs/d/colls/", "/dbs/d/colls/g/docs/x", "/DBS/d/colls/g"]
        {
            assert!(text.parse::<GraphName>().is_err(), "{text}");
        }
        assert!(format!("/dbs/{}/colls/g", "d".repeat(2_000)).parse::<GraphName>().is_err());
        let alias: Alias = "gmodern=/dbs/d/colls/modern".parse().unwrap();
        assert_eq!((&*alias.name, &*alias.graph.container), ("gmodern", "modern"));
        for text in ["gmodern", "=/dbs/d/colls/g", "gmodern=modern"] {
            assert!(text.parse::<Alias>().is_err(), "{text}");
        }
    }
}
