//! What clients sign of a path.

use armilla_rest_wire::percent;
use armilla_rest_wire::signature::AccountKey;

/// Tells whether a path is one of the administration.
pub(crate) fn is_administration(path: &str) -> bool {
    path.starts_with("/_armilla")
}

/// Returns the `Authorization` header of a request.
pub(crate) fn sign(key: &str, verb: &str, path: &str, date: &str) -> String {
    let (resource_type, link) = signed(path);
    AccountKey::new(key).expect("a key is base64").master(verb, &resource_type, &link, date)
}

/// Returns the kind of resource and the link that are signed for a path: those of the resource itself, or the kind of a
/// feed and the link of what it lies in.
fn signed(path: &str) -> (String, String) {
    let whole = path.split('?').next().unwrap_or_default();
    if is_administration(whole) {
        return ("armilla".to_owned(), whole[1..].to_owned());
    }
    let segments = whole.split('/').filter(|segment| !segment.is_empty());
    // What is no name is refused before a signature is looked at.
    let mut names: Vec<String> =
        segments.map(|segment| percent::decode(segment).unwrap_or_default().into_owned()).collect();
    match names.as_slice() {
        [] => return Default::default(),
        [kind, id] if kind == "offers" => return (kind.clone(), id.to_ascii_lowercase()),
        // An operation is signed as the container that it is about.
        [.., operations, _] if operations == "operations" => names.truncate(names.len() - 2),
        _ => {}
    }
    if names.len().is_multiple_of(2) {
        (names[names.len() - 2].clone(), names.join("/"))
    } else {
        let kind = names.pop().unwrap_or_default();
        (kind, names.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn resources_by_themselves_and_feeds_by_what_they_lie_in() {
        for (path, kind, link) in [
            ("/", "", ""),
            ("/dbs", "dbs", ""),
            ("/dbs/", "dbs", ""),
            ("/dbs/ToDoList", "dbs", "dbs/ToDoList"),
            ("/dbs/d/colls/c/docs?x=1", "docs", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/%C3%BC%20a%2Fb", "docs", "dbs/d/colls/c/docs/ü a/b"),
            ("/dbs/d/colls/c/docs/1/attachments", "attachments", "dbs/d/colls/c/docs/1"),
            ("/dbs/d/colls/c/operations/partitionkeydelete", "colls", "dbs/d/colls/c"),
            ("/dbs/d/users/u/permissions/p", "permissions", "dbs/d/users/u/permissions/p"),
            ("/offers", "offers", ""),
            ("/offers/ABcd", "offers", "abcd"),
            ("/_armilla/dbs/a%20b/colls/c/split", "armilla", "_armilla/dbs/a%20b/colls/c/split"),
        ] {
            assert_eq!(signed(path), (kind.to_owned(), link.to_owned()), "{path}");
        }
    }
}
