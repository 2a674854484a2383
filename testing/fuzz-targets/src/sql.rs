//! Query text: what parses prints as text that says the same, and binding anything ends in a plan or an error.

use armilla_query::gateway::{self, Features, PartitionKeyShape};
use armilla_query::{CompileOptions, CompiledQuery, ComputedProperty};
use armilla_sql::{parse, parse_expression};
use armilla_value::{HashVersion, Value};

/// Reads bytes as a query, and as an expression.
pub fn sql(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(expression) = parse_expression(text) {
        let printed = expression.to_string();
        assert_eq!(parse_expression(&printed).as_ref(), Ok(&expression), "{printed}");
    }
    match parse(text) {
        Err(error) => {
            // It points into the text, between characters.
            assert!(text.get(error.span.start..error.span.end).is_some(), "{text}: {error:?}");
        }
        Ok(query) => {
            let printed = query.to_string();
            assert_eq!(parse(&printed).as_ref(), Ok(&query), "{printed}");
            compile(text);
        }
    }
}

fn compile(text: &str) {
    let computed: Vec<ComputedProperty> =
        ComputedProperty::new("lower", "SELECT VALUE LOWER(c.name) FROM c").into_iter().collect();
    let parameters =
        [("@p".to_owned(), Value::from("a")), ("@list".to_owned(), Value::Array(vec![Value::from(1)]))];
    let options = CompileOptions { parameters: &parameters, computed: &computed, system_properties: true };
    let Ok(compiled) = CompiledQuery::new(text, options) else { return };
    let shape = PartitionKeyShape { paths: vec![vec!["pk".to_owned()]], version: HashVersion::V2 };
    let Some(read) = &compiled.read else { panic!("{text} has no tree") };
    let Ok(plan) = gateway::plan(&read.ast, &compiled.bound, &shape, Features::ALL) else { return };
    // What clients are to send instead is a query, too.
    let rewritten = plan.query_info.rewritten_query;
    if !rewritten.is_empty() {
        let sent = rewritten.replace(gateway::FILTER_MARK, "true");
        assert!(parse(&sent).is_ok(), "{sent}");
    }
}
