//! Whether names say that two things belong together: a path `/authorId` and items of the sort `author`, a member
//! `userName` and a member `name`.

/// Ends of names that say that a value refers to something.
const REFERENCE_ENDS: [&str; 10] =
    ["uuids", "guids", "uuid", "guid", "keys", "refs", "ids", "key", "ref", "id"];

/// Shorter names are found at the end of many others by chance.
const PART_BYTES_MIN: usize = 3;

/// How well the name of a path fits to what it may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Affinity {
    /// Nothing in common.
    None,
    /// One ends with the other.
    Part,
    /// The same, but for plural and spelling.
    Same,
}

/// Compares a path that refers to something with the name of what it may refer to.
pub(crate) fn affinity(path: &str, target: &str) -> Affinity {
    let (stem, target) = (stem(path), singular(&plain(target)));
    if stem.is_empty() || target.is_empty() {
        return Affinity::None;
    }
    if stem == target {
        return Affinity::Same;
    }
    let ends = |long: &str, short: &str| short.len() >= PART_BYTES_MIN && long.ends_with(short);
    if ends(&stem, &target) || ends(&target, &stem) { Affinity::Part } else { Affinity::None }
}

/// Says whether a member's name is another's with something before it: `authorName` and `name`.
pub(crate) fn is_prefixed(name: &str, inner: &str) -> bool {
    let (name, inner) = (plain(name), plain(inner));
    inner.len() >= PART_BYTES_MIN && name.len() > inner.len() && name.ends_with(&inner)
}

/// Returns the last name of a path, steps into arrays aside.
pub(crate) fn last_name(path: &str) -> &str {
    names(path).next().unwrap_or("")
}

/// Says whether the names of two paths end alike.
pub(crate) fn ends_alike(path: &str, target: &str) -> bool {
    let (name, inner) = (last_name(path), last_name(target));
    plain(name) == plain(inner) || is_prefixed(name, inner)
}

/// The names of a path from the last to the first. A slash in a quoted name parts it, which does no harm here.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit('/').filter(|name| !name.is_empty() && *name != "[]")
}

/// What a path says that it refers to: `author` of `/authorId`, `/author/id` and `/authorIds/[]`.
fn stem(path: &str) -> String {
    for name in names(path) {
        let name = plain(name);
        let end = REFERENCE_ENDS.iter().find(|end| name.ends_with(*end));
        let stem = end.map_or(name.as_str(), |end| &name[..name.len() - end.len()]);
        if !stem.is_empty() {
            return singular(stem);
        }
    }
    String::new()
}

/// Letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for end in ["sses", "xes", "ches", "shes"] {
        if name.ends_with(end) {
            return name[..name.len() - 2].to_owned();
        }
    }
    match name.strip_suffix('s') {
        Some(stem) if !stem.is_empty() && !stem.ends_with('s') => stem.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_they_refer_to() {
        for (path, target, expected) in [
            ("/userId", "user", Affinity::Same),
            ("/userId", "users", Affinity::Same),
            ("/user_id", "Users", Affinity::Same),
            ("/author/id", "author", Affinity::Same),
            ("/authorIds/[]", "authors", Affinity::Same),
            ("/authors/[]/id", "author", Affinity::Same),
            ("/categoryId", "categories", Affinity::Same),
            ("/addressId", "addresses", Affinity::Same),
            ("/boxId", "boxes", Affinity::Same),
            ("/customer", "customer", Affinity::Same),
            ("/createdByUserId", "user", Affinity::Part),
            ("/postId", "blogPost", Affinity::Part),
            ("/userId", "post", Affinity::None),
            ("/id", "user", Affinity::None),
            ("/userId", "", Affinity::None),
            ("", "user", Affinity::None),
        ] {
            assert_eq!(affinity(path, target), expected, "{path} {target}");
        }
    }

    #[test]
    fn members_whose_names_end_alike() {
        assert!(is_prefixed("authorName", "name"));
        assert!(is_prefixed("user_username", "username"));
        assert!(!is_prefixed("name", "name"));
        assert!(!is_prefixed("authorName", "title"));
        assert!(!is_prefixed("abc", "c"), "too short to mean anything");
        assert!(ends_alike("/lines/[]/sku", "/sku"));
        assert!(ends_alike("/productSku", "/sku"));
        assert!(!ends_alike("/amount", "/number"));
        assert_eq!(last_name("/tags/[]"), "tags");
        assert_eq!(last_name(""), "");
    }
}
