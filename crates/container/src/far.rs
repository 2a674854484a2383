//! Partitions that another process serves: asking for them, and answering those who ask.
//!
//! What reads a partition reads its store, item by item and page by page, and what writes to one hands a task to its
//! committer. So a partition of another process is one whose store and committer are asked for over the network, and
//! everything above notices nothing. What is done most often (a point read, a write, a batch) goes there as a whole, in one
//! request, with its admission and its price.
//!
//! Invariants:
//! * who answers for a partition has found before that it is here, and says so otherwise: nothing is done then, and who
//!   asked finds out where it is and asks again;
//! * nothing is asked again of which it is not known whether it was done, unless it only reads.
//!
//! In this folder: bytes (`wire`), the forms of what is said (`forms`, `request`, `figures`), asking (`link`), a store that is asked for
//! (`space`), answering (`serve`). Not here: which process has which partition (`peers`).

mod figures;
pub(crate) mod forms;
pub(crate) mod link;
pub(crate) mod request;
pub(crate) mod serve;
pub(crate) mod space;
pub(crate) mod wire;

pub(crate) use link::Far;
