//! The tree of every production of the grammar and of each of its surprises.

use expect_test::{Expect, expect};

use crate::testing::outline;
use crate::{parse, parse_expression};

/// Shows the tree of each line of `texts`.
fn check_expressions(texts: &str, expected: Expect) {
    let show = |text: &str| match parse_expression(text) {
        Ok(tree) => format!("{text}\n    {}\n", outline::expr(&tree)),
        Err(error) => panic!("{text}: {error}"),
    };
    expected.assert_eq(
        &texts.lines().map(str::trim).filter(|text| !text.is_empty()).map(show).collect::<String>(),
    );
}

fn check_queries(texts: &str, expected: Expect) {
    let show = |text: &str| match parse(text) {
        Ok(tree) => format!("{text}\n    {}\n", outline::query(&tree)),
        Err(error) => panic!("{text}: {error}"),
    };
    expected.assert_eq(
        &texts.lines().map(str::trim).filter(|text| !text.is_empty()).map(show).collect::<String>(),
    );
}

#[test]
fn literals() {
    check_expressions(
        r#"
        undefined
        NULL
        True
        false
        12
        007
        9223372036854775807
        9223372036854775808
        18446744073709551616
        0x1F
        0X7fffffffffffffff
        0x8000000000000000
        0x10000000000000000
        0x8000000000000401
        .5
        1.
        1.e2
        1.5e-3
        1E+2
        1e999
        -5
        -0
        -9223372036854775808
        -9223372036854775809
        -0x8000000000000000
        - 2.5
        -(5)
        - -5
        +5
        NaN
        -NaN
        Infinity
        -Infinity
        nan
        INFINITY
        'a "b" c'
        "a 'b' c"
        'it\'s \"\\ \/ \b\f\n\r\t'
        "\u0041\u00e9\ud83d\ude00"
        ''
        @p
        @_p1
        "#,
        expect![[r#"
            undefined
                Undefined
            NULL
                Null
            True
                Bool(true)
            false
                Bool(false)
            12
                12
            007
                7
            9223372036854775807
                9223372036854775807
            9223372036854775808
                9.223372036854776e18
            18446744073709551616
                1.8446744073709552e19
            0x1F
                31
            0X7fffffffffffffff
                9223372036854775807
            0x8000000000000000
                9.223372036854776e18
            0x10000000000000000
                1.8446744073709552e19
            0x8000000000000401
                9.223372036854778e18
            .5
                0.5
            1.
                1.0
            1.e2
                100.0
            1.5e-3
                0.0015
            1E+2
                100.0
            1e999
                inf
            -5
                -5
            -0
                -0.0
            -9223372036854775808
                -9223372036854775808
            -9223372036854775809
                -9.223372036854776e18
            -0x8000000000000000
                -9223372036854775808
            - 2.5
                -2.5
            -(5)
                (- 5)
            - -5
                (- -5)
            +5
                (+ 5)
            NaN
                NaN
            -NaN
                NaN
            Infinity
                inf
            -Infinity
                -inf
            nan
                nan
            INFINITY
                INFINITY
            'a "b" c'
                "a \"b\" c"
            "a 'b' c"
                "a 'b' c"
            'it\'s \"\\ \/ \b\f\n\r\t'
                "it's \"\\ / \u{8}\u{c}\n\r\t"
            "\u0041\u00e9\ud83d\ude00"
                "Aé😀"
            ''
                ""
            @p
                @p
            @_p1
                @_p1
        "#]],
    );
}

#[test]
fn steps() {
    check_expressions(
        r#"
        c
        c.a
        c.a.b["c"]['d e'][0][@i][c.x][-1]
        c["a" || "b"]
        c[("a")]
        (c.a).b
        (a + b).c
        [1, 2][0]
        {a: 1}["a"]
        "s"[0]
        5[0]
        -c.a
        -5[0]
        (-5)[0]
        @p.a
        udf.f().a
        ABS(1).a
        (SELECT 1).a
        null.a
        rank.let
        "#,
        expect![[r#"
            c
                c
            c.a
                (. c "a")
            c.a.b["c"]['d e'][0][@i][c.x][-1]
                ([] ([] ([] ([] (. (. (. (. c "a") "b") "c") "d e") 0) @i) (. c "x")) -1)
            c["a" || "b"]
                ([] c (|| "a" "b"))
            c[("a")]
                (. c "a")
            (c.a).b
                (. (. c "a") "b")
            (a + b).c
                (. (+ a b) "c")
            [1, 2][0]
                ([] (array 1 2) 0)
            {a: 1}["a"]
                (. (object ("a" 1)) "a")
            "s"[0]
                ([] "s" 0)
            5[0]
                ([] 5 0)
            -c.a
                (- (. c "a"))
            -5[0]
                (- ([] 5 0))
            (-5)[0]
                ([] -5 0)
            @p.a
                (. @p "a")
            udf.f().a
                (. (udf f) "a")
            ABS(1).a
                (. (call ABS 1) "a")
            (SELECT 1).a
                (. (select (list 1)) "a")
            null.a
                (. Null "a")
            rank.let
                (. rank "let")
        "#]],
    );
}

#[test]
fn operators_by_tightness() {
    check_expressions(
        r#"
        a * b / c % d
        a + b - c
        a + b * c + d
        a * b + c * d
        a || b || c
        a + b || c + d
        a || b = c || d
        a = b || c AND d
        a AND b OR c AND d
        a OR b AND c OR d
        a AND b AND c
        (a AND b) AND c
        a AND (b AND c)
        (a OR b) OR (c OR d)
        (a AND b) OR c
        (a OR b) AND c
        a ?? b ?? c
        a OR b ?? c AND d
        a ?? b ? c : d
        a ? b : c ? d : e
        a ? b ? c : d : e
        a = 1 ? b + 1 : c OR d
        a ?? b + c * d = e AND f OR g ?? h
        -a + ~b * NOT c
        NOT -a
        + - ~ NOT a
        "#,
        expect![[r#"
            a * b / c % d
                (% (/ (* a b) c) d)
            a + b - c
                (- (+ a b) c)
            a + b * c + d
                (+ (+ a (* b c)) d)
            a * b + c * d
                (+ (* a b) (* c d))
            a || b || c
                (|| (|| a b) c)
            a + b || c + d
                (|| (+ a b) (+ c d))
            a || b = c || d
                (= (|| a b) (|| c d))
            a = b || c AND d
                (and (= a (|| b c)) d)
            a AND b OR c AND d
                (or (and a b) (and c d))
            a OR b AND c OR d
                (or a (and b c) d)
            a AND b AND c
                (and a b c)
            (a AND b) AND c
                (and a b c)
            a AND (b AND c)
                (and a (and b c))
            (a OR b) OR (c OR d)
                (or a b (or c d))
            (a AND b) OR c
                (or (and a b) c)
            (a OR b) AND c
                (and (or a b) c)
            a ?? b ?? c
                (?? a (?? b c))
            a OR b ?? c AND d
                (?? (or a b) (and c d))
            a ?? b ? c : d
                (if (?? a b) c d)
            a ? b : c ? d : e
                (if a b (if c d e))
            a ? b ? c : d : e
                (if a (if b c d) e)
            a = 1 ? b + 1 : c OR d
                (if (= a 1) (+ b 1) (or c d))
            a ?? b + c * d = e AND f OR g ?? h
                (?? a (?? (or (and (= (+ b (* c d)) e) f) g) h))
            -a + ~b * NOT c
                (+ (- a) (* (~ b) (NOT c)))
            NOT -a
                (NOT (- a))
            + - ~ NOT a
                (+ (- (~ (NOT a))))
        "#]],
    );
}

#[test]
fn surprises() {
    check_expressions(
        r#"
        NOT a = b
        NOT c.x IN (1)
        NOT f(x)
        x NOT IN (1)
        1 + 2 & 3
        1 & 2 + 3
        1 | 2 ^ 3
        a << 1 = 4
        4 = a << 1
        a >> 1 >>> 2
        a < b < c
        a <> b != c
        true AND false ?? true
        a AND b BETWEEN 10 AND 50
        a BETWEEN 1 AND 2 AND b
        (a BETWEEN 1 AND 2) AND b
        a BETWEEN 1 AND 2 OR b BETWEEN 3 AND 4 AND c
        a BETWEEN b = c AND d + 1 AND e
        a = b IN (c)
        a LIKE b = c
        a IN (1) AND b IN (2)
        a IN (1) ?? b
        a IN (1) ? b : c
        "#,
        expect![[r#"
            NOT a = b
                (= (NOT a) b)
            NOT c.x IN (1)
                (in (NOT (. c "x")) 1)
            NOT f(x)
                (NOT (call f x))
            x NOT IN (1)
                (not-in x 1)
            1 + 2 & 3
                (& (+ 1 2) 3)
            1 & 2 + 3
                (+ (& 1 2) 3)
            1 | 2 ^ 3
                (^ (| 1 2) 3)
            a << 1 = 4
                (= (<< a 1) 4)
            4 = a << 1
                (<< (= 4 a) 1)
            a >> 1 >>> 2
                (>>> (>> a 1) 2)
            a < b < c
                (< (< a b) c)
            a <> b != c
                (!= (!= a b) c)
            true AND false ?? true
                (?? (and Bool(true) Bool(false)) Bool(true))
            a AND b BETWEEN 10 AND 50
                (and a (between b 10 50))
            a BETWEEN 1 AND 2 AND b
                (and (between a 1 2) b)
            (a BETWEEN 1 AND 2) AND b
                (and (between a 1 2) b)
            a BETWEEN 1 AND 2 OR b BETWEEN 3 AND 4 AND c
                (or (between a 1 2) (and (between b 3 4) c))
            a BETWEEN b = c AND d + 1 AND e
                (and (between a (= b c) (+ d 1)) e)
            a = b IN (c)
                (in (= a b) c)
            a LIKE b = c
                (like a (= b c))
            a IN (1) AND b IN (2)
                (and (in a 1) (in b 2))
            a IN (1) ?? b
                (?? (in a 1) b)
            a IN (1) ? b : c
                (if (in a 1) b c)
        "#]],
    );
}

#[test]
fn predicates() {
    check_expressions(
        r#"
        a IN (1)
        a in (1, b, (c), "d")
        a not IN (1, 2)
        a LIKE 'x%'
        a NOT LIKE b || '%'
        a LIKE 'x!%' ESCAPE '!'
        a LIKE 'x' ESCAPE "\u00e9" AND b
        a BETWEEN 1 AND 2
        a NOT BETWEEN 1 + 1 AND b
        a + 1 IN (2) OR b
        c AND a || b LIKE d
        "#,
        expect![[r#"
            a IN (1)
                (in a 1)
            a in (1, b, (c), "d")
                (in a 1 b c "d")
            a not IN (1, 2)
                (not-in a 1 2)
            a LIKE 'x%'
                (like a "x%")
            a NOT LIKE b || '%'
                (not-like a (|| b "%"))
            a LIKE 'x!%' ESCAPE '!'
                (like a "x!%" escape '!')
            a LIKE 'x' ESCAPE "\u00e9" AND b
                (and (like a "x" escape 'é') b)
            a BETWEEN 1 AND 2
                (between a 1 2)
            a NOT BETWEEN 1 + 1 AND b
                (not-between a (+ 1 1) b)
            a + 1 IN (2) OR b
                (or (in (+ a 1) 2) b)
            c AND a || b LIKE d
                (and c (like (|| a b) d))
        "#]],
    );
}

#[test]
fn calls_and_constructors() {
    check_expressions(
        r#"
        PI()
        abs(-1)
        Left("a", 1)
        RIGHT ("a", 1)
        rank(1)
        udf.tax(1, c.x)
        UDF . Tax ()
        all(1)
        first((SELECT 1))
        ALL(SELECT 1)
        first(SELECT VALUE 1)
        Last (SELECT *)
        exists(SELECT 1)
        ARRAY (SELECT 1)
        (SELECT 1)
        ((SELECT 1))
        []
        [1]
        [1, [2], {}]
        {}
        {a: 1, "b": 2, 'c d': {rank: 3}}
        (LET x = a + 1 IN x * 2)
        (LET let = 1 IN (LET rank = let IN rank))
        (LET x = (a AND b) IN (x OR c))
        (let)
        (let.x = 1)
        let IN (1)
        "#,
        expect![[r#"
            PI()
                (call PI)
            abs(-1)
                (call abs -1)
            Left("a", 1)
                (call Left "a" 1)
            RIGHT ("a", 1)
                (call RIGHT "a" 1)
            rank(1)
                (call rank 1)
            udf.tax(1, c.x)
                (udf tax 1 (. c "x"))
            UDF . Tax ()
                (udf Tax)
            all(1)
                (call all 1)
            first((SELECT 1))
                (call first (select (list 1)))
            ALL(SELECT 1)
                (all (select (list 1)))
            first(SELECT VALUE 1)
                (first (select (value 1)))
            Last (SELECT *)
                (last (select *))
            exists(SELECT 1)
                (exists (select (list 1)))
            ARRAY (SELECT 1)
                (array-of (select (list 1)))
            (SELECT 1)
                (select (list 1))
            ((SELECT 1))
                (select (list 1))
            []
                (array)
            [1]
                (array 1)
            [1, [2], {}]
                (array 1 (array 2) (object))
            {}
                (object)
            {a: 1, "b": 2, 'c d': {rank: 3}}
                (object ("a" 1) ("b" 2) ("c d" (object ("rank" 3))))
            (LET x = a + 1 IN x * 2)
                (let x (+ a 1) (* x 2))
            (LET let = 1 IN (LET rank = let IN rank))
                (let let 1 (let rank let rank))
            (LET x = (a AND b) IN (x OR c))
                (let x (and a b) (or x c))
            (let)
                let
            (let.x = 1)
                (= (. let "x") 1)
            let IN (1)
                (in let 1)
        "#]],
    );
}

#[test]
fn clauses() {
    check_queries(
        r#"
        SELECT *
        SELECT VALUE c FROM c
        SELECT a, b c, d AS e, f "g h", i AS 'j'
        SELECT (a), (b.c), (d.e) AS f, (1), ((g)), a.b
        SELECT DISTINCT TOP 3 a
        SELECT TOP @n VALUE a
        SELECT TOP 1.5 *
        SELECT TOP 18446744073709551616 *
        SELECT TOP 1e999 *
        SELECT * FROM c
        SELECT * FROM c x
        SELECT * FROM c AS x
        SELECT * FROM c.a["b c"][0].rank
        SELECT * FROM x IN c.a
        SELECT * FROM rank IN let
        SELECT * FROM (SELECT 1)
        SELECT * FROM (SELECT 1) x
        SELECT * FROM x IN (SELECT VALUE [1])
        SELECT * FROM c JOIN t IN c.tags JOIN c.x y JOIN (SELECT 1) AS z JOIN c.u
        SELECT * FROM c WHERE a AND b
        SELECT * FROM c WHERE t IN (1)
        SELECT a FROM c GROUP BY a, LOWER(b)
        SELECT * FROM c ORDER BY a, b ASC, c DESC
        SELECT * FROM c ORDER BY rank
        SELECT * FROM c ORDER BY rank DESC, rank.x, rank(x)
        SELECT * FROM c ORDER BY RANK RRF(a, b)
        SELECT * FROM c ORDER BY RANK rank(a) ASC
        SELECT * FROM c OFFSET 1 LIMIT 0xA
        SELECT * FROM c OFFSET @o LIMIT @l
        SELECT DISTINCT TOP 1 a FROM c JOIN t IN c.t WHERE b GROUP BY d ORDER BY e OFFSET 1 LIMIT 2
        SELECT * FROM c OFFSET 99999999999999999999 LIMIT 1
        "#,
        expect![[r#"
            SELECT *
                (select *)
            SELECT VALUE c FROM c
                (select (value c) (from c))
            SELECT a, b c, d AS e, f "g h", i AS 'j'
                (select (list a (as b "c") (as d "e") (as f "g h") (as i "j")))
            SELECT (a), (b.c), (d.e) AS f, (1), ((g)), a.b
                (select (list (nameless a) (nameless (. b "c")) (as (nameless (. d "e")) "f") 1 (nameless g) (. a "b")))
            SELECT DISTINCT TOP 3 a
                (select distinct (top 3) (list a))
            SELECT TOP @n VALUE a
                (select (top @n) (value a))
            SELECT TOP 1.5 *
                (select (top 1.5) *)
            SELECT TOP 18446744073709551616 *
                (select (top 18446744073709551615) *)
            SELECT TOP 1e999 *
                (select (top 1.7976931348623157e308) *)
            SELECT * FROM c
                (select * (from c))
            SELECT * FROM c x
                (select * (from (bind x c)))
            SELECT * FROM c AS x
                (select * (from (bind x c)))
            SELECT * FROM c.a["b c"][0].rank
                (select * (from c/a/b c/[0]/rank))
            SELECT * FROM x IN c.a
                (select * (from (each x c/a)))
            SELECT * FROM rank IN let
                (select * (from (each rank let)))
            SELECT * FROM (SELECT 1)
                (select * (from (select (list 1))))
            SELECT * FROM (SELECT 1) x
                (select * (from (bind x (select (list 1)))))
            SELECT * FROM x IN (SELECT VALUE [1])
                (select * (from (each x (select (value (array 1))))))
            SELECT * FROM c JOIN t IN c.tags JOIN c.x y JOIN (SELECT 1) AS z JOIN c.u
                (select * (from c (each t c/tags) (bind y c/x) (bind z (select (list 1))) c/u))
            SELECT * FROM c WHERE a AND b
                (select * (from c) (where (and a b)))
            SELECT * FROM c WHERE t IN (1)
                (select * (from c) (where (in t 1)))
            SELECT a FROM c GROUP BY a, LOWER(b)
                (select (list a) (from c) (group a (call LOWER b)))
            SELECT * FROM c ORDER BY a, b ASC, c DESC
                (select * (from c) (order a b (desc c)))
            SELECT * FROM c ORDER BY rank
                (select * (from c) (order rank))
            SELECT * FROM c ORDER BY rank DESC, rank.x, rank(x)
                (select * (from c) (order (desc rank) (. rank "x") (call rank x)))
            SELECT * FROM c ORDER BY RANK RRF(a, b)
                (select * (from c) (rank (call RRF a b)))
            SELECT * FROM c ORDER BY RANK rank(a) ASC
                (select * (from c) (rank (call rank a) Ascending))
            SELECT * FROM c OFFSET 1 LIMIT 0xA
                (select * (from c) (offset 1 limit 10))
            SELECT * FROM c OFFSET @o LIMIT @l
                (select * (from c) (offset @o limit @l))
            SELECT DISTINCT TOP 1 a FROM c JOIN t IN c.t WHERE b GROUP BY d ORDER BY e OFFSET 1 LIMIT 2
                (select distinct (top 1) (list a) (from c (each t c/t)) (where b) (group d) (order e) (offset 1 limit 2))
            SELECT * FROM c OFFSET 99999999999999999999 LIMIT 1
                (select * (from c) (offset 18446744073709551615 limit 1))
        "#]],
    );
}
