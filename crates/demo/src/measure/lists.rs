//! Q1 to Q5: reading a user, a post, and lists of one user or post.
//!
//! In the first version names and counts are asked for one by one; in the second they stand in the items; in the third
//! a user's posts lie with the user.

use anyhow::{Result, bail};
use armilla_client::{Scope, Session};

use super::Spent;
use super::application::{Application, list, parameters};
use crate::fan::Doing;
use crate::items::Version;
use crate::model::{self, POSTS_V1, USERS_V1};
use crate::rows::{Rows, string_member};
use crate::shape::{TESTED_COMMENTS, TESTED_LIKES, TESTED_POSTS};

const ABOUT_POST: &str = "SELECT * FROM c WHERE c.postId = @post AND c.type = @type";
const COUNT_ABOUT_POST: &str = "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @post AND c.type = @type";
pub(super) const POSTS_OF_USER: &str = "SELECT * FROM c WHERE c.userId = @user AND c.type = 'post'";

/// What the first version asks for beside what it has.
pub(super) enum Aside {
    /// The user of an id, for the name.
    User(String),
    /// How many comments or likes a post has.
    Count { post: String, kind: &'static str },
}

/// Asks for something beside.
pub(super) fn ask_aside<'a>(session: &'a mut Session, aside: &'a Aside) -> Doing<'a, Spent> {
    Box::pin(async move {
        let mut spent = Spent::default();
        match aside {
            Aside::User(id) => {
                let key = model::key(id);
                spent.add(&session.read_item(USERS_V1.database, USERS_V1.container, &key, id).await?);
            }
            Aside::Count { post, kind } => {
                let key = model::key(post);
                let parameters = parameters(&[("@post", post), ("@type", kind)]);
                let scope = Scope::Key(&key);
                list(session, &POSTS_V1, COUNT_ABOUT_POST, &parameters, scope, &mut spent).await?;
            }
        }
        Ok(spent)
    })
}

/// Returns the two counts of a post.
pub(super) fn counts(post: &str) -> [Aside; 2] {
    ["comment", "like"].map(|kind| Aside::Count { post: post.to_owned(), kind })
}

impl Application {
    /// Asks for several things beside, over several connections.
    pub(super) async fn ask_asides(&mut self, asides: Vec<Aside>, spent: &mut Spent) -> Result<()> {
        for one in self.fan.each(asides, ask_aside).await? {
            spent.merge(one);
        }
        Ok(())
    }

    pub(super) async fn read_user(&mut self) -> Result<Spent> {
        let user = self.random.below(u64::from(self.shape.user_count())) as u32;
        let id = self.shape.user_id(user);
        let place = self.users();
        let key = model::key(id.as_str());
        let mut spent = Spent::default();
        spent.add(&self.fan.one().read_item(place.database, place.container, &key, id.as_str()).await?);
        Ok(spent)
    }

    pub(super) async fn read_post(&mut self) -> Result<Spent> {
        let post = self.tested_post();
        let (id, place) = (post.id.as_str(), self.posts());
        let key = model::key(id);
        let mut spent = Spent::default();
        let done = self.fan.one().read_item(place.database, place.container, &key, id).await?;
        spent.add(&done);
        if self.version == Version::V1 {
            let author = string_member(&done.body, "userId")?.into_owned();
            let mut asides = vec![Aside::User(author)];
            asides.extend(counts(id));
            self.ask_asides(asides, &mut spent).await?;
        }
        Ok(spent)
    }

    pub(super) async fn posts_of_user(&mut self) -> Result<Spent> {
        let user = self.shape.user_id(self.shape.tested_user());
        let parameters = parameters(&[("@user", user.as_str())]);
        let mut spent = Spent::default();
        let key = model::key(user.as_str());
        let (place, scope) = match self.version {
            Version::V1 | Version::V2 => (self.posts(), Scope::All),
            Version::V3 => (self.users(), Scope::Key(&key)),
        };
        let done = list(self.fan.one(), place, POSTS_OF_USER, &parameters, scope, &mut spent).await?;
        if self.version == Version::V1 {
            let mut asides = vec![Aside::User(user.as_str().to_owned())];
            for row in Rows::of(&done.body)? {
                asides.extend(counts(&string_member(row?, "id")?));
            }
            self.ask_asides(asides, &mut spent).await?;
        }
        expect_rows(&done.body, TESTED_POSTS, &spent)?;
        Ok(spent)
    }

    pub(super) async fn comments(&mut self) -> Result<Spent> {
        self.about_post("comment", TESTED_COMMENTS).await
    }

    pub(super) async fn likes(&mut self) -> Result<Spent> {
        self.about_post("like", TESTED_LIKES).await
    }

    async fn about_post(&mut self, kind: &str, count: u32) -> Result<Spent> {
        let post = self.tested_post();
        let key = model::key(post.id.as_str());
        let parameters = parameters(&[("@post", post.id.as_str()), ("@type", kind)]);
        let mut spent = Spent::default();
        let place = self.posts();
        let done = list(self.fan.one(), place, ABOUT_POST, &parameters, Scope::Key(&key), &mut spent).await?;
        if self.version == Version::V1 {
            let mut asides = Vec::with_capacity(count as usize);
            for row in Rows::of(&done.body)? {
                asides.push(Aside::User(string_member(row?, "userId")?.into_owned()));
            }
            self.ask_asides(asides, &mut spent).await?;
        }
        expect_rows(&done.body, count, &spent)?;
        Ok(spent)
    }
}

/// Checks that an answer has as many rows as there are: a wrong answer has no latency.
pub(super) fn expect_rows(body: &[u8], count: u32, spent: &Spent) -> Result<()> {
    if spent.throttled > 0 {
        return Ok(());
    }
    // What the server counted; the rows themselves are for whoever shows them.
    const COUNT: &[u8] = b"\"_count\":";
    let tail = &body[body.len().saturating_sub(64)..];
    let found = tail.windows(COUNT.len()).rposition(|window| window == COUNT).map(|at| {
        let digits = tail[at + COUNT.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    });
    let found = match found {
        Some(found) => found,
        None => Rows::of(body)?.collect::<Result<Vec<_>>>()?.len() as u32,
    };
    if found != count {
        bail!("a list has {found} rows instead of {count}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_wherever_the_count_stands() {
        for body in [
            r#"{"_rid":"x","Documents":[1,2,3],"_count":3}"#,
            r#"{"_count":3,"_rid":"x","Documents":[{"a":"01234567890123456789012345678901234567890123456789"},2,3]}"#,
        ] {
            assert!(expect_rows(body.as_bytes(), 3, &Spent::default()).is_ok());
            assert!(expect_rows(body.as_bytes(), 4, &Spent::default()).is_err());
            assert!(expect_rows(body.as_bytes(), 4, &Spent { throttled: 1, ..Spent::default() }).is_ok());
        }
    }
}
