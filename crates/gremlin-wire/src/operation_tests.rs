//! Tests of what requests ask for.

use super::*;
use crate::{Frame, WireErrorKind, read_login};

fn operation(processor: &str, op: &str, arguments: &str) -> Result<Operation, WireError> {
    let text = format!(
        r#"{{"requestId":"00000000-0000-0000-0000-000000000007","op":"{op}","processor":"{processor}","args":{arguments}}}"#
    );
    Request::read(&Frame::text(&text)).unwrap().operation()
}

fn eval(processor: &str, arguments: &str) -> Eval {
    match operation(processor, "eval", arguments) {
        Ok(Operation::Eval(eval)) => eval,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_with_everything() {
    let eval = eval(
        "",
        r#"{"gremlin":"g.V(x)","bindings":{"x":{"@type":"g:Int64","@value":5}},"aliases":{"g":"gmodern"},"language":"gremlin-lang",
            "evaluationTimeout":500,"batchSize":2,"userAgent":"me","materializeProperties":"tokens","accept":"application/json"}"#,
    );
    assert_eq!(&*eval.script, "g.V(x)");
    assert_eq!(format!("{:?}", eval.bindings), r#"[("x", Int64(5))]"#);
    assert_eq!(eval.options.graph(), "gmodern");
    assert_eq!(eval.options.evaluation_timeout, Some(500));
    assert_eq!(eval.options.batch_size, Some(2));
    assert_eq!(eval.options.user_agent.as_deref(), Some("me"));
    assert_eq!(eval.options.materialize, Materialize::Tokens);
    assert_eq!(eval.options.session, None);
}

#[test]
fn a_script_with_nothing_else() {
    let eval =
        eval("", r#"{"gremlin":"g","bindings":null,"language":null,"evaluationTimeout":0,"aliases":{}}"#);
    assert!(eval.bindings.is_empty());
    assert_eq!(eval.options.graph(), "g");
    assert_eq!((eval.options.evaluation_timeout, eval.options.batch_size), (None, None));
    assert_eq!(eval.options.materialize, Materialize::All);
}

#[test]
fn sessions() {
    assert_eq!(eval("session", r#"{"gremlin":"g","session":"s"}"#).options.session.as_deref(), Some("s"));
    let uuid =
        r#"{"gremlin":"g","session":{"@type":"g:UUID","@value":"00000000-0000-0000-0000-000000000001"}}"#;
    assert_eq!(
        eval("session", uuid).options.session.as_deref(),
        Some("00000000-0000-0000-0000-000000000001")
    );
    assert!(matches!(
        operation("session", "close", r#"{"session":"s"}"#),
        Ok(Operation::Close(Close { session: Some(_) }))
    ));
    assert!(matches!(operation("session", "close", "{}"), Ok(Operation::Close(Close { session: None }))));
}

#[test]
fn bytecode_has_options_of_its_own() {
    let strategy = r#"{"@type":"g:OptionsStrategy","@value":{"fqcn":"a.OptionsStrategy","conf":{"evaluationTimeout":{"@type":"g:Int32","@value":9},"batchSize":3}}}"#;
    let bytecode = format!(
        r#""gremlin":{{"@type":"g:Bytecode","@value":{{"source":[["withStrategies",{strategy}]],"step":[["V"]]}}}},"aliases":{{"g":"g"}}"#
    );
    for (arguments, timeout) in
        [(format!("{{{bytecode}}}"), 9), (format!(r#"{{{bytecode},"evaluationTimeout":4}}"#), 4)]
    {
        let Ok(Operation::Bytecode(request)) = operation("traversal", "bytecode", &arguments) else {
            panic!()
        };
        assert_eq!(request.bytecode.steps.len(), 1);
        assert_eq!(request.options.evaluation_timeout, Some(timeout));
        assert_eq!(request.options.batch_size, Some(3));
    }
}

#[test]
fn logins() {
    let token = r#""AC9kYnMvZC9jb2xscy9nAGtleQ==""#;
    for (processor, arguments) in [
        ("traversal", format!(r#"{{"sasl":{token}}}"#)),
        ("", format!(r#"{{"SASL":{token}}}"#)),
        ("session", format!(r#"{{"sasl":{token},"saslMechanism":"PLAIN"}}"#)),
        ("", format!(r#"{{"sasl":{{"@type":"gx:ByteBuffer","@value":{token}}}}}"#)),
    ] {
        let Ok(Operation::Authentication(login)) = operation(processor, "authentication", &arguments) else {
            panic!()
        };
        let login = read_login(&login.sasl).unwrap();
        assert_eq!((&*login.user, &*login.password), ("/dbs/d/colls/g", "key"));
    }
}

#[test]
fn wrong_requests_say_what_is_wrong() {
    let bytecode = r#"{"@type":"g:Bytecode","@value":{"step":[["V"]]}}"#;
    let with_bytecode = format!(r#"{{"gremlin":{bytecode}}}"#);
    let cases = [
        ("", "run", "{}", 498, "The op 'run' is not one of the processor ''"),
        (
            "traversal",
            "eval",
            r#"{"gremlin":"g"}"#,
            498,
            "The op 'eval' is not one of the processor 'traversal'",
        ),
        ("", "close", "{}", 498, "The op 'close'"),
        ("cypher", "eval", "{}", 498, "The processor 'cypher' is not known"),
        ("", "eval", "{}", 499, "requires a [gremlin] argument"),
        ("", "eval", r#"{"gremlin":5}"#, 499, "requires a [gremlin] argument"),
        ("", "eval", &with_bytecode, 499, "send it as 'bytecode'"),
        ("", "eval", r#"{"gremlin":"g","language":"cypher"}"#, 499, "'cypher' is not supported"),
        ("", "eval", r#"{"gremlin":"g","bindings":[1]}"#, 499, "[bindings] argument is not a map"),
        (
            "",
            "eval",
            r#"{"gremlin":"g","bindings":{"@type":"g:Map","@value":[1,2]}}"#,
            499,
            "binding is not a string",
        ),
        ("", "eval", r#"{"gremlin":"g","aliases":{"g":1}}"#, 499, "[aliases]"),
        ("", "eval", r#"{"gremlin":"g","evaluationTimeout":-1}"#, 499, "[evaluationTimeout]"),
        ("", "eval", r#"{"gremlin":"g","evaluationTimeout":"1"}"#, 499, "[evaluationTimeout]"),
        ("", "eval", r#"{"gremlin":"g","batchSize":0}"#, 499, "[batchSize]"),
        ("", "eval", r#"{"gremlin":"g","materializeProperties":"some"}"#, 499, "[materializeProperties]"),
        ("session", "eval", r#"{"gremlin":"g"}"#, 499, "requires a [session] argument"),
        ("traversal", "bytecode", r#"{"gremlin":"g.V()"}"#, 499, "that is bytecode"),
        ("traversal", "bytecode", &with_bytecode, 499, "[aliases]"),
        ("", "authentication", "{}", 499, "requires a [sasl] argument"),
        ("", "authentication", r#"{"sasl":"!"}"#, 499, "not base64"),
        ("", "authentication", r#"{"sasl":"","saslMechanism":"GSSAPI"}"#, 499, "use PLAIN"),
    ];
    for (processor, op, arguments, code, message) in cases {
        let error = operation(processor, op, arguments).unwrap_err();
        assert_eq!((error.code(), error.id()), (code, Some(7)), "{processor} {op} {arguments}");
        assert!(error.message().contains(message), "{error}");
        assert_ne!(error.kind(), WireErrorKind::Unserializable);
        assert_eq!(error.inner_status(), 1004);
    }
}
