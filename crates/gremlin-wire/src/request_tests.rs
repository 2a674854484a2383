//! Tests of requests: those of gremlinpython 3.8.2 as it wrote them, the shapes of other drivers, damage.

use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::limits::MAX_RESPONSE_BYTES;
use crate::{Format, GraphSon2, Materialize, Operation, write_value};

/// Requests of gremlinpython 3.8.2: a name, the format (2, 3 or B), and the payload as JSON or the
/// message in hexadecimal.
const PYTHON: &str = include_str!("testdata/python_requests.tsv");

/// What is read from them: name, format, arguments as GraphSON 3. Rewritten with `UPDATE_EXPECT=1`.
const EXPECTED: &str = include_str!("testdata/python_requests_read.tsv");

const ID: u128 = 0x41d2_e28a_20a4_4ab0_b379_d810_dede_3786;

fn json(payload: &str) -> Result<Request, WireError> {
    Request::read(&Frame::text(payload))
}

fn binary(payload: &[u8]) -> Result<Request, WireError> {
    Request::read(&Frame { format: Format::GraphBinary, payload })
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn shown(request: &Request) -> String {
    let mut text = format!("{}/{}", request.processor, request.op);
    for (name, value) in &request.arguments {
        let mut out = Vec::new();
        write_value(Format::GraphSon3, value, Materialize::All, &mut out, MAX_RESPONSE_BYTES).unwrap();
        let _ = write!(text, " {name}={}", String::from_utf8(out).unwrap());
    }
    text
}

#[test]
fn requests_of_python_are_read() {
    let mut read = String::new();
    for line in PYTHON.lines() {
        let [name, format, payload] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let request = match format {
            "B" => {
                Frame::binary(&from_hex(payload), GraphSon2::Untyped).and_then(|frame| Request::read(&frame))
            }
            _ => json(payload),
        };
        let text = match request {
            Ok(request) => {
                assert_eq!(request.id, ID);
                request.operation().unwrap();
                shown(&request)
            }
            Err(error) => {
                assert_eq!(error.id(), Some(ID));
                format!("{} {error}", error.code())
            }
        };
        let _ = writeln!(read, "{name}\t{format}\t{text}");
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/testdata/python_requests_read.tsv"), &read)
            .unwrap();
    } else {
        for (read, expected) in read.lines().zip(EXPECTED.lines()) {
            assert_eq!(read, expected);
        }
        assert_eq!(read.lines().count(), EXPECTED.lines().count());
    }
}

#[test]
fn shapes_of_other_drivers_are_read() {
    let expected = "/eval gremlin=\"g.V(x)\" bindings={\"@type\":\"g:Map\",\"@value\":[\"x\",{\"@type\":\"g:Int32\",\"@value\":1}]}";
    let cases = [
        // GraphSON 1: nothing is typed.
        r#"{"requestId":"41D2E28A-20A4-4AB0-B379-D810DEDE3786","op":"eval","processor":"","args":{"gremlin":"g.V(x)","bindings":{"x":1}}}"#,
        // Without a processor.
        r#"{"args":{"gremlin":"g.V(x)","bindings":{"x":{"@type":"g:Int32","@value":1}}},"op":"eval","requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786"}"#,
        // The Rust driver: all arguments as a map.
        r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval","processor":"","args":{"@type":"g:Map","@value":["gremlin","g.V(x)","bindings",{"@type":"g:Map","@value":["x",{"@type":"g:Int32","@value":1}]}]}}"#,
    ];
    for text in cases {
        let request = json(text).unwrap();
        assert_eq!((request.id, shown(&request).as_str()), (ID, expected));
    }
}

#[test]
fn errors_have_the_id_where_it_is_found() {
    let cases = [
        (r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval""#, true, "not JSON"),
        (
            r#"{"requestId":{"@type":"g:UUID","@value":"41d2e28a-20a4-4ab0-b379-d810dede3786"},"op":5}"#,
            true,
            "'op' is not a string",
        ),
        (r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786"}"#, true, "no 'op'"),
        (
            r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval","args":{"bindings":{"_h":{"@type":"gx:Foo","@value":""}}}}"#,
            true,
            "Gremlin Malformed Request: Unknown GraphSON type encountered: gx:Foo. Path: 'args.bindings._h'.",
        ),
        (
            r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval","args":[1]}"#,
            true,
            "An object was expected. Path: 'args'",
        ),
        (r#"{"requestId":"x","op":"eval"}"#, false, "not a UUID"),
        (r#"{"op":"eval"}"#, false, "no 'requestId'"),
        ("[]", false, "no 'requestId'"),
        ("", false, "not JSON"),
    ];
    for (text, has_id, message) in cases {
        let error = json(text).unwrap_err();
        assert_eq!((error.code(), error.id()), (498, has_id.then_some(ID)), "{text}");
        assert!(error.message().contains(message), "{text}: {error}");
    }
}

#[test]
fn messages_quote_little_of_a_request() {
    let name = "n".repeat(5000);
    let nested = format!(r#"{{"{name}":"#).repeat(100);
    let text = format!(
        r#"{{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval","args":{nested}{{"@type":"{name}"}}{}}}"#,
        "}".repeat(100)
    );
    let error = json(&text).unwrap_err();
    assert!(error.id() == Some(ID) && error.message().len() < 600, "{error}");
    let text = format!(r#"{{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"{name}"}}"#);
    let error = json(&text).unwrap().operation().unwrap_err();
    assert!(error.message().len() < 300, "{error}");
}

#[test]
fn damaged_graphbinary_has_its_id() {
    let whole = PYTHON.lines().find_map(|line| line.strip_prefix("eval\tB\t")).unwrap();
    let whole = from_hex(whole).split_off(1 + Format::GraphBinary.mime().len());
    for length in 0..whole.len() {
        let error = binary(&whole[..length]).unwrap_err();
        assert_eq!((error.code(), error.id()), (498, (length >= 17).then_some(ID)), "{length}");
    }
    assert!(binary(&[&whole[..], &[0]].concat()).unwrap_err().message().contains("behind its request"));
    assert!(binary(&[&[0x84], &whole[1..]].concat()).unwrap_err().message().contains("0x84"));
}

#[test]
fn scripts_of_http_are_read() {
    let request =
        Request::read_script(br#"{"gremlin":"g.V()","bindings":{"x":1},"language":"gremlin-lang"}"#, 7)
            .unwrap();
    assert_eq!(request.id, 7);
    let Operation::Eval(eval) = request.operation().unwrap() else { panic!() };
    assert_eq!((&*eval.script, eval.bindings.len()), ("g.V()", 1));
    let request =
        Request::read_script(br#"{"gremlin":"g","requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786"}"#, 7)
            .unwrap();
    assert_eq!(request.id, ID);
    assert_eq!(Request::read_script(b"{", 7).unwrap_err().code(), 498);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in [Format::Untyped, Format::GraphBinary] {
            let _ = Request::read(&Frame { format, payload: &bytes });
        }
        let _ = Frame::binary(&bytes, GraphSon2::Untyped);
    }

    #[test]
    fn damaged_requests_are_read_or_refused(
        line in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let lines: Vec<&str> = PYTHON.lines().collect();
        let mut parts = lines[line.index(lines.len())].splitn(3, '\t').skip(1);
        let (format, payload) = (parts.next().unwrap(), parts.next().unwrap());
        let mut payload = if format == "B" { from_hex(payload) } else { payload.as_bytes().to_vec() };
        let at = at.index(payload.len());
        payload[at] = byte;
        let frame = match format {
            "B" => Frame::binary(&payload, GraphSon2::Untyped),
            _ => Ok(Frame { format: Format::GraphSon3, payload: &payload }),
        };
        if let Ok(request) = frame.and_then(|frame| Request::read(&frame)) {
            let _ = request.operation();
        }
    }
}
