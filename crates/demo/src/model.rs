//! The three versions of the data model: databases, containers, what they are keyed by, and their scripts.
//!
//! The third version keeps the second's container of posts, as the published example does, and adds two containers:
//! users with shortened copies of their posts, and the newest posts.

pub(crate) mod scripts;

use crate::items::Version;

/// A container of one of the versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) database: &'static str,
    pub(crate) container: &'static str,
    /// The path that it is partitioned by.
    pub(crate) key_path: &'static str,
}

const fn place(database: &'static str, container: &'static str, key_path: &'static str) -> Place {
    Place { database, container, key_path }
}

/// The databases.
pub(crate) const DATABASES: [&str; 3] = ["blog-v1", "blog-v2", "blog-v3"];

/// Users, nothing else.
pub(crate) const USERS_V1: Place = place("blog-v1", "users", "/id");
/// Posts, comments and likes that refer to their authors.
pub(crate) const POSTS_V1: Place = place("blog-v1", "posts", "/postId");
/// Users, nothing else.
pub(crate) const USERS_V2: Place = place("blog-v2", "users", "/id");
/// Posts, comments and likes with their authors' names; posts with counts.
pub(crate) const POSTS_V2: Place = place("blog-v2", "posts", "/postId");
/// Users, and shortened copies of their posts.
pub(crate) const USERS_V3: Place = place("blog-v3", "users", "/userId");
/// Shortened copies of the newest posts.
pub(crate) const FEED_V3: Place = place("blog-v3", "feed", "/type");
/// How far the workers are.
pub(crate) const LEASES_V3: Place = place("blog-v3", "leases", "/id");

/// All containers.
pub(crate) const PLACES: [Place; 7] = [USERS_V1, POSTS_V1, USERS_V2, POSTS_V2, USERS_V3, FEED_V3, LEASES_V3];

impl Place {
    /// Returns the container's definition.
    pub(crate) fn definition(&self) -> String {
        format!(
            r#"{{"id":"{}","partitionKey":{{"paths":["{}"],"kind":"Hash","version":2}}}}"#,
            self.container, self.key_path
        )
    }

    /// Whether this is one of the containers that have many physical partitions.
    pub(crate) fn holds_posts(&self) -> bool {
        self.container == "posts"
    }
}

/// Returns where a version has its users.
pub(crate) fn users(version: Version) -> &'static Place {
    match version {
        Version::V1 => &USERS_V1,
        Version::V2 => &USERS_V2,
        Version::V3 => &USERS_V3,
    }
}

/// Returns where a version has its posts, comments and likes.
pub(crate) fn posts(version: Version) -> &'static Place {
    match version {
        Version::V1 => &POSTS_V1,
        Version::V2 | Version::V3 => &POSTS_V2,
    }
}

/// The type that copies of posts have, and the key under which all of the newest lie.
pub(crate) const FEED_KEY: &str = "[\"post\"]";

/// Returns a partition key of one text, as it stands in a header.
pub(crate) fn key(text: &str) -> String {
    format!("[\"{text}\"]")
}
