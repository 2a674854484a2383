//! Walks a document along the tree of an update.
//!
//! Several nodes may meet at one place, because `$`, `$[]` and `$[id]` can name the same element: they are walked
//! together, and where two of them end there, the update contradicts itself.

use std::collections::{BTreeMap, HashMap};

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value};

use crate::array_filter::ArrayFilters;
use crate::context::{Context, Segment};
use crate::limits::{ARRAY_BACKFILL_MAX, LINEAR_SEARCH_MEMBERS_MAX};
use crate::operator::{Operator, Outcome};
use crate::path::{Name, element_index};
use crate::render::render_member;
use crate::tree::Node;

/// One application of an update to a document.
pub(crate) struct Run<'a> {
    /// What operators see.
    pub(crate) context: Context<'a>,
    /// The index that `$` stands for, as a name.
    pub(crate) position: Option<&'a Name>,
    /// The filters of `$[id]`.
    pub(crate) filters: &'a ArrayFilters,
}

impl<'a> Run<'a> {
    /// Changes a document; says whether it became another.
    pub(crate) fn apply_document(&mut self, tree: &'a Node, document: Object) -> Result<(Object, bool)> {
        let mut root = Value::Object(document);
        let outcome = self.apply(&[tree], &mut root)?;
        match root {
            Value::Object(document) => Ok((document, outcome == Outcome::Changed)),
            _ => Err(Error::new(codes::INTERNAL_ERROR, "an update replaced the document itself")),
        }
    }

    /// Changes a value that is there.
    fn apply(&mut self, nodes: &[&'a Node], value: &mut Value) -> Result<Outcome> {
        if let [Node::Leaf(operator)] = nodes {
            return operator.change(value, &self.context);
        }
        match self.combined(nodes)? {
            Combined::Members(members) => {
                let mut is_changed = false;
                match value {
                    Value::Object(object) if members.len() > LINEAR_SEARCH_MEMBERS_MAX => {
                        is_changed = self.apply_many_members(members, object)?;
                    }
                    _ => {
                        for (name, nodes) in members {
                            is_changed |= self.apply_member(&name.0, &nodes, value)?;
                        }
                    }
                }
                Ok(if is_changed { Outcome::Changed } else { Outcome::Unchanged })
            }
            Combined::Elements(filtered) => self.apply_elements(&filtered, value),
        }
    }

    /// Changes or makes so many members of an object that searching it for each of them would take too long.
    fn apply_many_members(
        &mut self,
        members: BTreeMap<&'a Name, Vec<&'a Node>>,
        object: &mut Object,
    ) -> Result<bool> {
        let mut is_changed = false;
        let mut slots: Vec<(String, Option<Value>)> =
            std::mem::take(object).into_iter().map(|(name, value)| (name, Some(value))).collect();
        let positions: HashMap<String, usize> =
            slots.iter().enumerate().map(|(position, (name, _))| (name.clone(), position)).collect();
        for (name, nodes) in members {
            match positions.get(&name.0).map(|&at| &mut slots[at].1) {
                Some(slot) => {
                    if let Some(value) = slot {
                        let outcome = self.apply_at(Segment::Name(&name.0), &nodes, value)?;
                        is_changed |= outcome != Outcome::Unchanged;
                        if outcome == Outcome::Removed {
                            *slot = None;
                        }
                    }
                }
                None => {
                    if let Some(new) = self.create_at(&name.0, &nodes)? {
                        is_changed = true;
                        slots.push((name.0.clone(), Some(new)));
                    }
                }
            }
        }
        *object = slots
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| (name, value)))
            .collect::<Vec<_>>()
            .into();
        Ok(is_changed)
    }

    /// Changes or makes a member of a value, or an element; says whether anything changed.
    fn apply_member(&mut self, name: &'a str, nodes: &[&'a Node], value: &mut Value) -> Result<bool> {
        match value {
            Value::Object(object) => match object.get_mut(name) {
                Some(member) => match self.apply_at(Segment::Name(name), nodes, member)? {
                    Outcome::Unchanged => Ok(false),
                    Outcome::Changed => Ok(true),
                    Outcome::Removed => Ok(object.remove(name).is_some()),
                },
                None => match self.create_at(name, nodes)? {
                    Some(new) => {
                        object.insert(name, new);
                        Ok(true)
                    }
                    None => Ok(false),
                },
            },
            Value::Array(elements) => match element_index(name) {
                Some(index) => match elements.get_mut(index) {
                    Some(element) => self.apply_element(Segment::Name(name), nodes, element),
                    None => match self.create_at(name, nodes)? {
                        Some(new) => {
                            if index - elements.len() > ARRAY_BACKFILL_MAX {
                                return Err(Error::new(
                                    codes::CANNOT_BACKFILL_ARRAY,
                                    format!("can't backfill more than {ARRAY_BACKFILL_MAX} elements"),
                                ));
                            }
                            self.context.count_bytes((index - elements.len()) * ELEMENT_BYTES_MIN)?;
                            elements.resize(index, Value::Null);
                            elements.push(new);
                            Ok(true)
                        }
                        None => Ok(false),
                    },
                },
                None => self.refuse_member(name, nodes, value),
            },
            _ => self.refuse_member(name, nodes, value),
        }
    }

    /// Changes an element. Elements are not removed, or those behind would move: they become null.
    fn apply_element(&mut self, at: Segment<'a>, nodes: &[&'a Node], element: &mut Value) -> Result<bool> {
        match self.apply_at(at, nodes, element)? {
            Outcome::Unchanged => Ok(false),
            Outcome::Changed => Ok(true),
            Outcome::Removed => Ok(!std::mem::replace(element, Value::Null).is_null()),
        }
    }

    fn apply_elements(
        &mut self,
        filtered: &BTreeMap<&'a str, Vec<&'a Node>>,
        value: &mut Value,
    ) -> Result<Outcome> {
        let Value::Array(elements) = value else {
            return Err(Error::bad_value(format!(
                "Cannot apply array updates to non-array element {}",
                render_member(&self.context.last_name(), value)
            )));
        };
        let mut is_changed = false;
        for (index, element) in elements.iter_mut().enumerate() {
            let mut nodes = Vec::new();
            for (identifier, behind) in filtered {
                if self.filters.matches(identifier, element, self.context.environment)? {
                    nodes.extend_from_slice(behind);
                }
            }
            if !nodes.is_empty() {
                is_changed |= self.apply_element(Segment::Index(index), &nodes, element)?;
            }
        }
        Ok(if is_changed { Outcome::Changed } else { Outcome::Unchanged })
    }

    fn apply_at(&mut self, at: Segment<'a>, nodes: &[&'a Node], value: &mut Value) -> Result<Outcome> {
        self.context.place.push(at);
        let outcome = self.apply(nodes, value)?;
        self.context.place.pop();
        Ok(outcome)
    }

    fn create_at(&mut self, name: &'a str, nodes: &[&'a Node]) -> Result<Option<Value>> {
        self.context.place.push(Segment::Name(name));
        let created = self.create(nodes)?;
        self.context.place.pop();
        Ok(created)
    }

    /// Makes the value of a place where there is none, if anything wants one there.
    fn create(&mut self, nodes: &[&'a Node]) -> Result<Option<Value>> {
        if let [Node::Leaf(operator)] = nodes {
            return operator.create(&self.context);
        }
        match self.combined(nodes)? {
            Combined::Members(members) => {
                let mut created = Vec::new();
                for (name, nodes) in members {
                    if let Some(value) = self.create_at(&name.0, &nodes)? {
                        created.push((name.0.clone(), value));
                    }
                }
                Ok((!created.is_empty()).then(|| Value::Object(created.into())))
            }
            Combined::Elements(_) => Err(Error::bad_value(format!(
                "The path '{}' must exist in the document in order to apply array updates.",
                self.context.path()
            ))),
        }
    }

    /// Refuses to make a member of a value that can have none, unless no operator insists on it.
    fn refuse_member(&mut self, name: &'a str, nodes: &[&'a Node], value: &Value) -> Result<bool> {
        if self.create_at(name, nodes)?.is_some() {
            return Err(Error::new(
                codes::PATH_NOT_VIABLE,
                format!(
                    "Cannot create field '{name}' in element {{{}}}",
                    render_member(&self.context.last_name(), value)
                ),
            ));
        }
        if nodes.iter().any(|node| needs_viable_path(node)) {
            return Err(Error::new(
                codes::PATH_NOT_VIABLE,
                format!(
                    "Cannot use the part ({name}) of ({}.{name}) to traverse the element ({{{}}})",
                    self.context.path(),
                    render_member(&self.context.last_name(), value)
                ),
            ));
        }
        Ok(false)
    }

    /// Puts together what nodes that meet at one place say of its members or elements.
    fn combined(&self, nodes: &[&'a Node]) -> Result<Combined<'a>> {
        let conflict = || {
            Error::new(
                codes::CONFLICTING_UPDATE_OPERATORS,
                format!("Update created a conflict at '{}'", self.context.path()),
            )
        };
        let mut members: BTreeMap<&'a Name, Vec<&'a Node>> = BTreeMap::new();
        let mut elements: BTreeMap<&'a str, Vec<&'a Node>> = BTreeMap::new();
        for node in nodes {
            match node {
                Node::Leaf(_) => return Err(conflict()),
                Node::Members { named, positional } => {
                    for (name, node) in named {
                        members.entry(name).or_default().push(node);
                    }
                    if let Some(node) = positional {
                        let position = self.position.ok_or_else(|| {
                            Error::bad_value(
                                "The positional operator did not find the match needed from the query.",
                            )
                        })?;
                        members.entry(position).or_default().push(node);
                    }
                }
                Node::Elements(filtered) => {
                    for (identifier, node) in filtered {
                        elements.entry(identifier).or_default().push(node);
                    }
                }
            }
        }
        match (members.is_empty(), elements.is_empty()) {
            (false, false) => Err(conflict()),
            (_, true) => Ok(Combined::Members(members)),
            (true, false) => Ok(Combined::Elements(elements)),
        }
    }
}

/// How many bytes of BSON a null in an array has at least: its type, one digit and a zero.
const ELEMENT_BYTES_MIN: usize = 3;

/// What nodes that meet at one place say together.
enum Combined<'a> {
    Members(BTreeMap<&'a Name, Vec<&'a Node>>),
    Elements(BTreeMap<&'a str, Vec<&'a Node>>),
}

fn needs_viable_path(node: &Node) -> bool {
    match node {
        Node::Leaf(operator) => Operator::needs_viable_path(operator),
        Node::Members { named, positional } => {
            named.values().chain(positional.as_deref()).any(needs_viable_path)
        }
        Node::Elements(filtered) => filtered.values().any(needs_viable_path),
    }
}
