//! One connection of somebody who uses the blog.

use std::fmt::Write as _;

use anyhow::Result;
use armilla_client::{Done, Failure, Query, Scope, Session};
use armilla_env::{Env, Random, format_guid};
use armilla_value::Value;

use super::{FEED, MIX, Model, OWN_IDS, Place, Post, Sample, User, page};
use crate::armilla::{count_of_page, partition_key, refusal};
use crate::drive::{Answer, Effort, Future, Worker};
use crate::limits::QUERY_PAGES_MAX;
use crate::time::rfc3339;
use crate::words::push_words;

/// Posts that Q6 lists.
const NEWEST_POSTS: u32 = 100;

/// Characters of texts, as in the worked example.
const TITLE_LENGTH: usize = 40;
const POST_LENGTH: usize = 1_300;
const COMMENT_LENGTH: usize = 1_490;

/// One connection.
pub(super) struct BlogWorker {
    session: Session,
    env: Env,
    model: Model,
    sample: Sample,
    random: Random,
    prepared: usize,
}

/// Whether comments or likes are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Comment,
    Like,
}

impl About {
    fn kind(self) -> &'static str {
        match self {
            About::Comment => "comment",
            About::Like => "like",
        }
    }

    /// The procedure of the second version that adds one and counts it.
    fn procedure(self) -> &'static str {
        match self {
            About::Comment => "createComment",
            About::Like => "createLike",
        }
    }
}

impl Worker for BlogWorker {
    fn prepare(&mut self) -> usize {
        let mut drawn = self.random.below(100);
        let share = |(_, share): &(&str, u64)| {
            let is_chosen = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            is_chosen
        };
        self.prepared = MIX.iter().position(share).unwrap_or(MIX.len() - 1);
        self.prepared
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            match self.operation().await {
                Ok(effort) => Ok(Answer::Done(effort)),
                Err(failure) => refusal(failure),
            }
        })
    }
}

impl BlogWorker {
    pub(super) fn new(
        session: Session,
        env: Env,
        model: Model,
        sample: Sample,
        seed: u64,
        stream: usize,
    ) -> BlogWorker {
        // Ids must not repeat those of another run, which is still there.
        let random = Random::of_part(seed ^ env.clock.now_ms() as u64, stream as u64);
        BlogWorker { session, env, model, sample, random, prepared: 0 }
    }

    async fn operation(&mut self) -> Result<Effort, Failure> {
        let user = self.sample.users[self.random.index(self.sample.users.len())].clone();
        let post = self.sample.posts[self.random.index(self.sample.posts.len())].clone();
        match MIX[self.prepared].0 {
            "C1" => self.create_user().await,
            "C2" => self.create_post(&user).await,
            "C3" => self.create_about(About::Comment, &post, &user).await,
            "C4" => self.create_about(About::Like, &post, &user).await,
            "Q1" => self.read_user(&user.id).await,
            "Q2" => self.read_post(&post).await,
            "Q3" => self.posts_of(&user).await,
            "Q4" => self.list_about(About::Comment, &post).await,
            "Q5" => self.list_about(About::Like, &post).await,
            _ => self.newest().await,
        }
    }

    fn new_id(&mut self) -> String {
        let mut id = format_guid(self.random.guid_bytes());
        id.replace_range(..OWN_IDS.len(), OWN_IDS);
        id
    }

    async fn create_user(&mut self) -> Result<Effort, Failure> {
        let id = self.new_id();
        let name = format!("user-{:09}", self.random.below(1_000_000_000));
        let body = match self.model.version {
            3 => format!(r#"{{"id":"{id}","type":"user","userId":"{id}","username":"{name}"}}"#),
            _ => format!(r#"{{"id":"{id}","username":"{name}"}}"#),
        };
        self.create(self.model.users, &id, body).await
    }

    async fn create_post(&mut self, author: &User) -> Result<Effort, Failure> {
        let id = self.new_id();
        let mut body = self.head(&id, "post", &id, author);
        body.push_str(",\"title\":\"");
        push_words(&mut self.random, TITLE_LENGTH, &mut body);
        body.push_str("\",\"content\":\"");
        push_words(&mut self.random, POST_LENGTH, &mut body);
        body.push('"');
        if self.model.version > 1 {
            body.push_str(",\"commentCount\":0,\"likeCount\":0");
        }
        self.end(&mut body);
        self.create(self.model.posts, &id, body).await
    }

    async fn create_about(&mut self, about: About, post: &Post, author: &User) -> Result<Effort, Failure> {
        let id = self.new_id();
        let mut body = self.head(&id, about.kind(), &post.id, author);
        if about == About::Comment {
            body.push_str(",\"content\":\"");
            push_words(&mut self.random, COMMENT_LENGTH, &mut body);
            body.push('"');
        }
        self.end(&mut body);
        if self.model.version == 1 {
            return self.create(self.model.posts, &post.id, body).await;
        }
        let Place { database, container } = self.model.posts;
        let arguments = format!("[\"{}\",{body}]", post.id);
        let key = partition_key(&post.id);
        let done = self.session.execute(database, container, about.procedure(), &key, arguments).await?;
        Ok(effort(&done, 2))
    }

    /// Begins an item; names are copied from the second version on.
    fn head(&self, id: &str, kind: &str, post_id: &str, author: &User) -> String {
        let mut body =
            format!(r#"{{"id":"{id}","type":"{kind}","postId":"{post_id}","userId":"{}""#, author.id);
        if self.model.version > 1 {
            // Writing to a string cannot fail.
            let _ = write!(body, r#","userUsername":"{}""#, author.name);
        }
        body
    }

    fn end(&self, body: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(body, r#","creationDate":"{}"}}"#, rfc3339(self.env.clock.now_ms(), 7));
    }

    async fn create(&mut self, place: Place, key: &str, body: String) -> Result<Effort, Failure> {
        let Place { database, container } = place;
        let done = self.session.create_item(database, container, &partition_key(key), body).await?;
        Ok(effort(&done, 1))
    }

    async fn read_user(&mut self, id: &str) -> Result<Effort, Failure> {
        let Place { database, container } = self.model.users;
        let done = self.session.read_item(database, container, &partition_key(id), id).await?;
        Ok(effort(&done, 1))
    }

    async fn read_post(&mut self, post: &Post) -> Result<Effort, Failure> {
        let Place { database, container } = self.model.posts;
        let done = self.session.read_item(database, container, &partition_key(&post.id), &post.id).await?;
        let mut all = effort(&done, 1);
        if self.model.version == 1 {
            all.add(self.author_and_counts(&post.id, &post.author).await?);
        }
        Ok(all)
    }

    /// What the first version has to ask besides, for each post that is shown.
    async fn author_and_counts(&mut self, post_id: &str, author: &str) -> Result<Effort, Failure> {
        let mut all = self.read_user(author).await?;
        all.add(self.counts(post_id).await?);
        Ok(all)
    }

    async fn counts(&mut self, post_id: &str) -> Result<Effort, Failure> {
        let mut all = Effort::default();
        for about in [About::Comment, About::Like] {
            let text = format!(
                "SELECT VALUE COUNT(1) FROM c WHERE c.postId = '{post_id}' AND c.type = '{}'",
                about.kind()
            );
            all.add(self.query(self.model.posts, Some(post_id), &text).await?.0);
        }
        Ok(all)
    }

    async fn posts_of(&mut self, user: &User) -> Result<Effort, Failure> {
        let text = format!("SELECT * FROM c WHERE c.userId = '{}' AND c.type = 'post'", user.id);
        if self.model.version == 3 {
            return Ok(self.query(self.model.users, Some(&user.id), &text).await?.0);
        }
        let (mut all, posts) = self.query(self.model.posts, None, &text).await?;
        if self.model.version == 1 {
            all.add(self.read_user(&user.id).await?);
            for post in &posts {
                all.add(self.counts(text_of(post, "id")).await?);
            }
        }
        Ok(all)
    }

    async fn list_about(&mut self, about: About, post: &Post) -> Result<Effort, Failure> {
        let text = format!("SELECT * FROM c WHERE c.postId = '{}' AND c.type = '{}'", post.id, about.kind());
        let (mut all, found) = self.query(self.model.posts, Some(&post.id), &text).await?;
        if self.model.version == 1 {
            for item in &found {
                all.add(self.read_user(text_of(item, "userId")).await?);
            }
        }
        Ok(all)
    }

    async fn newest(&mut self) -> Result<Effort, Failure> {
        let text =
            format!("SELECT TOP {NEWEST_POSTS} * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC");
        if self.model.version == 3 {
            return Ok(self.query(FEED, Some("post"), &text).await?.0);
        }
        let (mut all, posts) = self.query(self.model.posts, None, &text).await?;
        if self.model.version == 1 {
            for post in &posts {
                all.add(self.author_and_counts(text_of(post, "id"), text_of(post, "userId")).await?);
            }
        }
        Ok(all)
    }

    /// Asks a query to its end; returns the items where the version needs them to ask on.
    async fn query(
        &mut self,
        place: Place,
        key: Option<&str>,
        text: &str,
    ) -> Result<(Effort, Vec<Value>), Failure> {
        let (mut all, mut found) = (Effort::default(), Vec::new());
        let key = key.map(partition_key);
        let mut continuation: Option<String> = None;
        for _ in 0..QUERY_PAGES_MAX {
            let query = Query {
                text,
                scope: key.as_deref().map_or(Scope::All, Scope::Key),
                items_max: Some(NEWEST_POSTS),
                continuation: continuation.as_deref(),
                ..Query::default()
            };
            let done = self.session.query(place.database, place.container, &query).await?;
            all.add(effort(&done, count_of_page(&done.body)));
            if self.model.version == 1 {
                found.extend(page(&done.body)?);
            }
            continuation = done.continuation;
            if continuation.is_none() {
                break;
            }
        }
        Ok((all, found))
    }
}

fn effort(done: &Done, items: u64) -> Effort {
    Effort { charge: Some(done.charge), requests: 1, items }
}

fn text_of<'v>(item: &'v Value, name: &str) -> &'v str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}
