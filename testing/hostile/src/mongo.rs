//! A client of the MongoDB API that can log in, ask, and say what no driver says.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use armilla_mongo_wire::message::{self, HEADER_BYTES, OP_MSG, Reply};
use armilla_rest_wire::well_known;
use armilla_value::{Object, Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Name of the account.
const USER: &str = "localhost";

/// The client's part of the nonce: the server's part makes it new.
const NONCE: &str = "hostile-client";

/// Longest reply that is read.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The salted key with its salt and rounds: it is the same for all connections, and takes a while.
static SALTED: Mutex<Option<(String, u32, [u8; digest::SHA256_OUTPUT_LEN])>> = Mutex::new(None);

/// A connection to the MongoDB port.
pub struct MongoConnection {
    stream: TcpStream,
    number: i32,
}

/// Reads a document of canonical Extended JSON; it is written in a case, so it can be read.
pub fn document(text: &str) -> Object {
    match json::parse_extended(text.as_bytes()) {
        Ok(Value::Object(object)) => object,
        other => panic!("no document: {other:?}: {}", &text[..text.len().min(200)]),
    }
}

/// Returns the bytes of a message.
pub fn framed(opcode: i32, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(HEADER_BYTES + body.len()).unwrap_or(i32::MAX);
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    for number in [length, 1, 0, opcode] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(body);
    bytes
}

/// Returns the bytes of a message that holds the bytes of a document.
pub fn message_of(document: &[u8]) -> Vec<u8> {
    framed(OP_MSG, &[&[0; 5], document].concat())
}

/// Returns the bytes of a document that has these elements.
pub fn document_of(elements: &[u8]) -> Vec<u8> {
    let length = i32::try_from(elements.len() + 5).unwrap_or(i32::MAX);
    [&length.to_le_bytes(), elements, &[0]].concat()
}

/// Returns the bytes of an element: type, name, value.
pub fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind], name.as_bytes(), &[0], value].concat()
}

impl MongoConnection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Result<MongoConnection> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(MongoConnection { stream, number: 0 })
    }

    /// Connects, and logs in with the key of the account.
    pub async fn login(address: SocketAddr) -> Result<MongoConnection> {
        let mut connection = MongoConnection::open(address).await?;
        let first = format!("n={USER},r={NONCE}");
        let started = connection.sasl(&start_of_login("SCRAM-SHA-256", &format!("n,,{first}"))).await?;
        let challenge = started.payload;
        let last = format!("c=biws,r={}", part(&challenge, 'r')?);
        let salt = part(&challenge, 's')?.to_owned();
        let rounds: u32 = part(&challenge, 'i')?.parse()?;
        let proof = proof(&salt, rounds, &format!("{first},{challenge},{last}"))?;
        let mut next = document("{\"saslContinue\":1}");
        next.insert("conversationId", started.conversation);
        next.insert("payload", payload(&format!("{last},p={proof}")));
        next.insert("$db", Value::from("admin"));
        connection.sasl(&next).await?;
        Ok(connection)
    }

    async fn sasl(&mut self, command: &Object) -> Result<LoginStep> {
        let reply = self.ask(command).await?;
        ensure!(reply.is_ok(), "the login was refused: {:?}", reply.document);
        let payload = match reply.document.get("payload") {
            Some(Value::Binary { bytes, .. }) => String::from_utf8(bytes.clone())?,
            other => bail!("the login goes on with {other:?}"),
        };
        let conversation = reply.document.get("conversationId").cloned().unwrap_or(Value::Null);
        Ok(LoginStep { conversation, payload })
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.context("cannot send")?;
        Ok(self.stream.flush().await?)
    }

    /// Sends a command and does not wait.
    pub async fn send_command(&mut self, command: &Object) -> Result<()> {
        self.number += 1;
        let mut bytes = Vec::new();
        message::write_request(self.number, command, false, &mut bytes)
            .map_err(|error| anyhow!("a command cannot be sent: {error:?}"))?;
        self.send(&bytes).await
    }

    /// Waits for the next reply; `None` if the server closed the connection instead.
    pub async fn reply(&mut self, limit: Duration) -> Result<Option<Reply>> {
        timeout(limit, self.next_reply())
            .await
            .with_context(|| format!("neither an answer nor an end within {limit:?}"))?
    }

    async fn next_reply(&mut self) -> Result<Option<Reply>> {
        let mut bytes = vec![0; HEADER_BYTES];
        // A server may reset a connection on which it was sent more than it read.
        if self.stream.read_exact(&mut bytes).await.is_err() {
            return Ok(None);
        }
        let header = message::Header::read(&bytes).context("the reply has no header")?;
        ensure!(header.message_bytes <= REPLY_BYTES_MAX, "a reply of {} bytes", header.message_bytes);
        bytes.resize(header.message_bytes, 0);
        self.stream.read_exact(&mut bytes[HEADER_BYTES..]).await.context("half a reply")?;
        message::parse_reply(&bytes).map(Some).map_err(|error| anyhow!("the reply cannot be read: {error:?}"))
    }

    /// Sends a command and waits for its reply.
    pub async fn ask(&mut self, command: &Object) -> Result<Reply> {
        self.ask_within(command, crate::stage::ANSWER_TIMEOUT).await
    }

    /// Sends a command, and gives up after a while.
    pub async fn ask_within(&mut self, command: &Object, limit: Duration) -> Result<Reply> {
        let name = command.iter().next().map(|(name, _)| name.to_owned()).unwrap_or_default();
        let exchange = async {
            self.send_command(command).await?;
            self.next_reply().await
        };
        let reply = timeout(limit, exchange)
            .await
            .with_context(|| format!("no answer to {name} within {limit:?}"))?;
        reply?.with_context(|| format!("the connection was closed instead of an answer to {name}"))
    }

    /// Sends a command that must succeed.
    pub async fn run(&mut self, command: &Object) -> Result<Object> {
        let reply = self.ask(command).await?;
        ensure!(
            reply.is_ok() && reply.document.get("writeErrors").is_none(),
            "refused: {:?}",
            reply.document
        );
        Ok(reply.document)
    }
}

struct LoginStep {
    conversation: Value,
    payload: String,
}

/// Returns the command that begins a login.
pub fn start_of_login(mechanism: &str, first: &str) -> Object {
    let mut command = document("{\"saslStart\":1,\"options\":{\"skipEmptyExchange\":true}}");
    command.insert("mechanism", Value::from(mechanism));
    command.insert("payload", payload(first));
    command.insert("$db", Value::from("admin"));
    command
}

fn payload(text: &str) -> Value {
    Value::Binary { subtype: 0, bytes: text.as_bytes().to_vec() }
}

fn part(message: &str, name: char) -> Result<&str> {
    let found = message.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    found.with_context(|| format!("the server's message has no {name}: {message}"))
}

fn proof(salt: &str, rounds: u32, messages: &str) -> Result<String> {
    let salted = salted(salt, rounds)?;
    let sign = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
    let client = sign(&salted, b"Client Key");
    let signature = sign(digest::digest(&digest::SHA256, client.as_ref()).as_ref(), messages.as_bytes());
    let proof: Vec<u8> =
        client.as_ref().iter().zip(signature.as_ref()).map(|(left, right)| left ^ right).collect();
    Ok(STANDARD.encode(proof))
}

fn salted(salt: &str, rounds: u32) -> Result<[u8; digest::SHA256_OUTPUT_LEN]> {
    let mut known = SALTED.lock().map_err(|_| anyhow!("a login panicked"))?;
    if let Some((its_salt, its_rounds, salted)) = known.as_ref()
        && its_salt == salt
        && *its_rounds == rounds
    {
        return Ok(*salted);
    }
    let mut salted = [0; digest::SHA256_OUTPUT_LEN];
    let count = NonZeroU32::new(rounds).context("no rounds")?;
    let password = well_known::COSMOS_KEY.as_bytes();
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, count, &STANDARD.decode(salt)?, password, &mut salted);
    *known = Some((salt.to_owned(), rounds, salted));
    Ok(salted)
}
