//! Applies the tree of a projection to a document.

use armilla_value::{Object, Value};

use super::tree::{Child, Mode, Node};

/// What was computed for the document, by place.
type Computed = [Option<Value>];

pub(super) fn object(node: &Node, mode: Mode, document: &Object, computed: &Computed) -> Object {
    let mut members: Vec<(String, Value)> = Vec::with_capacity(document.len());
    let mut later = node.is_computing.then(Vec::<&str>::new);
    for (name, member) in document.iter() {
        let kept = match (node.get(name), mode) {
            (None, Mode::Include) | (Some(Child::Exclude), _) => None,
            (None, Mode::Keep) | (Some(Child::Include), _) => Some(member.clone()),
            (Some(Child::Slice { skip, limit }), _) => Some(slice(member, *skip, *limit)),
            // What an inclusion computes comes behind what it keeps.
            (Some(Child::Computed(_)), Mode::Include) => continue,
            (Some(Child::Computed(place)), Mode::Keep) => computed.get(*place).cloned().flatten(),
            (Some(Child::Nested(inner)), _) => {
                let is_scalar = !matches!(member, Value::Object(_) | Value::Array(_));
                if is_scalar && inner.is_computing && mode == Mode::Include {
                    continue;
                }
                value(inner, mode, Some(member), computed)
            }
        };
        if let Some(later) = &mut later {
            later.push(name);
        }
        if let Some(kept) = kept {
            members.push((name.to_owned(), kept));
        }
    }
    if let Some(seen) = later {
        for (name, child) in node.children() {
            if seen.contains(&name.as_str()) {
                continue;
            }
            let added = match child {
                Child::Computed(place) => computed.get(*place).cloned().flatten(),
                Child::Nested(inner) if inner.is_computing => value(inner, mode, None, computed),
                _ => None,
            };
            if let Some(added) = added {
                members.push((name.clone(), added));
            }
        }
    }
    Object::from(members)
}

/// Applies a level to what is at its name; nothing is left where an inclusion looks for members of a scalar.
pub(super) fn value(node: &Node, mode: Mode, member: Option<&Value>, computed: &Computed) -> Option<Value> {
    match member {
        Some(Value::Object(inner)) => Some(Value::Object(object(node, mode, inner, computed))),
        Some(Value::Array(elements)) => Some(Value::Array(
            elements.iter().filter_map(|element| value(node, mode, Some(element), computed)).collect(),
        )),
        _ if node.is_computing => Some(Value::Object(object(node, mode, &Object::new(), computed))),
        other => other.filter(|_| mode == Mode::Keep).cloned(),
    }
}

fn slice(member: &Value, skip: Option<i64>, limit: i64) -> Value {
    let Value::Array(elements) = member else { return member.clone() };
    let length = elements.len() as i64;
    let (begin, count) = match skip {
        None if limit < 0 => (length.saturating_add(limit).max(0), limit.saturating_neg()),
        None => (0, limit),
        Some(skip) if skip < 0 => (length.saturating_add(skip).max(0), limit),
        Some(skip) => (skip, limit),
    };
    let begin = begin.clamp(0, length) as usize;
    let end = (begin as i64).saturating_add(count).clamp(begin as i64, length) as usize;
    Value::Array(elements[begin..end].to_vec())
}
