//! Physical partitions that are split and merged while queries run.
//!
//! Splits are in the middle of an arc or anywhere in it; merges are of any two neighbours. Each is over before the next
//! page is asked for, so that a page meets a map that its continuation token has never seen.

use anyhow::Result;

use crate::random::Random;
use crate::target::Target;

/// Most physical partitions at a time.
const PARTITIONS_MAX: usize = 6;

/// Splits and merges the partitions of a container.
pub(crate) struct Moving {
    random: Random,
}

impl Moving {
    /// Begins the choices of a seed.
    pub(crate) fn new(seed: u64) -> Moving {
        Moving { random: Random::new(seed) }
    }

    /// Splits or merges with a chance of one in so many; returns whether it did. The throughput of the container must
    /// need one physical partition only, so that any two may be merged.
    pub(crate) async fn reshape_sometimes(&mut self, target: &Target, one_in: usize) -> Result<bool> {
        if self.random.below(one_in) > 0 {
            return Ok(false);
        }
        let partitions = target.partitions()?;
        let count = partitions.len();
        if count > 1 && (count >= PARTITIONS_MAX || self.random.below(2) == 0) {
            let first = self.random.below(count - 1);
            target.merge([partitions[first].id, partitions[first + 1].id]).await?;
        } else {
            let chosen = &partitions[self.random.below(count)];
            let anywhere = self.hashed_key();
            let is_inside = chosen.min < anywhere && anywhere < chosen.max;
            target.split(Some(chosen.id), is_inside.then_some(&*anywhere)).await?;
        }
        Ok(true)
    }

    /// Returns a hashed key in hexadecimal; those of keys that are in use begin with two zero bits.
    fn hashed_key(&mut self) -> String {
        let first = self.random.below(0x40);
        let rest: String = (0..15).map(|_| format!("{:02X}", self.random.below(0x100))).collect();
        format!("{first:02X}{rest}")
    }
}

/// Splits in the middle, the widest arc first, until a container has this many physical partitions.
pub(crate) async fn split_evenly(target: &Target, count: usize) -> Result<()> {
    while target.partitions()?.len() < count {
        target.split(None, None).await?;
    }
    Ok(())
}
