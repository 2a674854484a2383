//! Positions, kept in a container.
//!
//! Each item has the position up to which a feed was worked through, and whose it is. It is written with the condition
//! that nobody wrote it since: whoever takes a position over (by writing their name into it) makes the next writing of
//! the one before fail, and that one stops.

use anyhow::{Result, bail};
use armilla_client::{Changes, Done, Failure, From, Session, WriteOptions};
use armilla_value::json;

use super::stream::Feed;
use crate::limits::ATTEMPTS_MAX;
use crate::model::{self, LEASES_V3};
use crate::rows::{member, string};

/// A position that is ours.
#[derive(Debug)]
pub(super) struct Lease {
    id: String,
    owner: String,
    etag: String,
    position: Option<String>,
}

impl Lease {
    /// Takes a position over.
    pub(super) async fn take_over(
        session: &mut Session,
        feed: Feed,
        arc: usize,
        owner: &str,
    ) -> Result<Lease> {
        let id = id(feed, arc);
        for _ in 0..ATTEMPTS_MAX {
            let Some((etag, _, position)) = read(session, &id).await? else {
                // Workers that nobody prepared anything for begin at the beginning.
                write_new(session, &id, None).await?;
                continue;
            };
            let mut lease = Lease { id: id.clone(), owner: owner.to_owned(), etag, position };
            match lease.write(session).await {
                Ok(()) => return Ok(lease),
                Err(failure) if failure.is(412) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        bail!("the position {id} is taken over all the time")
    }

    /// Returns the position up to which all is done; nothing at the beginning.
    pub(super) fn position(&self) -> Option<&str> {
        self.position.as_deref()
    }

    /// Notes that all is done up to a position.
    pub(super) async fn advance(&mut self, session: &mut Session, position: &str) -> Result<(), Failure> {
        let before = self.position.replace(position.to_owned());
        let outcome = match self.write(session).await {
            Err(failure) if failure.is(412) => self.was_lost(session, failure).await,
            outcome => outcome,
        };
        if outcome.is_err() {
            self.position = before;
        }
        outcome
    }

    /// Finds out why a position is not as it was left: our own writing may have been done though its answer was lost.
    async fn was_lost(&mut self, session: &mut Session, failure: Failure) -> Result<(), Failure> {
        let read = read(session, &self.id).await.map_err(Failure::Malformed)?;
        match read {
            Some((etag, owner, _)) if owner.as_deref() == Some(&self.owner) => {
                self.etag = etag;
                self.write(session).await
            }
            _ => Err(failure),
        }
    }

    async fn write(&mut self, session: &mut Session) -> Result<(), Failure> {
        let body = body(&self.id, Some(&self.owner), self.position.as_deref());
        let options = WriteOptions { if_match: Some(&self.etag), ..WriteOptions::default() };
        let key = model::key(&self.id);
        let (database, container) = (LEASES_V3.database, LEASES_V3.container);
        let done = session.replace_item(database, container, &key, &self.id, body, options).await?;
        self.etag = done.etag().unwrap_or_default().to_owned();
        Ok(())
    }
}

/// Writes down where a feed begins, as it is now.
pub(super) async fn begin(session: &mut Session, feed: Feed, arc: usize) -> Result<()> {
    let position = if feed.begins_now() {
        let place = feed.place();
        let now = Changes { from: From::Now, ..Changes::default() };
        let done = session.changes(place.database, place.container, &now).await?;
        done.etag().map(str::to_owned)
    } else {
        None
    };
    write_new(session, &id(feed, arc), position.as_deref()).await
}

async fn write_new(session: &mut Session, id: &str, position: Option<&str>) -> Result<()> {
    let key = model::key(id);
    let created =
        session.create_item(LEASES_V3.database, LEASES_V3.container, &key, body(id, None, position)).await;
    match created {
        Ok(_) => Ok(()),
        // Somebody else was as quick.
        Err(failure) if failure.is(409) => Ok(()),
        Err(failure) => Err(failure.into()),
    }
}

/// Reads a position: the etag, the owner and the position itself.
async fn read(session: &mut Session, id: &str) -> Result<Option<(String, Option<String>, Option<String>)>> {
    let key = model::key(id);
    let done: Done = match session.read_item(LEASES_V3.database, LEASES_V3.container, &key, id).await {
        Ok(done) => done,
        Err(failure) if failure.is(404) => return Ok(None),
        Err(failure) => return Err(failure.into()),
    };
    let text = |name| -> Result<Option<String>> {
        match member(&done.body, name)? {
            None | Some(b"null") => Ok(None),
            Some(value) => Ok(Some(string(value)?.into_owned())),
        }
    };
    Ok(Some((done.etag().unwrap_or_default().to_owned(), text("owner")?, text("position")?)))
}

fn body(id: &str, owner: Option<&str>, position: Option<&str>) -> Vec<u8> {
    let mut text = b"{\"id\":".to_vec();
    json::write_string(id, &mut text);
    for (name, value) in [("owner", owner), ("position", position)] {
        text.extend_from_slice(b",\"");
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"\":");
        match value {
            Some(value) => json::write_string(value, &mut text),
            None => text.extend_from_slice(b"null"),
        }
    }
    text.push(b'}');
    text
}

fn id(feed: Feed, arc: usize) -> String {
    format!("{}-{arc}", feed.name())
}
