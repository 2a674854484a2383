//! Request paths: what is addressed, and what a signature covers.
//!
//! A signature covers the path as it was sent: nothing is decoded and nothing is cut off but the first slash.

use std::borrow::Cow;

use armilla_rest_wire::percent;
use armilla_rest_wire::status::Status;

use crate::failure::Failure;
use crate::limits::PATH_BYTES_MAX;

/// The first word of every path here.
const WORD: &str = "_armilla";

/// Most segments of a path that are looked at. Those that lead anywhere have fewer.
const SEGMENTS_MAX: usize = 8;

/// A decoded name in a path.
type Segment<'p> = Cow<'p, str>;

/// What an administrator addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource<'p> {
    /// The physical partitions of all containers, with their figures.
    Partitions,
    /// What is wrong with the data model.
    Advice,
    /// What was asked of the account.
    Requests,
    /// The regions that the account says it has.
    Regions,
    /// One of them.
    Region { name: Segment<'p> },
    /// The nodes that serve the account.
    Nodes,
    /// Where one of them is asked to end.
    Drain,
    /// The backups that are being taken.
    Backups,
    /// One of them.
    Backup { id: Segment<'p> },
    /// A frame of one of them, by its number.
    BackupFrame { id: Segment<'p>, number: u64 },
    /// The throughput buckets of a container.
    Buckets { database: Segment<'p>, container: Segment<'p> },
    /// The physical partitions of a container, with their figures.
    PartitionsOf { database: Segment<'p>, container: Segment<'p> },
    /// What the physical partitions of a container have served lately.
    History { database: Segment<'p>, container: Segment<'p> },
    /// A container one of whose physical partitions is to become two.
    Split { database: Segment<'p>, container: Segment<'p> },
    /// A container two of whose physical partitions are to become one.
    Merge { database: Segment<'p>, container: Segment<'p> },
}

/// Tells whether a path belongs to this front end, whether it leads anywhere or not.
pub(crate) fn is_ours(path: &str) -> bool {
    let below = path.strip_prefix('/').unwrap_or(path).strip_prefix(WORD);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Returns what a signature covers of a path.
pub(crate) fn signed_link(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// Finds out what a path addresses.
pub(crate) fn parse(path: &str) -> Result<Resource<'_>, Failure> {
    if path.len() > PATH_BYTES_MAX {
        return Err(Failure::bad_request(format!("the request path is longer than {PATH_BYTES_MAX} bytes")));
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = [""; SEGMENTS_MAX];
    let mut count = 0;
    for segment in path.split('/') {
        if segment.is_empty() {
            return Err(Failure::bad_request("the request path has an empty segment"));
        }
        *segments.get_mut(count).ok_or_else(unknown)? = segment;
        count += 1;
    }
    Ok(match segments[..count] {
        [WORD, "partitions"] => Resource::Partitions,
        [WORD, "advice"] => Resource::Advice,
        [WORD, "requests"] => Resource::Requests,
        [WORD, "regions"] => Resource::Regions,
        [WORD, "regions", name] => Resource::Region { name: decode(name)? },
        [WORD, "nodes"] => Resource::Nodes,
        [WORD, "nodes", "drain"] => Resource::Drain,
        [WORD, "backups"] => Resource::Backups,
        [WORD, "backups", id] => Resource::Backup { id: decode(id)? },
        [WORD, "backups", id, "frames", number] => {
            Resource::BackupFrame { id: decode(id)?, number: number.parse().map_err(|_| unknown())? }
        }
        [WORD, "dbs", database, "colls", container, "throughputBuckets"] => {
            Resource::Buckets { database: decode(database)?, container: decode(container)? }
        }
        [WORD, "dbs", database, "colls", container, "partitions"] => {
            Resource::PartitionsOf { database: decode(database)?, container: decode(container)? }
        }
        [WORD, "dbs", database, "colls", container, "history"] => {
            Resource::History { database: decode(database)?, container: decode(container)? }
        }
        [WORD, "dbs", database, "colls", container, "split"] => {
            Resource::Split { database: decode(database)?, container: decode(container)? }
        }
        [WORD, "dbs", database, "colls", container, "merge"] => {
            Resource::Merge { database: decode(database)?, container: decode(container)? }
        }
        _ => return Err(unknown()),
    })
}

fn unknown() -> Failure {
    Failure::new(Status::NOT_FOUND, "the request path addresses no kind of resource")
}

/// Percent-decodes one segment. A `+` stays a `+`.
fn decode(segment: &str) -> Result<Segment<'_>, Failure> {
    percent::decode(segment)
        .ok_or_else(|| Failure::bad_request("the request path is not percent-encoded UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_that_leads_anywhere() {
        let (database, container) = (Segment::from("a b"), Segment::from("split"));
        for (path, resource) in [
            ("/_armilla/partitions", Resource::Partitions),
            ("/_armilla/partitions/", Resource::Partitions),
            ("_armilla/partitions", Resource::Partitions),
            (
                "/_armilla/dbs/a%20b/colls/split/split/",
                Resource::Split { database: database.clone(), container: container.clone() },
            ),
            (
                "/_armilla/dbs/a%20b/colls/split/throughputBuckets",
                Resource::Buckets { database: database.clone(), container: container.clone() },
            ),
            (
                "/_armilla/dbs/a%20b/colls/split/partitions",
                Resource::PartitionsOf { database: database.clone(), container: container.clone() },
            ),
            (
                "/_armilla/dbs/a%20b/colls/split/history",
                Resource::History { database: database.clone(), container: container.clone() },
            ),
            ("/_armilla/dbs/a%20b/colls/split/merge", Resource::Merge { database, container }),
            ("/_armilla/advice", Resource::Advice),
            ("/_armilla/requests", Resource::Requests),
            ("/_armilla/regions", Resource::Regions),
            ("/_armilla/regions/a%20b", Resource::Region { name: "a b".into() }),
            ("/_armilla/nodes", Resource::Nodes),
            ("/_armilla/nodes/drain", Resource::Drain),
            ("/_armilla/backups", Resource::Backups),
            ("/_armilla/backups/a%20b", Resource::Backup { id: "a b".into() }),
            ("/_armilla/backups/a+b", Resource::Backup { id: "a+b".into() }),
            ("/_armilla/backups/a/frames/7", Resource::BackupFrame { id: "a".into(), number: 7 }),
        ] {
            assert_eq!(parse(path), Ok(resource), "{path}");
            assert!(is_ours(path), "{path}");
        }
    }

    #[test]
    fn paths_that_lead_nowhere() {
        for (path, status) in [
            ("/_armilla", 404),
            ("/_armilla/", 404),
            ("/_armilla/nothing", 404),
            ("/_armilla/dbs", 404),
            ("/_armilla/partitions/x", 404),
            ("/_armilla/nodes/x", 404),
            ("/_armilla/backups/a/frames", 404),
            ("/_armilla/backups/a/frames/x", 404),
            ("/_armilla/backups/a/frames/-1", 404),
            ("/_armilla/backups/a/frames/18446744073709551616", 404),
            ("/_armilla/backups/a/frames/1/2", 404),
            ("/_armilla/dbs/d/colls/c", 404),
            ("/_armilla/dbs/d/colls/c/grow", 404),
            ("/_armilla/dbs/d/colls/c/split/x", 404),
            ("/_armilla/1/2/3/4/5/6/7/8/9", 404),
            ("/_armilla//partitions", 400),
            ("/_armilla/dbs/%zz/colls/c/split", 400),
            ("/_armilla/dbs/%FF/colls/c/split", 400),
            ("/_armilla/dbs/%2/colls/c/split", 400),
        ] {
            assert_eq!(parse(path).map_err(|failure| failure.status.http.as_u16()), Err(status), "{path}");
            assert!(is_ours(path), "{path}");
        }
        let longest = format!("/_armilla/backups/{}", "x".repeat(PATH_BYTES_MAX - 18));
        assert!(parse(&longest).is_ok());
        assert_eq!(parse(&format!("{longest}x")).unwrap_err().status.http, 400);
    }

    #[test]
    fn other_paths_are_not_ours() {
        for path in
            ["", "/", "//_armilla", "/_armillas", "/_ARMILLA/partitions", "/%5Farmilla", "/dbs/_armilla"]
        {
            assert!(!is_ours(path), "{path}");
        }
    }

    #[test]
    fn what_is_signed_is_what_was_sent() {
        assert_eq!(signed_link("/_armilla/dbs/a%20B/colls/c/split/"), "_armilla/dbs/a%20B/colls/c/split/");
    }
}
