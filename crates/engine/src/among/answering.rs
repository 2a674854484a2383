//! Answering other processes that ask about the resource tree.

use std::time::Duration;

use armilla_container::wire::{In, Out, unreadable};
use bytes::Bytes;

use super::Among;
use super::messages::{COMMIT, FIGURES, FOLLOW, LOCK, RESHAPE, UNLOCK, answer, done, read_records};
use super::session::NodeSession;
use crate::error::Result;

/// How long one who asks what is new is kept waiting.
const FOLLOW_WAIT: Duration = Duration::from_millis(500);

impl Among {
    /// Answers a request about the tree.
    pub(super) async fn serve_tree(&self, session: &NodeSession, request: Bytes) -> Bytes {
        answer(self.answer_tree(session, In::new(request)).await)
    }

    async fn answer_tree(&self, session: &NodeSession, mut from: In) -> Result<Out> {
        let kind = from.u8()?;
        if kind == UNLOCK {
            let lock = from.u64()?;
            self.keeper.end_turn(lock, &session.life);
            return Ok(done());
        }
        match kind {
            RESHAPE => return self.serve_reshape(from),
            FIGURES => return self.serve_figures(),
            _ => {}
        }
        let keeper = &self.keeper;
        keeper.open(self.nodes.as_ref()).await?;
        match kind {
            FOLLOW => {
                let (node, epoch, number) = (from.text()?, from.u64()?, from.u64()?);
                from.end()?;
                if (epoch, number) == (0, 0) {
                    // Who asks for everything may want to know what became of its own change.
                    keeper.settle(&node).await;
                    keeper.open(self.nodes.as_ref()).await?;
                }
                let mut told = keeper.told.subscribe();
                keeper.heard(node, epoch, number)?;
                keeper.tell();
                told.mark_unchanged();
                let mut news = keeper.news(epoch, number)?;
                let wait = self.env.clock.sleep(FOLLOW_WAIT);
                tokio::pin!(wait);
                while (news.epoch, news.number) == (epoch, number) {
                    tokio::select! {
                        biased;
                        _ = told.changed() => news = keeper.news(epoch, number)?,
                        () = &mut wait => break,
                    }
                }
                let mut out = done();
                news.write(&mut out);
                Ok(out)
            }
            LOCK => {
                let (lock, node) = (from.u64()?, from.text()?);
                let (epoch, number) = (from.u64()?, from.u64()?);
                from.end()?;
                keeper.take_turn(self.nodes.as_ref(), lock, &node, &session.life).await;
                let mut out = done();
                // Who is refused does not know that it is its turn.
                let news = keeper.news(epoch, number);
                news.inspect_err(|_| keeper.end_turn(lock, &session.life))?.write(&mut out);
                Ok(out)
            }
            COMMIT => {
                let (lock, node) = (from.u64()?, from.text()?);
                let records = read_records(&mut from)?;
                from.end()?;
                let number = keeper.store(self.nodes.clone(), lock, &session.life, node, records).await?;
                let mut out = done();
                out.u64(number);
                Ok(out)
            }
            _ => Err(unreadable().into()),
        }
    }
}
