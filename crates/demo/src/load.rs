//! Creates the containers and fills them, in bulk and over several connections.
//!
//! Each connection takes one user after the other, makes what belongs to that user, and sends it by physical
//! partition: a hundred operations a request, as the service's own clients do. Nothing but what waits for its request
//! is in memory.
//!
//! Posts go in several passes over all users: a few physical partitions of one version at a time. What is written at
//! about the same time lies together then, and the server has less to sort; what is made in vain is the id of a post.
//!
//! The copies of the third version are not loaded: workers make them from the change feed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use armilla_client::{
    Client, Operation, OperationResult, Operations, Router, ScriptKind, Session, Throughput, results,
};
use armilla_env::Env;
use armilla_value::{Component, PartitionKey, json};
use bytes::Bytes;
use tokio::task::JoinSet;

use crate::guid::Guid;
use crate::items::{self, Version, Writer};
use crate::limits::{PARTITION_THROUGHPUT, SMALL_THROUGHPUT, USERS_THROUGHPUT};
use crate::model::{self, DATABASES, FEED_V3, LEASES_V3, PLACES, POSTS_V2, Place, scripts};
use crate::progress::Progress;
use crate::rows::Rows;
use crate::shape::{Shape, Totals};
use crate::words::Words;

/// What loading took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loaded {
    pub(crate) items: u64,
    pub(crate) took: Duration,
    /// Operations that were refused for their rate, and sent again.
    pub(crate) throttled: u64,
}

/// Makes databases, containers and scripts; what was there under these names before is removed.
pub(crate) async fn create(session: &mut Session, partitions: u32) -> Result<()> {
    for database in DATABASES {
        session.delete_database(database).await?;
        session.create_database(database).await?;
    }
    for place in PLACES {
        let units = if place.holds_posts() {
            partitions * PARTITION_THROUGHPUT
        } else if place == FEED_V3 || place == LEASES_V3 {
            SMALL_THROUGHPUT
        } else {
            USERS_THROUGHPUT
        };
        // Of manual throughput there would be more partitions to begin with.
        let throughput = Some(Throughput::Autoscale(units));
        session
            .create_container(place.database, place.definition(), throughput)
            .await
            .with_context(|| format!("cannot create {}/{}", place.database, place.container))?;
    }
    for (name, body) in [
        (scripts::CREATE_COMMENT, scripts::add_and_count(scripts::CREATE_COMMENT, "commentCount")),
        (scripts::CREATE_LIKE, scripts::add_and_count(scripts::CREATE_LIKE, "likeCount")),
        (scripts::UPDATE_USERNAMES, scripts::UPDATE_USERNAMES_BODY.to_owned()),
    ] {
        let definition = script(name, &body, "");
        let Place { database, container, .. } = POSTS_V2;
        session.put_script(database, container, ScriptKind::Procedure, name, definition).await?;
    }
    let how = r#","triggerType":"Post","triggerOperation":"Create""#;
    let definition = script(scripts::TRUNCATE_FEED, scripts::TRUNCATE_FEED_BODY, how);
    let Place { database, container, .. } = FEED_V3;
    session.put_script(database, container, ScriptKind::Trigger, scripts::TRUNCATE_FEED, definition).await?;
    Ok(())
}

fn script(name: &str, body: &str, more: &str) -> Vec<u8> {
    let mut text = b"{\"id\":".to_vec();
    json::write_string(name, &mut text);
    text.extend_from_slice(b",\"body\":");
    json::write_string(body, &mut text);
    text.extend_from_slice(more.as_bytes());
    text.push(b'}');
    text
}

/// How a load is spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) connections: u32,
    /// Physical partitions that are filled at a time.
    pub(crate) partitions: usize,
}

/// Fills the containers with users of all versions, and with posts, comments and likes of the first two.
pub(crate) async fn fill(
    client: &Client,
    shape: &Arc<Shape>,
    totals: &Totals,
    pace: Pace,
    env: &Env,
) -> Result<Loaded> {
    let start = env.clock.elapsed();
    let total = 3 * totals.users + 2 * totals.in_posts();
    let counter = Arc::new(AtomicU64::new(0));
    let counted = counter.clone();
    let progress = Progress::start("loading", total, env, move || counted.load(Ordering::Relaxed));
    let mut session = client.session();
    let mut routers = HashMap::new();
    for version in Version::ALL {
        for place in [model::users(version), model::posts(version)] {
            let router = Router::of(&mut session, place.database, place.container).await?;
            routers.insert(*place, Arc::new(router));
        }
    }
    let windows = routers[&POSTS_V2].ranges().len().div_ceil(pace.partitions.max(1));
    let turns = Turns { users: shape.user_count(), windows, next: Arc::default() };
    let throttled = Arc::new(AtomicU64::new(0));
    let words = Arc::new(Words::new());
    let mut tasks = JoinSet::new();
    for _ in 0..pace.connections {
        let target = |place: &Place| Target::new(*place, routers[place].clone());
        let mut loader = Loader {
            session: client.session(),
            shape: shape.clone(),
            words: words.clone(),
            users: Version::ALL.map(|version| target(model::users(version))),
            posts: POST_VERSIONS.map(|version| target(model::posts(version))),
            counter: counter.clone(),
            throttled: throttled.clone(),
            partitions: pace.partitions.max(1),
            env: env.clone(),
            text: Vec::new(),
        };
        let turns = turns.clone();
        tasks.spawn(async move {
            while let Some((part, user)) = turns.next() {
                match part {
                    Part::Users => loader.load_user(user).await?,
                    Part::Posts { version, window } => loader.load_posts(user, version, window).await?,
                }
            }
            loader.finish().await
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.context("a task ended early")??;
    }
    drop(progress);
    let items = counter.load(Ordering::Relaxed);
    if items != total {
        bail!("{items} items were loaded instead of {total}");
    }
    let took = env.clock.elapsed().saturating_sub(start);
    Ok(Loaded { items, took, throttled: throttled.load(Ordering::Relaxed) })
}

/// What is loaded in one pass over all users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Users,
    /// The posts of the first or second version that belong to some of the physical partitions.
    Posts {
        version: usize,
        window: usize,
    },
}

/// All parts of all users, one part after the other.
#[derive(Debug, Clone)]
struct Turns {
    users: u32,
    windows: usize,
    next: Arc<AtomicU64>,
}

impl Turns {
    fn next(&self) -> Option<(Part, u32)> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let (pass, user) = (turn / u64::from(self.users), turn % u64::from(self.users));
        let pass = usize::try_from(pass).ok()?;
        let part = match pass.checked_sub(1) {
            None => Part::Users,
            Some(pass) if pass < POST_VERSIONS.len() * self.windows => {
                Part::Posts { version: pass / self.windows, window: pass % self.windows }
            }
            Some(_) => return None,
        };
        Some((part, user as u32))
    }
}

/// The versions whose posts are loaded.
const POST_VERSIONS: [Version; 2] = [Version::V1, Version::V2];

/// A container that is filled: what waits for its request, by physical partition.
struct Target {
    place: Place,
    router: Arc<Router>,
    waiting: Vec<Operations>,
}

impl Target {
    fn new(place: Place, router: Arc<Router>) -> Target {
        let mut waiting = Vec::new();
        waiting.resize_with(router.ranges().len(), Operations::new);
        Target { place, router, waiting }
    }

    fn range_of(&self, key: &Guid) -> usize {
        self.router.index_of(&PartitionKey(vec![Component::String(key.as_str().to_owned())]))
    }
}

/// One connection that loads.
struct Loader {
    session: Session,
    shape: Arc<Shape>,
    words: Arc<Words>,
    users: [Target; 3],
    posts: [Target; 2],
    counter: Arc<AtomicU64>,
    throttled: Arc<AtomicU64>,
    /// Physical partitions of a window.
    partitions: usize,
    env: Env,
    text: Vec<u8>,
}

/// Which of the containers.
#[derive(Clone, Copy)]
enum Into {
    Users(usize),
    Posts(usize),
}

impl Loader {
    /// Loads a user of all versions.
    async fn load_user(&mut self, user: u32) -> Result<()> {
        let (id, name) = (self.shape.user_id(user), self.shape.user_name(user));
        let key = model::key(id.as_str());
        for (index, version) in Version::ALL.into_iter().enumerate() {
            let range = self.users[index].range_of(&id);
            self.text.clear();
            items::user(version, &id, &name, &mut self.text);
            self.push(Into::Users(index), range, &key).await?;
        }
        Ok(())
    }

    /// Loads the posts of a user that belong to a window, with their comments and likes.
    async fn load_posts(&mut self, user: u32, index: usize, window: usize) -> Result<()> {
        let (shape, version) = (self.shape.clone(), POST_VERSIONS[index]);
        let (id, name) = (shape.user_id(user), shape.user_name(user));
        for number in 0..shape.post_count(user) {
            let post = shape.post(user, number);
            let range = self.posts[index].range_of(&post.id);
            if range / self.partitions != window {
                continue;
            }
            let key = model::key(post.id.as_str());
            let into = Into::Posts(index);
            let mut random = shape.text_random(&post);
            let author = Writer { id: id.as_bytes(), name: &name };
            self.text.clear();
            items::post(version, &post, author, &self.words, &mut random, &mut self.text);
            self.push(into, range, &key).await?;
            for answer in shape.answers(&post) {
                let (id, name) = (shape.user_id(answer.author), shape.user_name(answer.author));
                let author = Writer { id: id.as_bytes(), name: &name };
                self.text.clear();
                let text = &mut self.text;
                items::answer(version, &answer, &post.id, author, &self.words, &mut random, text);
                self.push(into, range, &key).await?;
            }
        }
        Ok(())
    }

    /// Appends the item in `text`; sends what waits if there is no room for it.
    async fn push(&mut self, into: Into, range: usize, key: &str) -> Result<()> {
        if !self.target(into).waiting[range].is_empty() {
            let text = std::mem::take(&mut self.text);
            let is_taken = self.target(into).waiting[range].push(Operation::Create(&text), Some(key));
            self.text = text;
            if is_taken {
                return Ok(());
            }
            self.send(into, range).await?;
        }
        let text = std::mem::take(&mut self.text);
        self.target(into).waiting[range].push(Operation::Create(&text), Some(key));
        self.text = text;
        Ok(())
    }

    fn target(&mut self, into: Into) -> &mut Target {
        match into {
            Into::Users(index) => &mut self.users[index],
            Into::Posts(index) => &mut self.posts[index],
        }
    }

    /// Sends all that waits.
    async fn finish(mut self) -> Result<()> {
        for into in [Into::Users(0), Into::Users(1), Into::Users(2), Into::Posts(0), Into::Posts(1)] {
            for range in 0..self.target(into).waiting.len() {
                if !self.target(into).waiting[range].is_empty() {
                    self.send(into, range).await?;
                }
            }
        }
        Ok(())
    }

    /// Sends what waits for one physical partition, and again what of it was refused for its rate.
    async fn send(&mut self, into: Into, range: usize) -> Result<()> {
        let target = self.target(into);
        let Place { database, container, .. } = target.place;
        let router = target.router.clone();
        let mut body = target.waiting[range].take();
        let range = Some(router.ranges()[range].id.as_str());
        loop {
            let done = self.session.bulk(database, container, range, body.clone()).await?;
            let outcomes = results(&done.body)?;
            let (again, wait) = refused(&body, &outcomes)?;
            self.counter.fetch_add((outcomes.len() - again.len()) as u64, Ordering::Relaxed);
            if again.is_empty() {
                return Ok(());
            }
            self.throttled.fetch_add(again.len() as u64, Ordering::Relaxed);
            body = list(&again);
            self.env.clock.sleep(wait).await;
        }
    }
}

/// Returns the operations that were refused for their rate, and how long to wait before they are sent again. Other
/// refusals are failures.
fn refused<'b>(body: &'b [u8], outcomes: &[OperationResult]) -> Result<(Vec<&'b [u8]>, Duration)> {
    if outcomes.iter().all(|outcome| outcome.status == 201) {
        return Ok((Vec::new(), Duration::ZERO));
    }
    let mut again = Vec::new();
    let mut wait = Duration::from_millis(1);
    for (operation, outcome) in Rows::of_list(body)?.zip(outcomes) {
        match outcome.status {
            201 => {}
            429 => {
                again.push(operation?);
                wait = wait.max(Duration::from_millis(outcome.retry_after_ms.unwrap_or(0).min(1_000)));
            }
            status => bail!(
                "an item could not be loaded: {status} {}",
                outcome.message.as_deref().unwrap_or("without a reason")
            ),
        }
    }
    Ok((again, wait))
}

fn list(operations: &[&[u8]]) -> Bytes {
    let mut body =
        Vec::with_capacity(operations.iter().map(|operation| operation.len() + 1).sum::<usize>() + 2);
    for (index, operation) in operations.iter().enumerate() {
        body.push(if index == 0 { b'[' } else { b',' });
        body.extend_from_slice(operation);
    }
    body.push(b']');
    body.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, retry_after_ms: Option<u64>) -> OperationResult {
        OperationResult { status, sub_status: 0, charge: 0.0, retry_after_ms, message: None, item: None }
    }

    #[test]
    fn every_user_has_a_turn_in_every_part() {
        let turns = Turns { users: 2, windows: 3, next: Arc::default() };
        let all: Vec<_> = std::iter::from_fn(|| turns.next()).collect();
        let posts = |version, window| Part::Posts { version, window };
        let parts =
            [Part::Users, posts(0, 0), posts(0, 1), posts(0, 2), posts(1, 0), posts(1, 1), posts(1, 2)];
        let expected: Vec<_> = parts.into_iter().flat_map(|part| [(part, 0), (part, 1)]).collect();
        assert_eq!(all, expected);
        assert_eq!(turns.next(), None);
    }

    #[test]
    fn only_what_was_refused_for_its_rate_is_sent_again() {
        let body = br#"[{"a":1},{"b":"],"},{"c":3}]"#;
        let done = [outcome(201, None), outcome(201, None), outcome(201, None)];
        assert!(refused(body, &done).unwrap().0.is_empty());
        let some = [outcome(429, Some(5)), outcome(201, None), outcome(429, Some(90))];
        let (again, wait) = refused(body, &some).unwrap();
        assert_eq!((&list(&again)[..], wait), (&br#"[{"a":1},{"c":3}]"#[..], Duration::from_millis(90)));
        let failed = [outcome(429, None), outcome(409, None), outcome(201, None)];
        assert!(refused(body, &failed).unwrap_err().to_string().contains("409"));
    }
}
