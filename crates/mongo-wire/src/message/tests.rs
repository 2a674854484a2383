//! Tests of messages: bytes in, requests and refusals out, and replies.

use armilla_value::Value;
use proptest::prelude::*;

use super::*;
use crate::bson;
use crate::error::WireErrorKind;
use crate::limits::{COMMAND_BYTES_MAX, WRITE_BATCH_MAX};
use crate::testing::{self, object};

/// Puts a header in front of a body.
fn message(opcode: i32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&((body.len() + 16) as i32).to_le_bytes());
    out.extend_from_slice(&7i32.to_le_bytes());
    out.extend_from_slice(&0i32.to_le_bytes());
    out.extend_from_slice(&opcode.to_le_bytes());
    out.extend_from_slice(body);
    out
}

fn body_section(text: &str) -> Vec<u8> {
    [vec![0], testing::bson(text)].concat()
}

fn sequence_section(name: &str, documents: &[&str]) -> Vec<u8> {
    let mut inner = [name.as_bytes(), &[0]].concat();
    for document in documents {
        inner.extend_from_slice(&testing::bson(document));
    }
    let mut out = vec![1];
    out.extend_from_slice(&((inner.len() + 4) as i32).to_le_bytes());
    out.extend_from_slice(&inner);
    out
}

fn msg(flags: u32, sections: &[Vec<u8>]) -> Vec<u8> {
    message(OP_MSG, &[&flags.to_le_bytes()[..], &sections.concat()].concat())
}

fn query(collection: &str, text: &str) -> Vec<u8> {
    let mut body = 0i32.to_le_bytes().to_vec();
    body.extend_from_slice(collection.as_bytes());
    body.push(0);
    body.extend_from_slice(&0i32.to_le_bytes());
    body.extend_from_slice(&(-1i32).to_le_bytes());
    body.extend_from_slice(&testing::bson(text));
    message(OP_QUERY, &body)
}

fn with_checksum(mut message: Vec<u8>) -> Vec<u8> {
    let length = (message.len() + 4) as i32;
    message[..4].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32c::crc32c(&message);
    message.extend_from_slice(&checksum.to_le_bytes());
    message
}

fn compressed(compressor: Compressor, message: &[u8]) -> Vec<u8> {
    let mut body = message[12..16].to_vec();
    body.extend_from_slice(&((message.len() - 16) as i32).to_le_bytes());
    body.push(compressor.number());
    compressor.compress(&message[16..], &mut body).unwrap();
    super::tests::message(OP_COMPRESSED, &body)
}

#[track_caller]
fn check_refused(message: &[u8], code: i32, text: &str, answered: bool, close: bool) {
    let refusal = parse(message).unwrap_err();
    assert_eq!((refusal.error.code, refusal.error.message.as_str()), (code, text));
    assert_eq!((refusal.reply_to.is_some(), refusal.close), (answered, close));
    assert_ne!(refusal.error.code_name(), "");
}

#[test]
fn a_stream_is_cut_into_messages() {
    assert_eq!(measure(&[]), Measure::More);
    assert_eq!(measure(&[16, 0, 0]), Measure::More);
    assert_eq!(measure(&[16, 0, 0, 0]), Measure::Bytes(16));
    assert_eq!(measure(&[15, 0, 0, 0]), Measure::Malformed);
    assert_eq!(measure(&[0, 0, 0, 0x80]), Measure::Malformed);
    assert_eq!(measure(&48_000_000i32.to_le_bytes()), Measure::Bytes(48_000_000));
    assert_eq!(measure(&48_000_001i32.to_le_bytes()), Measure::Malformed);
    assert_eq!(measure(b"GET / HTTP/1.1"), Measure::Malformed);
    assert_eq!(measure(&msg(0, &[body_section(r#"{"ping":1,"$db":"a"}"#)])), Measure::Bytes(51));
}

#[test]
fn sequences_become_members_after_the_body() {
    let body = body_section(r#"{"insert":"c","ordered":true,"$db":"d"}"#);
    let documents = sequence_section("documents", &[r#"{"_id":1}"#, r#"{"_id":2,"x":[]}"#]);
    let expected =
        object(r#"{"insert":"c","ordered":true,"$db":"d","documents":[{"_id":1},{"_id":2,"x":[]}]}"#);
    for sections in [[body.clone(), documents.clone()], [documents, body]] {
        let request = parse(&msg(0, &sections)).unwrap();
        assert_eq!(request.command, expected);
        assert_eq!(request.database, "d");
        assert_eq!(request.command_name(), "insert");
        assert_eq!((request.request_id, request.response_to, request.compressor), (7, 0, None));
        assert!(request.wants_reply() && !request.exhaust_allowed());
    }
    let request = parse(&msg(
        0,
        &[
            body_section(r#"{"bulkWrite":1,"$db":"admin"}"#),
            sequence_section("ops", &[]),
            sequence_section("nsInfo", &["{}"]),
        ],
    ))
    .unwrap();
    assert_eq!(request.command, object(r#"{"bulkWrite":1,"$db":"admin","ops":[],"nsInfo":[{}]}"#));
}

#[test]
fn flags_are_told_apart() {
    let section = [body_section(r#"{"ping":1,"$db":"a"}"#)];
    let kind = |flags| parse(&msg(flags, &section)).unwrap().kind;
    let expected =
        |more_to_come, exhaust_allowed| RequestKind::OpMsg { more_to_come, exhaust_allowed, checksum: false };
    assert_eq!(kind(0), expected(false, false));
    assert_eq!(kind(2), expected(true, false));
    assert_eq!(kind(1 << 16), expected(false, true));
    assert_eq!(kind(0xFFFE_0000), expected(false, false));
    for bit in 2..16 {
        let refusal = parse(&msg(1 << bit, &section)).unwrap_err();
        assert_eq!((refusal.error.code, refusal.close), (223, true));
    }
    check_refused(
        &msg(4, &section),
        223,
        "Message contains illegal flags value: Ob00000000000000000000000000000100",
        true,
        true,
    );
    check_refused(
        &msg(6, &section),
        223,
        "Message contains illegal flags value: Ob00000000000000000000000000000110",
        false,
        true,
    );
}

#[test]
fn a_checksum_is_verified_and_answered_with_one() {
    let good = with_checksum(msg(1, &[body_section(r#"{"ping":1,"$db":"a"}"#)]));
    let request = parse(&good).unwrap();
    assert_eq!(
        request.kind,
        RequestKind::OpMsg { more_to_come: false, exhaust_allowed: false, checksum: true }
    );
    let mut out = Vec::new();
    write_reply(&request.reply_to(), 3, false, &object(r#"{"ok":1.0}"#), &mut out).unwrap();
    assert_eq!(out[16..20], [1, 0, 0, 0]);
    assert_eq!(measure(&out), Measure::Bytes(out.len()));
    let (covered, sum) = out.split_last_chunk::<4>().unwrap();
    assert_eq!(crc32c::crc32c(covered), u32::from_le_bytes(*sum));
    for at in [16 + 4 + 6, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        check_refused(&bad, 288, "OP_MSG checksum does not match contents", true, true);
    }
    check_refused(
        &message(OP_MSG, &[1, 0, 0, 0, 0, 0, 0]),
        51251,
        "Invalid message size for an OpMsg containing a checksum",
        true,
        true,
    );
}

#[test]
fn sections_that_do_not_fit_are_refused() {
    let body = body_section(r#"{"insert":"c","$db":"d","documents":[]}"#);
    let documents = sequence_section("documents", &["{}"]);
    let plain = body_section(r#"{"insert":"c","$db":"d"}"#);
    let refused =
        |sections: &[Vec<u8>], code, text: &str| check_refused(&msg(0, sections), code, text, true, false);
    refused(&[], 40587, "OP_MSG messages must have a body");
    refused(std::slice::from_ref(&documents), 40587, "OP_MSG messages must have a body");
    refused(&[plain.clone(), plain.clone()], 40430, "Multiple body sections in message");
    refused(
        &[plain.clone(), documents.clone(), documents.clone()],
        40431,
        "Duplicate document sequence: documents",
    );
    refused(
        &[plain.clone(), sequence_section("a", &[]), sequence_section("b", &[]), sequence_section("c", &[])],
        233,
        "Too many document sequences in OP_MSG",
    );
    refused(&[body, documents], 40433, "Duplicate field between body and document sequence documents");
    refused(&[body_section(r#"{"ping":1}"#)], 40571, "OP_MSG requests require a $db argument");
    refused(&[body_section(r#"{"ping":1,"$db":1}"#)], 14, "$db must be a string");
    check_refused(&msg(0, &[plain.clone(), vec![2]]), 40432, "Unknown section kind 2", true, true);
    let long = "a document sequence is not as long as it says";
    for section in [
        vec![1],
        vec![1, 3, 0, 0, 0],
        vec![1, 9, 0, 0, 0, 0],
        vec![1, 255, 255, 255, 255],
        vec![1, 5, 0, 0, 0, 65],
    ] {
        check_refused(&msg(0, &[plain.clone(), section]), 17, long, true, true);
    }
    check_refused(&msg(2, &[]), 40587, "OP_MSG messages must have a body", false, false);
    check_refused(&msg(0, &[vec![0, 6, 0, 0, 0, 0]]), 22, "BSON ends inside of a value", true, false);
}

#[test]
fn one_name_twice_has_its_own_kind() {
    let section = [vec![0], testing::hex("0b000000 0a 6100 0a 6100 00")].concat();
    assert_eq!(parse(&msg(0, &[section])).unwrap_err().error.kind, WireErrorKind::DuplicateName);
}

#[test]
fn what_is_no_message_closes_the_connection() {
    let good = msg(0, &[body_section(r#"{"ping":1,"$db":"a"}"#)]);
    check_refused(&good[..15], 17, "the message is not as long as its header says", false, true);
    check_refused(&good[..good.len() - 1], 17, "the message is not as long as its header says", false, true);
    check_refused(&message(OP_MSG, &[0, 0, 0]), 17, "the message has no flags", false, true);
    for opcode in [0, 1, 2001, 2002, 2005, 2006, 2007, 2010, 2011, 2014, -1] {
        check_refused(
            &message(opcode, &[0; 40]),
            17,
            &format!("opcode {opcode} is not supported"),
            false,
            true,
        );
    }
}

#[test]
fn documents_and_batches_have_bounds() {
    let document = |bytes: usize| {
        let mut out = Vec::new();
        let command = Object::from([
            ("ping", Value::Binary { subtype: 0, bytes: vec![0; bytes - 5 - 11 - 11] }),
            ("$db", "a".into()),
        ]);
        bson::encode(&command, &mut out).unwrap();
        assert_eq!(out.len(), bytes);
        [vec![0], out].concat()
    };
    assert!(parse(&msg(0, &[document(COMMAND_BYTES_MAX)])).is_ok());
    check_refused(
        &msg(0, &[document(COMMAND_BYTES_MAX + 1)]),
        10334,
        "BSONObj size: 16793601 (0x1004001) is invalid. Size must be between 0 and 16793600(16MB)",
        true,
        false,
    );
    let body = body_section(r#"{"insert":"c","$db":"d"}"#);
    let many = |count| msg(0, &[body.clone(), sequence_section("documents", &vec!["{}"; count])]);
    assert!(parse(&many(WRITE_BATCH_MAX)).is_ok());
    check_refused(
        &many(WRITE_BATCH_MAX + 1),
        16,
        "Write batch sizes must be between 1 and 100000. Got 100001 operations.",
        true,
        false,
    );
}

#[test]
fn legacy_queries_are_handshakes() {
    for (text, name) in [
        (r#"{"ismaster":1,"helloOk":true}"#, "ismaster"),
        (r#"{"isMaster":1}"#, "isMaster"),
        (r#"{"hello":1}"#, "hello"),
        (r#"{"$query":{"ismaster":1},"$readPreference":{"mode":"primary"}}"#, "ismaster"),
        (r#"{"query":{"ismaster":1}}"#, "ismaster"),
    ] {
        let request = parse(&query("admin.$cmd", text)).unwrap();
        assert_eq!(request.command_name(), name);
        assert_eq!((request.kind, request.database.as_str()), (RequestKind::OpQuery, "admin"));
        assert!(request.wants_reply());
    }
    let refused = |collection: &str, text: &str, name: &str| {
        let message = format!(
            "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade. For more details see \
             https://dochub.mongodb.org/core/legacy-opcode-removal"
        );
        check_refused(&query(collection, text), 352, &message, true, false);
    };
    refused("test.$cmd", r#"{"insert":"c"}"#, "insert");
    refused("test.$cmd", "{}", "");
    refused("test.c", r#"{"x":1}"#, "find");
    check_refused(&message(OP_QUERY, &[0; 4]), 17, "the query has no collection", false, true);
    check_refused(&message(OP_QUERY, &[0, 0, 0, 0, 65, 0, 1]), 17, "the query ends too early", false, true);
}

#[test]
fn replies_have_the_form_of_their_requests() {
    let request = parse(&msg(0, &[body_section(r#"{"ping":1,"$db":"a"}"#)])).unwrap();
    let mut out = vec![9];
    write_reply(&request.reply_to(), 3, false, &object(r#"{"ok":1.0}"#), &mut out).unwrap();
    assert_eq!(
        out[1..],
        testing::hex(
            "26000000 03000000 07000000 dd070000 00000000 00 11000000 01 6f6b00 000000000000f03f 00"
        )
    );
    let mut streamed = Vec::new();
    write_reply(&request.reply_to(), 3, true, &object(r#"{"ok":1.0}"#), &mut streamed).unwrap();
    assert_eq!(streamed[16..20], [2, 0, 0, 0]);

    let request = parse(&query("admin.$cmd", r#"{"ismaster":1}"#)).unwrap();
    let mut out = Vec::new();
    write_reply(&request.reply_to(), 4, false, &object(r#"{"ok":1.0}"#), &mut out).unwrap();
    assert_eq!(
        out,
        testing::hex(
            "35000000 04000000 07000000 01000000 08000000 0000000000000000 00000000 01000000
             11000000 01 6f6b00 000000000000f03f 00"
        )
    );
    let failure = object(r#"{"ok":0.0,"errmsg":"no","code":{"$numberInt":"352"}}"#);
    let mut out = Vec::new();
    write_reply(&request.reply_to(), 4, false, &failure, &mut out).unwrap();
    assert_eq!(out[16..20], [10, 0, 0, 0]);
    assert_eq!(bson::decode(&out[36..]).unwrap().get("$err"), Some(&"no".into()));
    assert_eq!(measure(&out), Measure::Bytes(out.len()));
}

#[test]
fn a_reply_that_cannot_be_written_leaves_nothing() {
    let request = parse(&msg(0, &[body_section(r#"{"ping":1,"$db":"a"}"#)])).unwrap();
    let mut out = vec![1, 2];
    assert!(write_reply(&request.reply_to(), 3, false, &object(r#"{"a\u0000":1}"#), &mut out).is_err());
    assert_eq!(out, [1, 2]);
}

#[test]
fn a_reply_has_a_bound() {
    let to = parse(&msg(0, &[body_section(r#"{"ping":1,"$db":"a"}"#)])).unwrap().reply_to();
    for (bytes, fits) in [(MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)] {
        let mut out = Vec::new();
        let start = start_reply(&to, 1, false, &mut out);
        out.resize(bytes, 0);
        assert_eq!(finish_reply(start, &mut out).is_ok(), fits);
        assert_eq!(measure(&out) == Measure::Bytes(bytes), fits);
    }
    let mut out = vec![0; MESSAGE_BYTES_MAX + 1];
    out[..4].copy_from_slice(&(MESSAGE_BYTES_MAX as i32 + 1).to_le_bytes());
    check_refused(&out, 17, "the message is too long", false, true);
}

#[test]
fn a_compressed_request_gets_a_compressed_reply() {
    let plain = msg(0, &[body_section(&format!(r#"{{"ping":1,"x":"{}","$db":"a"}}"#, "y".repeat(500)))]);
    for compressor in [Compressor::Noop, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd] {
        let request = parse(&compressed(compressor, &plain)).unwrap();
        assert_eq!(request.compressor, Some(compressor));
        assert_eq!(request.command, parse(&plain).unwrap().command);
        let reply = object(&format!(r#"{{"z":"{}","ok":1.0}}"#, "z".repeat(500)));
        let mut out = vec![1];
        write_reply(&request.reply_to(), 9, false, &reply, &mut out).unwrap();
        let out = &out[1..];
        assert_eq!(measure(out), Measure::Bytes(out.len()));
        let header = Header::read(out).unwrap();
        assert_eq!((header.request_id, header.response_to), (9, 7));
        if compressor == Compressor::Noop {
            assert_eq!(header.opcode, OP_MSG);
            continue;
        }
        assert_eq!(header.opcode, OP_COMPRESSED);
        assert_eq!(out[16..20], OP_MSG.to_le_bytes());
        assert_eq!(out[24], compressor.number());
        let size = i32::from_le_bytes(*out[20..].first_chunk().unwrap()) as usize;
        let mut body = Vec::new();
        compressor.decompress(&out[25..], size, &mut body).unwrap();
        assert_eq!(bson::decode(&body[5..]).unwrap(), reply);
        assert!(out.len() < 200);
    }
}

#[test]
fn compressed_messages_that_lie_close_the_connection() {
    let plain = msg(0, &[body_section(r#"{"ping":1,"$db":"a"}"#)]);
    for compressor in [Compressor::Noop, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd] {
        let good = compressed(compressor, &plain);
        for step in [-1, 1] {
            let mut bad = good.clone();
            bad[20] = bad[20].wrapping_add_signed(step);
            let refusal = parse(&bad).unwrap_err();
            assert_eq!(refusal.error.kind, WireErrorKind::BadCompression);
        }
    }
    let good = compressed(Compressor::Zstd, &plain);
    let mut bomb = good.clone();
    bomb[20..24].copy_from_slice(&48_000_000i32.to_le_bytes());
    check_refused(&bomb, 17, "the compressed message announces too many bytes", false, true);
    bomb[20..24].copy_from_slice(&(-1i32).to_le_bytes());
    check_refused(&bomb, 17, "the compressed message announces too many bytes", false, true);
    let mut unknown = good.clone();
    unknown[24] = 4;
    check_refused(&unknown, 17, "compressor 4 is not known", false, true);
    let twice = compressed(Compressor::Snappy, &good);
    check_refused(&twice, 17, "a compressed message inside a compressed message", false, true);
    check_refused(&message(OP_COMPRESSED, &[0; 8]), 17, "the compressed message is too short", false, true);
}

#[test]
fn a_client_and_a_server_understand_each_other() {
    let command = object(r#"{"ping":1,"$db":"a"}"#);
    for more_to_come in [false, true] {
        let mut out = vec![1];
        write_request(5, &command, more_to_come, &mut out).unwrap();
        let request = parse(&out[1..]).unwrap();
        assert_eq!((request.request_id, request.wants_reply()), (5, !more_to_come));
        assert_eq!(request.command, command);
    }
    assert!(write_request(5, &object(r#"{"a\u0000":1}"#), false, &mut Vec::new()).is_err());
    let document = object(r#"{"a":1,"ok":0.0,"code":{"$numberInt":"5"}}"#);
    let kinds = [
        RequestKind::OpMsg { more_to_come: false, exhaust_allowed: false, checksum: false },
        RequestKind::OpMsg { more_to_come: false, exhaust_allowed: true, checksum: true },
        RequestKind::OpQuery,
    ];
    for kind in kinds {
        for compressor in [None, Some(Compressor::Zlib)] {
            let to = ReplyTo { request_id: 5, kind, compressor };
            let more_to_come = matches!(kind, RequestKind::OpMsg { exhaust_allowed: true, .. });
            let mut out = Vec::new();
            write_reply(&to, 6, more_to_come, &document, &mut out).unwrap();
            let reply = parse_reply(&out).unwrap();
            assert_eq!((reply.request_id, reply.response_to), (6, 5));
            assert_eq!((reply.more_to_come, reply.compressor), (more_to_come, compressor));
            assert_eq!(
                (reply.document.get("a"), reply.is_ok(), reply.code()),
                (Some(&1.into()), false, Some(5))
            );
        }
    }
}

proptest! {
    #[test]
    fn random_messages_do_no_harm(
        opcode in prop_oneof![Just(OP_MSG), Just(OP_QUERY), Just(OP_COMPRESSED), any::<i32>()],
        body in proptest::collection::vec(any::<u8>(), 0..100),
        raw in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        _ = parse(&message(opcode, &body));
        _ = parse(&raw);
        _ = parse_reply(&message(opcode, &body));
        _ = parse_reply(&raw);
        _ = measure(&raw);
    }

    #[test]
    fn damaged_messages_do_no_harm(at in any::<prop::sample::Index>(), byte: u8, number in 0u8..4) {
        let plain = msg(0, &[
            body_section(r#"{"insert":"c","$db":"d"}"#),
            sequence_section("documents", &[r#"{"_id":1,"a":[1,"x"]}"#, "{}"]),
        ]);
        let packed = compressed(Compressor::from_number(number).unwrap(), &plain);
        for mut bytes in [plain, packed] {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            _ = parse(&bytes);
        }
    }
}
