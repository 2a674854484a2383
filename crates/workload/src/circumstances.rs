//! Under which circumstances something is measured: with how many connections, and what the data has been through.
//!
//! A store that has had time to tidy up reads faster than one that has just been loaded or is being written to, so a
//! figure without its state says little.

use std::fmt;

/// What the data has been through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum State {
    /// Right after the load, whatever is still to be done for it in the background
    #[default]
    Loaded,
    /// While others write, see --write-rate
    Written,
    /// After the work in the background is done
    Rested,
}

impl State {
    /// Every state, in the order in which they are measured.
    pub const ALL: [State; 3] = [State::Loaded, State::Written, State::Rested];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            State::Loaded => "loaded",
            State::Written => "written",
            State::Rested => "rested",
        }
    }

    /// Returns the state of a name.
    pub(crate) fn of_name(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// With how many connections and in which state something is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Circumstances {
    /// Connections to a side.
    pub(crate) connections: u16,
    /// The state of the data.
    pub(crate) state: State,
}

impl fmt::Display for Circumstances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.connections == 1 { "" } else { "s" };
        write!(f, "{} connection{plural}, {}", self.connections, self.state.name())
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        assert_eq!(State::ALL, State::value_variants());
        for state in State::ALL {
            assert_eq!(state.to_possible_value().unwrap().get_name(), state.name());
            assert_eq!(State::of_name(state.name()), Some(state));
        }
        assert_eq!(State::of_name("resting"), None);
    }

    #[test]
    fn circumstances_in_words() {
        for (connections, state, expected) in
            [(1, State::Written, "1 connection, written"), (16, State::Loaded, "16 connections, loaded")]
        {
            assert_eq!(Circumstances { connections, state }.to_string(), expected);
        }
    }
}
