//! What is shown: a table on standard output, figures as JSON, a page with plots.

mod figures_json;
mod page;
mod table;
mod verdict;

use std::time::Duration;

use crate::check::Checked;
use crate::live::Lived;
use crate::load::Loaded;
use crate::measure::Measured;
use crate::shape::Totals;
use crate::workers::Drained;

pub(crate) use figures_json::json;
pub(crate) use page::page;
pub(crate) use table::{summary, text};
pub(crate) use verdict::{Judged, judge};

/// One run, from loading to checking.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) users: u32,
    pub(crate) seed: u64,
    pub(crate) connections: u32,
    pub(crate) rounds: u32,
    pub(crate) totals: Totals,
    /// Nothing if what was there was taken.
    pub(crate) loaded: Option<Loaded>,
    /// Making the copies of what was loaded.
    pub(crate) caught_up: Drained,
    /// How long the store was then left alone before it was measured; nothing if it is not our own.
    pub(crate) settled: Option<Duration>,
    pub(crate) measured: Measured,
    pub(crate) lived: Option<Lived>,
    pub(crate) checked: Option<Checked>,
    pub(crate) took: Duration,
}

impl Run {
    /// Whether every bar was kept and every copy is in step.
    pub(crate) fn is_good(&self) -> bool {
        let charges = judge(self).iter().all(|judged| judged.is_charge_kept != Some(false));
        charges && self.checked.as_ref().is_none_or(|checked| checked.problem_count == 0)
    }
}
