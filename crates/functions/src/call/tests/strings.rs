//! Functions over strings.

use super::{check, check_wrong_types, with_context};
use crate::limits::{REPLICATE_UNITS_MAX, RESULT_BYTES_MAX};
use crate::{Datum, Function, call};

#[test]
fn concat() {
    check(&[
        ("CONCAT('a', 'b')", "\"ab\""),
        ("CONCAT('a', '', 'c', 'é')", "\"acé\""),
        ("CONCAT('', '')", "\"\""),
    ]);
    check_wrong_types("CONCAT('a', 'b', 'c')", &["'s'", "'s'", "'s'"]);
}

#[test]
fn searches() {
    check(&[
        ("CONTAINS('abc', 'b')", "true"),
        ("CONTAINS('abc', '')", "true"),
        ("CONTAINS('', '')", "true"),
        ("CONTAINS('abc', 'B')", "false"),
        ("CONTAINS('abc', 'B', false)", "false"),
        ("CONTAINS('abc', 'B', true)", "true"),
        ("CONTAINS('abc', '', true)", "true"),
        ("CONTAINS('ab', 'abc', true)", "false"),
        ("CONTAINS('ÀB', 'àb', true)", "true"),
        ("CONTAINS('xxStraße', 'STRAßE', true)", "true"),
        ("CONTAINS('straße', 'STRASSE', true)", "false"),
        (
            "CONTAINS('xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY', true)",
            "true",
        ),
        ("CONTAINS('abc', 'b', undefined)", "undefined"),
        ("CONTAINS('abc', 'b', null)", "undefined"),
        ("CONTAINS('abc', 'b', 1)", "undefined"),
        ("STARTSWITH('abc', 'ab')", "true"),
        ("STARTSWITH('abc', 'AB')", "false"),
        ("STARTSWITH('abc', 'AB', true)", "true"),
        ("STARTSWITH('abc', '')", "true"),
        ("STARTSWITH('ab', 'abc')", "false"),
        ("STARTSWITH('ab', 'ABC', true)", "false"),
        ("STARTSWITH('Éa', 'é', true)", "true"),
        ("ENDSWITH('abc', 'bc')", "true"),
        ("ENDSWITH('abc', 'bC')", "false"),
        ("ENDSWITH('abc', 'bC', true)", "true"),
        ("ENDSWITH('abc', '')", "true"),
        ("ENDSWITH('aÉ', 'é', true)", "true"),
        ("STRINGEQUALS('abc', 'abc')", "true"),
        ("STRINGEQUALS('abc', 'aBC')", "false"),
        ("STRINGEQUALS('abc', 'aBC', true)", "true"),
        ("STRINGEQUALS('abc', 'abcd', true)", "false"),
        ("STRINGEQUALS('Ä', 'ä', true)", "true"),
        // The Kelvin sign folds to a letter of another length in bytes.
        ("STRINGEQUALS('\u{212a}', 'k', true)", "true"),
        ("CONTAINS('a\u{212a}b', 'K', true)", "true"),
    ]);
    for name in ["CONTAINS", "STARTSWITH", "ENDSWITH", "STRINGEQUALS"] {
        check_wrong_types(&format!("{name}('a', 'a')"), &["'s'", "'s'"]);
        check_wrong_types(&format!("{name}('a', 'a', true)"), &["'s'", "'s'", "true"]);
    }
}

#[test]
fn searches_for_several() {
    check(&[
        ("CONTAINS_ALL_CS('Have a nice day!', 'Have', 'nice')", "true"),
        ("CONTAINS_ALL_CS('Have a nice day!', 'have', 'nice')", "false"),
        ("CONTAINS_ALL_CI('Have a nice day!', 'have', 'NICE')", "true"),
        ("CONTAINS_ALL_CI('Have a nice day!', 'had', 'nice')", "false"),
        ("CONTAINS_ALL_CI('Have a nice day!', undefined, 'nice')", "undefined"),
        ("CONTAINS_ALL_CI('Have a nice day!', undefined, 'had')", "false"),
        ("CONTAINS_ALL_CS('a', null)", "undefined"),
        ("CONTAINS_ALL_CS('a', 1, 'b')", "false"),
        ("CONTAINS_ALL_CS(1, 'b')", "undefined"),
        ("CONTAINS_ANY_CS('Have a nice day!', 'have', 'nice')", "true"),
        ("CONTAINS_ANY_CS('Have a nice day!', 'have', 'NICE')", "false"),
        ("CONTAINS_ANY_CI('Have a nice day!', 'HAD', 'NICE')", "true"),
        ("CONTAINS_ANY_CI('Have a nice day!', undefined, 'nice')", "true"),
        ("CONTAINS_ANY_CI('Have a nice day!', undefined, 'had')", "undefined"),
        ("CONTAINS_ANY_CI(undefined, 'had')", "undefined"),
        ("CONTAINS_ANY_CI(null, 'had')", "undefined"),
    ]);
}

#[test]
fn positions() {
    check(&[
        ("INDEX_OF('abcabc', 'b')", "1"),
        ("INDEX_OF('abcabc', 'b', 2)", "4"),
        ("INDEX_OF('abcabc', 'b', 1)", "1"),
        ("INDEX_OF('abcabc', 'b', 5)", "-1"),
        ("INDEX_OF('abcabc', 'x')", "-1"),
        ("INDEX_OF('abc', '')", "0"),
        ("INDEX_OF('abc', '', 2)", "2"),
        ("INDEX_OF('abc', '', 3)", "3"),
        ("INDEX_OF('abc', '', 4)", "-1"),
        ("INDEX_OF('abc', 'a', -5)", "0"),
        ("INDEX_OF('abc', 'a', 1e300)", "-1"),
        ("INDEX_OF('abc', 'a', 0.5)", "undefined"),
        ("INDEX_OF('abc', 'a', NaN)", "undefined"),
        ("INDEX_OF('é😀b', 'b')", "3"),
        ("INDEX_OF('é😀b', '😀')", "1"),
        ("INDEX_OF('é😀b😀', '😀', 2)", "4"),
        ("INDEX_OF('é😀', '', 3)", "3"),
        ("INDEX_OF('é😀', '', 4)", "-1"),
        ("LASTINDEXOF('abcdeabc', 'abc')", "5"),
        ("LASTINDEXOF('abcdeabc', 'abc', 6)", "0"),
        ("LASTINDEXOF('abcdeabc', 'abc', 7)", "5"),
        ("LASTINDEXOF('abcdeabc', 'abc', 700)", "5"),
        ("LASTINDEXOF('abcdeabc', 'abc', 1)", "-1"),
        ("LASTINDEXOF('abcdeabc', 'abc', -1)", "-1"),
        ("LASTINDEXOF('abcdeabc', 'fg')", "-1"),
        ("LASTINDEXOF('abc', 'a', 0.5)", "undefined"),
        ("LASTINDEXOF('abc', '')", "3"),
        ("LASTINDEXOF('é😀b😀', '😀')", "4"),
        ("LASTINDEXOF('é😀b😀', '😀', 4)", "1"),
        ("LASTINDEXOF('é😀b😀', '😀', 9223372036854775807)", "4"),
    ]);
    check_wrong_types("INDEX_OF('s', 's', 0)", &["'s'", "'s'", "1"]);
    check_wrong_types("LASTINDEXOF('s', 's', 0)", &["'s'", "'s'", "1"]);
}

#[test]
fn parts_of_strings() {
    check(&[
        ("LEFT('abc', 2)", "\"ab\""),
        ("LEFT('abc', 3)", "\"abc\""),
        ("LEFT('abc', 4)", "\"abc\""),
        ("LEFT('abc', 1e300)", "\"abc\""),
        ("LEFT('abc', 0)", "\"\""),
        ("LEFT('abc', -1)", "\"\""),
        ("LEFT('abc', 1.5)", "undefined"),
        ("LEFT('abc', 2.0)", "\"ab\""),
        ("LEFT('abc', Infinity)", "undefined"),
        ("LEFT('éa', 1)", "\"é\""),
        ("LEFT('a😀b', 3)", "\"a😀\""),
        // Half a pair has no UTF-8 form: one unit of replacement.
        ("LEFT('a😀b', 2)", "\"a\u{fffd}\""),
        ("RIGHT('abc', 2)", "\"bc\""),
        ("RIGHT('abc', 3)", "\"abc\""),
        ("RIGHT('abc', 4)", "\"abc\""),
        ("RIGHT('abc', 0)", "\"\""),
        ("RIGHT('abc', -1)", "\"\""),
        ("RIGHT('abc', 1.5)", "undefined"),
        ("RIGHT('a😀b', 3)", "\"😀b\""),
        ("RIGHT('a😀b', 2)", "\"\u{fffd}b\""),
        ("SUBSTRING('abc', 1, 1)", "\"b\""),
        ("SUBSTRING('abc', 0, 3)", "\"abc\""),
        ("SUBSTRING('abc', 1, 100)", "\"bc\""),
        ("SUBSTRING('abc', 3, 1)", "\"\""),
        ("SUBSTRING('abc', 4, 1)", "\"\""),
        ("SUBSTRING('abc', -1, 2)", "\"\""),
        ("SUBSTRING('abc', 1, 0)", "\"\""),
        ("SUBSTRING('abc', 1, -1)", "\"\""),
        ("SUBSTRING('abc', 0.5, 1)", "undefined"),
        ("SUBSTRING('abc', 0, 1.5)", "undefined"),
        ("SUBSTRING('abc', -1e300, 1e300)", "\"\""),
        ("SUBSTRING('abc', 1, 9223372036854775807)", "\"bc\""),
        ("SUBSTRING('a😀é', 1, 2)", "\"😀\""),
        ("SUBSTRING('a😀é', 2, 2)", "\"\u{fffd}é\""),
        ("SUBSTRING('😀😀', 1, 2)", "\"\u{fffd}\u{fffd}\""),
        ("SUBSTRING('😀', 1, 0)", "\"\""),
        ("LENGTH('')", "0"),
        ("LENGTH('abc')", "3"),
        ("LENGTH('é😀\u{ffff}')", "4"),
        ("REVERSE('Abc')", "\"cbA\""),
        ("REVERSE('')", "\"\""),
        ("REVERSE('é😀x')", "\"x😀é\""),
    ]);
    check_wrong_types("LEFT('abc', 1)", &["'s'", "1"]);
    check_wrong_types("RIGHT('abc', 1)", &["'s'", "1"]);
    check_wrong_types("SUBSTRING('abc', 1, 1)", &["'s'", "1", "1"]);
    check_wrong_types("LENGTH('abc')", &["'s'"]);
    check_wrong_types("REVERSE('abc')", &["'s'"]);
}

#[test]
fn letter_case() {
    check(&[
        ("LOWER('Abc')", "\"abc\""),
        ("LOWER('abc')", "\"abc\""),
        ("LOWER('ÀÉ Σ')", "\"àé σ\""),
        ("LOWER('\u{130}')", "\"i\""),
        ("UPPER('Abc')", "\"ABC\""),
        ("UPPER('ABC1')", "\"ABC1\""),
        ("UPPER('é')", "\"É\""),
        ("UPPER('straße')", "\"STRAßE\""),
        ("UPPER('\u{fb01}')", "\"\u{fb01}\""),
        (
            "UPPER('\u{1f80}\u{1f97}\u{1fa3}\u{1fb3}\u{1fc3}\u{1ff3}')",
            "\"\u{1f88}\u{1f9f}\u{1fab}\u{1fbc}\u{1fcc}\u{1ffc}\"",
        ),
        ("UPPER('')", "\"\""),
    ]);
    check_wrong_types("LOWER('a')", &["'s'"]);
    check_wrong_types("UPPER('a')", &["'s'"]);
}

#[test]
fn results_borrow_where_they_can() {
    let args = [Datum::text("plain text"), Datum::Int(5)];
    with_context(false, |context| {
        for function in [Function::Lower, Function::Left, Function::Trim, Function::ToString] {
            let args = &args[..function.arity().min];
            assert!(
                matches!(call(function, args, context), Datum::Str(std::borrow::Cow::Borrowed(_))),
                "{function:?}"
            );
        }
    });
}

#[test]
fn trimming() {
    check(&[
        ("TRIM('  a b \\t\\n')", "\"a b\""),
        ("LTRIM('  a ')", "\"a \""),
        ("RTRIM('  a ')", "\"  a\""),
        ("TRIM('\u{a0}a\u{2003}')", "\"a\""),
        ("TRIM('   ')", "\"\""),
        ("TRIM('')", "\"\""),
        ("TRIM('-_-a-_-', '-_')", "\"a\""),
        ("TRIM('-- a --', '-')", "\" a \""),
        ("LTRIM('AdventureWorks', 'Adventure')", "\"Works\""),
        ("LTRIM('AdventureWorks', 'Works')", "\"AdventureWorks\""),
        ("RTRIM('AdventureWorks', 'Works')", "\"Adventure\""),
        ("TRIM('AdventureWorks', 'AdventureWorks')", "\"\""),
        ("TRIM(' a ', '')", "\" a \""),
        ("TRIM('ééaé', 'é')", "\"a\""),
        ("TRIM('zzxabczz', 'abcdefghijklmnopqrstuvwyz0123456789')", "\"x\""),
        ("TRIM('a', null)", "undefined"),
        ("TRIM('a', undefined)", "undefined"),
    ]);
    for name in ["TRIM", "LTRIM", "RTRIM"] {
        check_wrong_types(&format!("{name}(' a ')"), &["'s'"]);
        check_wrong_types(&format!("{name}(' a ', ' ')"), &["'s'", "'s'"]);
    }
}

#[test]
fn regular_expressions() {
    check(&[
        ("REGEXMATCH('abcd', 'ABC')", "false"),
        ("REGEXMATCH('abcd', 'ABC', 'i')", "true"),
        ("REGEXMATCH('abcd', 'ab.', '')", "true"),
        ("REGEXMATCH('abcd', 'ab c', 'x')", "true"),
        ("REGEXMATCH('abcd', 'aB c', 'ix')", "true"),
        ("REGEXMATCH('abcd', 'aB c', 'xi')", "true"),
        ("REGEXMATCH('abcd', 'ab c')", "false"),
        ("REGEXMATCH('salt3824908', 'salt{1}')", "true"),
        ("REGEXMATCH('', '')", "true"),
        ("REGEXMATCH('a\\nb', '^b$')", "false"),
        ("REGEXMATCH('a\\nb', '^b$', 'm')", "true"),
        ("REGEXMATCH('a\\nb', 'a.b')", "false"),
        ("REGEXMATCH('a\\nb', 'a.b', 's')", "true"),
        ("REGEXMATCH('foobar', 'foo(?=bar)')", "true"),
        ("REGEXMATCH('foobaz', 'foo(?!bar)')", "true"),
        ("REGEXMATCH('abab', '(ab)\\\\1')", "true"),
        ("REGEXMATCH('é', '^.$')", "true"),
        ("REGEXMATCH('a', '(')", "undefined"),
        ("REGEXMATCH('a', 'a', 'g')", "undefined"),
        ("REGEXMATCH('a', 'a', 'iq')", "undefined"),
        ("REGEXMATCH('a', 'a', null)", "undefined"),
        // Far beyond the bound on steps back.
        (
            "REGEXMATCH('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '(?=(a*)*b)\\\\1(a|aa)+(?!a)b')",
            "undefined",
        ),
    ]);
    check_wrong_types("REGEXMATCH('s', 's')", &["'s'", "'s'"]);
}

#[test]
fn replacing_and_repeating() {
    check(&[
        ("REPLACE('This is a Test', 'Test', 'desk')", "\"This is a desk\""),
        ("REPLACE('aaa', 'a', 'b')", "\"bbb\""),
        ("REPLACE('aaa', 'aa', 'b')", "\"ba\""),
        ("REPLACE('abc', 'x', 'y')", "\"abc\""),
        ("REPLACE('abc', 'b', '')", "\"ac\""),
        // Ours: nothing to find is nothing to replace.
        ("REPLACE('abc', '', 'x')", "\"abc\""),
        ("REPLICATE('ab', 3)", "\"ababab\""),
        ("REPLICATE('ab', 2.9)", "\"abab\""),
        ("REPLICATE('ab', 0)", "\"\""),
        ("REPLICATE('ab', -0.5)", "\"\""),
        ("REPLICATE('ab', -1)", "undefined"),
        ("REPLICATE('ab', 1e300)", "undefined"),
        ("REPLICATE('', 1e300)", "\"\""),
        ("REPLICATE('ab', NaN)", "undefined"),
        ("REPLICATE('ab', Infinity)", "undefined"),
    ]);
    check_wrong_types("REPLACE('a', 'a', 'b')", &["'s'", "'s'", "'s'"]);
    check_wrong_types("REPLICATE('a', 2)", &["'s'", "1"]);
}

#[test]
fn results_are_bounded() {
    with_context(false, |context| {
        let run = |function: Function, args: &[Datum<'_>]| call(function, args, context).into_static();
        let units = REPLICATE_UNITS_MAX as i64;
        assert!(run(Function::Replicate, &["a".into(), units.into()]).is_string());
        assert!(run(Function::Replicate, &["a".into(), (units + 1).into()]).is_undefined());
        assert!(run(Function::Replicate, &["😀".into(), (units / 2).into()]).is_string());
        assert!(run(Function::Replicate, &["😀".into(), (units / 2 + 1).into()]).is_undefined());

        let half = "x".repeat(RESULT_BYTES_MAX / 2);
        let (half, longer) = (Datum::text(&half), Datum::from(format!("{half}x")));
        assert!(run(Function::Concat, &[half.clone(), half.clone()]).is_string());
        assert!(run(Function::Concat, &[half.clone(), longer.clone()]).is_undefined());
        assert!(run(Function::Replace, &["ab".into(), "b".into(), half.clone()]).is_string());
        assert!(run(Function::Replace, &["bb".into(), "b".into(), half.clone()]).is_string());
        assert!(run(Function::Replace, &["bb".into(), "b".into(), longer.clone()]).is_undefined());
        let two = |text: &Datum<'_>| Datum::from(vec![text.to_value().unwrap(); 2]);
        assert!(run(Function::StringJoin, &[two(&half), "".into()]).is_string());
        assert!(run(Function::StringJoin, &[two(&half), "-".into()]).is_undefined());
        let letters = Datum::from(vec![armilla_value::Value::from("a"); 40]);
        assert!(run(Function::StringJoin, &[letters, longer]).is_undefined());
    });
}

#[test]
fn joining_and_splitting() {
    check(&[
        ("STRINGJOIN(['a', 'b', 'c'], '-')", "\"a-b-c\""),
        ("STRINGJOIN(['a', 'b'], '')", "\"ab\""),
        ("STRINGJOIN(['a'], '-')", "\"a\""),
        ("STRINGJOIN([], '-')", "\"\""),
        ("STRINGJOIN(['a', 1], '-')", "undefined"),
        ("STRINGJOIN(['a', null], '-')", "undefined"),
        ("STRINGSPLIT('a,b,,c', ',')", r#"["a","b","","c"]"#),
        ("STRINGSPLIT(',a,', ',')", r#"["","a",""]"#),
        ("STRINGSPLIT('abc', '')", r#"["abc"]"#),
        ("STRINGSPLIT('', '')", r#"[""]"#),
        ("STRINGSPLIT('', ',')", r#"[""]"#),
        ("STRINGSPLIT('xenmoun mountain bike', 'moun')", r#"["xen"," ","tain bike"]"#),
    ]);
    check_wrong_types("STRINGJOIN([], '-')", &["[]", "'s'"]);
    check_wrong_types("STRINGSPLIT('abc', 'b')", &["'s'", "'s'"]);
}

#[test]
fn to_text() {
    check(&[
        ("TOSTRING('a')", "\"a\""),
        ("TOSTRING(125)", "\"125\""),
        ("TOSTRING(9223372036854775807)", "\"9223372036854775807\""),
        ("TOSTRING(0.1234)", "\"0.1234\""),
        ("TOSTRING(1.0)", "\"1\""),
        ("TOSTRING(-0.0)", "\"0\""),
        ("TOSTRING(1e300)", "\"1e300\""),
        ("TOSTRING(NaN)", "\"NaN\""),
        ("TOSTRING(Infinity)", "\"Infinity\""),
        ("TOSTRING(-Infinity)", "\"-Infinity\""),
        ("TOSTRING(true)", "\"true\""),
        ("TOSTRING(false)", "\"false\""),
        ("TOSTRING(null)", "\"null\""),
        ("TOSTRING([1, 2, 3])", "\"[1,2,3]\""),
        ("TOSTRING({'a': 'x', 'b': []})", r#""{\"a\":\"x\",\"b\":[]}""#),
        ("TOSTRING(undefined)", "undefined"),
    ]);
}

#[test]
fn from_text() {
    check(&[
        ("STRINGTOARRAY('[]')", "[]"),
        (r#"STRINGTOARRAY(" [1, \"a\", [2], {\"b\": 3}] ")"#, r#"[1,"a",[2],{"b":3}]"#),
        ("STRINGTOARRAY('[1,]')", "undefined"),
        ("STRINGTOARRAY('{}')", "undefined"),
        ("STRINGTOARRAY('[1] 2')", "undefined"),
        (r#"STRINGTOARRAY("[\u0027a\u0027]")"#, "undefined"),
        (r#"STRINGTOOBJECT("{\"a\": [1,2]}")"#, r#"{"a":[1,2]}"#),
        ("STRINGTOOBJECT('{}')", "{}"),
        ("STRINGTOOBJECT('{a:1}')", "undefined"),
        ("STRINGTOOBJECT('[]')", "undefined"),
        ("STRINGTONUMBER('100')", "100"),
        ("STRINGTONUMBER('1.000000')", "1"),
        ("STRINGTONUMBER('  60 ')", "60"),
        ("STRINGTONUMBER('-1.79769e+308')", "-1.79769e308"),
        ("STRINGTONUMBER('9223372036854775807')", "9223372036854775807"),
        ("STRINGTONUMBER('1e999')", "undefined"),
        ("STRINGTONUMBER('0x1')", "undefined"),
        ("STRINGTONUMBER('+1')", "undefined"),
        ("STRINGTONUMBER('01')", "undefined"),
        ("STRINGTONUMBER('.5')", "undefined"),
        ("STRINGTONUMBER('NaN')", "undefined"),
        ("STRINGTONUMBER('')", "undefined"),
        ("STRINGTONUMBER('true')", "undefined"),
        ("STRINGTOBOOLEAN('true')", "true"),
        ("STRINGTOBOOLEAN('  false  ')", "false"),
        ("STRINGTOBOOLEAN('TRUE')", "undefined"),
        ("STRINGTOBOOLEAN('1')", "undefined"),
        ("STRINGTONULL('null')", "null"),
        ("STRINGTONULL(' null ')", "null"),
        ("STRINGTONULL('NULL')", "undefined"),
        ("STRINGTONULL('nul')", "undefined"),
    ]);
    for (name, text) in
        [("ARRAY", "[]"), ("OBJECT", "{}"), ("NUMBER", "1"), ("BOOLEAN", "true"), ("NULL", "null")]
    {
        check_wrong_types(&format!("STRINGTO{name}('{text}')"), &["'s'"]);
        // Text of another type.
        check(&[(format!("STRINGTO{name}('x')").as_str(), "undefined")]);
    }
}
