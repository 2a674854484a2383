//! Axes: from values to places between 0 and 1, and the ticks between.

use crate::limits::{MAGNITUDE_MAX, NINES_MAX};
use crate::number;

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; only positive values have a place.
    Log,
    /// Percentiles from 0 to 100, each nine as long as the one before.
    Nines,
}

/// An axis: what is along it, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// What the values are, with their unit.
    pub label: String,
    /// How they are laid out.
    pub scale: Scale,
}

impl Axis {
    /// An axis on which equal differences are equally long.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear }
    }

    /// An axis on which equal ratios are equally long.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Log }
    }

    /// An axis of percentiles from 0 to 100.
    pub fn nines(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Nines }
    }
}

impl Scale {
    /// Returns where a value lies on an endless axis; none where it has no place.
    fn position(self, value: f64) -> Option<f64> {
        match self {
            Scale::Linear => (value.abs() <= MAGNITUDE_MAX).then_some(value),
            Scale::Log => (1.0 / MAGNITUDE_MAX..=MAGNITUDE_MAX).contains(&value).then(|| value.log10()),
            Scale::Nines => {
                (0.0..=100.0).contains(&value).then(|| (-(1.0 - value / 100.0).log10()).min(NINES_MAX))
            }
        }
    }
}

/// Where an axis begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// At round numbers; a linear axis holds zero. For lengths and heights.
    Round,
    /// A little beyond the values. For places along the way.
    Close,
}

/// One tick: where it is, between 0 and 1, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// The part of an axis that is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Span {
    /// The part of an axis that shows these values, with some five ticks.
    pub(super) fn fit(scale: Scale, values: impl IntoIterator<Item = f64>, ends: Ends) -> Span {
        let positions = values.into_iter().filter_map(|value| scale.position(value));
        let bounds = positions.fold(None, |bounds: Option<(f64, f64)>, position| {
            Some(bounds.map_or((position, position), |(low, high)| (low.min(position), high.max(position))))
        });
        match scale {
            Scale::Linear => linear(bounds.unwrap_or((0.0, 1.0)), ends),
            Scale::Log => logarithmic(bounds.unwrap_or((0.0, 1.0)), ends),
            Scale::Nines => nines(bounds.unwrap_or((0.0, 2.0))),
        }
    }

    /// Puts the ticks at the values themselves where these are few and stand apart.
    pub(super) fn with_ticks_at(
        mut self,
        values: impl IntoIterator<Item = f64>,
        apart_min: f64,
        count_max: usize,
    ) -> Span {
        let mut values: Vec<f64> = values.into_iter().filter(|value| self.place(*value).is_some()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let places: Vec<f64> = values.iter().filter_map(|value| self.place(*value)).collect();
        let stand_apart = places.windows(2).all(|pair| pair[1] - pair[0] >= apart_min);
        if !values.is_empty() && values.len() <= count_max && stand_apart {
            self.ticks = values;
        }
        self
    }

    /// Returns where a value lies between the ends, 0 and 1; none where it has no place.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let position = self.scale.position(value)?;
        Some(((position - self.low) / (self.high - self.low)).clamp(0.0, 1.0))
    }

    /// Returns where bars begin: at zero, or at the low end.
    pub(super) fn base(&self) -> f64 {
        if self.scale == Scale::Linear { self.place(0.0).unwrap_or(0.0) } else { 0.0 }
    }

    /// Returns the ticks, in ascending order.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let tick = |value: f64| {
            // Computed from a step, a tick at zero may be a hair beside it.
            let label = match self.scale {
                Scale::Nines => format!("{value}"),
                _ => number::tick(
                    if value.abs() < (self.high - self.low).abs() * 1e-9 && self.scale == Scale::Linear {
                        0.0
                    } else {
                        value
                    },
                ),
            };
            Some(Tick { at: self.place(value)?, label })
        };
        self.ticks.iter().filter_map(|value| tick(*value)).collect()
    }
}

fn linear((mut low, mut high): (f64, f64), ends: Ends) -> Span {
    if ends == Ends::Round {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if low == high {
        let spread = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        high += spread;
        low -= if ends == Ends::Round && low == 0.0 { 0.0 } else { spread };
    }
    let step = round_above((high - low) / 5.0);
    if ends == Ends::Round {
        (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
    } else {
        let margin = (high - low) * 0.04;
        (low, high) = (low - margin, high + margin);
    }
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first) as i64;
    let ticks = (0..=count.clamp(0, 20)).map(|number| (first + number as f64) * step).collect();
    Span { scale: Scale::Linear, low, high, ticks }
}

fn logarithmic((low, high): (f64, f64), ends: Ends) -> Span {
    let (low, high) = match ends {
        // A bar as short as the shortest still has to be seen.
        Ends::Round => (round_below(10_f64.powf(low - 0.15)).log10(), round_above(10_f64.powf(high)).log10()),
        Ends::Close => {
            let margin = ((high - low) * 0.04).max(0.04);
            (low - margin, high + margin)
        }
    };
    let high = if high > low { high } else { low + 1.0 };
    let decades = high - low;
    let (steps, every): (&[f64], i32) = match decades {
        ..=2.2 => (&[1.0, 2.0, 5.0], 1),
        ..=8.0 => (&[1.0], 1),
        ..=16.0 => (&[1.0], 2),
        _ => (&[1.0], 5),
    };
    let mut ticks = Vec::new();
    for decade in low.floor() as i32..=high.ceil() as i32 {
        if decade.rem_euclid(every) != 0 {
            continue;
        }
        for step in steps {
            let value = decimal(*step, decade);
            let position = value.log10();
            if position >= low - 1e-9 && position <= high + 1e-9 {
                ticks.push(value);
            }
        }
    }
    Span { scale: Scale::Log, low, high, ticks }
}

fn nines((low, high): (f64, f64)) -> Span {
    const TICKS: [f64; 7] = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999];
    // Whoever begins at the median need not see what is below it.
    let low = if low >= Scale::Nines.position(50.0).unwrap_or(0.0) - 1e-9 { 0.25 } else { 0.0 };
    let high = high.max(2.0) + 0.08;
    let shown =
        |tick: &f64| Scale::Nines.position(*tick).is_some_and(|position| position >= low && position <= high);
    Span { scale: Scale::Nines, low, high, ticks: TICKS.into_iter().filter(shown).collect() }
}

/// Returns the greatest of 1, 2 and 5 times a power of ten that is not above the value.
fn round_below(value: f64) -> f64 {
    let decade = value.log10().floor() as i32;
    let steps = [5.0, 2.0, 1.0].map(|step| decimal(step, decade));
    steps.into_iter().find(|round| *round <= value * (1.0 + 1e-9)).unwrap_or(steps[2])
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is not below the value.
fn round_above(value: f64) -> f64 {
    let decade = value.log10().floor() as i32;
    let steps = [1.0, 2.0, 5.0].map(|step| decimal(step, decade));
    steps.into_iter().find(|round| *round >= value * (1.0 - 1e-9)).unwrap_or_else(|| decimal(1.0, decade + 1))
}

/// Returns the number as it would be read from its digits, which a product of powers is not.
fn decimal(digit: f64, decade: i32) -> f64 {
    format!("{digit}e{decade}").parse().unwrap_or(digit)
}

#[cfg(test)]
mod tests;
