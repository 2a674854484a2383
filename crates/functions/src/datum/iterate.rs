//! Walking the elements of an array and the members of an object, wherever they are kept.

use std::borrow::Cow;

use armilla_value::{Value, stored};

use super::Datum;

/// The elements of an array, in order.
#[derive(Clone, Debug)]
pub struct IntoElements<'a>(Repr<'a>);

#[derive(Clone)]
enum Repr<'a> {
    None,
    Node(stored::Elements<'a>),
    Slice(std::slice::Iter<'a, Value>),
    Owned(std::vec::IntoIter<Value>),
}

impl std::fmt::Debug for Repr<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("elements")
    }
}

impl<'a> Iterator for IntoElements<'a> {
    type Item = Datum<'a>;

    fn next(&mut self) -> Option<Datum<'a>> {
        match &mut self.0 {
            Repr::None => None,
            Repr::Node(elements) => elements.next().map(Datum::from_node),
            Repr::Slice(elements) => elements.next().map(Datum::from_value),
            Repr::Owned(elements) => elements.next().map(Datum::from_owned),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Repr::None => (0, Some(0)),
            Repr::Node(elements) => elements.size_hint(),
            Repr::Slice(elements) => elements.size_hint(),
            Repr::Owned(elements) => elements.size_hint(),
        }
    }
}

impl<'a> Datum<'a> {
    /// Walks the elements of an array; of anything else, there are none.
    pub fn elements(&self) -> IntoElements<'_> {
        IntoElements(match self {
            Datum::Node(node) => Repr::Node(node.elements()),
            Datum::Value(value) => {
                value.as_array().map_or(Repr::None, |elements| Repr::Slice(elements.iter()))
            }
            _ => Repr::None,
        })
    }

    /// Walks the elements of an array, consuming it, so that they live as long as what it borrowed from.
    pub fn into_elements(self) -> IntoElements<'a> {
        IntoElements(match self {
            Datum::Node(node) => Repr::Node(node.elements()),
            Datum::Value(Cow::Borrowed(value)) => {
                value.as_array().map_or(Repr::None, |elements| Repr::Slice(elements.iter()))
            }
            Datum::Value(Cow::Owned(Value::Array(elements))) => Repr::Owned(elements.into_iter()),
            _ => Repr::None,
        })
    }

    /// Walks the members of an object in order; of anything else, there are none.
    pub fn members(&self) -> impl Iterator<Item = (Cow<'_, str>, Datum<'_>)> {
        let node = if let Datum::Node(node) = self { Some(node.members()) } else { None };
        let object = if let Datum::Value(value) = self { value.as_object() } else { None };
        let stored = node.into_iter().flatten().map(|(name, value)| (name, Datum::from_node(value)));
        let in_memory = object
            .into_iter()
            .flat_map(|object| object.iter())
            .map(|(name, value)| (Cow::Borrowed(name), Datum::from_value(value)));
        stored.chain(in_memory)
    }

    /// Walks the members of an object, consuming it, so that they live as long as what it borrowed from.
    pub fn into_members(self) -> impl Iterator<Item = (Cow<'a, str>, Datum<'a>)> {
        let (node, object, owned) = match self {
            Datum::Node(node) => (Some(node.members()), None, None),
            Datum::Value(Cow::Borrowed(value)) => (None, value.as_object(), None),
            Datum::Value(Cow::Owned(Value::Object(object))) => (None, None, Some(object)),
            _ => (None, None, None),
        };
        let stored = node.into_iter().flatten().map(|(name, value)| (name, Datum::from_node(value)));
        let in_memory = object
            .into_iter()
            .flat_map(|object| object.iter())
            .map(|(name, value)| (Cow::Borrowed(name), Datum::from_value(value)));
        let taken =
            owned.into_iter().flatten().map(|(name, value)| (Cow::Owned(name), Datum::from_owned(value)));
        stored.chain(in_memory).chain(taken)
    }
}
