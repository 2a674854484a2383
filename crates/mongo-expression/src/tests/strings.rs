//! Text and regular expressions.

use super::check;

#[test]
fn text() {
    check(
        r#"{"s": "Hello", "u": "héllo", "n": null, "d": {"$date": {"$numberLong": "0"}}}"#,
        &[
            (r#"{"$concat": ["a", "b", "$s"]}"#, "'abHello'"),
            (r#"{"$concat": ["a", null]}"#, "null"),
            (r#"{"$concat": ["a", 1]}"#, "error 16702"),
            (r#"{"$concat": []}"#, "''"),
            (r#"{"$toLower": "$s"}"#, "'hello'"),
            (r#"{"$toUpper": "$u"}"#, "'HéLLO'"),
            (r#"{"$toUpper": null}"#, "''"),
            (r#"{"$toUpper": 12}"#, "'12'"),
            (r#"{"$toUpper": [[1]]}"#, "error 16007"),
            (r#"{"$toLower": "$d"}"#, "'1970-01-01t00:00:00.000z'"),
            (r#"{"$substr": ["$s", 1, 2]}"#, "'el'"),
            (r#"{"$substrBytes": ["$s", 1, -1]}"#, "'ello'"),
            (r#"{"$substrBytes": ["$s", 9, 2]}"#, "''"),
            (r#"{"$substrBytes": ["$u", 2, 1]}"#, "error 28656"),
            (r#"{"$substrBytes": ["$u", 0, 2]}"#, "error 28657"),
            (r#"{"$substrBytes": ["$s", -1, 2]}"#, "error 50752"),
            (r#"{"$substrBytes": ["$s", "x", 2]}"#, "error 16034"),
            (r#"{"$substrBytes": [null, 0, 2]}"#, "''"),
            (r#"{"$substrCP": ["$u", 1, 2]}"#, "'él'"),
            (r#"{"$substrCP": ["$u", -1, 2]}"#, "error 34455"),
            (r#"{"$substrCP": ["$u", 0, -1]}"#, "error 34454"),
            (r#"{"$substrCP": ["$u", 0.5, 1]}"#, "error 34451"),
            (r#"{"$substrCP": ["$u", "x", 1]}"#, "error 34450"),
            (r#"{"$strLenBytes": "$u"}"#, "6"),
            (r#"{"$strLenCP": "$u"}"#, "5"),
            (r#"{"$strLenCP": null}"#, "error 34471"),
            (r#"{"$strLenBytes": "$zzz"}"#, "error 34473"),
            (r#"{"$split": ["a-b-c", "-"]}"#, "['a', 'b', 'c']"),
            (r#"{"$split": ["-a-", "-"]}"#, "['', 'a', '']"),
            (r#"{"$split": ["abc", "x"]}"#, "['abc']"),
            (r#"{"$split": ["abc", ""]}"#, "error 40087"),
            (r#"{"$split": [1, "x"]}"#, "error 40085"),
            (r#"{"$split": ["a", 1]}"#, "error 40086"),
            (r#"{"$split": [null, "x"]}"#, "null"),
            (r#"{"$trim": {"input": "  \n a b \t"}}"#, "'a b'"),
            (r#"{"$ltrim": {"input": "  ab "}}"#, "'ab '"),
            (r#"{"$rtrim": {"input": "xxabxx", "chars": "x"}}"#, "'xxab'"),
            (r#"{"$trim": {"input": "ggbyebb", "chars": "gb"}}"#, "'ye'"),
            (r#"{"$trim": {"input": 1}}"#, "error 50699"),
            (r#"{"$trim": {"input": "a", "chars": 1}}"#, "error 50700"),
            (r#"{"$trim": {"input": "a", "chars": null}}"#, "null"),
            (r#"{"$trim": {"chars": "a"}}"#, "error 50695"),
            (r#"{"$trim": {"input": null}}"#, "null"),
            (r#"{"$strcasecmp": ["a", "B"]}"#, "-1"),
            (r#"{"$strcasecmp": ["AB", "ab"]}"#, "0"),
            (r#"{"$indexOfBytes": ["abcb", "b"]}"#, "1"),
            (r#"{"$indexOfBytes": ["abcb", "b", 2]}"#, "3"),
            (r#"{"$indexOfBytes": ["abcb", "b", 2, 3]}"#, "-1"),
            (r#"{"$indexOfBytes": ["abcb", "b", 9]}"#, "-1"),
            (r#"{"$indexOfBytes": ["abcb", "b", -1]}"#, "error 40097"),
            (r#"{"$indexOfBytes": ["abcb", "b", 0.5]}"#, "error 40096"),
            (r#"{"$indexOfBytes": [null, "b"]}"#, "null"),
            (r#"{"$indexOfBytes": ["a", null]}"#, "error 40092"),
            (r#"{"$indexOfBytes": ["abc", ""]}"#, "0"),
            (r#"{"$indexOfCP": ["$u", "l"]}"#, "2"),
            (r#"{"$indexOfCP": ["$u", "l", 3]}"#, "3"),
            (r#"{"$indexOfCP": [1, "l"]}"#, "error 40093"),
            (r#"{"$replaceOne": {"input": "aaa", "find": "a", "replacement": "b"}}"#, "'baa'"),
            (r#"{"$replaceAll": {"input": "aaa", "find": "a", "replacement": "bb"}}"#, "'bbbbbb'"),
            (r#"{"$replaceAll": {"input": null, "find": "a", "replacement": "b"}}"#, "null"),
            (r#"{"$replaceAll": {"input": 1, "find": "a", "replacement": "b"}}"#, "error 51746"),
            (r#"{"$replaceAll": {"input": "a", "find": "a"}}"#, "error 51747"),
        ],
    );
}

#[test]
fn regular_expressions() {
    check(
        r#"{"s": "Sütterlin sat on a Mat", "p": "^S", "n": null}"#,
        &[
            (r#"{"$regexMatch": {"input": "$s", "regex": "mat$", "options": "i"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "$s", "regex": "mat$"}}"#, "false"),
            (r#"{"$regexMatch": {"input": "$s", "regex": "$p"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "$n", "regex": "x"}}"#, "false"),
            (r#"{"$regexMatch": {"input": "$s", "regex": "$n"}}"#, "false"),
            (r#"{"$regexMatch": {"input": "aa", "regex": "(a)\\1"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "a.b(c", "regex": "^\\Qa.b(c\\E$"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "aXb(c", "regex": "^\\Qa.b(c\\E$"}}"#, "false"),
            (r#"{"$regexMatch": {"input": "x+é", "regex": "\\Q+é"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "\\Qa", "regex": "\\\\Qa"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "é", "regex": "(*UTF8)^.$"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "a\nb", "regex": "^b", "options": "m"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "a\nb", "regex": "a.b", "options": "s"}}"#, "true"),
            (r#"{"$regexMatch": {"input": "ab", "regex": "a b # c", "options": "x"}}"#, "true"),
            (
                r#"{"$regexMatch": {"input": "$s", "regex": {"$regularExpression": {"pattern": "MAT", "options": "i"}}}}"#,
                "true",
            ),
            (
                r#"{"$regexMatch": {"input": "$s", "regex": {"$regularExpression": {"pattern": "a", "options": "i"}}, "options": "m"}}"#,
                "error 51107",
            ),
            (r#"{"$regexMatch": {"input": "$s", "regex": "("}}"#, "error 51111"),
            (r#"{"$regexMatch": {"input": "$s", "regex": "a", "options": "z"}}"#, "error 51108"),
            (r#"{"$regexMatch": {"input": 1, "regex": "a"}}"#, "error 51104"),
            (r#"{"$regexMatch": {"input": "$s", "regex": 1}}"#, "error 51105"),
            (r#"{"$regexMatch": {"input": "$s"}}"#, "error 31023"),
            (r#"{"$regexMatch": 1}"#, "error 51103"),
            (
                r#"{"$regexFind": {"input": "$s", "regex": "(s)(x)?at"}}"#,
                "{match: 'sat', idx: 10, captures: ['s', null]}",
            ),
            (r#"{"$regexFind": {"input": "$s", "regex": "zzz"}}"#, "null"),
            (
                r#"{"$regexFindAll": {"input": "üaüa", "regex": "a"}}"#,
                "[{match: 'a', idx: 1, captures: []}, {match: 'a', idx: 3, captures: []}]",
            ),
            (
                r#"{"$regexFindAll": {"input": "ab", "regex": ""}}"#,
                "[{match: '', idx: 0, captures: []}, {match: '', idx: 1, captures: []}, {match: '', idx: 2, captures: []}]",
            ),
            (r#"{"$regexFindAll": {"input": "$zzz", "regex": "a"}}"#, "[]"),
        ],
    );
}

#[test]
fn searches_that_go_back_too_often_fail() {
    let text = "ab".repeat(40);
    let expression =
        format!(r#"{{"$regexMatch": {{"input": "{text}!", "regex": "^(?:(ab|a|b)|(?=x)y)+\\1[^!]$"}}}}"#);
    assert_eq!(super::evaluated(&super::object("{}"), &expression), "error 51156");
    let regex = crate::regex::compile(&"a".repeat(crate::limits::REGEX_PATTERN_BYTES_MAX), "");
    assert!(regex.is_ok());
    let regex = crate::regex::compile(&"a".repeat(crate::limits::REGEX_PATTERN_BYTES_MAX + 1), "");
    assert_eq!(regex.unwrap_err().code, 51091);
}
