//! A case: one attack, and how it is played.

use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::time::timeout;

use crate::stage::{Ground, Stage};
use crate::watch::Figures;

/// Longest time that a case may take.
const SECONDS_LIMIT: Duration = Duration::from_secs(90);
const MINUTES_LIMIT: Duration = Duration::from_secs(60 * 60);

/// What a case does, in the end a verdict.
pub type Running<'s> = Pin<Box<dyn Future<Output = Result<()>> + Send + 's>>;

/// How long a case takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Seconds: it is part of the test command.
    Seconds,
    /// Minutes: it is run by `cargo xtask hostile`.
    Minutes,
}

impl Length {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Length::Seconds => "seconds",
            Length::Minutes => "minutes",
        }
    }

    fn limit(self) -> Duration {
        match self {
            Length::Seconds => SECONDS_LIMIT,
            Length::Minutes => MINUTES_LIMIT,
        }
    }
}

/// One attack.
pub struct Case {
    /// Its name: what must hold, as words with dashes.
    pub name: &'static str,
    /// What it is about: the name of its file.
    pub topic: &'static str,
    /// How long it takes.
    pub length: Length,
    /// Further arguments of its server.
    pub arguments: &'static [&'static str],
    /// Errors that its server may log.
    pub may_log_errors: bool,
    /// The attack.
    pub run: for<'s> fn(&'s Stage) -> Running<'s>,
}

impl Case {
    /// Returns a case that takes seconds, on a server with the usual arguments.
    pub const fn new(
        topic: &'static str,
        name: &'static str,
        run: for<'s> fn(&'s Stage) -> Running<'s>,
    ) -> Case {
        Case { name, topic, length: Length::Seconds, arguments: &[], may_log_errors: false, run }
    }

    /// Says whether the name is the case's or its topic's.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.topic == name
    }

    /// Starts a server, attacks it, and says how it bore that.
    pub async fn play(&self, ground: &Ground) -> Result<Figures> {
        let stage = Stage::open(ground, self.name, self.arguments).await?;
        // A case that was told to do more takes longer.
        let length = if ground.is_long || ground.scripts.is_some() { Length::Minutes } else { self.length };
        let limit = length.limit();
        let attacked = tokio::select! {
            attacked = timeout(limit, (self.run)(&stage)) => {
                attacked.with_context(|| format!("the case did not end within {limit:?}")).and_then(|result| result)
            }
            () = stage.watch().server_gone() => Err(anyhow::anyhow!("the server ended")),
        };
        let (figures, mut complaints) = stage.close().await?;
        if self.may_log_errors {
            complaints.retain(|complaint| !complaint.contains(" ERROR "));
        }
        match (attacked, complaints.is_empty()) {
            (Ok(()), true) => Ok(figures),
            (Ok(()), false) => bail!("{}", complaints.join("; ")),
            (Err(error), true) => Err(error),
            (Err(error), false) => Err(error.context(complaints.join("; "))),
        }
    }
}
