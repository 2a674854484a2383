//! `$sort`: all documents in order, or the first of them.

use std::cmp::Ordering;

use armilla_mongo_expression::Result;
use armilla_mongo_filter::{Sort, SortKey};
use armilla_value::Object;

use crate::Documents;
use crate::memory::{Budget, object_bytes, value_bytes};
use crate::run::deferred;

struct Entry {
    key: SortKey,
    /// The place of the document before, so that equals keep their order.
    sequence: u64,
    bytes: usize,
    document: Object,
}

/// Orders documents; where only the first `kept` are looked at, no more than twice that many are held.
pub(crate) fn run(sort: Sort, kept: Option<u64>, input: Documents) -> Documents {
    deferred(move || {
        let entries = gather(&sort, kept, input, Budget::new("$sort"))?;
        Ok(Box::new(entries.into_iter().map(|entry| Ok(entry.document))) as Documents)
    })
}

fn gather(sort: &Sort, kept: Option<u64>, input: Documents, mut budget: Budget) -> Result<Vec<Entry>> {
    let kept = kept.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    let compare = |left: &Entry, right: &Entry| -> Ordering {
        sort.compare(&left.key, &right.key).then(left.sequence.cmp(&right.sequence))
    };
    let mut entries: Vec<Entry> = Vec::new();
    // The last key that is kept as things stand: what comes after it is not even held.
    let mut bound: Option<SortKey> = None;
    for (sequence, document) in (0u64..).zip(input) {
        let document = document?;
        let key = sort.key(&document)?;
        if kept == 0 || bound.as_ref().is_some_and(|bound| sort.compare(&key, bound).is_ge()) {
            continue;
        }
        let bytes =
            object_bytes(&document) + key.0.iter().map(value_bytes).sum::<usize>() + size_of::<Entry>();
        budget.take(bytes)?;
        entries.push(Entry { key, sequence, bytes, document });
        if entries.len() >= kept.saturating_mul(2) {
            entries.select_nth_unstable_by(kept - 1, compare);
            entries.drain(kept..).for_each(|entry| budget.give_back(entry.bytes));
            bound = entries.last().map(|entry| entry.key.clone());
        }
    }
    entries.sort_unstable_by(compare);
    entries.truncate(kept);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::gather;
    use crate::Documents;
    use crate::memory::Budget;
    use crate::testing::{check, object};
    use armilla_mongo_filter::Sort;
    use armilla_value::{Object, Value};

    fn numbers(count: i64) -> Documents {
        Box::new((0..count).map(|number| {
            Ok(Object::from([("n", Value::Int64(number * 7919 % 1000)), ("i", Value::Int64(number))]))
        }))
    }

    #[test]
    fn the_first_are_those_of_the_whole_order() {
        let sort = Sort::parse(&object("{'n': 1}")).unwrap();
        let budget = || Budget::new("$sort");
        let all = gather(&sort, None, numbers(5000), budget()).unwrap();
        for kept in [0usize, 1, 2, 10, 999, 4999, 5000, 6000] {
            let first = gather(&sort, Some(kept as u64), numbers(5000), budget()).unwrap();
            assert_eq!(first.len(), kept.min(5000));
            assert!(first.iter().zip(&all).all(|(left, right)| left.document == right.document), "{kept}");
        }
    }

    #[test]
    fn memory_is_bounded_and_the_first_need_little() {
        let sort = Sort::parse(&object("{'n': 1}")).unwrap();
        let error =
            gather(&sort, None, numbers(5000), Budget::with_max("$sort", 100_000)).map(|_| ()).unwrap_err();
        assert_eq!(error.code, 292);
        assert!(error.message.starts_with("Sort exceeded memory limit of 100000 bytes"));
        gather(&sort, Some(10), numbers(5000), Budget::with_max("$sort", 100_000)).unwrap();
    }

    #[test]
    fn orders() {
        check(
            "[{'_id':1,'a':2},{'_id':2,'a':1},{'_id':3,'a':2},{'_id':4}]",
            "[{'$sort':{'a':-1}},{'$skip':1},{'$limit':2}]",
            "[{'_id':3,'a':2},{'_id':2,'a':1}]",
        );
    }
}
