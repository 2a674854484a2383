//! Paths of partition keys and unique keys: `/a/b`, `/"a b"/c`, `/'a "b"'/c`.
//!
//! Stricter than `PropertyPath` itself, which also reads paths from places where anything goes: here no
//! wildcards, array steps or stray spaces are let in. And wider in one point: a name may stand in single
//! quotes, which the official clients write and read.

use armilla_value::PropertyPath;

/// Reads a path, or tells at which character reading stopped.
pub(super) fn parse(text: &str) -> Result<PropertyPath, usize> {
    let characters: Vec<char> = text.chars().collect();
    let mut normal = String::with_capacity(text.len() + 2);
    let mut at = 0;
    loop {
        if characters.get(at) != Some(&'/') {
            return Err(at);
        }
        normal.push('/');
        at = match characters.get(at + 1) {
            Some(&quote @ ('"' | '\'')) => quoted(&characters, at + 2, quote, &mut normal)?,
            _ => plain(&characters, at + 1, &mut normal)?,
        };
        if at == characters.len() {
            return PropertyPath::parse(&normal).map_err(|_| at);
        }
    }
}

fn plain(characters: &[char], start: usize, normal: &mut String) -> Result<usize, usize> {
    let allowed = |c: &&char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.' | '@');
    let name = characters[start..].iter().take_while(allowed);
    let end = start + name.clone().count();
    if end == start {
        return Err(start);
    }
    normal.extend(name);
    Ok(end)
}

fn quoted(characters: &[char], start: usize, quote: char, normal: &mut String) -> Result<usize, usize> {
    normal.push('"');
    let mut at = start;
    loop {
        match characters.get(at) {
            None => return Err(at),
            Some(&c) if c == quote => break,
            Some('\\') => {
                let escaped = characters.get(at + 1).ok_or(at)?;
                normal.push('\\');
                normal.push(*escaped);
                at += 1;
            }
            // Ends the name only in a path with single quotes; in the normal form it must not.
            Some('"') => normal.push_str("\\\""),
            Some(&c) => normal.push(c),
        }
        at += 1;
    }
    if at == start {
        return Err(at);
    }
    normal.push('"');
    Ok(at + 1)
}
