use armilla_engine::ScriptKind;
use proptest::prelude::*;

use super::{Address, PathError, decode, looks_like_database_rid, parse};
use crate::limits::PATH_BYTES_MAX;

/// Path, signed type, signed link over names.
const SIGNED: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("/", "", ""),
    // One slash is the root, the other one trails.
    ("//", "", ""),
    ("/dbs", "dbs", ""),
    ("/dbs/", "dbs", ""),
    ("/dbs/ToDoList", "dbs", "dbs/ToDoList"),
    ("/dbs/ToDoList/", "dbs", "dbs/ToDoList"),
    ("/dbs/d/colls", "colls", "dbs/d"),
    ("/dbs/d/colls/c", "colls", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/docs/1/", "docs", "dbs/d/colls/c/docs/1"),
    ("/dbs/d/colls/c/docs/%C3%BC%20%c3%a9", "docs", "dbs/d/colls/c/docs/ü é"),
    ("/dbs/d/colls/c/docs/a+b%2Fc%252F", "docs", "dbs/d/colls/c/docs/a+b/c%2F"),
    ("/dbs/d/colls/c/docs/i/attachments", "attachments", "dbs/d/colls/c/docs/i"),
    ("/dbs/d/colls/c/pkranges/", "pkranges", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/sprocs", "sprocs", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/sprocs/s", "sprocs", "dbs/d/colls/c/sprocs/s"),
    ("/dbs/d/colls/c/triggers", "triggers", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/triggers/t", "triggers", "dbs/d/colls/c/triggers/t"),
    ("/dbs/d/colls/c/udfs", "udfs", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/udfs/u", "udfs", "dbs/d/colls/c/udfs/u"),
    ("/dbs/d/colls/c/conflicts", "conflicts", "dbs/d/colls/c"),
    ("/dbs/d/colls/c/conflicts/x", "conflicts", "dbs/d/colls/c/conflicts/x"),
    ("/dbs/d/colls/c/operations/partitionkeydelete", "colls", "dbs/d/colls/c"),
    ("/dbs/d/users", "users", "dbs/d"),
    ("/dbs/d/users/u", "users", "dbs/d/users/u"),
    ("/dbs/d/users/u/permissions", "permissions", "dbs/d/users/u"),
    ("/dbs/d/users/u/permissions/p", "permissions", "dbs/d/users/u/permissions/p"),
    ("/dbs/d/clientencryptionkeys", "clientencryptionkeys", "dbs/d"),
    ("/dbs/d/clientencryptionkeys/k", "clientencryptionkeys", "dbs/d/clientencryptionkeys/k"),
    ("/offers", "offers", ""),
    ("/offers/ABCD", "offers", "abcd"),
    ("/offers/TQAA/", "offers", "tqaa"),
];

#[test]
fn paths_name_their_type_and_link() {
    for (path, resource_type, link) in SIGNED {
        let resource = parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(resource.resource_type(), *resource_type, "{path}");
        let mut signed = Vec::new();
        resource.push_name_link(&mut signed);
        assert_eq!(String::from_utf8(signed).unwrap(), *link, "{path}");
    }
}

#[test]
fn keywords_count_only_at_their_positions() {
    assert_eq!(
        parse("/dbs/colls/colls/docs/docs/docs").unwrap(),
        Address::Item { database: "colls".into(), container: "docs".into(), item: "docs".into() }
    );
    assert_eq!(
        parse("/dbs/dbs/users/permissions/permissions").unwrap(),
        Address::Permissions { database: "dbs".into(), user: "permissions".into() }
    );
    assert_eq!(
        parse("/dbs/d/colls/operations/sprocs/partitionkeydelete").unwrap(),
        Address::Script {
            database: "d".into(),
            container: "operations".into(),
            kind: ScriptKind::StoredProcedure,
            script: "partitionkeydelete".into()
        }
    );
}

#[test]
fn paths_of_administrators_are_not_of_this_api() {
    for path in ["/_armilla", "/_armilla/partitions", "/_armilla/dbs/d/colls/c/split"] {
        assert_eq!(parse(path), Err(PathError::Unknown), "{path}");
    }
    // A database may have that name.
    assert_eq!(parse("/dbs/_armilla"), Ok(Address::Database { database: "_armilla".into() }));
}

#[test]
fn rid_links_are_the_last_id_in_lower_case() {
    let rid_link = |path| parse(path).unwrap().rid_link();
    assert_eq!(rid_link("/dbs/P6fRAA==/colls/P6fRAIC63A0=").as_deref(), Some("p6fraic63a0="));
    assert_eq!(rid_link("/dbs/P6fRAA%3D%3D/colls/P6fRAIC63A0%3D/docs").as_deref(), Some("p6fraic63a0="));
    assert_eq!(rid_link("/dbs/P6fRAA==/colls").as_deref(), Some("p6fraa=="));
    assert_eq!(rid_link("/dbs/P6fRAA==/users/P6fRAAASNFY=/permissions").as_deref(), Some("p6fraaasnfy="));
    assert_eq!(rid_link("/dbs/d/colls/P6fRAIC63A0="), None);
    assert_eq!(rid_link("/offers/TQAA"), None);
    assert_eq!(rid_link("/"), None);
}

#[test]
fn database_rids_have_a_shape() {
    for (segment, expected) in [
        ("P6fRAA==", true),
        ("-6fRAA==", true),
        ("+6fRAA==", true),
        ("P6fRAB==", false), // bits beyond the four bytes are set
        ("P6fRAAA=", false),
        ("P6fRAAAA", false),
        ("P6fRAA=", false),
        ("mydb", false),
        ("P6fR A==", false),
        ("", false),
    ] {
        assert_eq!(looks_like_database_rid(segment), expected, "{segment}");
    }
}

#[test]
fn bad_paths_say_why() {
    for (path, expected) in [
        ("/nothing", PathError::Unknown),
        ("/DBS", PathError::Unknown),
        ("/dbs/d/nothing", PathError::Unknown),
        ("/dbs/d/colls/c/nothing", PathError::Unknown),
        ("/dbs/d/colls/c/operations", PathError::Unknown),
        ("/dbs/d/colls/c/operations/other", PathError::Unknown),
        ("/dbs/d/colls/c/pkranges/0", PathError::Unknown),
        ("/dbs/d/colls/c/docs/i/attachments/a/b", PathError::Unknown),
        ("/dbs/d/colls/c/docs/i/x", PathError::Unknown),
        ("/offers/a/b", PathError::Unknown),
        ("/dbs//", PathError::EmptySegment),
        ("/dbs//colls", PathError::EmptySegment),
        ("/dbs/%", PathError::Encoding),
        ("/dbs/%4", PathError::Encoding),
        ("/dbs/%zz", PathError::Encoding),
        ("/dbs/%+1", PathError::Encoding),
        ("/dbs/%FF", PathError::Encoding),
        ("/dbs/%C3", PathError::Encoding),
    ] {
        assert_eq!(parse(path), Err(expected), "{path}");
    }
}

#[test]
fn path_length_is_bounded() {
    let longest = format!("/dbs/{}", "d".repeat(PATH_BYTES_MAX - 5));
    assert!(parse(&longest).is_ok());
    assert_eq!(parse(&format!("{longest}d")), Err(PathError::TooLong));
}

#[test]
fn plain_segments_are_borrowed() {
    assert!(matches!(decode("plain+x").unwrap(), std::borrow::Cow::Borrowed("plain+x")));
}

fn percent_encode(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

proptest! {
    #[test]
    fn any_name_survives_encoding(database in "\\PC{1,20}", container in ".{1,20}", item in ".{1,20}") {
        let path = format!("/dbs/{}/colls/{}/docs/{}",
            percent_encode(&database), percent_encode(&container), percent_encode(&item));
        let expected = Address::Item {
            database: database.into(), container: container.into(), item: item.into() };
        prop_assert_eq!(parse(&path), Ok(expected));
    }

    #[test]
    fn no_path_panics(path in ".{0,60}") {
        let _ = parse(&path);
        let _ = parse(&format!("/dbs/d/colls/c/{path}"));
    }
}
