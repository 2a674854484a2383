//! The shape of the data: who there is, who wrote what and when, all from a seed.
//!
//! As the published example says it: 5 to 50 posts a user, up to 25 comments and 100 likes a post. How long the texts
//! are is not published; the lengths here are those that the model of charges assumes (docs/request-units.md).
//!
//! Nothing is kept: every user and every post can be asked for by its number, in any order. At every scale there are
//! one user and three posts of exactly the shape that the published figures tell of. Those are measured.
//!
//! Not here: how all this is written as items (`items`).

use armilla_env::Random;

use crate::dates::{self, DATE_BYTES, TICKS_PER_DAY, TICKS_PER_MINUTE};
use crate::guid::Guid;

/// Posts of a user, at least and at most.
const POSTS: (u64, u64) = (5, 50);

/// Comments on a post, at most.
const COMMENTS_MAX: u64 = 25;

/// Likes of a post, at most.
const LIKES_MAX: u64 = 100;

/// Posts of the user that is measured.
pub(crate) const TESTED_POSTS: u32 = 27;

/// Comments on the post that is measured.
pub(crate) const TESTED_COMMENTS: u32 = 20;

/// Likes of the post that is measured, and of each post of the user that is measured.
pub(crate) const TESTED_LIKES: u32 = 50;

/// Comments on the posts of the user that is measured, in turn: 12.5, the mean of all.
const TURN_COMMENTS: [u32; 2] = [12, 13];

/// The newest post is from then: noon of a day in May 2019.
const NEWEST_TICKS: i64 = 1_558_612_800 * dates::TICKS_PER_SECOND;

/// Somebody posts so often, on average. Comments and likes come within an hour, so that the order of dates has, in
/// every part of the ring, about as many of them between two posts as a post has.
const BETWEEN_POSTS_TICKS: i64 = 5 * TICKS_PER_MINUTE;

/// When comments and likes have come.
const ANSWERED_TICKS: u64 = 60 * TICKS_PER_MINUTE as u64;

/// How many characters a user name has.
pub(crate) const NAME_BYTES: usize = 14;

/// The text of a user name.
pub(crate) type Name = [u8; NAME_BYTES];

/// What numbers of things are drawn for; part of every generator's origin.
#[derive(Clone, Copy)]
enum Subject {
    UserId = 1,
    PostCount = 2,
    Post = 3,
    Answers = 4,
    Text = 5,
    New = 6,
}

/// All users and what they wrote.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    seed: u64,
    users: u32,
    span_ticks: u64,
}

/// A post, without its text.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) id: Guid,
    /// The number of the user who wrote it.
    pub(crate) author: u32,
    pub(crate) date_ticks: i64,
    pub(crate) comments: u32,
    pub(crate) likes: u32,
    /// Which post of its author it is.
    number: u32,
}

impl Post {
    /// Makes a post that nobody has answered yet.
    pub(crate) fn new(id: Guid, author: u32, date_ticks: i64) -> Post {
        Post { id, author, date_ticks, comments: 0, likes: 0, number: 0 }
    }
}

/// What somebody said about a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    Comment,
    Like,
}

/// A comment or like, without its text.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) kind: AnswerKind,
    pub(crate) id: Guid,
    pub(crate) author: u32,
    pub(crate) date: [u8; DATE_BYTES],
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) users: u64,
    pub(crate) posts: u64,
    pub(crate) comments: u64,
    pub(crate) likes: u64,
}

impl Totals {
    /// Returns how many items the container of posts has.
    pub(crate) fn in_posts(&self) -> u64 {
        self.posts + self.comments + self.likes
    }
}

/// The posts that are measured: to be read in every version, and one for each version that is written to.
pub(crate) const SPECIAL_POSTS: u32 = 3;

impl Shape {
    /// Takes the seed and how many users there are beside the one that is measured.
    pub(crate) fn new(seed: u64, users: u32) -> Shape {
        let expected_posts = i64::from(users.max(1)) * (POSTS.0 + POSTS.1) as i64 / 2;
        Shape { seed, users: users.max(1), span_ticks: (expected_posts * BETWEEN_POSTS_TICKS) as u64 }
    }

    /// Returns how many users there are, with the one that is measured.
    pub(crate) fn user_count(&self) -> u32 {
        self.users + 1
    }

    /// Returns the number of the user that is measured.
    pub(crate) fn tested_user(&self) -> u32 {
        self.users
    }

    /// Returns the id of a user.
    pub(crate) fn user_id(&self, user: u32) -> Guid {
        Guid::random(&mut self.random(Subject::UserId, &[u64::from(user)]))
    }

    /// Returns the name that a user has at first.
    pub(crate) fn user_name(&self, user: u32) -> Name {
        name(b"user-", u64::from(user))
    }

    /// Returns how many posts a user wrote.
    pub(crate) fn post_count(&self, user: u32) -> u32 {
        if user == self.tested_user() {
            return TESTED_POSTS;
        }
        let special = if user == 0 { SPECIAL_POSTS } else { 0 };
        special + self.random(Subject::PostCount, &[u64::from(user)]).between(POSTS.0, POSTS.1) as u32
    }

    /// Returns a post of a user, counted from 0.
    pub(crate) fn post(&self, author: u32, number: u32) -> Post {
        let mut random = self.random(Subject::Post, &[u64::from(author), u64::from(number)]);
        let id = Guid::random(&mut random);
        let mut date_ticks = NEWEST_TICKS - random.below(self.span_ticks) as i64;
        let (comments, likes) = if author == self.tested_user() {
            (TURN_COMMENTS[number as usize % 2], TESTED_LIKES)
        } else if author == 0 && number < SPECIAL_POSTS {
            // Older than all that are listed as the newest.
            date_ticks = NEWEST_TICKS - self.span_ticks as i64 - 30 * TICKS_PER_DAY;
            (TESTED_COMMENTS, TESTED_LIKES)
        } else {
            (random.between(0, COMMENTS_MAX) as u32, random.between(0, LIKES_MAX) as u32)
        };
        Post { id, author, date_ticks, comments, likes, number }
    }

    /// Returns one of the posts that are measured.
    pub(crate) fn special_post(&self, number: u32) -> Post {
        self.post(0, number % SPECIAL_POSTS)
    }

    /// Returns the comments and likes of a post, mixed.
    pub(crate) fn answers<'s>(&'s self, post: &'s Post) -> impl Iterator<Item = Answer> + 's {
        let mut random = self.random(Subject::Answers, &[u64::from(post.author), u64::from(post.number)]);
        let (mut comments, mut likes) = (u64::from(post.comments), u64::from(post.likes));
        std::iter::from_fn(move || {
            let left = comments + likes;
            if left == 0 {
                return None;
            }
            let kind = if random.below(left) < comments { AnswerKind::Comment } else { AnswerKind::Like };
            match kind {
                AnswerKind::Comment => comments -= 1,
                AnswerKind::Like => likes -= 1,
            }
            let id = Guid::random(&mut random);
            let author = random.below(u64::from(self.users)) as u32;
            let date = dates::text(post.date_ticks + 1 + random.below(ANSWERED_TICKS) as i64);
            Some(Answer { kind, id, author, date })
        })
    }

    /// Returns what the texts of a post and of its comments are drawn from.
    pub(crate) fn text_random(&self, post: &Post) -> Random {
        self.random(Subject::Text, &[u64::from(post.author), u64::from(post.number)])
    }

    /// Returns a generator for things that come later; each use has its own number.
    pub(crate) fn new_things(&self, number: u64) -> Random {
        self.random(Subject::New, &[number])
    }

    /// Returns a moment after all that was loaded, the later the higher the number.
    pub(crate) fn later_ticks(&self, number: u64) -> i64 {
        NEWEST_TICKS + TICKS_PER_DAY + number as i64 * dates::TICKS_PER_SECOND
    }

    /// Counts everything.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals { users: u64::from(self.user_count()), ..Totals::default() };
        for user in 0..self.user_count() {
            let posts = self.post_count(user);
            totals.posts += u64::from(posts);
            for number in 0..posts {
                let post = self.post(user, number);
                totals.comments += u64::from(post.comments);
                totals.likes += u64::from(post.likes);
            }
        }
        totals
    }

    fn random(&self, subject: Subject, parts: &[u64]) -> Random {
        let mut all = [subject as u64, 0, 0];
        all[1..=parts.len()].copy_from_slice(parts);
        Random::of_thing(self.seed, &all[..=parts.len()])
    }
}

/// Returns a name of a beginning and a number.
pub(crate) fn name(beginning: &[u8; 5], mut number: u64) -> Name {
    let mut name = [b'0'; NAME_BYTES];
    name[..5].copy_from_slice(beginning);
    for digit in name[5..].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    name
}

#[cfg(test)]
mod tests;
