//! Which part of a container a reader reads, and where it stands in each.
//!
//! A reader of ranges does as the clients of the service do: a range that is gone is replaced by those that came of it,
//! with its own position; where only a part of one is meant, its bounds are named as well.

use armilla_crash::map::Map;
use armilla_crash::requests::partition_key;
use armilla_env::Random;

use crate::spec::{Key, Spec};

/// Where the ring begins and ends.
const RING_MIN: &str = "";
const RING_MAX: &str = "FF";

/// How a reader names what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// The whole container at once.
    Container,
    /// All physical partitions, one by one.
    Ranges,
    /// A part of the ring.
    Arc,
    /// One logical partition.
    Key,
}

impl ScopeKind {
    /// Draws one.
    pub(crate) fn draw(random: &mut Random) -> ScopeKind {
        [ScopeKind::Container, ScopeKind::Ranges, ScopeKind::Arc, ScopeKind::Key][random.index(4)]
    }
}

/// What is read by one request, and from where on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The first hashed key, and the first beyond.
    pub(crate) min: String,
    pub(crate) max: String,
    /// How that is said.
    pub(crate) naming: Naming,
    /// The position as of the last page, if there was one.
    pub(crate) token: Option<String>,
}

/// How a part is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Naming {
    Whole,
    Bounds,
    Key(Key),
    Range {
        id: u32,
        /// Whether the part is less than the range.
        has_bounds: bool,
    },
}

impl Part {
    fn new(min: &str, max: &str, naming: Naming) -> Part {
        Part { min: min.to_owned(), max: max.to_owned(), naming, token: None }
    }

    /// Says whether the items of a key are in it.
    pub(crate) fn covers(&self, key: &Key) -> bool {
        match &self.naming {
            Naming::Key(own) => own == key,
            _ => self.min <= key.hashed && key.hashed < self.max,
        }
    }

    /// Says whether all that another part covers is in it.
    pub(crate) fn contains(&self, other: &Part) -> bool {
        match (&self.naming, &other.naming) {
            (Naming::Key(own), Naming::Key(key)) => own == key,
            (Naming::Key(_), _) => false,
            (_, Naming::Key(key)) => self.covers(key),
            _ => self.min <= other.min && other.max <= self.max,
        }
    }

    /// Returns the headers that name it.
    pub(crate) fn headers(&self) -> Vec<(&'static str, String)> {
        let bounds = || {
            vec![
                ("x-ms-start-epk", self.min.clone()),
                ("x-ms-end-epk", self.max.clone()),
                ("x-ms-read-key-type", "EffectivePartitionKeyRange".to_owned()),
            ]
        };
        match &self.naming {
            Naming::Whole => Vec::new(),
            Naming::Bounds => bounds(),
            Naming::Key(key) => vec![("x-ms-documentdb-partitionkey", partition_key(&key.name))],
            Naming::Range { id, has_bounds } => {
                let mut headers = vec![("x-ms-documentdb-partitionkeyrangeid", id.to_string())];
                if *has_bounds {
                    headers.extend(bounds());
                }
                headers
            }
        }
    }

    /// Returns what a reader reads instead of a range that is gone, from the same position on.
    pub(crate) fn among(&self, map: &Map) -> Vec<Part> {
        let overlap = |range: &armilla_crash::map::MapRange| {
            let (min, max) = (self.min.as_str().max(&range.min), self.max.as_str().min(&range.max));
            let has_bounds = min != range.min || max != range.max;
            (min < max).then(|| Part {
                token: self.token.clone(),
                ..Part::new(min, max, Naming::Range { id: range.id, has_bounds })
            })
        };
        map.ranges.iter().filter_map(overlap).collect()
    }

    /// Returns how it is called in messages.
    pub(crate) fn describe(&self) -> String {
        match &self.naming {
            Naming::Whole => "the container".to_owned(),
            Naming::Bounds => format!("'{}' to '{}'", self.min, self.max),
            Naming::Key(key) => format!("key {}", key.name),
            Naming::Range { id, has_bounds: false } => format!("range {id}"),
            Naming::Range { id, .. } => format!("range {id} from '{}' to '{}'", self.min, self.max),
        }
    }
}

/// Draws the parts of a scope; a scope of ranges covers all of those that there are.
pub(crate) fn draw(kind: ScopeKind, spec: &Spec, map: &Map, random: &mut Random) -> Vec<Part> {
    let whole = Part::new(RING_MIN, RING_MAX, Naming::Whole);
    match kind {
        ScopeKind::Container => vec![whole],
        ScopeKind::Ranges => whole.among(map),
        ScopeKind::Key => {
            let key = spec.keys[random.index(spec.keys.len())].clone();
            vec![Part::new(&key.hashed.clone(), RING_MAX, Naming::Key(key))]
        }
        ScopeKind::Arc => {
            // Bounds at keys themselves, where being off by one shows.
            let mut bounds: Vec<&str> = spec.keys.iter().map(|key| key.hashed.as_str()).collect();
            bounds.extend([RING_MIN, RING_MAX]);
            bounds.sort_unstable();
            bounds.dedup();
            let from = random.index(bounds.len() - 1);
            let to = from + 1 + random.index(bounds.len() - 1 - from);
            vec![Part::new(bounds[from], bounds[to], Naming::Bounds)]
        }
    }
}

#[cfg(test)]
mod tests {
    use armilla_crash::map::MapRange;

    use super::*;

    fn map(bounds: &[(u32, &str, &str)]) -> Map {
        let range = |(id, min, max): &(u32, &str, &str)| MapRange {
            id: *id,
            min: (*min).to_owned(),
            max: (*max).to_owned(),
            parents: Vec::new(),
            lsn: 1,
        };
        Map { etag: String::new(), ranges: bounds.iter().map(range).collect() }
    }

    /// Ids and bounds of a map, and of parts, with whether the bounds are named.
    type Ranges = &'static [(u32, &'static str, &'static str)];
    type Parts = &'static [(u32, &'static str, &'static str, bool)];

    #[test]
    fn ranges_that_are_gone_are_replaced() {
        let mut part = Part::new("10", "20", Naming::Range { id: 1, has_bounds: false });
        part.token = Some("t".to_owned());
        let cases: [(Ranges, Parts); 4] = [
            (
                &[(0, "", "10"), (2, "10", "18"), (3, "18", "20"), (4, "20", "FF")],
                &[(2, "10", "18", false), (3, "18", "20", false)],
            ),
            (&[(5, "", "FF")], &[(5, "10", "20", true)]),
            (&[(6, "", "18"), (7, "18", "FF")], &[(6, "10", "18", true), (7, "18", "20", true)]),
            (&[(8, "", "10"), (9, "10", "20"), (4, "20", "FF")], &[(9, "10", "20", false)]),
        ];
        for (ranges, expected) in cases {
            let parts = part.among(&map(ranges));
            let found: Vec<_> = parts
                .iter()
                .map(|own| match own.naming {
                    Naming::Range { id, has_bounds } => (id, own.min.as_str(), own.max.as_str(), has_bounds),
                    _ => panic!("a range"),
                })
                .collect();
            assert_eq!(found, expected);
            assert!(parts.iter().all(|own| own.token.as_deref() == Some("t") && part.contains(own)));
        }
    }

    #[test]
    fn scopes_cover_what_they_say() {
        let mut random = Random::new(3);
        let two = map(&[(0, "", "1F"), (1, "1F", "FF")]);
        for number in 0..200 {
            let spec = Spec::draw(9, number, 0);
            for kind in [ScopeKind::Container, ScopeKind::Ranges, ScopeKind::Arc, ScopeKind::Key] {
                let parts = draw(kind, &spec, &two, &mut random);
                for key in &spec.keys {
                    let count = parts.iter().filter(|part| part.covers(key)).count();
                    let is_everything = matches!(kind, ScopeKind::Container | ScopeKind::Ranges);
                    assert!(count == 1 || (count == 0 && !is_everything), "{kind:?}");
                }
            }
        }
    }

    #[test]
    fn parts_of_parts() {
        let key = Key::new("redmond".to_owned());
        let of_key = Part::new(&key.hashed, RING_MAX, Naming::Key(key.clone()));
        let whole = Part::new(RING_MIN, RING_MAX, Naming::Whole);
        let low = Part::new(RING_MIN, &key.hashed, Naming::Bounds);
        let high = Part::new(&key.hashed, RING_MAX, Naming::Bounds);
        for (outer, inner, expected) in [
            (&whole, &of_key, true),
            (&whole, &low, true),
            (&low, &whole, false),
            (&low, &of_key, false),
            (&high, &of_key, true),
            (&of_key, &of_key, true),
            (&of_key, &high, false),
        ] {
            assert_eq!(outer.contains(inner), expected, "{} {}", outer.describe(), inner.describe());
        }
        assert_eq!((low.covers(&key), high.covers(&key), of_key.covers(&key)), (false, true, true));
    }
}
