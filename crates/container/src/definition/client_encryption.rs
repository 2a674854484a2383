//! `clientEncryptionPolicy`: which properties clients encrypt before they send them.
//!
//! The server never sees a key; it keeps the policy so that every client encrypts alike, which is why it
//! cannot change once the container exists.

use armilla_index::reader::Field;
use armilla_value::Value;

use super::{DefinitionError, property_paths};

/// A client encryption policy, kept as it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientEncryptionPolicy(Value);

impl ClientEncryptionPolicy {
    /// Returns the policy as it was given.
    pub fn to_value(&self) -> Value {
        self.0.clone()
    }
}

pub(super) fn read(body: &Field<'_>) -> Result<Option<ClientEncryptionPolicy>, DefinitionError> {
    let Some(policy) = body.member("clientEncryptionPolicy") else { return Ok(None) };
    policy.expect_object()?;
    let list = policy.required("includedPaths")?;
    let mut paths = Vec::new();
    for element in list.elements()? {
        element.expect_object()?;
        let field = element.required("path")?;
        let text = field.text()?;
        let path = property_paths::parse(text).ok().filter(|path| path.names().len() == 1);
        let Some(path) = path else {
            let message = format!("the client encryption path '{text}' must name a property of the root");
            return Err(DefinitionError::new(field.path(), message));
        };
        if paths.contains(&path) {
            let message = format!("the client encryption path '{text}' is given more than once");
            return Err(DefinitionError::new(field.path(), message));
        }
        paths.push(path);
        for name in ["clientEncryptionKeyId", "encryptionType", "encryptionAlgorithm"] {
            element.required(name)?.text()?;
        }
    }
    if let Some(version) = policy.member("policyFormatVersion") {
        version.integer()?;
    }
    Ok(Some(ClientEncryptionPolicy(policy.value().clone())))
}

pub(super) fn replace(
    old: Option<&ClientEncryptionPolicy>,
    new: Option<&ClientEncryptionPolicy>,
) -> Result<Option<ClientEncryptionPolicy>, DefinitionError> {
    if new.is_none() || new == old {
        Ok(old.cloned())
    } else {
        let message = "the client encryption policy of a container cannot be changed";
        Err(DefinitionError::new("clientEncryptionPolicy", message))
    }
}
