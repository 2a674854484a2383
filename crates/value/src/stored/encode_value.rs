//! A [`Value`] to the stored form: for results of patches and for documents that came as BSON.

use super::encode::EncodeError;
use super::skeleton::{
    NAME_LENGTH_LONG, SkeletonWriter, Slot, TAG_EMPTY, TAG_ESCAPED, TAG_NAME_ESCAPED, TooNarrow, name_hash,
    tag_of,
};
use crate::json::{write_scalar, write_string};
use crate::limits::{DEPTH_MAX, NARROW_BYTES_MAX, STORED_TEXT_BYTES_MAX};
use crate::value::{Kind, Legacy, Object, Value};

/// Levels that the text of a scalar has at most, but for scopes: `{"$date":{"$numberLong":"0"}}`.
const SCALAR_LEVELS: usize = 3;

/// Makes the stored form of a value, leaving out the named members of the root.
pub fn encode_value(value: &Value, drop_top_level: &[&str]) -> Result<Vec<u8>, EncodeError> {
    let Value::Object(root) = value else {
        return Err(EncodeError::NotAnObject);
    };
    match write_item(root, drop_top_level, false) {
        Err(Stop::TooNarrow) => write_item(root, drop_top_level, true),
        result => result,
    }
    .map_err(|stop| match stop {
        Stop::TooDeep => EncodeError::TooDeep,
        Stop::TooNarrow => EncodeError::TooLong,
    })
}

enum Stop {
    TooDeep,
    TooNarrow,
}

impl From<TooNarrow> for Stop {
    fn from(_: TooNarrow) -> Stop {
        Stop::TooNarrow
    }
}

fn write_item(root: &Object, drop_top_level: &[&str], wide: bool) -> Result<Vec<u8>, Stop> {
    let skeleton = SkeletonWriter::new(wide, 512);
    let out = skeleton.begin_item(512);
    let mut writer = Writer { skeleton, out };
    let kept = root.iter().filter(|(name, _)| !drop_top_level.contains(name));
    let (tag, mut entry) = writer.object(kept, 1)?;
    if tag & TAG_EMPTY != 0 {
        entry = writer.skeleton.close_object(0)?;
    }
    writer.position()?;
    Ok(writer.skeleton.finish_item(writer.out, entry))
}

struct Writer {
    skeleton: SkeletonWriter,
    out: Vec<u8>,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(u8, u32), Stop> {
        match value {
            Value::Object(object) => self.object(object.iter(), depth),
            Value::Array(elements) => self.array(elements, depth),
            scalar => {
                if !scope_fits(scalar, (DEPTH_MAX + 1).saturating_sub(depth + SCALAR_LEVELS)) {
                    return Err(Stop::TooDeep);
                }
                let start = self.out.len();
                write_scalar(scalar, &mut self.out);
                self.skeleton.has_legacy |= scalar.kind() == Kind::Legacy;
                let escaped = matches!(scalar, Value::String(_)) && self.out[start..].contains(&b'\\');
                Ok((tag_of(scalar.kind()) | if escaped { TAG_ESCAPED } else { 0 }, 0))
            }
        }
    }

    fn array(&mut self, elements: &[Value], depth: usize) -> Result<(u8, u32), Stop> {
        check_depth(depth)?;
        let base = self.skeleton.slots.len();
        self.out.push(b'[');
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            let position = self.position()?;
            let (tag, link) = self.value(element, depth + 1)?;
            self.skeleton.slots.push(Slot { position, link, source: 0, name_length: 0, hash: 0, tag });
        }
        self.out.push(b']');
        if elements.is_empty() {
            return Ok((Kind::Array as u8 | TAG_EMPTY, 0));
        }
        Ok((Kind::Array as u8, self.skeleton.close_array(base)?))
    }

    fn object<'v>(
        &mut self,
        members: impl Iterator<Item = (&'v str, &'v Value)>,
        depth: usize,
    ) -> Result<(u8, u32), Stop> {
        check_depth(depth)?;
        let base = self.skeleton.slots.len();
        self.out.push(b'{');
        for (name, value) in members {
            if self.skeleton.slots.len() > base {
                self.out.push(b',');
            }
            let position = self.position()?;
            let start = self.out.len();
            write_string(name, &mut self.out);
            let name_length = self.out.len() - start - 2;
            // Written names differ from the name only by escapes, which are longer.
            let name_tag = if name_length > name.len() { TAG_NAME_ESCAPED } else { 0 };
            self.out.push(b':');
            let (tag, link) = self.value(value, depth + 1)?;
            self.skeleton.slots.push(Slot {
                position,
                link,
                source: 0,
                name_length: name_length.min(usize::from(NAME_LENGTH_LONG)) as u8,
                hash: name_hash(name.as_bytes()),
                tag: tag | name_tag,
            });
        }
        self.out.push(b'}');
        if self.skeleton.slots.len() == base {
            return Ok((Kind::Object as u8 | TAG_EMPTY, 0));
        }
        Ok((Kind::Object as u8, self.skeleton.close_object(base)?))
    }

    /// Returns the position in the text of what is written next.
    fn position(&self) -> Result<u32, Stop> {
        let position = self.out.len() - self.skeleton.header_bytes();
        let max = if self.skeleton.is_wide() { STORED_TEXT_BYTES_MAX } else { NARROW_BYTES_MAX };
        if position > max { Err(Stop::TooNarrow) } else { Ok(position as u32) }
    }
}

/// Says whether the text of a value inside a scope has no more levels than these.
///
/// Nothing but a scope makes the text of a scalar deep, and what reads that text has the same bound.
fn scope_fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(elements) => {
            levels > 0 && elements.iter().all(|element| scope_fits(element, levels - 1))
        }
        Value::Object(object) => {
            levels > 0 && object.iter().all(|(_, member)| scope_fits(member, levels - 1))
        }
        Value::Legacy(legacy) => match &**legacy {
            Legacy::CodeWithScope { scope, .. } => {
                levels > 1 && scope.iter().all(|(_, member)| scope_fits(member, levels - 2))
            }
            _ => true,
        },
        _ => true,
    }
}

fn check_depth(depth: usize) -> Result<(), Stop> {
    if depth > DEPTH_MAX { Err(Stop::TooDeep) } else { Ok(()) }
}
