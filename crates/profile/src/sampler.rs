//! Takes the texts of items and gives the profile.
//!
//! What tells sorts of items apart is known when many were looked at, and what is told of each sort needs it from the
//! first item on. So the texts are kept, and walked through twice at the end; beyond
//! [`KEPT_BYTES_MAX`] the first are walked through then, and the others as they come.
//! Kept texts are walked through in the order of their hashes, so that it does not matter in which order they came.

use armilla_value::{Value, json};

use crate::discriminator;
use crate::hash;
use crate::limits::{KEPT_BYTES_MAX, KEPT_ITEM_BYTES};
use crate::profile::Profile;
use crate::profiler::Profiler;
use crate::sketches::Sketches;

/// What the service adds to an item.
const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];

/// Looks at the items of a container.
#[derive(Debug)]
pub struct Sampler {
    key_paths: Vec<Vec<String>>,
    is_whole: bool,
    kept: Vec<Kept>,
    kept_bytes: usize,
    /// There once the kept items were too many.
    profiler: Option<Profiler>,
}

/// An item without its system properties. The order of the members is the order in which items are looked at.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    hash: u64,
    text: Box<[u8]>,
    written: Option<i64>,
}

impl Sampler {
    /// Begins to look at items of a container whose partition key is at these paths, each the names on the way to it.
    pub fn new(key_paths: &[Vec<String>]) -> Sampler {
        Sampler {
            key_paths: key_paths.to_vec(),
            is_whole: false,
            kept: Vec::new(),
            kept_bytes: 0,
            profiler: None,
        }
    }

    /// Says whether the items are all that the container has; they are not if this is not called.
    pub fn set_whole(&mut self, is_whole: bool) {
        self.is_whole = is_whole;
    }

    /// Looks at an item, JSON text with or without its system properties. After an error it is as if it had not come.
    pub fn add(&mut self, item: &[u8]) -> Result<(), String> {
        let value = json::parse_extended(item).map_err(|error| error.to_string())?;
        let Value::Object(mut object) = value else {
            return Err("an item must be a JSON object".to_owned());
        };
        let written = object.get("_ts").and_then(Value::as_i64);
        for name in SYSTEM_PROPERTIES {
            object.remove(name);
        }
        let value = Value::Object(object);
        let mut text = Vec::new();
        json::write(&value, &mut text);
        if let Some(profiler) = &mut self.profiler {
            if let Value::Object(object) = &value {
                profiler.add(object, &text, written);
            }
            return Ok(());
        }
        self.kept_bytes += text.len() + KEPT_ITEM_BYTES;
        self.kept.push(Kept { hash: hash::of_bytes(&text), text: text.into_boxed_slice(), written });
        if self.kept_bytes > KEPT_BYTES_MAX {
            self.profiler = Some(self.look());
        }
        Ok(())
    }

    /// Returns the bytes that are kept, at most: never more than [`MEMORY_BYTES_MAX`](crate::limits::MEMORY_BYTES_MAX)
    /// and one item.
    pub fn memory(&self) -> usize {
        self.kept_bytes + self.profiler.as_ref().map_or(0, Profiler::memory)
    }

    /// Returns what the items show, and what is needed to compare them with those of other containers.
    pub fn finish(mut self) -> (Profile, Sketches) {
        let profiler = match self.profiler.take() {
            Some(profiler) => profiler,
            None => self.look(),
        };
        profiler.finish(self.is_whole)
    }

    /// Looks at all that was kept, and keeps it no longer.
    fn look(&mut self) -> Profiler {
        let mut kept = std::mem::take(&mut self.kept);
        kept.sort_unstable();
        let found = discriminator::look(kept.iter().map(|item| &*item.text));
        let mut profiler = Profiler::new(&self.key_paths, found);
        for item in kept {
            // They were read before, and written here.
            if let Ok(Value::Object(object)) = json::parse_extended(&item.text) {
                profiler.add(&object, &item.text, item.written);
            }
        }
        self.kept_bytes = 0;
        profiler
    }
}

#[cfg(test)]
mod tests;
