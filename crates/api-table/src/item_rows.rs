//! Items as rows of a query: the moment of their version, then their text as it is stored.

use armilla_engine::{Moment, Row, RowForm, RowResult, row_item};

/// Bytes of a moment.
const MOMENT_BYTES: usize = 8;

/// Writes rows that are items. Others are none.
pub(crate) struct ItemRows;

impl RowForm for ItemRows {
    fn write(&self, row: &Row<'_>, out: &mut Vec<u8>) -> RowResult<bool> {
        let Some(item) = row_item(row) else { return Ok(false) };
        out.extend_from_slice(&item.moment().ticks().to_le_bytes());
        out.extend_from_slice(item.stored().text_bytes());
        Ok(true)
    }
}

/// Reads a row.
pub(crate) fn read(row: &[u8]) -> Option<(&[u8], Moment)> {
    let (moment, text) = row.split_first_chunk::<MOMENT_BYTES>()?;
    Some((text, Moment::from_ticks(u64::from_le_bytes(*moment))))
}
