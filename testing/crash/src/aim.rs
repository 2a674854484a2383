//! At which moment of a split or merge the server is killed, and what became of the split or merge.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use armilla_env::Random;

/// How far a split says that it is at most while it copies, and while it catches up.
const COPYING_PERCENT_MAX: u8 = 96;
const CATCHING_UP_PERCENT_MAX: u8 = 98;

/// How far a split or merge is, as it looks from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Step {
    /// None is under way.
    #[default]
    Between,
    /// It was asked for, or has begun; nothing is copied yet.
    Begun,
    /// Items are being copied.
    Copying,
    /// What was written meanwhile is being copied.
    CatchingUp,
    /// Little is left: the parents pause for the last changes, and the new map is being stored.
    Closing,
    /// The new map is there; the parents' space is being given back.
    Flipped,
}

impl Step {
    /// All of them.
    pub(crate) const ALL: [Step; 6] =
        [Step::Between, Step::Begun, Step::Copying, Step::CatchingUp, Step::Closing, Step::Flipped];

    /// Returns the step of a split that says how far it is, in percent.
    pub(crate) fn of_percent(percent: Option<u8>) -> Step {
        match percent {
            None | Some(0) => Step::Begun,
            Some(1..=COPYING_PERCENT_MAX) => Step::Copying,
            Some(..=CATCHING_UP_PERCENT_MAX) => Step::CatchingUp,
            Some(_) => Step::Closing,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Between => "between two",
            Step::Begun => "begun",
            Step::Copying => "copying",
            Step::CatchingUp => "catching up",
            Step::Closing => "closing",
            Step::Flipped => "flipped",
        })
    }
}

/// Why a partition is split or merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// A command to split.
    Split,
    /// A command to merge.
    Merge,
    /// Throughput that asks for more partitions.
    Offer,
    /// The server began it by itself: a partition has grown, or a restart takes up what an offer asked for.
    Server,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Split => "split",
            Cause::Merge => "merge",
            Cause::Offer => "split for throughput",
            Cause::Server => "split for size",
        })
    }
}

/// What a split or merge came to that a kill met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// The map is what it was before.
    Gone,
    /// The map is the new one.
    Completed,
}

/// The moment at which the server is to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Aim {
    /// The step, or none for any time.
    pub(crate) step: Step,
    /// Splits and merges that are let pass before.
    pub(crate) after: u64,
    /// How far the copy is at least, for a kill while copying.
    pub(crate) percent: u8,
    /// How long after the step was seen.
    pub(crate) delay: Duration,
}

impl Aim {
    /// Chooses one: all steps alike.
    pub(crate) fn choose(random: &mut Random) -> Aim {
        let step = Step::ALL[random.index(Step::ALL.len())];
        let delay_ms = match step {
            // These last longer than it takes to see them, so the moment is drawn within them.
            Step::Begun => random.below(6),
            Step::CatchingUp | Step::Closing | Step::Flipped => random.below(8),
            Step::Between | Step::Copying => 0,
        };
        Aim {
            step,
            after: random.below(3),
            percent: 1 + random.below(u64::from(COPYING_PERCENT_MAX)) as u8,
            delay: Duration::from_millis(delay_ms),
        }
    }

    /// Says whether the moment has come; `percent` is how far the copy is.
    pub(crate) fn is_met(&self, passed: u64, step: Step, percent: Option<u8>) -> bool {
        passed >= self.after
            && step == self.step
            && (step != Step::Copying || percent.is_some_and(|percent| percent >= self.percent))
    }
}

/// What was under way when the server was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) step: Step,
    pub(crate) cause: Option<Cause>,
    pub(crate) fate: Option<Fate>,
}

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Met { step, cause, fate } = self;
        match (cause, fate) {
            (Some(cause), Some(fate)) => {
                let fate = if *fate == Fate::Completed { "completed" } else { "gone" };
                write!(f, "{cause} {step}, then {fate}")
            }
            _ => write!(f, "{step}"),
        }
    }
}

/// How many kills met what.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    kills: BTreeMap<(Step, Option<Fate>), u64>,
    causes: BTreeMap<Cause, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, met: Met) {
        *self.kills.entry((met.step, met.fate)).or_default() += 1;
        if let Some(cause) = met.cause {
            *self.causes.entry(cause).or_default() += 1;
        }
    }

    /// Returns how many kills there were while a split or merge was under way.
    pub(crate) fn during(&self) -> u64 {
        self.kills.iter().filter(|((step, _), _)| *step != Step::Between).map(|(_, count)| count).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.kills.values().sum();
        write!(f, "{} of {all} ends met a split or merge:", self.during())?;
        for step in Step::ALL {
            let count = |fate| self.kills.get(&(step, fate)).copied().unwrap_or_default();
            let (gone, completed) = (count(Some(Fate::Gone)), count(Some(Fate::Completed)));
            match step {
                Step::Between => write!(f, " {} {step},", count(None))?,
                Step::Flipped => write!(f, " {completed} {step};")?,
                _ => write!(f, " {} {step} ({gone} gone, {completed} completed),", gone + completed)?,
            }
        }
        let causes: Vec<_> = self.causes.iter().map(|(cause, count)| format!("{count} by {cause}")).collect();
        write!(f, " {}", causes.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_from_the_progress() {
        for (percent, expected) in [
            (None, Step::Begun),
            (Some(0), Step::Begun),
            (Some(1), Step::Copying),
            (Some(96), Step::Copying),
            (Some(97), Step::CatchingUp),
            (Some(98), Step::CatchingUp),
            (Some(99), Step::Closing),
            (Some(100), Step::Closing),
        ] {
            assert_eq!(Step::of_percent(percent), expected, "{percent:?}");
        }
    }

    #[test]
    fn moments_are_met_at_their_step() {
        let aim = |step| Aim { step, after: 1, percent: 50, delay: Duration::ZERO };
        for (aimed, passed, step, percent, expected) in [
            (Step::Copying, 1, Step::Copying, Some(50), true),
            (Step::Copying, 1, Step::Copying, Some(49), false),
            (Step::Copying, 0, Step::Copying, Some(50), false),
            (Step::Copying, 1, Step::Closing, Some(100), false),
            (Step::Closing, 2, Step::Closing, Some(100), true),
            (Step::Flipped, 1, Step::Flipped, None, true),
            (Step::Begun, 1, Step::Copying, Some(1), false),
        ] {
            assert_eq!(aim(aimed).is_met(passed, step, percent), expected, "{aimed:?} {passed} {step:?}");
        }
    }

    #[test]
    fn every_step_is_aimed_at() {
        let mut random = Random::new(1);
        let aims: Vec<_> = (0..500).map(|_| Aim::choose(&mut random)).collect();
        for step in Step::ALL {
            assert!(aims.iter().filter(|aim| aim.step == step).count() > 50, "{step:?}");
        }
        assert!(aims.iter().all(|aim| (1..=96).contains(&aim.percent) && aim.after < 3));
    }

    #[test]
    fn tallies_say_where_kills_fell() {
        let mut tally = Tally::default();
        for (step, fate) in [
            (Step::Between, None),
            (Step::Copying, Some(Fate::Gone)),
            (Step::Closing, Some(Fate::Gone)),
            (Step::Closing, Some(Fate::Completed)),
            (Step::Flipped, Some(Fate::Completed)),
        ] {
            tally.add(Met { step, cause: fate.map(|_| Cause::Merge), fate });
        }
        assert_eq!(tally.during(), 4);
        let text = tally.to_string();
        assert!(text.starts_with("4 of 5 ends met a split or merge: 1 between two, 0 begun"), "{text}");
        assert!(text.ends_with("2 closing (1 gone, 1 completed), 1 flipped; 4 by merge"), "{text}");
    }
}
