//! `fullTextPolicy`: the texts that items hold and the languages they are in.

use armilla_index::IndexingPolicy;
use armilla_index::paths::PropertyRoute;
use armilla_index::reader::Field;
use armilla_value::Value;

use super::DefinitionError;
use super::json::object;

/// Languages whose words can be taken apart.
const LANGUAGES: [&str; 7] = ["en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR", "pt-PT"];

/// One text that items hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTextPath {
    /// Where it stands.
    pub path: PropertyRoute,
    /// Its language, where it is not the default one.
    pub language: Option<&'static str>,
}

/// The texts that items hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTextPolicy {
    /// The language of texts that name none.
    pub default_language: Option<&'static str>,
    /// The texts, where any are listed.
    pub paths: Option<Vec<FullTextPath>>,
}

pub(super) fn read(body: &Field<'_>) -> Result<Option<FullTextPolicy>, DefinitionError> {
    let Some(policy) = body.member("fullTextPolicy") else { return Ok(None) };
    policy.expect_object()?;
    let default_language = read_language(&policy, "defaultLanguage")?;
    let Some(list) = policy.member("fullTextPaths") else {
        return Ok(Some(FullTextPolicy { default_language, paths: None }));
    };
    let mut paths: Vec<FullTextPath> = Vec::new();
    for element in list.elements()? {
        element.expect_object()?;
        let field = element.required("path")?;
        let text = field.text()?;
        let path = PropertyRoute::parse_outside_arrays(text).map_err(|_| {
            let message = format!("The Full Text Policy contains an invalid Path: {text}");
            DefinitionError::new(field.path(), message)
        })?;
        if paths.iter().any(|earlier| earlier.path == path) {
            let message = format!("The Full Text Policy contains the Path: {text} more than once");
            return Err(DefinitionError::new(field.path(), message));
        }
        paths.push(FullTextPath { path, language: read_language(&element, "language")? });
    }
    Ok(Some(FullTextPolicy { default_language, paths: Some(paths) }))
}

fn read_language(field: &Field<'_>, name: &str) -> Result<Option<&'static str>, DefinitionError> {
    let Some(field) = field.member(name) else { return Ok(None) };
    let word = field.text()?;
    match LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(word)) {
        Some(language) => Ok(Some(language)),
        None => Err(DefinitionError::new(
            field.path(),
            format!(
                "The Full Text Policy contains an unsupported language {word}. Supported languages are: {}",
                LANGUAGES.join(", ")
            ),
        )),
    }
}

pub(super) fn write(policy: &FullTextPolicy) -> Value {
    let mut members = Vec::new();
    if let Some(language) = policy.default_language {
        members.push(("defaultLanguage", language.into()));
    }
    if let Some(paths) = &policy.paths {
        let write_path = |path: &FullTextPath| {
            let mut members = vec![("path", Value::from(path.path.text()))];
            members.extend(path.language.map(|language| ("language", language.into())));
            object(members)
        };
        members.push(("fullTextPaths", Value::Array(paths.iter().map(write_path).collect())));
    }
    object(members)
}

pub(super) fn check_indexes(
    policy: Option<&FullTextPolicy>,
    indexing: &IndexingPolicy,
) -> Result<(), DefinitionError> {
    let paths = policy.and_then(|policy| policy.paths.as_deref()).unwrap_or_default();
    let unknown = |path: &PropertyRoute| !paths.iter().any(|known| known.path == *path);
    match indexing.full_texts().iter().position(|index| unknown(&index.path)) {
        None => Ok(()),
        Some(position) => Err(DefinitionError::new(
            format!("indexingPolicy.fullTextIndexes[{position}].path"),
            format!(
                "The path of the Full Text Index {} does not match the path specified in the Full Text Policy",
                indexing.full_texts()[position].path
            ),
        )),
    }
}
