//! Tests of frames.

use super::*;

#[test]
fn mime_types_have_their_formats() {
    let cases = [
        ("application/json", Some((Format::Untyped, Format::Untyped))),
        ("Application/JSON; charset=utf-8", Some((Format::Untyped, Format::Untyped))),
        ("application/vnd.gremlin-v1.0+json", Some((Format::Untyped, Format::Untyped))),
        ("application/vnd.gremlin-v1.0+json;types=false", Some((Format::Untyped, Format::Untyped))),
        ("application/vnd.gremlin-v2.0+json", Some((Format::Untyped, Format::GraphSon2Typed))),
        ("application/vnd.gremlin-v2.0+json;types=false", Some((Format::Untyped, Format::Untyped))),
        ("application/vnd.gremlin-v3.0+json", Some((Format::GraphSon3, Format::GraphSon3))),
        ("application/vnd.gremlin-v3.0+json; types=false", Some((Format::Untyped, Format::Untyped))),
        ("application/vnd.graphbinary-v1.0", Some((Format::GraphBinary, Format::GraphBinary))),
        ("application/vnd.graphbinary-v1.0-stringd", None),
        ("application/vnd.gremlin-v4.0+json", None),
        ("", None),
    ];
    for (mime, expected) in cases {
        let found = Format::of_mime(mime, GraphSon2::Untyped).zip(Format::of_mime(mime, GraphSon2::Typed));
        assert_eq!(found, expected, "{mime}");
    }
}

#[test]
fn a_binary_message_begins_with_its_mime_type() {
    let message = b"\x10application/json{}";
    let frame = Frame::binary(message, GraphSon2::Untyped).unwrap();
    assert_eq!(frame, Frame { format: Format::Untyped, payload: b"{}" });
}

#[test]
fn the_id_is_found_behind_an_unknown_mime_type() {
    let message =
        b"\x04text{\"requestId\":{\"@type\":\"g:UUID\",\"@value\":\"0000000A-0000-0000-0000-00000000000b\"}}";
    let error = Frame::binary(message, GraphSon2::Untyped).unwrap_err();
    assert_eq!((error.code(), error.id()), (498, Some(0xa_0000_0000_0000_0000_0000_000b)));
    assert!(error.message().contains("'text' is not supported"), "{error}");
}

#[test]
fn a_short_message_is_malformed() {
    for message in [&b""[..], b"\x20abc"] {
        assert_eq!(Frame::binary(message, GraphSon2::Untyped).unwrap_err().code(), 498);
    }
}
