//! Random bytes.

use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};

use crate::random::Random;

/// A source of random bytes.
pub trait Entropy: Send + Sync + 'static {
    /// Fills a buffer.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's generator, asked for many bytes at a time: every request needs a few.
pub struct SystemEntropy {
    random: SystemRandom,
    pool: Mutex<Pool>,
}

/// Random bytes that were not given out yet.
struct Pool {
    bytes: [u8; POOL_BYTES],
    used: usize,
}

const POOL_BYTES: usize = 1_024;

impl SystemEntropy {
    /// Returns the operating system's generator.
    #[expect(clippy::new_without_default, reason = "randomness is not a default")]
    pub fn new() -> SystemEntropy {
        let pool = Pool { bytes: [0; POOL_BYTES], used: POOL_BYTES };
        SystemEntropy { random: SystemRandom::new(), pool: Mutex::new(pool) }
    }
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let ask = |bytes: &mut [u8]| self.random.fill(bytes).expect("the operating system has random bytes");
        if bytes.len() > POOL_BYTES {
            return ask(bytes);
        }
        let mut pool = self.pool.lock();
        if pool.used + bytes.len() > POOL_BYTES {
            ask(&mut pool.bytes);
            pool.used = 0;
        }
        let Pool { bytes: pooled, used } = &mut *pool;
        let given = &mut pooled[*used..*used + bytes.len()];
        bytes.copy_from_slice(given);
        // What was given out may be a secret.
        given.fill(0);
        *used += bytes.len();
    }
}

/// A generator that gives the same bytes for the same seed. Not for secrets.
pub struct SeededEntropy {
    random: Mutex<Random>,
}

impl SeededEntropy {
    /// Returns a generator with a seed.
    pub fn new(seed: u64) -> SeededEntropy {
        SeededEntropy { random: Mutex::new(Random::new(seed)) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut random = self.random.lock();
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}
