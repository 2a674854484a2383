//! Why a client stops before its round is over, and whether that is a fault.

use std::io;
use std::sync::atomic::Ordering;

use crate::writer::Round;

/// Why a client stops.
pub(crate) enum Stop {
    /// The server said that it takes no further request.
    Dismissed,
    /// The connection broke.
    Broken(io::Error),
    /// An answer is not what it must be.
    Wrong(String),
}

impl Stop {
    /// Says what is wrong about the stop, if anything is: a server that is to end may break connections.
    pub(crate) fn wrong(self, round: &Round) -> Option<String> {
        let ending = round.ending.load(Ordering::Acquire);
        match self {
            Stop::Wrong(wrong) => Some(wrong),
            Stop::Dismissed | Stop::Broken(_) if ending => None,
            Stop::Dismissed => Some("the server closed a connection while it should live".to_owned()),
            Stop::Broken(error) => Some(format!("a connection broke while the server should live: {error}")),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Broken(error)
    }
}

/// Stops after the last answer that a server gives on a connection.
pub(crate) fn go_on(is_last: bool) -> Result<(), Stop> {
    if is_last { Err(Stop::Dismissed) } else { Ok(()) }
}
