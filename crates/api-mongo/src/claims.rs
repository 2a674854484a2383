//! What open transactions are about to write: the first that writes a document has it, another one fails at once.
//!
//! The engine finds out about conflicts when a transaction is committed, whoever they are with. Here they are found out
//! between transactions before, so that a driver need not run all of one that cannot end well.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::failure::Result;
use crate::writes::write_conflict;

/// A document: the resource id of its container, and its own.
type Document = (String, String);

/// Which transaction is about to write what.
#[derive(Default)]
pub(crate) struct Claims {
    owners: Mutex<HashMap<Document, u64>>,
}

/// What one transaction is about to write. Given back when it ends.
pub(crate) struct ClaimSet {
    claims: Arc<Claims>,
    owner: u64,
    held: Vec<Document>,
}

impl ClaimSet {
    pub(crate) fn new(claims: Arc<Claims>, owner: u64) -> ClaimSet {
        ClaimSet { claims, owner, held: Vec::new() }
    }

    /// Claims a document, unless another transaction has.
    pub(crate) fn claim(&mut self, container: &str, id: &str) -> Result<()> {
        let document = (container.to_owned(), id.to_owned());
        let mut owners = self.claims.owners.lock();
        match owners.get(&document) {
            Some(owner) if *owner == self.owner => Ok(()),
            Some(_) => Err(write_conflict()),
            None => {
                owners.insert(document.clone(), self.owner);
                self.held.push(document);
                Ok(())
            }
        }
    }
}

impl Drop for ClaimSet {
    fn drop(&mut self) {
        let mut owners = self.claims.owners.lock();
        for document in &self.held {
            owners.remove(document);
        }
    }
}
