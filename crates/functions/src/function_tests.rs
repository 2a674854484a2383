//! Tests of the function table.

use std::collections::HashSet;

use super::*;

#[test]
fn every_spelling_is_found_and_unique() {
    let mut seen = HashSet::new();
    for &function in Function::ALL {
        for name in std::iter::once(&function.name()).chain(function.synonyms()) {
            assert!(seen.insert(*name), "{name} twice");
            assert_eq!(*name, name.to_ascii_uppercase());
            assert_eq!(Function::find(name), Some(function));
            assert_eq!(Function::find(&name.to_ascii_lowercase()), Some(function));
        }
    }
    for name in ["", "BADFUNC", "COUNT", "SUM", "CONTAIN", "CONTAINSS", "HASH"] {
        assert_eq!(Function::find(name), None, "{name}");
    }
}

#[test]
fn spellings() {
    let cases = [
        ("String_Equals", Function::StringEquals),
        ("STRING_JOIN", Function::StringJoin),
        ("STRING_SPLIT", Function::StringSplit),
        ("string_to_array", Function::StringToArray),
        ("STRING_TO_BOOLEAN", Function::StringToBoolean),
        ("STRING_TO_NULL", Function::StringToNull),
        ("STRING_TO_NUMBER", Function::StringToNumber),
        ("STRING_TO_OBJECT", Function::StringToObject),
        ("TO_STRING", Function::ToString),
        ("OBJECT_TO_ARRAY", Function::ObjectToArray),
        ("SET_DIFFERENCE", Function::SetDifference),
        ("SET_EQUAL", Function::SetEqual),
        ("SET_INTERSECT", Function::SetIntersect),
        ("SET_UNION", Function::SetUnion),
        ("FULLTEXT_CONTAINS", Function::FullTextContains),
        ("FULLTEXT_CONTAINS_ALL", Function::FullTextContainsAll),
        ("FULLTEXT_CONTAINS_ANY", Function::FullTextContainsAny),
        ("IS_BOOLEAN", Function::IsBool),
        ("IntMultiply", Function::IntMul),
        ("ContainsAllCi", Function::ContainsAllCi),
        ("ContainsAnyCs", Function::ContainsAnyCs),
        ("IntBitwiseAnd", Function::IntBitAnd),
        ("IntBitwiseLeftShift", Function::IntBitLeftShift),
        ("RegexMatch", Function::RegexMatch),
        ("getCurrentDateTimeStatic", Function::GetCurrentDateTimeStatic),
    ];
    for (name, function) in cases {
        assert_eq!(Function::find(name), Some(function), "{name}");
    }
}

#[test]
fn argument_counts() {
    let cases = [
        (Function::StartsWith, "2 to 3", &[2, 3][..], &[0, 1, 4][..]),
        (Function::Concat, "at least 2", &[2, 3, 1000], &[0, 1]),
        (Function::Lower, "1", &[1], &[0, 2]),
        (Function::Pi, "0", &[0], &[1]),
        (Function::DateTimeFromParts, "3 to 7", &[3, 7], &[2, 8]),
    ];
    for (function, text, good, bad) in cases {
        let arity = function.arity();
        assert_eq!(arity.to_string(), text);
        assert!(good.iter().all(|&count| arity.admits(count)), "{function:?}");
        assert!(!bad.iter().any(|&count| arity.admits(count)), "{function:?}");
    }
}

#[test]
fn classes() {
    let of = |holds: fn(Function) -> bool| -> Vec<&str> {
        Function::ALL.iter().filter(|&&function| holds(function)).map(|function| function.name()).collect()
    };
    assert_eq!(
        of(|function| !function.is_deterministic()),
        ["RAND", "GETCURRENTDATETIME", "GETCURRENTTICKS", "GETCURRENTTIMESTAMP"]
    );
    assert_eq!(of(Function::is_volatile).len(), 9);
    assert_eq!(of(Function::is_spatial).len(), 6);
    assert!(of(Function::is_spatial).iter().all(|name| name.starts_with("ST_")));
    assert_eq!(
        of(|function| !function.is_supported()),
        [
            "FULLTEXTCONTAINS",
            "FULLTEXTCONTAINSALL",
            "FULLTEXTCONTAINSANY",
            "FULLTEXTSCORE",
            "RRF",
            "VECTORDISTANCE"
        ]
    );
}
