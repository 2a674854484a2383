//! Looks over the text of a JSON object as far as it takes to import it: that it is one object and nothing else, where
//! its id is and where the components of its partition key are.
//!
//! Names and strings are not decoded, numbers are not read: the server does that. What passes here can stand between
//! other items in the body of a request without being taken for more than one, whatever else is wrong with it.

use armilla_value::PropertyPath;
use armilla_value::json::slice::{Malformed, Member, check_brackets, members};

/// What was found in an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'t> {
    /// The text of `id`.
    pub(crate) id: Option<&'t [u8]>,
    /// The texts of the values at the paths, in their order.
    pub(crate) values: Vec<Option<&'t [u8]>>,
}

/// Looks over the text of an object.
pub(crate) fn object<'t>(text: &'t [u8], paths: &[PropertyPath]) -> Result<Found<'t>, Malformed> {
    // Otherwise what is let through could take the brackets of the items around it for its own.
    check_brackets(text)?;
    let wanted: Vec<Wanted<'_>> =
        paths.iter().enumerate().map(|(index, path)| (index, path.names())).collect();
    let mut found = Found { id: None, values: vec![None; paths.len()] };
    for member in members(text)? {
        let member = member?;
        if member.is_named("id") {
            found.id = Some(member.value);
        }
        note(&member, &wanted, &mut found.values)?;
    }
    Ok(found)
}

/// The index of a path, and those of its names that are still to be found.
type Wanted<'p> = (usize, &'p [String]);

/// Notes the values at paths that lead through a member. It goes as deep as the longest path.
fn note<'t>(
    member: &Member<'t>,
    wanted: &[Wanted<'_>],
    values: &mut [Option<&'t [u8]>],
) -> Result<(), Malformed> {
    let mut inner: Vec<Wanted<'_>> = Vec::new();
    for (index, names) in wanted {
        if let Some((first, rest)) = names.split_first()
            && member.is_named(first)
        {
            // A name that comes twice has the value of the last.
            values[*index] = rest.is_empty().then_some(member.value);
            if !rest.is_empty() {
                inner.push((*index, rest));
            }
        }
    }
    if inner.is_empty() || !member.value.starts_with(b"{") {
        return Ok(());
    }
    let outside =
        |malformed: Malformed| Malformed { position: member.position + malformed.position, ..malformed };
    for inside in members(member.value).map_err(outside)? {
        note(&inside.map_err(outside)?, &inner, values).map_err(outside)?;
    }
    Ok(())
}

/// Returns the members of an object that are not named, as one object's text.
pub(crate) fn without(text: &[u8], names: &[&str]) -> Result<Vec<u8>, Malformed> {
    let mut kept = Vec::with_capacity(text.len());
    kept.push(b'{');
    for member in members(text)? {
        let member = member?;
        if names.iter().any(|name| member.is_named(name)) {
            continue;
        }
        if kept.len() > 1 {
            kept.push(b',');
        }
        kept.extend_from_slice(member.name);
        kept.push(b':');
        kept.extend_from_slice(member.value);
    }
    kept.push(b'}');
    Ok(kept)
}

#[cfg(test)]
mod tests;
