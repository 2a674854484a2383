//! Q6: the hundred newest posts.
//!
//! In the first two versions every physical partition is asked for its newest, five times an even share, as many as the
//! service's own clients ask for, and the application puts them in order. A partition that has given all it was asked
//! for, and may still be ahead, is asked for more. In the third version the newest lie in one logical partition.

use std::collections::BinaryHeap;
use std::sync::Arc;

use anyhow::{Result, bail};
use armilla_client::{Scope, Session};
use bytes::Bytes;

use super::Spent;
use super::application::{Application, list};
use super::lists::{Aside, counts, expect_rows};
use crate::fan::Doing;
use crate::figures::{FEED_POSTS, feed_page_items};
use crate::items::Version;
use crate::model::{self, FEED_KEY, FEED_V3, Place};
use crate::rows::{Rows, string_member};

/// Returns the query of so many of the newest posts.
pub(super) fn newest_query(posts: usize) -> String {
    format!("SELECT TOP {posts} * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC")
}

/// What a physical partition is asked for.
struct Ask {
    range: String,
    place: &'static Place,
    text: Arc<str>,
}

/// What it answered.
struct Page {
    spent: Spent,
    body: Bytes,
}

fn ask<'a>(session: &'a mut Session, ask: &'a Ask) -> Doing<'a, Page> {
    Box::pin(async move {
        let mut spent = Spent::default();
        let scope = Scope::Range(&ask.range);
        let done = list(session, ask.place, &ask.text, "", scope, &mut spent).await?;
        Ok(Page { spent, body: done.body })
    })
}

/// A post that some partition gave: date, id, author, and which partition it was.
type Found = (String, String, String, usize);

impl Application {
    pub(super) async fn newest(&mut self) -> Result<Spent> {
        let mut spent = Spent::default();
        if self.version == Version::V3 {
            let scope = Scope::Key(FEED_KEY);
            let text = newest_query(FEED_POSTS);
            let done = list(self.fan.one(), &FEED_V3, &text, "", scope, &mut spent).await?;
            expect_rows(&done.body, FEED_POSTS as u32, &spent)?;
            return Ok(spent);
        }
        let newest = self.newest_of_all(&mut spent).await?;
        if self.version == Version::V1 {
            let mut asides = Vec::with_capacity(3 * newest.len());
            for (_, id, author, _) in newest {
                asides.extend(counts(&id));
                asides.push(Aside::User(author));
            }
            self.ask_asides(asides, &mut spent).await?;
        }
        Ok(spent)
    }

    /// Asks every partition and returns the newest of what they gave, the newest first.
    async fn newest_of_all(&mut self, spent: &mut Spent) -> Result<Vec<Found>> {
        let share = feed_page_items(self.ranges.len() as u32);
        let place = model::posts(self.version);
        let text: Arc<str> = newest_query(share).into();
        let asks = self.ranges.iter().map(|range| Ask { range: range.clone(), place, text: text.clone() });
        let pages = self.fan.each(asks.collect(), ask).await?;
        let mut found: BinaryHeap<Found> = BinaryHeap::with_capacity(pages.len() * share);
        // How many of a partition's posts are still in the heap, and whether it may have more.
        let mut left = Vec::with_capacity(pages.len());
        for (index, page) in pages.into_iter().enumerate() {
            spent.merge(page.spent);
            let count = take_page(&page.body, index, 0, &mut found)?;
            left.push((count, count == share && share < FEED_POSTS));
        }
        let mut newest = Vec::with_capacity(FEED_POSTS);
        while newest.len() < FEED_POSTS {
            // Whoever has given all that it was asked for may have more that is newer than the rest.
            for (index, (count, has_more)) in left.iter_mut().enumerate() {
                if *count == 0 && *has_more {
                    let text = newest_query(FEED_POSTS).into();
                    let more = Ask { range: self.ranges[index].clone(), place, text };
                    let page = ask(self.fan.one(), &more).await?;
                    spent.merge(page.spent);
                    *count = take_page(&page.body, index, share, &mut found)?;
                    *has_more = false;
                }
            }
            let Some(post) = found.pop() else { bail!("there are only {} posts", newest.len()) };
            left[post.3].0 -= 1;
            newest.push(post);
        }
        Ok(newest)
    }
}

/// Puts the posts of a page, but for the first of them, among those that were found; returns how many.
fn take_page(body: &[u8], index: usize, known: usize, found: &mut BinaryHeap<Found>) -> Result<usize> {
    let mut count = 0;
    for row in Rows::of(body)?.skip(known) {
        let row = row?;
        let text = |name| string_member(row, name).map(|text| text.into_owned());
        found.push((text("creationDate")?, text("id")?, text("userId")?, index));
        count += 1;
    }
    Ok(count)
}
