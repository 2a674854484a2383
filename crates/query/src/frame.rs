//! The values that are bound while a row is made: a chain of slots, the innermost first.

use armilla_functions::Datum;
use armilla_value::Node;

use crate::physical::Column;
use crate::source::{Source, SourceItem};

/// One bound slot, with those around it. Nothing is copied to add one.
#[derive(Clone)]
pub struct Frame<'f> {
    parent: Option<&'f Frame<'f>>,
    slot: usize,
    value: Bound<'f>,
}

/// What a slot holds.
#[derive(Clone)]
pub(crate) enum Bound<'f> {
    /// Nothing at all: the outermost frame of a query without FROM.
    Nothing,
    /// A whole item, system properties included, with its content.
    Item(&'f dyn Source, &'f SourceItem, Node<'f>),
    /// What an index entry holds of an item: values, and where the item has each.
    Entry(&'f [Column], &'f [Datum<'static>]),
    /// Any other value.
    Datum(Datum<'f>),
    /// The values of a group: its keys, and the results of its aggregates.
    Group(&'f [Datum<'f>], &'f [Datum<'f>]),
}

/// The slot of a frame that holds a group; no source has it.
const GROUP_SLOT: usize = usize::MAX - 1;

impl<'f> Frame<'f> {
    /// Returns a frame without values.
    pub fn empty() -> Frame<'static> {
        Frame { parent: None, slot: GROUP_SLOT, value: Bound::Nothing }
    }

    /// Returns a frame with an item in slot 0.
    pub fn item(source: &'f dyn Source, item: &'f SourceItem) -> Frame<'f> {
        Frame { parent: None, slot: 0, value: Bound::Item(source, item, item.root()) }
    }

    /// Returns a frame with what an index entry holds of an item in slot 0.
    pub(crate) fn entry(columns: &'f [Column], values: &'f [Datum<'static>]) -> Frame<'f> {
        Frame { parent: None, slot: 0, value: Bound::Entry(columns, values) }
    }

    /// Returns a frame with one more value.
    pub fn with(parent: &'f Frame<'f>, slot: usize, value: Datum<'f>) -> Frame<'f> {
        Frame { parent: Some(parent), slot, value: Bound::Datum(value) }
    }

    /// Returns a frame with the keys and aggregate results of a group.
    pub fn group(keys: &'f [Datum<'f>], aggregates: &'f [Datum<'f>]) -> Frame<'f> {
        Frame { parent: None, slot: GROUP_SLOT, value: Bound::Group(keys, aggregates) }
    }

    pub(crate) fn find(&'f self, slot: usize) -> &'f Bound<'f> {
        let mut frame = self;
        loop {
            if frame.slot == slot {
                return &frame.value;
            }
            match frame.parent {
                Some(parent) => frame = parent,
                None => return &Bound::Nothing,
            }
        }
    }

    pub(crate) fn find_group(&'f self) -> Option<(&'f [Datum<'f>], &'f [Datum<'f>])> {
        let mut frame = self;
        loop {
            if let Bound::Group(keys, aggregates) = frame.value {
                return Some((keys, aggregates));
            }
            frame = frame.parent?;
        }
    }
}
