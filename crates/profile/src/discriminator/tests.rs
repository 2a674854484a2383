use super::*;

#[track_caller]
fn check(items: &[impl AsRef<str>], discriminator: Option<&str>, sorts: usize) {
    let found = look(items.iter().map(|item| item.as_ref().as_bytes()));
    assert_eq!(found, Found { discriminator: discriminator.map(str::to_owned), sorts });
}

/// Items that a number makes.
fn items(count: usize, item: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(item).collect()
}

#[test]
fn nothing_is_told_of_no_items() {
    check(&[""; 0], None, 0);
    check(&["{}"], None, 1);
}

#[test]
fn a_member_of_a_usual_name() {
    check(&[r#"{"id":"1","type":"a"}"#], Some("type"), 1);
    check(&[r#"{"id":"1","Kind":"a"}"#, r#"{"id":"2","Kind":"b"}"#], Some("Kind"), 1);
    check(&[r#"{"kind":"a","type":"b"}"#], Some("type"), 1);
    check(&[r#"{"type":5}"#, r#"{"type":null}"#], None, 1);
    check(&[r#"{"id":"1","type":"a"}"#, r#"{"id":"2"}"#], None, 1);
    check(&[r#"{"id":"1","type":"a"}"#, r#"{"id":"2"}"#, r#"{"id":"3","type":"a"}"#], Some("type"), 1);
    let each_its_own = items(30, |number| format!(r#"{{"id":"{number}","label":"{number}"}}"#));
    check(&each_its_own, None, 1);
    let long = items(4, |_| format!(r#"{{"type":"{}"}}"#, "x".repeat(FIELD_VALUE_BYTES_MAX + 1)));
    check(&long, None, 1);
}

#[test]
fn as_many_values_as_there_may_be_sorts_and_one_more() {
    for (count, expected) in [(ENTITIES_MAX, Some("type")), (ENTITIES_MAX + 1, None)] {
        let texts = items(2 * count, |number| format!(r#"{{"type":"{}"}}"#, number % count));
        check(&texts, expected, 1);
    }
}

#[test]
fn a_member_whose_values_part_items_by_their_members() {
    let mixed = items(30, |number| match number % 3 {
        0 => format!(r#"{{"id":"{number}","what":"user","name":"n","mail":"m","group":"{}"}}"#, number % 2),
        1 => format!(r#"{{"id":"{number}","what":"post","title":"t","body":"b","group":"{}"}}"#, number % 2),
        _ => format!(r#"{{"id":"{number}","what":"vote","value":1,"of":"p","group":"{}"}}"#, number % 2),
    });
    check(&mixed, Some("what"), 3);
}

#[test]
fn a_state_that_brings_a_member_with_it_tells_no_sorts() {
    let orders = items(30, |number| match number % 2 {
        0 => format!(r#"{{"id":"{number}","state":"open","customer":"c","lines":[],"total":1}}"#),
        _ => format!(
            r#"{{"id":"{number}","state":"done","customer":"c","lines":[],"total":1,"doneAt":"2024-01-01"}}"#
        ),
    });
    check(&orders, None, 1);
}

#[test]
fn a_value_that_each_item_has_for_itself_tells_no_sorts() {
    let mixed = items(20, |number| match number % 2 {
        0 => format!(r#"{{"id":"{number}","a":1,"b":1,"c":1}}"#),
        _ => format!(r#"{{"id":"{number}","x":1,"y":1,"z":1}}"#),
    });
    check(&mixed, None, 2);
}

#[test]
fn a_usual_name_has_precedence_over_what_parts_the_items() {
    let mixed = items(20, |number| match number % 2 {
        0 => r#"{"what":"a","type":"t","a":1,"b":1,"c":1,"d":1}"#.to_owned(),
        _ => r#"{"what":"b","type":"t","x":1,"y":1,"z":1,"w":1}"#.to_owned(),
    });
    check(&mixed, Some("type"), 2);
    // Of several usual names, the one that parts them.
    let named: Vec<String> = mixed.iter().map(|item| item.replace("what", "label")).collect();
    check(&named, Some("label"), 2);
}

#[test]
fn kinds_of_members_by_how_much_they_overlap() {
    check(&[r#"{"a":1,"b":1}"#, r#"{"a":1}"#], None, 1);
    check(&[r#"{"a":1,"b":1}"#, r#"{"a":1,"c":1}"#], None, 2);
    check(&[r#"{"a":1,"b":1}"#, r#"{"b":1,"a":1}"#, r#"{"c":1}"#, "{}"], None, 3);
    let different = items(SORTS_MAX + 10, |number| format!(r#"{{"m{number}":1}}"#));
    check(&different, None, SORTS_MAX);
}

#[test]
fn more_sets_of_members_than_are_told_apart_do_no_harm() {
    let different = items(SHAPES_MAX + 100, |number| {
        format!(r#"{{"type":"{}","a":1,"b":1,"c":1,"m{number}":1}}"#, number % 2)
    });
    check(&different, Some("type"), 1);
    let wide = format!(
        "{{{}}}",
        (0..SHAPE_MEMBERS_MAX + 10).map(|number| format!("\"m{number}\":1")).collect::<Vec<_>>().join(",")
    );
    check(&[wide], None, 1);
}
