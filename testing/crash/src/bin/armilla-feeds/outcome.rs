//! What histories came to, and the whole run.

use std::time::Duration;

/// What was done and seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Writes that were acknowledged, a transaction counting once.
    pub(crate) acknowledged: u64,
    /// Those of them that were transactions.
    pub(crate) transactions: u64,
    /// Writes that were refused, as they had to be.
    pub(crate) refused: u64,
    /// Writes that were not answered, and those of them that had happened.
    pub(crate) unanswered: u64,
    pub(crate) kept: u64,
    /// Readers of the latest versions, and of all versions.
    pub(crate) latest_readers: u64,
    pub(crate) version_readers: u64,
    /// Pages with changes, changes on them, and answers that there are none.
    pub(crate) pages: u64,
    pub(crate) changes: u64,
    pub(crate) ends: u64,
    /// Changes that were deletes, and those that were expiries.
    pub(crate) deletes: u64,
    pub(crate) expiries: u64,
    /// Ranges that were gone when a reader came.
    pub(crate) gone_ranges: u64,
    /// Waits for changes that ended with some.
    pub(crate) woken: u64,
    /// Splits and merges that were carried out.
    pub(crate) splits: u64,
    pub(crate) merges: u64,
}

impl Tally {
    /// Adds another.
    pub(crate) fn add(&mut self, other: &Tally) {
        let Tally {
            acknowledged,
            transactions,
            refused,
            unanswered,
            kept,
            latest_readers,
            version_readers,
            pages,
            changes,
            ends,
            deletes,
            expiries,
            gone_ranges,
            woken,
            splits,
            merges,
        } = other;
        for (sum, value) in [
            (&mut self.acknowledged, acknowledged),
            (&mut self.transactions, transactions),
            (&mut self.refused, refused),
            (&mut self.unanswered, unanswered),
            (&mut self.kept, kept),
            (&mut self.latest_readers, latest_readers),
            (&mut self.version_readers, version_readers),
            (&mut self.pages, pages),
            (&mut self.changes, changes),
            (&mut self.ends, ends),
            (&mut self.deletes, deletes),
            (&mut self.expiries, expiries),
            (&mut self.gone_ranges, gone_ranges),
            (&mut self.woken, woken),
            (&mut self.splits, splits),
            (&mut self.merges, merges),
        ] {
            *sum += value;
        }
    }
}

/// What the server went through.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ordeal {
    /// How often it was killed, and asked to end.
    pub(crate) kills: u64,
    pub(crate) graceful_ends: u64,
    /// Those of both while a split or merge was under way or waited for its turn: the server tells no difference.
    pub(crate) during_reshapes: u64,
    /// Starts that were killed before they were ready.
    pub(crate) killed_starts: u64,
    /// Checks of its folder.
    pub(crate) checks: u64,
    /// How long its starts took.
    pub(crate) ready: Vec<Duration>,
    /// What was wrong with it.
    pub(crate) differences: Vec<String>,
}

/// Returns the lines of the summary.
pub(crate) fn summary(tally: &Tally, ordeal: &Ordeal) -> String {
    let mut ready = ordeal.ready.clone();
    ready.sort_unstable();
    let median = ready.get(ready.len() / 2).copied().unwrap_or_default().as_millis();
    let longest = ready.last().copied().unwrap_or_default().as_millis();
    let Ordeal { kills, graceful_ends, during_reshapes, killed_starts, checks, .. } = ordeal;
    let Tally { acknowledged, transactions, refused, unanswered, kept, splits, merges, .. } = tally;
    let Tally { latest_readers, version_readers, pages, changes, ends, .. } = tally;
    let Tally { deletes, expiries, gone_ranges, woken, .. } = tally;
    format!(
        "{kills} kills and {graceful_ends} ends in peace, {during_reshapes} of them with a split or merge under way or \
         waiting; {killed_starts} kills while starting; {checks} checks; start to ready: median {median} ms, max \
         {longest} ms\n\
         {acknowledged} writes acknowledged ({transactions} transactions), {refused} refused, {unanswered} unanswered \
         of which {kept} had happened; {splits} splits and {merges} merges\n\
         {latest_readers} readers of latest versions, {version_readers} of all versions: {changes} changes on {pages} \
         pages ({deletes} deletes, {expiries} expiries), {ends} ends of the feed, {gone_ranges} ranges gone, {woken} \
         waits woken"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up() {
        let one = Tally { acknowledged: 2, splits: 1, merges: 3, woken: 4, ..Tally::default() };
        let mut sum = Tally { merges: 1, ..Tally::default() };
        sum.add(&one);
        assert_eq!(sum, Tally { merges: 4, ..one });
        let text = summary(&sum, &Ordeal { ready: vec![Duration::from_millis(7)], ..Ordeal::default() });
        assert!(text.contains("1 splits and 4 merges") && text.contains("median 7 ms"), "{text}");
    }
}
