//! The workload `blog`: the ten operations of a blog platform, mostly reads, in each version of its data model.
//!
//! `armilla demo blog --keep` has loaded the data. Operations are those of the worked example: C1 writes a user, C2 a
//! post, C3 a comment, C4 a like; Q1 reads a user, Q2 a post, Q3 lists a user's posts, Q4 a post's comments, Q5 its
//! likes, Q6 the newest posts. The requests of one operation go one after the other over one connection.
//!
//! What is written here stays there; nothing keeps the copies of the third version in step meanwhile.

mod worker;

use anyhow::{Result, anyhow, bail, ensure};
use armilla_client::{Client, Failure, Query, Scope, Session};
use armilla_env::Env;
use armilla_value::{Value, json};

use crate::armilla::NAME;
use crate::cpu::ServerCpu;
use crate::drive::{self, Measured, Worker};
use crate::limits::BLOG_SAMPLE_MAX;
use crate::measurements::Turn;
use crate::result::{Row, Subject, rows};
use worker::BlogWorker;

/// The operations, each with how many of a hundred it is.
pub(crate) const MIX: [(&str, u64); 10] = [
    ("C1", 1),
    ("C2", 2),
    ("C3", 3),
    ("C4", 4),
    ("Q1", 15),
    ("Q2", 25),
    ("Q3", 10),
    ("Q4", 10),
    ("Q5", 10),
    ("Q6", 20),
];

/// How the ids of what is written here begin, so that a later run does not take it for what was loaded: it has no
/// comments and no posts.
const OWN_IDS: &str = "ffff";

/// A container: its database and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    database: &'static str,
    container: &'static str,
}

const fn place(database: &'static str, container: &'static str) -> Place {
    Place { database, container }
}

/// Where a version has its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Model {
    version: u8,
    users: Place,
    /// Posts, comments and likes.
    posts: Place,
}

impl Model {
    /// Returns that of a version from 1 to 3; the third keeps the posts of the second.
    fn of(version: u8) -> Model {
        match version {
            1 => Model { version, users: place("blog-v1", "users"), posts: place("blog-v1", "posts") },
            2 => Model { version, users: place("blog-v2", "users"), posts: place("blog-v2", "posts") },
            _ => Model { version: 3, users: place("blog-v3", "users"), posts: place("blog-v2", "posts") },
        }
    }
}

/// The newest posts of the third version.
const FEED: Place = place("blog-v3", "feed");

/// What operations choose from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Sample {
    users: Vec<User>,
    posts: Vec<Post>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    id: String,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Post {
    id: String,
    author: String,
}

/// Measures one version.
pub(crate) async fn measure(
    client: &Client,
    env: &Env,
    turn: &Turn,
    version: u8,
) -> Result<(Vec<Row>, Measured)> {
    let model = Model::of(version);
    let sample = sample(client, model).await?;
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for number in 0..turn.connections() {
        let mut session = client.session().patience(std::time::Duration::ZERO);
        session.connect().await?;
        let stream = turn.stream(number);
        workers.push(Box::new(BlogWorker::new(
            session,
            env.clone(),
            model,
            sample.clone(),
            turn.seed,
            stream,
        )));
    }
    let cpu_clock = Box::new(ServerCpu(client.clone()));
    let measured = drive::drive(env, turn.pace, MIX.len(), workers, Some(cpu_clock)).await?;
    let workload = format!("blog-v{version}");
    let subject = Subject { workload: &workload, side: NAME, circumstances: turn.circumstances };
    Ok((rows(subject, &MIX.map(|(name, _)| name), &measured), measured))
}

/// Reads users and posts to choose from.
async fn sample(client: &Client, model: Model) -> Result<Sample> {
    let mut session = client.session();
    // Ids are random, so the first ones by id lie anywhere.
    let only_users = if model.version == 3 { " AND c.type = 'user'" } else { "" };
    let users = format!(
        "SELECT TOP {BLOG_SAMPLE_MAX} c.id, c.username AS other FROM c WHERE c.id < '{OWN_IDS}'{only_users} \
         ORDER BY c.id"
    );
    let posts = format!(
        "SELECT TOP {BLOG_SAMPLE_MAX} c.id, c.userId AS other FROM c WHERE c.id < '{OWN_IDS}' AND c.type = 'post' \
         ORDER BY c.id"
    );
    let users = pairs(&mut session, model.users, &users).await?;
    let posts = pairs(&mut session, model.posts, &posts).await?;
    let sample = Sample {
        users: users.into_iter().map(|(id, name)| User { id, name }).collect(),
        posts: posts.into_iter().map(|(id, author)| Post { id, author }).collect(),
    };
    ensure!(
        !sample.users.is_empty() && !sample.posts.is_empty(),
        "{} has no users or no posts: load them with `armilla demo blog --keep`",
        model.users.database
    );
    Ok(sample)
}

/// Reads two texts of each item that a query finds.
async fn pairs(session: &mut Session, place: Place, text: &str) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut continuation: Option<String> = None;
    while found.len() < BLOG_SAMPLE_MAX {
        let query = Query {
            text,
            scope: Scope::All,
            items_max: Some(1_000),
            continuation: continuation.as_deref(),
            ..Query::default()
        };
        let done = match session.query(place.database, place.container, &query).await {
            Ok(done) => done,
            Err(failure) if failure.is(404) => bail!(
                "there is no {}/{} on this server: load it with `armilla demo blog --keep`, and name that server with \
                 --endpoint or its folder with --data-dir",
                place.database,
                place.container
            ),
            Err(failure) => return Err(failure.into()),
        };
        let page = page(&done.body)?;
        let text = |item: &Value, name| item.get(name).and_then(Value::as_str).map(str::to_owned);
        found.extend(page.iter().filter_map(|item| Some((text(item, "id")?, text(item, "other")?))));
        continuation = done.continuation;
        if continuation.is_none() {
            break;
        }
    }
    Ok(found)
}

/// Returns the items of a page.
fn page(body: &[u8]) -> Result<Vec<Value>, Failure> {
    let unreadable = |what: &str| Failure::Malformed(anyhow!("cannot read an answer of the server: {what}"));
    let mut page = json::parse(body).map_err(|error| unreadable(&error.to_string()))?;
    let items = page.as_object_mut().and_then(|page| page.remove("Documents"));
    match items {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(unreadable("it has no list of items")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_a_hundred_and_mostly_reads() {
        assert_eq!(MIX.iter().map(|(_, share)| share).sum::<u64>(), 100);
        let writes: u64 = MIX.iter().filter(|(name, _)| name.starts_with('C')).map(|(_, share)| share).sum();
        assert_eq!(writes, 10);
    }

    #[test]
    fn versions_share_what_they_share() {
        assert_eq!(Model::of(3).posts, Model::of(2).posts);
        assert_ne!(Model::of(3).users, Model::of(2).users);
        assert_ne!(Model::of(1).posts, Model::of(2).posts);
    }

    #[test]
    fn pages() {
        assert_eq!(page(br#"{"Documents":[1,2],"_count":2}"#).unwrap().len(), 2);
        for body in ["", "[]", "{}", r#"{"Documents":1}"#] {
            assert!(page(body.as_bytes()).is_err(), "{body}");
        }
    }
}
