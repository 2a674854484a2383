//! `SignedIdentifiers`: the stored access policies of a table.

use super::element::{Element, XmlError, begin, close, is_blank, leaf, open, parse};
use crate::auth::{AccessPolicy, POLICY_ID_CHARACTERS_MAX};
use crate::utc_time::UtcTime;

/// Stored access policies of a table.
pub(super) const POLICIES_MAX: usize = 5;
/// The permissions there are for a table: read, add, update, delete.
const PERMISSIONS: &str = "raud";

/// A stored access policy with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedIdentifier {
    /// Its name.
    pub(crate) id: String,
    /// What it says; everything may be left out.
    pub(crate) policy: AccessPolicy,
}

/// Reads the stored access policies of a table. No body at all means none.
pub(crate) fn read_signed_identifiers(body: &[u8]) -> Result<Vec<SignedIdentifier>, XmlError> {
    if is_blank(body) {
        return Ok(Vec::new());
    }
    let root = parse(body, "SignedIdentifiers")?;
    root.expect_children(&["SignedIdentifier"])?;
    if root.children.len() > POLICIES_MAX {
        return Err(XmlError::Document(format!("there are more than {POLICIES_MAX} stored access policies")));
    }
    let mut identifiers: Vec<SignedIdentifier> = Vec::with_capacity(root.children.len());
    for element in &root.children {
        let identifier = read_one(element)?;
        if identifiers.iter().any(|other| other.id == identifier.id) {
            return Err(XmlError::Document(format!("the Id '{}' is given twice", identifier.id)));
        }
        identifiers.push(identifier);
    }
    Ok(identifiers)
}

fn read_one(element: &Element) -> Result<SignedIdentifier, XmlError> {
    element.expect_children(&["Id", "AccessPolicy"])?;
    let no_id = || "a SignedIdentifier has no Id".to_owned();
    let id = element.child("Id")?.ok_or_else(|| XmlError::Document(no_id()))?.text.as_str();
    if id.trim().is_empty() {
        return Err(XmlError::NodeValue(no_id()));
    }
    if id.chars().count() > POLICY_ID_CHARACTERS_MAX {
        return Err(XmlError::NodeValue(format!(
            "an Id has more than {POLICY_ID_CHARACTERS_MAX} characters"
        )));
    }
    let mut policy = AccessPolicy::default();
    if let Some(element) = element.child("AccessPolicy")? {
        element.expect_children(&["Start", "Expiry", "Permission"])?;
        let time = |name: &str| match element.child_text(name)? {
            Some(text) => match UtcTime::parse(text) {
                Some(time) => Ok(Some(time)),
                None => {
                    Err(XmlError::NodeValue(format!("{name} is not a time of the form 2021-06-08T02:10:09Z")))
                }
            },
            None => Ok(None),
        };
        policy.start = time("Start")?;
        policy.expiry = time("Expiry")?;
        policy.permission = element.child_text("Permission")?.map(str::to_owned);
        if let Some(permission) = &policy.permission
            && permission.chars().any(|letter| !PERMISSIONS.contains(letter))
        {
            return Err(XmlError::NodeValue(format!(
                "Permission is not made of the letters '{PERMISSIONS}'"
            )));
        }
    }
    Ok(SignedIdentifier { id: id.to_owned(), policy })
}

/// Writes the stored access policies of a table.
pub(crate) fn write_signed_identifiers(identifiers: &[SignedIdentifier], has_bom: bool) -> Vec<u8> {
    let mut out = begin(has_bom);
    if identifiers.is_empty() {
        leaf(&mut out, "SignedIdentifiers", "");
        return out.into_bytes();
    }
    open(&mut out, "SignedIdentifiers");
    for SignedIdentifier { id, policy } in identifiers {
        open(&mut out, "SignedIdentifier");
        leaf(&mut out, "Id", id);
        // Clients tell a policy that says nothing by the element's absence.
        if *policy != AccessPolicy::default() {
            open(&mut out, "AccessPolicy");
            for (name, time) in [("Start", policy.start), ("Expiry", policy.expiry)] {
                if let Some(time) = time {
                    leaf(&mut out, name, &time.to_string());
                }
            }
            if let Some(permission) = &policy.permission {
                leaf(&mut out, "Permission", permission);
            }
            close(&mut out, "AccessPolicy");
        }
        close(&mut out, "SignedIdentifier");
    }
    close(&mut out, "SignedIdentifiers");
    out.into_bytes()
}
