//! The XML documents of the service: stored access policies, properties of the service, state of its replication.
//!
//! Documents are small, so they are read whole into a tree of elements whose size, depth and number are bounded, and
//! then taken apart by name; the order of elements does not matter, as with the service. Answers of storage accounts
//! begin with a byte order mark, and requests may.
//!
//! Not here: where the documents are kept (`policies`, `properties`), and entities, which are JSON.

mod access_policies;
mod element;
mod service_properties;

pub(crate) use access_policies::{SignedIdentifier, read_signed_identifiers, write_signed_identifiers};
pub(crate) use element::XmlError;
pub(crate) use service_properties::{
    CorsRule, PropertiesChange, ServiceProperties, read_properties, write_properties,
};

use armilla_rest_wire::http_date;

use element::{begin, close, leaf, open};

/// Writes the state of the replication: there is one copy, so it is always as far as now.
pub(crate) fn write_stats(now_ms: i64, has_bom: bool) -> Vec<u8> {
    let mut out = begin(has_bom);
    open(&mut out, "StorageServiceStats");
    open(&mut out, "GeoReplication");
    leaf(&mut out, "Status", "live");
    leaf(&mut out, "LastSyncTime", &http_date::format_ms(now_ms));
    close(&mut out, "GeoReplication");
    close(&mut out, "StorageServiceStats");
    out.into_bytes()
}

/// Writes an error, as requests for these documents expect it.
pub(crate) fn write_error(code: &str, message: &str) -> Vec<u8> {
    let mut out = begin(false);
    out.push_str(r#"<m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">"#);
    leaf(&mut out, "m:code", code);
    out.push_str(r#"<m:message xml:lang="en-US">"#);
    out.push_str(&element::escaped(message));
    out.push_str("</m:message></m:error>");
    out.into_bytes()
}

#[cfg(test)]
mod tests;
