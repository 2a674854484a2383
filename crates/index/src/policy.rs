//! The indexing policy of a container: read from JSON, validated completely, written back.
//!
//! What comes back is the service's canonical form: words in their documented spelling, `/` as `/*`,
//! `/"_etag"/?` always among the excluded paths, optional lists left out where the user left them out.
//! Members nobody documents are dropped, as is the old `indexes` list inside an included path: it chose
//! between hash and range indexes, and there are only range indexes now.
//!
//! Not here: compiling a policy for use (`matcher`), rules that need the rest of the container's
//! definition, except that the vector rules are checked here once the dimensions are known
//! ([`IndexingPolicy::check_vectors`]).

use std::collections::HashSet;

use armilla_value::{Object, Value};

use crate::limits;
use crate::paths::{BadPath, IndexPath, TuplePath};
use crate::reader::{Field, PolicyError};

mod composite;
mod full_text;
mod spatial;
#[cfg(test)]
mod tests;
mod vector;

pub use composite::{CompositePath, SortOrder};
pub use full_text::FullTextIndex;
pub use spatial::{BoundingBox, SpatialIndex, SpatialType};
pub use vector::{QuantizerType, VectorIndex, VectorIndexType};

/// When the index follows a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexingMode {
    /// Together with the write.
    Consistent,
    /// Some time after the write; accepted from old clients, and served as `Consistent`.
    Lazy,
    /// Never: the container is a key-value store.
    None,
}

impl IndexingMode {
    /// Returns the word that stands for the mode in a policy.
    pub fn word(self) -> &'static str {
        match self {
            IndexingMode::Consistent => "consistent",
            IndexingMode::Lazy => "lazy",
            IndexingMode::None => "none",
        }
    }
}

/// An included path: an ordinary one, or a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncludedPath {
    /// Scalars at or below a path.
    Range(IndexPath),
    /// Combinations of properties within one array element.
    Tuple(TuplePath),
}

impl IncludedPath {
    /// Returns the path as it was written.
    pub fn text(&self) -> &str {
        match self {
            IncludedPath::Range(path) => path.text(),
            IncludedPath::Tuple(path) => path.text(),
        }
    }
}

/// A validated indexing policy.
///
/// The optional lists are `None` where the user did not write them, so that they stay out of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexingPolicy {
    /// When the index follows a write.
    pub mode: IndexingMode,
    /// Whether items are indexed unless the write says otherwise.
    pub automatic: bool,
    /// What is indexed.
    pub included_paths: Vec<IncludedPath>,
    /// What is not.
    pub excluded_paths: Vec<IndexPath>,
    /// Indexes over several properties at once.
    pub composite_indexes: Option<Vec<Vec<CompositePath>>>,
    /// Indexes over GeoJSON values.
    pub spatial_indexes: Option<Vec<SpatialIndex>>,
    /// Indexes over vectors.
    pub vector_indexes: Option<Vec<VectorIndex>>,
    /// Indexes over words.
    pub full_text_indexes: Option<Vec<FullTextIndex>>,
}

impl Default for IndexingPolicy {
    /// Returns the policy of a container whose creator gave none: everything indexed but the etag.
    fn default() -> IndexingPolicy {
        IndexingPolicy {
            mode: IndexingMode::Consistent,
            automatic: true,
            included_paths: vec![IncludedPath::Range(IndexPath::root())],
            excluded_paths: vec![etag_path()],
            composite_indexes: None,
            spatial_indexes: None,
            vector_indexes: None,
            full_text_indexes: None,
        }
    }
}

impl IndexingPolicy {
    /// Reads and validates a policy.
    pub fn from_value(value: &Value) -> Result<IndexingPolicy, PolicyError> {
        let field = Field::new(value, "indexingPolicy");
        field.expect_object()?;
        let mode = mode_of(&field)?;
        let automatic = match field.member("automatic") {
            Some(flag) => flag.boolean()? && mode != IndexingMode::None,
            None => mode != IndexingMode::None,
        };
        let included_paths = included_paths(&field)?;
        let excluded_paths = excluded_paths(&field)?;
        let mut policy = IndexingPolicy {
            mode,
            automatic,
            included_paths,
            excluded_paths,
            composite_indexes: composite::read(&field)?,
            spatial_indexes: spatial::read(&field)?,
            vector_indexes: vector::read(&field)?,
            full_text_indexes: full_text::read(&field)?,
        };
        if mode == IndexingMode::None {
            policy.check_nothing_indexed(&field)?;
        } else {
            policy.complete_root(&field)?;
            policy.check_conflicts(&field)?;
            policy.exclude_etag();
        }
        Ok(policy)
    }

    /// Writes the policy in its canonical form.
    pub fn to_value(&self) -> Value {
        let path_object = |text: &str| object([("path", Value::String(text.into()))]);
        let mut members = vec![
            ("indexingMode", Value::String(self.mode.word().into())),
            ("automatic", Value::Bool(self.automatic)),
            (
                "includedPaths",
                Value::Array(self.included_paths.iter().map(|path| path_object(path.text())).collect()),
            ),
            (
                "excludedPaths",
                Value::Array(self.excluded_paths.iter().map(|path| path_object(path.text())).collect()),
            ),
        ];
        if let Some(indexes) = &self.composite_indexes {
            members.push(("compositeIndexes", composite::write(indexes)));
        }
        if let Some(indexes) = &self.spatial_indexes {
            members.push(("spatialIndexes", spatial::write(indexes)));
        }
        if let Some(indexes) = &self.vector_indexes {
            members.push(("vectorIndexes", vector::write(indexes)));
        }
        if let Some(indexes) = &self.full_text_indexes {
            members.push(("fullTextIndexes", full_text::write(indexes)));
        }
        object(members)
    }

    /// Returns the composite indexes, none where the policy has no list.
    pub fn composites(&self) -> &[Vec<CompositePath>] {
        self.composite_indexes.as_deref().unwrap_or_default()
    }

    /// Returns the spatial indexes, none where the policy has no list.
    pub fn spatials(&self) -> &[SpatialIndex] {
        self.spatial_indexes.as_deref().unwrap_or_default()
    }

    /// Returns the vector indexes, none where the policy has no list.
    pub fn vectors(&self) -> &[VectorIndex] {
        self.vector_indexes.as_deref().unwrap_or_default()
    }

    /// Returns the full-text indexes, none where the policy has no list.
    pub fn full_texts(&self) -> &[FullTextIndex] {
        self.full_text_indexes.as_deref().unwrap_or_default()
    }

    /// Checks the vector indexes against the container's vectors, of which `dimensions` tells the size by
    /// path, or nothing for a path that is no vector.
    pub fn check_vectors(
        &self,
        dimensions: impl Fn(&crate::paths::PropertyRoute) -> Option<u32>,
    ) -> Result<(), PolicyError> {
        vector::check(self.vectors(), dimensions)
    }

    /// With mode `none` there is no index for any of the lists to describe.
    fn check_nothing_indexed(&self, field: &Field<'_>) -> Result<(), PolicyError> {
        let lists = [
            ("includedPaths", !self.included_paths.is_empty()),
            ("excludedPaths", !self.excluded_paths.is_empty()),
            ("compositeIndexes", !self.composites().is_empty()),
            ("spatialIndexes", !self.spatials().is_empty()),
            ("vectorIndexes", !self.vectors().is_empty()),
            ("fullTextIndexes", !self.full_texts().is_empty()),
        ];
        match lists.into_iter().find(|(_, present)| *present) {
            None => Ok(()),
            Some((name, _)) => Err(PolicyError {
                message: format!("'{}.{name}' must be empty when the indexing mode is 'none'", field.path()),
                path: format!("{}.{name}", field.path()),
            }),
        }
    }

    /// Everything must be said to be indexed or not: `/*` stands in exactly one of the two lists. A policy
    /// without paths is the default one; a policy with some, but not that, is a mistake.
    fn complete_root(&mut self, field: &Field<'_>) -> Result<(), PolicyError> {
        if self.included_paths.is_empty() && self.excluded_paths.is_empty() {
            self.included_paths.push(IncludedPath::Range(IndexPath::root()));
        }
        let included_root = |path: &IncludedPath| matches!(path, IncludedPath::Range(path) if path.is_root());
        if self.included_paths.iter().any(included_root) || self.excluded_paths.iter().any(IndexPath::is_root)
        {
            return Ok(());
        }
        Err(field.refuse(
            "The special mandatory indexing path \"/\" is not provided in any of the path type sets. \
             Please provide this path in one of the sets.",
        ))
    }

    fn check_conflicts(&self, field: &Field<'_>) -> Result<(), PolicyError> {
        let included: HashSet<&IndexPath> = self.included_ranges().collect();
        match self.excluded_paths.iter().find(|path| included.contains(path)) {
            None => Ok(()),
            Some(path) => Err(PolicyError {
                message: format!("the indexing path '{path}' is both included and excluded"),
                path: format!("{}.excludedPaths", field.path()),
            }),
        }
    }

    /// The etag changes at every write and is compared by header, never by query.
    fn exclude_etag(&mut self) {
        let etag = etag_path();
        let included = self.included_ranges().any(|path| *path == etag);
        if !included && !self.excluded_paths.contains(&etag) {
            self.excluded_paths.push(etag);
        }
    }

    fn included_ranges(&self) -> impl Iterator<Item = &IndexPath> {
        self.included_paths.iter().filter_map(|path| match path {
            IncludedPath::Range(path) => Some(path),
            IncludedPath::Tuple(_) => None,
        })
    }
}

fn etag_path() -> IndexPath {
    IndexPath::parse("/\"_etag\"/?").expect("the etag's path is well formed")
}

fn mode_of(field: &Field<'_>) -> Result<IndexingMode, PolicyError> {
    let Some(mode) = field.member("indexingMode") else { return Ok(IndexingMode::Consistent) };
    let word = mode.text()?;
    [IndexingMode::Consistent, IndexingMode::Lazy, IndexingMode::None]
        .into_iter()
        .find(|mode| mode.word().eq_ignore_ascii_case(word))
        .ok_or_else(|| {
            mode.refuse(format!("the indexing mode '{word}' is none of 'consistent', 'lazy' and 'none'"))
        })
}

fn included_paths(field: &Field<'_>) -> Result<Vec<IncludedPath>, PolicyError> {
    let Some(list) = field.member("includedPaths") else { return Ok(Vec::new()) };
    let elements = list.elements()?;
    check_count(&list, elements.len(), limits::INCLUDED_PATHS_MAX, "included paths")?;
    let mut seen = HashSet::new();
    let mut paths: Vec<IncludedPath> = Vec::new();
    for element in elements {
        element.expect_object()?;
        let path = element.required("path")?;
        let text = path.text()?;
        check_legacy_indexes(&element)?;
        if TuplePath::is_meant(text) {
            let tuple = TuplePath::parse(text).map_err(|bad| bad_path(&path, text, bad))?;
            let tuple = IncludedPath::Tuple(tuple);
            if !paths.contains(&tuple) {
                paths.push(tuple);
            }
        } else {
            let range = IndexPath::parse(text).map_err(|bad| bad_path(&path, text, bad))?;
            if seen.insert(range.clone()) {
                paths.push(IncludedPath::Range(range));
            }
        }
    }
    Ok(paths)
}

fn excluded_paths(field: &Field<'_>) -> Result<Vec<IndexPath>, PolicyError> {
    let Some(list) = field.member("excludedPaths") else { return Ok(Vec::new()) };
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    for element in list.elements()? {
        element.expect_object()?;
        let path = element.required("path")?;
        let text = path.text()?;
        let range = IndexPath::parse(text).map_err(|bad| bad_path(&path, text, bad))?;
        if seen.insert(range.clone()) {
            paths.push(range);
        }
    }
    // The etag's path is ours: a policy that was full before it was added must still be readable.
    let own_count = paths.len() - usize::from(seen.contains(&etag_path()));
    check_count(&list, own_count, limits::EXCLUDED_PATHS_MAX, "excluded paths")?;
    Ok(paths)
}

/// Old clients still describe each path's index; the words must be words, and mean nothing any more.
fn check_legacy_indexes(element: &Field<'_>) -> Result<(), PolicyError> {
    let Some(indexes) = element.member("indexes") else { return Ok(()) };
    for index in indexes.elements()? {
        index.expect_object()?;
        if let Some(kind) = index.member("kind") {
            check_word(&kind, "index kind", &["Hash", "Range", "Spatial"])?;
        }
        if let Some(data_type) = index.member("dataType") {
            let types = ["Number", "String", "Point", "LineString", "Polygon", "MultiPolygon"];
            check_word(&data_type, "index data type", &types)?;
        }
        if let Some(precision) = index.member("precision") {
            precision.integer()?;
        }
    }
    Ok(())
}

/// Returns which of `words` the field holds, in whatever case.
pub(crate) fn check_word(field: &Field<'_>, what: &str, words: &[&str]) -> Result<usize, PolicyError> {
    let word = field.text()?;
    words.iter().position(|known| known.eq_ignore_ascii_case(word)).ok_or_else(|| {
        field.refuse(format!("the {what} '{word}' at '{}' is none of {}", field.path(), words.join(", ")))
    })
}

pub(crate) fn check_count(
    field: &Field<'_>,
    count: usize,
    count_max: usize,
    what: &str,
) -> Result<(), PolicyError> {
    if count <= count_max {
        return Ok(());
    }
    Err(field.refuse(format!("'{}' has {count} {what}, more than the {count_max} allowed", field.path())))
}

pub(crate) fn bad_path(field: &Field<'_>, text: &str, bad: BadPath) -> PolicyError {
    field.refuse(format!(
        "The indexing path '{text}' could not be accepted, failed near position '{}'. Please ensure that \
         the path is a valid path. Common errors include invalid characters or absence of quotes around \
         labels.",
        bad.position
    ))
}

pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut object = Object::new();
    for (name, value) in members {
        object.insert(name, value);
    }
    Value::Object(object)
}
