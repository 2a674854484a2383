//! Where the server meets the SQL API.

use armilla_api_sql::Peer;

pub(crate) use armilla_api_sql::SqlApi as Api;

/// How the client speaks to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In the clear.
    Http,
    /// Under TLS.
    Https,
}

impl Scheme {
    /// Returns what the API needs to know of it.
    pub(crate) fn peer(self) -> Peer {
        match self {
            Scheme::Http => Peer { scheme: "http" },
            Scheme::Https => Peer { scheme: "https" },
        }
    }
}
