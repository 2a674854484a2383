//! The partition map as clients see it: whole, and changed as clients are told.
//!
//! A map covers the ring without gap and overlap. A client that holds an older one asks what came since, adds that,
//! and drops every range that a newer one names among its parents; it must then hold what a new client is given.

use armilla_value::{Value, json};

/// Where the ring begins and ends.
const RING_MIN: &str = "";
const RING_MAX: &str = "FF";

/// One range of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRange {
    /// Its id.
    pub id: u32,
    /// The first hashed key of its arc, in hexadecimal.
    pub min: String,
    /// The hashed key behind its last one.
    pub max: String,
    /// All its ancestors.
    pub parents: Vec<u32>,
    /// The newest commit.
    pub lsn: u64,
}

/// A map at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// By which the server knows what a client has.
    pub etag: String,
    /// In the order of the ring.
    pub ranges: Vec<MapRange>,
}

impl Map {
    /// Reads an answer of the server.
    pub fn parse(etag: &str, body: &[u8]) -> Result<Map, String> {
        let map = json::parse(body).map_err(|error| format!("the partition map is not JSON: {error}"))?;
        let ranges =
            map.get("PartitionKeyRanges").and_then(Value::as_array).ok_or("no PartitionKeyRanges")?;
        let mut ranges = ranges.iter().map(range).collect::<Option<Vec<_>>>().ok_or_else(|| {
            format!("a range has no id, bounds, parents or _lsn: {}", String::from_utf8_lossy(body))
        })?;
        ranges.sort_by(|left, right| left.min.cmp(&right.min));
        Ok(Map { etag: etag.to_owned(), ranges })
    }

    /// Lists what keeps the map from being whole.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut end = RING_MIN;
        for range in &self.ranges {
            let MapRange { id, min, max, .. } = range;
            if min.as_str() != end {
                faults.push(format!("range {id} begins at '{min}', the one before it ends at '{end}'"));
            }
            if min >= max {
                faults.push(format!("range {id} from '{min}' to '{max}' is empty"));
            }
            end = max;
            let live = |id: &u32| self.ranges.iter().filter(|own| own.id == *id).count();
            if live(id) != 1 {
                faults.push(format!("two ranges have the id {id}"));
            }
            if let Some(parent) = range.parents.iter().find(|parent| live(parent) > 0) {
                faults.push(format!("range {parent} and range {id}, which came of it, are both there"));
            }
            if let Some(parent) = range.parents.iter().find(|parent| *parent >= id) {
                faults.push(format!("range {id} came of range {parent}, which is no older"));
            }
        }
        if end != RING_MAX {
            faults.push(format!("the last range ends at '{end}'"));
        }
        faults
    }

    /// Returns what a client has that held this map and was told what came since.
    pub fn told(&self, news: &Map) -> Vec<MapRange> {
        let is_gone = |id: u32| news.ranges.iter().any(|own| own.id == id || own.parents.contains(&id));
        let kept = self.ranges.iter().filter(|own| !is_gone(own.id));
        let mut ranges: Vec<_> = kept.chain(&news.ranges).cloned().collect();
        ranges.sort_by(|left, right| left.min.cmp(&right.min));
        ranges
    }

    /// Says whether ranges are those of this map, wherever their commits are.
    pub fn has_the_ranges(&self, ranges: &[MapRange]) -> bool {
        let arc = |range: &MapRange| (range.id, range.min.clone(), range.max.clone());
        self.ranges.iter().map(arc).eq(ranges.iter().map(arc))
    }
}

fn range(value: &Value) -> Option<MapRange> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let parents = value.get("parents").and_then(Value::as_array)?;
    Some(MapRange {
        id: text("id")?.parse().ok()?,
        min: text("minInclusive")?.to_owned(),
        max: text("maxExclusive")?.to_owned(),
        parents: parents.iter().map(|parent| parent.as_str()?.parse().ok()).collect::<Option<_>>()?,
        lsn: value.get("_lsn").and_then(Value::as_i64).and_then(|lsn| u64::try_from(lsn).ok())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids, bounds and parents.
    type Ranges = &'static [(u32, &'static str, &'static str, &'static [u32])];

    fn map(ranges: Ranges) -> Map {
        let range = |(id, min, max, parents): &(u32, &str, &str, &'static [u32])| MapRange {
            id: *id,
            min: (*min).to_owned(),
            max: (*max).to_owned(),
            parents: parents.to_vec(),
            lsn: 1,
        };
        Map { etag: "\"1\"".to_owned(), ranges: ranges.iter().map(range).collect() }
    }

    #[test]
    fn maps_are_read() {
        let body = br#"{"PartitionKeyRanges":[
            {"id":"2","minInclusive":"1F","maxExclusive":"FF","parents":["0"],"_lsn":4},
            {"id":"1","minInclusive":"","maxExclusive":"1F","parents":["0"],"_lsn":5}]}"#;
        let read = Map::parse("\"3\"", body).unwrap();
        assert!(read.has_the_ranges(&map(&[(1, "", "1F", &[0]), (2, "1F", "FF", &[0])]).ranges));
        assert_eq!((read.etag.as_str(), read.ranges[0].lsn), ("\"3\"", 5));
        assert!(read.faults().is_empty());
        let text = String::from_utf8(body.to_vec()).unwrap();
        for part in ["\"_lsn\":4", "\"id\":\"2\"", "\"parents\":[\"0\"]", "PartitionKeyRanges"] {
            assert!(Map::parse("", text.replacen(part, "\"x\":0", 1).as_bytes()).is_err(), "{part}");
        }
    }

    #[test]
    fn maps_that_are_not_whole() {
        let cases: [(&str, Ranges); 9] = [
            ("gap", &[(0, "", "1F", &[]), (1, "2F", "FF", &[])]),
            ("overlap", &[(0, "", "2F", &[]), (1, "1F", "FF", &[])]),
            ("late beginning", &[(0, "01", "FF", &[])]),
            ("early end", &[(0, "", "3F", &[])]),
            ("nothing", &[]),
            ("empty range", &[(0, "", "", &[]), (1, "", "FF", &[])]),
            ("one id twice", &[(0, "", "1F", &[]), (0, "1F", "FF", &[])]),
            ("parent and child", &[(0, "", "1F", &[]), (1, "1F", "FF", &[0])]),
            ("younger parent", &[(3, "", "FF", &[4])]),
        ];
        for (case, ranges) in cases {
            assert!(!map(ranges).faults().is_empty(), "{case}");
        }
    }

    #[test]
    fn clients_are_told_what_came() {
        let old = map(&[(0, "", "1F", &[]), (1, "1F", "FF", &[])]);
        // 0 was split into 2 and 3, and 3 merged with 1.
        let new = map(&[(2, "", "0F", &[0]), (4, "0F", "FF", &[0, 3, 1])]);
        let news = map(&[(2, "", "0F", &[0]), (4, "0F", "FF", &[0, 3, 1])]);
        assert!(new.has_the_ranges(&old.told(&news)));
        assert!(old.has_the_ranges(&old.told(&map(&[]))));
        // What is told too late or not at all shows.
        assert!(!new.has_the_ranges(&old.told(&map(&[(2, "", "0F", &[0])]))));
    }
}
