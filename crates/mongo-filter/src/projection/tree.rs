//! The tree of a projection, and what it computes.

use std::collections::HashMap;

use armilla_mongo_expression::{Environment, Error, Expression, Result};
use armilla_value::{Object, Value};

use super::Metadata;
use crate::condition::Predicate;

const COLLISION_BELOW: i32 = 31249;
const COLLISION: i32 = 31250;

/// Up to this many names are searched one by one.
const LINEAR_SEARCH_MAX: usize = 8;

/// What happens to members that are not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They go.
    Include,
    /// They stay.
    Keep,
}

/// The names of one level.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    children: Vec<(String, Child)>,
    /// Where a name is, once there are many.
    places: HashMap<String, usize>,
    /// Whether something is computed here or below.
    pub(super) is_computing: bool,
}

/// What happens to a member.
#[derive(Debug, Clone)]
pub(super) enum Child {
    /// It stays.
    Include,
    /// It goes.
    Exclude,
    /// It stays; of an array a part.
    Slice {
        /// Where the part begins, from the end if below zero; without it the part is at an end itself.
        skip: Option<i64>,
        /// How many elements; below zero from the end.
        limit: i64,
    },
    /// It becomes what was computed, by its place in the list.
    Computed(usize),
    /// What is inside of it is looked at.
    Nested(Node),
}

/// Something that is computed once for each document.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// An expression.
    Expression(Box<Expression>),
    /// The first element of a member that matches, in an array.
    Element {
        /// The member.
        name: String,
        /// The `$elemMatch`.
        predicate: Predicate,
    },
    /// `$meta: "sortKey"`.
    SortKey,
    /// `$meta: "geoNearDistance"`.
    Distance,
}

impl Source {
    pub(super) fn compute(
        &self,
        document: &Object,
        metadata: Metadata<'_>,
        environment: &Environment,
    ) -> Result<Option<Value>> {
        Ok(match self {
            Source::Expression(expression) => expression.evaluate(document, environment)?,
            Source::Element { name, predicate } => {
                let value = document.get(name);
                let place = predicate.matching_element(value, environment)?;
                let element =
                    value.and_then(Value::as_array).zip(place).and_then(|(all, place)| all.get(place));
                element.map(|element| Value::Array(vec![element.clone()]))
            }
            Source::SortKey => metadata.sort_key.map(|key| Value::Array(key.0.clone())),
            Source::Distance => metadata.distance.map(Value::Double),
        })
    }
}

impl Node {
    pub(super) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    pub(super) fn children(&self) -> &[(String, Child)] {
        &self.children
    }

    pub(super) fn get(&self, name: &str) -> Option<&Child> {
        if self.children.len() <= LINEAR_SEARCH_MAX {
            return self.children.iter().find(|(own, _)| own == name).map(|(_, child)| child);
        }
        self.places.get(name).and_then(|place| self.children.get(*place)).map(|(_, child)| child)
    }

    fn push(&mut self, name: &str, child: Child) {
        self.places.insert(name.to_owned(), self.children.len());
        self.children.push((name.to_owned(), child));
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Child> {
        let place = *self.places.get(name)?;
        self.children.get_mut(place).map(|(_, child)| child)
    }

    /// Takes the `_id` out that an exclusion names as staying, which it does anyway.
    pub(super) fn remove(&mut self, name: &str) {
        self.children.retain(|(own, _)| own != name);
        self.places =
            self.children.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
    }

    /// Puts something at a path that begins in this node. `whole` is the path as the message names it.
    pub(super) fn add(&mut self, path: &str, child: Child, whole: &str) -> Result<()> {
        let is_computing = matches!(child, Child::Computed(_));
        let mut node = self;
        let mut rest = path;
        loop {
            node.is_computing |= is_computing;
            let Some((name, further)) = rest.split_once('.') else {
                if node.places.contains_key(rest) {
                    return Err(Error::new(COLLISION, format!("Path collision at {whole}")));
                }
                node.push(rest, child);
                return Ok(());
            };
            if !node.places.contains_key(name) {
                node.push(name, Child::Nested(Node::default()));
            }
            match node.get_mut(name) {
                Some(Child::Nested(inner)) => node = inner,
                _ => {
                    return Err(Error::new(
                        COLLISION_BELOW,
                        format!("Path collision at {whole} remaining portion {further}"),
                    ));
                }
            }
            rest = further;
        }
    }

    /// Sets the marks of what is computed anew, from below.
    pub(super) fn mark(&mut self) -> bool {
        let mut is_computing = false;
        for (_, child) in &mut self.children {
            is_computing |= match child {
                Child::Computed(_) => true,
                Child::Nested(inner) => inner.mark(),
                _ => false,
            };
        }
        self.is_computing = is_computing;
        is_computing
    }
}
