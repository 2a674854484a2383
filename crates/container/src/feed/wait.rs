//! Waiting until a change feed may have something new.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use super::read::{FeedPart, feed_parts};
use super::token;
use crate::container::Container;
use crate::error::Result;
use crate::read::list::ListScope;

impl Container {
    /// Waits until a partition of the scope has commits behind the token, or others have taken the place of one. There
    /// need not be anything of the scope among them: read, and wait again.
    pub async fn feed_changed(&self, scope: &ListScope, token: &str) -> Result<()> {
        let mut map_changes = self.core.map_version.subscribe();
        let compiled = self.compiled();
        let map = self.map_now();
        let scope = self.feed_scope(&compiled, &map, scope)?;
        let parts = feed_parts(&map, &token::read(token, &scope.min, &scope.max)?);
        drop(scope);
        let mut waits: Vec<Pin<Box<dyn Future<Output = ()> + Send>>> = Vec::with_capacity(parts.len() + 1);
        for FeedPart { slot, arc, .. } in parts {
            let partition = self.settled(|| self.partition(&slot))?;
            if partition.far.is_some() {
                waits.push(Box::pin(async move { partition.wait_beyond(arc.after).await }));
                continue;
            }
            let mut newest = partition.watch_commits();
            waits.push(Box::pin(async move {
                // Where the partition is gone, so is its place in the map, or it is another process's.
                let _ = newest.wait_for(|lsn| *lsn > arc.after).await;
            }));
        }
        let version = map.version;
        waits.push(Box::pin(async move {
            let _ = map_changes.wait_for(|now| *now != version).await;
        }));
        // Who waits keeps no partition alive that was replaced.
        drop(map);
        poll_fn(|context| {
            let is_over = waits.iter_mut().any(|wait| wait.as_mut().poll(context).is_ready());
            if is_over { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        Ok(())
    }
}
