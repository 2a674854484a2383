//! Which kind of resource a request is about, told from its path, and a change feed from a list by its header.
//!
//! Not here: what the APIs make of a path. This is for figures, and never says that a path is wrong.

use armilla_rest_wire::names::A_IM;
use http::{HeaderMap, Uri};

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
    /// The page in the browser, and what it asks.
    Explorer,
    Health,
    Metrics,
    /// Of the Table API: the list of tables, one table, its access policies.
    Tables,
    /// Of the Table API: entities, one or many of a table.
    Entities,
    /// Of the Table API: several operations in one request.
    ChangeSets,
    /// Of the Table API: the properties and statistics of the service.
    TableService,
    Other,
}

impl Resource {
    /// Every kind, in the order of their numbers.
    pub(crate) const ALL: [Resource; 23] = [
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
        Resource::Explorer,
        Resource::Health,
        Resource::Metrics,
        Resource::Tables,
        Resource::Entities,
        Resource::ChangeSets,
        Resource::TableService,
        Resource::Other,
    ];

    /// Tells the kind of a request.
    pub(crate) fn of_request(path: &str, headers: &HeaderMap) -> Resource {
        match Resource::of(path) {
            Resource::Items if headers.contains_key(&A_IM) => Resource::ChangeFeed,
            resource => resource,
        }
    }

    /// Tells the kind of a request to the Table API, whose paths may begin with the account.
    pub(crate) fn of_table_request(uri: &Uri) -> Resource {
        let mut segments = uri.path().split('/').filter(|segment| !segment.is_empty());
        let last = segments.next().map(|first| segments.next().unwrap_or(first));
        let concerns = |what: &str| {
            uri.query().unwrap_or("").split('&').any(|pair| pair.strip_prefix("comp=") == Some(what))
        };
        match last {
            Some("$batch") => Resource::ChangeSets,
            Some("Tables") => Resource::Tables,
            Some(table) if table.starts_with("Tables(") => Resource::Tables,
            _ if concerns("properties") || concerns("stats") => Resource::TableService,
            Some(_) if concerns("acl") => Resource::Tables,
            Some(_) => Resource::Entities,
            None => Resource::Other,
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
            ("_explorer", _, _) => Resource::Explorer,
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
            Resource::Explorer => "explorer",
            Resource::Health => "health",
            Resource::Metrics => "metrics",
            Resource::Tables => "table",
            Resource::Entities => "entity",
            Resource::ChangeSets => "change_set",
            Resource::TableService => "table_service",
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
    fn kinds_of_the_table_api() {
        for (uri, kind) in [
            ("/Tables", Resource::Tables),
            ("/Tables?$top=3", Resource::Tables),
            ("/Tables('t')", Resource::Tables),
            ("/devstoreaccount1/Tables", Resource::Tables),
            ("/devstoreaccount1/Tables('t')", Resource::Tables),
            ("/t?comp=acl", Resource::Tables),
            ("/t", Resource::Entities),
            ("/t()?$filter=x%20eq%201", Resource::Entities),
            ("/t(PartitionKey='p',RowKey='r')", Resource::Entities),
            ("/devstoreaccount1/t(PartitionKey='p',RowKey='r')", Resource::Entities),
            ("/metrics", Resource::Entities),
            ("/$batch", Resource::ChangeSets),
            ("/devstoreaccount1/$batch", Resource::ChangeSets),
            ("/?restype=service&comp=properties", Resource::TableService),
            ("/devstoreaccount1?restype=service&comp=stats", Resource::TableService),
            ("/", Resource::Other),
        ] {
            assert_eq!(Resource::of_table_request(&uri.parse().unwrap()), kind, "{uri}");
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
            ("/_explorer/rest/dbs", Resource::Explorer),
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
