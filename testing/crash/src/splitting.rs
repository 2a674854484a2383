//! Everything that a run with splits has besides: who asks for them, who walks through all items meanwhile, and the items
//! that there are for both.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::Composer;
use armilla_env::{Env, Random};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::aim::{Aim, Met};
use crate::ballast::Ballast;
use crate::ledger::Commit;
use crate::surveyor::Surveyor;
use crate::walker::Walker;
use crate::writer::Round;

/// Bytes at which the server splits a partition by itself: the items here make a few of them.
pub(crate) const PARTITION_BYTES: u64 = 2 * 1024 * 1024;

/// Who works during splits, over all rounds.
pub(crate) struct Splitting {
    surveyor: Option<Surveyor>,
    walker: Option<Walker>,
    pub(crate) ballast: Arc<Ballast>,
}

/// They at work in one round.
pub(crate) struct AtWork {
    /// Resolves when the server is to be killed.
    pub(crate) now: oneshot::Receiver<()>,
    surveying: JoinHandle<Surveyor>,
    walking: JoinHandle<Walker>,
}

/// What a round had of splits and merges.
#[derive(Debug)]
pub(crate) struct Splits {
    /// What the end of the server met.
    pub(crate) met: Met,
    /// Splits and merges that came to their end before.
    pub(crate) finished: u64,
    /// Those that the server did not begin.
    pub(crate) refused: u64,
    /// Walks through all items that came to their end before.
    pub(crate) walks: u64,
    /// Whether a walk went on after the restart.
    pub(crate) has_gone_on: bool,
}

impl Splitting {
    /// Puts the items in; returns their commits as well.
    pub(crate) async fn open(
        address: SocketAddr,
        composer: &Composer,
        env: &Env,
        ballast: usize,
        seed: u64,
    ) -> Result<(Splitting, Vec<Commit>)> {
        let (ballast, commits) = Ballast::load(address, composer, ballast, seed).await?;
        let splitting = Splitting {
            surveyor: Some(Surveyor::new(env)),
            walker: Some(Walker::new(env)),
            ballast: Arc::new(ballast),
        };
        Ok((splitting, commits))
    }

    /// Sends them to work.
    pub(crate) fn start(
        &mut self,
        round: &Arc<Round>,
        [surveying, walking]: [Random; 2],
        aim: Option<Aim>,
    ) -> Result<AtWork> {
        let (now_sender, now) = oneshot::channel();
        let surveyor = self.surveyor.take().context("no surveyor is there")?;
        let walker = self.walker.take().context("no walker is there")?;
        Ok(AtWork {
            now,
            surveying: tokio::spawn(surveyor.run(round.clone(), surveying, aim, now_sender)),
            walking: tokio::spawn(walker.run(round.clone(), self.ballast.clone(), walking)),
        })
    }

    /// Takes them back; returns what was wrong.
    pub(crate) async fn finish(&mut self, at_work: AtWork, longest: Duration) -> Result<Vec<String>> {
        let surveyor = timeout(longest, at_work.surveying).await.context("the surveyor hangs")??;
        let walker = timeout(longest, at_work.walking).await.context("the walker hangs")??;
        let wrong = surveyor.done.wrong.iter().chain(&walker.wrong).cloned().collect();
        (self.surveyor, self.walker) = (Some(surveyor), Some(walker));
        Ok(wrong)
    }

    /// Says what the round had, and lets the walk go on that the restart broke off.
    pub(crate) async fn restarted(
        &mut self,
        connection: &mut Connection,
        random: &mut Random,
    ) -> Result<(Splits, Vec<String>)> {
        let surveyor = self.surveyor.as_mut().context("no surveyor is there")?;
        let walker = self.walker.as_mut().context("no walker is there")?;
        let mut wrong = Vec::new();
        let met = surveyor.restarted(connection).await.unwrap_or_else(|differences| {
            wrong.extend(differences);
            Met { step: Default::default(), cause: None, fate: None }
        });
        let walks = walker.walks;
        let has_gone_on = match walker.finish(connection, &self.ballast, random).await {
            Ok(has_gone_on) => has_gone_on,
            Err(error) => {
                wrong.push(format!("{error:#}"));
                false
            }
        };
        let (finished, refused) = (surveyor.done.finished, surveyor.done.refused);
        Ok((Splits { met, finished, refused, walks, has_gone_on }, wrong))
    }

    /// Waits until no partition is being split or merged.
    pub(crate) async fn rest(&mut self, connection: &mut Connection, env: &Env) -> Result<()> {
        let surveyor = self.surveyor.as_mut().context("no surveyor is there")?;
        surveyor.rest(connection, env).await.map_err(anyhow::Error::msg)
    }
}
