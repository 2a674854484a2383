//! Layouts: which entries items have in the index, and which of several layouts holds for which item.
//!
//! A layout is the part of a container's definition that decides about entries: the indexing policy, and the
//! computed properties. The entries of an item are a function of the item and of one layout. While a partition is
//! re-indexed there are two: items whose numbers lie behind the progress and not beyond the end still have the
//! layout that was built before, all others the one that is wanted. So every item has exactly one at any time.
//!
//! Invariants:
//! * layouts are equal if their texts are; the text is what is stored;
//! * an index may be used for a read only if every layout in force has it, and no item has too many entries in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use armilla_index::paths::PathSegment;
use armilla_index::policy::{IncludedPath, SortOrder};
use armilla_index::{CompositeIndex, IndexId, IndexingMode, IndexingPolicy, Matcher, Part};
use armilla_value::{Object, Value, json};
use bytes::Bytes;

use crate::definition::ContainerDefinition;
use crate::error::{Error, Result};
use crate::limits::{CROWDED_INDEXES_MAX, INDEX_PATH_TEXT_BYTES_MAX};

const FORMAT_VERSION: u8 = 1;

/// What decides about the entries of items.
pub(crate) struct Layout {
    text: String,
    policy: Value,
    pub(crate) matcher: Matcher,
    /// Whether the layout has entries of computed properties.
    pub(crate) has_computed: bool,
    /// The computed properties, and the queries of those that have entries.
    computed: Vec<(String, Option<String>)>,
    /// What to call the indexes that the policy names.
    names: HashMap<IndexId, String>,
}

impl Layout {
    /// Returns the layout that a definition asks for.
    pub(crate) fn of(definition: &ContainerDefinition) -> Layout {
        let computed = definition.computed_properties.as_deref().unwrap_or_default();
        let computed = computed.iter().map(|property| (property.name.clone(), Some(property.query.clone())));
        Layout::new(definition.indexing.clone(), computed.collect())
    }

    /// Returns the layout of a partition without an index.
    pub(crate) fn nothing() -> Layout {
        let none = IndexingPolicy {
            mode: IndexingMode::None,
            automatic: false,
            included_paths: Vec::new(),
            excluded_paths: Vec::new(),
            composite_indexes: None,
            spatial_indexes: None,
            vector_indexes: None,
            full_text_indexes: None,
        };
        Layout {
            text: "null".to_owned(),
            policy: Value::Null,
            matcher: Matcher::new(&none),
            has_computed: false,
            computed: Vec::new(),
            names: HashMap::new(),
        }
    }

    fn new(mut policy: IndexingPolicy, mut computed: Vec<(String, Option<String>)>) -> Layout {
        if policy.mode == IndexingMode::None {
            return Layout::nothing();
        }
        // What has no say in entries must not make layouts differ.
        policy.mode = IndexingMode::Consistent;
        policy.automatic = true;
        policy.composite_indexes = policy.composite_indexes.filter(|indexes| !indexes.is_empty());
        policy.spatial_indexes = None;
        policy.vector_indexes = None;
        policy.full_text_indexes = None;
        computed.sort();
        let names: Vec<&str> = computed.iter().map(|(name, _)| name.as_str()).collect();
        let matcher = Matcher::with_computed(&policy, &names);
        let indexed: Vec<String> = matcher.indexed_computed().map(str::to_owned).collect();
        for (name, query) in &mut computed {
            if !indexed.contains(name) {
                *query = None;
            }
        }
        Layout {
            text: text_of(&policy.to_value(), &computed),
            policy: policy.to_value(),
            has_computed: matcher.has_part(Part::Computed),
            names: names_of(&policy),
            matcher,
            computed,
        }
    }

    fn from_value(value: &Value) -> Option<Layout> {
        if value.is_null() {
            return Some(Layout::nothing());
        }
        let object = value.as_object()?;
        let policy = IndexingPolicy::from_value(object.get("policy")?).ok()?;
        let computed = object.get("computed")?.as_array()?.iter().map(|property| {
            let property = property.as_object()?;
            let query = property.get("query")?;
            Some((property.get("name")?.as_str()?.to_owned(), query.as_str().map(str::to_owned)))
        });
        Some(Layout::new(policy, computed.collect::<Option<_>>()?))
    }

    /// Returns what to call an index that the layout names, rather than an item.
    pub(crate) fn name(&self, id: IndexId) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// Returns the layout after entries were written for what another layout means by its computed properties;
    /// nothing where that changes nothing.
    pub(crate) fn mixed(&self, other: Option<&Layout>) -> Option<Layout> {
        let mut computed = self.computed.clone();
        for (name, query) in &mut computed {
            if query.is_some() && other.and_then(|other| other.query(name)) != query.as_deref() {
                *query = Some(MIXED_QUERY.to_owned());
            }
        }
        if computed == self.computed {
            return None;
        }
        Some(Layout {
            text: text_of(&self.policy, &computed),
            policy: self.policy.clone(),
            matcher: self.matcher.clone(),
            has_computed: self.has_computed,
            computed,
            names: self.names.clone(),
        })
    }

    /// Returns the layout of items of which some had this one and some the other, if they differ at most in the queries
    /// of their computed properties.
    pub(crate) fn joined(self: &Arc<Self>, other: &Layout) -> Option<Arc<Layout>> {
        let names = |layout: &Layout| -> Vec<String> {
            layout.computed.iter().map(|(name, _)| name.clone()).collect()
        };
        if self.policy != other.policy || names(self) != names(other) {
            return None;
        }
        Some(self.mixed(Some(other)).map_or_else(|| self.clone(), Arc::new))
    }

    fn query(&self, name: &str) -> Option<&str> {
        self.computed.iter().find(|(own, _)| own == name).and_then(|(_, query)| query.as_deref())
    }
}

/// Stands for the query of a computed property whose entries were not all made by one query: equal to none.
const MIXED_QUERY: &str = "";

fn text_of(policy: &Value, computed: &[(String, Option<String>)]) -> String {
    let properties = computed.iter().map(|(name, query)| {
        Value::Object(Object::from([("name", Value::from(name.as_str())), ("query", query.clone().into())]))
    });
    let members = [("policy", policy.clone()), ("computed", Value::Array(properties.collect()))];
    json::to_string(&Value::Object(Object::from(members)))
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        self.text == other.text
    }
}

/// The layouts of a partition.
#[derive(Clone)]
pub(crate) struct Layouts {
    /// The layout that is wanted, or is there.
    pub(crate) target: Arc<Layout>,
    /// While re-indexing, the layout that was there before.
    pub(crate) built: Option<Arc<Layout>>,
}

impl Layouts {
    pub(crate) fn of(target: Arc<Layout>) -> Layouts {
        Layouts { target, built: None }
    }

    pub(crate) fn encode(&self) -> Bytes {
        let built = self.built.as_ref().map_or("false", |built| built.text.as_str());
        let text = format!(r#"{{"target":{},"built":{built}}}"#, self.target.text);
        [&[FORMAT_VERSION], text.as_bytes()].concat().into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Layouts> {
        Layouts::decode_checked(bytes)
            .ok_or_else(|| Error::corrupt("the layouts of an index are damaged or of an unknown version"))
    }

    fn decode_checked(bytes: &[u8]) -> Option<Layouts> {
        let (version, text) = bytes.split_first()?;
        if *version != FORMAT_VERSION {
            return None;
        }
        let value = json::parse(text).ok()?;
        let object = value.as_object()?;
        let target = Arc::new(Layout::from_value(object.get("target")?)?);
        let built = match object.get("built")? {
            Value::Bool(false) => None,
            built => Some(Arc::new(Layout::from_value(built)?)),
        };
        Some(Layouts { target, built })
    }
}

/// How far a re-indexing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Items up to this number have the new layout.
    pub(crate) after: u64,
    /// Items beyond this number were made after it began, and have the new layout too.
    pub(crate) end: u64,
    /// Items that were looked at.
    pub(crate) done: u64,
    /// Items there were when it began.
    pub(crate) total: u64,
}

impl Progress {
    pub(crate) fn encode(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(33);
        bytes.push(FORMAT_VERSION);
        for number in [self.after, self.end, self.done, self.total] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Progress> {
        let [after, end, done, total] = crate::partition::counters::decode(bytes, FORMAT_VERSION)
            .ok_or_else(|| Error::corrupt("the progress of a re-indexing is damaged"))?;
        Ok(Progress { after, end, done, total })
    }
}

/// Indexes in which some items have more entries than are kept, with how many such items there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Crowded(BTreeMap<u64, u64>);

impl Crowded {
    /// Stands for every index but those of `id` and `_ts`.
    pub(crate) const EVERY: IndexId = IndexId(0);

    pub(crate) fn add(&mut self, id: IndexId) {
        // Beyond the bound it is not known any more which indexes are complete, and that stays so: what is not
        // counted by name cannot be taken away again.
        let full = self.0.len() >= CROWDED_INDEXES_MAX && !self.0.contains_key(&id.0);
        let id = if full { Crowded::EVERY } else { id };
        *self.0.entry(id.0).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, id: IndexId) {
        if let Some(count) = self.0.get_mut(&id.0) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&id.0);
            }
        }
    }

    pub(crate) fn contains(&self, id: IndexId) -> bool {
        !self.0.is_empty() && (self.0.contains_key(&id.0) || self.0.contains_key(&Crowded::EVERY.0))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn encode(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(1 + 16 * self.0.len());
        bytes.push(FORMAT_VERSION);
        for (id, count) in &self.0 {
            bytes.extend_from_slice(&id.to_be_bytes());
            bytes.extend_from_slice(&count.to_be_bytes());
        }
        bytes.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Crowded> {
        let damaged = || Error::corrupt("the list of crowded indexes is damaged");
        let (version, rest) = bytes.split_first().ok_or_else(damaged)?;
        let (pairs, []) = rest.as_chunks::<16>() else { return Err(damaged()) };
        if *version != FORMAT_VERSION {
            return Err(damaged());
        }
        let numbers = pairs.iter().map(|pair| {
            let both = u128::from_be_bytes(*pair);
            ((both >> 64) as u64, both as u64)
        });
        Ok(Crowded(numbers.collect()))
    }
}

/// Which indexes of a partition can be used for reads.
#[derive(Clone)]
pub struct Usable {
    /// All layouts in force, the container's first.
    layouts: Vec<Arc<Layout>>,
    /// Whether computed properties can be evaluated.
    evaluates: bool,
    crowded: Arc<Crowded>,
}

impl Usable {
    pub(crate) fn new(
        wanted: &Arc<Layout>,
        stored: &Layouts,
        crowded: Arc<Crowded>,
        evaluates: bool,
    ) -> Usable {
        let mut layouts = vec![wanted.clone()];
        for layout in [Some(&stored.target), stored.built.as_ref()].into_iter().flatten() {
            if !layouts.contains(layout) {
                layouts.push(layout.clone());
            }
        }
        Usable { layouts, evaluates, crowded }
    }

    /// Returns whether the index of a path is complete: every item that has a value there has its entry.
    pub fn is_path_usable(&self, segments: &[PathSegment]) -> bool {
        self.is_everywhere(segments, |matcher| matcher.is_path_indexed(segments))
    }

    /// Returns whether the index of a path has an entry for every item, those that lack the path included.
    pub fn has_undefined_entries(&self, segments: &[PathSegment]) -> bool {
        self.is_everywhere(segments, |matcher| {
            matcher.is_path_indexed(segments) && matcher.has_undefined_entries(segments)
        })
    }

    /// Returns the composite indexes and tuple paths that are complete.
    pub fn composites(&self) -> Vec<CompositeIndex> {
        let (wanted, others) = self.layouts.split_first().expect("there is always a wanted layout");
        let complete = |index: &&CompositeIndex| {
            others.iter().all(|layout| layout.matcher.composites().contains(index))
                && !self.crowded.contains(index.id)
                && index.paths.iter().all(|(path, _)| self.agree_on(path))
        };
        wanted.matcher.composites().iter().filter(complete).cloned().collect()
    }

    fn is_everywhere(&self, segments: &[PathSegment], has: impl Fn(&Matcher) -> bool) -> bool {
        let protected = matches!(segments, [PathSegment::Property(name)] if name == "id" || name == "_ts");
        self.layouts.iter().all(|layout| has(&layout.matcher))
            && self.agree_on(segments)
            && (protected || self.crowded.is_empty() || !self.crowded.contains(IndexId::of_path(segments)))
    }

    /// Returns whether all layouts mean the same property by the first name of a path.
    fn agree_on(&self, segments: &[PathSegment]) -> bool {
        if !self.layouts.iter().any(|layout| layout.matcher.is_computed(segments)) {
            return true;
        }
        let Some(PathSegment::Property(name)) = segments.first() else { return true };
        let query = self.layouts[0].query(name);
        self.evaluates && query.is_some() && self.layouts.iter().all(|layout| layout.query(name) == query)
    }
}

/// Names the indexes that a policy names itself.
fn names_of(policy: &IndexingPolicy) -> HashMap<IndexId, String> {
    let mut names = HashMap::new();
    for name in ["id", "_ts"] {
        names.insert(IndexId::of_property(name), format!("/{name}/?"));
    }
    for path in &policy.included_paths {
        match path {
            IncludedPath::Range(path) if !path.is_root() => {
                names.insert(IndexId::of_path(path.segments()), path_text(path.segments()));
            }
            IncludedPath::Range(_) => {}
            IncludedPath::Tuple(tuple) => {
                names.insert(IndexId::of_tuple(tuple), shortened(tuple.text().to_owned()));
            }
        }
    }
    for paths in policy.composites() {
        let parts = paths.iter().map(|path| {
            let word = if path.order == SortOrder::Descending { "DESC" } else { "ASC" };
            format!("{} {word}", path.path.text())
        });
        let text = parts.collect::<Vec<_>>().join(", ");
        names.insert(IndexId::of_composite(paths), shortened(text));
    }
    names
}

/// Writes a path as policies do, not longer than is kept.
pub(crate) fn path_text(segments: &[PathSegment]) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            PathSegment::Elements => text.push_str("/[]"),
            PathSegment::Property(name) => {
                text.push('/');
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if !name.is_empty() && name.chars().all(plain) {
                    text.push_str(name);
                } else {
                    text.push_str(&json::to_string(&Value::from(name.as_str())));
                }
            }
        }
        if text.len() > INDEX_PATH_TEXT_BYTES_MAX {
            break;
        }
    }
    text.push_str("/?");
    shortened(text)
}

fn shortened(mut text: String) -> String {
    const DOTS: &str = "...";
    if text.len() > INDEX_PATH_TEXT_BYTES_MAX {
        let end = (0..=INDEX_PATH_TEXT_BYTES_MAX - DOTS.len()).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str(DOTS);
    }
    text
}

#[cfg(test)]
mod tests;
