//! The advisor: what is wrong with a data model, and what it costs.
//!
//! It looks at an account's data (`gather`: definitions, figures, a sample of items) and at what was
//! asked of it (the ledger), finds what the rules of modelling say about it (`findings`), and measures what would be
//! better: the model is altered (`alteration`), built in memory with the real engine, and the recorded requests are
//! done again (`trial`).
//!
//! Invariant: nothing is changed in the account that is looked at, and what is told of request units was charged by the
//! engine, here or there.
//!
//! Not here: the record of requests (`armilla_ledger`), what a sample shows (`armilla_profile`), how advice is shown.

mod advise;
mod alteration;
mod definitions;
mod evidence;
mod facts;
mod finding;
mod findings;
mod gather;
pub mod limits;
mod model;
mod offline;
mod paths;
mod trial;

pub use advise::{Advice, ContainerSummary, Stage, advise, compare};
pub use alteration::{Alteration, CannotAlter};
pub use evidence::{ContainerEvidence, Evidence, PartitionEvidence};
pub use finding::{Comparison, ComparisonLine, Finding, Severity};
pub use gather::{Selection, gather};
pub use model::Model;
pub use offline::{Offline, OfflineError};
pub use trial::{Measured, Trial, Workshop};
