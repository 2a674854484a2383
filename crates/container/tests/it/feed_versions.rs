//! The change feed of all versions and deletes: what it shows, how long it is kept, what is left of it afterwards.

use std::time::Duration;

use armilla_container::{
    ChangeKind, Container, CutBy, ErrorKind, FeedChange, FeedStart, Limits, ListScope, Swept, check_partition,
};
use armilla_env::Clock as _;

use crate::feed::{delete, put, put_together};
use crate::feeding::{Follower, property};
use crate::reshaping::{begin_split_anew, ids, merge, split};
use crate::support::{Fixture, check, definition, refused};

const LATEST: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;

const TEN_MINUTES: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":10}}"#;

const WITH_IMAGES: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":10,"previousImages":true}}"#;

/// One line for a change: what, where, the item as it is and as it was.
fn told(change: &FeedChange) -> String {
    let kind = match change.kind {
        ChangeKind::Create => "create",
        ChangeKind::Replace => "replace",
        ChangeKind::Update => "update",
        ChangeKind::Delete => "delete",
        ChangeKind::Expire => "expire",
    };
    let n = |item: &Option<armilla_container::Item>| {
        item.as_ref().map_or("-".to_owned(), |item| property(item, "n"))
    };
    let name = format!("{}{}", change.partition_key.to_json(), change.id);
    format!(
        "{} {kind} {name} {} before {} {}",
        change.lsn,
        n(&change.item),
        change.previous_lsn,
        n(&change.previous)
    )
}

fn tell(changes: &[FeedChange]) -> Vec<String> {
    changes.iter().map(told).collect()
}

async fn sweep(container: &Container) -> u64 {
    let mut trimmed = 0;
    loop {
        let swept = container.sweep_step().await.unwrap();
        trimmed += swept.trimmed;
        if !swept.more {
            return trimmed;
        }
    }
}

fn log_entries(container: &Container) -> u64 {
    let ids = ids(container);
    ids.into_iter().map(|id| check_partition(container, id, &mut |_| {}).unwrap().changes).sum()
}

#[tokio::test]
async fn every_change_is_told() {
    for (text, before) in [(TEN_MINUTES, "-"), (WITH_IMAGES, "1")] {
        let container = Fixture::new(text, 400, Limits::default()).container;
        let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
        assert_eq!(follower.next(&container).token, "0");
        put(&container, "a", "x", 1).await;
        put(&container, "a", "x", 2).await;
        put(&container, "b", "x", 3).await;
        delete(&container, "a", "x").await;
        put(&container, "a", "x", 4).await;
        let expected = [
            "1 create [\"a\"]x 1 before 0 -".to_owned(),
            format!("2 replace [\"a\"]x 2 before 1 {before}"),
            "3 create [\"b\"]x 3 before 0 -".to_owned(),
            "4 delete [\"a\"]x - before 2 2".to_owned(),
            "5 create [\"a\"]x 4 before 0 -".to_owned(),
        ];
        for items_max in [1, 2, 1_000] {
            let mut follower = Follower { items_max, ..follower.clone() };
            assert_eq!(tell(&follower.drain(&container)), expected);
            assert_eq!(follower.token(), "5");
        }
        // The same in the children, and where they are one again.
        split(&container, 0, CutBy::Arc).await.unwrap();
        let mut told: Vec<String> = tell(&follower.clone().drain(&container));
        told.sort();
        assert_eq!(told, expected);
        merge(&container, [1, 2]).await.unwrap();
        let mut told: Vec<String> = tell(&follower.clone().drain(&container));
        told.sort();
        assert_eq!(told, expected);
        check(&container);
        // The latest versions of it.
        let latest = Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container);
        assert_eq!(latest.iter().map(|change| change.lsn).collect::<Vec<_>>(), [3, 5]);
    }
}

#[tokio::test]
async fn what_one_commit_did_is_on_one_page() {
    let container = Fixture::new(WITH_IMAGES, 400, Limits::default()).container;
    let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
    follower.items_max = 1;
    follower.next(&container);
    put_together(&container, "a", 0..3, 1).await;
    put_together(&container, "a", 1..2, 2).await;
    put_together(&container, "a", 0..3, 3).await;
    let pages: Vec<Vec<String>> = (0..3).map(|_| tell(&follower.next(&container).changes)).collect();
    assert_eq!(pages[0].len(), 3);
    assert_eq!(pages[1], ["2 replace [\"a\"]1 2 before 1 1"]);
    assert_eq!(
        pages[2],
        [
            "3 replace [\"a\"]0 3 before 1 1",
            "3 replace [\"a\"]1 3 before 2 2",
            "3 replace [\"a\"]2 3 before 1 1"
        ]
    );
}

#[tokio::test]
async fn it_needs_a_retention() {
    for text in [LATEST, &TEN_MINUTES.replace(":10", ":0")] {
        let container = Fixture::new(text, 400, Limits::default()).container;
        for start in [FeedStart::Now, FeedStart::Beginning, FeedStart::Time(5)] {
            let request = Follower::versions(ListScope::All, start).request();
            let error = refused(container.read_feed(&request), ErrorKind::Invalid);
            assert!(error.message.contains("retentionDuration"), "{error}");
        }
    }
}

/// Returns what is told from a start on, in the order of its text; `None` if it is not kept any more.
fn told_from(container: &Container, start: FeedStart) -> Option<Vec<String>> {
    let mut follower = Follower::versions(ListScope::All, start);
    follower.items_max = 2;
    match container.read_feed(&follower.request()) {
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::FeedExpired, "{error}");
            assert!(error.message.contains("retains"), "{error}");
            return None;
        }
        Ok(page) => assert!(page.is_end || !page.changes.is_empty()),
    }
    let mut told = tell(&follower.drain(container));
    told.sort();
    Some(told)
}

#[tokio::test]
async fn it_begins_at_the_beginning_while_all_of_it_is_there() {
    let Fixture { container, clock } = Fixture::new(TEN_MINUTES, 400, Limits::default());
    assert_eq!(told_from(&container, FeedStart::Beginning), Some(vec![]));
    split(&container, 0, CutBy::Arc).await.unwrap();
    assert_eq!(told_from(&container, FeedStart::Beginning), Some(vec![]), "nothing was there to lose");
    merge(&container, [1, 2]).await.unwrap();
    put(&container, "a", "x", 1).await;
    put(&container, "a", "x", 2).await;
    delete(&container, "a", "x").await;
    let all = told_from(&container, FeedStart::Beginning).unwrap();
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[0].contains("create") && all[1].contains("replace") && all[2].contains("delete"), "{all:?}");
    let only = ids(&container)[0];
    split(&container, only, CutBy::Arc).await.unwrap();
    assert_eq!(told_from(&container, FeedStart::Beginning), Some(all.clone()));
    let pair = ids(&container);
    merge(&container, [pair[0], pair[1]]).await.unwrap();
    assert_eq!(told_from(&container, FeedStart::Beginning), Some(all.clone()));
    clock.advance(Duration::from_secs(600));
    sweep(&container).await;
    assert_eq!(told_from(&container, FeedStart::Beginning), Some(all));
    clock.advance(Duration::from_secs(1));
    assert!(sweep(&container).await > 0);
    assert_eq!(told_from(&container, FeedStart::Beginning), None);
    // Versions that were written before all were kept are no beginning.
    let container = Fixture::new(LATEST, 400, Limits::default()).container;
    put(&container, "a", "x", 1).await;
    container.set_definition(definition(TEN_MINUTES), None);
    assert_eq!(told_from(&container, FeedStart::Beginning), None);
    put(&container, "a", "x", 2).await;
    assert_eq!(told_from(&container, FeedStart::Beginning), None);
}

#[tokio::test]
async fn it_begins_at_a_time_that_the_retention_covers() {
    let Fixture { container, clock } = Fixture::new(TEN_MINUTES, 400, Limits::default());
    let now = || u32::try_from(clock.now_ms() / 1_000).unwrap();
    let started = now();
    // Before the container was there nothing was written that it could have lost.
    for start in [0, 5, started, u32::MAX] {
        assert_eq!(told_from(&container, FeedStart::Time(start)), Some(vec![]));
    }
    put(&container, "a", "x", 1).await;
    clock.advance(Duration::from_secs(100));
    let middle = now();
    put(&container, "a", "x", 2).await;
    delete(&container, "a", "x").await;
    clock.advance(Duration::from_secs(100));
    let late = now();
    put(&container, "a", "x", 3).await;
    let lengths = |starts: &[u32]| -> Vec<Option<usize>> {
        starts
            .iter()
            .map(|start| told_from(&container, FeedStart::Time(*start)).map(|told| told.len()))
            .collect()
    };
    let starts = [0, started, started + 1, middle, middle + 1, late, late + 1, u32::MAX];
    let told = [4, 4, 3, 3, 1, 1, 0, 0].map(Some);
    assert_eq!(lengths(&starts), told);
    let only = ids(&container)[0];
    split(&container, only, CutBy::Arc).await.unwrap();
    assert_eq!(lengths(&starts), told);
    // Of the first second nothing is kept any more, of the others everything.
    clock.advance(Duration::from_secs(401));
    sweep(&container).await;
    assert_eq!(lengths(&starts[..2]), [None, None]);
    assert_eq!(lengths(&starts[3..]), told[3..]);
    clock.advance(Duration::from_secs(100));
    assert!(sweep(&container).await > 0);
    assert_eq!(lengths(&starts[..4]), [None; 4]);
    assert_eq!(lengths(&starts[5..]), told[5..]);
    // All is old, and nothing came after it.
    clock.advance(Duration::from_secs(1_000));
    sweep(&container).await;
    assert_eq!(lengths(&[started, now() - 600, now()]), [None, Some(0), Some(0)]);
    check(&container);
}

#[tokio::test]
async fn a_time_from_before_all_versions_were_kept_is_refused() {
    let Fixture { container, clock } = Fixture::new(LATEST, 400, Limits::default());
    let now = || u32::try_from(clock.now_ms() / 1_000).unwrap();
    put(&container, "a", "x", 1).await;
    put(&container, "a", "x", 2).await;
    let written = now();
    clock.advance(Duration::from_secs(60));
    container.set_definition(definition(TEN_MINUTES), None);
    assert_eq!(told_from(&container, FeedStart::Time(written)), None);
    assert_eq!(told_from(&container, FeedStart::Time(now())), Some(vec![]));
    put(&container, "a", "x", 3).await;
    assert_eq!(told_from(&container, FeedStart::Time(written)), None);
    clock.advance(Duration::from_secs(60));
    let later = now();
    put(&container, "a", "x", 4).await;
    let told = told_from(&container, FeedStart::Time(later)).unwrap();
    assert_eq!(told, ["4 replace [\"a\"]x 4 before 3 -"]);
}

#[tokio::test]
async fn versions_go_once_they_are_older_than_the_retention() {
    let Fixture { container, clock } = Fixture::new(WITH_IMAGES, 400, Limits::default());
    let mut start = Follower::versions(ListScope::All, FeedStart::Now);
    start.next(&container);
    put(&container, "a", "kept", 1).await;
    put(&container, "a", "x", 1).await;
    put(&container, "a", "x", 2).await;
    put(&container, "a", "gone", 1).await;
    delete(&container, "a", "gone").await;
    let periodic = Swept { periodic: true, ..Swept::default() };
    clock.advance(Duration::from_secs(300));
    put(&container, "a", "x", 3).await;
    let mut middle = start.clone();
    assert_eq!(middle.drain(&container).len(), 6);
    put(&container, "a", "y", 1).await;
    // At the bound everything is there.
    clock.advance(Duration::from_secs(300));
    assert_eq!(container.sweep_step().await.unwrap(), periodic);
    assert_eq!(start.clone().drain(&container).len(), 7);
    clock.advance(Duration::from_secs(1));
    // What an old change followed, and old deletes: x=1, gone=1, the delete.
    assert_eq!(container.sweep_step().await.unwrap(), Swept { trimmed: 3, ..periodic });
    assert_eq!(container.sweep_step().await.unwrap(), periodic);
    check(&container);
    let error = refused(start.try_next(&container), ErrorKind::FeedExpired);
    assert!(error.message.contains("retains"), "{error}");
    // What a young change followed is still shown with it.
    let mut last_old = Follower::versions(ListScope::All, FeedStart::Token("5".to_owned()));
    assert_eq!(
        tell(&last_old.drain(&container)),
        ["6 replace [\"a\"]x 3 before 3 2", "7 create [\"a\"]y 1 before 0 -"]
    );
    refused(
        container.read_feed(&Follower::versions(ListScope::All, FeedStart::Token("4".to_owned())).request()),
        ErrorKind::FeedExpired,
    );
    assert_eq!(tell(&middle.drain(&container)), ["7 create [\"a\"]y 1 before 0 -"]);
    clock.advance(Duration::from_secs(300));
    assert_eq!(sweep(&container).await, 1);
    assert_eq!(log_entries(&container), 3, "one for each live item");
    // A version that was the newest when its time came goes with the change that replaced it.
    put(&container, "a", "kept", 2).await;
    assert_eq!(tell(&middle.drain(&container)), ["8 replace [\"a\"]kept 2 before 1 1"]);
    assert_eq!(log_entries(&container), 4);
    clock.advance(Duration::from_secs(600));
    assert_eq!(sweep(&container).await, 0);
    clock.advance(Duration::from_secs(1));
    assert_eq!(sweep(&container).await, 1);
    assert_eq!(log_entries(&container), 3);
    check(&container);
    assert!(middle.next(&container).changes.is_empty());
    let latest = Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container);
    assert_eq!(latest.len(), 3);
}

/// The clock was ten years ahead for a while. What was written then has time stamps of then, and must not keep what lies
/// behind it for ten years.
#[tokio::test]
async fn versions_of_a_clock_that_was_ahead_go_with_their_neighbours() {
    let Fixture { container, clock } = Fixture::new(WITH_IMAGES, 400, Limits::default());
    put(&container, "a", "x", 1).await;
    let now_ms = clock.now_ms();
    clock.set_ms(now_ms + 10 * 365 * 86_400_000);
    for n in 2..20 {
        put(&container, "a", "x", n).await;
    }
    clock.set_ms(now_ms);
    // As long as nothing is behind them it is not known how old they are.
    assert_eq!(sweep(&container).await, 0);
    for n in 20..25 {
        put(&container, "a", "x", n).await;
    }
    let entries = log_entries(&container);
    clock.advance(Duration::from_secs(600));
    assert_eq!(sweep(&container).await, 0);
    assert_eq!(log_entries(&container), entries);
    clock.advance(Duration::from_secs(1));
    assert!(sweep(&container).await > 0);
    assert_eq!(log_entries(&container), 1, "one for each live item");
    check(&container);
}

#[tokio::test]
async fn many_versions_go_in_small_steps() {
    let Fixture { container, clock } = Fixture::new(TEN_MINUTES, 400, Limits::default());
    for round in 0..30 {
        put_together(&container, "a", 0..90, round).await;
    }
    clock.advance(Duration::from_secs(601));
    let mut steps = 0;
    let mut trimmed = 0;
    loop {
        let swept = container.sweep_step().await.unwrap();
        steps += 1;
        trimmed += swept.trimmed;
        check(&container);
        if !swept.more {
            break;
        }
    }
    assert_eq!(trimmed, 29 * 90);
    assert!((5..15).contains(&steps), "{steps}");
    assert_eq!(log_entries(&container), 90);
}

#[tokio::test]
async fn what_is_kept_changes_with_the_definition() {
    let Fixture { container, clock: _ } = Fixture::new(LATEST, 400, Limits::default());
    put(&container, "a", "x", 1).await;
    put(&container, "a", "y", 1).await;
    container.set_definition(definition(WITH_IMAGES), None);
    let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
    assert_eq!(follower.next(&container).token, "2");
    // Before, versions were not kept.
    for token in ["0", "1"] {
        let before = Follower::versions(ListScope::All, FeedStart::Token(token.to_owned()));
        refused(container.read_feed(&before.request()), ErrorKind::FeedExpired);
    }
    put(&container, "a", "x", 2).await;
    delete(&container, "a", "y").await;
    assert_eq!(
        tell(&follower.clone().drain(&container)),
        ["3 replace [\"a\"]x 2 before 1 1", "4 delete [\"a\"]y - before 2 1"]
    );
    for token in ["0", "1"] {
        let before = Follower::versions(ListScope::All, FeedStart::Token(token.to_owned()));
        refused(container.read_feed(&before.request()), ErrorKind::FeedExpired);
    }
    check(&container);
    // Turned off and on again with a write in between: nothing from before can be followed.
    container.set_definition(definition(LATEST), None);
    refused(follower.try_next(&container), ErrorKind::Invalid);
    put(&container, "a", "x", 3).await;
    check(&container);
    container.set_definition(definition(WITH_IMAGES), None);
    refused(follower.try_next(&container), ErrorKind::FeedExpired);
    let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
    follower.next(&container);
    put(&container, "a", "x", 4).await;
    assert_eq!(tell(&follower.drain(&container)), ["6 replace [\"a\"]x 4 before 5 3"]);
    check(&container);
    // Turned off for good: in the end there is one entry for each live item, and no record of anything else.
    container.set_definition(definition(LATEST), None);
    assert!(sweep(&container).await > 0);
    assert_eq!(log_entries(&container), 1);
    check(&container);
    assert_eq!(container.sweep_step().await.unwrap(), Swept::default());
}

/// Partitions that were brought together were trimmed at different times.
#[tokio::test]
async fn a_merge_takes_nothing_from_either_side() {
    let Fixture { container, clock } = Fixture::new(TEN_MINUTES, 20_000, Limits::default());
    for number in 0..80_u32 {
        put(&container, &(number % 40).to_string(), "1", number).await;
    }
    clock.advance(Duration::from_secs(601));
    let position = |id: u32| container.positions().unwrap().iter().find(|at| at.range_id == id).unwrap().lsn;
    let (low, high) = (position(0), position(1));
    assert!(low > 2 && high > 2);
    // A little is written on one side and much on the other; one is trimmed, the other not.
    let cut = container.map().ranges[1].min.clone();
    let is_low = |pk: &u32| {
        let key = crate::support::key(&format!(r#"["{pk}"]"#));
        armilla_value::hashed_key(&key, armilla_value::HashVersion::V2) < cut
    };
    let (low_pk, high_pk) = ((0..40).find(is_low).unwrap(), (0..40).find(|pk| !is_low(pk)).unwrap());
    put(&container, &low_pk.to_string(), "1", 2).await;
    for n in 0..100 {
        put(&container, &high_pk.to_string(), "1", n).await;
    }
    let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
    follower.next(&container);
    put(&container, &low_pk.to_string(), "1", 3).await;
    put(&container, &high_pk.to_string(), "1", 300).await;
    assert!(sweep(&container).await > 0);
    merge(&container, [0, 1]).await.unwrap();
    check(&container);
    let mut seen = tell(&follower.clone().drain(&container));
    seen.sort();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(follower.drain(&container).len(), 2);
    put(&container, &low_pk.to_string(), "1", 4).await;
    assert_eq!(follower.drain(&container).len(), 1);
    // All of it goes when its time comes.
    clock.advance(Duration::from_secs(601));
    sweep(&container).await;
    assert_eq!(log_entries(&container), 40);
    check(&container);
}

/// What deletes leave for a copy goes if the copy is given up, and never comes to the children.
#[tokio::test]
async fn deletes_leave_nothing() {
    let container = Fixture::new(LATEST, 400, Limits::default()).container;
    for number in 0..30_u32 {
        put(&container, &number.to_string(), "1", 1).await;
    }
    for number in 0..10_u32 {
        delete(&container, &number.to_string(), "1").await;
        put(&container, &(number + 10).to_string(), "1", 2).await;
    }
    assert_eq!(log_entries(&container), 20);
    check(&container);
    assert_eq!(container.sweep_step().await.unwrap(), Swept::default());
    // A copy that is given up.
    let mut reshape = begin_split_anew(&container, 0, CutBy::Arc).unwrap();
    reshape.copy().await.unwrap();
    for number in 10..13_u32 {
        delete(&container, &number.to_string(), "1").await;
    }
    assert_eq!(log_entries(&container), 17 + 3);
    check(&container);
    assert_eq!(container.sweep_step().await.unwrap(), Swept::default(), "a split driver may need it");
    assert_eq!(Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container).len(), 17);
    drop(reshape);
    container.sweep_wanted().await;
    assert_eq!(sweep(&container).await, 3);
    assert_eq!(log_entries(&container), 17);
    check(&container);
    assert_eq!(container.sweep_step().await.unwrap(), Swept::default());
    // One that is not.
    let mut reshape = begin_split_anew(&container, 0, CutBy::Arc).unwrap();
    reshape.copy().await.unwrap();
    for number in 13..16_u32 {
        delete(&container, &number.to_string(), "1").await;
    }
    delete(&container, "16", "1").await;
    put(&container, "16", "1", 5).await;
    let closed = reshape.close().await.unwrap();
    closed.flip(container.map().version + 1);
    assert_eq!(log_entries(&container), 14);
    check(&container);
    assert_eq!(container.sweep_step().await.unwrap(), Swept::default());
    assert_eq!(Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container).len(), 14);
}

#[tokio::test]
async fn the_log_does_not_grow_with_updates() {
    let container = Fixture::simple().container;
    for round in 0..10 {
        for pk in 0..20_u32 {
            put(&container, &pk.to_string(), "1", round).await;
        }
        assert_eq!(log_entries(&container), 20);
    }
}
