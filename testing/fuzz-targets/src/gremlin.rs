//! What the Gremlin port reads: scripts, requests in GraphSON and GraphBinary, and traversals out of all of them.
//!
//! Invariant of all: what is read twice is the same twice, and what was read can be written so that it reads the same.

use std::sync::Arc;

use armilla_gremlin_language::{Dialect as Language, parse, parse_bytes, render};
use armilla_gremlin_machine::{Dialect as Machine, Options, compile};
use armilla_gremlin_value::{Bytecode, Value};
use armilla_gremlin_wire::{
    Format, Frame, GraphSon2, Materialize, Operation, Request, Response, Status, read_login, read_value,
    write_value,
};

/// The longest that a value is written, which is many times what a fuzzer sends.
const WRITTEN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reads bytes as a script, in both dialects: what is read is rendered so that it reads the same.
pub fn gremlin_script(data: &[u8]) {
    let open = parse_bytes(data, Language::Open);
    let strict = parse_bytes(data, Language::CosmosStrict);
    if let Ok(text) = std::str::from_utf8(data) {
        agree(&parse(text, &bindings(), Language::Open), &parse(text, &bindings(), Language::Open));
    }
    agree(&open, &parse_bytes(data, Language::Open));
    if strict.is_ok() {
        assert!(open.is_ok(), "the strict dialect takes what the open one refuses: {open:?}");
    }
    let Ok(script) = open else { return };
    for query in &script.queries {
        let text = render(query);
        let again = match parse(&text, &[], Language::Open) {
            Ok(again) => again,
            // Its canonical form may be longer than a script may be.
            Err(_)
                if text.len() > data.len()
                    && text.len() > armilla_gremlin_language::limits::SCRIPT_BYTES_MAX =>
            {
                return;
            }
            Err(error) => panic!("{error:?}: {text}"),
        };
        let [again] = again.queries.as_slice() else { panic!("one traversal became several: {text}") };
        assert_eq!(render(again), text);
    }
}

/// Names that a script may use.
fn bindings() -> Vec<(Arc<str>, Value)> {
    let list = Value::List(Arc::new(vec![Value::Int32(1), Value::String("a".into())]));
    [("x", Value::Int32(7)), ("y", Value::String("text".into())), ("z", list)]
        .map(|(name, value)| (Arc::from(name), value))
        .into()
}

fn agree<T: std::fmt::Debug, E: std::fmt::Debug>(first: &Result<T, E>, second: &Result<T, E>) {
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

/// Reads bytes as a script, and compiles what was read, in both dialects.
pub fn gremlin_plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(script) = parse(text, &bindings(), Language::Open) else { return };
    for query in &script.queries {
        compile_both(query);
    }
}

fn compile_both(query: &Bytecode) {
    for dialect in [Machine::Open, Machine::CosmosStrict] {
        let options = Options::of(dialect);
        let plan = compile(query, &options);
        agree(&plan, &compile(query, &options));
        let read_only = compile(query, &Options { read_only: true, ..options });
        // Who may only read may do nothing that others may not.
        assert!(plan.is_ok() || read_only.is_err(), "{}", render(query));
    }
}

/// Reads bytes as a request in GraphSON: as a text, as each of its versions, and as the body of a script over HTTP.
pub fn gremlin_graphson(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        read_request(&Frame::text(text));
    }
    for format in [Format::Untyped, Format::GraphSon2Typed, Format::GraphSon3] {
        read_request(&Frame { format, payload: data });
    }
    for graphson2 in [GraphSon2::Untyped, GraphSon2::Typed] {
        if let Ok(frame) = Frame::binary(data, graphson2) {
            read_request(&frame);
        }
    }
    let _ = Request::read_script(data, 7).map(|request| request.operation());
    if let Ok(value) = read_value(Format::GraphSon3, data) {
        write(&value);
    }
}

/// Reads bytes as a request in GraphBinary, and as a value.
pub fn gremlin_graphbinary(data: &[u8]) {
    read_request(&Frame { format: Format::GraphBinary, payload: data });
    if let Ok(value) = read_value(Format::GraphBinary, data) {
        write(&value);
        let mut bytes = Vec::new();
        if write_value(Format::GraphBinary, &value, Materialize::All, &mut bytes, WRITTEN_BYTES_MAX).is_ok() {
            let again = read_value(Format::GraphBinary, &bytes)
                .unwrap_or_else(|error| panic!("{error:?}: {value:?}"));
            let mut written = Vec::new();
            write_value(Format::GraphBinary, &again, Materialize::All, &mut written, WRITTEN_BYTES_MAX)
                .unwrap_or_else(|error| panic!("{error:?}: {again:?}"));
            assert_eq!(written, bytes, "{value:?}");
        }
    }
}

fn read_request(frame: &Frame<'_>) {
    let request = match Request::read(frame) {
        Ok(request) => request,
        Err(error) => {
            let _ = (error.id(), error.to_string());
            return;
        }
    };
    answer(frame.format, request.id);
    let operation = request.operation();
    agree(&operation, &request.operation());
    for (_, value) in &request.arguments {
        write(value);
    }
    match operation {
        Ok(Operation::Eval(eval)) => {
            if let Ok(script) = parse(&eval.script, &eval.bindings, Language::Open) {
                script.queries.iter().for_each(compile_both);
            }
        }
        Ok(Operation::Bytecode(request)) => {
            compile_both(&request.bytecode);
            let _ = render(&request.bytecode);
        }
        Ok(Operation::Authentication(login)) => {
            let _ = read_login(&login.sasl);
        }
        Ok(Operation::Close(_)) => {}
        Err(error) => assert_eq!(error.id(), Some(request.id), "{error:?}"),
    }
}

/// Answers a request in its own format.
fn answer(format: Format, id: u128) {
    let status = Status { code: 200, message: "".into(), attributes: Vec::new() };
    let answer = Response { id: Some(id), status, data: Some(Vec::new()) };
    let bytes = answer.write(format).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(!bytes.is_empty());
}

/// Writes a value in every format, within a bound: it may not go there, but what is written is no longer than that.
fn write(value: &Value) {
    for format in [Format::Untyped, Format::GraphSon2Typed, Format::GraphSon3, Format::GraphBinary] {
        for (materialize, bound) in [(Materialize::All, WRITTEN_BYTES_MAX), (Materialize::Tokens, 1_000)] {
            let mut bytes = Vec::new();
            let written = write_value(format, value, materialize, &mut bytes, bound);
            if written.is_ok() {
                assert!(bytes.len() <= bound, "{} bytes", bytes.len());
                if format.is_json() {
                    is_json(&bytes);
                }
            }
        }
    }
}

fn is_json(bytes: &[u8]) {
    let read: Result<serde_json::Value, _> = serde_json::from_slice(bytes);
    // This reader goes less deep, and takes no larger numbers.
    let is_excused = |error: serde_json::Error| {
        let text = error.to_string();
        text.contains("recursion limit") || text.contains("number out of range")
    };
    assert!(read.map_or_else(is_excused, |_| true), "{}", bytes.escape_ascii());
}
