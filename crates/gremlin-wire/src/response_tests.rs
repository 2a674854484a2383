//! Tests of responses and of how results are cut into frames.

use super::*;

const ID: u128 = 0x41d2_e28a_20a4_4ab0_b379_d810_dede_3786;

fn status(code: u16) -> Status {
    let attributes = vec![
        ("x-ms-status-code".into(), Value::Int32(200)),
        ("x-ms-request-charge".into(), Value::Double(3.64)),
        ("x-ms-activity-id".into(), Value::String("a".into())),
    ];
    Status { code, message: "".into(), attributes }
}

fn plain(code: u16) -> Status {
    Status { code, message: "m".into(), attributes: Vec::new() }
}

#[test]
fn responses_in_every_format() {
    let response = Response {
        id: Some(ID),
        status: status(200),
        data: Some(vec![Value::Int64(1), Value::String("a".into())]),
    };
    let cases = [
        (
            Format::Untyped,
            r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","status":{"code":200,"message":"","attributes":{"x-ms-status-code":200,"x-ms-request-charge":3.64,"x-ms-activity-id":"a"}},"result":{"data":[1,"a"],"meta":{}}}"#,
        ),
        (
            Format::GraphSon2Typed,
            r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","status":{"code":200,"message":"","attributes":{"x-ms-status-code":{"@type":"g:Int32","@value":200},"x-ms-request-charge":{"@type":"g:Double","@value":3.64},"x-ms-activity-id":"a"}},"result":{"data":[{"@type":"g:Int64","@value":1},"a"],"meta":{}}}"#,
        ),
        (
            Format::GraphSon3,
            r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","status":{"code":200,"message":"","attributes":{"@type":"g:Map","@value":["x-ms-status-code",{"@type":"g:Int32","@value":200},"x-ms-request-charge",{"@type":"g:Double","@value":3.64},"x-ms-activity-id","a"]}},"result":{"data":{"@type":"g:List","@value":[{"@type":"g:Int64","@value":1},"a"]},"meta":{"@type":"g:Map","@value":[]}}}"#,
        ),
    ];
    for (format, expected) in cases {
        assert_eq!(String::from_utf8(response.write(format).unwrap()).unwrap(), expected);
    }
    let response = Response { status: plain(200), ..response };
    let expected = [
        &[0x81, 0][..],
        &ID.to_be_bytes(),
        &[0, 0, 0, 200, 0, 0, 0, 0, 1, b'm', 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 2],
        &[2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1, b'a'],
    ];
    assert_eq!(response.write(Format::GraphBinary).unwrap(), expected.concat());
}

#[test]
fn errors_have_no_data_and_maybe_no_id() {
    let response = Response { id: None, status: plain(498), data: None };
    let expected = r#"{"requestId":null,"status":{"code":498,"message":"m","attributes":{}},"result":{"data":null,"meta":{}}}"#;
    assert_eq!(response.write(Format::Untyped).unwrap(), expected.as_bytes());
    assert_eq!(
        response.write(Format::GraphBinary).unwrap(),
        [0x81, 1, 0, 0, 1, 0xf2, 0, 0, 0, 0, 1, b'm', 0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 1]
    );
}

fn writer(format: Format, kind: ResultKind, items: usize, bytes: usize) -> ResponseWriter {
    ResponseWriter::new(format, kind, Materialize::All, FrameBounds { items, bytes, item_bytes: 200 })
}

#[test]
fn traversers_in_every_format() {
    let cases = [
        (Format::Untyped, r#"[{"bulk":3,"value":1}]"#),
        (
            Format::GraphSon2Typed,
            r#"[{"@type":"g:Traverser","@value":{"bulk":{"@type":"g:Int64","@value":3},"value":{"@type":"g:Int32","@value":1}}}]"#,
        ),
        (
            Format::GraphSon3,
            r#"{"@type":"g:List","@value":[{"@type":"g:Traverser","@value":{"bulk":{"@type":"g:Int64","@value":3},"value":{"@type":"g:Int32","@value":1}}}]}"#,
        ),
    ];
    for (format, expected) in cases {
        let mut writer = writer(format, ResultKind::Traversers, 10, 1000);
        assert_eq!(writer.push(&Value::Int32(1), 3), Ok(3));
        let frame = String::from_utf8(writer.finish(Some(ID), &plain(200)).unwrap()).unwrap();
        assert!(frame.contains(&format!(r#""data":{expected},"#)), "{frame}");
    }
    let mut writer = writer(Format::GraphBinary, ResultKind::Traversers, 10, 1000);
    assert_eq!(writer.push(&Value::Int32(1), 3), Ok(3));
    let frame = writer.finish(Some(ID), &plain(200)).unwrap();
    assert!(frame.ends_with(&[9, 0, 0, 0, 0, 1, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 1]));
}

#[test]
fn a_frame_is_cut_by_items() {
    let mut writer = writer(Format::Untyped, ResultKind::Values, 3, 1000);
    assert_eq!(writer.push(&Value::Int32(1), 1), Ok(1));
    assert_eq!(writer.push(&Value::Int32(2), 5), Ok(2));
    assert_eq!((writer.count(), writer.bytes()), (3, 5));
    assert_eq!(writer.push(&Value::Int32(2), 3), Ok(0));
    let frame = String::from_utf8(writer.finish(Some(ID), &plain(206)).unwrap()).unwrap();
    assert!(frame.contains(r#""data":[1,2,2],"#), "{frame}");
    assert!(writer.is_empty());
    assert_eq!(writer.push(&Value::Int32(2), 3), Ok(3));
    let frame = String::from_utf8(writer.finish(Some(ID), &plain(200)).unwrap()).unwrap();
    assert!(frame.contains(r#""data":[2,2,2],"#), "{frame}");
    let frame = String::from_utf8(writer.finish(Some(ID), &plain(200)).unwrap()).unwrap();
    assert!(frame.contains(r#""data":[],"#), "{frame}");
}

#[test]
fn a_frame_is_cut_by_bytes() {
    let ten = Value::String("12345678".into());
    for format in [Format::Untyped, Format::GraphSon3, Format::GraphBinary] {
        let mut writer = writer(format, ResultKind::Values, 1000, 32);
        let mut taken = 0;
        let mut frames = 0;
        while taken < 20 {
            let now = writer.push(&ten, 20 - taken).unwrap();
            taken += now;
            assert!(writer.bytes() <= 32 && writer.count() > 0);
            if now == 0 || taken == 20 {
                writer.finish(None, &plain(206)).unwrap();
                frames += 1;
            }
        }
        assert!((7..=12).contains(&frames), "{format:?} {frames}");
    }
    // A single result may be larger than a frame should be, but not larger than a result may be.
    let mut writer = writer(Format::Untyped, ResultKind::Values, 10, 32);
    assert_eq!(writer.push(&Value::String("x".repeat(60).into()), 2), Ok(1));
    assert_eq!(writer.push(&Value::Int32(1), 1), Ok(0));
    writer.finish(None, &plain(206)).unwrap();
    assert_eq!(writer.push(&Value::Int32(1), 1), Ok(1));
    let error = writer.push(&Value::String("x".repeat(300).into()), 1).unwrap_err();
    assert_eq!((error.code(), error.inner_status()), (599, 1001));
    let frame = String::from_utf8(writer.finish(None, &plain(206)).unwrap()).unwrap();
    assert!(frame.contains(r#""data":[1],"#), "{frame}");
}
