//! Requests of the page that go on to an API, as those who signed in.

use armilla_rest_wire::authorization::SignedIn;
use bytes::Bytes;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Extensions, Method, Response, Uri, header};
use http_body_util::Full;

use crate::sessions::Right;
use crate::{CSRF, Explorer, Refused};

/// Which API a request goes on to. Also added to the request, as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    /// The SQL API, or the administration.
    Sql,
    /// The Table API.
    Table,
    /// The Gremlin API.
    Gremlin,
    /// The MongoDB API.
    Mongo,
}

const SQL: &str = "/_explorer/rest";
const TABLE: &str = "/_explorer/table";
const GREMLIN: &str = "/_explorer/gremlin";
const MONGO: &str = "/_explorer/mongo";

impl Explorer {
    /// Tells whether a path leads on to an API.
    pub fn leads_on(path: &str) -> bool {
        Onward::of(path).is_some()
    }

    /// Makes a request of the page one of the API: what the session permits stands in the place of a signature.
    pub fn pass(&self, head: &mut Parts) -> Result<Onward, Box<Response<Full<Bytes>>>> {
        self.let_on(head).map_err(|refused| Box::new(refused.response()))
    }

    fn let_on(&self, head: &mut Parts) -> Result<Onward, Refused> {
        let onward = Onward::of(head.uri.path()).ok_or(Refused::NoSuchPath)?;
        let right = self.proven(head)?.right;
        let others = self.shared.options.others;
        match onward {
            Onward::Sql => head.uri = below(&head.uri, SQL).ok_or(Refused::NoSuchPath)?,
            Onward::Table if others.table => {
                head.uri = below(&head.uri, TABLE).ok_or(Refused::NoSuchPath)?;
            }
            Onward::Table => return Err(Refused::Off("the server has no Table API")),
            Onward::Gremlin if !others.gremlin => return Err(Refused::Off("the server has no Gremlin API")),
            Onward::Mongo if !others.mongo => return Err(Refused::Off("the server has no MongoDB API")),
            Onward::Gremlin | Onward::Mongo if head.method != Method::POST => {
                return Err(Refused::NoSuchMethod("POST"));
            }
            Onward::Gremlin | Onward::Mongo => {}
        }
        let headers = &mut head.headers;
        headers.remove(header::COOKIE);
        headers.remove(&CSRF);
        headers.remove(header::AUTHORIZATION);
        // Who is believed is told by what the server itself adds, never by what came.
        head.extensions = Extensions::new();
        match right {
            Right::Key(access) => drop(head.extensions.insert(SignedIn(access))),
            Right::Token(token) if onward == Onward::Sql => {
                drop(headers.insert(header::AUTHORIZATION, token))
            }
            Right::Token(_) => return Err(Refused::TokensCannot),
        }
        head.extensions.insert(onward);
        Ok(onward)
    }
}

impl Onward {
    fn of(path: &str) -> Option<Onward> {
        let is_below = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        match path {
            GREMLIN => Some(Onward::Gremlin),
            MONGO => Some(Onward::Mongo),
            _ if is_below(SQL) => Some(Onward::Sql),
            _ if is_below(TABLE) => Some(Onward::Table),
            _ => None,
        }
    }
}

/// Returns an address without what it begins with.
fn below(uri: &Uri, prefix: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix(prefix)?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
    Uri::from_parts(parts).ok()
}
