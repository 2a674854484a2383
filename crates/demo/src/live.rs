//! Clients that write while the workers run.
//!
//! Several connections create and rename users, create and edit posts, comment and like, in the versions that have
//! copies. Names are read before they are written into items, as an application does it, so renames and items race.
//! Each user is renamed over one connection alone: the same user has an item in two versions, and both have to get the
//! same names in the same order.
//!
//! Every write is acknowledged in the end, once: if an answer is lost because the server went away, the client finds
//! out whether the write was done before it goes on. So it is known exactly how much there has to be.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use armilla_client::{Client, Done, Failure, Session, WriteOptions};
use armilla_env::{Env, Random};
use armilla_report::number;
use armilla_value::{Value, json};
use tokio::task::JoinSet;

use crate::dates;
use crate::guid::Guid;
use crate::items::{self, Version, Writer};
use crate::limits::{ATTEMPTS_MAX, AWAY_MAX, AWAY_WAIT};
use crate::model::{self, POSTS_V2, Place, USERS_V2, USERS_V3, scripts};
use crate::rows::string_member;
use crate::shape::{Answer, AnswerKind, Post, Shape, Totals};
use crate::words::Words;

/// What the live phase did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lived {
    pub(crate) writes: u64,
    /// What there is more of.
    pub(crate) added: Totals,
    pub(crate) renames: u64,
    pub(crate) edits: u64,
    /// Answers that were lost.
    pub(crate) lost: u64,
    /// Names that the workers put right behind a write that was late.
    pub(crate) repairs: u64,
    pub(crate) was_killed: bool,
    pub(crate) took: Duration,
    /// How long the workers took to be done afterwards.
    pub(crate) drained: Duration,
}

impl fmt::Display for Lived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "live: {} writes in {} ({} users, {} posts, {} comments, {} likes, {} renames, {} edits)",
            number::count(self.writes),
            number::duration(self.took),
            number::count(self.added.users),
            number::count(self.added.posts),
            number::count(self.added.comments),
            number::count(self.added.likes),
            number::count(self.renames),
            number::count(self.edits),
        )?;
        if self.was_killed {
            write!(f, "; server and workers killed, {} answers lost", number::count(self.lost))?;
        }
        write!(
            f,
            "; workers done {} later, {} names put right",
            number::duration(self.drained),
            number::count(self.repairs)
        )
    }
}

/// What clients share.
struct Shared {
    shape: Arc<Shape>,
    words: Words,
    env: Env,
    left: AtomicU64,
    done: Arc<AtomicU64>,
    failed: AtomicBool,
}

/// Clients that write.
pub(crate) struct Writers {
    tasks: JoinSet<Result<Lived>>,
    done: Arc<AtomicU64>,
    start: Duration,
    env: Env,
}

impl Writers {
    /// Starts writing.
    pub(crate) fn start(
        client: &Client,
        shape: &Arc<Shape>,
        writes: u32,
        connections: u32,
        env: &Env,
    ) -> Writers {
        let mut bytes = [0; 8];
        // What is made must not be there from an earlier run.
        env.entropy.fill(&mut bytes);
        let origin = u64::from_le_bytes(bytes);
        let done = Arc::new(AtomicU64::new(0));
        let shared = Arc::new(Shared {
            shape: shape.clone(),
            words: Words::new(),
            env: env.clone(),
            left: AtomicU64::new(u64::from(writes)),
            done: done.clone(),
            failed: AtomicBool::new(false),
        });
        let mut tasks = JoinSet::new();
        for lane in 0..connections {
            let mut writer = LiveWriter {
                session: client.session(),
                random: shape.new_things(origin ^ u64::from(lane)),
                shared: shared.clone(),
                lane,
                lanes: connections,
                lived: Lived::default(),
            };
            tasks.spawn(async move {
                let outcome = writer.run().await;
                if outcome.is_err() {
                    writer.shared.failed.store(true, Ordering::Relaxed);
                }
                outcome.map(|()| writer.lived)
            });
        }
        Writers { tasks, done, start: env.clock.elapsed(), env: env.clone() }
    }

    /// Returns how many writes are done.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Whether all of them have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Waits until all is written.
    pub(crate) async fn finish(mut self) -> Result<Lived> {
        let mut total = Lived::default();
        let mut failure = None;
        while let Some(ended) = self.tasks.join_next().await {
            match ended.context("a client ended early")? {
                Ok(lived) => {
                    total.writes += lived.writes;
                    total.added.users += lived.added.users;
                    total.added.posts += lived.added.posts;
                    total.added.comments += lived.added.comments;
                    total.added.likes += lived.added.likes;
                    total.renames += lived.renames;
                    total.edits += lived.edits;
                    total.lost += lived.lost;
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        total.took = self.env.clock.elapsed().saturating_sub(self.start);
        match failure {
            Some(error) => Err(error),
            None => Ok(total),
        }
    }
}

/// One client.
struct LiveWriter {
    session: Session,
    random: Random,
    shared: Arc<Shared>,
    lane: u32,
    lanes: u32,
    lived: Lived,
}

/// Of a thousand writes, how many are what.
const NEW_USERS: u64 = 50;
const RENAMES: u64 = 10;
const NEW_POSTS: u64 = 100;
const EDITS: u64 = 120;
const COMMENTS: u64 = 360;
const ALL: u64 = 1_000;

impl LiveWriter {
    async fn run(&mut self) -> Result<()> {
        loop {
            let taken = self
                .shared
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if taken.is_err() || self.shared.failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let choice = self.random.below(ALL);
            if choice < NEW_USERS {
                self.create_user().await?;
            } else if choice < NEW_USERS + RENAMES {
                self.rename_user().await?;
            } else if choice < NEW_USERS + RENAMES + NEW_POSTS {
                self.create_post().await?;
            } else if choice < NEW_USERS + RENAMES + NEW_POSTS + EDITS {
                self.edit_post().await?;
            } else if choice < NEW_USERS + RENAMES + NEW_POSTS + EDITS + COMMENTS {
                self.answer(AnswerKind::Comment).await?;
            } else {
                self.answer(AnswerKind::Like).await?;
            }
            self.lived.writes += 1;
            self.shared.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// C1: a new user, in both versions.
    async fn create_user(&mut self) -> Result<()> {
        let id = Guid::random(&mut self.random);
        let name = crate::shape::name(b"born-", self.random.next_u64());
        self.write_user(&id, &name).await?;
        self.lived.added.users += 1;
        Ok(())
    }

    /// C1: a new name, in both versions.
    async fn rename_user(&mut self) -> Result<()> {
        // Of those that are this connection's alone: the users are dealt out in turn.
        let users = self.shared.shape.tested_user();
        let Some(last) = users.checked_sub(self.lane + 1) else { return Ok(()) };
        let user = self.lane + self.lanes * self.random.below(u64::from(last / self.lanes + 1)) as u32;
        let id = self.shared.shape.user_id(user);
        let name = crate::shape::name(b"name-", self.random.next_u64());
        self.write_user(&id, &name).await?;
        self.lived.renames += 1;
        Ok(())
    }

    async fn write_user(&mut self, id: &Guid, name: &[u8]) -> Result<()> {
        let key = model::key(id.as_str());
        for (version, place) in [(Version::V2, USERS_V2), (Version::V3, USERS_V3)] {
            let mut body = Vec::new();
            items::user(version, id, name, &mut body);
            let body = bytes::Bytes::from(body);
            // The same again does no harm.
            let mut since = None;
            loop {
                match self.session.upsert_item(place.database, place.container, &key, body.clone()).await {
                    Ok(_) => break,
                    Err(failure) => self.wait_for_server(failure, &mut since).await?,
                }
            }
        }
        Ok(())
    }

    /// C2: a new post.
    async fn create_post(&mut self) -> Result<()> {
        let (author, name) = self.somebody().await?;
        let number = self.random.below(1 << 20);
        let post = Post::new(Guid::random(&mut self.random), 0, self.shared.shape.later_ticks(number));
        let mut body = Vec::new();
        let writer = Writer { id: author.as_bytes(), name: name.as_bytes() };
        items::post(Version::V2, &post, writer, &self.shared.words, &mut self.random, &mut body);
        let body = bytes::Bytes::from(body);
        let key = model::key(post.id.as_str());
        let (mut since, mut is_lost) = (None, false);
        loop {
            match self.session.create_item(POSTS_V2.database, POSTS_V2.container, &key, body.clone()).await {
                Ok(_) => break,
                Err(failure) if failure.is(409) && is_lost => break,
                Err(failure) => {
                    is_lost |= matches!(failure, Failure::Lost(_));
                    self.wait_for_server(failure, &mut since).await?;
                }
            }
        }
        self.lived.added.posts += 1;
        Ok(())
    }

    /// C2: another text for a post, unless somebody else changes it at the same time.
    async fn edit_post(&mut self) -> Result<()> {
        let id = self.some_post();
        let key = model::key(id.as_str());
        let (title, content) = items::edited_text(&self.shared.words, &mut self.random);
        for _ in 0..ATTEMPTS_MAX {
            let found = self.read(&POSTS_V2, &key, id.as_str()).await?;
            let found = found.with_context(|| format!("post {} is not there", id.as_str()))?;
            let body = edited(&found.body, &title, &content)?;
            let options = WriteOptions { if_match: found.etag(), ..WriteOptions::default() };
            let (database, container) = (POSTS_V2.database, POSTS_V2.container);
            match self.session.replace_item(database, container, &key, id.as_str(), body, options).await {
                Ok(_) => {
                    self.lived.edits += 1;
                    return Ok(());
                }
                Err(failure) if failure.is(412) => {}
                // If it was done all the same, it is done once more with the same text.
                Err(failure) => self.wait_for_server(failure, &mut None).await?,
            }
        }
        bail!("post {} is written by others all the time", id.as_str())
    }

    /// C3 and C4: a comment or like, counted in its post.
    async fn answer(&mut self, kind: AnswerKind) -> Result<()> {
        let post = self.some_post();
        let (author, name) = self.somebody().await?;
        let date = dates::text(self.shared.shape.later_ticks(self.random.below(1 << 20)));
        let answer = Answer { kind, id: Guid::random(&mut self.random), author: 0, date };
        let mut body = b"[\"".to_vec();
        body.extend_from_slice(post.as_bytes());
        body.extend_from_slice(b"\",");
        let writer = Writer { id: author.as_bytes(), name: name.as_bytes() };
        items::answer(Version::V2, &answer, &post, writer, &self.shared.words, &mut self.random, &mut body);
        body.push(b']');
        let body = bytes::Bytes::from(body);
        let key = model::key(post.as_str());
        let procedure = match kind {
            AnswerKind::Comment => scripts::CREATE_COMMENT,
            AnswerKind::Like => scripts::CREATE_LIKE,
        };
        let mut since = None;
        loop {
            let (database, container) = (POSTS_V2.database, POSTS_V2.container);
            match self.session.execute(database, container, procedure, &key, body.clone()).await {
                Ok(_) => break,
                Err(failure) => {
                    let is_lost = matches!(failure, Failure::Lost(_));
                    self.wait_for_server(failure, &mut since).await?;
                    if is_lost && self.read(&POSTS_V2, &key, answer.id.as_str()).await?.is_some() {
                        break;
                    }
                }
            }
        }
        match kind {
            AnswerKind::Comment => self.lived.added.comments += 1,
            AnswerKind::Like => self.lived.added.likes += 1,
        }
        Ok(())
    }

    /// Chooses a user, and reads the name.
    async fn somebody(&mut self) -> Result<(Guid, String)> {
        let user = self.random.below(u64::from(self.shared.shape.tested_user())) as u32;
        let id = self.shared.shape.user_id(user);
        let key = model::key(id.as_str());
        let found = self.read(&USERS_V3, &key, id.as_str()).await?;
        let found = found.with_context(|| format!("user {} is not there", id.as_str()))?;
        Ok((id, string_member(&found.body, "username")?.into_owned()))
    }

    /// Chooses a post that was loaded, other than those that are measured.
    fn some_post(&mut self) -> Guid {
        let shape = self.shared.shape.clone();
        let user = self.random.below(u64::from(shape.tested_user())) as u32;
        let first = if user == 0 { crate::shape::SPECIAL_POSTS } else { 0 };
        let number = self.random.between(u64::from(first), u64::from(shape.post_count(user) - 1)) as u32;
        shape.post(user, number).id
    }

    async fn read(&mut self, place: &Place, key: &str, id: &str) -> Result<Option<Done>> {
        let mut since = None;
        loop {
            match self.session.read_item(place.database, place.container, key, id).await {
                Ok(done) => return Ok(Some(done)),
                Err(failure) if failure.is(404) => return Ok(None),
                Err(failure) => self.wait_for_server(failure, &mut since).await?,
            }
        }
    }

    /// Waits a little if the failure may be over soon, and fails with it otherwise.
    async fn wait_for_server(&mut self, failure: Failure, since: &mut Option<Duration>) -> Result<()> {
        let clock = self.shared.env.clock.clone();
        let since = *since.get_or_insert_with(|| clock.elapsed());
        if !failure.is_passing() || clock.elapsed().saturating_sub(since) > AWAY_MAX {
            return Err(failure.into());
        }
        self.lived.lost += u64::from(matches!(failure, Failure::Lost(_)));
        clock.sleep(AWAY_WAIT).await;
        Ok(())
    }
}

/// Returns a post with another title and text, all else as it was.
fn edited(post: &[u8], title: &[u8], content: &[u8]) -> Result<Vec<u8>> {
    let Ok(Value::Object(mut object)) = json::parse(post) else { bail!("a post is no JSON object") };
    for (name, text) in [("title", title), ("content", content)] {
        let text = std::str::from_utf8(text).context("a text is not UTF-8")?;
        object.insert(name, Value::String(text.to_owned()));
    }
    Ok(json::to_string(&Value::Object(object)).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_changes_nothing_else() {
        let post = br#"{"id":"1","title":"a","content":"b","commentCount":3,"_etag":"\"x\""}"#;
        let text = edited(post, b"new", b"text").unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            r#"{"id":"1","title":"new","content":"text","commentCount":3,"_etag":"\"x\""}"#
        );
        assert!(edited(b"[]", b"", b"").is_err());
    }
}
