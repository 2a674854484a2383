//! How much memory values take, and the bound of a stage.

use armilla_mongo_expression::measure::object_memory_bytes;
use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::Object;

use crate::limits::STAGE_BYTES_MAX;

pub(crate) use armilla_mongo_expression::measure::{check_depth, memory_bytes as value_bytes};

/// Returns about how much memory a document takes.
pub(crate) fn object_bytes(object: &Object) -> usize {
    size_of::<Object>() + object_memory_bytes(object)
}

/// The memory that a stage has taken of what it may.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    used: usize,
    max: usize,
    stage: &'static str,
}

impl Budget {
    /// Returns the budget of a stage.
    pub(crate) fn new(stage: &'static str) -> Budget {
        Budget { used: 0, max: STAGE_BYTES_MAX, stage }
    }

    /// Returns the same with another bound.
    #[cfg(test)]
    pub(crate) fn with_max(stage: &'static str, max: usize) -> Budget {
        Budget { used: 0, max, stage }
    }

    /// Takes memory, or says that there is no more.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used <= self.max {
            return Ok(());
        }
        let message = match self.stage {
            "$sort" | "$bucketAuto" => format!(
                "Sort exceeded memory limit of {} bytes, but did not opt in to external sorting.",
                self.max
            ),
            "$group" => "Exceeded memory limit for $group, but didn't allow external sort. \
                         Pass allowDiskUse:true to opt in."
                .to_owned(),
            stage => format!("Exceeded memory limit of {} bytes for {stage}.", self.max),
        };
        Err(Error::new(codes::QUERY_EXCEEDED_MEMORY_LIMIT, message))
    }

    /// Gives memory back.
    pub(crate) fn give_back(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}
