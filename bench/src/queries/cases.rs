//! The queries: each in our language, in PostgreSQL's, and with the index that serves it there.
//!
//! What a query looks for is taken from an order that is drawn anew each time it is asked, so that it is there, and no
//! answer is one that was just given.

use armilla_value::{Object, Value};

use super::orders::Orders;

/// Orders that the range is about.
const RANGE_ORDERS: usize = 500;

/// Parts of a rare word in names; all of them find the same ones.
const RARE_PARTS: [&str; 4] = ["zz", "uzz", "zzl", "puzzle"];

/// A value that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parameter {
    Text(String),
    Number(i64),
}

impl Parameter {
    pub(super) fn value(&self) -> Value {
        match self {
            Parameter::Text(text) => Value::from(text.as_str()),
            Parameter::Number(number) => Value::from(*number),
        }
    }

    /// Returns it as PostgreSQL writes it.
    fn literal(&self) -> String {
        match self {
            Parameter::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Parameter::Number(number) => number.to_string(),
        }
    }
}

/// One query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The query; its parameters are `@p1` and so on.
    pub(super) text: &'static str,
    /// The same for PostgreSQL, where they are `$1` and so on.
    pub(super) postgres: &'static str,
    /// What follows `CREATE INDEX ON items` there; several queries may share one.
    pub(super) postgres_index: Option<&'static str>,
    /// Whether the answer is one number.
    pub(super) is_number: bool,
    /// What is asked for around an order.
    parameters: fn(Orders, usize) -> Vec<Parameter>,
}

impl Case {
    /// Returns what is asked for around an order.
    pub(super) fn parameters(&self, orders: Orders, index: usize) -> Vec<Parameter> {
        (self.parameters)(orders, index)
    }

    /// Returns PostgreSQL's query with values in the places of its parameters.
    pub(super) fn postgres_with(&self, parameters: &[Parameter], as_text: bool) -> String {
        let mut text = self.postgres.to_owned();
        for (position, parameter) in parameters.iter().enumerate() {
            text = text.replace(&format!("${}", position + 1), &parameter.literal());
        }
        // Documents are written out by those who ask for text; the executor else leaves it to others.
        if as_text { text.replacen("SELECT doc FROM", "SELECT doc::text FROM", 1) } else { text }
    }
}

/// Returns parameters with their names.
pub(super) fn named(parameters: &[Parameter]) -> Vec<(String, Value)> {
    let named = |(position, one): (usize, &Parameter)| (format!("@p{}", position + 1), one.value());
    parameters.iter().enumerate().map(named).collect()
}

/// Returns the body of a request for a query.
pub(super) fn body(case: &Case, parameters: &[Parameter]) -> Value {
    let parameter = |(name, value): (String, Value)| {
        Value::Object(Object::from([("name", Value::from(name.as_str())), ("value", value)]))
    };
    let parameters = named(parameters).into_iter().map(parameter).collect();
    Value::Object(Object::from([("query", Value::from(case.text)), ("parameters", Value::Array(parameters))]))
}

/// Returns all queries.
pub(super) fn cases() -> Vec<Case> {
    const TS: Option<&str> = Some("(((doc->>'ts')::bigint))");
    const TAGS: Option<&str> = Some("USING gin ((doc->'tags') jsonb_path_ops)");
    vec![
        Case {
            name: "equality",
            text: "SELECT * FROM c WHERE c.city = @p1",
            postgres: "SELECT doc FROM items WHERE doc->>'city' = $1",
            postgres_index: Some("((doc->>'city'))"),
            is_number: false,
            parameters: |orders, index| vec![Parameter::Text(orders.city(index))],
        },
        Case {
            name: "equality-selective",
            text: "SELECT * FROM c WHERE c.address.zip = @p1",
            postgres: "SELECT doc FROM items WHERE doc->'address'->>'zip' = $1",
            postgres_index: Some("((doc->'address'->>'zip'))"),
            is_number: false,
            parameters: |orders, index| vec![Parameter::Text(orders.zip(index))],
        },
        Case {
            name: "range",
            text: "SELECT * FROM c WHERE c.ts BETWEEN @p1 AND @p2",
            postgres: "SELECT doc FROM items WHERE (doc->>'ts')::bigint BETWEEN $1 AND $2",
            postgres_index: TS,
            is_number: false,
            parameters: |orders, index| {
                let first = orders.ts(index.saturating_sub(RANGE_ORDERS / 2));
                let last = orders.ts((index + RANGE_ORDERS / 2).min(orders.count) - 1);
                vec![Parameter::Number(first), Parameter::Number(last)]
            },
        },
        Case {
            name: "order-by-top",
            text: "SELECT TOP 100 * FROM c WHERE c.ts <= @p1 ORDER BY c.ts DESC",
            postgres: "SELECT doc FROM items WHERE (doc->>'ts')::bigint <= $1 \
                       ORDER BY (doc->>'ts')::bigint DESC LIMIT 100",
            postgres_index: TS,
            is_number: false,
            parameters: |orders, index| vec![Parameter::Number(orders.ts(index))],
        },
        Case {
            name: "count-filter",
            text: "SELECT VALUE COUNT(1) FROM c WHERE c.category = @p1",
            postgres: "SELECT count(*) FROM items WHERE doc->>'category' = $1",
            postgres_index: Some("((doc->>'category'))"),
            is_number: true,
            parameters: |orders, index| vec![Parameter::Text(orders.category(index))],
        },
        Case {
            name: "and-of-two",
            text: "SELECT * FROM c WHERE c.city = @p1 AND c.category = @p2",
            postgres: "SELECT doc FROM items WHERE doc->>'city' = $1 AND doc->>'category' = $2",
            postgres_index: Some("((doc->>'city'), (doc->>'category'))"),
            is_number: false,
            parameters: |orders, index| {
                vec![Parameter::Text(orders.city(index)), Parameter::Text(orders.category(index))]
            },
        },
        Case {
            name: "array-contains-count",
            text: "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, @p1)",
            postgres: "SELECT count(*) FROM items WHERE doc->'tags' @> jsonb_build_array($1::text)",
            postgres_index: TAGS,
            is_number: true,
            parameters: |orders, index| vec![Parameter::Text(orders.tags(index)[0].clone())],
        },
        Case {
            name: "array-contains-page",
            text: "SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, @p1) OFFSET 100 LIMIT 50",
            postgres: "SELECT doc FROM items WHERE doc->'tags' @> jsonb_build_array($1::text) OFFSET 100 LIMIT 50",
            postgres_index: TAGS,
            is_number: false,
            parameters: |orders, index| vec![Parameter::Text(orders.tags(index)[0].clone())],
        },
        // Over everything, whatever is drawn.
        Case {
            name: "group-by",
            text: "SELECT c.category, COUNT(1) AS n, AVG(c.price) AS price FROM c GROUP BY c.category",
            postgres: "SELECT doc->>'category', count(*), avg((doc->>'price')::float8) FROM items GROUP BY 1",
            postgres_index: None,
            is_number: false,
            parameters: |_, _| Vec::new(),
        },
        Case {
            name: "scan-function",
            text: "SELECT * FROM c WHERE CONTAINS(LOWER(c.name), @p1)",
            postgres: "SELECT doc FROM items WHERE strpos(lower(doc->>'name'), $1) > 0",
            postgres_index: None,
            is_number: false,
            parameters: |_, index| vec![Parameter::Text(RARE_PARTS[index % RARE_PARTS.len()].to_owned())],
        },
    ]
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn names_are_unique_and_few_orders_are_enough() {
        let cases = cases();
        let names: std::collections::BTreeSet<_> = cases.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases.len());
        for count in [1, 2, 499, 1_000_000] {
            for case in &cases {
                assert_eq!(case.is_number, case.text.contains("VALUE COUNT"), "{}", case.name);
                for index in [0, count - 1] {
                    let parameters = case.parameters(Orders { count }, index);
                    assert_eq!(case.text.matches("@p").count(), parameters.len(), "{}", case.name);
                    assert_eq!(case.postgres.matches('$').count(), parameters.len(), "{}", case.name);
                    assert!(!case.postgres_with(&parameters, true).contains('$'), "{}", case.name);
                }
            }
        }
    }

    #[test]
    fn what_is_asked_differs_with_what_is_drawn() {
        let orders = Orders { count: 100_000 };
        for case in cases().iter().filter(|case| case.text.contains("@p")) {
            let asked: Vec<_> = (0..100).map(|index| case.parameters(orders, index * 997)).collect();
            assert!(asked.iter().any(|parameters| *parameters != asked[0]), "{}", case.name);
        }
    }

    #[test]
    fn parameters_in_both_languages() {
        let case = cases().into_iter().find(|case| case.name == "and-of-two").unwrap();
        let parameters = [Parameter::Text("it's".to_owned()), Parameter::Number(7)];
        assert_eq!(
            case.postgres_with(&parameters, true),
            "SELECT doc::text FROM items WHERE doc->>'city' = 'it''s' AND doc->>'category' = 7"
        );
        assert_eq!(
            json::to_string(&body(&case, &parameters)),
            r#"{"query":"SELECT * FROM c WHERE c.city = @p1 AND c.category = @p2","parameters":[{"name":"@p1","value":"it's"},{"name":"@p2","value":7}]}"#
        );
    }
}
