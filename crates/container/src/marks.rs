//! Numbers that are given once, whichever process gives them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use armilla_env::Env;

/// Returns a number that was never given before, by this process or by another.
pub(crate) fn unique_number(env: &Env) -> u64 {
    static NEXT: OnceLock<AtomicU64> = OnceLock::new();
    let next = NEXT.get_or_init(|| {
        let mut first = [0; 8];
        env.entropy.fill(&mut first);
        AtomicU64::new(u64::from_be_bytes(first))
    });
    next.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_given_twice() {
        let env = Env::system();
        let mut numbers: Vec<u64> = (0..1_000).map(|_| unique_number(&env)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 1_000);
    }
}
