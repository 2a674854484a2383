//! Requests of the SQL API and of the Table API, who sends them, and their answers.

use std::fmt::Write as _;
use std::net::SocketAddr;

use anyhow::{Result, anyhow};
use armilla_crash::http_client::Reply;
use armilla_env::Env;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::{http_date, percent, well_known};
use armilla_value::{Value, json};

/// The key that permits reading alone, of every server of the cases.
pub const READ_ONLY_KEY: &str = "cmVhZC1vbmx5IGtleSBvZiB0aGUgaG9zdGlsZSBjYXNlcywgbG9uZyBlbm91Z2g=";

/// The account that the Table API answers to.
const TABLE_ACCOUNT: &str = "localhost";

/// Who asks.
#[derive(Clone)]
pub enum Caller {
    /// Somebody with a key of the account.
    Key(AccountKey),
    /// Somebody with a resource token.
    Token(String),
    /// Somebody with a key of the account, on the Table API.
    TableKey(AccountKey),
    /// Somebody without credentials.
    Nobody,
    /// Somebody without credentials in the headers, on the Table API.
    TableNobody,
}

impl Caller {
    /// Returns a caller with the well-known key.
    pub fn master() -> Caller {
        Caller::key(well_known::COSMOS_KEY)
    }

    /// Returns a caller with a key in base64.
    pub fn key(key: &str) -> Caller {
        Caller::Key(prepared(key))
    }

    /// Says whether it is the Table API that they ask.
    pub fn is_of_tables(&self) -> bool {
        match self {
            Caller::TableKey(_) | Caller::TableNobody => true,
            Caller::Key(_) | Caller::Token(_) | Caller::Nobody => false,
        }
    }

    /// Returns a caller of the Table API with a key in base64.
    pub fn table_key(key: &str) -> Caller {
        Caller::TableKey(prepared(key))
    }
}

/// Returns the query string of a shared access signature for one table, signed with a key in base64.
pub fn table_signature(key: &str, table: &str, permissions: &str) -> String {
    const END: &str = "2099-01-01T00:00:00Z";
    const VERSION: &str = "2019-02-02";
    let resource = format!("/table/{TABLE_ACCOUNT}/{}", table.to_lowercase());
    let lines = [permissions, "", END, &resource, "", "", "", VERSION, "", "", "", ""];
    let signature = prepared(key).sign(lines.join("\n").as_bytes());
    let signature = percent::encode(&signature);
    format!("sv={VERSION}&tn={table}&sp={permissions}&se={END}&sig={signature}")
}

fn prepared(key: &str) -> AccountKey {
    AccountKey::new(key).expect("the keys of the cases are base64")
}

/// A request, not signed yet.
#[derive(Debug, Clone)]
pub struct Request {
    method: &'static str,
    path: String,
    /// What is signed, if it does not follow from the path: the kind of resource and its link.
    signed: Option<(String, String)>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Returns a request without a body.
    pub fn new(method: &'static str, path: &str) -> Request {
        Request { method, path: path.to_owned(), signed: None, headers: Vec::new(), body: Vec::new() }
    }

    /// Returns a request that reads.
    pub fn get(path: &str) -> Request {
        Request::new("GET", path)
    }

    /// Returns a request that creates or runs something.
    pub fn post(path: &str, body: &str) -> Request {
        Request::new("POST", path).body(body)
    }

    /// Returns a query without parameters.
    pub fn query(path: &str, text: &str) -> Request {
        let text = json::to_string(&Value::from(text));
        Request::new("POST", path)
            .header("x-ms-documentdb-isquery", "True")
            .header("content-type", "application/query+json")
            .body(&format!("{{\"query\":{text},\"parameters\":[]}}"))
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Names the logical partition by a string.
    pub fn partition(self, key: &str) -> Request {
        let key = json::to_string(&Value::from(key));
        self.header("x-ms-documentdb-partitionkey", &format!("[{key}]"))
    }

    /// Sets the body.
    pub fn body(mut self, body: &str) -> Request {
        self.body = body.as_bytes().to_vec();
        self
    }

    /// Says what is signed where that does not follow from the path: links of resource ids.
    pub fn signed_as(mut self, resource_type: &str, link: &str) -> Request {
        self.signed = Some((resource_type.to_owned(), link.to_owned()));
        self
    }

    /// Returns its line, for messages.
    pub fn what(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns its bytes, signed by a caller.
    pub fn compose(&self, caller: &Caller, address: SocketAddr, env: &Env) -> Vec<u8> {
        let mut head =
            format!("{} {} HTTP/1.1\r\nhost: localhost:{}\r\n", self.method, self.path, address.port());
        for (name, value) in self.credentials(caller, env).iter().chain(&self.headers) {
            // Writing to a string cannot fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let has_type = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if !self.body.is_empty() && !has_type {
            head.push_str("content-type: application/json\r\n");
        }
        if !self.body.is_empty() || matches!(self.method, "POST" | "PUT" | "PATCH" | "MERGE") {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Returns the headers that say who asks, with the date that is signed.
    pub fn credentials(&self, caller: &Caller, env: &Env) -> Vec<(String, String)> {
        let date = http_date::format_seconds(env.clock.now_seconds());
        let (version, authorization) = match caller {
            Caller::Key(key) => {
                let (resource_type, link) = self.signed.clone().unwrap_or_else(|| signed_part(&self.path));
                ("2020-07-15", Some(key.master(self.method, &resource_type, &link, &date)))
            }
            Caller::Token(token) => ("2020-07-15", Some(percent::encode(token).to_string())),
            Caller::TableKey(key) => {
                let path = self.path.split('?').next().unwrap_or_default();
                ("2019-02-02", Some(key.shared_key_lite(TABLE_ACCOUNT, path, &date)))
            }
            Caller::Nobody => ("2020-07-15", None),
            Caller::TableNobody => ("2019-02-02", None),
        };
        let mut headers =
            vec![("x-ms-date".to_owned(), date), ("x-ms-version".to_owned(), version.to_owned())];
        headers.extend(authorization.map(|value| ("authorization".to_owned(), value)));
        headers
    }

    /// Returns its parts, for clients that write requests themselves.
    pub fn parts(&self) -> (&'static str, &str, &[(String, String)], &[u8]) {
        (self.method, &self.path, &self.headers, &self.body)
    }
}

/// Returns the kind of resource and the link that the signature of a path by names covers.
fn signed_part(path: &str) -> (String, String) {
    let link = path.trim_matches('/');
    let segments: Vec<&str> = link.split('/').collect();
    match segments[..] {
        [""] => (String::new(), String::new()),
        ["_armilla", ..] => ("armilla".to_owned(), link.to_owned()),
        // Resource ids are signed in lower case.
        ["offers", offer] => ("offers".to_owned(), offer.to_ascii_lowercase()),
        [.., feed] if segments.len() % 2 == 1 => {
            (feed.to_owned(), link[..link.len() - feed.len()].trim_end_matches('/').to_owned())
        }
        [.., kind, _] => (kind.to_owned(), link.to_owned()),
        _ => (String::new(), link.to_owned()),
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The sub-status, 0 if there is none.
    pub substatus: u32,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Takes over an answer of a connection.
    pub fn of(reply: &Reply<'_>) -> Answer {
        let substatus = reply.header("x-ms-substatus").and_then(|text| text.parse().ok()).unwrap_or(0);
        Answer {
            status: reply.status,
            substatus,
            headers: reply.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: reply.body.to_vec(),
        }
    }

    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> Result<Value> {
        json::parse(&self.body).map_err(|error| anyhow!("the answer is not JSON: {error}: {}", self.text()))
    }

    /// Returns a property of the body that must be a string.
    pub fn property(&self, name: &str) -> Result<String> {
        let body = self.json()?;
        let value = body.get(name).and_then(Value::as_str).map(str::to_owned);
        value.ok_or_else(|| anyhow!("the answer has no '{name}': {}", self.text()))
    }

    /// Returns the beginning of the body as text, for messages.
    pub fn text(&self) -> String {
        const CHARACTERS_MAX: usize = 400;
        String::from_utf8_lossy(&self.body).chars().take(CHARACTERS_MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_parts() {
        for (path, resource_type, link) in [
            ("/", "", ""),
            ("/dbs", "dbs", ""),
            ("/dbs/d", "dbs", "dbs/d"),
            ("/dbs/d/colls/", "colls", "dbs/d"),
            ("/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/i", "docs", "dbs/d/colls/c/docs/i"),
            ("/offers/AbC=", "offers", "abc="),
            ("/_armilla/partitions", "armilla", "_armilla/partitions"),
        ] {
            assert_eq!(signed_part(path), (resource_type.to_owned(), link.to_owned()), "{path}");
        }
    }
}
