//! What the optimiser makes of plans.

use crate::compile::{CompileOptions, CompiledQuery};
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    expected.assert_eq(&CompiledQuery::new(text, options).unwrap().plan.to_string());
}

#[test]
fn constants_are_folded_and_conditions_split() {
    check(
        "SELECT * FROM c WHERE c.price > 10 * 2 AND (true AND 'OSLO' = c.city)",
        expect![[r#"
        Items
        Filter c.price > 20
        Filter c.city = "OSLO"
        Project VALUE c
    "#]],
    );
}

#[test]
fn conditions_are_checked_as_soon_as_they_can_be() {
    check(
        "SELECT VALUE t.b FROM c JOIN t IN c.tags JOIN u IN t.us WHERE u = 3 AND c.a = 1 AND t.b = 2",
        expect![[r#"
        Items
        Filter c.a = 1
        Join $1 IN c.tags
        Filter $1.b = 2
        Join $2 IN $1.us
        Filter $2 = 3
        Project VALUE $1.b
    "#]],
    );
}
