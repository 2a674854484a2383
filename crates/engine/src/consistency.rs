//! Consistency levels: what a read may miss.
//!
//! One machine serves every level strongly; the levels still decide what a read costs and which requests are
//! refused, so that a program behaves here as it will elsewhere.

use armilla_container::ReadCost;

/// What a read may miss, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consistency {
    /// Anything.
    Eventual,
    /// The newest writes, but never their order.
    ConsistentPrefix,
    /// Nothing that the session has seen.
    Session,
    /// A bounded number of writes.
    BoundedStaleness,
    /// Nothing.
    Strong,
}

impl Consistency {
    /// Every level, weakest first.
    pub const ALL: [Consistency; 5] = [
        Consistency::Eventual,
        Consistency::ConsistentPrefix,
        Consistency::Session,
        Consistency::BoundedStaleness,
        Consistency::Strong,
    ];

    /// Returns the level's name.
    pub fn name(self) -> &'static str {
        match self {
            Consistency::Eventual => "Eventual",
            Consistency::ConsistentPrefix => "ConsistentPrefix",
            Consistency::Session => "Session",
            Consistency::BoundedStaleness => "BoundedStaleness",
            Consistency::Strong => "Strong",
        }
    }

    /// Returns the level with a name, in any case of letters.
    pub fn from_name(name: &str) -> Option<Consistency> {
        Consistency::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }

    /// Returns what a read at this level costs.
    pub fn read_cost(self) -> ReadCost {
        if self >= Consistency::BoundedStaleness { ReadCost::Double } else { ReadCost::Single }
    }
}
