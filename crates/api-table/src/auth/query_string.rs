//! The pairs of a query string, as far as credentials need them.

/// Returns the pairs of a query string, as they were sent.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}
