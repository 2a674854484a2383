//! Rows of a query's page, cut out of the text in which they are joined.

use armilla_engine::{ETag, Moment};

/// What the engine writes at the end of every item, up to the second of its version.
const ENDING: &str = "\\\"\",\"_attachments\":\"attachments/\",\"_ts\":";

/// The characters of a version, which stand before the ending.
const ETAG_BYTES: usize = 36;

/// A row that is an item, and the moment at which its version was written.
pub(crate) type Row<'r> = (&'r [u8], Moment);

/// Cuts items that are joined by commas apart. Those that are not items as the engine writes them are left out.
pub(crate) fn split(rows: &[u8], count: usize) -> Vec<Row<'_>> {
    split_by_endings(rows, count).unwrap_or_else(|| split_by_structure(rows))
}

/// Cuts them where the engine's own properties end, which is quick. Something of the same form may stand inside of an
/// item; then there are more endings than rows.
fn split_by_endings(rows: &[u8], count: usize) -> Option<Vec<Row<'_>>> {
    let text = std::str::from_utf8(rows).ok()?;
    let mut found = Vec::with_capacity(count);
    let (mut start, mut from) = (0, 0);
    while let Some(at) = text[from..].find(ENDING) {
        let ending = from + at;
        let digits = ending + ENDING.len();
        let end = digits + rows[digits..].iter().position(|byte| *byte == b'}')? + 1;
        found.push((&rows[start..end], moment_before(rows, ending)?));
        // A comma stands between.
        (start, from) = (end + 1, end);
    }
    (found.len() == count && start >= rows.len()).then_some(found)
}

fn moment_before(text: &[u8], ending: usize) -> Option<Moment> {
    let tag = text.get(ending.checked_sub(ETAG_BYTES)?..ending)?;
    Some(ETag::parse(std::str::from_utf8(tag).ok()?)?.moment())
}

/// Cuts them where their braces close.
fn split_by_structure(rows: &[u8]) -> Vec<Row<'_>> {
    let (mut found, mut rest) = (Vec::new(), rows);
    while let Some(end) = object_end(rest) {
        let (row, behind) = rest.split_at(end);
        rest = behind.strip_prefix(b",").unwrap_or(behind);
        // The engine writes its own behind all that is the item's, so the last one is it.
        let ending = row.windows(ENDING.len()).rposition(|window| window == ENDING.as_bytes());
        if let Some(moment) = ending.and_then(|ending| moment_before(row, ending)) {
            found.push((row, moment));
        }
    }
    found
}

/// Returns where the object ends that a text begins with.
fn object_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        match text[at] {
            b'"' => {
                at += 1;
                while *text.get(at)? != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use armilla_engine::ETag;

    use super::{split, split_by_endings, split_by_structure};

    fn item(own: &str, number: usize) -> String {
        format!(
            "{{{own},\"_rid\":\"x\",\"_self\":\"x\",\"_etag\":\"\\\"08de0000-0000-0001-0000-0000000000{number:02}\\\"\",\
             \"_attachments\":\"attachments/\",\"_ts\":1700000000}}"
        )
    }

    #[test]
    fn rows_are_cut_apart() {
        let nested = item("\"a\":1", 7);
        let text = nested.replace('\\', "\\\\").replace('"', "\\\"");
        for (own, is_plain) in [
            (vec![], true),
            (vec!["\"a\":1".to_owned()], true),
            (
                vec![
                    "\"a\":\"}{\\\"\\\\\"".to_owned(),
                    "\"b\":[{\"c\":\"]\"},{}]".to_owned(),
                    "\"d\":{}".to_owned(),
                ],
                true,
            ),
            (vec![format!("\"a\":\"{text}\""), "\"b\":2".to_owned()], true),
            (vec![format!("\"a\":[{nested},{{}}]"), "\"b\":2".to_owned()], false),
        ] {
            let items: Vec<String> = own.iter().enumerate().map(|(number, own)| item(own, number)).collect();
            let joined = items.join(",");
            let found = split(joined.as_bytes(), items.len());
            assert_eq!(found, split_by_structure(joined.as_bytes()));
            assert_eq!(split_by_endings(joined.as_bytes(), items.len()).is_some(), is_plain, "{joined}");
            assert_eq!(found.len(), items.len());
            for (number, ((row, moment), item)) in found.iter().zip(&items).enumerate() {
                assert_eq!(*row, item.as_bytes());
                let etag = format!("08de0000-0000-0001-0000-0000000000{number:02}");
                assert_eq!(Some(*moment), ETag::parse(&etag).map(|etag| etag.moment()));
            }
        }
        for broken in ["{", "}", r#"{"a"#, "{\"\\", "{}", "5"] {
            assert_eq!(split(broken.as_bytes(), 1), [], "{broken}");
        }
    }
}
