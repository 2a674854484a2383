//! An update by operators: `{$set: {...}, $inc: {...}}`.

use std::collections::{BTreeMap, BTreeSet};

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes, type_name};
use armilla_value::{Object, Value, mongo_cmp};

use crate::apply::Run;
use crate::array_filter::ArrayFilters;
use crate::context::Context;
use crate::limits::DOCUMENT_DEPTH_MAX;
use crate::operator::{Operator, Rename, is_operator, unknown_modifier};
use crate::path::{Component, Name, Path};
use crate::render::{render_member, render_object};
use crate::replacement::{check_depth, dollar_prefixed};
use crate::tree::Node;

/// The operators that were read.
#[derive(Debug, Clone)]
pub(crate) struct Modifiers {
    tree: Node,
    renames: Vec<Rename>,
    filters: ArrayFilters,
    /// The path that leads to or into `_id`, if there is one: only then `_id` can become another.
    id_path: Option<String>,
    /// The paths that begin with a name with a dollar, which no document may get, by that name.
    dollar_paths: BTreeMap<String, String>,
    /// Whether the document may nest deeper than allowed afterwards.
    may_be_too_deep: bool,
    needs_position: bool,
}

impl Modifiers {
    /// Reads the operators and the filters of `$[id]`.
    pub(crate) fn parse(
        update: &Object,
        array_filters: Option<&[Value]>,
        scope: &Scope,
    ) -> Result<Modifiers> {
        let mut modifiers = Modifiers {
            tree: Node::new(),
            renames: Vec::new(),
            filters: ArrayFilters::parse(array_filters.unwrap_or_default(), scope)?,
            id_path: None,
            dollar_paths: BTreeMap::new(),
            may_be_too_deep: false,
            needs_position: false,
        };
        let mut used = BTreeSet::new();
        for (name, operands) in update.iter() {
            if !is_operator(name) && name != "$rename" {
                return Err(unknown_modifier(name));
            }
            let Value::Object(operands) = operands else {
                return Err(Error::new(
                    codes::FAILED_TO_PARSE,
                    format!(
                        "Modifiers operate on fields but we found type {} instead. For example: {{$mod: {{<field>: \
                         ...}}}} not {{{}}}",
                        type_name(operands),
                        render_member(name, operands)
                    ),
                ));
            };
            for (path, operand) in operands.iter() {
                if name == "$rename" {
                    modifiers.add_rename(Rename::parse(path, operand)?, &mut used)?;
                } else {
                    let path = Path::parse(path)?;
                    let operator = Operator::parse(name, &path, operand, scope)?;
                    modifiers.add(&path, operator, &mut used)?;
                }
            }
        }
        if let Some(unused) = modifiers.filters.identifiers().find(|identifier| !used.contains(*identifier)) {
            return Err(Error::new(
                codes::FAILED_TO_PARSE,
                format!(
                    "The array filter for identifier '{unused}' was not used in the update {}",
                    render_object(update)
                ),
            ));
        }
        Ok(modifiers)
    }

    fn add_rename(&mut self, rename: Rename, used: &mut BTreeSet<String>) -> Result<()> {
        let index = self.renames.len();
        self.add(&rename.source, Operator::RenameSource(index), used)?;
        self.add(&rename.target, Operator::RenameTarget(index), used)?;
        self.may_be_too_deep = true;
        self.renames.push(rename);
        Ok(())
    }

    fn add(&mut self, path: &Path, operator: Operator, used: &mut BTreeSet<String>) -> Result<()> {
        for component in &path.components {
            match component {
                Component::Filtered(identifier) => {
                    if !self.filters.contains(identifier) {
                        return Err(Error::bad_value(format!(
                            "No array filter found for identifier '{identifier}' in path '{}'",
                            path.text
                        )));
                    }
                    used.insert(identifier.clone());
                }
                Component::Positional => self.needs_position = true,
                Component::Name(_) => {}
            }
        }
        let creates = !matches!(
            operator,
            Operator::Unset | Operator::RenameSource(_) | Operator::Pop { .. } | Operator::Pull(_)
        );
        let first = path.first_name();
        if first.starts_with('$') && creates {
            self.dollar_paths.insert(first.to_owned(), path.text.clone());
        }
        if first == "_id" && self.id_path.is_none() {
            self.id_path = Some(path.text.clone());
        }
        self.may_be_too_deep |= creates && path.components.len() + operator.depth() > DOCUMENT_DEPTH_MAX;
        self.tree.add(path, operator)
    }

    /// Says whether a path has the positional `$`.
    pub(crate) fn needs_position(&self) -> bool {
        self.needs_position
    }

    /// Changes a document; says whether it became another.
    pub(crate) fn apply(
        &self,
        document: Object,
        position: Option<usize>,
        is_insert: bool,
        environment: &Environment,
    ) -> Result<(Object, bool)> {
        let renamed =
            self.renames.iter().map(|rename| rename.value(&document)).collect::<Result<Vec<_>>>()?;
        let takes_id =
            |(rename, value): (&Rename, &Option<Value>)| value.is_some() && rename.target.text == "_id";
        if document.contains("_id") && self.renames.iter().zip(&renamed).any(takes_id) {
            return Err(Error::new(
                codes::IMMUTABLE_FIELD,
                "Performing an update on the path '_id' would modify the immutable field '_id'",
            ));
        }
        let position = position.map(|index| Name(index.to_string()));
        let id = document.get("_id").cloned();
        let context = Context::new(environment, is_insert, &renamed, id.as_ref());
        let mut run = Run { context, position: position.as_ref(), filters: &self.filters };
        let (changed, is_changed) = run.apply_document(&self.tree, document)?;
        if let (Some(path), Some(old)) = (&self.id_path, &id)
            && changed.get("_id").is_none_or(|new| mongo_cmp(old, new).is_ne())
        {
            return Err(Error::new(
                codes::IMMUTABLE_FIELD,
                format!("Performing an update on the path '{path}' would modify the immutable field '_id'"),
            ));
        }
        if !self.dollar_paths.is_empty()
            && let Some((name, path)) =
                changed.iter().find_map(|(name, _)| Some((name, self.dollar_paths.get(name)?)))
        {
            return Err(dollar_prefixed(name, path));
        }
        if self.may_be_too_deep {
            check_depth(&changed)?;
        }
        Ok((changed, is_changed))
    }
}
