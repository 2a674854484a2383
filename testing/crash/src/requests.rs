//! Signed requests of the SQL REST API, as bytes.
//!
//! Names are used as they are given: they must consist of characters that a path carries unescaped.

use std::fmt::Write as _;

use armilla_env::Env;
use armilla_rest_wire::http_date::RequestDate;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// The list of databases.
    Databases,
    /// One database.
    Database(&'a str),
    /// The list of a database's containers.
    Containers(&'a str),
    /// One container.
    Container(&'a str, &'a str),
    /// A container's partition map.
    Ranges(&'a str, &'a str),
    /// A container's items.
    Items(&'a str, &'a str),
    /// One item.
    Item(&'a str, &'a str, &'a str),
    /// A container's stored procedures.
    Procedures(&'a str, &'a str),
    /// One stored procedure.
    Procedure(&'a str, &'a str, &'a str),
    /// A container's triggers.
    Triggers(&'a str, &'a str),
    /// The list of offers.
    Offers,
    /// One offer, by its resource id.
    Offer(&'a str),
    /// The figures of all physical partitions.
    Partitions,
    /// The nodes that serve the account.
    Nodes,
    /// The splitting of a container's physical partition.
    Split(&'a str, &'a str),
    /// The merging of two of them.
    Merge(&'a str, &'a str),
}

impl Target<'_> {
    /// Returns the path, and the link that is signed.
    fn path(self) -> (String, String) {
        let feed = |link: String, word: &str| (format!("/{link}/{word}"), link);
        let whole = |link: String| (format!("/{link}"), link);
        let container = |database: &str, container: &str| format!("dbs/{database}/colls/{container}");
        match self {
            Target::Databases => ("/dbs".to_owned(), String::new()),
            Target::Database(database) => whole(format!("dbs/{database}")),
            Target::Containers(database) => feed(format!("dbs/{database}"), "colls"),
            Target::Container(database, own) => whole(container(database, own)),
            Target::Ranges(database, own) => feed(container(database, own), "pkranges"),
            Target::Items(database, own) => feed(container(database, own), "docs"),
            Target::Item(database, own, id) => whole(format!("{}/docs/{id}", container(database, own))),
            Target::Procedures(database, own) => feed(container(database, own), "sprocs"),
            Target::Procedure(database, own, id) => {
                whole(format!("{}/sprocs/{id}", container(database, own)))
            }
            Target::Triggers(database, own) => feed(container(database, own), "triggers"),
            Target::Offers => ("/offers".to_owned(), String::new()),
            // Resource ids are signed in lower case.
            Target::Offer(rid) => (format!("/offers/{rid}"), rid.to_ascii_lowercase()),
            Target::Partitions => whole("_armilla/partitions".to_owned()),
            Target::Nodes => whole("_armilla/nodes".to_owned()),
            Target::Split(database, own) => whole(format!("_armilla/{}/split", container(database, own))),
            Target::Merge(database, own) => whole(format!("_armilla/{}/merge", container(database, own))),
        }
    }

    fn resource_type(self) -> &'static str {
        match self {
            Target::Databases | Target::Database(_) => "dbs",
            Target::Containers(_) | Target::Container(..) => "colls",
            Target::Ranges(..) => "pkranges",
            Target::Items(..) | Target::Item(..) => "docs",
            Target::Procedures(..) | Target::Procedure(..) => "sprocs",
            Target::Triggers(..) => "triggers",
            Target::Offers | Target::Offer(_) => "offers",
            Target::Partitions | Target::Nodes | Target::Split(..) | Target::Merge(..) => "armilla",
        }
    }
}

/// Composes requests and signs them.
#[derive(Clone)]
pub struct Composer {
    key: AccountKey,
    env: Env,
    date: RequestDate,
}

impl Composer {
    /// Returns a composer that signs with the well-known key.
    pub fn new(env: &Env) -> Composer {
        let key = AccountKey::new(well_known::COSMOS_KEY).expect("the well-known key is base64");
        Composer { key, env: env.clone(), date: RequestDate::new(0) }
    }

    /// Writes a request behind what is there.
    pub fn write(
        &mut self,
        out: &mut Vec<u8>,
        method: &str,
        target: Target<'_>,
        headers: &[(&str, &str)],
        body: &[u8],
    ) {
        // A signature is good for a quarter of an hour, so a date may be a little old.
        self.date.move_to(self.env.clock.now_seconds());
        let (path, link) = target.path();
        let token = self.key.master(method, target.resource_type(), &link, self.date.text());
        let mut head = String::with_capacity(512);
        // Writing to a string cannot fail.
        let _ = write!(
            head,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-ms-version: 2020-07-15\r\nx-ms-date: {}\r\n\
             authorization: {token}\r\n",
            self.date.text()
        );
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
            let _ = write!(head, "content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(body);
    }

    /// Returns a request.
    pub fn compose(
        &mut self,
        method: &str,
        target: Target<'_>,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(600 + body.len());
        self.write(&mut out, method, target, headers, body);
        out
    }
}

/// Returns the header value that names a partition key of one string.
pub fn partition_key(value: &str) -> String {
    format!("[\"{value}\"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_signed_links() {
        for (target, path, link) in [
            (Target::Databases, "/dbs", ""),
            (Target::Database("d"), "/dbs/d", "dbs/d"),
            (Target::Containers("d"), "/dbs/d/colls", "dbs/d"),
            (Target::Container("d", "c"), "/dbs/d/colls/c", "dbs/d/colls/c"),
            (Target::Ranges("d", "c"), "/dbs/d/colls/c/pkranges", "dbs/d/colls/c"),
            (Target::Items("d", "c"), "/dbs/d/colls/c/docs", "dbs/d/colls/c"),
            (Target::Item("d", "c", "i"), "/dbs/d/colls/c/docs/i", "dbs/d/colls/c/docs/i"),
            (Target::Procedures("d", "c"), "/dbs/d/colls/c/sprocs", "dbs/d/colls/c"),
            (Target::Procedure("d", "c", "p"), "/dbs/d/colls/c/sprocs/p", "dbs/d/colls/c/sprocs/p"),
            (Target::Triggers("d", "c"), "/dbs/d/colls/c/triggers", "dbs/d/colls/c"),
            (Target::Offers, "/offers", ""),
            (Target::Offer("AbC="), "/offers/AbC=", "abc="),
            (Target::Partitions, "/_armilla/partitions", "_armilla/partitions"),
            (Target::Split("d", "c"), "/_armilla/dbs/d/colls/c/split", "_armilla/dbs/d/colls/c/split"),
            (Target::Merge("d", "c"), "/_armilla/dbs/d/colls/c/merge", "_armilla/dbs/d/colls/c/merge"),
        ] {
            assert_eq!(target.path(), (path.to_owned(), link.to_owned()));
        }
    }

    #[test]
    fn bodies_have_their_length() {
        let mut composer = Composer::new(&Env::system());
        let request = composer.compose("POST", Target::Databases, &[("x-a", "b")], b"{}");
        let text = String::from_utf8(request).unwrap();
        assert!(text.starts_with("POST /dbs HTTP/1.1\r\n"));
        assert!(text.contains("\r\nx-a: b\r\n"));
        assert!(text.ends_with("content-length: 2\r\n\r\n{}"));
        let request = composer.compose("GET", Target::Databases, &[], b"");
        assert!(!String::from_utf8(request).unwrap().contains("content-length"));
    }
}
