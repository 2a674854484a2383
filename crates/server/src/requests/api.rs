//! Where the server meets its APIs: which there are, and how a request goes to one.

use std::fmt::Display;
use std::net::IpAddr;

use armilla_api_admin::AdminApi;
use armilla_api_gremlin::GremlinApi;
use armilla_api_sql::SqlApi;
use armilla_api_table::TableApi;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::Full;

/// A front end with a port of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// The SQL API, with the administration and the server's own paths beside it.
    Sql,
    /// The Table API as the database's Table service speaks it.
    Table,
    /// The Table API as the storage service speaks it.
    StorageTable,
    /// The MongoDB API.
    Mongo,
    /// The Gremlin API.
    Gremlin,
}

impl Front {
    /// Every front end, in the order of their numbers.
    pub(crate) const ALL: [Front; 5] =
        [Front::Sql, Front::Table, Front::StorageTable, Front::Mongo, Front::Gremlin];

    /// Returns the name in the ready line and in the figures: a word, as patterns of readers take it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Front::Sql => "sql",
            Front::Table => "table",
            Front::StorageTable => "storage_table",
            Front::Mongo => "mongo",
            Front::Gremlin => "gremlin",
        }
    }

    /// Returns the flag that sets its port.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Front::Sql => "--port",
            Front::Table => "--table-port",
            Front::StorageTable => "--storage-table-port",
            Front::Mongo => "--mongo-port",
            Front::Gremlin => "--gremlin-port",
        }
    }
}

/// A port: which front end is behind it, and for the SQL API which region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Door {
    /// The front end.
    pub(crate) front: Front,
    /// The place of the region among the account's; the first has the front end's own port.
    pub(crate) region: usize,
}

impl Door {
    /// Returns the own port of a front end.
    pub(crate) fn of(front: Front) -> Door {
        Door { front, region: 0 }
    }
}

/// How the client speaks to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In the clear.
    Http,
    /// Under TLS.
    Https,
}

impl Scheme {
    /// Returns what stands before the host in an address.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// An API that answers requests.
pub(crate) enum Api {
    /// The SQL API at the address of a region, and the administration on the same port.
    Sql(SqlApi, AdminApi, usize),
    /// The Table API in one of its flavours.
    Table(TableApi),
    /// The Gremlin API, as far as it is asked over HTTP.
    Gremlin(GremlinApi),
}

impl Api {
    /// Tells whether the API's own rules let a web page send such a request, or ask whether it may.
    pub(crate) fn lets_in(&self, origin: &str, method: &Method) -> bool {
        match self {
            Api::Sql(..) | Api::Gremlin(_) => false,
            Api::Table(api) => api.lets_in(origin, method),
        }
    }

    /// Answers a request.
    pub(crate) async fn handle<B>(
        &self,
        request: Request<B>,
        scheme: Scheme,
        address: IpAddr,
    ) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let scheme = scheme.name();
        match self {
            Api::Sql(api, _, region) if !AdminApi::serves(request.uri().path()) => {
                api.handle(request, armilla_api_sql::Peer { scheme, region: *region }).await
            }
            // The future has room for one of them, which should not be the largest.
            Api::Sql(_, admin, _) => Box::pin(admin.handle(request)).await,
            Api::Table(api) => {
                Box::pin(api.handle(request, armilla_api_table::Peer { scheme, address })).await
            }
            Api::Gremlin(api) => Box::pin(api.handle(request)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order() {
        for (position, front) in Front::ALL.iter().enumerate() {
            assert_eq!(*front as usize, position);
        }
    }

    /// Readers of the ready line take `\w+=\S+` apart: a dash in a name would make another name of its end.
    #[test]
    fn labels_are_words() {
        for front in Front::ALL {
            assert!(front.label().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{front:?}");
        }
    }
}
