//! A backup that a server gives, piece by piece. What the pieces are is none of this crate's business.

use anyhow::{Context, Result, anyhow};
use armilla_value::{Object, Value, json};
use bytes::Bytes;
use http::{Method, StatusCode};

use crate::administration::RESOURCE_TYPE;
use crate::client::Client;
use crate::failure::Failure;
use crate::limits::{BACKUP_RETRY_PERIOD, BACKUP_TRIES_MAX};
use crate::question::{Question, segment};
use crate::session::Session;

/// A backup whose moment is fixed, with a connection of its own.
pub struct Backup {
    client: Client,
    session: Session,
    id: String,
    next: u64,
    /// Names the account.
    pub account: String,
    /// The moment, in milliseconds since 1970.
    pub moment_ms: i64,
    /// How many spaces there are.
    pub spaces: u64,
    /// The version of the server.
    pub program: String,
}

impl Client {
    /// Fixes the moment of a backup.
    pub async fn begin_backup(&self) -> Result<Backup> {
        let mut session = self.session();
        let answer = session.ask(&question(Method::POST, "/_armilla/backups".to_owned())).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(anyhow!("the server at {self} gives no backups: is it armilla, and new enough?"));
        }
        let text = self.expect(answer, StatusCode::CREATED)?;
        let object = match json::parse(&text) {
            Ok(Value::Object(object)) => object,
            _ => return Err(anyhow!("the server at {self} answered no JSON object")),
        };
        Backup::of(self.clone(), session, &object)
            .with_context(|| format!("cannot read the answer of the server at {self}"))
    }
}

impl Backup {
    fn of(client: Client, session: Session, object: &Object) -> Option<Backup> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| object.get(name).and_then(Value::as_i64);
        Some(Backup {
            client,
            session,
            id: text("id")?,
            next: 0,
            account: text("account")?,
            moment_ms: number("momentMs")?,
            spaces: u64::try_from(number("spaces")?).ok()?,
            program: text("program")?,
        })
    }

    /// Returns the next piece. A server that is away for a moment is waited for: a piece can be asked for again.
    pub async fn next_frame(&mut self) -> Result<Bytes> {
        let path = format!("/_armilla/backups/{}/frames/{}", segment(&self.id), self.next);
        let question = question(Method::GET, path);
        let mut tries = 1;
        let answer = loop {
            match self.session.ask(&question).await {
                Ok(answer) => break answer,
                Err(Failure::Lost(_)) if tries < BACKUP_TRIES_MAX => tries += 1,
                Err(failure) => return Err(failure.into()),
            }
            self.client.env().clock.sleep(BACKUP_RETRY_PERIOD).await;
        };
        let frame = self.client.expect(answer, StatusCode::OK)?;
        self.next += 1;
        Ok(frame)
    }

    /// Lets the server forget the moment.
    pub async fn end(mut self) -> Result<()> {
        let path = format!("/_armilla/backups/{}", segment(&self.id));
        let answer = self.session.ask(&question(Method::DELETE, path)).await?;
        self.client.expect(answer, StatusCode::NO_CONTENT).map(|_| ())
    }
}

fn question(method: Method, path: String) -> Question {
    let link = path.trim_start_matches('/').to_owned();
    Question::new(method, RESOURCE_TYPE, path, link)
}
