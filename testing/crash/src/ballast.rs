//! Items that nobody changes: something to copy for whoever splits a partition, and to find again, to the last byte.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_env::Random;
use armilla_value::{Value, json};

use crate::content::Area;
use crate::ledger::Commit;
use crate::setup::{DATABASE, ask};
use crate::writer::commit;

/// What their ids begin with; nobody else's do.
const PREFIX: &str = "ballast-";

/// The value by which queries find them.
pub(crate) const KIND: &str = "ballast";

/// Items of one logical partition.
const ITEMS_PER_KEY: usize = 8;

/// Longest text in an item.
const FILLING_BYTES_MAX: u64 = 1_200;

/// Connections that put them in.
const CONNECTIONS: usize = 16;

/// All of them, as they were shown when they were put in.
#[derive(Debug, Default)]
pub(crate) struct Ballast {
    items: BTreeMap<String, Value>,
}

impl Ballast {
    /// Puts so many items in; returns the commits as well.
    pub(crate) async fn load(
        address: SocketAddr,
        composer: &Composer,
        count: usize,
        seed: u64,
    ) -> Result<(Ballast, Vec<Commit>)> {
        let next = Arc::new(AtomicUsize::new(0));
        let loading: Vec<_> = (0..CONNECTIONS.min(count))
            .map(|_| tokio::spawn(load_some(address, composer.clone(), next.clone(), count, seed)))
            .collect();
        let (mut ballast, mut commits) = (Ballast::default(), Vec::new());
        for loaded in loading {
            for (id, shown, commit) in loaded.await?? {
                ballast.items.insert(id, shown);
                commits.push(commit);
            }
        }
        Ok((ballast, commits))
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Says whether an id is one of theirs.
    pub(crate) fn is_own(id: &str) -> bool {
        id.starts_with(PREFIX)
    }

    /// Compares an item as a feed shows it with what it was.
    pub(crate) fn difference(&self, id: &str, shown: &Value) -> Option<String> {
        match self.items.get(id) {
            None => Some(format!("the feed shows an item {id} that nobody wrote")),
            Some(known) if known == shown => None,
            Some(known) => {
                let (known, shown) = (json::to_string(known), json::to_string(shown));
                Some(format!("item {id} was never changed, was {known} and is {shown}"))
            }
        }
    }

    /// Lists what is wrong with the ids that a walk through all of them has met.
    pub(crate) fn differences_of_walk(&self, met: &[String]) -> Vec<String> {
        let mut counts: BTreeMap<&str, u32> = self.items.keys().map(|id| (id.as_str(), 0)).collect();
        for id in met {
            *counts.entry(id).or_default() += 1;
        }
        let wrong = counts.iter().filter(|(id, count)| **count != 1 || !self.items.contains_key(**id));
        wrong.map(|(id, count)| format!("it met {id} {count} times")).collect()
    }
}

/// Puts items in until there are enough.
async fn load_some(
    address: SocketAddr,
    mut composer: Composer,
    next: Arc<AtomicUsize>,
    count: usize,
    seed: u64,
) -> Result<Vec<(String, Value, Commit)>> {
    let mut connection = Connection::open(address).await.context("cannot connect")?;
    let mut loaded = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return Ok(loaded);
        }
        let id = format!("{PREFIX}{number}");
        let key = format!("{PREFIX}{}", number / ITEMS_PER_KEY);
        let header = partition_key(&key);
        let headers = [("x-ms-documentdb-partitionkey", header.as_str())];
        let target = Target::Items(DATABASE, Area::Items.container());
        let request = composer.compose("POST", target, &headers, body(&id, &key, number, seed).as_bytes());
        let reply = ask(&mut connection, &request, 201).await?;
        let shown = json::parse(reply.body).map_err(|error| anyhow!("an item's body: {error}"))?;
        loaded.push((id, shown, commit(Area::Items, &reply).map_err(anyhow::Error::msg)?));
    }
}

fn body(id: &str, key: &str, number: usize, seed: u64) -> String {
    let mut random = Random::of_part(seed, number as u64);
    // Few values, so that walks in their order meet many of the same.
    let rank = random.below(50);
    let mut text = format!(
        r#"{{"id":"{id}","pk":"{key}","kind":"{KIND}","number":{number},"rank":{rank},"tags":["a","b"],"filling":""#
    );
    let length = random.below(FILLING_BYTES_MAX) as usize;
    random.push_text(length, &mut text);
    text.push_str("\"}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ballast(count: usize) -> Ballast {
        let item = |number: usize| {
            let id = format!("{PREFIX}{number}");
            let shown = json::parse(body(&id, "k", number, 1).as_bytes()).unwrap();
            (id, shown)
        };
        Ballast { items: (0..count).map(item).collect() }
    }

    #[test]
    fn items_are_what_they_were() {
        let own = ballast(3);
        assert_eq!(own.len(), 3);
        for (id, shown) in &own.items {
            assert!(Ballast::is_own(id));
            assert_eq!(own.difference(id, shown), None);
            assert!(own.difference(id, &Value::Null).is_some());
            assert!(own.difference("ballast-9", shown).is_some());
        }
    }

    #[test]
    fn walks_meet_each_once() {
        let own = ballast(2);
        let met = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert!(own.differences_of_walk(&met(&["ballast-1", "ballast-0"])).is_empty());
        for wrong in [
            &["ballast-0"] as &[_],
            &["ballast-0", "ballast-0", "ballast-1"],
            &["ballast-0", "ballast-1", "ballast-2"],
        ] {
            assert_eq!(own.differences_of_walk(&met(wrong)).len(), 1, "{wrong:?}");
        }
    }
}
