use crate::kinds;

use super::{all, find};

/// The names of the grammar of TinkerPop 3.8, and those beside it that scripts of the service use.
const NAMES: &str = "V E addE addV mergeE mergeV aggregate all and any as asBool asDate asNumber asString barrier both \
    bothE bothV branch by call cap choose coalesce coin combine concat conjoin connectedComponent constant count \
    cyclicPath dateAdd dateDiff dedup difference discard disjunct drop element elementMap emit fail filter flatMap \
    fold format from group groupCount has hasId hasKey hasLabel hasNot hasValue id identity in inE intersect inV \
    index inject is key label lTrim length limit local loops map match math max mean merge min none not option \
    optional or order otherV out outE outV pageRank path peerPressure product profile project properties property \
    propertyMap range read repeat replace reverse rTrim sack sample select shortestPath sideEffect simplePath skip \
    split subgraph substring sum tail timeLimit times to toE toLower toUpper toV tree trim unfold union until value \
    valueMap values where with write store executionProfile next toList toSet toBulkSet iterate hasNext tryNext \
    explain withBulk withPath withSack withSideEffect withStrategies withoutStrategies io";

#[test]
fn every_name_is_found() {
    for name in NAMES.split_whitespace() {
        let (method, shared) = find(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((method.name, &*shared), (name, name));
    }
    assert_eq!(all().len(), NAMES.split_whitespace().count());
    assert!(find("nothing").is_none() && find("").is_none() && find("v").is_none());
}

#[test]
fn the_table_is_sorted_and_its_letters_are_known() {
    assert!(all().windows(2).all(|pair| pair[0].name < pair[1].name));
    for method in all() {
        for letter in method.signatures.bytes().chain(method.strict.bytes()) {
            assert!(matches!(letter, b' ' | b'-' | b'*') || kinds::is_letter(letter), "{}", method.name);
        }
    }
}
