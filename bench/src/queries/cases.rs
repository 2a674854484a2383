//! The queries: each in our language, in PostgreSQL's, and with the index that serves it there.

use super::orders::Orders;

/// Orders that the range is about.
const RANGE_ORDERS: usize = 500;

/// One query.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The query.
    pub(super) text: String,
    /// The same for PostgreSQL.
    pub(super) postgres: String,
    /// What follows `CREATE INDEX ON items` there; several queries may share one.
    pub(super) postgres_index: Option<&'static str>,
    /// Whether the answer is one number.
    pub(super) is_number: bool,
}

impl Case {
    /// Returns PostgreSQL's query with documents written out as text, which its executor else leaves to others.
    pub(super) fn postgres_as_text(&self) -> String {
        self.postgres.replacen("SELECT doc FROM", "SELECT doc::text FROM", 1)
    }
}

/// Returns all queries. What they look for is taken from orders in the middle, so that it is there.
pub(super) fn cases(orders: Orders) -> Vec<Case> {
    let middle = orders.count / 2;
    let (city, category, zip) = (orders.city(middle), orders.category(middle), orders.zip(middle));
    let tag = &orders.tags(middle)[0];
    let (first, last) = (
        orders.ts(middle.saturating_sub(RANGE_ORDERS / 2)),
        orders.ts((middle + RANGE_ORDERS / 2).min(orders.count) - 1),
    );
    let rows = |name, filter: &str, postgres_filter: &str, postgres_index| Case {
        name,
        text: format!("SELECT * FROM c {filter}"),
        postgres: format!("SELECT doc FROM items {postgres_filter}"),
        postgres_index,
        is_number: false,
    };
    let count = |name, filter: &str, postgres_filter: &str, postgres_index| Case {
        name,
        text: format!("SELECT VALUE COUNT(1) FROM c {filter}"),
        postgres: format!("SELECT count(*) FROM items {postgres_filter}"),
        postgres_index,
        is_number: true,
    };
    const TS: Option<&str> = Some("(((doc->>'ts')::bigint))");
    const TAGS: Option<&str> = Some("USING gin ((doc->'tags') jsonb_path_ops)");
    vec![
        rows(
            "equality",
            &format!("WHERE c.city = \"{city}\""),
            &format!("WHERE doc->>'city' = '{city}'"),
            Some("((doc->>'city'))"),
        ),
        rows(
            "equality-selective",
            &format!("WHERE c.address.zip = \"{zip}\""),
            &format!("WHERE doc->'address'->>'zip' = '{zip}'"),
            Some("((doc->'address'->>'zip'))"),
        ),
        rows(
            "range",
            &format!("WHERE c.ts BETWEEN {first} AND {last}"),
            &format!("WHERE (doc->>'ts')::bigint BETWEEN {first} AND {last}"),
            TS,
        ),
        Case {
            name: "order-by-top",
            text: "SELECT TOP 100 * FROM c ORDER BY c.ts DESC".to_owned(),
            postgres: "SELECT doc FROM items ORDER BY (doc->>'ts')::bigint DESC LIMIT 100".to_owned(),
            postgres_index: TS,
            is_number: false,
        },
        count(
            "count-filter",
            &format!("WHERE c.category = \"{category}\""),
            &format!("WHERE doc->>'category' = '{category}'"),
            Some("((doc->>'category'))"),
        ),
        rows(
            "and-of-two",
            &format!("WHERE c.city = \"{city}\" AND c.category = \"{category}\""),
            &format!("WHERE doc->>'city' = '{city}' AND doc->>'category' = '{category}'"),
            Some("((doc->>'city'), (doc->>'category'))"),
        ),
        count(
            "array-contains-count",
            &format!("WHERE ARRAY_CONTAINS(c.tags, \"{tag}\")"),
            &format!("WHERE doc->'tags' @> '[\"{tag}\"]'"),
            TAGS,
        ),
        rows(
            "array-contains-page",
            &format!("WHERE ARRAY_CONTAINS(c.tags, \"{tag}\") OFFSET 100 LIMIT 50"),
            &format!("WHERE doc->'tags' @> '[\"{tag}\"]' OFFSET 100 LIMIT 50"),
            TAGS,
        ),
        Case {
            name: "group-by",
            text: "SELECT c.category, COUNT(1) AS n, AVG(c.price) AS price FROM c GROUP BY c.category"
                .to_owned(),
            postgres: "SELECT doc->>'category', count(*), avg((doc->>'price')::float8) FROM items GROUP BY 1"
                .to_owned(),
            postgres_index: None,
            is_number: false,
        },
        rows(
            "scan-function",
            "WHERE CONTAINS(LOWER(c.name), \"zz\")",
            "WHERE strpos(lower(doc->>'name'), 'zz') > 0",
            None,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_few_orders_are_enough() {
        for count in [1, 2, 499, 1_000_000] {
            let cases = cases(Orders { count });
            let names: std::collections::BTreeSet<_> = cases.iter().map(|case| case.name).collect();
            assert_eq!(names.len(), cases.len());
            assert!(cases.iter().all(|case| case.is_number == case.text.contains("VALUE COUNT")));
        }
    }
}
