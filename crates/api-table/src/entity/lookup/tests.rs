//! Tests of the search for names.

use proptest::prelude::*;

use super::Lookup;
use crate::entity::limits::LINEAR_SEARCH_NAMES_MAX;
use crate::entity::members::RawString;

#[test]
fn names_are_found_below_and_beyond_the_table() {
    for count in [0, 1, LINEAR_SEARCH_NAMES_MAX, LINEAR_SEARCH_NAMES_MAX + 1, 1_000] {
        let names: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
        let mut lookup = Lookup::with_capacity(0);
        names.iter().enumerate().for_each(|(at, name)| lookup.push(RawString::plain(name), at));
        assert_eq!(lookup.entries().len(), count);
        for (at, name) in names.iter().enumerate().chain(names.iter().enumerate().rev()) {
            assert_eq!((lookup.find(name), lookup.get(name)), (Some(at), Some(&at)));
        }
        assert_eq!(lookup.find("other"), None);
        assert!(lookup.duplicate().is_none());
        if count > 0 {
            lookup.push(RawString { text: r"\u006e0", is_escaped: true }, 0);
            assert!(lookup.duplicate().is_some_and(|name| name.is("n0")));
        }
    }
}

proptest! {
    #[test]
    fn search_agrees_with_a_plain_one(
        names in prop::collection::vec("[a-d]{0,2}", 0..40),
        asked in prop::collection::vec("[a-e]{0,2}", 0..20),
    ) {
        let mut lookup = Lookup::with_capacity(names.len());
        names.iter().enumerate().for_each(|(at, name)| lookup.push(RawString::plain(name), at));
        for name in &asked {
            match lookup.find(name) {
                Some(at) => prop_assert_eq!(&names[at], name),
                None => prop_assert!(!names.contains(name)),
            }
        }
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(lookup.duplicate().is_some(), sorted.len() < names.len());
    }
}
