//! What is chosen for filters, as text.

use expect_test::expect;

use super::{EVERYTHING, EXPLICIT, check, people, source};

#[test]
fn comparisons_become_ranges() {
    let source = source(people(200), EVERYTHING);
    check(
        &source,
        &[
            r#"SELECT * FROM c WHERE c.city = "Oslo""#,
            r#"SELECT * FROM c WHERE "Oslo" = c.city"#,
            "SELECT * FROM c WHERE c.age > 40",
            "SELECT * FROM c WHERE c.age >= 40 AND c.age < 45",
            "SELECT * FROM c WHERE c.age BETWEEN 3 AND 4",
            "SELECT * FROM c WHERE c.age IN (1, 2, 'three')",
            "SELECT * FROM c WHERE c.age != 3",
            "SELECT * FROM c WHERE NOT (c.age > 3)",
            "SELECT * FROM c WHERE c.age NOT IN (3, 4)",
            "SELECT * FROM c WHERE c.age = null OR c.age = true",
            "SELECT * FROM c WHERE c.active",
            "SELECT * FROM c WHERE c._ts > 100",
            "SELECT * FROM c WHERE c.x = [1, 2]",
            "SELECT * FROM c WHERE c.x = undefined",
            "SELECT * FROM c WHERE c.x > [1]",
            "SELECT * FROM c WHERE c.x > 5 AND c.x < 3",
            "SELECT * FROM c WHERE c.x = 1 AND c.x = 'a'",
            "SELECT * FROM c WHERE c.x = c.age",
            "SELECT * FROM c WHERE c.secret = 1",
            "SELECT * FROM c WHERE c.x + 1 = 2",
            "SELECT * FROM c WHERE true",
            "SELECT * FROM c WHERE false",
            "SELECT * FROM c",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.city = "Oslo"
                IndexSeek /city/? = "Oslo" (50 entries)
            SELECT * FROM c WHERE "Oslo" = c.city
                IndexSeek /city/? = "Oslo" (50 entries)
            SELECT * FROM c WHERE c.age > 40
                IndexRange /age/? > 40 (32 entries)
            SELECT * FROM c WHERE c.age >= 40 AND c.age < 45
                IndexRange /age/? >= 40 and < 45 (20 entries)
            SELECT * FROM c WHERE c.age BETWEEN 3 AND 4
                IndexRange /age/? >= 3 and <= 4 (8 entries)
            SELECT * FROM c WHERE c.age IN (1, 2, 'three')
                IndexSeek /age/? IN (1, 2, "three") (8 entries)
            SELECT * FROM c WHERE c.age != 3
                IndexRange /age/? is null, boolean or < 3 or > 3 or is string, array, object, other (176 entries)
            SELECT * FROM c WHERE NOT (c.age > 3)
                IndexRange /age/? <= 3 (16 entries)
            SELECT * FROM c WHERE c.age NOT IN (3, 4)
                IndexRange /age/? is null, boolean or < 3 or > 3 and < 4 or > 4 or is string, array, object, other (172 entries)
            SELECT * FROM c WHERE c.age = null OR c.age = true
                IndexSeek /age/? IN (null, true) (0 entries)
            SELECT * FROM c WHERE c.active
                IndexSeek /active/? = true (0 entries)
            SELECT * FROM c WHERE c._ts > 100
                IndexRange /_ts/? > 100 (0 entries)
            SELECT * FROM c WHERE c.x = [1, 2]
                IndexSeek /x/? = [...] (0 entries)
                Filter c.x = [1,2]
            SELECT * FROM c WHERE c.x = undefined
                Nothing
            SELECT * FROM c WHERE c.x > [1]
                Nothing
            SELECT * FROM c WHERE c.x > 5 AND c.x < 3
                Nothing
            SELECT * FROM c WHERE c.x = 1 AND c.x = 'a'
                Nothing
            SELECT * FROM c WHERE c.x = c.age
                Scan in the order of insertion
                Filter c.x = c.age
            SELECT * FROM c WHERE c.secret = 1
                Scan in the order of insertion
                Filter c.secret = 1
            SELECT * FROM c WHERE c.x + 1 = 2
                Scan in the order of insertion
                Filter (c.x + 1) = 2
            SELECT * FROM c WHERE true
                Scan in the order of insertion
            SELECT * FROM c WHERE false
                Nothing
            SELECT * FROM c
                Scan in the order of insertion
        "#]],
    );
}

#[test]
fn functions_become_ranges() {
    let source = source(people(200), EVERYTHING);
    check(
        &source,
        &[
            "SELECT * FROM c WHERE IS_DEFINED(c.age)",
            "SELECT * FROM c WHERE NOT IS_DEFINED(c.age)",
            "SELECT * FROM c WHERE IS_DEFINED(c.age) = false",
            "SELECT * FROM c WHERE IS_NULL(c.age)",
            "SELECT * FROM c WHERE IS_BOOLEAN(c.age)",
            "SELECT * FROM c WHERE IS_NUMBER(c.age)",
            "SELECT * FROM c WHERE IS_STRING(c.age)",
            "SELECT * FROM c WHERE IS_PRIMITIVE(c.age)",
            "SELECT * FROM c WHERE IS_ARRAY(c.age) OR IS_OBJECT(c.age)",
            "SELECT * FROM c WHERE STARTSWITH(c.name, 'person 1')",
            "SELECT * FROM c WHERE STARTSWITH(c.name, 'person 1', true)",
            "SELECT * FROM c WHERE STRINGEQUALS(c.city, 'Oslo')",
            "SELECT * FROM c WHERE STRINGEQUALS('oslo', c.city, true)",
            "SELECT * FROM c WHERE c.name LIKE 'person 1%'",
            "SELECT * FROM c WHERE c.name LIKE 'person 1'",
            "SELECT * FROM c WHERE c.name LIKE 'p%1'",
            "SELECT * FROM c WHERE c.name LIKE '%1%'",
            "SELECT * FROM c WHERE CONTAINS(c.name, '17')",
            "SELECT * FROM c WHERE NOT CONTAINS(c.name, '1')",
            "SELECT * FROM c WHERE ENDSWITH(c.name, '7')",
            "SELECT * FROM c WHERE REGEXMATCH(c.name, '^p.*7$')",
            "SELECT * FROM c WHERE LEFT(c.city, 2) = 'Os'",
            "SELECT * FROM c WHERE SUBSTRING(c.city, 0, 2) = 'Os'",
            "SELECT * FROM c WHERE SUBSTRING(c.city, 1, 2) = 'sl'",
            "SELECT * FROM c WHERE ABS(c.x) = 7",
            "SELECT * FROM c WHERE FLOOR(c.x) = 7",
            "SELECT * FROM c WHERE SIGN(c.x) = 1",
            "SELECT * FROM c WHERE UPPER(c.city) = 'OSLO'",
            "SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't3')",
            "SELECT * FROM c WHERE ARRAY_CONTAINS(c.things, {kind: 'k1'}, true)",
            "SELECT * FROM c WHERE ARRAY_CONTAINS(c.things, {kind: 'k1', size: 1})",
            "SELECT * FROM c WHERE ARRAY_CONTAINS(['Oslo', 'Rome'], c.city)",
            "SELECT * FROM c WHERE ARRAY_CONTAINS_ANY(c.tags, 't3', 't4')",
            "SELECT * FROM c WHERE ARRAY_CONTAINS_ALL(c.tags, 't3', 'all')",
            "SELECT * FROM c WHERE c.tags[0] = 't3'",
        ],
        expect![[r#"
            SELECT * FROM c WHERE IS_DEFINED(c.age)
                IndexRange /age/? defined (180 entries)
            SELECT * FROM c WHERE NOT IS_DEFINED(c.age)
                Scan in the order of insertion
                Filter NOT IS_DEFINED(c.age)
            SELECT * FROM c WHERE IS_DEFINED(c.age) = false
                Scan in the order of insertion
                Filter IS_DEFINED(c.age) = false
            SELECT * FROM c WHERE IS_NULL(c.age)
                IndexSeek /age/? = null (0 entries)
            SELECT * FROM c WHERE IS_BOOLEAN(c.age)
                IndexRange /age/? is boolean (0 entries)
            SELECT * FROM c WHERE IS_NUMBER(c.age)
                IndexRange /age/? is number (180 entries)
            SELECT * FROM c WHERE IS_STRING(c.age)
                IndexRange /age/? is string (0 entries)
            SELECT * FROM c WHERE IS_PRIMITIVE(c.age)
                IndexRange /age/? is null, boolean, number, string (180 entries)
            SELECT * FROM c WHERE IS_ARRAY(c.age) OR IS_OBJECT(c.age)
                IndexRange /age/? is array, object (0 entries)
            SELECT * FROM c WHERE STARTSWITH(c.name, 'person 1')
                IndexRange /name/? begins with "person 1" (111 entries)
            SELECT * FROM c WHERE STARTSWITH(c.name, 'person 1', true)
                IndexScan /name/? is string where STARTSWITH(value, "person 1", true) (200 entries)
                Filter STARTSWITH(c.name, "person 1", true)
            SELECT * FROM c WHERE STRINGEQUALS(c.city, 'Oslo')
                IndexSeek /city/? = "Oslo" (50 entries)
            SELECT * FROM c WHERE STRINGEQUALS('oslo', c.city, true)
                IndexScan /city/? is string where STRINGEQUALS(value, "oslo", true) (200 entries)
                Filter STRINGEQUALS("oslo", c.city, true)
            SELECT * FROM c WHERE c.name LIKE 'person 1%'
                IndexRange /name/? begins with "person 1" (111 entries)
            SELECT * FROM c WHERE c.name LIKE 'person 1'
                IndexSeek /name/? = "person 1" (1 entry)
            SELECT * FROM c WHERE c.name LIKE 'p%1'
                IndexScan /name/? begins with "p" where value LIKE "p"... (200 entries)
                Filter c.name LIKE "p"...
            SELECT * FROM c WHERE c.name LIKE '%1%'
                IndexScan /name/? is string where value LIKE "%1%" (200 entries)
                Filter c.name LIKE "%1%"
            SELECT * FROM c WHERE CONTAINS(c.name, '17')
                IndexScan /name/? is string where CONTAINS(value, "17") (200 entries)
                Filter CONTAINS(c.name, "17")
            SELECT * FROM c WHERE NOT CONTAINS(c.name, '1')
                IndexScan /name/? is string where NOT CONTAINS(value, "1") (200 entries)
                Filter NOT CONTAINS(c.name, "1")
            SELECT * FROM c WHERE ENDSWITH(c.name, '7')
                IndexScan /name/? is string where ENDSWITH(value, "7") (200 entries)
                Filter ENDSWITH(c.name, "7")
            SELECT * FROM c WHERE REGEXMATCH(c.name, '^p.*7$')
                IndexScan /name/? is string where REGEXMATCH(value, "^p.*7$") (200 entries)
                Filter REGEXMATCH(c.name, "^p.*7$")
            SELECT * FROM c WHERE LEFT(c.city, 2) = 'Os'
                IndexRange /city/? begins with "Os" (50 entries)
                Filter LEFT(c.city, 2) = "Os"
            SELECT * FROM c WHERE SUBSTRING(c.city, 0, 2) = 'Os'
                IndexRange /city/? begins with "Os" (50 entries)
                Filter SUBSTRING(c.city, 0, 2) = "Os"
            SELECT * FROM c WHERE SUBSTRING(c.city, 1, 2) = 'sl'
                Scan in the order of insertion
                Filter SUBSTRING(c.city, 1, 2) = "sl"
            SELECT * FROM c WHERE ABS(c.x) = 7
                IndexRange /x/? >= -7.000000000007 and <= -6.999999999993 or >= 6.999999999993 and <= 7.000000000007 (1 entry)
                Filter ABS(c.x) = 7
            SELECT * FROM c WHERE FLOOR(c.x) = 7
                IndexRange /x/? >= 5.999999999993 and <= 8.000000000007 (3 entries)
                Filter FLOOR(c.x) = 7
            SELECT * FROM c WHERE SIGN(c.x) = 1
                IndexRange /x/? >= 0 (200 entries)
                Filter SIGN(c.x) = 1
            SELECT * FROM c WHERE UPPER(c.city) = 'OSLO'
                Scan in the order of insertion
                Filter UPPER(c.city) = "OSLO"
            SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't3')
                IndexSeek /tags/[]/? = "t3" (7 entries)
            SELECT * FROM c WHERE ARRAY_CONTAINS(c.things, {kind: 'k1'}, true)
                IndexSeek /things/[]/kind/? = "k1" (29 entries)
                Filter ARRAY_CONTAINS(c.things, {"kind":"k1"}, true)
            SELECT * FROM c WHERE ARRAY_CONTAINS(c.things, {kind: 'k1', size: 1})
                IndexSeek /things/[]/? = {...} (1 entry)
                Filter ARRAY_CONTAINS(c.things, {"kind":"k1","size":1})
            SELECT * FROM c WHERE ARRAY_CONTAINS(['Oslo', 'Rome'], c.city)
                IndexSeek /city/? IN ("Oslo", "Rome") (100 entries)
            SELECT * FROM c WHERE ARRAY_CONTAINS_ANY(c.tags, 't3', 't4')
                IndexSeek /tags/[]/? IN ("t3", "t4") (14 entries)
            SELECT * FROM c WHERE ARRAY_CONTAINS_ALL(c.tags, 't3', 'all')
                IndexSeek /tags/[]/? = "t3" (7 entries)
                Filter ARRAY_CONTAINS_ALL(c.tags, "t3", "all")
            SELECT * FROM c WHERE c.tags[0] = 't3'
                IndexSeek /tags/[]/? = "t3" (7 entries)
                Filter c.tags[0] = "t3"
        "#]],
    );
}

#[test]
fn several_conditions_are_combined() {
    let source = source(people(2000), EVERYTHING);
    check(
        &source,
        &[
            r#"SELECT * FROM c WHERE c.city = "Oslo" AND c.age = 7"#,
            r#"SELECT * FROM c WHERE c.city = "Oslo" AND c.x = 7"#,
            r#"SELECT * FROM c WHERE c.city = "Oslo" AND c.x < 100"#,
            r#"SELECT * FROM c WHERE c.city = "Oslo" AND UPPER(c.name) = "A""#,
            r#"SELECT * FROM c WHERE c.city = "Oslo" OR c.x = 7"#,
            r#"SELECT * FROM c WHERE c.x = 3 OR c.x = 7 OR (c.x = 9 AND c.city = "Rome")"#,
            r#"SELECT * FROM c WHERE c.x = 3 OR UPPER(c.name) = "A""#,
            r#"SELECT * FROM c WHERE (c.x = 3 OR c.x > 1990) AND (c.x != 3 OR c.age = 1)"#,
            "SELECT * FROM c WHERE ( c.x > 1995 OR IS_STRING(c.x) OR IS_ARRAY(c.x) OR IS_OBJECT(c.x) )",
            "SELECT * FROM c WHERE c.x >= 0",
            "SELECT * FROM c WHERE CONTAINS(c.name, 'person') AND c.x < 5",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.city = "Oslo" AND c.age = 7
                IndexSeek /age/? = 7 (40 entries)
                Filter c.city = "Oslo"
            SELECT * FROM c WHERE c.city = "Oslo" AND c.x = 7
                IndexSeek /x/? = 7 (1 entry)
                Filter c.city = "Oslo"
            SELECT * FROM c WHERE c.city = "Oslo" AND c.x < 100
                And(IndexRange /x/? < 100 (100 entries), IndexSeek /city/? = "Oslo" (500 entries))
            SELECT * FROM c WHERE c.city = "Oslo" AND UPPER(c.name) = "A"
                IndexSeek /city/? = "Oslo" (500 entries)
                Filter UPPER(c.name) = "A"
            SELECT * FROM c WHERE c.city = "Oslo" OR c.x = 7
                Scan in the order of insertion
                Filter (c.city = "Oslo") OR (c.x = 7)
            SELECT * FROM c WHERE c.x = 3 OR c.x = 7 OR (c.x = 9 AND c.city = "Rome")
                IndexSeek /x/? IN (3, 7, 9) (3 entries)
                Filter (c.x = 3) OR (c.x = 7) OR ((c.x = 9) AND (c.city = "Rome"))
            SELECT * FROM c WHERE c.x = 3 OR UPPER(c.name) = "A"
                Scan in the order of insertion
                Filter (c.x = 3) OR (UPPER(c.name) = "A")
            SELECT * FROM c WHERE (c.x = 3 OR c.x > 1990) AND (c.x != 3 OR c.age = 1)
                IndexRange /x/? = 3 or > 1990 (10 entries)
                Filter (c.x != 3) OR (c.age = 1)
            SELECT * FROM c WHERE ( c.x > 1995 OR IS_STRING(c.x) OR IS_ARRAY(c.x) OR IS_OBJECT(c.x) )
                IndexRange /x/? > 1995 or is string, array, object (4 entries)
            SELECT * FROM c WHERE c.x >= 0
                Scan in the order of insertion
                Filter c.x >= 0
            SELECT * FROM c WHERE CONTAINS(c.name, 'person') AND c.x < 5
                IndexRange /x/? < 5 (5 entries)
                Filter CONTAINS(c.name, "person")
        "#]],
    );
}

#[test]
fn elements_of_arrays_are_found() {
    let source = source(people(200), EXPLICIT);
    check(
        &source,
        &[
            "SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't3')",
            "SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.things WHERE t.kind = 'k1' AND t.size = 8)",
            "SELECT * FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't3')",
            "SELECT VALUE t FROM c JOIN t IN c.tags WHERE t IN ('t3', 't4')",
            "SELECT VALUE t FROM t IN c.tags WHERE t = 't3'",
            "SELECT VALUE t FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t = 't3') AS t",
            "SELECT VALUE t.size FROM c JOIN t IN c.things WHERE t.kind = 'k1' AND t.size < 20",
            "SELECT VALUE t FROM c JOIN t IN c.nowhere",
        ],
        expect![[r#"
            SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't3')
                IndexSeek /tags/[]/? = "t3" (7 entries)
            SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.things WHERE t.kind = 'k1' AND t.size = 8)
                IndexSeek (/things/[]/kind ASC, /things/[]/size ASC) = ("k1", 8) (1 entry)
                Filter EXISTS(SELECT VALUE $1 FROM $1 IN c.things WHERE ($1.kind = "k1") AND ($1.size = 8))
            SELECT * FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't3')
                Scan in the order of insertion
                Filter NOT EXISTS(SELECT VALUE $1 FROM $1 IN c.tags WHERE $1 = "t3")
            SELECT VALUE t FROM c JOIN t IN c.tags WHERE t IN ('t3', 't4')
                IndexSeek /tags/[]/? IN ("t3", "t4") (14 entries)
            SELECT VALUE t FROM t IN c.tags WHERE t = 't3'
                IndexSeek /tags/[]/? = "t3" (7 entries)
            SELECT VALUE t FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t = 't3') AS t
                IndexSeek /tags/[]/? = "t3" (7 entries)
            SELECT VALUE t.size FROM c JOIN t IN c.things WHERE t.kind = 'k1' AND t.size < 20
                IndexRange (/things/[]/kind ASC, /things/[]/size ASC) = ("k1", ..) (3 entries)
            SELECT VALUE t FROM c JOIN t IN c.nowhere
                Scan in the order of insertion
        "#]],
    );
}

#[test]
fn composite_indexes_serve_filters() {
    let source = source(people(200), EXPLICIT);
    check(
        &source,
        &[
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.age = 8",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.age > 40",
            "SELECT * FROM c WHERE c.city IN ('Oslo', 'Rome') AND c.ts IN (10, 20, 40)",
            "SELECT * FROM c WHERE c.city != 'Oslo' AND c.age > 40",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.ts > 1900",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.ts <= 100 AND c.age = 8",
            "SELECT * FROM c WHERE c.a = 1 AND c.d = 1",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND IS_ARRAY(c.age)",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND NOT IS_DEFINED(c.age)",
            "SELECT * FROM c WHERE (c.city = 'Oslo' AND c.age = 8) OR (c.city = 'Rome' AND c.age = 9)",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.age = 8
                IndexSeek (/city ASC, /age ASC) = ("Oslo", 8) (2 entries)
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.age > 40
                IndexRange (/city ASC, /age ASC) = ("Oslo", ..) (8 entries)
            SELECT * FROM c WHERE c.city IN ('Oslo', 'Rome') AND c.ts IN (10, 20, 40)
                IndexSeek (/city ASC, /ts DESC) IN (("Oslo", 40), ("Oslo", 20), ("Oslo", 10), ("Rome", 40), ("Rome", 20), ...) (2 entries)
            SELECT * FROM c WHERE c.city != 'Oslo' AND c.age > 40
                IndexRange /city/? is null, boolean, number or < "Oslo" or > "Oslo" or is array, object, other (150 entries)
                Filter c.age > 40
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.ts > 1900
                IndexRange (/city ASC, /ts DESC) = ("Oslo", ..) (2 entries)
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.ts <= 100 AND c.age = 8
                IndexSeek (/city ASC, /age ASC) = ("Oslo", 8) (2 entries)
                Filter c.ts <= 100
            SELECT * FROM c WHERE c.a = 1 AND c.d = 1
                Scan in the order of insertion
                Filter c.a = 1
                Filter c.d = 1
            SELECT * FROM c WHERE c.city = 'Oslo' AND IS_ARRAY(c.age)
                IndexSeek (/city ASC, /age ASC) = ("Oslo", undefined) (0 entries)
                Filter IS_ARRAY(c.age)
            SELECT * FROM c WHERE c.city = 'Oslo' AND NOT IS_DEFINED(c.age)
                IndexSeek (/city ASC, /age ASC) = ("Oslo", undefined) (0 entries)
                Filter NOT IS_DEFINED(c.age)
            SELECT * FROM c WHERE (c.city = 'Oslo' AND c.age = 8) OR (c.city = 'Rome' AND c.age = 9)
                IndexSeek (/city ASC, /age ASC) IN (("Oslo", 8), ("Rome", 9)) (2 entries)
        "#]],
    );
}

/// What may be a value or an element of one was looked for in two indexes, also where no item has an array there.
#[test]
fn alternatives_that_no_item_has_are_left_out() {
    let source = source(people(200), EVERYTHING);
    check(
        &source,
        &[
            r#"SELECT * FROM c WHERE c.city = "Oslo" OR ARRAY_CONTAINS(c.city, "Oslo")"#,
            r#"SELECT * FROM c WHERE c.tags = "t1" OR ARRAY_CONTAINS(c.tags, "t1")"#,
            "SELECT * FROM c WHERE c.x > 190 OR EXISTS(SELECT VALUE 1 FROM e IN c.x WHERE e > 190)",
            "SELECT * FROM c WHERE c.x = 1 OR ARRAY_CONTAINS(c.secret, 1)",
            // By itself it stays: what is asked for is what is priced.
            r#"SELECT * FROM c WHERE ARRAY_CONTAINS(c.city, "Oslo")"#,
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.city = "Oslo" OR ARRAY_CONTAINS(c.city, "Oslo")
                IndexSeek /city/? = "Oslo" (50 entries)
            SELECT * FROM c WHERE c.tags = "t1" OR ARRAY_CONTAINS(c.tags, "t1")
                Or(IndexSeek /tags/? = "t1" (0 entries), IndexSeek /tags/[]/? = "t1" (7 entries))
            SELECT * FROM c WHERE c.x > 190 OR EXISTS(SELECT VALUE 1 FROM e IN c.x WHERE e > 190)
                IndexRange /x/? > 190 (9 entries)
            SELECT * FROM c WHERE c.x = 1 OR ARRAY_CONTAINS(c.secret, 1)
                Scan in the order of insertion
                Filter (c.x = 1) OR ARRAY_CONTAINS(c.secret, 1)
            SELECT * FROM c WHERE ARRAY_CONTAINS(c.city, "Oslo")
                IndexSeek /city/[]/? = "Oslo" (0 entries)
        "#]],
    );
}
