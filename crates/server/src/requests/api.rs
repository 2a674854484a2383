//! Where the server meets its APIs: which there are, and how a request goes to one.

use std::fmt::Display;
use std::net::IpAddr;

use armilla_api_admin::AdminApi;
use armilla_api_gremlin::GremlinApi;
use armilla_api_mongo::MongoApi;
use armilla_api_sql::SqlApi;
use armilla_api_table::TableApi;
use armilla_explorer::{Explorer, Onward};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::Full;

use crate::requests::mongo;

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
    /// The SQL API, with the administration and the explorer on the same port.
    Sql(SqlPort),
    /// The Table API in one of its flavours.
    Table(TableApi),
    /// The Gremlin API, as far as it is asked over HTTP.
    Gremlin(GremlinApi),
}

/// What is served on a port of the SQL API.
pub(crate) struct SqlPort {
    /// The SQL API.
    pub(crate) sql: SqlApi,
    /// Which of the account's regions it is the address of.
    pub(crate) region: usize,
    /// The administration.
    pub(crate) admin: AdminApi,
    /// The page in the browser.
    pub(crate) explorer: Explorer,
    /// The other APIs that the server has, which the page asks by way of this port.
    pub(crate) others: Others,
}

/// The APIs that a server has beside the SQL API.
#[derive(Default)]
pub(crate) struct Others {
    /// The Table API.
    pub(crate) table: Option<TableApi>,
    /// The Gremlin API.
    pub(crate) gremlin: Option<GremlinApi>,
    /// The MongoDB API.
    pub(crate) mongo: Option<MongoApi>,
}

impl Api {
    /// Returns a request as the API is to see it: one of the explorer's page is what that asks for, as whom it signed in.
    pub(crate) fn enter<B>(&self, request: Request<B>) -> Result<Request<B>, Box<Response<Full<Bytes>>>> {
        let Api::Sql(port) = self else { return Ok(request) };
        if !Explorer::leads_on(request.uri().path()) {
            return Ok(request);
        }
        let (mut head, body) = request.into_parts();
        port.explorer.pass(&mut head)?;
        Ok(Request::from_parts(head, body))
    }

    /// Tells whether a path is for pages of this very origin alone, whichever others may ask for the rest.
    pub(crate) fn keeps_to_itself(&self, path: &str) -> bool {
        matches!(self, Api::Sql(_)) && Explorer::serves(path)
    }

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
        match self {
            // The future has room for one of them, which should not be the largest.
            Api::Sql(port) if port.has_beside(&request) => {
                Box::pin(port.beside(request, scheme, address)).await
            }
            Api::Sql(port) => {
                let peer = armilla_api_sql::Peer { scheme: scheme.name(), region: port.region };
                port.sql.handle(request, peer).await
            }
            Api::Table(api) => {
                let peer = armilla_api_table::Peer { scheme: scheme.name(), address };
                Box::pin(api.handle(request, peer)).await
            }
            Api::Gremlin(api) => Box::pin(api.handle(request)).await,
        }
    }
}

impl SqlPort {
    /// Tells whether a request is for what is served beside the SQL API.
    fn has_beside<B>(&self, request: &Request<B>) -> bool {
        let path = request.uri().path();
        let onward = request.extensions().get::<Onward>();
        AdminApi::serves(path)
            || Explorer::serves(path)
            || onward.is_some_and(|onward| *onward != Onward::Sql)
    }

    async fn beside<B>(&self, request: Request<B>, scheme: Scheme, address: IpAddr) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let others = &self.others;
        let onward = request.extensions().get().copied();
        if onward == Some(Onward::Table)
            && let Some(table) = &others.table
        {
            let peer = armilla_api_table::Peer { scheme: scheme.name(), address };
            return table.handle(request, peer).await;
        }
        if onward == Some(Onward::Gremlin)
            && let Some(gremlin) = &others.gremlin
        {
            return gremlin.handle(request).await;
        }
        if onward == Some(Onward::Mongo)
            && let Some(mongo) = &others.mongo
        {
            return mongo::over_http(mongo, request, address).await;
        }
        if AdminApi::serves(request.uri().path()) {
            return self.admin.handle(request).await;
        }
        let is_local = address.to_canonical().is_loopback();
        let peer = armilla_explorer::Peer { is_secure: scheme == Scheme::Https, is_local };
        self.explorer.handle(request, peer).await
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
