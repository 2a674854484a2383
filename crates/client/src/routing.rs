//! Which physical partition has a partition key.

use armilla_value::{PartitionKey, hashed_key};

use crate::failure::Failure;
use crate::resources::{KeyRule, Range};
use crate::session::Session;

/// The physical partitions of a container, by key.
#[derive(Debug, Clone)]
pub struct Router {
    rule: KeyRule,
    ranges: Vec<Range>,
}

impl Router {
    /// Asks for the rule and the ranges of a container.
    pub async fn of(session: &mut Session, database: &str, container: &str) -> Result<Router, Failure> {
        let rule = session.key_rule(database, container).await?;
        let ranges = session.ranges(database, container).await?;
        Ok(Router { rule, ranges })
    }

    /// Puts a rule and ranges together; the ranges are in the order of their keys.
    pub fn new(rule: KeyRule, ranges: Vec<Range>) -> Router {
        Router { rule, ranges }
    }

    /// Returns how keys are found and hashed.
    pub fn rule(&self) -> &KeyRule {
        &self.rule
    }

    /// Returns the ranges, in the order of their keys.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// Returns the index of the range that has a key.
    pub fn index_of(&self, key: &PartitionKey) -> usize {
        if self.ranges.len() <= 1 {
            return 0;
        }
        let hashed = hashed_key(key, self.rule.version);
        // The first range begins before every key.
        self.ranges.partition_point(|range| range.min.cmp_bounds(&hashed).is_le()).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::{Component, HashVersion, HashedKey, PropertyPath, initial_bounds};

    use super::*;

    #[test]
    fn keys_are_where_their_hashes_are() {
        let rule = KeyRule { paths: vec![PropertyPath::parse("/a").unwrap()], version: HashVersion::V2 };
        let mut bounds = vec![HashedKey::MIN];
        bounds
            .extend(initial_bounds(7, HashVersion::V2).into_iter().filter(|bound| *bound != HashedKey::MIN));
        bounds.retain(|bound| *bound != HashedKey::MAX);
        bounds.push(HashedKey::MAX);
        let ranges: Vec<Range> = bounds
            .windows(2)
            .enumerate()
            .map(|(id, pair)| Range {
                id: id.to_string(),
                min: pair[0].clone(),
                max: pair[1].clone(),
                parents: Vec::new(),
            })
            .collect();
        assert_eq!(ranges.len(), 7);
        let router = Router::new(rule, ranges);
        let mut used = [0; 7];
        for number in 0..1_000 {
            let key = PartitionKey(vec![Component::String(format!("key {number}"))]);
            let index = router.index_of(&key);
            let range = &router.ranges()[index];
            let hashed = hashed_key(&key, HashVersion::V2);
            assert!(range.min.cmp_bounds(&hashed).is_le() && range.max.cmp_bounds(&hashed).is_gt());
            used[index] += 1;
        }
        assert!(used.iter().all(|count| *count > 50), "{used:?}");
    }
}
