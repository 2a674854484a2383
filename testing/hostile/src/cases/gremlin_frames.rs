//! The Gremlin port before it knows who asks: handshakes, frames and messages that lie, and values that are too much.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::gremlin::{
    FINAL, GremlinConnection, HANDSHAKE, Message, announced, binary, frame_of, opcode, request_id,
    script_request, status_of, text,
};
use armilla_hostile::stage::Stage;
use armilla_value::{Value, json};
use tokio::task::JoinSet;

use super::gremlin_common::{create_graph, others_are_answered};
use super::settling::{MEBIBYTE, settles};

/// How long an answer to garbage may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// The longest message that is taken.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

const GRAPHSON3: &str = "application/vnd.gremlin-v3.0+json";
const GRAPHBINARY: &str = "application/vnd.graphbinary-v1.0";

/// Codes of types in GraphBinary.
mod kind {
    pub(super) const STRING: u8 = 0x03;
    pub(super) const LIST: u8 = 0x09;
    pub(super) const MAP: u8 = 0x0A;
    pub(super) const SET: u8 = 0x0B;
    pub(super) const BYTECODE: u8 = 0x15;
    pub(super) const PREDICATE: u8 = 0x1E;
    pub(super) const BIG_DECIMAL: u8 = 0x22;
    pub(super) const BIG_INTEGER: u8 = 0x23;
    pub(super) const BYTES: u8 = 0x25;
    pub(super) const BULK_SET: u8 = 0x2A;
    pub(super) const TREE: u8 = 0x2B;
}

/// Sends bytes on a connection that speaks WebSocket: the end must come, with or without a word.
async fn closed(stage: &Stage, what: &str, bytes: &[u8]) -> Result<()> {
    let mut connection = GremlinConnection::open(stage.gremlin_address()).await?;
    // The server may close before everything is sent.
    let _ = connection.send(bytes).await;
    let message = connection.next(PATIENCE).await.with_context(|| what.to_owned())?;
    ensure!(message.is_none(), "{what} was answered: {message:?}");
    Ok(())
}

/// Sends a message: an error or the end must come, never a success, never a question who asks, and never silence.
async fn refused(stage: &Stage, what: &str, bytes: &[u8]) -> Result<()> {
    let mut connection = GremlinConnection::open(stage.gremlin_address()).await?;
    let _ = connection.send(bytes).await;
    let message = connection.next(PATIENCE).await.with_context(|| what.to_owned())?;
    let Some(message) = message else { return Ok(()) };
    let code = code_of(&message).with_context(|| format!("{what}: {message:?}"))?;
    ensure!(matches!(code, 498 | 499 | 500 | 597), "{what} got {code}");
    Ok(())
}

/// Returns the status of an answer, in JSON or GraphBinary.
fn code_of(message: &Message) -> Option<i64> {
    if let Ok(Value::Object(answer)) = json::parse(&message.bytes) {
        return Some(status_of(&answer).0);
    }
    let (&[0x81, flag], rest) = message.bytes.split_first_chunk()? else { return None };
    let behind = if flag == 0 { rest.get(16..)? } else { rest };
    Some(i64::from(i32::from_be_bytes(*behind.first_chunk()?)))
}

/// Handshakes that are none get an error or the end.
pub(crate) async fn handshakes_that_lie_are_refused(stage: &Stage) -> Result<()> {
    let many_headers = HANDSHAKE.replace("\r\n\r\n", &format!("\r\n{}\r\n", "a: b\r\n".repeat(100_000)));
    let long_key = HANDSHAKE.replace("MDEy", &"MDEy".repeat(10_000));
    for (what, handshake) in [
        ("another version", HANDSHAKE.replace(": 13", ": 12")),
        ("no version", HANDSHAKE.replace("sec-websocket-version: 13\r\n", "")),
        ("no key", HANDSHAKE.replace("sec-websocket-key", "x")),
        ("a short key", HANDSHAKE.replace("MDEy", "")),
        ("a long key", long_key),
        ("a key that is none", HANDSHAKE.replace("MDEy", "\u{1}\u{7f}%%")),
        ("another verb", HANDSHAKE.replace("GET", "PUT")),
        ("another protocol", HANDSHAKE.replace("upgrade: websocket", "upgrade: h2c")),
        ("no upgrade", HANDSHAKE.replace("upgrade: websocket\r\n", "")),
        ("another host", HANDSHAKE.replace("host: localhost", "host: example.com")),
        ("another page", HANDSHAKE.replace("host", "origin: https://example.com\r\nhost")),
        ("very many headers", many_headers),
        ("no HTTP", "\r\n\r\nwebsocket\r\n\r\n".to_owned()),
    ] {
        let mut connection = GremlinConnection::silent(stage.gremlin_address()).await?;
        let _ = connection.send(handshake.as_bytes()).await;
        let status = connection.handshake_status(PATIENCE).await.with_context(|| what.to_owned())?;
        ensure!(status.is_none_or(|status| (400..600).contains(&status)), "{what} got {status:?}");
    }
    create_graph(stage).await?;
    others_are_answered(stage).await
}

/// Frames that break the rules end their connection; messages that are no requests get an error.
pub(crate) async fn web_socket_frames_that_lie_are_refused(stage: &Stage) -> Result<()> {
    let (whole, bytes) = (FINAL | opcode::TEXT, FINAL | opcode::BINARY);
    let mut frames = vec![
        ("an unmasked frame".to_owned(), frame_of(whole, false, b"{}")),
        ("more of nothing".to_owned(), frame_of(FINAL, true, b"a")),
        (
            "a message in a message".to_owned(),
            [frame_of(opcode::TEXT, true, b"a"), frame_of(whole, true, b"b")].concat(),
        ),
        ("a long ping".to_owned(), frame_of(FINAL | opcode::PING, true, &[b'a'; 126])),
        ("half a ping".to_owned(), frame_of(opcode::PING, true, b"a")),
        ("a long end".to_owned(), frame_of(FINAL | opcode::CLOSE, true, &[b'a'; 1_000])),
        ("half an end".to_owned(), frame_of(opcode::CLOSE, true, b"a")),
        ("an end of one byte".to_owned(), frame_of(FINAL | opcode::CLOSE, true, b"a")),
        ("text that is none".to_owned(), frame_of(whole, true, b"\xff\xfe\xfd")),
        ("half a character".to_owned(), frame_of(whole, true, b"{\"\xc3")),
        (
            "text that is none in parts".to_owned(),
            [frame_of(opcode::TEXT, true, b"\xc3"), frame_of(FINAL, true, b"\xc3")].concat(),
        ),
    ];
    for reserved in [0x40, 0x20, 0x10, 0x70] {
        frames.push((format!("reserved bits {reserved:x}"), frame_of(whole | reserved, true, b"{}")));
    }
    for unknown in (3..8).chain(11..16) {
        frames.push((format!("frames of kind {unknown}"), frame_of(FINAL | unknown, true, b"a")));
    }
    for length in [MESSAGE_BYTES_MAX as u64 + 1, u64::from(u32::MAX), 1 << 63, u64::MAX] {
        frames.push((format!("a frame of {length} bytes"), announced(bytes, true, length)));
    }
    for (what, frame) in &frames {
        closed(stage, what, frame).await?;
    }
    let requests = [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "\"\"",
        "{\"requestId\":7}",
        "{\"requestId\":\"x\",\"op\":\"eval\"}",
        "{\"requestId\":\"00000000-0000-4000-8000-000000000001\"}",
        "{\"requestId\":\"00000000-0000-4000-8000-000000000001\",\"op\":\"dance\",\"args\":{}}",
        "{\"requestId\":\"00000000-0000-4000-8000-000000000001\",\"op\":\"eval\",\"args\":[]}",
        "{\"requestId\":\"00000000-0000-4000-8000-000000000001\",\"op\":\"eval\",\"args\":{\"gremlin\":7}}",
        "{\"requestId\":\"00000000-0000-4000-8000-000000000001\",\"op\":\"eval\",\"processor\":\"x\",\"args\":{}}",
    ];
    for request in requests {
        refused(stage, request, &text(request)).await?;
        refused(stage, request, &binary(GRAPHSON3, request.as_bytes())).await?;
    }
    refused(stage, "an empty message", &frame_of(bytes, true, b"")).await?;
    refused(stage, "half a mime type", &frame_of(bytes, true, b"\xffapplication")).await?;
    refused(stage, "another mime type", &binary("text/plain", b"{}")).await?;
    refused(stage, "half an id", &binary(GRAPHBINARY, &[0x81, 1, 2])).await?;
    let mut random = stage.random(0);
    for round in 0..200 {
        let noise: Vec<u8> = (0..random.below(64)).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        match round % 3 {
            0 => refused(stage, "noise in GraphSON", &binary(GRAPHSON3, &noise)).await?,
            1 => refused(stage, "noise in GraphBinary", &binary(GRAPHBINARY, &noise)).await?,
            _ => {
                let request = [&binary_head()[..], &noise].concat();
                refused(stage, "noise in a request", &binary(GRAPHBINARY, &request)).await?;
            }
        }
    }
    create_graph(stage).await?;
    others_are_answered(stage).await
}

/// Messages in parts without an end are given up at a bound, of their bytes and of their parts; what is announced and
/// does not come takes no room.
pub(crate) async fn parts_without_an_end_are_bounded(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let mut sending = JoinSet::new();
    for place in 0..48 {
        let address = stage.gremlin_address();
        sending.spawn(async move {
            let bytes = [1, 1_000, 100_000][place % 3];
            let mut connection = GremlinConnection::open(address).await?;
            connection.send(&frame_of(opcode::BINARY, true, b"")).await?;
            let part = frame_of(opcode::CONTINUATION, true, &vec![b'a'; bytes]);
            // As many as make ten times what a message may have, if they were taken.
            let times = (10 * MESSAGE_BYTES_MAX / bytes).min(20_000);
            let sent = connection.send_while_taken(&part, times, PATIENCE).await;
            // Small ones may all lie on the way when the server gives up.
            let is_small = times * part.len() < MESSAGE_BYTES_MAX;
            ensure!(
                is_small || sent < times * part.len(),
                "{sent} bytes of a message without an end were taken"
            );
            let message = connection.next(PATIENCE).await?;
            ensure!(message.is_none(), "a message without an end was answered: {message:?}");
            Ok(())
        });
    }
    while let Some(sent) = sending.join_next().await {
        sent??;
    }
    others_are_answered(stage).await?;
    const SLOW: usize = 200;
    let mut slow = Vec::new();
    let head = announced(FINAL | opcode::BINARY, true, MESSAGE_BYTES_MAX as u64);
    for _ in 0..SLOW {
        let mut connection = GremlinConnection::open(stage.gremlin_address()).await?;
        connection.send(&head).await?;
        slow.push(connection);
    }
    for _ in 0..10 {
        for connection in &mut slow {
            let _ = connection.send(&[0; 1_000]).await;
        }
        stage.env().clock.sleep(Duration::from_millis(50)).await;
    }
    let figures = stage.figures();
    let held = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(held < 200 * MEBIBYTE, "{held} bytes are held for {SLOW} messages of which 10 kB came");
    others_are_answered(stage).await?;
    drop(slow);
    settles(stage, 128).await
}

/// Hundreds of connections that begin a handshake or a frame and do not go on are closed in time; those that speak
/// WebSocket and say nothing may stay; neither holds up others.
pub(crate) async fn half_handshakes_are_given_up(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let frame = text(&script_request(1, "g.inject(0)", ""));
    let (mut half, mut silent) = (Vec::new(), Vec::new());
    for place in 0..200 {
        let mut connection = GremlinConnection::silent(stage.gremlin_address()).await?;
        connection.send(&HANDSHAKE.as_bytes()[..[1, 20, 100][place % 3]]).await?;
        half.push(connection);
        let mut connection = GremlinConnection::open(stage.gremlin_address()).await?;
        connection.send(&frame[..[1, 5, 40][place % 3]]).await?;
        half.push(connection);
        silent.push(GremlinConnection::open(stage.gremlin_address()).await?);
    }
    others_are_answered(stage).await?;
    for (place, connection) in half.iter_mut().enumerate() {
        let answered = if place % 2 == 0 {
            connection
                .handshake_status(Duration::from_secs(30))
                .await
                .map(|status| status.is_some_and(|it| it < 400))
        } else {
            connection.next(Duration::from_secs(30)).await.map(|message| message.is_some())
        };
        ensure!(!answered.with_context(|| format!("half of something, {place}"))?, "half was answered");
    }
    for connection in &mut silent {
        connection.send(&frame_of(FINAL | opcode::PING, true, b"there?")).await?;
        let pong = connection.next(PATIENCE).await?;
        ensure!(pong.is_some_and(|pong| pong.bytes == b"there?"), "a silent connection is gone");
    }
    others_are_answered(stage).await
}

/// Pings without number: whoever reads the answers gets them, and whoever does not is held back.
pub(crate) async fn pings_without_number_hold_up_no_others(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let ping = frame_of(FINAL | opcode::PING, true, &[b'p'; 125]);
    let block = ping.repeat(5_000);
    let mut sending = JoinSet::new();
    for _ in 0..12 {
        let (address, block) = (stage.gremlin_address(), block.clone());
        sending.spawn(async move {
            let mut connection = GremlinConnection::open(address).await?;
            // Nothing is read: it must not be taken without an end.
            let sent = connection.send_while_taken(&block, 200, Duration::from_secs(2)).await;
            anyhow::Ok((connection, sent < 200 * block.len()))
        });
    }
    let mut reading = GremlinConnection::open(stage.gremlin_address()).await?;
    for _ in 0..20 {
        reading.send(&ping.repeat(100)).await?;
        for _ in 0..100 {
            let pong = reading.next(PATIENCE).await?.context("the connection ended")?;
            ensure!(pong.bytes.len() == 125, "{} bytes came back", pong.bytes.len());
        }
    }
    let mut unread = Vec::new();
    while let Some(sent) = sending.join_next().await {
        let (connection, was_held_back) = sent??;
        ensure!(was_held_back, "all of 130 MB of pings were taken, and no answer was read");
        unread.push(connection);
    }
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 256 * MEBIBYTE, "{} MiB for pings", grown / MEBIBYTE);
    others_are_answered(stage).await?;
    drop(unread);
    settles(stage, 128).await
}

/// Returns the beginning of a request of GraphBinary, up to its arguments.
fn binary_head() -> Vec<u8> {
    let mut head = vec![0x81];
    head.extend_from_slice(&1_u128.to_be_bytes());
    for word in ["eval", ""] {
        head.extend_from_slice(&i32::try_from(word.len()).unwrap_or(0).to_be_bytes());
        head.extend_from_slice(word.as_bytes());
    }
    head
}

/// Returns a request of GraphBinary with one argument, whose value is bytes as they are.
fn binary_request(value: &[u8]) -> Vec<u8> {
    let mut request = binary_head();
    request.extend_from_slice(&1_i32.to_be_bytes());
    request.extend_from_slice(&[kind::STRING, 0, 0, 0, 0, 7]);
    request.extend_from_slice(b"gremlin");
    request.extend_from_slice(value);
    binary(GRAPHBINARY, &request)
}

/// Returns values of GraphBinary that say that they have very much in them.
fn huge_counts() -> Vec<(String, Vec<u8>)> {
    let mut values = Vec::new();
    for kind in [
        kind::STRING,
        kind::LIST,
        kind::MAP,
        kind::SET,
        kind::BYTECODE,
        kind::BIG_INTEGER,
        kind::BYTES,
        kind::BULK_SET,
        kind::TREE,
    ] {
        for count in [i32::MAX, 1_000_000, -1, i32::MIN] {
            let value = [&[kind, 0][..], &count.to_be_bytes(), &[0xFE, 1]].concat();
            values.push((format!("kind {kind:x} of {count}"), value));
        }
    }
    for scale in [i32::MAX, i32::MIN, 1_000_000_000] {
        let value = [&[kind::BIG_DECIMAL, 0][..], &scale.to_be_bytes(), &1_i32.to_be_bytes(), &[1]].concat();
        values.push((format!("a decimal of scale {scale}"), value));
    }
    let name = [&2_i32.to_be_bytes()[..], b"eq"].concat();
    let predicate = [&[kind::PREDICATE, 0][..], &name, &i32::MAX.to_be_bytes()].concat();
    values.push(("a predicate of very many".to_owned(), predicate));
    values
}

/// Values that are nested very deep, that say that they are huge, or that are more than their bytes, are refused, and
/// take no more room than what came.
pub(crate) async fn deep_and_huge_values_are_refused(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    for (what, value) in huge_counts() {
        refused(stage, &what, &binary_request(&value)).await?;
    }
    let one = 1_i32.to_be_bytes();
    for levels in [1_000, 100_000, 400_000] {
        let list = [&[kind::LIST, 0][..], &one].concat().repeat(levels);
        refused(stage, &format!("{levels} lists"), &binary_request(&list)).await?;
        // A step without a name, whose argument is a traversal again.
        let bytecode = [&[kind::BYTECODE, 0][..], &one, &[0; 4], &one].concat();
        refused(stage, &format!("{levels} traversals"), &binary_request(&bytecode.repeat(levels))).await?;
    }
    for levels in [1_000, 100_000] {
        for (open, close) in [
            ("[", "]"),
            ("{\"a\":", "}"),
            ("{\"@type\":\"g:List\",\"@value\":[", "]}"),
            ("{\"@type\":\"g:P\",\"@value\":{\"predicate\":\"not\",\"value\":", "}}"),
            ("{\"@type\":\"g:Bytecode\",\"@value\":{\"step\":[[\"map\",", "]]}}"),
        ] {
            let levels = levels.min(MESSAGE_BYTES_MAX / 2 / (open.len() + close.len()));
            let deep = format!(",\"bindings\":{{\"x\":{}0{}}}", open.repeat(levels), close.repeat(levels));
            let request = script_request(1, "g.inject(x)", &deep);
            refused(stage, &format!("{levels} of {open}"), &text(&request)).await?;
            let cut = script_request(1, "g", &format!(",\"bindings\":{{\"x\":{}", open.repeat(levels)));
            refused(stage, &format!("{levels} of {open} and no end"), &binary(GRAPHSON3, cut.as_bytes()))
                .await?;
        }
    }
    much_in_little(stage).await?;
    others_are_answered(stage).await?;
    settles(stage, 256).await
}

/// Messages as long as they may be, of values that are more than their bytes, from many clients at once.
async fn much_in_little(stage: &Stage) -> Result<()> {
    const AT_ONCE: usize = 12;
    let room = MESSAGE_BYTES_MAX - 4_096;
    let nulls = room / 2;
    let count = i32::try_from(nulls)?.to_be_bytes();
    let list = [&[kind::LIST, 0][..], &count, &[0xFE, 1].repeat(nulls)].concat();
    let numbers = vec!["0"; room / 2].join(",");
    let objects = vec!["{}"; room / 3].join(",");
    let id = request_id(1);
    let messages = [
        binary_request(&list),
        text(&script_request(1, "g.inject(x)", &format!(",\"bindings\":{{\"x\":[{numbers}]}}"))),
        text(&script_request(1, "g.inject(x)", &format!(",\"bindings\":{{\"x\":[{objects}]}}"))),
        text(&format!(
            "{{\"requestId\":\"{id}\",\"op\":\"eval\",\"args\":{{\"gremlin\":\"{}\"}}}}",
            "(".repeat(room)
        )),
        text(&script_request(1, "g", &format!(",\"bindings\":{{\"x\":{}}}", "9".repeat(room)))),
    ];
    let mut sending = JoinSet::new();
    for place in 0..AT_ONCE * 2 {
        let (address, message) = (stage.gremlin_address(), messages[place % messages.len()].clone());
        sending.spawn(async move {
            let mut connection = GremlinConnection::open(address).await?;
            let _ = connection.send(&message).await;
            // Well-formed ones are asked who they are; the others are refused.
            connection.next(Duration::from_secs(60)).await
        });
    }
    while let Some(sent) = sending.join_next().await {
        sent??;
    }
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 1_536 * MEBIBYTE, "{} MiB were taken for {} messages", grown / MEBIBYTE, AT_ONCE * 2);
    Ok(())
}

/// Thousands of requests on connections that never log in, and logins without number that are wrong.
pub(crate) async fn requests_without_a_login_are_bounded(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let filler = "x".repeat(50_000);
    let mut connections = Vec::new();
    for _ in 0..8 {
        let mut connection = GremlinConnection::open(stage.gremlin_address()).await?;
        let mut refused = 0;
        for place in 0..100 {
            connection.send_script("g.inject(x)", &format!(",\"bindings\":{{\"x\":\"{filler}\"}}")).await?;
            // The first is asked who it is; some wait, and those for which there is no room are refused.
            if place == 0 || place >= 30 {
                let answer = connection.answer_within(PATIENCE).await?.context("the connection ended")?;
                refused += usize::from(status_of(&answer).0 == 500);
            }
        }
        ensure!(refused == 70, "{refused} of 100 requests were refused");
        connections.push(connection);
    }
    for connection in connections.iter_mut().take(5) {
        for _ in 0..200 {
            let login = format!(
                "{{\"requestId\":\"{}\",\"op\":\"authentication\",\"args\":{{\"sasl\":\"AGEAYg==\"}}}}",
                request_id(1)
            );
            connection.send(&text(&login)).await?;
            // Before that come the refusals that were not read yet.
            let mut code = 500;
            while code == 500 {
                let answer = connection.answer_within(PATIENCE).await?.context("the connection ended")?;
                code = status_of(&answer).0;
            }
            ensure!(code == 401, "a wrong login got {code}");
        }
    }
    // As text they are small; what was read of them is not.
    let numbers = vec!["0"; MESSAGE_BYTES_MAX / 2 - 1_000].join(",");
    let large = text(&script_request(1, "g.inject(x)", &format!(",\"bindings\":{{\"x\":[{numbers}]}}")));
    for _ in 0..10 {
        let mut connection = GremlinConnection::open(stage.gremlin_address()).await?;
        connection.send(&large).await?;
        // It waits for a login, or is refused.
        let _ = connection.next(PATIENCE).await?;
        connections.push(connection);
    }
    // What was freed just now goes back to the system a little later.
    settles(stage, 256).await.context("requests that wait")?;
    others_are_answered(stage).await?;
    drop(connections);
    settles(stage, 128).await
}
