//! Followers of the change feed beside writers, splits and merges, on a store that takes its time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_container::{
    ChangeKind, Container, CutBy, FeedMode, FeedStart, Limits, ListScope, Precondition, Priority, WriteMode,
};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;

use crate::feeding::{Follower, property};
use crate::late_store::LateStore;
use crate::reshaping::{ids, merge, split};
use crate::support::{Random, check, definition, key, open};

const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":600}}"#;

const WRITERS: u64 = 3;

/// What was written to each item: the commit, and the value unless it was deleted.
type History = BTreeMap<(String, String), Vec<(u64, Option<u64>)>>;

async fn write(container: Container, random: Random, writer: u64, steps: u64) -> History {
    let mut history = History::new();
    for n in 0..steps {
        let (pk, id) = (format!("{writer}-{}", random.below(5)), random.below(4).to_string());
        let partition_key = key(&format!(r#"["{pk}"]"#));
        let events = history.entry((pk.clone(), id.clone())).or_default();
        let is_there = events.last().is_some_and(|(_, n)| n.is_some());
        let (lsn, value) = if is_there && random.below(3) == 0 {
            let deleted =
                container.delete_item(&partition_key, &id, Precondition::None, Priority::High).await;
            (deleted.unwrap().position.lsn, None)
        } else {
            let body = format!(r#"{{"id":"{id}","pk":"{pk}","n":{n}}}"#);
            let mode = WriteMode::Upsert;
            let written = container
                .write_item(
                    mode,
                    &partition_key,
                    None,
                    body.as_bytes().into(),
                    Precondition::None,
                    Priority::High,
                )
                .await;
            (written.unwrap().position.lsn, Some(n))
        };
        events.push((lsn, value));
    }
    history
}

async fn reshape(container: Container, random: Random, is_over: Arc<AtomicBool>) {
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) || count < 4 {
        let ranges = ids(&container);
        let place = random.below(ranges.len() as u64) as usize;
        if ranges.len() > 1 && (ranges.len() > 3 || random.below(2) == 0) {
            let place = place.min(ranges.len() - 2);
            merge(&container, [ranges[place], ranges[place + 1]]).await.unwrap();
        } else if container.split_point(ranges[place], CutBy::Arc).unwrap().is_some() {
            split(&container, ranges[place], CutBy::Arc).await.unwrap();
        }
        count += 1;
    }
}

/// Follows until no writer is left and there is nothing left.
async fn follow(container: Container, mut follower: Follower, is_over: Arc<AtomicBool>) -> History {
    let mut seen = History::new();
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        let page = follower.next(&container);
        for change in &page.changes {
            let n = change.item.as_ref().map(|item| property(item, "n").parse().unwrap());
            let name = match (&change.item, follower.mode) {
                (Some(item), FeedMode::Latest) => (property(item, "pk"), property(item, "id")),
                _ => (
                    change.partition_key.to_json().trim_matches(['[', ']', '"']).to_owned(),
                    change.id.clone(),
                ),
            };
            assert_eq!(n.is_none(), change.kind == ChangeKind::Delete);
            seen.entry(name).or_default().push((change.lsn, n));
        }
        if page.is_end && was_over {
            return seen;
        }
        if page.is_end {
            let changed = container.feed_changed(&follower.scope, follower.token());
            let _ = tokio::time::timeout(Duration::from_millis(20), changed).await;
        }
        tokio::task::yield_now().await;
    }
}

async fn run(seed: u64, throughput: u32) {
    let store = Arc::new(LateStore(Arc::new(MemoryStore::new())));
    let env = Env::simulated(seed).0;
    let container = open(store, env, definition(ALL_VERSIONS), throughput, Limits::default());
    let (writing_is_over, following_is_over) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let random = |number: u64| Random::new(seed * 100 + number);
    let shaper = tokio::spawn(reshape(container.clone(), random(50), writing_is_over.clone()));
    let mut followers = Vec::new();
    for (place, scope) in [ListScope::All, ListScope::PartitionKey(key(r#"["0-0"]"#))].into_iter().enumerate()
    {
        for mode in [FeedMode::Latest, FeedMode::AllVersions] {
            let start = match mode {
                FeedMode::Latest => FeedStart::Beginning,
                FeedMode::AllVersions => FeedStart::Now,
            };
            let mut follower = Follower::new(mode, scope.clone(), start);
            follower.items_max = 1 + random(60 + place as u64).below(7) as usize;
            if mode == FeedMode::AllVersions {
                follower.next(&container);
            }
            let is_over = following_is_over.clone();
            let task = tokio::spawn(follow(container.clone(), follower, is_over));
            followers.push((mode, matches!(scope, ListScope::All), task));
        }
    }
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(container.clone(), random(writer), writer, 150)))
        .collect();
    let mut history = History::new();
    for writer in writers {
        history.extend(writer.await.unwrap());
    }
    writing_is_over.store(true, Ordering::Relaxed);
    shaper.await.unwrap();
    following_is_over.store(true, Ordering::Relaxed);
    for (mode, is_all, task) in followers {
        let seen = task.await.unwrap();
        let of_scope = |name: &(String, String)| is_all || name.0 == "0-0";
        for (name, events) in history.iter().filter(|(name, _)| of_scope(name)) {
            let shown = seen.get(name).cloned().unwrap_or_default();
            if mode == FeedMode::AllVersions {
                assert_eq!(&shown, events, "{name:?}");
                continue;
            }
            assert!(shown.is_sorted_by(|a, b| a.0 < b.0), "{name:?}: {shown:?}");
            assert!(shown.iter().all(|version| events.contains(version)), "{name:?}");
            let newest = events.last().unwrap();
            assert!(newest.1.is_none() || shown.last() == Some(newest), "{name:?}");
        }
        assert!(seen.keys().all(|name| of_scope(name) && history.contains_key(name)));
    }
    check(&container);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn followers_beside_writers_miss_nothing() {
    for seed in 0..4 {
        run(seed, if seed % 2 == 0 { 400 } else { 20_000 }).await;
    }
}
