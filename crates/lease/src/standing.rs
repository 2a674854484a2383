//! How long a record has stood, as one who looks at it knows: long enough, and its holder must have stopped.

use std::time::Duration;

use crate::LEASE_GRACE_PERCENT;
use crate::register::Version;

/// What one knows of a record that one looks at again and again.
#[derive(Debug, Clone, Default)]
pub struct Standing(Option<(Version, Duration)>);

impl Standing {
    /// Returns how long the record has to stand on before others may take its lease; nothing when they may.
    ///
    /// `version` is what was read, and `read_at` a time of the reader's own clock *after* it was read.
    pub fn left(&mut self, version: &Version, length: Duration, read_at: Duration) -> Duration {
        let since = match &self.0 {
            Some((last, since)) if last == version => *since,
            _ => {
                self.0 = Some((version.clone(), read_at));
                read_at
            }
        };
        let needed = length + length * LEASE_GRACE_PERCENT / 100;
        needed.saturating_sub(read_at.saturating_sub(since))
    }
}
