//! The MongoDB port before it knows who asks: frames that lie, documents that lie, little that becomes much.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::mongo::{
    MongoConnection, document, document_of, element, framed, message_of, start_of_login,
};
use armilla_hostile::stage::Stage;
use armilla_mongo_wire::compress::Compressor;
use armilla_mongo_wire::limits::MESSAGE_BYTES_MAX;
use armilla_mongo_wire::message::{HEADER_BYTES, OP_COMPRESSED, OP_MSG, OP_QUERY};
use tokio::task::JoinSet;

use super::mongo_common::others_are_answered;
use super::settling::{MEBIBYTE, settles};

/// How long an answer to garbage may take.
const PATIENCE: Duration = Duration::from_secs(15);

const OBJECT: u8 = 3;
const ARRAY: u8 = 4;
const STRING: u8 = 2;
const NULL: u8 = 10;

/// Sends bytes on a connection of their own: an error or the end must come, never a success and never silence.
async fn refused(stage: &Stage, what: &str, bytes: &[u8]) -> Result<()> {
    let mut connection = MongoConnection::open(stage.mongo_address()).await?;
    // The server may close before everything is sent.
    let _ = connection.send(bytes).await;
    let reply = connection.reply(PATIENCE).await.with_context(|| what.to_owned())?;
    ensure!(reply.as_ref().is_none_or(|reply| !reply.is_ok()), "{what}: {reply:?}");
    Ok(())
}

/// Lengths that lie, kinds of messages that there are not, and documents whose parts do not fit get an error or the end.
pub(crate) async fn frames_that_lie_are_refused(stage: &Stage) -> Result<()> {
    for length in [0, 1, 15, -1, i32::MIN, 48_000_001, i32::MAX] {
        let mut bytes = framed(OP_MSG, &[0; 64]);
        bytes[..4].copy_from_slice(&i32::to_le_bytes(length));
        refused(stage, &format!("length {length}"), &bytes).await?;
    }
    for opcode in [0, 1, 2, 1000, 2001, 2002, 2005, 2006, 2007, 2010, 2011, 2014, -1, i32::MAX] {
        refused(stage, &format!("opcode {opcode}"), &framed(opcode, &[0; 64])).await?;
    }
    let ping = element(1, "ping", &1f64.to_le_bytes());
    let of_admin = element(STRING, "$db", b"\x06\0\0\0admin\0");
    refused(stage, "no $db", &message_of(&document_of(&ping))).await?;
    refused(stage, "no section", &framed(OP_MSG, &[0; 4])).await?;
    refused(stage, "half the flags", &framed(OP_MSG, &[0; 2])).await?;
    let mut flagged = message_of(&document_of(&[ping.clone(), of_admin.clone()].concat()));
    flagged[HEADER_BYTES] = 0b1000;
    refused(stage, "an unknown flag", &flagged).await?;
    for (what, lie) in [
        ("a string beyond the end", element(STRING, "a", b"\xff\xff\xff\x7fa\0")),
        ("a string of less than nothing", element(STRING, "a", b"\xff\xff\xff\xffa\0")),
        ("a string without its end", element(STRING, "a", b"\x01\0\0\0a\0")),
        ("a document of four bytes", element(OBJECT, "a", b"\x04\0\0\0\0")),
        ("a document beyond the end", element(OBJECT, "a", b"\xff\xff\0\0\0")),
        ("an array of less than nothing", element(ARRAY, "a", b"\0\0\0\x80\0")),
        ("bytes beyond the end", element(5, "a", b"\xff\xff\xff\x7f\0")),
        ("code with scope that ends early", element(15, "a", b"\x0a\0\0\0\x01\0\0\0\0\0")),
        ("a type that there is not", element(0x42, "a", b"")),
        ("a name that is no text", element(NULL, "a", b"\x0a\xff\xfe\0")),
    ] {
        let bytes = message_of(&document_of(&[ping.clone(), lie, of_admin.clone()].concat()));
        refused(stage, what, &bytes).await?;
    }
    for (what, section) in [
        ("a sequence beyond the end", &b"\x01\xff\xff\xff\x7fdocuments\0"[..]),
        ("a sequence of less than nothing", b"\x01\xff\xff\xff\xffdocuments\0"),
        ("a sequence without a name", b"\x01\x04\0\0\0"),
        ("a section of another kind", b"\x07\x04\0\0\0"),
    ] {
        let mut body = [&[0; 5], &document_of(&[ping.clone(), of_admin.clone()].concat())[..]].concat();
        body.extend_from_slice(section);
        refused(stage, what, &framed(OP_MSG, &body)).await?;
    }
    refused(stage, "a query without a name", &framed(OP_QUERY, &[1; 40])).await?;
    let mut random = stage.random(0);
    for _ in 0..200 {
        let noise: Vec<u8> =
            (0..random.next_u64() % 64).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        let opcode = [OP_MSG, OP_QUERY, OP_COMPRESSED][usize::try_from(random.next_u64() % 3)?];
        refused(stage, "noise", &framed(opcode, &noise)).await?;
    }
    others_are_answered(stage).await
}

/// Messages as long as they may be, at once and drop by drop, take what came of them and not what was announced, and
/// nothing when they are over.
pub(crate) async fn long_messages_take_what_came(stage: &Stage) -> Result<()> {
    const SLOW: usize = 200;
    const QUICK: usize = 8;
    let header = framed(OP_MSG, &[]);
    let mut announced = header.clone();
    announced[..4].copy_from_slice(&i32::try_from(MESSAGE_BYTES_MAX)?.to_le_bytes());
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        let mut connection = MongoConnection::open(stage.mongo_address()).await?;
        connection.send(&announced).await?;
        slow.push(connection);
    }
    for _ in 0..20 {
        for connection in &mut slow {
            let _ = connection.send(&[0; 1_000]).await;
        }
        stage.env().clock.sleep(Duration::from_millis(100)).await;
    }
    let figures = stage.figures();
    let held = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(held < 200 * MEBIBYTE, "{held} bytes are held for {SLOW} messages of which 20 kB came");
    others_are_answered(stage).await?;
    let whole = std::sync::Arc::new(framed(OP_MSG, &vec![0; MESSAGE_BYTES_MAX - HEADER_BYTES]));
    let mut sending = JoinSet::new();
    for _ in 0..QUICK {
        let (whole, address) = (whole.clone(), stage.mongo_address());
        sending.spawn(async move {
            let mut connection = MongoConnection::open(address).await?;
            let _ = connection.send(&whole).await;
            connection.reply(PATIENCE).await
        });
    }
    while let Some(sent) = sending.join_next().await {
        let reply = sent??;
        ensure!(reply.as_ref().is_none_or(|reply| !reply.is_ok()), "48 MB of nothing: {reply:?}");
    }
    drop(slow);
    others_are_answered(stage).await?;
    settles(stage, 128).await
}

/// Hundreds of connections that begin a message and do not go on are closed in time, and hold up no others meanwhile.
pub(crate) async fn half_messages_are_given_up(stage: &Stage) -> Result<()> {
    let header = framed(OP_MSG, &[0; 100]);
    let mut connections = Vec::new();
    for place in 0..600 {
        let mut connection = MongoConnection::open(stage.mongo_address()).await?;
        connection.send(&header[..[2, 8, 40][place % 3]]).await?;
        connections.push(connection);
    }
    others_are_answered(stage).await?;
    for (place, connection) in connections.iter_mut().enumerate() {
        let reply = connection.reply(Duration::from_secs(30)).await;
        let reply = reply.with_context(|| format!("{} bytes of a message", [2, 8, 40][place % 3]))?;
        ensure!(reply.is_none(), "half a message was answered: {reply:?}");
    }
    others_are_answered(stage).await
}

/// Documents of ten thousand levels, and of one more than is read, are refused whoever sends them; of somewhat fewer,
/// what is stored can be read again.
pub(crate) async fn deep_documents_are_refused(stage: &Stage) -> Result<()> {
    let of_admin = element(STRING, "$db", b"\x06\0\0\0admin\0");
    for levels in [201, 1_000, 10_000] {
        for kind in [OBJECT, ARRAY] {
            let mut nested = document_of(&[]);
            for _ in 0..levels {
                nested = document_of(&element(kind, "0", &nested));
            }
            let command = [element(kind, "ping", &nested), of_admin.clone()].concat();
            refused(stage, &format!("{levels} levels"), &message_of(&document_of(&command))).await?;
        }
    }
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    for levels in [101, 150, 190] {
        let nested = format!("{}1{}", "{\"a\":".repeat(90), "}".repeat(90));
        let deep = format!("{}{nested}{}", "[".repeat(levels - 90), "]".repeat(levels - 90));
        let mut command = document("{\"insert\":\"c\"}");
        let Some(inserted) = nested_document(&deep) else { continue };
        command.insert("documents", inserted);
        command.insert("$db", "d");
        let reply = connection.ask(&command).await?;
        let is_stored = reply.is_ok() && reply.document.get("writeErrors").is_none();
        // What is stored can be read again.
        let found =
            connection.run(&document("{\"find\":\"c\",\"filter\":{\"_id\":1},\"$db\":\"d\"}")).await?;
        let batch = found
            .get("cursor")
            .and_then(|cursor| cursor.get("firstBatch"))
            .and_then(|batch| batch.as_array());
        ensure!(
            batch.is_some_and(|batch| batch.len() == usize::from(is_stored)),
            "{levels} levels: {is_stored}"
        );
        let delete = "{\"delete\":\"c\",\"deletes\":[{\"q\":{},\"limit\":0}],\"$db\":\"d\"}";
        connection.run(&document(delete)).await?;
    }
    others_are_answered(stage).await
}

/// Wraps the value of a text, if the reader of texts goes as deep.
fn nested_document(text: &str) -> Option<armilla_value::Value> {
    let document =
        armilla_value::json::parse_extended(format!("{{\"_id\":1,\"deep\":{text}}}").as_bytes()).ok()?;
    Some(armilla_value::Value::Array(vec![document]))
}

/// Little that becomes much when it is read: by decompression, with sizes that lie, and as values, which take more than
/// their bytes.
pub(crate) async fn little_does_not_become_much(stage: &Stage) -> Result<()> {
    const AT_ONCE: usize = 12;
    let zeros = vec![0; MESSAGE_BYTES_MAX - HEADER_BYTES];
    let mut bombs = Vec::new();
    for number in 0..4 {
        let Some(compressor) = Compressor::from_number(number) else { continue };
        let mut compressed = Vec::new();
        // Without compression it is what the case of long messages sends.
        let source = if number == 0 { &zeros[..100] } else { &zeros[..] };
        compressor.compress(source, &mut compressed).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        for claimed in [0, 1, 100, 1_000_000, i32::try_from(zeros.len())?, i32::MAX, -1] {
            bombs.push((
                format!("{} {claimed}", compressor.name()),
                wrapped(OP_MSG, claimed, number, &compressed),
            ));
        }
        bombs.push((
            format!("{} in itself", compressor.name()),
            wrapped(OP_COMPRESSED, 100, number, &compressed),
        ));
    }
    bombs.push(("another compressor".to_owned(), wrapped(OP_MSG, 100, 77, &[0; 100])));
    bombs.push(("snappy of four gigabytes".to_owned(), wrapped(OP_MSG, 100, 1, b"\xff\xff\xff\xff\x0fabc")));
    for (what, bytes) in &bombs {
        refused(stage, what, bytes).await?;
    }
    let of_many = values_compressed()?;
    let mut sending = JoinSet::new();
    for place in 0..AT_ONCE * 2 {
        let bytes = if place % 2 == 0 { of_many.clone() } else { bombs[place % bombs.len()].1.clone() };
        let address = stage.mongo_address();
        sending.spawn(async move {
            let mut connection = MongoConnection::open(address).await?;
            let _ = connection.send(&bytes).await;
            connection.reply(Duration::from_secs(60)).await
        });
    }
    while let Some(sent) = sending.join_next().await {
        // An array where a number should be may be taken for true.
        let _ = sent??;
    }
    others_are_answered(stage).await?;
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 2_048 * MEBIBYTE, "{} MiB were taken for {AT_ONCE} small messages", grown / MEBIBYTE);
    settles(stage, 256).await
}

/// A message of millions of values, which is some kilobytes when it is compressed.
fn values_compressed() -> Result<Vec<u8>> {
    const VALUES: usize = 3_900_000;
    let array = document_of(&element(NULL, "0", &[]).repeat(VALUES));
    let elements = [element(ARRAY, "ping", &array), element(STRING, "$db", b"\x06\0\0\0admin\0")].concat();
    let body = [&[0; 5], &document_of(&elements)[..]].concat();
    let mut compressed = Vec::new();
    Compressor::Zlib.compress(&body, &mut compressed).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    Ok(wrapped(OP_MSG, i32::try_from(body.len())?, Compressor::Zlib.number(), &compressed))
}

fn wrapped(opcode: i32, claimed: i32, compressor: u8, compressed: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&opcode.to_le_bytes());
    body.extend_from_slice(&claimed.to_le_bytes());
    body.push(compressor);
    body.extend_from_slice(compressed);
    framed(OP_COMPRESSED, &body)
}

/// Thousands of logins that begin and do not end, of users that are there and that are not, by both mechanisms, and
/// false proofs: others log in meanwhile.
pub(crate) async fn unfinished_logins_hold_up_no_others(stage: &Stage) -> Result<()> {
    const CONNECTIONS: usize = 100;
    const LOGINS: usize = 20;
    let mut connections = Vec::new();
    for number in 0..CONNECTIONS {
        let mut connection = MongoConnection::open(stage.mongo_address()).await?;
        for login in 0..LOGINS {
            let mechanism = ["SCRAM-SHA-256", "SCRAM-SHA-1"][login % 2];
            let user = if login % 5 == 0 { "localhost".to_owned() } else { format!("user-{number}-{login}") };
            let reply = connection.ask(&start_of_login(mechanism, &format!("n,,n={user},r=abc"))).await?;
            ensure!(reply.is_ok(), "{user}: {:?}", reply.document);
        }
        connections.push(connection);
    }
    others_are_answered(stage).await?;
    for connection in connections.iter_mut().take(CONNECTIONS / 2) {
        for mechanism in ["PLAIN", "GSSAPI", "x"] {
            let reply = connection.ask(&start_of_login(mechanism, "n,,n=localhost,r=abc")).await?;
            ensure!(!reply.is_ok(), "{mechanism}: {:?}", reply.document);
        }
        let reply = connection.ask(&start_of_login("SCRAM-SHA-256", &"a".repeat(100_000))).await?;
        ensure!(!reply.is_ok(), "a long name: {:?}", reply.document);
        let reply = connection.ask(&document("{\"find\":\"c\",\"$db\":\"d\"}")).await?;
        ensure!(!reply.is_ok(), "without a login: {:?}", reply.document);
    }
    others_are_answered(stage).await?;
    drop(connections);
    settles(stage, 128).await
}
