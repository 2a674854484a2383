//! Signatures with a key of the account, over what a request addresses.
//!
//! Which link a client signed depends on how it addressed the resource, so the name form is tried first and the
//! resource-id form second. Comparison takes constant time.
//!
//! Not here: the `Authorization` header and the date (`rest-wire`); resource tokens, which are checked by the engine that
//! made them.

use armilla_rest_wire::authorization::{AccountKeys, AuthorizationError, KeyAccess, SignedDate};
use http::Method;

use crate::request::path::Address;

#[cfg(test)]
mod tests;

/// Checks a signature over a request and says what it permits.
pub(crate) fn check(
    keys: &AccountKeys,
    signature: &[u8],
    method: &Method,
    address: &Address<'_>,
    date: &SignedDate<'_>,
) -> Result<KeyAccess, AuthorizationError> {
    let by_name = date.text(method, address.resource_type(), |text| address.push_name_link(text));
    if let Some(access) = keys.access(&by_name, signature) {
        return Ok(access);
    }
    if let Some(rid) = address.rid_link() {
        let push_rid = |text: &mut Vec<u8>| text.extend_from_slice(rid.as_bytes());
        let by_rid = date.text(method, address.resource_type(), push_rid);
        if let Some(access) = keys.access(&by_rid, signature) {
            return Ok(access);
        }
    }
    Err(AuthorizationError::WrongSignature { text: by_name })
}
