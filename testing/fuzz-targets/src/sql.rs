//! Query text: what parses prints as text that says the same, and binding anything ends in a plan or an error.

use armilla_query::gateway::{self, PartitionKeyShape};
use armilla_query::{CompileOptions, CompiledQuery, ComputedProperty};
use armilla_sql::{error_list_json, parse, parse_expression, utf16_span};
use armilla_value::{HashVersion, Value, json};

/// Reads bytes as a query, and as an expression.
pub fn sql(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(expression) = parse_expression(text) {
        let printed = expression.to_string();
        assert_eq!(parse_expression(&printed).as_ref(), Ok(&expression), "{printed}");
    }
    match parse(text) {
        Err(error) => {
            // What is told about it points into the text, and is JSON.
            let span = utf16_span(text, error.span);
            assert!(span.start <= span.end && span.end <= text.encode_utf16().count());
            let told = error_list_json(text, &[error.into()]);
            assert!(json::parse(told.as_bytes()).is_ok(), "{told}");
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
    let Ok(plan) = gateway::additional_error_info(&compiled.ast, &compiled.bound, &shape) else { return };
    let plan = json::parse(plan.as_bytes()).unwrap_or_else(|error| panic!("{error}: {plan}"));
    // What clients are to send instead is a query, too.
    let info = plan.get("queryInfo").unwrap_or_else(|| panic!("{plan:?} says nothing of the query"));
    if let Some(rewritten) =
        info.get("rewrittenQuery").and_then(Value::as_str).filter(|text| !text.is_empty())
    {
        let sent = rewritten.replace(gateway::FILTER_MARK, "true");
        assert!(parse(&sent).is_ok(), "{sent}");
    }
}
