//! Spaces that are to be dropped, and whose process has ended before it did.
//!
//! The keeper looks at the notes of such spaces from time to time. One that no container names and no process has, for long
//! enough that readers of it are done, it drops itself.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_container::Whereabouts;
use armilla_kv::SpaceId;

use super::Among;
use crate::engine::{Engine, WeakEngine};
use crate::limits::{LEFTOVER_LOOKS, LEFTOVERS_PERIOD};
use crate::record::{ROOT_SPACE, tag};

impl Among {
    /// Looks for what is left over, as long as there is an engine.
    pub(crate) async fn drop_leftovers(self: Arc<Self>, engine: WeakEngine) {
        let mut seen: HashMap<SpaceId, u32> = HashMap::new();
        loop {
            self.env.clock.sleep(LEFTOVERS_PERIOD).await;
            let Some(engine) = engine.upgrade() else { return };
            if !matches!(self.nodes.find(ROOT_SPACE), Whereabouts::Here { .. }) {
                seen.clear();
                continue;
            }
            let left = self.left_over(&engine);
            seen.retain(|space, _| left.contains(space));
            for space in left {
                *seen.entry(space).or_default() += 1;
            }
            let due: Vec<SpaceId> =
                seen.iter().filter(|(_, looks)| **looks > LEFTOVER_LOOKS).map(|(space, _)| *space).collect();
            if due.is_empty() {
                continue;
            }
            match engine.drop_spaces(&due).await {
                Ok(()) => tracing::info!(spaces = due.len(), "what a node that ended has left is dropped"),
                Err(error) => tracing::warn!(%error, "what a node that ended has left is not dropped yet"),
            }
        }
    }

    /// Returns the spaces with a note that nothing names and no process has.
    fn left_over(&self, engine: &Engine) -> Vec<SpaceId> {
        let containers = engine.all_containers();
        let maps = containers.iter().flat_map(|container| container.container().map().ranges);
        let named: Vec<SpaceId> = maps.map(|range| range.space).collect();
        let noted = self.copy.lock().keys_of(tag::SPACE_TO_DROP);
        let spaces =
            noted.into_iter().filter_map(|rest| Some(SpaceId(u64::from_be_bytes(rest.try_into().ok()?))));
        spaces
            .filter(|space| !named.contains(space) && matches!(self.nodes.find(*space), Whereabouts::Nowhere))
            .collect()
    }
}
