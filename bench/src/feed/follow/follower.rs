//! Followers of a change feed: each reads from the present end on, with a wait, until it has seen the last write.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Result, ensure};

use super::board::Board;
use crate::feed::page_client::{PageClient, Start};
use crate::items::find_orders;
use crate::measure::Latencies;

/// Seconds that the server waits for changes.
const WAIT_SECONDS: u32 = 2;

/// Items in a page, at most.
const PAGE_ITEMS: usize = 1_000;

/// What followers got.
pub(super) struct Followed {
    /// From acknowledgements to deliveries.
    pub(super) delays: Latencies,
    /// Pages with changes.
    pub(super) pages: u64,
}

/// Begins to follow, on a thread of its own.
pub(super) fn begin(board: &Arc<Board>, address: SocketAddr, count: usize) -> JoinHandle<Result<Followed>> {
    let board = board.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let followers: Vec<_> =
                (0..count).map(|_| tokio::spawn(follow(board.clone(), address))).collect();
            let mut all = Followed { delays: Latencies::new(), pages: 0 };
            let mut failed = None;
            for follower in followers {
                match follower.await? {
                    Ok(own) => {
                        all.delays.add(&own.delays);
                        all.pages += own.pages;
                    }
                    Err(error) => failed = Some(error),
                }
            }
            failed.map_or(Ok(all), Err)
        })
    })
}

async fn follow(board: Arc<Board>, address: SocketAddr) -> Result<Followed> {
    let clock = board.env.clock.clone();
    let mut client = PageClient::open(&board.env, address, PAGE_ITEMS).await?;
    client.seek(Start::Now);
    let first = client.next(None).await?;
    ensure!(first.is_unchanged, "a feed that begins now has {} items", first.items);
    board.follower_is_ready();
    let mut followed = Followed { delays: Latencies::new(), pages: 0 };
    let mut seen = vec![0; board.items.count];
    loop {
        let page = client.next(Some(WAIT_SECONDS)).await?;
        if page.is_unchanged {
            if board.is_given_up() {
                return Ok(followed);
            }
            continue;
        }
        let now = clock.elapsed();
        followed.pages += 1;
        let mut has_ended = false;
        for (index, version) in find_orders(std::str::from_utf8(page.reply.body)?) {
            let number = usize::try_from(version)?;
            followed.delays.record(board.delay(number, now));
            seen[index] = u32::try_from(version)?;
            has_ended |= board.is_last(number);
        }
        if has_ended {
            board.check(&seen)?;
            return Ok(followed);
        }
    }
}
