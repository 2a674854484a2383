//! The queries of the workload `query`: each in our language, in PostgreSQL's, and with the index that serves it there.
//!
//! Every query is about an item that is drawn, so that what it finds is there and differs from one time to the next.

use armilla_value::{Object, Value, json};

use crate::items::Items;

/// Items that a range is about.
const RANGE_ITEMS: usize = 100;

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Query {
    /// The items of one logical partition
    ByKey,
    /// Items by a property that is not the key, in all partitions
    AcrossPartitions,
    /// A hundred items by a range of numbers
    Range,
    /// The last twenty items before a number, in order
    OrderByTop,
    /// Number and sum over half a percent of the items
    Aggregate,
    /// Number of items of a category, of which there are twenty
    Count,
}

/// Which indexes PostgreSQL has besides the primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostgresIndexes {
    /// For each query the one on an expression that it needs.
    Chosen,
    /// One of everything that is in the documents, which is as near as PostgreSQL comes to indexing every path: it finds
    /// what is equal, and neither ranges nor orders.
    Everything,
}

/// What follows `CREATE INDEX ON items` for an index of everything.
const EVERYTHING: &str = "USING gin (doc jsonb_ops)";

impl PostgresIndexes {
    /// Returns what follows `CREATE INDEX ON items` for each.
    pub(crate) fn definitions(self) -> Vec<&'static str> {
        let mut definitions = Vec::new();
        match self {
            PostgresIndexes::Chosen => {
                for definition in Query::ALL.into_iter().filter_map(Query::postgres_index) {
                    if !definitions.contains(&definition) {
                        definitions.push(definition);
                    }
                }
            }
            PostgresIndexes::Everything => definitions.push(EVERYTHING),
        }
        definitions
    }
}

/// A value that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parameter {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl Query {
    /// Every query.
    pub(crate) const ALL: [Query; 6] = [
        Query::ByKey,
        Query::AcrossPartitions,
        Query::Range,
        Query::OrderByTop,
        Query::Aggregate,
        Query::Count,
    ];

    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Query::ByKey => "by-key",
            Query::AcrossPartitions => "across-partitions",
            Query::Range => "range",
            Query::OrderByTop => "order-by-top",
            Query::Aggregate => "aggregate",
            Query::Count => "count",
        }
    }

    /// Returns the text.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Query::ByKey => "SELECT * FROM c WHERE c.customer = @customer",
            Query::AcrossPartitions => "SELECT * FROM c WHERE c.city = @city",
            Query::Range => "SELECT * FROM c WHERE c.sequence >= @first AND c.sequence < @end",
            Query::OrderByTop => "SELECT TOP 20 * FROM c WHERE c.sequence < @end ORDER BY c.sequence DESC",
            Query::Aggregate => "SELECT COUNT(1) AS n, SUM(c.price) AS total FROM c WHERE c.city = @city",
            Query::Count => "SELECT VALUE COUNT(1) FROM c WHERE c.category = @category",
        }
    }

    /// Returns the same for PostgreSQL, where parameters are numbered in the order of [`Query::parameters`]: in the form
    /// that its indexes serve, if they do.
    pub(crate) fn postgres(self, indexes: PostgresIndexes) -> &'static str {
        match (indexes, self) {
            (PostgresIndexes::Chosen, _) => self.postgres_by_expression(),
            (PostgresIndexes::Everything, Query::AcrossPartitions) => {
                "SELECT doc::text FROM items WHERE doc @> jsonb_build_object('city', $1::text)"
            }
            (PostgresIndexes::Everything, Query::Aggregate) => {
                "SELECT count(*)::text, sum((doc->>'price')::float8)::text FROM items \
                 WHERE doc @> jsonb_build_object('city', $1::text)"
            }
            (PostgresIndexes::Everything, Query::Count) => {
                "SELECT count(*)::text FROM items WHERE doc @> jsonb_build_object('category', $1::text)"
            }
            // What no index of everything can find, PostgreSQL looks through the table for.
            (PostgresIndexes::Everything, Query::ByKey | Query::Range | Query::OrderByTop) => {
                self.postgres_by_expression()
            }
        }
    }

    fn postgres_by_expression(self) -> &'static str {
        match self {
            Query::ByKey => "SELECT doc::text FROM items WHERE customer = $1",
            Query::AcrossPartitions => "SELECT doc::text FROM items WHERE doc->>'city' = $1",
            Query::Range => {
                "SELECT doc::text FROM items \
                 WHERE (doc->>'sequence')::bigint >= $1 AND (doc->>'sequence')::bigint < $2"
            }
            Query::OrderByTop => {
                "SELECT doc::text FROM items WHERE (doc->>'sequence')::bigint < $1 \
                 ORDER BY (doc->>'sequence')::bigint DESC LIMIT 20"
            }
            Query::Aggregate => {
                "SELECT count(*)::text, sum((doc->>'price')::float8)::text FROM items WHERE doc->>'city' = $1"
            }
            Query::Count => "SELECT count(*)::text FROM items WHERE doc->>'category' = $1",
        }
    }

    /// Returns what follows `CREATE INDEX ON items` there; queries may share one, and the key has its own.
    fn postgres_index(self) -> Option<&'static str> {
        match self {
            Query::ByKey => None,
            Query::AcrossPartitions | Query::Aggregate => Some("((doc->>'city'))"),
            Query::Range | Query::OrderByTop => Some("(((doc->>'sequence')::bigint))"),
            Query::Count => Some("((doc->>'category'))"),
        }
    }

    /// Returns what is asked for around an item.
    pub(crate) fn parameters(self, items: &Items, index: usize) -> Vec<(&'static str, Parameter)> {
        let text = |name, value| vec![(name, Parameter::Text(value))];
        match self {
            Query::ByKey => text("@customer", items.customer(index)),
            Query::AcrossPartitions | Query::Aggregate => text("@city", items.city(index)),
            Query::Range => vec![
                ("@first", Parameter::Number(index as i64)),
                ("@end", Parameter::Number((index + RANGE_ITEMS) as i64)),
            ],
            // Never the beginning, before which there is nothing.
            Query::OrderByTop => vec![("@end", Parameter::Number(index as i64 + 1))],
            Query::Count => text("@category", items.category(index)),
        }
    }

    /// Returns the logical partition that answers alone, if one does.
    pub(crate) fn customer(self, items: &Items, index: usize) -> Option<String> {
        (self == Query::ByKey).then(|| items.customer(index))
    }
}

/// Returns parameters as a query's JSON has them.
pub(crate) fn parameters_json(parameters: &[(&'static str, Parameter)]) -> String {
    let one = |(name, value): &(&'static str, Parameter)| {
        let value = match value {
            Parameter::Text(text) => Value::from(text.as_str()),
            Parameter::Number(number) => Value::from(*number),
        };
        Value::Object(Object::from([("name", Value::from(*name)), ("value", value)]))
    };
    json::to_string(&Value::Array(parameters.iter().map(one).collect()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        let names: BTreeSet<_> = Query::ALL.map(Query::name).into();
        assert_eq!(names.len(), Query::ALL.len());
        for query in Query::ALL {
            assert_eq!(query.to_possible_value().unwrap().get_name(), query.name());
        }
    }

    #[test]
    fn texts_name_all_parameters() {
        let items = Items::new(1_000, 400, 1).unwrap();
        for query in Query::ALL {
            for index in [0, 999] {
                let parameters = query.parameters(&items, index);
                for (position, (name, _)) in parameters.iter().enumerate() {
                    assert!(query.text().contains(name), "{query:?}");
                    for indexes in [PostgresIndexes::Chosen, PostgresIndexes::Everything] {
                        let text = query.postgres(indexes);
                        assert!(text.contains(&format!("${}", position + 1)), "{query:?}: {text}");
                    }
                }
                assert_eq!(query.text().matches('@').count(), parameters.len());
                assert!(json::parse(parameters_json(&parameters).as_bytes()).is_ok());
            }
        }
    }

    #[test]
    fn indexes_of_postgresql() {
        assert_eq!(
            PostgresIndexes::Chosen.definitions(),
            ["((doc->>'city'))", "(((doc->>'sequence')::bigint))", "((doc->>'category'))"]
        );
        assert_eq!(PostgresIndexes::Everything.definitions(), ["USING gin (doc jsonb_ops)"]);
        // Whatever is equal is asked for as what that index holds.
        for query in Query::ALL {
            let is_by_containment = query.postgres(PostgresIndexes::Everything).contains("doc @>");
            let is_equality = matches!(query, Query::AcrossPartitions | Query::Aggregate | Query::Count);
            assert_eq!(is_by_containment, is_equality, "{query:?}");
        }
    }

    #[test]
    fn parameters_as_json() {
        let parameters = [("@a", Parameter::Text("x\"".to_owned())), ("@b", Parameter::Number(-1))];
        assert_eq!(parameters_json(&parameters), r#"[{"name":"@a","value":"x\""},{"name":"@b","value":-1}]"#);
    }
}
