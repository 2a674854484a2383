//! Rows of a query as documents: filtered, projected and written where they are found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_engine::{Item, Row, RowForm, RowResult, row_item};
use armilla_mongo_expression::{Environment, Error};
use armilla_mongo_filter::{Filter, Matched, Projection, Sort};
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value};
use parking_lot::Mutex;

use crate::documents::{self, PartName};
use crate::failure::{Failure, Result};
use crate::order::Walk;

/// What is made of an item that matches.
pub(crate) enum Shape {
    /// The document as BSON.
    Documents(Option<Arc<Projection>>),
    /// The same, as long as they come in an order.
    Walked(Arc<Walk>, Option<Arc<Projection>>),
    /// The same, with its key in an order before it.
    Sorted(Arc<Sort>, Option<Arc<Projection>>),
    /// The item as it is stored.
    Items,
    /// These top-level members of the document: rows are places among those that were made ([`DocumentRows::take_parts`]).
    Parts(Vec<PartName>),
    /// Nothing: it is only counted.
    Nothing,
}

/// Writes rows that are items.
pub(crate) struct DocumentRows {
    /// What the index did not decide.
    pub(crate) filter: Option<Arc<Filter>>,
    pub(crate) shape: Shape,
    pub(crate) environment: Arc<Environment>,
    failure: Mutex<Option<Error>>,
    /// Whether a row may stand elsewhere in its order: what comes from there on is of no use.
    is_odd: AtomicBool,
    /// Parts of documents, those of rows among them that came to nothing: a page may be begun anew.
    parts: Mutex<Vec<Object>>,
}

impl DocumentRows {
    pub(crate) fn new(
        filter: Option<Arc<Filter>>,
        shape: Shape,
        environment: Arc<Environment>,
    ) -> DocumentRows {
        DocumentRows {
            filter,
            shape,
            environment,
            failure: Mutex::default(),
            is_odd: AtomicBool::new(false),
            parts: Mutex::default(),
        }
    }

    /// Fails if a row did.
    pub(crate) fn check(&self) -> Result<()> {
        match self.failure.lock().take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Says whether the rows of the last page are not in their order.
    pub(crate) fn is_odd(&self) -> bool {
        self.is_odd.load(Ordering::Relaxed)
    }

    /// Makes a part of a document, and writes where it is.
    fn add_parts(&self, item: &Item, names: &[PartName], out: &mut Vec<u8>) -> bool {
        let (parts, bytes) = documents::parts_of_item(item, names);
        let mut all = self.parts.lock();
        out.extend_from_slice(&(all.len() as u32).to_le_bytes());
        // A page is bounded by the bytes of its rows, and so is what they stand for.
        out.resize(out.len() + bytes, 0);
        all.push(parts);
        true
    }

    /// Returns the parts that the rows of a page are, and forgets all others.
    pub(crate) fn take_parts<'r>(&self, rows: impl Iterator<Item = &'r [u8]>) -> Vec<Object> {
        let mut all = std::mem::take(&mut *self.parts.lock());
        let places =
            rows.filter_map(|row| row.first_chunk().map(|place| u32::from_le_bytes(*place) as usize));
        places.filter_map(|place| all.get_mut(place).map(std::mem::take)).collect()
    }

    fn row(&self, row: &Row<'_>, out: &mut Vec<u8>) -> std::result::Result<bool, Error> {
        let Some(item) = row_item(row) else { return Ok(false) };
        if let Shape::Walked(walk, _) = &self.shape
            && walk.is_odd(&item)
        {
            self.is_odd.store(true, Ordering::Relaxed);
            return Ok(true);
        }
        if self.filter.is_none() {
            match &self.shape {
                Shape::Items => {
                    out.extend_from_slice(item.raw().0);
                    return Ok(true);
                }
                Shape::Nothing => {
                    out.push(b'.');
                    return Ok(true);
                }
                Shape::Parts(names) => return Ok(self.add_parts(&item, names, out)),
                Shape::Documents(None) | Shape::Walked(_, None) => {
                    return written(documents::encode_item(&item, out));
                }
                _ => {}
            }
        }
        let document = documents::of_item(&item);
        let matched = match &self.filter {
            Some(filter) => match filter.find(&document, &self.environment)? {
                Some(matched) => matched,
                None => return Ok(false),
            },
            None => Matched::default(),
        };
        match &self.shape {
            Shape::Items => out.extend_from_slice(item.raw().0),
            Shape::Nothing => out.push(b'.'),
            Shape::Parts(names) => {
                self.add_parts(&item, names, out);
            }
            Shape::Documents(projection) | Shape::Walked(_, projection) => {
                self.document(document, &matched, projection.as_deref(), out)?;
            }
            Shape::Sorted(sort, projection) => {
                let key = sort.key(&document)?;
                let key = Object::from([("k", Value::Array(key.0))]);
                written(bson::encode(&key, out))?;
                self.document(document, &matched, projection.as_deref(), out)?;
            }
        }
        Ok(true)
    }

    fn document(
        &self,
        document: Object,
        matched: &Matched,
        projection: Option<&Projection>,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), Error> {
        let document = match projection {
            Some(projection) => projection.apply(&document, matched, &self.environment)?,
            None => document,
        };
        written(bson::encode(&document, out)).map(|_| ())
    }
}

fn written(
    result: std::result::Result<(), armilla_mongo_wire::WireError>,
) -> std::result::Result<bool, Error> {
    result.map(|()| true).map_err(|error| Error::new(error.code, error.message))
}

impl RowForm for DocumentRows {
    fn write(&self, row: &Row<'_>, out: &mut Vec<u8>) -> RowResult<bool> {
        let start = out.len();
        // Nothing of the page is of use, and with rows it ends soon.
        if self.is_odd() {
            return Ok(true);
        }
        // After the first failure the page is of no use.
        if self.failure.lock().is_some() {
            return Ok(false);
        }
        match self.row(row, out) {
            Ok(is_written) => Ok(is_written),
            Err(error) => {
                out.truncate(start);
                self.failure.lock().get_or_insert(error);
                Ok(false)
            }
        }
    }
}

/// Takes a row apart that has its key before it.
pub(crate) fn read_sorted(row: &[u8]) -> Result<(Vec<Value>, Vec<u8>)> {
    let (key, rest) = bson::decode_prefix(row, bson::Duplicates::KeepLast).map_err(Failure::from)?;
    let key = match key.into_iter().next() {
        Some((_, Value::Array(key))) => key,
        _ => Vec::new(),
    };
    Ok((key, rest.to_vec()))
}
