//! The client that walks through all items page by page while partitions are split and merged, and goes on after a
//! restart where it was.
//!
//! It meets each item that nobody changes exactly once, whatever happens between two pages.

use std::sync::Arc;

use anyhow::{Context, Result};
use armilla_crash::http_client::{Connection, Reply};
use armilla_crash::requests::{Composer, Target};
use armilla_env::{Env, Random};
use armilla_value::{Value, json};

use crate::ballast::{Ballast, KIND};
use crate::content::Area;
use crate::setup::{DATABASE, unexpected};
use crate::stop::{Stop, go_on};
use crate::writer::Round;

/// How it walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The feed of all items.
    Feed,
    /// A query in whatever order.
    Query,
    /// A query in an order that has many ties.
    OrderedQuery,
}

const WAYS: [Way; 3] = [Way::Feed, Way::Query, Way::OrderedQuery];

/// The longest page; short enough that a walk takes many.
const PAGE_ITEMS_MAX: u64 = 400;

/// A walker and where it is, over all rounds.
pub(crate) struct Walker {
    composer: Composer,
    way: Way,
    continuation: Option<String>,
    met: Vec<String>,
    /// Values of the order, which only fall.
    rank: Option<i64>,
    /// Walks that came to their end in the round.
    pub(crate) walks: u64,
    pub(crate) wrong: Option<String>,
}

impl Walker {
    pub(crate) fn new(env: &Env) -> Walker {
        Walker {
            composer: Composer::new(env),
            way: Way::Feed,
            continuation: None,
            met: Vec::new(),
            rank: None,
            walks: 0,
            wrong: None,
        }
    }

    /// Walks until the server is gone.
    pub(crate) async fn run(
        mut self,
        round: Arc<Round>,
        ballast: Arc<Ballast>,
        mut random: Random,
    ) -> Walker {
        (self.walks, self.wrong) = (0, None);
        let stop = match Connection::open(round.address).await {
            Ok(mut connection) => loop {
                if let Err(stop) = self.step(&mut connection, &ballast, &mut random).await {
                    break stop;
                }
            },
            Err(error) => Stop::Broken(error),
        };
        self.wrong = stop.wrong(&round).map(|wrong| format!("walker: {wrong}"));
        self
    }

    /// Ends the walk that the restart broke off; says whether one was under way.
    pub(crate) async fn finish(
        &mut self,
        connection: &mut Connection,
        ballast: &Ballast,
        random: &mut Random,
    ) -> Result<bool> {
        let was_under_way = self.continuation.is_some();
        let walks = self.walks;
        while was_under_way && self.walks == walks {
            match self.step(connection, ballast, random).await {
                Ok(()) => {}
                Err(Stop::Wrong(wrong)) => {
                    let way = self.way;
                    self.start_again(random);
                    anyhow::bail!("{way:?} that went on after the restart: {wrong}");
                }
                Err(Stop::Broken(error)) => return Err(error).context("the server does not answer"),
                Err(Stop::Dismissed) => anyhow::bail!("the server closed a connection while it should live"),
            }
        }
        Ok(was_under_way)
    }

    async fn step(
        &mut self,
        connection: &mut Connection,
        ballast: &Ballast,
        random: &mut Random,
    ) -> Result<(), Stop> {
        let request = self.compose(random);
        let reply = connection.exchange(&request).await?;
        let is_last = reply.is_last();
        if reply.status == 429 {
            return go_on(is_last);
        }
        if reply.status != 200 {
            return Err(Stop::Wrong(format!("{:?}: {}", self.way, unexpected(&request, &reply, "200"))));
        }
        let continuation = self.take_page(&reply).map_err(Stop::Wrong)?;
        if continuation.is_none() {
            let wrong = ballast.differences_of_walk(&self.met);
            if let Some(first) = wrong.first() {
                let message =
                    format!("{:?} through all items: {first}, and {} more", self.way, wrong.len() - 1);
                return Err(Stop::Wrong(message));
            }
            self.walks += 1;
            self.start_again(random);
        } else {
            self.continuation = continuation;
        }
        go_on(is_last)
    }

    fn compose(&mut self, random: &mut Random) -> Vec<u8> {
        let count = (1 + random.below(PAGE_ITEMS_MAX)).to_string();
        let mut headers = vec![("x-ms-max-item-count", count.as_str())];
        if let Some(continuation) = &self.continuation {
            headers.push(("x-ms-continuation", continuation));
        }
        let target = Target::Items(DATABASE, Area::Items.container());
        let order = match self.way {
            Way::Feed => return self.composer.compose("GET", target, &headers, b""),
            Way::Query => "",
            Way::OrderedQuery => " ORDER BY c.rank DESC",
        };
        headers.push(("x-ms-documentdb-isquery", "True"));
        headers.push(("x-ms-documentdb-query-enablecrosspartition", "True"));
        let body = format!(r#"{{"query":"SELECT c.id, c.rank FROM c WHERE c.kind = '{KIND}'{order}"}}"#);
        self.composer.compose("POST", target, &headers, body.as_bytes())
    }

    /// Notes what a page shows; returns where the next one begins.
    fn take_page(&mut self, reply: &Reply<'_>) -> Result<Option<String>, String> {
        let page = json::parse(reply.body).map_err(|error| format!("a page: {error}"))?;
        for row in page.get("Documents").and_then(Value::as_array).ok_or("a page has no Documents")? {
            let id = row.get("id").and_then(Value::as_str).ok_or("a row has no id")?;
            if !Ballast::is_own(id) {
                continue;
            }
            self.met.push(id.to_owned());
            if self.way == Way::OrderedQuery {
                let rank = row.get("rank").and_then(Value::as_i64).ok_or("a row has no rank")?;
                if self.rank.is_some_and(|before| before < rank) {
                    return Err(format!("{id} of rank {rank} comes behind rank {:?}", self.rank));
                }
                self.rank = Some(rank);
            }
        }
        let next = reply.header("x-ms-continuation").filter(|next| !next.is_empty());
        Ok(next.map(str::to_owned))
    }

    fn start_again(&mut self, random: &mut Random) {
        self.way = WAYS[random.index(WAYS.len())];
        self.continuation = None;
        self.met.clear();
        self.rank = None;
    }
}
