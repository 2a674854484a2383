//! Tests of resource ids against the layout that clients rely on.

use proptest::prelude::*;

use super::*;

fn database() -> DatabaseRid {
    DatabaseRid::new(0x3FA7_D100).unwrap()
}

fn container() -> ContainerRid {
    ContainerRid::new(database(), 0x80BA_DC0D)
}

#[test]
fn known_ids() {
    let child = |kind| ResourceId::from(ChildRid::new(container(), kind, 1).unwrap());
    let user = UserRid::new(database(), 0x0012_3456);
    let cases: &[(ResourceId, &str)] = &[
        (database().into(), "P6fRAA=="),
        (container().into(), "P6fRAIC63A0="),
        (ItemRid::new(container(), 1).unwrap().into(), "P6fRAIC63A0BAAAAAAAAAA=="),
        (child(ChildKind::Conflict), "P6fRAIC63A0BAAAAAAAAQA=="),
        (child(ChildKind::PartitionKeyRange), "P6fRAIC63A0BAAAAAAAAUA=="),
        (child(ChildKind::UserDefinedFunction), "P6fRAIC63A0BAAAAAAAAYA=="),
        (child(ChildKind::Trigger), "P6fRAIC63A0BAAAAAAAAcA=="),
        (child(ChildKind::StoredProcedure), "P6fRAIC63A0BAAAAAAAAgA=="),
        (user.into(), "P6fRAAASNFY="),
        (PermissionRid::new(user, 1).into(), "P6fRAAASNFYAAAAAAAAAAQ=="),
        (OfferRid::new(77).unwrap().into(), "TQAA"),
    ];
    for (rid, text) in cases {
        assert_eq!(rid.to_string(), *text);
        assert_eq!(ResourceId::parse(text), Some(*rid), "{text}");
    }
}

#[test]
fn a_dash_stands_for_the_slash() {
    let rid = DatabaseRid::new(0xFFFF_FFFF).unwrap();
    assert_eq!(rid.encode(), "-----w==");
    assert_eq!(DatabaseRid::parse("-----w=="), Some(rid));
    assert_eq!(DatabaseRid::parse("/////w=="), None);
}

#[test]
fn both_ways_to_the_text_of_an_item_agree() {
    let numbers =
        (0..60).flat_map(|bit| [1u64 << bit, (1 << bit) - 1]).chain([RID_NUMBER_MAX, 0x0123_4567_89AB_CDEF]);
    for number in numbers {
        let rid = ItemRid::new(container(), number).unwrap();
        assert_eq!(rid.text(), rid.encode().as_bytes(), "{number}");
    }
}

#[test]
fn texts_that_are_none() {
    let texts = [
        "",
        "P6fRAA",
        "P6fRAA=",
        "P6fRAB==",
        "AAAAAA==",
        "P6fRAIC63A",
        "P6fRAIC63A0BAAAAAAAAkA==",
        "P6fRAIC63A0BAAAAAAAAEA==",
        "P6fRAIC63A0BAAAAAAAAAAAAAAA=",
        "P6fRAIC63A0BAAAAAAAA",
        "mydatabase",
        "é",
    ];
    for text in texts {
        assert_eq!(ResourceId::parse(text), None, "{text}");
    }
    // Typed ids take their own kind alone.
    assert_eq!(ContainerRid::parse("P6fRAA=="), None);
    assert_eq!(ItemRid::parse("P6fRAIC63A0BAAAAAAAAUA=="), None);
    assert_eq!(UserRid::parse("P6fRAIC63A0="), None);
}

#[test]
fn numbers_are_bounded() {
    assert_eq!(DatabaseRid::new(0), None);
    assert!(ItemRid::new(container(), RID_NUMBER_MAX).is_some());
    assert_eq!(ItemRid::new(container(), RID_NUMBER_MAX + 1), None);
    assert_eq!(ChildRid::new(container(), ChildKind::Trigger, RID_NUMBER_MAX + 1), None);
    assert!(OfferRid::new(OFFER_NUMBER_MAX).is_some());
    assert_eq!(OfferRid::new(OFFER_NUMBER_MAX + 1), None);
}

proptest! {
    #[test]
    fn items_round_trip(database in 1u32.., container: u32, number in 0..=RID_NUMBER_MAX) {
        let container = ContainerRid::new(DatabaseRid::new(database).unwrap(), container);
        let item = ItemRid::new(container, number).unwrap();
        let text = item.encode();
        prop_assert_eq!(text.len(), 24);
        prop_assert_eq!(ItemRid::parse(&text), Some(item));
        prop_assert_eq!(ContainerRid::from_bytes(container.to_bytes()), Some(container));
    }

    #[test]
    fn any_text_is_read_without_panic(text in ".{0,30}") {
        let _ = ResourceId::parse(&text);
    }
}
