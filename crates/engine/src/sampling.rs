//! Samples of a container's items, for those who want to know what is in it.
//!
//! A container that is small enough is taken as a whole. Of a larger one, items are taken from places that lie evenly on
//! the ring of hashed keys: from each as many whole logical partitions as have room, so that what is said of logical
//! partitions holds. It is charged to no budget; one is taken at a time.

use std::sync::Arc;

use armilla_container::{Item, ListScope};
use armilla_value::{HashedKey, extract, initial_bounds};

use crate::access::{Action, Caller};
use crate::blocking;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::Result;

/// Items that are read at once.
const SCAN_ITEMS: usize = 256;

/// How large a sample may be.
#[derive(Debug, Clone, Copy)]
pub struct SampleSize {
    /// Items, at most.
    pub items: usize,
    /// Bytes of them, at most.
    pub bytes: usize,
    /// From how many places of the ring they come, where they are not all.
    pub places: u32,
}

/// Some items of a container.
#[derive(Default)]
pub struct ItemSample {
    /// The items, in the order of their hashed keys.
    pub items: Vec<Item>,
    /// Whether these are all there are.
    pub is_whole: bool,
}

impl Engine {
    /// Returns some items of a container.
    pub async fn sample_items(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        size: SampleSize,
    ) -> Result<ItemSample> {
        caller.access.check_account(Action::Read)?;
        let (container, caller) = (container.clone(), caller.clone());
        blocking::run("sample", move || take(&container, &caller, size)).await?
    }
}

fn take(container: &ContainerHandle, caller: &Caller, size: SampleSize) -> Result<ItemSample> {
    let usage = container.usage(caller)?;
    let is_small = usage.items <= size.items as u64 && usage.bytes <= size.bytes as u64;
    let places = if is_small { 1 } else { size.places.max(1) };
    let version = container.definition().partition_key.version;
    let mut bounds = vec![HashedKey::MIN];
    bounds.extend(initial_bounds(places, version));
    bounds.push(HashedKey::MAX);
    let mut sample = ItemSample { items: Vec::new(), is_whole: is_small };
    let of_place = match is_small {
        // It may have grown meanwhile.
        true => SampleSize { items: 2 * size.items, bytes: 2 * size.bytes, places },
        false => SampleSize {
            items: size.items.div_ceil(places as usize),
            bytes: size.bytes.div_ceil(places as usize),
            places,
        },
    };
    for place in bounds.windows(2) {
        let scope = ListScope::Range { id: None, min: Some(place[0].clone()), max: Some(place[1].clone()) };
        sample.is_whole &= take_place(container, caller, &scope, of_place, &mut sample.items)?;
    }
    Ok(sample)
}

/// Takes items of one part of the ring, and says whether these are all of it.
fn take_place(
    container: &ContainerHandle,
    caller: &Caller,
    scope: &ListScope,
    size: SampleSize,
    items: &mut Vec<Item>,
) -> Result<bool> {
    let translated = |error| container.translate(error);
    let paths = &container.definition().partition_key.paths;
    let key = |item: &Item| extract(item.stored().root(), paths);
    let (start, mut bytes) = (items.len(), 0);
    for reader in container.container().readers(scope, &caller.session).map_err(translated)? {
        let mut after = None;
        let mut found = Vec::with_capacity(SCAN_ITEMS);
        loop {
            found.clear();
            let more = reader.scan(after.as_deref(), SCAN_ITEMS, &mut found).map_err(translated)?;
            for (at, item) in found.drain(..) {
                bytes += item.stored().text_bytes().len();
                items.push(item);
                if items.len() - start >= size.items || bytes >= size.bytes {
                    // The last logical partition may be cut off; it goes, unless there is no other.
                    let last = items.last().map(key);
                    let cut = items[start..].iter().rposition(|item| Some(key(item)) != last);
                    if let Some(cut) = cut {
                        items.truncate(start + cut + 1);
                    }
                    return Ok(false);
                }
                after = Some(at);
            }
            if !more {
                break;
            }
        }
    }
    Ok(true)
}
