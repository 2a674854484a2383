//! Shortened copies of posts go to their authors.
//!
//! Pages may come twice, and what a worker sent before it was killed may arrive after its successor wrote. Still an
//! older state never ends up over a newer one:
//!
//! * A copy that is not there is created, never put over another. If a late request creates it in an old state, the
//!   change that made that state old is still to come, since positions move only behind copies that are there.
//! * A copy that is there is replaced like this: read the copy and its etag, then read the post, then replace the copy
//!   on condition that it has that etag. So the state that is written was read after the copy had the state that is
//!   replaced, and that one had been read earlier still: along the versions of a copy the readings of its post only go
//!   forward.

use anyhow::{Result, bail};
use armilla_client::{Failure, Operation, Operations, Session, WriteOptions, results};

use super::change::{Short, short_copy};
use super::{Shared, Tally};
use crate::fan::{Doing, Fan};
use crate::limits::ATTEMPTS_MAX;
use crate::model::{self, POSTS_V2, Place, USERS_V3};

/// Writes the copies of posts.
pub(super) async fn write(
    shared: &Shared,
    session: &mut Session,
    fan: &mut Fan,
    posts: &[Short],
) -> Result<()> {
    let mut there = Vec::new();
    for some in posts.chunks(armilla_client::BULK_OPERATIONS_MAX) {
        let mut operations = Operations::new();
        for post in some {
            let key = model::key(&post.user);
            if !operations.push(Operation::Create(&post.text), Some(&key)) {
                bail!("{} copies do not fit into a request", some.len());
            }
        }
        if operations.len() <= FEW {
            // Most likely they are there: a new like changes a post that was copied long ago.
            there.extend(some.iter().cloned());
            continue;
        }
        let done = session.bulk(USERS_V3.database, USERS_V3.container, None, operations.take()).await?;
        for (post, outcome) in some.iter().zip(results(&done.body)?) {
            match outcome.status {
                201 => Tally::add(&shared.tally.writes, 1),
                // There already, or refused for its rate: one by one.
                409 | 429 => there.push(post.clone()),
                status => bail!(
                    "a copy could not be written: {status} {}",
                    outcome.message.as_deref().unwrap_or("without a reason")
                ),
            }
        }
    }
    let jobs = there.into_iter().map(|post| Job {
        place: &USERS_V3,
        key: model::key(&post.user),
        post,
        trigger: None,
    });
    for written in fan.each(jobs.collect(), bring_up_to_date).await? {
        Tally::add(&shared.tally.writes, usize::from(written.wrote));
        Tally::add(&shared.tally.collisions, written.collisions as usize);
    }
    Ok(())
}

/// So few copies are not tried in bulk first.
const FEW: usize = 4;

/// A copy to bring up to date.
pub(super) struct Job {
    pub(super) place: &'static Place,
    pub(super) key: String,
    pub(super) post: Short,
    /// The trigger that has to run when the copy is created.
    pub(super) trigger: Option<&'static str>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) wrote: bool,
    pub(super) collisions: u32,
}

/// Brings a copy up to date; creates it if it is not there.
pub(super) fn bring_up_to_date<'a>(session: &'a mut Session, job: &'a Job) -> Doing<'a, Outcome> {
    Box::pin(async move {
        let Job { place, key, post, .. } = job;
        let mut outcome = Outcome::default();
        for _ in 0..ATTEMPTS_MAX {
            let copy = match session.read_item(place.database, place.container, key, &post.id).await {
                Ok(copy) => copy,
                Err(failure) if failure.is(404) => match create(session, job).await {
                    Ok(()) => {
                        outcome.wrote = true;
                        return Ok(outcome);
                    }
                    Err(failure) if failure.is(409) => {
                        outcome.collisions += 1;
                        continue;
                    }
                    Err(failure) => return Err(failure.into()),
                },
                Err(failure) => return Err(failure.into()),
            };
            if short_copy(&copy.body)?.text == post.text {
                // As the post was when the page was read; if it has changed since, that change is still to come.
                return Ok(outcome);
            }
            match replace(session, place, key, post, copy.etag()).await {
                Ok(()) => {
                    outcome.wrote = true;
                    return Ok(outcome);
                }
                // Written or removed meanwhile.
                Err(failure) if failure.is(412) || failure.is(404) => outcome.collisions += 1,
                Err(failure) => return Err(failure.into()),
            }
        }
        bail!("the copy of post {} is written by others all the time", post.id)
    })
}

async fn create(session: &mut Session, job: &Job) -> Result<(), Failure> {
    let Job { place, key, post, trigger } = job;
    let options = WriteOptions { post_trigger: *trigger, is_minimal: true, ..WriteOptions::default() };
    session
        .create_item_with(place.database, place.container, key, post.text.clone(), options)
        .await
        .map(|_| ())
}

/// Reads the post again, now that the copy was read, and replaces the copy unless it has changed since.
async fn replace(
    session: &mut Session,
    place: &Place,
    key: &str,
    post: &Short,
    etag: Option<&str>,
) -> Result<(), Failure> {
    let source_key = model::key(&post.id);
    let source = session.read_item(POSTS_V2.database, POSTS_V2.container, &source_key, &post.id).await?;
    let fresh = short_copy(&source.body).map_err(Failure::Malformed)?;
    let options = WriteOptions { if_match: etag, is_minimal: true, ..WriteOptions::default() };
    session
        .replace_item(place.database, place.container, key, &post.id, fresh.text, options)
        .await
        .map(|_| ())
}
