//! What PostgreSQL says of a query that it ran: `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)`.

use anyhow::{Context, Result};
use armilla_value::{Value, json};

/// What is read from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Explained {
    pub(super) executor_us: f64,
    pub(super) planning_us: f64,
    /// The nodes of the plan from the top, with the index they use.
    pub(super) nodes: Vec<String>,
}

impl Explained {
    /// Reads an explanation.
    pub(super) fn parse(text: &str) -> Result<Explained> {
        let parsed = json::parse(text.as_bytes()).context("the explanation is not JSON")?;
        let first = parsed.as_array().and_then(|list| list.first()).context("the explanation is empty")?;
        let us = |name: &str| {
            let ms = first.get(name).and_then(Value::as_f64);
            ms.map(|ms| ms * 1e3).with_context(|| format!("the explanation has no '{name}'"))
        };
        let mut nodes = Vec::new();
        let mut next = first.get("Plan");
        while let Some(node) = next {
            let text = |name: &str| node.get(name).and_then(Value::as_str);
            let kind = text("Node Type").unwrap_or("?");
            nodes.push(match text("Index Name") {
                Some(index) => format!("{kind} on {index}"),
                None => kind.to_owned(),
            });
            next = node.get("Plans").and_then(Value::as_array).and_then(|plans| plans.first());
        }
        Ok(Explained { executor_us: us("Execution Time")?, planning_us: us("Planning Time")?, nodes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations() {
        let text = r#"[{"Plan":{"Node Type":"Aggregate","Plans":[{"Node Type":"Index Scan","Index Name":"i"}]},
            "Planning Time":0.25,"Execution Time":1.5}]"#;
        let explained = Explained::parse(text).unwrap();
        assert_eq!(explained.executor_us, 1_500.0);
        assert_eq!(explained.planning_us, 250.0);
        assert_eq!(explained.nodes, ["Aggregate", "Index Scan on i"]);
        for text in ["", "[]", "{}", r#"[{"Plan":{},"Planning Time":1}]"#] {
            assert!(Explained::parse(text).is_err(), "{text}");
        }
    }
}
