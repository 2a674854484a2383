//! Having the physical partitions of a history's container split and merged, and seeing what came of it.

use std::collections::BTreeSet;

use armilla_crash::map::{Map, MapRange};
use armilla_crash::requests::Target;
use armilla_env::Random;

use crate::client::{Client, DATABASE, Halt};
use crate::spec::Spec;

/// Partitions beyond which they are only merged.
const RANGES_MAX: usize = 5;

/// Reads the partition map, which must be whole.
pub(crate) async fn map(client: &mut Client, spec: &Spec) -> Result<Map, Halt> {
    let request = client.compose("GET", Target::Ranges(DATABASE, &spec.container), &[], "");
    let answer = client.ask(request).await?;
    let etag = answer.etag.as_deref().filter(|_| answer.status == 200);
    let etag = etag.ok_or_else(|| answer.unexpected("the partition map", "200 with an etag"))?;
    let map = Map::parse(etag, &answer.body)?;
    match map.faults().first() {
        None => Ok(map),
        Some(fault) => Err(Halt::Wrong(format!("partition map: {fault}"))),
    }
}

/// Returns a request to split or merge, and what it is called.
pub(crate) fn draw(
    client: &mut Client,
    spec: &Spec,
    map: &Map,
    merges_percent: u64,
    random: &mut Random,
) -> (Vec<u8>, String) {
    let ranges = &map.ranges;
    let merges = match ranges.len() {
        0 | 1 => 0,
        RANGES_MAX.. => 100,
        _ => merges_percent,
    };
    if random.percent(merges) {
        let at = random.index(ranges.len() - 1);
        let body = format!(r#"{{"ranges":["{}","{}"]}}"#, ranges[at].id, ranges[at + 1].id);
        let target = Target::Merge(DATABASE, &spec.container);
        return (client.compose("POST", target, &[], &body), format!("merge {body}"));
    }
    // Cuts at a key of the history, so that both sides may have something.
    let key = &spec.keys[random.index(spec.keys.len())].hashed;
    let inside = |range: &&MapRange| range.min < *key && *key < range.max;
    let body = match ranges.iter().find(inside).filter(|_| random.percent(80)) {
        Some(range) => format!(r#"{{"range":"{}","at":"{key}"}}"#, range.id),
        None => "{}".to_owned(),
    };
    let target = Target::Split(DATABASE, &spec.container);
    (client.compose("POST", target, &[], &body), format!("split {body}"))
}

/// Returns how many splits and merges made a map of one range.
pub(crate) fn count(map: &Map) -> (u64, u64) {
    let live = map.ranges.iter().map(|range| range.id);
    let all: BTreeSet<u32> = live.chain(map.ranges.iter().flat_map(|range| range.parents.clone())).collect();
    // A split adds two ranges and leaves one more; a merge adds one and leaves one less.
    let (added, more) = (all.len().saturating_sub(1) as u64, map.ranges.len().saturating_sub(1) as u64);
    let splits = (added + more) / 3;
    (splits, splits.saturating_sub(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Live ranges with their parents.
    type Ranges = &'static [(u32, &'static [u32])];

    #[test]
    fn maps_tell_how_they_came_to_be() {
        let cases: [(Ranges, (u64, u64)); 4] = [
            (&[(0, &[])], (0, 0)),
            (&[(1, &[0]), (2, &[0])], (1, 0)),
            (&[(3, &[0, 1, 2])], (1, 1)),
            // 0 into 1 and 2, 2 into 3 and 4, 1 and 3 into 5.
            (&[(5, &[0, 1, 2, 3]), (4, &[0, 2])], (2, 1)),
        ];
        for (ranges, expected) in cases {
            let range = |(id, parents): &(u32, &[u32])| MapRange {
                id: *id,
                min: String::new(),
                max: String::new(),
                parents: parents.to_vec(),
                lsn: 0,
            };
            let map = Map { etag: String::new(), ranges: ranges.iter().map(range).collect() };
            assert_eq!(count(&map), expected, "{ranges:?}");
        }
    }
}
