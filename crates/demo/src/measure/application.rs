//! The application of the blog platform, in one of the versions: what it asks for each of its operations.

use std::sync::Arc;

use anyhow::Result;
use armilla_client::{Done, Query, Scope, Session};
use armilla_env::{Env, Random};

use super::Spent;
use crate::fan::Fan;
use crate::figures::Operation;
use crate::items::Version;
use crate::model::{self, Place};
use crate::rows::Rows;
use crate::shape::{Post, Shape, Totals};
use crate::words::Words;

/// The application.
pub(super) struct Application {
    pub(super) version: Version,
    pub(super) fan: Fan,
    pub(super) shape: Arc<Shape>,
    pub(super) words: Words,
    /// Ids of the physical partitions of the posts.
    pub(super) ranges: Vec<String>,
    /// For what is chosen and made anew.
    pub(super) random: Random,
    /// How many things were made.
    pub(super) made: u64,
    /// What there is more of.
    pub(super) added: Totals,
}

impl Application {
    pub(super) fn new(
        version: Version,
        fan: Fan,
        shape: Arc<Shape>,
        ranges: Vec<String>,
        env: Env,
    ) -> Application {
        // What is made must not be there from an earlier run.
        let mut bytes = [0; 8];
        env.entropy.fill(&mut bytes);
        let random = shape.new_things(u64::from_le_bytes(bytes));
        Application {
            version,
            fan,
            shape,
            words: Words::new(),
            ranges,
            random,
            made: 0,
            added: Totals::default(),
        }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn users(&self) -> &'static Place {
        model::users(self.version)
    }

    pub(super) fn posts(&self) -> &'static Place {
        model::posts(self.version)
    }

    /// Returns the post that is read.
    pub(super) fn tested_post(&self) -> Post {
        self.shape.special_post(0)
    }

    /// Does an operation once.
    pub(super) async fn perform(&mut self, operation: Operation) -> Result<Spent> {
        match operation {
            Operation::C1 => self.create_user().await,
            Operation::C2 => self.create_post().await,
            Operation::C3 => self.create_comment().await,
            Operation::C4 => self.create_like().await,
            Operation::Q1 => self.read_user().await,
            Operation::Q2 => self.read_post().await,
            Operation::Q3 => self.posts_of_user().await,
            Operation::Q4 => self.comments().await,
            Operation::Q5 => self.likes().await,
            Operation::Q6 => self.newest().await,
        }
    }
}

/// Reads a whole list and returns its first page, which has all rows unless a partition's second was used up meanwhile;
/// then it is as if it had been refused for its rate.
pub(super) async fn list(
    session: &mut Session,
    place: &Place,
    text: &str,
    parameters: &str,
    scope: Scope<'_>,
    spent: &mut Spent,
) -> Result<Done> {
    let query =
        Query { text, parameters, scope, items_max: Some(LIST_ROWS_MAX), continuation: None, explain: None };
    let done = session.query(place.database, place.container, &query).await?;
    spent.add(&done);
    let mut continuation = done.continuation.clone();
    while let Some(token) = continuation {
        let next = Query { continuation: Some(&token), ..query };
        let page = session.query(place.database, place.container, &next).await?;
        spent.add(&page);
        if Rows::of(&page.body)?.next().is_some() {
            spent.throttled += 1;
        }
        continuation = page.continuation;
    }
    Ok(done)
}

/// Rows of a page; no list of the application is longer.
const LIST_ROWS_MAX: u32 = 1_000;

/// Returns parameters of a query, all of them texts that JSON does not escape.
pub(super) fn parameters(pairs: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| format!(r#"{{"name":"{name}","value":"{value}"}}"#);
    format!("[{}]", pairs.iter().map(one).collect::<Vec<_>>().join(","))
}
