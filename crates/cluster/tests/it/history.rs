//! What clients of partitions saw, and whether one register for each partition could have shown it to them.
//!
//! Every value that is written lies at a position of its partition's log, and a read shows the log up to a position. So the
//! order of the log is the order in which everything happened, and it has to be one that clients can believe: what begins
//! after something else has ended comes behind it.

use std::collections::BTreeMap;

use armilla_cluster::PartitionId;

/// Something that a client was told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) partition: PartitionId,
    /// When it asked, and when it was told: numbers that count up.
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) position: u64,
    /// What it has written; nothing where it has read.
    pub(crate) written: Option<u64>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Violation {
    /// Two nodes held a partition to be theirs.
    TwoOwners(String),
    /// What was acknowledged is not there.
    Lost(String),
    /// What was seen came after what was seen later.
    Order(String),
    /// In the end not everything is served.
    Unserved(String),
}

/// Looks for what cannot have been; `logs` says what lies where.
pub(crate) fn check(
    told: &[Told],
    logs: &BTreeMap<PartitionId, BTreeMap<u64, u64>>,
) -> Result<(), Violation> {
    let mut of_partitions: BTreeMap<PartitionId, Vec<&Told>> = BTreeMap::new();
    for one in told {
        of_partitions.entry(one.partition).or_default().push(one);
        let Some(value) = one.written else { continue };
        if logs.get(&one.partition).and_then(|log| log.get(&one.position)) != Some(&value) {
            return Err(Violation::Lost(format!("{one:?}")));
        }
    }
    for all in of_partitions.values_mut() {
        let mut by_end = all.clone();
        by_end.sort_by_key(|one| one.ended);
        all.sort_by_key(|one| one.began);
        let mut ended = by_end.into_iter().peekable();
        let mut furthest: Option<&Told> = None;
        for one in all {
            while let Some(before) = ended.next_if(|before| before.ended < one.began) {
                if furthest.is_none_or(|furthest| furthest.position < before.position) {
                    furthest = Some(before);
                }
            }
            let Some(before) = furthest else { continue };
            let is_behind = match one.written {
                Some(_) => one.position > before.position,
                None => one.position >= before.position,
            };
            if !is_behind {
                return Err(Violation::Order(format!("{one:?} after {before:?}")));
            }
        }
    }
    Ok(())
}

#[test]
fn histories_that_cannot_be_are_found() {
    let partition = PartitionId(1);
    let told = |began, ended, position, written| Told { partition, began, ended, position, written };
    let logs = BTreeMap::from([(partition, BTreeMap::from([(1, 10), (2, 20)]))]);
    let write = told(1, 4, 1, Some(10));
    assert_eq!(check(&[write, told(2, 3, 0, None), told(5, 6, 1, None)], &logs), Ok(()));
    // While it is written, it may be seen or not, but not by the first of two alone.
    assert_eq!(check(&[write, told(2, 3, 1, None)], &logs), Ok(()));
    for (wrong, is_lost) in [
        (&[write, told(5, 6, 0, None)][..], false),
        (&[told(1, 2, 1, None), told(3, 4, 0, None)], false),
        (&[told(1, 2, 2, Some(20)), told(3, 4, 1, Some(10))], false),
        (&[told(1, 2, 1, None), told(3, 4, 1, Some(10))], false),
        (&[told(1, 2, 3, Some(30))], true),
        (&[told(1, 2, 2, Some(30))], true),
    ] {
        match check(wrong, &logs) {
            Err(Violation::Lost(_)) => assert!(is_lost, "{wrong:?}"),
            Err(Violation::Order(_)) => assert!(!is_lost, "{wrong:?}"),
            other => panic!("{other:?}: {wrong:?}"),
        }
    }
}
