//! Verifying that every space that holds something is named: by a container, or by a note that it is to be dropped.

use std::collections::HashSet;
use std::time::Duration;

use armilla_kv::{Family, Scan, SpaceId};

use crate::engine::Engine;
use crate::error::Result;
use crate::record::tag;

/// How often, and after which wait each, it is tried to find a moment in which the tree is not being changed.
const TRIES_MAX: u32 = 1_000;
const TRY_PERIOD: Duration = Duration::from_millis(1);

/// Finds spaces that hold something and that nothing names: neither a container, nor a note that they are to be dropped.
pub(super) fn check(engine: &Engine) -> Result<Vec<String>> {
    let mut tries = 0;
    let writer = loop {
        if let Some(writer) = engine.idle_writer() {
            break writer;
        }
        tries += 1;
        if tries == TRIES_MAX {
            return Ok(vec![
                "the resource tree is being changed all the time: leftovers were not looked for".to_owned(),
            ]);
        }
        std::thread::sleep(TRY_PERIOD);
    };
    // While the tree is not being changed, no space is made.
    let containers = engine.all_containers();
    let maps = containers.iter().map(|container| container.container().map());
    let mut named: HashSet<u64> = maps.flat_map(|map| map.ranges).map(|range| range.space.0).collect();
    let Some(space) = writer.space() else {
        return Ok(vec!["leftovers are not looked for while other nodes serve the account".to_owned()]);
    };
    let notes = space.snapshot()?;
    let mut scan = Scan::prefix(Family::Meta, &[tag::SPACE_TO_DROP]);
    loop {
        let page = notes.scan(&scan)?;
        let spaces = page.entries.iter().filter_map(|(key, _)| key.get(1..)?.try_into().ok());
        named.extend(spaces.map(u64::from_be_bytes));
        match page.entries.last() {
            Some((key, _)) if page.more => scan = scan.after(key),
            _ => break,
        }
    }
    let mut problems = Vec::new();
    for space in (1..=writer.counters.space).filter(|space| !named.contains(space)) {
        // One that was dropped, as it should be, cannot be opened.
        let Ok(opened) = engine.store().open_space(SpaceId(space)) else { continue };
        let snapshot = opened.snapshot()?;
        let mut holds = false;
        for family in Family::ALL {
            let mut scan = Scan::prefix(family, b"");
            scan.entries_max = 1;
            holds |= !snapshot.scan(&scan)?.entries.is_empty();
        }
        // One that holds nothing may be a number that was given and never used. It stays: after a crash it may be given
        // again.
        if holds {
            problems.push(format!("space {space} holds data and belongs to no container"));
        }
    }
    Ok(problems)
}
