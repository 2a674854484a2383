//! A CSV file: a header row, and rows.

use std::io::{Chain, Cursor, Read};

use anyhow::{Context, Result, bail};
use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::input::first_bytes;
use crate::limits::{COLUMNS_MAX, READ_BYTES, RECORD_BYTES_MAX, REJECT_TEXT_BYTES_MAX};
use crate::records::{Content, Record, Source};

/// The rows of a table.
pub(crate) struct Table<R> {
    rows: Reader<Chain<Cursor<Vec<u8>>, R>>,
    /// Whether lines end with both a carriage return and a line feed. The package that reads rows leaves the second
    /// to the next row, and so counts it too late.
    has_long_ends: bool,
    columns: Vec<String>,
    delimiter: u8,
}

impl<R: Read + Send> Table<R> {
    /// Reads the header row.
    pub(crate) fn new(bytes: R, delimiter: u8) -> Result<Table<R>> {
        let (start, rest) = first_bytes(bytes, READ_BYTES, |start| start.contains(&b'\n'))?;
        let first_end = start.iter().position(|byte| *byte == b'\n');
        let has_long_ends = first_end.is_some_and(|at| at > 0 && start[at - 1] == b'\r');
        let mut rows = ReaderBuilder::new()
            .delimiter(delimiter)
            .buffer_capacity(READ_BYTES)
            // A row that is shorter or longer than the header is that row's problem.
            .flexible(true)
            .from_reader(Cursor::new(start).chain(rest));
        let header = rows.byte_headers().context("cannot read the header row")?;
        if header.is_empty() {
            bail!("there is no header row");
        }
        if header.len() > COLUMNS_MAX {
            bail!("the header row has {} columns, at most {COLUMNS_MAX} are taken", header.len());
        }
        let name = |(index, name): (usize, &[u8])| {
            let name = std::str::from_utf8(name)
                .with_context(|| format!("the name of column {} is not UTF-8", index + 1))?;
            Ok(name.to_owned())
        };
        let columns: Vec<String> = header.iter().enumerate().map(name).collect::<Result<_>>()?;
        for (index, column) in columns.iter().enumerate() {
            if column.is_empty() {
                bail!("column {} has no name in the header row", index + 1);
            }
            if columns[..index].contains(column) {
                bail!("the header row has two columns of the name {column}");
            }
        }
        Ok(Table { rows, has_long_ends, columns, delimiter })
    }
}

impl<R: Read + Send> Source for Table<R> {
    fn next(&mut self) -> Result<Option<Record>> {
        let mut row = ByteRecord::new();
        if !self.rows.read_byte_record(&mut row).context("cannot read on")? {
            return Ok(None);
        }
        let line = row.position().map_or(0, csv::Position::line) + u64::from(self.has_long_ends);
        let unusable = |why| Content::Unusable { why, text: text(&row, self.delimiter) };
        let content = if row.as_slice().len() > RECORD_BYTES_MAX {
            unusable(format!("the row is longer than {RECORD_BYTES_MAX} bytes"))
        } else if row.len() != self.columns.len() {
            unusable(format!("the row has {} fields, the header row {}", row.len(), self.columns.len()))
        } else {
            Content::Row(row)
        };
        Ok(Some(Record { line, content }))
    }

    fn columns(&self) -> Option<&[String]> {
        Some(&self.columns)
    }
}

/// Returns a row as it could stand in a file, as much of it as is told of.
pub(crate) fn text(row: &ByteRecord, delimiter: u8) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_byte_record(row);
    let mut text = writer.into_inner().unwrap_or_default();
    text.truncate(text.trim_ascii_end().len().min(REJECT_TEXT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let text = "id,name\n1,\"a, \"\"b\"\"\nc\"\n2\n3,x,y\n\n4,ø";
        let mut table = Table::new(text.as_bytes(), b',').unwrap();
        assert_eq!(table.columns().unwrap(), ["id", "name"]);
        let mut found = Vec::new();
        while let Some(Record { line, content }) = table.next().unwrap() {
            found.push((
                line,
                match content {
                    Content::Row(row) => {
                        row.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
                    }
                    Content::Unusable { why, text } => vec![why, String::from_utf8(text).unwrap()],
                    Content::Json(_) => panic!(),
                },
            ));
        }
        let row = |line, fields: &[&str]| (line, fields.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            found,
            [
                row(2, &["1", "a, \"b\"\nc"]),
                row(4, &["the row has 1 fields, the header row 2", "2"]),
                row(5, &["the row has 3 fields, the header row 2", "3,x,y"]),
                // Blank lines are counted to the row behind them.
                row(6, &["4", "ø"]),
            ]
        );
        let mut table = Table::new(&b"a,b\r\n1,\"x\r\ny\"\r\n2,y\r\n3\r\n"[..], b',').unwrap();
        let mut lines = Vec::new();
        while let Some(record) = table.next().unwrap() {
            lines.push(record.line);
        }
        assert_eq!(lines, [2, 4, 5]);
    }

    #[test]
    fn headers() {
        for (text, expected) in [
            (&b""[..], "no header row"),
            (b"a,a\n", "two columns of the name a"),
            (b"a,\n", "column 2 has no name"),
            (b"a,\xFF\n", "column 2 is not UTF-8"),
        ] {
            let error = format!("{:#}", Table::new(text, b',').err().unwrap());
            assert!(error.contains(expected), "{error}");
        }
        let wide = |count: usize| (0..count).map(|number| format!("c{number}")).collect::<Vec<_>>().join(",");
        assert!(Table::new(wide(COLUMNS_MAX).as_bytes(), b',').is_ok());
        assert!(Table::new(wide(COLUMNS_MAX + 1).as_bytes(), b',').is_err());
        assert_eq!(Table::new(&b"a;b\n"[..], b';').unwrap().columns().unwrap(), ["a", "b"]);
    }
}
