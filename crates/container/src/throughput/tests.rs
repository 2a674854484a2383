use super::*;

#[track_caller]
fn check(work: Work, expected: &str) {
    assert_eq!(price(&work, ReadCost::Single).to_string(), expected, "{work:?}");
}

fn terms(leaves: usize, partition_key: bool) -> TermCount {
    TermCount { leaves, entries: 0, partition_key }
}

#[test]
fn published_size_table() {
    // KiB, read, write without index terms: the table in force.
    let table = [
        (1, "1.00", "4.95"),
        (2, "1.05", "6.29"),
        (4, "1.14", "6.67"),
        (8, "1.33", "7.05"),
        (16, "1.67", "9.52"),
        (32, "2.19", "11.24"),
        (64, "4.76", "22.67"),
        (128, "9.95", "48.19"),
        (256, "20.29", "98.29"),
        (512, "40.95", "184.57"),
        (1024, "145.90", "624.95"),
        (2048, "291.81", "1249.90"),
    ];
    for (kib, read, write) in table {
        check(Work::Read { item_bytes: kib * 1024 }, read);
        check(Work::Create { item_bytes: kib * 1024, terms: TermCount::default() }, write);
        check(Work::Delete { item_bytes: kib * 1024, terms: TermCount::default() }, write);
    }
}

#[test]
fn worked_example_create_user() {
    // A user of 278 bytes with id and username in a container keyed by id: two leaves.
    check(Work::Create { item_bytes: 278, terms: terms(2, false) }, "5.71");
}

#[test]
fn create_charges_two_terms_a_leaf_and_one_for_the_key() {
    check(Work::Create { item_bytes: 406, terms: terms(5, true) }, "7.05");
    check(Work::Delete { item_bytes: 406, terms: terms(5, true) }, "7.05");
}

#[test]
fn replace_charges_old_and_new_and_changed_terms() {
    let replace = |patch_operations| Work::Replace {
        old_bytes: 500,
        new_bytes: 500,
        terms: terms(2, false),
        patch_operations,
    };
    check(replace(0), "10.67");
    check(replace(2), "11.47");
}

#[test]
fn sizes_between_rows_are_linear_and_rounded_down() {
    check(Work::Read { item_bytes: 1 }, "1.00");
    check(Work::Read { item_bytes: 1024 + 1023 }, "1.00");
    check(Work::Read { item_bytes: 96 * 1024 }, "7.33");
    check(Work::Read { item_bytes: 3 * 1024 * 1024 }, "437.71");
}

#[test]
fn strong_reads_cost_twice_and_writes_do_not() {
    assert_eq!(price(&Work::Read { item_bytes: 100 }, ReadCost::Double).to_string(), "2.00");
    let create = Work::Create { item_bytes: 100, terms: TermCount::default() };
    assert_eq!(price(&create, ReadCost::Double), price(&create, ReadCost::Single));
}

#[test]
fn pages_cost_their_items_and_never_nothing() {
    check(Work::Page { item_bytes: vec![], entries_skipped: 0 }, "1.00");
    check(Work::Page { item_bytes: vec![100, 2048], entries_skipped: 0 }, "2.05");
    check(Work::Page { item_bytes: vec![100, 100], entries_skipped: 100 }, "2.42");
}

#[test]
fn failures_are_charged() {
    check(Work::ReadNothing, "1.00");
    check(Work::Refused, "1.24");
}

#[test]
fn scripts_cost_their_steps() {
    for (steps, expected) in [(0, "0.57"), (99_999, "0.57"), (100_000, "0.67"), (1_000_000, "1.57")] {
        check(Work::Script { steps }, expected);
    }
}

#[test]
fn writes_in_company_save() {
    let create = Work::Create { item_bytes: 278, terms: terms(2, false) };
    let delete = Work::Delete { item_bytes: 278, terms: terms(2, false) };
    let replace =
        Work::Replace { old_bytes: 2_048, new_bytes: 500, terms: terms(2, false), patch_operations: 0 };
    let patch =
        Work::Replace { old_bytes: 2_048, new_bytes: 500, terms: terms(2, false), patch_operations: 1 };
    #[rustfmt::skip]
    let rows = [
        (&create, ["5.71", "4.95", "4.95"]),
        (&delete, ["5.71", "4.95", "4.95"]),
        // 33 + 26 + 4 write units; less 4; less 33.
        (&replace, ["12.00", "11.24", "4.95"]),
        (&patch, ["12.40", "11.64", "11.64"]),
    ];
    for (work, expected) in rows {
        for (saving, expected) in [Saving::None, Saving::Shared, Saving::Known].into_iter().zip(expected) {
            let charge = measure(work, ReadCost::Single, saving).total();
            assert_eq!(charge.to_string(), expected, "{work:?} {saving:?}");
        }
    }
}

#[test]
fn a_script_of_150_creates() {
    let create = Work::Create { item_bytes: 278, terms: terms(2, false) };
    let mut tally = measure(&Work::Script { steps: 0 }, ReadCost::Single, Saving::None);
    for _ in 0..150 {
        tally += measure(&create, ReadCost::Single, Saving::Shared);
    }
    assert_eq!(tally.total().to_string(), "743.43");
}
