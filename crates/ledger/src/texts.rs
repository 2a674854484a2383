//! The shapes of the texts that were asked last, so that a query which comes again is not read again.
//!
//! Two generations: when the young one is full it becomes the old one, and what is asked of the old one is young again.
//! A text with values in it is remembered when it comes a second time: most such texts come once.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::hash;
use crate::limits::{CACHED_BYTES_MAX, CACHED_TEXT_BYTES_MAX, CACHED_TEXTS_MAX};
use crate::shape::Template;
use crate::sizes::{heap, table_entry};

/// Texts of queries and their shapes.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    cache: Mutex<Cache>,
}

impl Texts {
    /// Returns the shape of a text.
    pub(crate) fn template(&self, text: &str) -> Arc<Template> {
        let is_short = text.len() <= CACHED_TEXT_BYTES_MAX;
        if is_short && let Some(template) = self.cache.lock().get(text) {
            return template;
        }
        let template = Arc::new(Template::read(text).unwrap_or_else(|| Template::plain(text)));
        if is_short {
            self.cache.lock().add(text, &template);
        }
        template
    }

    pub(crate) fn forget(&self) {
        *self.cache.lock() = Cache::default();
    }

    /// Returns what the texts take in memory.
    pub(crate) fn bytes(&self) -> usize {
        let cache = self.cache.lock();
        cache.young.bytes + cache.old.bytes + heap(8 * cache.seen.len())
    }
}

#[derive(Debug, Default)]
struct Cache {
    young: Generation,
    old: Generation,
    /// The hashes of texts with values in them that came once.
    seen: Vec<u64>,
}

#[derive(Debug, Default)]
struct Generation {
    templates: HashMap<Box<str>, Arc<Template>>,
    bytes: usize,
}

/// Hashes of texts that came once.
const SEEN: usize = 1_024;

impl Cache {
    fn get(&mut self, text: &str) -> Option<Arc<Template>> {
        if let Some(template) = self.young.templates.get(text) {
            return Some(Arc::clone(template));
        }
        let (text, template) = self.old.templates.remove_entry(text)?;
        self.old.bytes -= bytes(&text, &template);
        self.insert(text, Arc::clone(&template));
        Some(template)
    }

    fn add(&mut self, text: &str, template: &Arc<Template>) {
        if template.has_constants() && !self.came_before(text) {
            return;
        }
        self.insert(text.into(), Arc::clone(template));
    }

    fn came_before(&mut self, text: &str) -> bool {
        if self.seen.is_empty() {
            self.seen = vec![0; SEEN];
        }
        let hash = hash::bytes(4, text.as_bytes());
        let place = &mut self.seen[hash as usize % SEEN];
        std::mem::replace(place, hash) == hash
    }

    fn insert(&mut self, text: Box<str>, template: Arc<Template>) {
        let more = bytes(&text, &template);
        if more > CACHED_BYTES_MAX / 4 || self.young.templates.contains_key(&text) {
            return;
        }
        let is_full = self.young.templates.len() >= CACHED_TEXTS_MAX / 2;
        if is_full || self.young.bytes + more > CACHED_BYTES_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.bytes += more;
        self.young.templates.insert(text, template);
    }
}

fn bytes(text: &str, template: &Template) -> usize {
    heap(text.len()) + template.bytes() + table_entry(size_of::<(Box<str>, Arc<Template>)>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(texts: &Texts) -> usize {
        let cache = texts.cache.lock();
        cache.young.templates.len() + cache.old.templates.len()
    }

    #[test]
    fn a_text_without_values_is_read_once() {
        let texts = Texts::default();
        let text = "SELECT * FROM c WHERE c.a = @a";
        let first = texts.template(text);
        assert!(Arc::ptr_eq(&first, &texts.template(text)));
        assert_eq!(&*first.text, "SELECT * FROM c WHERE (c.a = @1)");
        // Texts that are no queries, too.
        assert!(Arc::ptr_eq(&texts.template("no  query"), &texts.template("no  query")));
        assert_eq!(&*texts.template("no  query").text, "no query");
    }

    #[test]
    fn a_text_with_values_is_remembered_when_it_comes_again() {
        let texts = Texts::default();
        let text = "SELECT * FROM c WHERE c.a = 'x'";
        let first = texts.template(text);
        let second = texts.template(text);
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &texts.template(text)));
        for at in 0..5_000 {
            texts.template(&format!("SELECT * FROM c WHERE c.a = {at}"));
        }
        assert_eq!(count(&texts), 1);
    }

    #[test]
    fn what_is_asked_stays_and_what_is_not_goes() {
        let texts = Texts::default();
        let kept = texts.template("SELECT * FROM kept");
        for at in 0..10 * CACHED_TEXTS_MAX {
            texts.template(&format!("SELECT * FROM c{at}"));
            texts.template("SELECT * FROM kept");
            assert!(count(&texts) <= CACHED_TEXTS_MAX);
        }
        assert!(Arc::ptr_eq(&kept, &texts.template("SELECT * FROM kept")));
        texts.forget();
        assert_eq!(texts.bytes(), 0);
    }

    #[test]
    fn texts_are_remembered_within_bounds() {
        let texts = Texts::default();
        for at in 0..2_000 {
            let names: Vec<String> = (0..80).map(|name| format!("c.property{name}_{at}")).collect();
            texts.template(&format!("SELECT {} FROM c", names.join(", ")));
        }
        assert!(texts.bytes() <= CACHED_BYTES_MAX, "{}", texts.bytes());
        assert!(texts.bytes() > CACHED_BYTES_MAX / 4, "{}", texts.bytes());
        let long = |length: usize| {
            let text = format!("SELECT * FROM c{}", "x".repeat(length - 15));
            Arc::ptr_eq(&texts.template(&text), &texts.template(&text))
        };
        assert!(long(CACHED_TEXT_BYTES_MAX));
        assert!(!long(CACHED_TEXT_BYTES_MAX + 1));
    }
}
