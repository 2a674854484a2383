//! Which kind of resource a request is about, told from its path, and a change feed from a list by its header.

use http::{HeaderMap, HeaderName};

/// The header that makes a list of items a change feed.
static A_IM: HeaderName = HeaderName::from_static("a-im");

/// A kind of resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    Account,
    Databases,
    Containers,
    Items,
    /// Apart from items: waiting for changes is part of the time that it takes.
    ChangeFeed,
    StoredProcedures,
    Triggers,
    Functions,
    Conflicts,
    PartitionKeyRanges,
    Users,
    Permissions,
    EncryptionKeys,
    Offers,
    Administration,
    Health,
    Metrics,
    Other,
}

impl Resource {
    /// Every kind, in the order of their numbers.
    pub(crate) const ALL: [Resource; 18] = [
        Resource::Account,
        Resource::Databases,
        Resource::Containers,
        Resource::Items,
        Resource::ChangeFeed,
        Resource::StoredProcedures,
        Resource::Triggers,
        Resource::Functions,
        Resource::Conflicts,
        Resource::PartitionKeyRanges,
        Resource::Users,
        Resource::Permissions,
        Resource::EncryptionKeys,
        Resource::Offers,
        Resource::Administration,
        Resource::Health,
        Resource::Metrics,
        Resource::Other,
    ];

    /// Tells the kind of a request.
    pub(crate) fn of_request(path: &str, headers: &HeaderMap) -> Resource {
        match Resource::of(path) {
            Resource::Items if headers.contains_key(&A_IM) => Resource::ChangeFeed,
            resource => resource,
        }
    }

    /// Tells the kind from a path. Keywords count by their position: a database may be called `docs`.
    fn of(path: &str) -> Resource {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let (Some(first), _, third, _, fifth) =
            (segments.next(), segments.next(), segments.next(), segments.next(), segments.next())
        else {
            return Resource::Account;
        };
        match (first, third, fifth) {
            ("dbs", None, _) => Resource::Databases,
            ("dbs", Some("colls"), None) => Resource::Containers,
            ("dbs", Some("colls"), Some("docs")) => Resource::Items,
            ("dbs", Some("colls"), Some("sprocs")) => Resource::StoredProcedures,
            ("dbs", Some("colls"), Some("triggers")) => Resource::Triggers,
            ("dbs", Some("colls"), Some("udfs")) => Resource::Functions,
            ("dbs", Some("colls"), Some("conflicts")) => Resource::Conflicts,
            ("dbs", Some("colls"), Some("pkranges")) => Resource::PartitionKeyRanges,
            ("dbs", Some("colls"), Some("operations")) => Resource::Containers,
            ("dbs", Some("users"), None) => Resource::Users,
            ("dbs", Some("users"), Some("permissions")) => Resource::Permissions,
            ("dbs", Some("clientencryptionkeys"), _) => Resource::EncryptionKeys,
            ("offers", _, _) => Resource::Offers,
            ("_armilla", _, _) => Resource::Administration,
            ("health", None, _) => Resource::Health,
            ("metrics", None, _) => Resource::Metrics,
            _ => Resource::Other,
        }
    }

    /// Returns the name that the figures carry.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Resource::Account => "account",
            Resource::Databases => "database",
            Resource::Containers => "container",
            Resource::Items => "item",
            Resource::ChangeFeed => "change_feed",
            Resource::StoredProcedures => "stored_procedure",
            Resource::Triggers => "trigger",
            Resource::Functions => "function",
            Resource::Conflicts => "conflict",
            Resource::PartitionKeyRanges => "partition_key_range",
            Resource::Users => "user",
            Resource::Permissions => "permission",
            Resource::EncryptionKeys => "encryption_key",
            Resource::Offers => "offer",
            Resource::Administration => "administration",
            Resource::Health => "health",
            Resource::Metrics => "metrics",
            Resource::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order() {
        for (position, resource) in Resource::ALL.iter().enumerate() {
            assert_eq!(*resource as usize, position);
        }
    }

    #[test]
    fn kinds_by_position() {
        for (path, kind) in [
            ("", Resource::Account),
            ("/", Resource::Account),
            ("/dbs", Resource::Databases),
            ("/dbs/colls/", Resource::Databases),
            ("/dbs/d/colls", Resource::Containers),
            ("/dbs/d/colls/docs", Resource::Containers),
            ("/dbs/d/colls/c/docs", Resource::Items),
            ("/dbs/d/colls/c/docs/1/", Resource::Items),
            ("/dbs/d/colls/c/docs/1/attachments", Resource::Items),
            ("/dbs/d/colls/c/pkranges", Resource::PartitionKeyRanges),
            ("/dbs/d/colls/c/sprocs/s", Resource::StoredProcedures),
            ("/dbs/d/colls/c/operations/partitionkeydelete", Resource::Containers),
            ("/dbs/d/users/u", Resource::Users),
            ("/dbs/d/users/u/permissions", Resource::Permissions),
            ("/offers/abc", Resource::Offers),
            ("/_armilla/partitions", Resource::Administration),
            ("/_armilla/dbs/d/colls/c/split", Resource::Administration),
            ("/health", Resource::Health),
            ("/metrics", Resource::Metrics),
            ("/favicon.ico", Resource::Other),
            ("/dbs/d/tables", Resource::Other),
        ] {
            assert_eq!(Resource::of(path), kind, "{path}");
            assert_eq!(Resource::of_request(path, &HeaderMap::new()), kind, "{path}");
            let feed: HeaderMap = [(A_IM.clone(), "Incremental Feed".parse().unwrap())].into_iter().collect();
            let kind = if kind == Resource::Items { Resource::ChangeFeed } else { kind };
            assert_eq!(Resource::of_request(path, &feed), kind, "{path}");
        }
    }
}
