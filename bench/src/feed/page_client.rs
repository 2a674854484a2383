//! One reader of a change feed over HTTP: pages from a position on, each asked for with the etag of the one before.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::{Connection, Reply};
use armilla_crash::requests::{Composer, Target};
use armilla_env::Env;

use crate::items::{CONTAINER, DATABASE};

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Beginning,
    Now,
}

/// A reader on a connection of its own.
pub(super) struct PageClient {
    connection: Connection,
    composer: Composer,
    page_items: String,
    request: Vec<u8>,
    etag: Option<String>,
}

/// A page, as long as its reader is not used again.
pub(super) struct FeedPage<'c> {
    /// As many as the server says.
    pub(super) items: u64,
    /// Whether there was nothing new.
    pub(super) is_unchanged: bool,
    pub(super) reply: Reply<'c>,
}

impl PageClient {
    pub(super) async fn open(env: &Env, address: SocketAddr, page_items: usize) -> Result<PageClient> {
        Ok(PageClient {
            connection: Connection::open(address).await.context("cannot connect")?,
            composer: Composer::new(env),
            page_items: page_items.to_string(),
            request: Vec::with_capacity(1_024),
            etag: None,
        })
    }

    /// Goes to where reading begins.
    pub(super) fn seek(&mut self, start: Start) {
        self.etag = (start == Start::Now).then(|| "*".to_owned());
    }

    /// Reads the next page; with a number of seconds, the server waits so long for changes if there are none.
    pub(super) async fn next(&mut self, wait_seconds: Option<u32>) -> Result<FeedPage<'_>> {
        let wait = wait_seconds.map(|seconds| format!("wait={seconds}"));
        let mut headers =
            vec![("a-im", "Incremental Feed"), ("x-ms-max-item-count", self.page_items.as_str())];
        headers.extend(self.etag.as_deref().map(|etag| ("if-none-match", etag)));
        headers.extend(wait.as_deref().map(|wait| ("prefer", wait)));
        self.request.clear();
        self.composer.write(&mut self.request, "GET", Target::Items(DATABASE, CONTAINER), &headers, b"");
        let reply = self.connection.exchange(&self.request).await.context("the server does not answer")?;
        if !matches!(reply.status, 200 | 304) {
            bail!("a page of the change feed got {}: {}", reply.status, reply.excerpt());
        }
        let etag = reply.header("etag").context("a page of the change feed has no etag")?;
        self.etag = Some(etag.to_owned());
        let is_unchanged = reply.status == 304;
        let items = match reply.header("x-ms-item-count") {
            Some(count) => count.parse().context("the number of items is no number")?,
            None if is_unchanged => 0,
            None => bail!("a page of the change feed does not say how many items it has"),
        };
        Ok(FeedPage { items, is_unchanged, reply })
    }
}
