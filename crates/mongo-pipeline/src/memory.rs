//! How much memory values take, and the bound of a stage.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value};

use crate::limits::STAGE_BYTES_MAX;

/// Returns about how much memory a value takes.
pub(crate) fn value_bytes(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Binary { bytes, .. } => bytes.len(),
            Value::Regex { pattern, options } => pattern.len() + options.len(),
            Value::Array(elements) => elements.iter().map(value_bytes).sum(),
            Value::Object(object) => members_bytes(object),
            _ => 0,
        }
}

/// Returns about how much memory a document takes.
pub(crate) fn object_bytes(object: &Object) -> usize {
    size_of::<Object>() + members_bytes(object)
}

fn members_bytes(object: &Object) -> usize {
    object.iter().map(|(name, value)| size_of::<String>() + name.len() + value_bytes(value)).sum()
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
