//! What clients parse.

use expect_test::expect;

use armilla_engine::plans::{Access, PhysicalPlan, Served};

use super::{first, second};

fn served(paths: &[&str], precise: bool) -> Served {
    Served {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        composite: paths.len() > 1,
        precise,
    }
}

fn plan(served: Vec<Served>, missing: Vec<Served>) -> PhysicalPlan {
    PhysicalPlan {
        access: Access::ScanByNumber,
        residual: Vec::new(),
        served,
        missing,
        rejects_by_index: false,
    }
}

#[test]
fn both_versions_say_the_same() {
    let plans = [
        plan(
            vec![served(&["/a/?"], true), served(&["/b ASC", "/c DESC"], true)],
            vec![served(&["/d/?"], true)],
        ),
        plan(vec![served(&["/a/?"], false)], vec![served(&["/b ASC", "/c DESC"], true)]),
        plan(vec![], vec![served(&["/a ASC", "/d ASC"], true), served(&["/d/?"], true)]),
    ];
    expect![[r#"{"UtilizedSingleIndexes":[{"FilterExpression":"","IndexSpec":"/a/?","FilterPreciseSet":false,"IndexPreciseSet":false,"IndexImpactScore":"High"}],"PotentialSingleIndexes":[{"FilterExpression":"","IndexSpec":"/d/?","FilterPreciseSet":true,"IndexPreciseSet":true,"IndexImpactScore":"High"}],"UtilizedCompositeIndexes":[{"IndexSpecs":["/b ASC","/c DESC"],"IndexPreciseSet":true,"IndexImpactScore":"High"}],"PotentialCompositeIndexes":[{"IndexSpecs":["/a ASC","/d ASC"],"IndexPreciseSet":true,"IndexImpactScore":"High"}]}"#]].assert_eq(&first(&plans, &[]).replace("},{", "},\n{"));
    expect![[r#"{"UtilizedIndexes":{"SingleIndexes":[{"IndexSpec":"/a/?"}],"CompositeIndexes":[{"IndexSpecs":["/b ASC","/c DESC"]}]},"PotentialIndexes":{"SingleIndexes":[{"IndexSpec":"/d/?","IndexImpactScore":"High"}],"CompositeIndexes":[{"IndexSpecs":["/a ASC","/d ASC"],"IndexImpactScore":"High"}]}}"#]].assert_eq(&second(&plans, &[]));
}

/// A composite index that is used lies in the order that was asked for; one that is missing is told by the filter alone.
#[test]
fn a_composite_index_that_is_used_is_not_missing_in_another_order() {
    let plans = [
        plan(vec![served(&["/b DESC", "/a DESC"], true)], vec![]),
        plan(vec![], vec![served(&["/a ASC", "/b ASC"], true), served(&["/a ASC", "/c ASC"], true)]),
    ];
    expect![[r#"{"UtilizedIndexes":{"SingleIndexes":[],"CompositeIndexes":[{"IndexSpecs":["/b DESC","/a DESC"]}]},"PotentialIndexes":{"SingleIndexes":[],"CompositeIndexes":[{"IndexSpecs":["/a ASC","/c ASC"],"IndexImpactScore":"High"}]}}"#]].assert_eq(&second(&plans, &[]));
}

#[test]
fn without_plans_the_lists_are_empty() {
    expect![[r#"{"UtilizedSingleIndexes":[],"PotentialSingleIndexes":[],"UtilizedCompositeIndexes":[],"PotentialCompositeIndexes":[]}"#]].assert_eq(&first(&[], &[]));
    expect![[r#"{"UtilizedIndexes":{"SingleIndexes":[],"CompositeIndexes":[]},"PotentialIndexes":{"SingleIndexes":[],"CompositeIndexes":[]}}"#]].assert_eq(&second(&[], &[]));
}
