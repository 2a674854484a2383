//! Collections that a transaction has made and nothing shows until it is stored.
//!
//! They are there already, since documents of the transaction need them; listings leave them out. When the transaction is
//! aborted, those that are still empty are dropped.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::namespace::Namespace;

/// The names of all of them.
#[derive(Default)]
pub(crate) struct Hidden {
    names: Mutex<HashSet<String>>,
}

/// A collection that is hidden as long as this is there.
pub(crate) struct Made {
    pub(crate) namespace: Namespace,
    hidden: Arc<Hidden>,
}

impl Hidden {
    /// Hides a collection that is about to be made.
    pub(crate) fn hide(self: &Arc<Hidden>, namespace: &Namespace) -> Made {
        self.names.lock().insert(namespace.to_string());
        Made { namespace: namespace.clone(), hidden: self.clone() }
    }

    /// Says whether a collection is not to be shown.
    pub(crate) fn contains(&self, namespace: &Namespace) -> bool {
        let names = self.names.lock();
        !names.is_empty() && names.contains(&namespace.to_string())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.hidden.names.lock().remove(&self.namespace.to_string());
    }
}
