//! How the items of a container change, added up over writes that were compared with what was there.
//!
//! Not here: comparing (`differences`).

use std::cmp::Reverse;

use armilla_value::PartitionKey;

use crate::differences::Differences;
use crate::hash;
use crate::heaviest::Heaviest;
use crate::limits::{ENTITIES_MAX, ENTITY_PATHS_MAX, FIRST_COUNTED, ITEMS_COUNTED, KEY_BYTES_MAX};
use crate::report::{Changes, EntityChanges, ItemChanges, PathChanges};
use crate::room::{Room, Rooms};
use crate::sizes::{self, heap};

/// The changes of a container's items.
#[derive(Debug, Default)]
pub(crate) struct ChangesTally {
    /// In the order of their names. Most containers have few, with few paths: trees would be mostly empty.
    entities: Vec<Entity>,
    items: Heaviest<Item>,
    /// What was taken of the room for sorts and paths.
    held: usize,
}

#[derive(Debug)]
struct Entity {
    name: Box<str>,
    compared: u64,
    bytes: u64,
    changed_bytes: u64,
    /// In their order.
    paths: Vec<(Box<str>, PathChanges)>,
}

#[derive(Debug)]
struct Item {
    key: PartitionKey,
    id: String,
    appends: u64,
}

/// One write that was compared.
pub(crate) struct Change<'c> {
    pub(crate) entity: &'c str,
    pub(crate) key: &'c PartitionKey,
    pub(crate) id: &'c str,
    /// The bytes of what was written.
    pub(crate) bytes: u64,
    pub(crate) differences: &'c Differences,
}

/// What is kept free for the first items of containers, in a hundred.
const KEPT_BACK: usize = 50;

impl ChangesTally {
    /// What is held that no room counts.
    pub(crate) const SPARE_BYTES: usize = Heaviest::<Item>::SPARE_BYTES;

    pub(crate) fn count(&mut self, change: &Change<'_>, rooms: &Rooms) {
        let appends = u64::from(change.differences.is_append());
        self.count_item(
            ItemFigures { key: change.key, id: change.id, count: 1, appends, overestimate: 0 },
            &rooms.items,
        );
        let Some(entity) = self.entity(change.entity, &rooms.changes) else { return };
        entity.count(1, change.bytes, change.differences.bytes);
        let alone = u64::from(change.differences.is_alone());
        let mut held = 0;
        for (path, difference) in &change.differences.paths {
            let told = PathChanges {
                changed: 1,
                appended: u64::from(difference.is_appended),
                shortened: u64::from(difference.is_shortened),
                alone,
            };
            held += entity.add_path(path, told, &rooms.changes);
        }
        self.held += held;
    }

    /// Adds what an earlier report says.
    pub(crate) fn restore(&mut self, told: &Changes, rooms: &Rooms) {
        for (name, other) in &told.entities {
            let Some(entity) = self.entity(name, &rooms.changes) else { continue };
            entity.count(other.compared, other.bytes, other.changed_bytes);
            let paths = other.paths.iter();
            let held: usize = paths.map(|(path, told)| entity.add_path(path, *told, &rooms.changes)).sum();
            self.held += held;
        }
        for ItemChanges { key, id, count, appends, overestimate } in &told.items {
            let (count, appends, overestimate) = (*count, *appends, *overestimate);
            self.count_item(ItemFigures { key, id, count, appends, overestimate }, &rooms.items);
        }
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.entities.binary_search_by(|entity| (*entity.name).cmp(name))
    }

    fn entity(&mut self, name: &str, room: &Room) -> Option<&mut Entity> {
        // The last place is for all that have none.
        let is_full = self.entities.len() + usize::from(self.place("").is_err()) >= ENTITIES_MAX;
        let name = if is_full && self.place(name).is_err() { "" } else { name };
        let place = match self.place(name) {
            Ok(place) => place,
            Err(place) => {
                let bytes = heap(name.len()) + ENTITY_BYTES;
                if !room.take(bytes) {
                    return None;
                }
                self.held += bytes;
                self.entities.reserve_exact(1);
                self.entities.insert(place, Entity::new(name));
                place
            }
        };
        self.entities.get_mut(place)
    }

    fn count_item(&mut self, figures: ItemFigures<'_>, room: &Room) {
        let ItemFigures { key, id, count, appends, overestimate } = figures;
        let hash = hash::bytes(hash::key(key), id.as_bytes());
        if let Some(place) = self.items.find(hash, |own| own.id == id && own.key == *key) {
            let item = self.items.add(place, count);
            item.appends = item.appends.saturating_add(appends);
            return;
        }
        if key.bytes_len() + id.len() > 2 * KEY_BYTES_MAX || size_of_val(&*key.0) > KEY_BYTES_MAX {
            return;
        }
        let item = |appends| Item { key: key.clone(), id: id.to_owned(), appends };
        let kept_back = if self.items.len() < FIRST_COUNTED { 0 } else { KEPT_BACK };
        if self.items.len() < ITEMS_COUNTED && room.take_but(kept_back, item_bytes(key, id)) {
            self.items.push(hash, count, overestimate, item(appends));
            return;
        }
        let Some(place) = self.items.lightest() else { return };
        let before = self.items.at(place).0;
        if room.exchange(item_bytes(&before.key, &before.id), item_bytes(key, id)) {
            self.items.replace(place, hash, count, item(appends));
        }
    }

    pub(crate) fn told(&self) -> Changes {
        let items = self.items.iter().map(|(item, count, overestimate)| ItemChanges {
            key: item.key.clone(),
            id: item.id.clone(),
            count,
            appends: item.appends,
            overestimate,
        });
        let mut items: Vec<ItemChanges> = items.collect();
        items.sort_by_cached_key(|item| (Reverse(item.count), item.key.to_json(), item.id.clone()));
        let entities = self.entities.iter().map(|entity| (entity.name.to_string(), entity.told()));
        Changes { entities: entities.collect(), items }
    }

    pub(crate) fn give_back(&self, rooms: &Rooms) {
        rooms.changes.give(self.held);
        rooms.items.give(self.items.iter().map(|(item, ..)| item_bytes(&item.key, &item.id)).sum());
    }
}

struct ItemFigures<'i> {
    key: &'i PartitionKey,
    id: &'i str,
    count: u64,
    appends: u64,
    overestimate: u64,
}

/// What a path takes without its text.
const PATH_BYTES: usize = size_of::<(Box<str>, PathChanges)>();

/// For how many more paths there is room whenever there is none.
const PATHS_GROWTH: usize = 4;

/// What a sort of items takes without its name, with places for paths that may not be used.
const ENTITY_BYTES: usize = size_of::<Entity>() + PATHS_GROWTH * PATH_BYTES;

fn item_bytes(key: &PartitionKey, id: &str) -> usize {
    Heaviest::<Item>::ENTRY_BYTES + sizes::key(key) + heap(id.len())
}

impl Entity {
    fn new(name: &str) -> Entity {
        Entity { name: name.into(), compared: 0, bytes: 0, changed_bytes: 0, paths: Vec::new() }
    }

    fn count(&mut self, compared: u64, bytes: u64, changed_bytes: u64) {
        self.compared = self.compared.saturating_add(compared);
        self.bytes = self.bytes.saturating_add(bytes);
        self.changed_bytes = self.changed_bytes.saturating_add(changed_bytes);
    }

    /// Adds the changes of a path, and returns what was taken of the room for it.
    fn add_path(&mut self, path: &str, told: PathChanges, room: &Room) -> usize {
        match self.paths.binary_search_by(|(own, _)| (**own).cmp(path)) {
            Ok(place) => {
                let known = &mut self.paths[place].1;
                known.changed = known.changed.saturating_add(told.changed);
                known.appended = known.appended.saturating_add(told.appended);
                known.shortened = known.shortened.saturating_add(told.shortened);
                known.alone = known.alone.saturating_add(told.alone);
                0
            }
            Err(place) => {
                let bytes = heap(path.len()) + PATH_BYTES;
                if self.paths.len() >= ENTITY_PATHS_MAX || !room.take(bytes) {
                    return 0;
                }
                if self.paths.len() == self.paths.capacity() {
                    self.paths.reserve_exact(PATHS_GROWTH);
                }
                self.paths.insert(place, (path.into(), told));
                bytes
            }
        }
    }

    fn told(&self) -> EntityChanges {
        EntityChanges {
            compared: self.compared,
            bytes: self.bytes,
            changed_bytes: self.changed_bytes,
            paths: self.paths.iter().map(|(path, told)| (path.to_string(), *told)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::Component;

    use super::*;
    use crate::differences;

    fn change(tally: &mut ChangesTally, rooms: &Rooms, entity: &str, id: &str, texts: [&str; 2]) {
        let differences = differences::compare(texts[0].as_bytes(), texts[1].as_bytes()).unwrap();
        let key = PartitionKey(vec![Component::String("k".to_owned())]);
        let bytes = texts[1].len() as u64;
        tally.count(&Change { entity, key: &key, id, bytes, differences: &differences }, rooms);
    }

    #[test]
    fn writes_are_added_up_by_sort_and_path_and_item() {
        let (rooms, mut tally) = (Rooms::new(), ChangesTally::default());
        change(&mut tally, &rooms, "post", "1", [r#"{"n":1,"t":[]}"#, r#"{"n":2,"t":[]}"#]);
        change(&mut tally, &rooms, "post", "1", [r#"{"n":1,"t":[]}"#, r#"{"n":2,"t":[5]}"#]);
        change(&mut tally, &rooms, "post", "2", [r#"{"n":1,"t":[]}"#, r#"{"n":1,"t":[5]}"#]);
        change(&mut tally, &rooms, "", "3", [r#"{"n":1,"t":[7]}"#, r#"{"n":1,"t":[]}"#]);
        change(&mut tally, &rooms, "", "3", [r#"{"n":1}"#, r#"{"n":1}"#]);
        let told = tally.told();
        let post = &told.entities["post"];
        assert_eq!((post.compared, post.bytes, post.changed_bytes), (3, 44, 4));
        let path = |changed, appended, shortened, alone| PathChanges { changed, appended, shortened, alone };
        assert_eq!(post.paths["/n"], path(2, 0, 0, 1));
        assert_eq!(post.paths["/t"], path(2, 2, 0, 1));
        assert_eq!(told.entities[""].paths["/t"], path(1, 0, 1, 1));
        assert_eq!(told.entities[""].compared, 2);
        let items: Vec<_> = told.items.iter().map(|item| (&*item.id, item.count, item.appends)).collect();
        assert_eq!(items, [("1", 2, 0), ("3", 2, 0), ("2", 1, 1)]);
        let mut again = ChangesTally::default();
        again.restore(&told, &rooms);
        assert_eq!(again.told(), told);
        tally.give_back(&rooms);
        again.give_back(&rooms);
        assert_eq!((rooms.changes.used(), rooms.items.used()), (0, 0));
    }

    #[test]
    fn sorts_and_paths_beyond_the_bounds() {
        let (rooms, mut tally) = (Rooms::new(), ChangesTally::default());
        for at in 0..ENTITIES_MAX + 10 {
            let entity = format!("sort{at}");
            change(&mut tally, &rooms, &entity, "1", [r#"{"n":1}"#, r#"{"n":2}"#]);
        }
        let told = tally.told();
        assert_eq!(told.entities.len(), ENTITIES_MAX);
        assert_eq!(told.entities[""].compared, 11);
        for at in 0..ENTITY_PATHS_MAX + 10 {
            let texts = [format!("{{\"n{at}\":1}}"), format!("{{\"n{at}\":2}}")];
            change(&mut tally, &rooms, "sort0", "1", [&texts[0], &texts[1]]);
        }
        let told = tally.told();
        assert_eq!(told.entities["sort0"].paths.len(), ENTITY_PATHS_MAX);
        assert_eq!(told.entities["sort0"].compared, ENTITY_PATHS_MAX as u64 + 11);
    }

    #[test]
    fn the_items_that_are_written_most_are_found_among_many() {
        let (rooms, mut tally) = (Rooms::new(), ChangesTally::default());
        for at in 0..5_000 {
            change(&mut tally, &rooms, "", &format!("cold{at}"), [r#"{"n":1}"#, r#"{"n":2}"#]);
            if at % 10 == 0 {
                change(&mut tally, &rooms, "", "hot", [r#"{"n":[]}"#, r#"{"n":[1]}"#]);
            }
        }
        let told = tally.told();
        assert_eq!(told.items.len(), ITEMS_COUNTED);
        let hot = &told.items[0];
        assert_eq!((&*hot.id, hot.appends), ("hot", 500));
        assert!(hot.count >= 500 && hot.count - hot.overestimate <= 500, "{hot:?}");
    }
}
