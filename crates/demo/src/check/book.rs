//! What a check remembers, and what it finds wrong.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_value::fingerprint;

use super::{Checked, Expected};
use crate::figures::FEED_POSTS;
use crate::limits::PROBLEMS_TOLD_MAX;
use crate::rows::{member, string_member};
use crate::shape::Totals;
use crate::workers::{Short, short_copy};

/// What is remembered.
#[derive(Default)]
pub(super) struct Book {
    expected: Option<Expected>,
    users: HashMap<Box<str>, User>,
    /// By the fingerprint of the id.
    posts: HashMap<u128, Post>,
    /// Dates and ids of the newest posts.
    newest: BTreeSet<(Box<str>, Box<str>)>,
    /// Dates and ids in the list of the newest.
    listed: BTreeSet<(Box<str>, Box<str>)>,
    users_v2: u64,
    found: Totals,
    items: u64,
    copies: u64,
    problem_count: u64,
    problems: Vec<String>,
}

struct User {
    name: Box<str>,
    /// Whether the other container has the user, too.
    is_in_v3: bool,
}

/// A post, as far as it has to be known.
struct Post {
    /// Of the copy that it should have.
    copy: u128,
    comment_count: u32,
    like_count: u32,
    comments: u32,
    likes: u32,
    copies: u32,
}

impl Book {
    pub(super) fn new(expected: Option<Expected>) -> Book {
        Book { expected, ..Book::default() }
    }

    /// A user of the second version.
    pub(super) fn user_v2(&mut self, row: &[u8]) -> Result<()> {
        self.items += 1;
        self.users_v2 += 1;
        let (id, name) = user(row)?;
        self.users.insert(id.into(), User { name: name.into(), is_in_v3: false });
        Ok(())
    }

    /// A user of the third version: has to be one of the second, too, with the same name, unless only measured.
    pub(super) fn user_v3(&mut self, row: &[u8]) -> Result<()> {
        self.items += 1;
        self.found.users += 1;
        let (id, name) = user(row)?;
        match self.users.get_mut(&*id) {
            Some(user) => {
                user.is_in_v3 = true;
                if *user.name != *name {
                    let other = user.name.clone();
                    self.problem(|| format!("user {id} is {other} in V2 and {name} in V3"));
                }
            }
            None => {
                self.users.insert(id.into(), User { name: name.into(), is_in_v3: true });
            }
        }
        Ok(())
    }

    /// A post.
    pub(super) fn post(&mut self, row: &[u8]) -> Result<()> {
        self.items += 1;
        self.found.posts += 1;
        let copy = short_copy(row)?;
        let count = |name| -> Result<u32> {
            let text = member(row, name)?.with_context(|| format!("a post has no {name}"))?;
            std::str::from_utf8(text)?.parse().with_context(|| format!("{name} is no number"))
        };
        let name = string_member(row, "userUsername")?;
        self.compare_name("post", &copy.id, &copy.user, &name);
        self.newest.insert((copy.date.as_str().into(), copy.id.as_str().into()));
        if self.newest.len() > FEED_POSTS {
            self.newest.pop_first();
        }
        let post = Post {
            copy: fingerprint(&copy.text),
            comment_count: count("commentCount")?,
            like_count: count("likeCount")?,
            comments: 0,
            likes: 0,
            copies: 0,
        };
        if self.posts.insert(fingerprint(copy.id.as_bytes()), post).is_some() {
            self.problem(|| format!("post {} is there twice", copy.id));
        }
        Ok(())
    }

    /// A comment or like.
    pub(super) fn answer(&mut self, row: &[u8]) -> Result<()> {
        self.items += 1;
        let post = string_member(row, "postId")?;
        let user = string_member(row, "userId")?;
        let name = string_member(row, "userUsername")?;
        let is_comment = member(row, "type")? == Some(b"\"comment\"");
        let kind = if is_comment { "comment" } else { "like" };
        self.compare_name(kind, &post, &user, &name);
        let counted = self.posts.get_mut(&fingerprint(post.as_bytes()));
        match (counted, is_comment) {
            (Some(post), true) => post.comments += 1,
            (Some(post), false) => post.likes += 1,
            (None, _) => self.problem(|| format!("a {kind} is about post {post}, which is not there")),
        }
        if is_comment {
            self.found.comments += 1;
        } else {
            self.found.likes += 1;
        }
        Ok(())
    }

    /// A copy at an author.
    pub(super) fn copy(&mut self, row: &[u8]) -> Result<()> {
        let copy = self.compare_copy("at its author", row)?;
        if let Some(post) = self.posts.get_mut(&fingerprint(copy.id.as_bytes())) {
            post.copies += 1;
        }
        Ok(())
    }

    /// A copy in the list of the newest.
    pub(super) fn newest(&mut self, row: &[u8]) -> Result<()> {
        let copy = self.compare_copy("in the list of the newest", row)?;
        self.listed.insert((copy.date.into(), copy.id.into()));
        Ok(())
    }

    fn compare_copy(&mut self, place: &str, row: &[u8]) -> Result<Short> {
        self.items += 1;
        self.copies += 1;
        let copy = short_copy(row)?;
        match self.posts.get(&fingerprint(copy.id.as_bytes())).map(|post| post.copy) {
            Some(source) if source == fingerprint(&copy.text) => {}
            Some(_) => {
                self.problem(|| format!("the copy {place} of post {} is not what it should be", copy.id))
            }
            None => {
                self.problem(|| format!("there is a copy {place} of post {}, which is not there", copy.id))
            }
        }
        Ok(copy)
    }

    fn compare_name(&mut self, kind: &str, post: &str, user: &str, name: &str) {
        let known = self.users.get(user).map(|user| user.name.clone());
        match known {
            Some(known) if *known == *name => {}
            Some(known) => {
                self.problem(|| format!("a {kind} of post {post} says {name}, but user {user} is {known}"));
            }
            None => self.problem(|| format!("a {kind} of post {post} is by user {user}, who is not there")),
        }
    }

    fn problem(&mut self, text: impl FnOnce() -> String) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_TOLD_MAX {
            self.problems.push(text());
        }
    }

    /// Says what was found.
    pub(super) fn finish(mut self, took: Duration) -> Checked {
        let posts = std::mem::take(&mut self.posts);
        for post in posts.values() {
            if (post.comment_count, post.like_count) != (post.comments, post.likes) {
                self.problem(|| {
                    format!(
                        "a post counts {} comments and {} likes, but has {} and {}",
                        post.comment_count, post.like_count, post.comments, post.likes
                    )
                });
            }
            if post.copies != 1 {
                self.problem(|| format!("a post has {} copies at its author", post.copies));
            }
        }
        self.compare_lists();
        if let Some(expected) = self.expected {
            for (what, found, wanted) in [
                ("users of V2", self.users_v2, expected.users_v2),
                ("users of V3", self.found.users, expected.users_v3),
                ("posts", self.found.posts, expected.posts.posts),
                ("comments", self.found.comments, expected.posts.comments),
                ("likes", self.found.likes, expected.posts.likes),
            ] {
                if found != wanted {
                    self.problem(|| format!("there are {found} {what}, but {wanted} were written"));
                }
            }
        }
        Checked {
            items: self.items,
            copies: self.copies,
            problem_count: self.problem_count,
            problems: self.problems,
            took,
        }
    }

    /// Posts of the very date that separates the list from the rest may be in or out.
    fn compare_lists(&mut self) {
        let oldest = self.newest.first().map(|(date, _)| date.clone());
        let (newest, listed) = (std::mem::take(&mut self.newest), std::mem::take(&mut self.listed));
        if newest.len() != listed.len() {
            self.problem(|| {
                format!("the list of the newest has {} posts instead of {}", listed.len(), newest.len())
            });
        }
        for (date, id) in newest.difference(&listed).filter(|(date, _)| Some(date) != oldest.as_ref()) {
            self.problem(|| format!("post {id} of {date} is not in the list of the newest"));
        }
        for (date, id) in listed.difference(&newest).filter(|(date, _)| Some(date) != oldest.as_ref()) {
            self.problem(|| format!("post {id} of {date} is in the list of the newest"));
        }
    }
}

fn user(row: &[u8]) -> Result<(String, String)> {
    Ok((string_member(row, "id")?.into_owned(), string_member(row, "username")?.into_owned()))
}

#[cfg(test)]
mod tests;
