//! The body of a query: its text, its parameters, and where an ordered one begins.
//!
//! Not here: whether the text means anything, which is the engine's to say.

use std::collections::HashSet;

use armilla_value::{Object, Value, json};

use crate::limits::QUERY_TEXT_BYTES_MAX;
use crate::reply::failure::Failure;

/// A query as the client wrote it.
#[derive(Debug, PartialEq)]
pub(crate) struct QueryBody {
    /// The text.
    pub(crate) text: String,
    /// The parameters, their names with the `@`.
    pub(crate) parameters: Vec<(String, Value)>,
    /// Where an ordered query begins: an object, as some clients say it.
    pub(crate) resume_filter: Option<Value>,
}

/// Reads the body of a query.
///
/// Members that are not named here are passed over: clients send hints such as `clientQLCompatibilityLevel`.
pub(crate) fn parse(body: &[u8]) -> Result<QueryBody, Failure> {
    let parsed = json::parse(body)
        .map_err(|error| Failure::bad_request(format!("the query is not valid JSON: {error}")))?;
    let Value::Object(mut query) = parsed else {
        return Err(Failure::bad_request("the query is not a JSON object with a member 'query'"));
    };
    let text = match query.remove("query") {
        Some(Value::String(text)) => text,
        Some(_) => return Err(Failure::bad_request("the member 'query' of the query is no text")),
        None => return Err(Failure::bad_request("the query has no member 'query'")),
    };
    if text.len() > QUERY_TEXT_BYTES_MAX {
        return Err(Failure::bad_request(format!(
            "the text of the query has {} bytes; at most {QUERY_TEXT_BYTES_MAX} are taken",
            text.len()
        )));
    }
    let parameters = match query.remove("parameters") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => parameters(list)?,
        Some(_) => return Err(Failure::bad_request("the member 'parameters' of the query is no array")),
    };
    let resume_filter = match query.remove("resumeFilter") {
        None | Some(Value::Null) => None,
        Some(filter @ Value::Object(_)) => Some(filter),
        Some(_) => return Err(Failure::bad_request("the member 'resumeFilter' of the query is no object")),
    };
    Ok(QueryBody { text, parameters, resume_filter })
}

fn parameters(list: Vec<Value>) -> Result<Vec<(String, Value)>, Failure> {
    let mut parameters = Vec::with_capacity(list.len());
    for (index, parameter) in list.into_iter().enumerate() {
        let invalid = |why: &str| Failure::bad_request(format!("parameter {index} of the query {why}"));
        let Value::Object(mut parameter) = parameter else {
            return Err(invalid("is no object with 'name' and 'value'"));
        };
        let name = match parameter.remove("name") {
            Some(Value::String(name)) => name,
            _ => return Err(invalid("has no text 'name'")),
        };
        if name.len() < 2 || !name.starts_with('@') {
            return Err(invalid(&format!("has the name '{name}'; it must begin with @")));
        }
        let value = value(parameter).ok_or_else(|| invalid(&format!("({name}) has no 'value'")))?;
        parameters.push((name, value));
    }
    let mut names = HashSet::with_capacity(parameters.len());
    match parameters.iter().find(|(name, _)| !names.insert(name.as_str())) {
        Some((name, _)) => {
            Err(Failure::bad_request(format!("the query has more than one parameter with the name '{name}'")))
        }
        None => Ok(parameters),
    }
}

fn value(mut parameter: Object) -> Option<Value> {
    parameter.remove("value")
}

#[cfg(test)]
mod tests {
    use armilla_value::{Value, json};

    use super::{QueryBody, parse};
    use crate::limits::QUERY_TEXT_BYTES_MAX;

    fn value(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn queries_are_read() {
        let text = "SELECT 1".to_owned();
        for (body, parameters, resume_filter) in [
            (r#"{"query":"SELECT 1"}"#, vec![], None),
            (r#"{"query":"SELECT 1","parameters":null,"resumeFilter":null}"#, vec![], None),
            (r#"{"clientQLCompatibilityLevel":1,"parameters":[],"query":"SELECT 1"}"#, vec![], None),
            (
                r#"{"query":"SELECT 1","parameters":[{"name":"@a","value":null},{"value":[{}],"name":"@A"}]}"#,
                vec![("@a", "null"), ("@A", "[{}]")],
                None,
            ),
            (r#"{"query":"SELECT 1","resumeFilter":{"value":[5]}}"#, vec![], Some(r#"{"value":[5]}"#)),
        ] {
            let parameters =
                parameters.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
            let expected =
                QueryBody { text: text.clone(), parameters, resume_filter: resume_filter.map(value) };
            assert_eq!(parse(body.as_bytes()).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn what_is_no_query_is_refused() {
        for (body, word) in [
            ("", "JSON"),
            ("SELECT * FROM c", "JSON"),
            ("[]", "object"),
            ("\"SELECT 1\"", "object"),
            ("{}", "no member 'query'"),
            (r#"{"query":null}"#, "no text"),
            (r#"{"query":["SELECT 1"]}"#, "no text"),
            (r#"{"query":"","parameters":{}}"#, "'parameters'"),
            (r#"{"query":"","parameters":"@a"}"#, "'parameters'"),
            (r#"{"query":"","parameters":[5]}"#, "parameter 0"),
            (r#"{"query":"","parameters":[{"name":"@a","value":1},{"value":1}]}"#, "parameter 1"),
            (r#"{"query":"","parameters":[{"name":5,"value":1}]}"#, "'name'"),
            (r#"{"query":"","parameters":[{"name":"a","value":1}]}"#, "begin with @"),
            (r#"{"query":"","parameters":[{"name":"@","value":1}]}"#, "begin with @"),
            (r#"{"query":"","parameters":[{"name":"","value":1}]}"#, "begin with @"),
            (r#"{"query":"","parameters":[{"name":"@a"}]}"#, "no 'value'"),
            (r#"{"query":"","parameters":[{"name":"@a","value":1},{"name":"@a","value":1}]}"#, "'@a'"),
            (r#"{"query":"","resumeFilter":[1]}"#, "'resumeFilter'"),
        ] {
            let failure = parse(body.as_bytes()).unwrap_err();
            assert_eq!(failure.status.http, 400, "{body}");
            assert!(failure.message.contains(word), "{body}: {}", failure.message);
        }
    }

    #[test]
    fn text_is_bounded() {
        let with = |length| parse(format!(r#"{{"query":"{}"}}"#, "x".repeat(length)).as_bytes());
        assert_eq!(with(QUERY_TEXT_BYTES_MAX).unwrap().text.len(), QUERY_TEXT_BYTES_MAX);
        let failure = with(QUERY_TEXT_BYTES_MAX + 1).unwrap_err();
        assert!(failure.message.contains("524288"), "{}", failure.message);
    }
}
