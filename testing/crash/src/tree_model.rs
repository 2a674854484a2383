//! What is known of the databases and containers that come and go, with the few items in them.
//!
//! One client changes them, so after a crash the tree is what was acknowledged, or that with the one change
//! that was under way: a database goes with everything in it or not at all.

use std::collections::{BTreeMap, BTreeSet};

use armilla_value::Value;

use crate::content::Shown;

/// Databases by name.
pub(crate) type Tree = BTreeMap<String, Database>;

/// One database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Database {
    pub(crate) rid: Rid,
    pub(crate) containers: BTreeMap<String, Container>,
}

/// One container.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Container {
    pub(crate) rid: Rid,
    pub(crate) items: BTreeMap<String, Item>,
}

/// A resource id, which a resource whose making was not answered has as well, only unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rid {
    Known(String),
    Unknown,
}

/// An item.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// As the server showed it.
    Shown(Value),
    /// As it was sent.
    Sent(Value),
}

/// One change of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    CreateDatabase(String),
    DeleteDatabase(String),
    CreateContainer(String, String),
    DeleteContainer(String, String),
    CreateItem(String, String, String, Value),
}

impl Change {
    /// Makes the change; what the server would add is left open.
    pub(crate) fn apply(&self, tree: &mut Tree) {
        match self {
            Change::CreateDatabase(database) => {
                let made = Database { rid: Rid::Unknown, containers: BTreeMap::new() };
                tree.insert(database.clone(), made);
            }
            Change::DeleteDatabase(database) => {
                tree.remove(database);
            }
            Change::CreateContainer(database, container) => {
                let made = Container { rid: Rid::Unknown, items: BTreeMap::new() };
                if let Some(database) = tree.get_mut(database) {
                    database.containers.insert(container.clone(), made);
                }
            }
            Change::DeleteContainer(database, container) => {
                if let Some(database) = tree.get_mut(database) {
                    database.containers.remove(container);
                }
            }
            Change::CreateItem(database, container, id, sent) => {
                let container =
                    tree.get_mut(database).and_then(|database| database.containers.get_mut(container));
                if let Some(container) = container {
                    container.items.insert(id.clone(), Item::Sent(sent.clone()));
                }
            }
        }
    }
}

/// Compares what the server shows with what it may show; returns whether the change under way had happened.
pub(crate) fn judge(
    acknowledged: &Tree,
    in_flight: Option<&Change>,
    shown: &Tree,
    rids_used: &BTreeSet<String>,
) -> Result<bool, String> {
    let Err(difference) = compare(acknowledged, shown, rids_used) else { return Ok(false) };
    let Some(change) = in_flight else { return Err(difference) };
    let mut changed = acknowledged.clone();
    change.apply(&mut changed);
    match compare(&changed, shown, rids_used) {
        Ok(()) => Ok(true),
        Err(other) => Err(format!("{difference}; nor is it the state after {change:?}: {other}")),
    }
}

fn compare(expected: &Tree, shown: &Tree, rids_used: &BTreeSet<String>) -> Result<(), String> {
    same_names("databases", expected.keys(), shown.keys())?;
    for (database_name, database) in expected {
        let other = &shown[database_name];
        same_rid(&format!("database {database_name}"), &database.rid, &other.rid, rids_used)?;
        let place = format!("containers of {database_name}");
        same_names(&place, database.containers.keys(), other.containers.keys())?;
        for (container_name, container) in &database.containers {
            let other = &other.containers[container_name];
            let place = format!("container {container_name} of {database_name}");
            same_rid(&place, &container.rid, &other.rid, rids_used)?;
            same_names(&format!("items of {place}"), container.items.keys(), other.items.keys())?;
            for (id, item) in &container.items {
                if !same_item(item, &other.items[id]) {
                    return Err(format!("item {id} of {place} is {:?}, expected {item:?}", other.items[id]));
                }
            }
        }
    }
    Ok(())
}

fn same_names<'a>(
    place: &str,
    expected: impl Iterator<Item = &'a String>,
    shown: impl Iterator<Item = &'a String>,
) -> Result<(), String> {
    let (expected, shown): (Vec<_>, Vec<_>) = (expected.collect(), shown.collect());
    if expected == shown { Ok(()) } else { Err(format!("{place} are {shown:?}, expected {expected:?}")) }
}

fn same_rid(place: &str, expected: &Rid, shown: &Rid, rids_used: &BTreeSet<String>) -> Result<(), String> {
    match (expected, shown) {
        (Rid::Unknown, Rid::Known(rid)) if !rids_used.contains(rid) => Ok(()),
        (Rid::Unknown, Rid::Known(rid)) => Err(format!("{place} has the resource id {rid} of an older one")),
        _ if expected == shown => Ok(()),
        _ => Err(format!("{place} has the resource id {shown:?}, expected {expected:?}")),
    }
}

fn same_item(expected: &Item, shown: &Item) -> bool {
    match (expected, shown) {
        (Item::Sent(sent), Item::Shown(shown)) => {
            Shown::of(shown.clone()).is_ok_and(|shown| sent.as_object() == Some(&shown.content))
        }
        _ => expected == shown,
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    fn known(rid: &str) -> Rid {
        Rid::Known(rid.to_owned())
    }

    fn tree(database_rid: &str, container_rid: &str) -> Tree {
        let container = Container { rid: known(container_rid), items: BTreeMap::new() };
        let containers = BTreeMap::from([("c".to_owned(), container)]);
        BTreeMap::from([("d".to_owned(), Database { rid: known(database_rid), containers })])
    }

    #[test]
    fn a_tree_is_what_was_acknowledged_or_that_with_one_change() {
        let used = BTreeSet::from(["1".to_owned(), "2".to_owned()]);
        let base = tree("1", "2");
        let empty_database = {
            let mut tree = base.clone();
            tree.get_mut("d").unwrap().containers.clear();
            tree
        };
        let delete_database = Change::DeleteDatabase("d".into());
        let delete_container = Change::DeleteContainer("d".into(), "c".into());
        for (case, acknowledged, change, shown, expected) in [
            ("nothing happened", &base, None, &base, Some(false)),
            ("the database is gone", &base, None, &Tree::new(), None),
            ("another container under the name", &base, None, &tree("1", "3"), None),
            ("the database went whole", &base, Some(&delete_database), &Tree::new(), Some(true)),
            ("the database stayed whole", &base, Some(&delete_database), &base, Some(false)),
            ("half of the database went", &base, Some(&delete_database), &empty_database, None),
            ("the container went", &base, Some(&delete_container), &empty_database, Some(true)),
        ] {
            assert_eq!(judge(acknowledged, change, shown, &used).ok(), expected, "{case}");
        }
        let create = Change::CreateContainer("d".into(), "c".into());
        assert_eq!(judge(&empty_database, Some(&create), &tree("1", "3"), &used), Ok(true));
        assert!(judge(&empty_database, Some(&create), &base, &used).is_err(), "a resource id is used twice");
    }

    #[test]
    fn items_are_compared_without_what_the_server_adds() {
        let sent = json::parse(br#"{"id":"i","pk":"p"}"#).unwrap();
        let shown = br#"{"id":"i","pk":"p","_rid":"r","_self":"s","_etag":"e","_attachments":"a","_ts":1}"#;
        let shown = json::parse(shown).unwrap();
        let base = tree("1", "2");
        let mut after = base.clone();
        let change = Change::CreateItem("d".into(), "c".into(), "i".into(), sent);
        change.apply(&mut after);
        let mut seen = base.clone();
        let items = &mut seen.get_mut("d").unwrap().containers.get_mut("c").unwrap().items;
        items.insert("i".into(), Item::Shown(shown));
        assert_eq!(judge(&base, Some(&change), &seen, &BTreeSet::new()), Ok(true));
        assert_eq!(judge(&after, None, &seen, &BTreeSet::new()), Ok(false));
        assert!(judge(&base, None, &seen, &BTreeSet::new()).is_err());
    }
}
