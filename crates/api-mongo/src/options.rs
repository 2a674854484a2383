//! What can be set.

use std::fmt;
use std::time::Duration;

/// How long a pipeline may compute for one batch, unless it is set: as long as the service's requests may take.
pub const PIPELINE_TIME_DEFAULT: Duration = Duration::from_secs(60);

/// Settings of the API.
#[derive(Debug, Clone)]
pub struct MongoApiOptions {
    /// The name of the account, which is the user's name of those who log in with a key.
    pub account: String,
    /// The account's keys, as text.
    pub keys: Vec<String>,
    /// Keys that may read only.
    pub read_only_keys: Vec<String>,
    /// The address that clients are told to use, such as `db.example:10255`; without one, that by which they came.
    pub advertised: Option<String>,
    /// The name of the replica set that the server says it is.
    pub set_name: String,
    /// Whether a command waits by itself where the throughput is spent, instead of failing.
    pub waits_when_throttled: bool,
    /// Whether commands for tests of drivers are there (`configureFailPoint`).
    pub test_commands: bool,
    /// How long a pipeline may compute for one batch.
    pub pipeline_time: Duration,
}

impl MongoApiOptions {
    /// Returns the settings with one key and all else as it is by default.
    pub fn new(key: impl Into<String>) -> MongoApiOptions {
        MongoApiOptions {
            account: "localhost".to_owned(),
            keys: vec![key.into()],
            read_only_keys: Vec::new(),
            advertised: None,
            set_name: "globaldb".to_owned(),
            waits_when_throttled: false,
            test_commands: false,
            pipeline_time: PIPELINE_TIME_DEFAULT,
        }
    }

    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        if self.keys.is_empty() || self.keys.iter().chain(&self.read_only_keys).any(String::is_empty) {
            return Err(OptionsError("an account needs a key"));
        }
        if self.account.is_empty() || self.set_name.is_empty() {
            return Err(OptionsError("the account and the replica set need names"));
        }
        Ok(())
    }
}

/// Settings that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionsError(&'static str);

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for OptionsError {}
