//! A reader of change feeds that remembers where it is.

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client};

pub(super) const DOCS: &str = "/dbs/d/colls/c/docs";
pub(super) const LATEST: (&str, &str) = ("a-im", "Incremental Feed");
pub(super) const ALL_VERSIONS: (&str, &str) = ("a-im", "Full-Fidelity Feed");
pub(super) const ENVELOPES: (&str, &str) = ("x-ms-cosmos-changefeed-wire-format-version", "2021-09-15");
pub(super) const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";
pub(super) const KEY: &str = "x-ms-documentdb-partitionkey";

/// Where a reader is, and what it asks for with every page.
#[derive(Clone)]
pub(super) struct Reader {
    headers: Vec<(&'static str, String)>,
    pub(super) position: Option<String>,
}

impl Reader {
    /// One of the newest versions, from the beginning.
    pub(super) fn latest(headers: &[(&'static str, &str)]) -> Reader {
        Reader::new(&[LATEST], headers)
    }

    /// One of all versions, which has yet to be told where to begin.
    pub(super) fn all_versions(headers: &[(&'static str, &str)]) -> Reader {
        Reader::new(&[ALL_VERSIONS, ENVELOPES], headers)
    }

    fn new(first: &[(&'static str, &str)], headers: &[(&'static str, &str)]) -> Reader {
        let headers = first.iter().chain(headers).map(|(name, value)| (*name, (*value).to_owned()));
        Reader { headers: headers.collect(), position: None }
    }

    pub(super) fn at(mut self, position: &str) -> Reader {
        self.position = Some(position.to_owned());
        self
    }

    /// Reads one page, whatever comes.
    pub(super) async fn try_page(&self, client: &Client) -> Answer {
        let mut headers: Vec<(&'static str, &str)> =
            self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        headers.extend(self.position.as_deref().map(|position| ("if-none-match", position)));
        client.send(Method::GET, DOCS, &headers, "").await
    }

    /// Reads one page and goes on behind it.
    pub(super) async fn page(&mut self, client: &Client) -> Answer {
        let page = self.try_page(client).await;
        assert!(matches!(page.status, 200 | 304), "{page:?}");
        assert_eq!(page.status == 304, page.text.is_empty());
        let etag = page.header("etag").unwrap();
        assert!(etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
        assert!(page.header("x-ms-session-token").is_some(), "{page:?}");
        assert_eq!(page.header("x-ms-continuation"), None);
        assert_ne!(page.header("x-ms-request-charge"), Some("0.00"));
        assert_eq!(page.header("x-ms-item-count"), Some(entries(&page).len().to_string().as_str()));
        assert!(page.status == 200 || page.header("x-armilla-feed-end") == Some("true"), "{page:?}");
        self.position = Some(etag.to_owned());
        page
    }

    /// Reads to the end. Returns the entries of each page.
    pub(super) async fn pages(&mut self, client: &Client) -> Vec<Vec<Value>> {
        let mut pages = Vec::new();
        loop {
            let page = self.page(client).await;
            if page.status == 304 {
                return pages;
            }
            pages.push(entries(&page));
            assert!(pages.len() < 10_000, "the feed does not end");
        }
    }

    /// Reads to the end. Returns all entries.
    pub(super) async fn entries(&mut self, client: &Client) -> Vec<Value> {
        self.pages(client).await.concat()
    }

    /// Reads to the end. Returns the ids of all items.
    pub(super) async fn ids(&mut self, client: &Client) -> Vec<String> {
        self.entries(client).await.iter().map(id).collect()
    }
}

/// The entries of a page.
pub(super) fn entries(page: &Answer) -> Vec<Value> {
    if page.text.is_empty() {
        return Vec::new();
    }
    let entries = page.json().get("Documents").and_then(Value::as_array).unwrap().to_vec();
    assert_eq!(page.number("_count"), entries.len() as i64);
    entries
}

/// The id of an entry: of the item, or of the one that is gone.
pub(super) fn id(entry: &Value) -> String {
    let objects = [Some(entry), entry.get("current"), entry.get("metadata")];
    let found = objects.into_iter().flatten().find_map(|object| object.get("id").and_then(Value::as_str));
    found.unwrap_or_else(|| panic!("no id: {entry:?}")).to_owned()
}

pub(super) fn number(entry: &Value, path: &[&str]) -> i64 {
    let found = path.iter().try_fold(entry, |value, name| value.get(name));
    found.and_then(Value::as_i64).unwrap_or_else(|| panic!("{path:?}: {entry:?}"))
}

/// Makes an account with the container `c` of a definition and a throughput.
pub(super) async fn with_container(definition: &str, throughput: &str) -> Client {
    let client = Client::new().await;
    client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let body =
        format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{definition}}}"#);
    let headers = [("x-ms-offer-throughput", throughput)];
    client.send(Method::POST, "/dbs/d/colls", &headers, body).await.expect(201);
    client
}

/// Creates or replaces the item `n` of the key `k`.
pub(super) async fn put(client: &Client, id: usize, key: usize, more: &str) -> Answer {
    let key = format!("[{key}]");
    let headers = [(KEY, key.as_str()), ("x-ms-documentdb-is-upsert", "True")];
    let body = format!(r#"{{"id":"{id}","pk":{}{more}}}"#, &key[1..key.len() - 1]);
    let answer = client.send(Method::POST, DOCS, &headers, body).await;
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
    answer
}

pub(super) async fn remove(client: &Client, id: usize, key: usize) {
    let key = format!("[{key}]");
    client.send(Method::DELETE, &format!("{DOCS}/{id}"), &[(KEY, &key)], "").await.expect(204);
}

/// Creates items of one logical partition in one commit.
pub(super) async fn batch(client: &Client, ids: std::ops::Range<usize>, key: usize) {
    let operations = ids.map(|id| {
        format!(r#"{{"operationType":"Upsert","resourceBody":{{"id":"{id}","pk":{key},"batch":true}}}}"#)
    });
    let operations = format!("[{}]", operations.collect::<Vec<_>>().join(","));
    let key = format!("[{key}]");
    let headers =
        [(KEY, key.as_str()), ("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")];
    client.send(Method::POST, DOCS, &headers, operations).await.expect(200);
}

pub(super) fn numbers(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}

pub(super) fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort_by_key(|id| id.parse::<u32>().unwrap());
    ids
}
