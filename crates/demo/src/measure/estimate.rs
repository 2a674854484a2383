//! What queries over all physical partitions would cost with another number of them.
//!
//! A query costs something for every partition that it opens, and something for what it finds. Both are taken from
//! answers: what a partition costs that finds nothing, and what each partition costs by itself. The sum of the latter is
//! also what a client pays that asks the partitions one by one, so it shows whether a query that the server puts
//! together costs the same.

use anyhow::Result;
use armilla_client::Scope;

use super::application::{Application, list, parameters};
use super::feed::newest_query;
use super::lists::POSTS_OF_USER;
use super::{Cell, Spent};
use crate::figures::{FEED_POSTS, Operation, PUBLISHED_PARTITIONS, feed_page_items};
use crate::items::Version;

/// What the queries over all partitions cost where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FanOut {
    pub(crate) version: Version,
    pub(crate) partitions: u32,
    /// A user's posts: what a partition costs that finds nothing.
    pub(crate) posts_per_partition: f64,
    /// A user's posts: the sum over all partitions, each asked by itself.
    pub(crate) posts_one_by_one: f64,
    /// A user's posts: what the server charges when it puts them together.
    pub(crate) posts_merged: f64,
    /// The newest posts: what a page costs of the size that goes with the published number of partitions, on average.
    pub(crate) feed_page: f64,
    /// The newest posts: the sum of first pages of the size that goes with the number of partitions there are.
    pub(crate) feed_one_by_one: f64,
    /// The newest posts: what the server charges when it puts them together.
    pub(crate) feed_merged: f64,
}

impl Application {
    /// Asks all partitions, one by one and together.
    pub(super) async fn fan_out(&mut self) -> Result<FanOut> {
        let user = self.shape.user_id(self.shape.tested_user());
        let of_user = parameters(&[("@user", user.as_str())]);
        let nobody = parameters(&[("@user", "nobody")]);
        let (place, version) = (self.posts(), self.version);
        let ranges = self.ranges.clone();
        let newest = newest_query(FEED_POSTS);
        let of_share = newest_query(feed_page_items(ranges.len() as u32));
        let of_published = newest_query(feed_page_items(PUBLISHED_PARTITIONS));
        let session = self.fan.one();
        let (mut nothing, mut posts, mut merged) = (Spent::default(), Spent::default(), Spent::default());
        let (mut pages, mut published_pages) = (Spent::default(), Spent::default());
        for range in &ranges {
            let scope = Scope::Range(range);
            list(session, place, POSTS_OF_USER, &nobody, scope, &mut nothing).await?;
            list(session, place, POSTS_OF_USER, &of_user, scope, &mut posts).await?;
            list(session, place, &of_share, "", scope, &mut pages).await?;
            list(session, place, &of_published, "", scope, &mut published_pages).await?;
        }
        list(session, place, POSTS_OF_USER, &of_user, Scope::All, &mut merged).await?;
        let mut feed_merged = Spent::default();
        list(session, place, &newest, "", Scope::All, &mut feed_merged).await?;
        let count = ranges.len().max(1) as f64;
        Ok(FanOut {
            version,
            partitions: ranges.len() as u32,
            posts_per_partition: nothing.charge / count,
            posts_one_by_one: posts.charge,
            posts_merged: merged.charge,
            feed_page: published_pages.charge / count,
            feed_one_by_one: pages.charge,
            feed_merged: feed_merged.charge,
        })
    }
}

impl FanOut {
    /// Returns what a cell's operation would cost with the published number of partitions, if it fans out.
    pub(crate) fn at_published(&self, cell: &Cell) -> Option<f64> {
        let published = f64::from(PUBLISHED_PARTITIONS);
        if self.partitions == PUBLISHED_PARTITIONS {
            return None;
        }
        match cell.operation {
            Operation::Q3 => {
                let difference = published - f64::from(self.partitions);
                Some(cell.charge + difference * self.posts_per_partition)
            }
            Operation::Q6 => Some(cell.charge - self.feed_one_by_one + published * self.feed_page),
            _ => None,
        }
    }
}
