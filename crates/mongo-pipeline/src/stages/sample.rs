//! `$sample`: some documents at random.

use armilla_mongo_expression::{Error, Result};
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::{as_double, is_number, object_or};
use crate::memory::{Budget, object_bytes};
use crate::run::{Context, deferred};

/// Reads the argument: how many.
pub(crate) fn parse(argument: &Value) -> Result<u64> {
    let object =
        object_or(argument, 28745, || "the $sample stage specification must be an object".to_owned())?;
    let mut size = None;
    for (name, value) in object.iter() {
        if name != "size" {
            return Err(Error::new(28748, format!("unrecognized option to $sample: {name}")));
        }
        if !is_number(value) {
            return Err(Error::new(28746, "size argument to $sample must be a number"));
        }
        let number = as_double(value).unwrap_or_default();
        if number.is_nan() || number < 0.0 {
            return Err(Error::new(28747, "size argument to $sample must not be negative"));
        }
        size = Some(number as u64);
    }
    size.ok_or_else(|| Error::new(28749, "$sample stage must specify a size"))
}

/// Runs it: every set of that many documents is as likely, in every order.
pub(crate) fn run(size: u64, input: Documents, context: &Context) -> Documents {
    let mut random = Random(context.environment.seed ^ 0x5DEE_CE66_D1CE_4E5B);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    deferred(move || {
        let mut budget = Budget::new("$sample");
        let mut kept: Vec<Object> = Vec::new();
        if size > 0 {
            for (seen, document) in (0u64..).zip(input) {
                let document = document?;
                if kept.len() < size {
                    budget.take(object_bytes(&document))?;
                    kept.push(document);
                    continue;
                }
                if let Some(place) = kept.get_mut(random.below(seen + 1) as usize) {
                    budget.give_back(object_bytes(place));
                    budget.take(object_bytes(&document))?;
                    *place = document;
                }
            }
        }
        for last in (1..kept.len()).rev() {
            kept.swap(last, random.below(last as u64 + 1) as usize);
        }
        Ok(Box::new(kept.into_iter().map(Ok)) as Documents)
    })
}

/// A small generator (SplitMix64): the same seed, the same sample.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a number below the bound, which is not zero.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
