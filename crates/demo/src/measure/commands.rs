//! C1 to C4: creating users, posts, comments and likes.
//!
//! Comments and likes of the second and third version go through a procedure that counts them in their post.

use anyhow::Result;

use super::Spent;
use super::application::Application;
use crate::dates;
use crate::guid::Guid;
use crate::items::{self, Version, Writer};
use crate::model::{self, scripts};
use crate::shape::{Answer, AnswerKind, Post};

impl Application {
    pub(super) async fn create_user(&mut self) -> Result<Spent> {
        let id = Guid::random(&mut self.random);
        let name = crate::shape::name(b"made-", self.random.next_u64());
        let mut body = Vec::with_capacity(256);
        items::user(self.version, &id, &name, &mut body);
        let (place, key) = (self.users(), model::key(id.as_str()));
        let mut spent = Spent::default();
        spent.add(&self.fan.one().create_item(place.database, place.container, &key, body).await?);
        self.added.users += 1;
        Ok(spent)
    }

    pub(super) async fn create_post(&mut self) -> Result<Spent> {
        self.made += 1;
        let author = self.random.below(u64::from(self.shape.tested_user())) as u32;
        let post = Post::new(Guid::random(&mut self.random), author, self.shape.later_ticks(self.made));
        let (id, name) = (self.shape.user_id(author), self.shape.user_name(author));
        let writer = Writer { id: id.as_bytes(), name: &name };
        let mut body = Vec::with_capacity(2_048);
        items::post(self.version, &post, writer, &self.words, &mut self.random, &mut body);
        let (place, key) = (self.posts(), model::key(post.id.as_str()));
        let mut spent = Spent::default();
        spent.add(&self.fan.one().create_item(place.database, place.container, &key, body).await?);
        self.added.posts += 1;
        Ok(spent)
    }

    pub(super) async fn create_comment(&mut self) -> Result<Spent> {
        self.create_answer(AnswerKind::Comment).await
    }

    pub(super) async fn create_like(&mut self) -> Result<Spent> {
        self.create_answer(AnswerKind::Like).await
    }

    async fn create_answer(&mut self, kind: AnswerKind) -> Result<Spent> {
        self.made += 1;
        // One post is read only; the third version has another than the second, so that each has its own second.
        let post = self.shape.special_post(if self.version == Version::V3 { 2 } else { 1 });
        let author = self.random.below(u64::from(self.shape.tested_user())) as u32;
        let date = dates::text(self.shape.later_ticks(self.made));
        let answer = Answer { kind, id: Guid::random(&mut self.random), author, date };
        let (id, name) = (self.shape.user_id(author), self.shape.user_name(author));
        let writer = Writer { id: id.as_bytes(), name: &name };
        let (place, key) = (self.posts(), model::key(post.id.as_str()));
        let mut body = Vec::with_capacity(2_048);
        let is_counted = self.version != Version::V1;
        if is_counted {
            body.extend_from_slice(b"[\"");
            body.extend_from_slice(post.id.as_bytes());
            body.extend_from_slice(b"\",");
        }
        items::answer(self.version, &answer, &post.id, writer, &self.words, &mut self.random, &mut body);
        let session = self.fan.one();
        let done = if is_counted {
            body.push(b']');
            let procedure = match kind {
                AnswerKind::Comment => scripts::CREATE_COMMENT,
                AnswerKind::Like => scripts::CREATE_LIKE,
            };
            session.execute(place.database, place.container, procedure, &key, body).await?
        } else {
            session.create_item(place.database, place.container, &key, body).await?
        };
        match kind {
            AnswerKind::Comment => self.added.comments += 1,
            AnswerKind::Like => self.added.likes += 1,
        }
        let mut spent = Spent::default();
        spent.add(&done);
        Ok(spent)
    }
}
