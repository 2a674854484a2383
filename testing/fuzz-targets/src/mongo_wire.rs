//! What the MongoDB port reads before it knows who asks: documents, messages, logins.

use std::num::NonZeroU32;

use armilla_mongo_wire::bson::{self, Duplicates, RawObject};
use armilla_mongo_wire::compress::Compressor;
use armilla_mongo_wire::document;
use armilla_mongo_wire::message::{self, HEADER_BYTES, Measure, OP_COMPRESSED, OP_MSG, Request};
use armilla_mongo_wire::scram::{Account, Mechanism, ServerConversation, password_text};
use armilla_value::stored::encode_value;
use armilla_value::{Object, Stored, Value};

/// How many documents inside of a document are looked at in place.
const VIEWS_MAX: usize = 1_000;

/// Reads bytes as a document: what was read is written so that it reads the same, in place it says the same, and what
/// is stored of it comes back.
pub fn mongo_bson(data: &[u8]) {
    let views = look(data);
    let _ = bson::decode_with(data, Duplicates::KeepLast);
    let Ok(object) = bson::decode(data) else { return };
    assert_eq!(views, Some(object.len()), "a document that is read can be looked at");
    let written = encoded(&object);
    assert_eq!(bson::encoded_bytes(&object), written.len());
    let again = bson::decode(&written).unwrap_or_else(|error| panic!("{error:?}: {object:?}"));
    assert_eq!(encoded(&again), written);
    store(&object);
}

/// Looks at a document and those in it without reading it; returns how many members it has if each could be read.
fn look(data: &[u8]) -> Option<usize> {
    let root = RawObject::new(data).ok()?;
    let (mut waiting, mut left) = (vec![root], VIEWS_MAX);
    while let Some(object) = waiting.pop() {
        let Some(fewer) = left.checked_sub(1) else { break };
        left = fewer;
        let _ = (object.first(), object.get("a"), object.get("_id"));
        for element in object.iter().flatten() {
            let _ = (element.as_str(), element.as_bool(), element.as_i64());
            if waiting.len() < left {
                waiting.extend(element.as_object());
            }
        }
    }
    root.iter()
        .map(|element| element.and_then(|element| element.to_value()).ok())
        .collect::<Option<Vec<_>>>()
        .map(|all| all.len())
}

/// Stores a document as the server does, if it may be stored: both ways back agree.
fn store(object: &Object) {
    let Ok(body) = document::document_to_body(object) else { return };
    let Ok(bytes) = encode_value(&body, &[]) else { return };
    let stored = Stored::open(&bytes).unwrap_or_else(|error| panic!("{error}"));
    let tree = encoded(&document::node_to_document(stored.root()));
    let mut direct = Vec::new();
    document::encode_node(stored.root(), &mut direct).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(tree, direct, "{object:?}");
    let mut expected = Object::new();
    // It comes first, wherever it was.
    expected.insert("_id", object.get("_id").cloned().unwrap_or(Value::Null));
    for (name, value) in object.iter() {
        expected.insert(name.to_owned(), value.clone());
    }
    assert_eq!(encoded(&expected), direct, "{object:?}");
}

fn encoded(object: &Object) -> Vec<u8> {
    let mut bytes = Vec::new();
    bson::encode(object, &mut bytes).unwrap_or_else(|error| panic!("{error:?}: {object:?}"));
    bytes
}

/// Reads bytes as a message, with the length that they say and with the one that they have: what is read can be
/// answered, and says the same when it is compressed.
pub fn mongo_message(data: &[u8]) {
    match message::measure(data) {
        Measure::Bytes(length) => assert!(length >= HEADER_BYTES, "{length} bytes"),
        Measure::More | Measure::Malformed => {}
    }
    let _ = message::parse_reply(data);
    let mut data = data.to_vec();
    if data.len() >= HEADER_BYTES {
        let _ = message::parse(&data);
        set_length(&mut data);
    }
    let _ = message::parse_reply(&data);
    match message::parse(&data) {
        Ok(request) => {
            answer(&request);
            if request.compressor.is_none() {
                compress(&data, &request);
            }
        }
        // An error that can be answered says to what.
        Err(refusal) => {
            assert!(refusal.reply_to.is_some() || refusal.close || is_unanswered(&data), "{refusal:?}")
        }
    }
}

/// Says whether the message is one whose sender waits for nothing.
fn is_unanswered(data: &[u8]) -> bool {
    const MORE_TO_COME: u8 = 2;
    let opcode =
        data.get(12..16).and_then(|bytes| bytes.first_chunk()).map(|bytes| i32::from_le_bytes(*bytes));
    match opcode {
        Some(OP_MSG) => data.get(16).is_some_and(|flags| flags & MORE_TO_COME != 0),
        // What is inside is not looked at here.
        Some(OP_COMPRESSED) => true,
        _ => false,
    }
}

fn set_length(message: &mut [u8]) {
    let length = i32::try_from(message.len()).unwrap_or(i32::MAX);
    message[..4].copy_from_slice(&length.to_le_bytes());
}

fn answer(request: &Request) {
    let _ = (request.command_name(), request.wants_reply(), request.exhaust_allowed());
    let mut reply = Object::new();
    reply.insert("ok", Value::Double(1.0));
    let mut bytes = Vec::new();
    message::write_reply(&request.reply_to(), 7, false, &reply, &mut bytes)
        .unwrap_or_else(|error| panic!("{error:?}"));
    let read = message::parse_reply(&bytes).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(read.is_ok(), "{read:?}");
    assert_eq!(read.response_to, request.request_id);
    // Bytes that were only wrapped are answered without a wrapping.
    let compressor = request.compressor.filter(|compressor| *compressor != Compressor::Noop);
    assert_eq!(read.compressor, compressor);
}

fn compress(message: &[u8], request: &Request) {
    let (header, body) = message.split_at(HEADER_BYTES);
    for compressor in (0..4).filter_map(Compressor::from_number) {
        let mut wrapped = header[..12].to_vec();
        wrapped.extend_from_slice(&OP_COMPRESSED.to_le_bytes());
        wrapped.extend_from_slice(&header[12..16]);
        wrapped.extend_from_slice(&i32::try_from(body.len()).unwrap_or(i32::MAX).to_le_bytes());
        wrapped.push(compressor.number());
        compressor.compress(body, &mut wrapped).unwrap_or_else(|error| panic!("{error:?}"));
        set_length(&mut wrapped);
        match message::parse(&wrapped) {
            Ok(read) => {
                assert_eq!(read.compressor, Some(compressor));
                assert_eq!(encoded(&read.command), encoded(&request.command));
                answer(&read);
            }
            // A checksum covers the message as it was sent, with the other header.
            Err(refusal) => assert!(body.first().is_some_and(|flags| flags & 1 != 0), "{refusal:?}"),
        }
    }
}

/// Reads bytes as the two payloads of a login, with a line feed between them; the first byte chooses the mechanism.
pub fn mongo_scram(data: &[u8]) {
    const USER: &str = "user";
    const PASSWORD: &str = "pencil";
    let Some((choice, data)) = data.split_first() else { return };
    let mechanism = if choice % 2 == 0 { Mechanism::Sha256 } else { Mechanism::Sha1 };
    let (first, last) = match data.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &b""[..]),
    };
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = password_text(mechanism, USER, text);
    }
    let account = |user: &str| {
        (user == USER).then(|| {
            Account::derive(mechanism, USER, &[PASSWORD], b"salt and more of it", NonZeroU32::MIN).ok()
        })?
    };
    let Ok((conversation, reply)) =
        ServerConversation::start(mechanism, first, account, "0123456789abcdef", b"secret")
    else {
        return;
    };
    assert!(reply.starts_with(b"r=") && std::str::from_utf8(&reply).is_ok(), "{}", reply.escape_ascii());
    let user = conversation.user().to_owned();
    if let Ok(finished) = conversation.finish(last) {
        // A proof is for the one user that there is.
        assert_eq!((finished.user.as_str(), user.as_str(), finished.credential), (USER, USER, 0));
        assert!(finished.payload.starts_with(b"v="), "{}", finished.payload.escape_ascii());
    }
}
