//! Tests of fingerprints; that they agree with equality is tested with the operators.

use std::collections::HashMap;

use super::*;
use crate::testing::datum;

/// Fingerprints stand in continuations that outlive the program: these must never change.
#[test]
fn fingerprints_stay_the_same() {
    let found: Vec<String> = ["undefined", "null", "true", "1", "0.5", "'a'", "[1,'a']", "{'a':1,'b':[]}"]
        .iter()
        .map(|text| format!("{text} {:032x}", fingerprint(&datum(text))))
        .collect();
    expect_test::expect![[r#"
        undefined 69b04a9de9b71c98c2aeedc3f1557ed2
        null 32e7bde73478e79548065be4f55d58ef
        true 320b65799745c4a42eefc3a01d85f564
        1 f3dc7d59c7c13a6aa933cc85bc88b705
        0.5 ad1d334edea9290a1334ff6052a3001c
        'a' e6b53a48510e895a85555565f6597890
        [1,'a'] c3a25849c133a781de2852235d730a3c
        {'a':1,'b':[]} 53c0998c25bcb26b1574c18c9af6e0c2
    "#]]
    .assert_eq(&(found.join("\n") + "\n"));
}

#[test]
fn different_data_differ() {
    let data = [
        "undefined",
        "null",
        "false",
        "true",
        "0",
        "1",
        "-1",
        "0.5",
        "-0.5",
        "NaN",
        "Infinity",
        "-Infinity",
        "''",
        "'0'",
        "'null'",
        "'a'",
        "'b'",
        "[]",
        "{}",
        "[null]",
        "[[]]",
        "[{}]",
        "[0]",
        "['0']",
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "[[1,2]]",
        "[1,[2]]",
        "[[],[]]",
        "{'a':1}",
        "{'a':'1'}",
        "{'1':'a'}",
        "{'a':null}",
        "{'a':1,'b':2}",
        "{'a':2,'b':1}",
        "{'a':{'b':1}}",
        "{'b':{'a':1}}",
        "{'a':'b','b':'a'}",
        "{'a':'a','b':'b'}",
        "9007199254740993",
        "9007199254740992",
        "{'$numberDecimal':'0.1'}",
        "0.1",
        "{'$minKey':1}",
        "{'$maxKey':1}",
        "{'$date':{'$numberLong':'0'}}",
    ];
    let mut seen = HashMap::new();
    for text in data {
        let before = seen.insert(fingerprint(&datum(text)), text);
        assert_eq!(before, None, "{text}");
    }
    let equal = [
        ("1", "1.0"),
        ("0", "-0.0"),
        ("{'$numberDecimal':'1.00'}", "1"),
        ("{'$numberDecimal':'0.5'}", "0.5"),
    ];
    for (left, right) in equal {
        assert_eq!(fingerprint(&datum(left)), fingerprint(&datum(right)), "{left} {right}");
    }
}
