//! What a history is drawn as from its seed: its container, its keys and how long it is.

use armilla_env::Random;
use armilla_value::{HashVersion, PartitionKey, hashed_key};

/// Most partition keys and ids in each: few, so that items are written again and again.
const KEYS_MAX: u64 = 6;
const IDS_PER_KEY_MAX: u64 = 5;

/// Least and most steps.
const STEPS_MIN: u64 = 20;
const STEPS_MAX: u64 = 60;

/// Minutes that all versions are kept: longer than any run.
const RETENTION_MINUTES: u32 = 1_440;

/// The part of a seed from which the history itself is drawn; its steps have their numbers.
const SPEC_PART: u64 = u64::MAX;

/// A partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// Its value.
    pub(crate) name: String,
    /// Its hash, in hexadecimal.
    pub(crate) hashed: String,
}

impl Key {
    /// Returns the key with that value.
    pub(crate) fn new(name: String) -> Key {
        let key = PartitionKey::from_json(format!("[\"{name}\"]").as_bytes()).expect("a JSON array");
        let hashed = hashed_key(&key, HashVersion::V2).to_hex();
        Key { name, hashed }
    }
}

/// What a history is.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    /// Its number in the run.
    pub(crate) number: u64,
    /// The name of its container, which is its own.
    pub(crate) container: String,
    /// Whether the container keeps all versions, in the end.
    pub(crate) keeps_all_versions: bool,
    /// The step from which on it does.
    pub(crate) versions_from: u64,
    /// Whether replaced versions are shown with what replaced them.
    pub(crate) has_previous_images: bool,
    /// The time to live of items that have none of their own.
    pub(crate) default_ttl: Option<i32>,
    /// The partition keys.
    pub(crate) keys: Vec<Key>,
    /// Ids in each of them.
    pub(crate) ids_per_key: usize,
    /// Steps.
    pub(crate) steps: u64,
    /// Whether physical partitions are split and merged.
    pub(crate) has_reshapes: bool,
    /// Splits before the first step.
    pub(crate) first_splits: u64,
    seed: u64,
}

impl Spec {
    /// Draws the history with that number; copies of it differ in the container's name alone.
    pub(crate) fn draw(run_seed: u64, number: u64, copy: u64) -> Spec {
        let seed = Random::of_part(run_seed, number).next_u64();
        let mut random = Random::of_part(seed, SPEC_PART);
        let keeps_all_versions = random.percent(50);
        let has_previous_images = keeps_all_versions && random.percent(50);
        let default_ttl = match random.below(20) {
            0..10 => None,
            10..16 => Some(-1),
            16..18 => Some(1),
            _ => Some(3_600),
        };
        let keys = 1 + random.below(KEYS_MAX);
        Spec {
            number,
            container: format!("history-{number}-{copy}"),
            keeps_all_versions,
            versions_from: if random.percent(60) { 0 } else { random.below(STEPS_MIN) },
            has_previous_images,
            default_ttl,
            keys: (0..keys).map(|key| Key::new(format!("key-{}-{key}", random.below(1_000)))).collect(),
            ids_per_key: 1 + random.below(IDS_PER_KEY_MAX) as usize,
            steps: STEPS_MIN + random.below(STEPS_MAX - STEPS_MIN + 1),
            has_reshapes: random.percent(70),
            first_splits: random.below(10).saturating_sub(5).min(3),
            seed,
        }
    }

    /// Returns what a step is drawn from, whatever became of those before.
    pub(crate) fn random(&self, step: u64) -> Random {
        Random::of_part(self.seed, step)
    }

    /// Says whether the container keeps all versions in a step.
    pub(crate) fn has_versions(&self, step: u64) -> bool {
        self.keeps_all_versions && step >= self.versions_from
    }

    /// Returns the definition of the container in a step.
    pub(crate) fn definition(&self, step: u64) -> String {
        let mut text = format!(
            "{{\"id\":\"{}\",\"partitionKey\":{{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}}",
            self.container
        );
        if let Some(ttl) = self.default_ttl {
            text.push_str(&format!(",\"defaultTtl\":{ttl}"));
        }
        if self.has_versions(step) {
            let images = if self.has_previous_images { ",\"previousImages\":true" } else { "" };
            text.push_str(&format!(
                ",\"changeFeedPolicy\":{{\"retentionDuration\":{RETENTION_MINUTES}{images}}}"
            ));
        }
        text.push('}');
        text
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn a_seed_repeats_its_history() {
        let text = |number, copy| format!("{:?}", Spec::draw(7, number, copy)).replace("-1\"", "-0\"");
        assert_eq!(text(3, 0), text(3, 1));
        assert_ne!(text(3, 0), text(4, 0));
        let spec = Spec::draw(7, 3, 0);
        assert_eq!(spec.random(5).next_u64(), Spec::draw(7, 3, 1).random(5).next_u64());
    }

    #[test]
    fn bounds_and_definitions() {
        for number in 0..300 {
            let spec = Spec::draw(1, number, 0);
            assert!((STEPS_MIN..=STEPS_MAX).contains(&spec.steps));
            assert!((1..=KEYS_MAX as usize).contains(&spec.keys.len()));
            assert!((1..=IDS_PER_KEY_MAX as usize).contains(&spec.ids_per_key));
            for step in [0, spec.versions_from] {
                let definition = json::parse(spec.definition(step).as_bytes()).unwrap();
                assert_eq!(definition.get("changeFeedPolicy").is_some(), spec.has_versions(step));
                assert_eq!(definition.get("defaultTtl").is_some(), spec.default_ttl.is_some());
            }
            assert_eq!(spec.has_versions(spec.steps), spec.keeps_all_versions);
        }
    }

    #[test]
    fn keys_are_hashed_as_clients_hash_them() {
        assert_eq!(Key::new("redmond".to_owned()).hashed, "22E342F38A486A088463DFF7838A5963");
    }
}
