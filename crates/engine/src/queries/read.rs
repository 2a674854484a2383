//! Texts of queries that were read lately, so that a query that is asked again is not read again.
//!
//! Two generations: once the younger holds half of what may be kept, it becomes the older, and what no query asked for in
//! the meantime is forgotten.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_query::{ReadQuery, Result};
use parking_lot::RwLock;

use crate::limits::{READ_QUERIES_BYTES_MAX, READ_QUERY_BYTES_MAX};

/// Texts that were read, in all containers of an account: what a text says does not depend on where it is asked.
#[derive(Clone, Default)]
pub(crate) struct ReadQueries(Arc<RwLock<Generations>>);

#[derive(Default)]
struct Generations {
    young: HashMap<String, Arc<ReadQuery>>,
    /// Bytes of the texts of the young.
    young_bytes: usize,
    old: HashMap<String, Arc<ReadQuery>>,
}

impl ReadQueries {
    /// Returns what a text says.
    pub(crate) fn read(&self, text: &str) -> Result<Arc<ReadQuery>> {
        if text.len() > READ_QUERY_BYTES_MAX {
            return Ok(Arc::new(ReadQuery::new(text)?));
        }
        let known = {
            let generations = self.0.read();
            if let Some(read) = generations.young.get(text) {
                return Ok(read.clone());
            }
            generations.old.get(text).cloned()
        };
        let read = match known {
            Some(read) => read,
            None => Arc::new(ReadQuery::new(text)?),
        };
        self.0.write().keep(text, &read);
        Ok(read)
    }
}

impl Generations {
    fn keep(&mut self, text: &str, read: &Arc<ReadQuery>) {
        if self.young_bytes + text.len() > READ_QUERIES_BYTES_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(text.to_owned(), read.clone()).is_none() {
            self.young_bytes += text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: usize) -> String {
        format!("SELECT VALUE c.n{number:0100} FROM c")
    }

    #[test]
    fn a_text_is_read_once_as_long_as_it_is_asked_for() {
        let queries = ReadQueries::default();
        let first = queries.read(&text(0)).unwrap();
        // Several times as many as are kept.
        for number in 1..READ_QUERIES_BYTES_MAX / 25 {
            queries.read(&text(number)).unwrap();
            assert!(Arc::ptr_eq(&first, &queries.read(&text(0)).unwrap()));
        }
        let generations = queries.0.read();
        let kept: usize = generations.young.keys().chain(generations.old.keys()).map(String::len).sum();
        assert!(kept <= READ_QUERIES_BYTES_MAX, "{kept}");
        drop(generations);
        let once = Arc::downgrade(&queries.read(&text(1)).unwrap());
        for number in 0..READ_QUERIES_BYTES_MAX / 25 {
            queries.read(&text(number + 2)).unwrap();
        }
        assert_eq!(once.strong_count(), 0, "what is not asked for is forgotten");
    }

    #[test]
    fn long_texts_and_wrong_ones_are_not_kept() {
        let queries = ReadQueries::default();
        let long = format!("SELECT VALUE '{}' FROM c", "x".repeat(READ_QUERY_BYTES_MAX));
        queries.read(&long).unwrap();
        assert!(queries.read("SELECT FROM WHERE").is_err());
        assert!(queries.0.read().young.is_empty());
    }
}
