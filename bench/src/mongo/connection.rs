//! One connection of MongoDB's protocol that costs its process little: of an answer only what is asked for is read.
//!
//! One command at a time, no compression, no TLS.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail, ensure};
use armilla_env::Env;
use armilla_mongo_wire::bson::RawObject;
use armilla_mongo_wire::message::{HEADER_BYTES, Measure, measure, parse_reply, write_request};
use armilla_value::{Object, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::scram::Login;

/// Room for an answer before the first one has shown how long they are.
const BUFFER_BYTES: usize = 16 * 1024;

/// Bytes before the document of an answer: the header, the flags and the kind of the first section.
const BEFORE_DOCUMENT: usize = HEADER_BYTES + 4 + 1;

/// Who logs in, and with what.
#[derive(Debug, Clone, Copy)]
pub(super) struct User {
    pub(super) name: &'static str,
    pub(super) password: &'static str,
}

/// An open connection.
pub(super) struct MongoConnection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl MongoConnection {
    /// Connects and, where there is a user, logs in.
    pub(super) async fn open(env: &Env, address: SocketAddr, user: Option<User>) -> Result<MongoConnection> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let mut connection = MongoConnection { stream, buffer: vec![0; BUFFER_BYTES] };
        if let Some(user) = user {
            connection.log_in(env, user).await.context("cannot log in")?;
        }
        Ok(connection)
    }

    async fn log_in(&mut self, env: &Env, user: User) -> Result<()> {
        let mut random = [0; 16];
        env.entropy.fill(&mut random);
        let nonce = random.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        let login = Login::new(user.name, &nonce);
        let mut options = Object::new();
        options.insert("skipEmptyExchange", true);
        let mut start = command("saslStart", Value::Int32(1), "admin");
        start.insert("mechanism", "SCRAM-SHA-256");
        start.insert("payload", payload(login.first()));
        start.insert("options", Value::Object(options));
        let reply = self.run(&start).await?;
        let Some(Value::Binary { bytes, .. }) = reply.get("payload") else {
            bail!("the server's answer has no payload");
        };
        let mut go_on = command("saslContinue", Value::Int32(1), "admin");
        go_on.insert("conversationId", reply.get("conversationId").cloned());
        go_on.insert("payload", payload(login.last(bytes, user.password)?));
        let reply = self.run(&go_on).await?;
        ensure!(reply.get("done").and_then(Value::as_bool) == Some(true), "the server wants to hear more");
        Ok(())
    }

    /// Runs a command that must succeed, and returns the whole answer.
    pub(super) async fn run(&mut self, command: &Object) -> Result<Object> {
        let message = request(command)?;
        let reply =
            parse_reply(self.exchange(&message).await?).map_err(|error| anyhow::anyhow!("{error}"))?;
        let failed = !reply.is_ok() || reply.document.get("writeErrors").is_some();
        if failed {
            let name = command.iter().next().map_or("", |(name, _)| name);
            bail!("{name} was answered {}", armilla_value::json::to_string(&Value::Object(reply.document)));
        }
        Ok(reply.document)
    }

    /// Sends a message and returns the one that answers it.
    pub(super) async fn exchange(&mut self, message: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(message).await.context("cannot send")?;
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[filled..]).await.context("cannot receive")?;
            ensure!(read > 0, "the server closed the connection");
            filled += read;
            match measure(&self.buffer[..filled]) {
                Measure::More => {}
                Measure::Bytes(bytes) if bytes <= filled => return Ok(&self.buffer[..bytes]),
                Measure::Bytes(bytes) if bytes > self.buffer.len() => self.buffer.resize(bytes, 0),
                Measure::Bytes(_) => {}
                Measure::Malformed => bail!("the answer is no message"),
            }
        }
    }
}

/// Begins a command.
pub(super) fn command(name: &str, value: impl Into<Value>, database: &str) -> Object {
    let mut command = Object::new();
    command.insert(name, value);
    command.insert("$db", database);
    command
}

/// Writes a command as a message.
pub(super) fn request(command: &Object) -> Result<Vec<u8>> {
    let mut message = Vec::with_capacity(1_024);
    write_request(1, command, false, &mut message).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(message)
}

fn payload(bytes: Vec<u8>) -> Value {
    Value::Binary { subtype: 0, bytes }
}

/// Looks at an answer: it must be good; returns its document.
pub(super) fn good_document(message: &[u8]) -> Result<RawObject<'_>> {
    let bytes = message.get(BEFORE_DOCUMENT..).context("the answer is too short")?;
    let document = RawObject::new(bytes).map_err(|error| anyhow::anyhow!("{error}"))?;
    if number(document, "ok")? != Some(1) || member(document, "writeErrors")?.is_some() {
        let whole = document.decode().map_err(|error| anyhow::anyhow!("{error}"))?;
        bail!("the server answered {}", armilla_value::json::to_string(&Value::Object(whole)));
    }
    Ok(document)
}

/// Returns a number of an answer.
pub(super) fn number(document: RawObject<'_>, name: &str) -> Result<Option<i64>> {
    Ok(member(document, name)?.and_then(|element| element.as_i64()))
}

/// Counts the documents of a cursor that must have no more than its first batch.
pub(super) fn batch_documents(document: RawObject<'_>) -> Result<usize> {
    let cursor = member(document, "cursor")?.and_then(|cursor| cursor.as_object());
    let cursor = cursor.context("the answer has no cursor")?;
    ensure!(number(cursor, "id")? == Some(0), "the cursor goes on");
    let batch = member(cursor, "firstBatch")?.and_then(|batch| batch.as_object());
    Ok(batch.context("the cursor has no first batch")?.iter().count())
}

fn member<'a>(
    document: RawObject<'a>,
    name: &str,
) -> Result<Option<armilla_mongo_wire::bson::RawElement<'a>>> {
    document.get(name).map_err(|error| anyhow::anyhow!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Vec<u8> {
        let value = armilla_value::json::parse(text.as_bytes()).unwrap();
        request(value.as_object().unwrap()).unwrap()
    }

    #[test]
    fn answers_are_looked_at() {
        let good = answer(r#"{"cursor":{"firstBatch":[{"a":1},{"a":2}],"id":0,"ns":"a.b"},"n":3,"ok":1}"#);
        let document = good_document(&good).unwrap();
        assert_eq!(batch_documents(document).unwrap(), 2);
        assert_eq!(number(document, "n").unwrap(), Some(3));
        assert_eq!(number(document, "m").unwrap(), None);
        for bad in [r#"{"ok":0,"code":1}"#, r#"{"ok":1,"writeErrors":[]}"#, "{}"] {
            assert!(good_document(&answer(bad)).is_err(), "{bad}");
        }
        let goes_on = answer(r#"{"cursor":{"firstBatch":[],"id":7},"ok":1}"#);
        assert!(batch_documents(good_document(&goes_on).unwrap()).is_err());
        assert!(good_document(&[0; 10]).is_err());
    }
}
