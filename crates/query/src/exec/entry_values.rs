//! What index entries hold of their items.

use armilla_functions::Datum;
use armilla_index::term;

use crate::physical::Column;

/// Takes values from entries. Entries of one value lie side by side, so the last values are kept.
pub(super) struct EntryValues {
    /// For each value of an entry, whether the index has it from the highest to the lowest.
    descending: Vec<bool>,
    term: Vec<u8>,
    values: Option<Vec<Datum<'static>>>,
}

impl EntryValues {
    /// Takes the values of some columns.
    pub(super) fn new(columns: &[Column]) -> EntryValues {
        let descending = columns.iter().map(|column| column.descending).collect();
        EntryValues { descending, term: Vec::new(), values: None }
    }

    /// Returns the values of an entry; nothing where it does not hold all of them.
    pub(super) fn of(&mut self, term: &[u8]) -> Option<Vec<Datum<'static>>> {
        if self.term.is_empty() || self.term != term {
            self.values = self.decode(term);
            self.term.clear();
            self.term.extend_from_slice(term);
        }
        self.values.clone()
    }

    fn decode(&self, term: &[u8]) -> Option<Vec<Datum<'static>>> {
        if let [false] = self.descending[..] {
            return Some(vec![term::decode(term)?.map_or(Datum::Undefined, Datum::from_owned)]);
        }
        let mut values = Vec::with_capacity(self.descending.len());
        let mut rest = term.to_vec();
        for descending in &self.descending {
            if *descending {
                rest.iter_mut().for_each(|byte| *byte = !*byte);
            }
            let length = term::length(&rest)?;
            // An array or an object is undefined there, as what is missing is.
            values.push(Datum::from_owned(term::decode(&rest[..length])??));
            rest.drain(..length);
            if *descending {
                rest.iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        rest.is_empty().then_some(values)
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::Value;

    use super::*;

    fn column(descending: bool) -> Column {
        Column { steps: Vec::new(), descending }
    }

    fn component(value: Option<&Value>, descending: bool) -> Vec<u8> {
        let bytes = term::of(value);
        if descending { bytes.iter().map(|byte| !byte).collect() } else { bytes }
    }

    #[test]
    fn values_come_out_as_they_went_in() {
        let texts = [Value::from("a"), Value::Int64(-7), Value::Double(0.25), Value::Null, Value::Bool(true)];
        for (first, second) in texts.iter().zip(texts.iter().rev()) {
            for (up, down) in [(false, false), (false, true), (true, false), (true, true)] {
                let mut values = EntryValues::new(&[column(up), column(down)]);
                let term = [component(Some(first), up), component(Some(second), down)].concat();
                let found: Vec<Option<Value>> =
                    values.of(&term).unwrap().into_iter().map(Datum::into_value).collect();
                assert_eq!(found, [Some(first.clone()), Some(second.clone())]);
                assert_eq!(values.of(&term).unwrap().len(), 2);
            }
        }
    }

    #[test]
    fn what_is_not_there_is_not_made_up() {
        let long = Value::from("x".repeat(1_000));
        let array = Value::Array(Vec::new());
        let mut one = EntryValues::new(&[column(false)]);
        assert!(one.of(&term::of(Some(&long))).is_none());
        assert!(one.of(&term::of(Some(&array))).is_none());
        assert!(one.of(&term::of(None)).unwrap()[0].is_undefined());
        let mut two = EntryValues::new(&[column(false), column(true)]);
        let pair = |second| [component(Some(&Value::Int64(1)), false), component(second, true)].concat();
        assert!(two.of(&pair(Some(&long))).is_none());
        assert!(two.of(&pair(None)).is_none());
        assert!(two.of(&pair(Some(&Value::Null))).is_some());
    }
}
