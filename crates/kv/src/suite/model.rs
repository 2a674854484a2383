//! Random work, compared step by step with ordinary maps.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use armilla_env::Random;
use bytes::Bytes;

use super::{Fixture, block_on, scan_all};
use crate::{Batch, Direction, ErrorKind, Family, Scan, Snapshot, Space, SpaceId};

const SEEDS: u64 = 4;
const STEPS: u64 = 400;

type Model = [BTreeMap<Bytes, Bytes>; Family::ALL.len()];

struct Open {
    space: Arc<dyn Space>,
    model: Model,
    snapshots: Vec<(Box<dyn Snapshot>, Model)>,
}

pub(super) fn agrees_with_the_model(fixture: &mut Fixture) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        // Space ids are never used twice, also not between seeds.
        let mut next_id = seed * 1_000_000;
        let mut spaces: HashMap<u64, Open> = HashMap::new();
        for step in 0..STEPS {
            let context = format!("seed {seed}, step {step}");
            if spaces.len() < 3 {
                next_id += 1;
                let open =
                    Open { space: fixture.space(next_id), model: Model::default(), snapshots: Vec::new() };
                spaces.insert(next_id, open);
            }
            let mut ids: Vec<u64> = spaces.keys().copied().collect();
            ids.sort_unstable();
            let id = ids[random.below(ids.len() as u64) as usize];
            let open = spaces.get_mut(&id).expect("the id was taken from the map");
            match random.below(100) {
                0..45 => write(open, &mut random, &context),
                45..65 => read(&*open.space, &open.model, &mut random, &context),
                65..80 => {
                    let snapshot = open.space.snapshot().expect("a healthy store makes snapshots");
                    check_scan(&*snapshot, &open.model, &mut random, &context);
                    if open.snapshots.len() < 4 {
                        open.snapshots.push((snapshot, open.model.clone()));
                    }
                }
                80..90 => {
                    for (snapshot, model) in &open.snapshots {
                        check_scan(&**snapshot, model, &mut random, &context);
                    }
                    open.snapshots.clear();
                }
                90..96 => open.space = fixture.space(id),
                96..98 => {
                    fixture.store().drop_space(SpaceId(id)).expect("a healthy store drops");
                    let gone = open.space.get(Family::Item, b"").map_err(|error| error.kind());
                    assert_eq!(gone, Err(ErrorKind::SpaceDropped), "{context}");
                    spaces.remove(&id);
                }
                _ if fixture.is_durable() => {
                    let models: Vec<(u64, Model)> =
                        spaces.drain().map(|(id, open)| (id, open.model)).collect();
                    if random.one_in(2) {
                        fixture.reopen()
                    } else {
                        fixture.reopen_without_closing()
                    }
                    for (id, model) in models {
                        spaces.insert(id, Open { space: fixture.space(id), model, snapshots: Vec::new() });
                    }
                }
                _ => {}
            }
        }
        for open in spaces.values() {
            let snapshot = open.space.snapshot().expect("a healthy store makes snapshots");
            for family in Family::ALL {
                let expected: Vec<_> =
                    open.model[family as usize].iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                assert_eq!(
                    scan_all(&*snapshot, Scan::prefix(family, b"")),
                    expected,
                    "seed {seed} at the end"
                );
            }
        }
    }
}

fn write(open: &mut Open, random: &mut Random, context: &str) {
    let mut waiting = Vec::new();
    // Several commits in flight at once, as a pipeline would have them.
    for _ in 0..=random.below(3) {
        let mut batch = Batch::new();
        for _ in 0..random.below(20) {
            let (family, key) = (random_family(random), random_key(random));
            if random.one_in(3) {
                open.model[family as usize].remove(&key);
                batch.delete(family, key);
            } else {
                let length = if random.one_in(50) { 20_000 } else { random.below(40) as usize };
                let value = Bytes::from(vec![random.below(256) as u8; length]);
                open.model[family as usize].insert(key.clone(), value.clone());
                batch.put(family, key, value);
            }
        }
        waiting.push(open.space.commit(batch));
    }
    for future in waiting {
        assert!(block_on(future).is_ok(), "{context}");
    }
}

fn read(space: &dyn Space, model: &Model, random: &mut Random, context: &str) {
    let family = random_family(random);
    let keys: Vec<Bytes> = (0..random.below(12)).map(|_| random_key(random)).collect();
    let expected: Vec<_> = keys.iter().map(|key| model[family as usize].get(key).cloned()).collect();
    assert_eq!(space.multi_get(family, &keys).expect("a healthy store reads"), expected, "{context}");
    for (key, value) in keys.iter().zip(expected) {
        assert_eq!(space.get(family, key).expect("a healthy store reads"), value, "{context}");
    }
}

fn check_scan(snapshot: &dyn Snapshot, model: &Model, random: &mut Random, context: &str) {
    let family = random_family(random);
    let mut bound = || {
        let key = random_key(random);
        match random.below(3) {
            0 => Bound::Unbounded,
            1 => Bound::Included(key),
            _ => Bound::Excluded(key),
        }
    };
    let (lower, upper) = (bound(), bound());
    let direction = if random.one_in(2) { Direction::Forward } else { Direction::Reverse };
    let inside = |key: &Bytes| {
        let above = match &lower {
            Bound::Included(bound) => key >= bound,
            Bound::Excluded(bound) => key > bound,
            Bound::Unbounded => true,
        };
        let below = match &upper {
            Bound::Included(bound) => key <= bound,
            Bound::Excluded(bound) => key < bound,
            Bound::Unbounded => true,
        };
        above && below
    };
    let mut expected: Vec<_> = model[family as usize]
        .iter()
        .filter(|(key, _)| inside(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    if direction == Direction::Reverse {
        expected.reverse();
    }
    let scan = Scan {
        family,
        lower: lower.clone(),
        upper: upper.clone(),
        direction,
        entries_max: 1 + random.below(20) as usize,
        bytes_max: 1 + random.below(2_000) as usize,
    };
    assert_eq!(scan_all(snapshot, scan), expected, "{context}");
}

fn random_family(random: &mut Random) -> Family {
    Family::ALL[random.below(Family::ALL.len() as u64) as usize]
}

fn random_key(random: &mut Random) -> Bytes {
    // Few distinct keys, so that operations meet; some share prefixes, some end in the highest byte.
    let number = random.below(120);
    let mut key = vec![b'a' + (number % 5) as u8; (number % 4) as usize];
    key.push(if number.is_multiple_of(11) { 0xFF } else { number as u8 });
    key.into()
}
