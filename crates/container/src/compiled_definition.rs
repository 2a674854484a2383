//! A definition with what is derived from it once and used by every write, and the one that holds now.

use std::sync::Arc;

use armilla_index::Matcher;
use armilla_value::{Node, Value};
use parking_lot::RwLock;

use crate::computed::ComputedProperties;
use crate::definition::ContainerDefinition;
use crate::index::layout::Layout;
use crate::index::state::IndexState;
use crate::item::deleted_keys::DeletedKeys;
use crate::item::expiry::Expiry;
use crate::limits::Limits;
use crate::unique::UniqueKeys;

/// A definition with what is derived from it once and used by every write.
#[derive(Clone)]
pub(crate) struct CompiledDefinition {
    pub(crate) definition: Arc<ContainerDefinition>,
    /// Which unique keys writes keep to.
    pub(crate) unique: Arc<UniqueKeys>,
    /// Which entries items are to have in the index.
    pub(crate) layout: Arc<Layout>,
    computed: Option<Arc<dyn ComputedProperties>>,
    /// A key that is the id itself costs no index term of its own.
    pub(crate) partition_key_is_id: bool,
    /// Whether the change log keeps replaced versions.
    pub(crate) keeps_all_versions: bool,
    /// For how many minutes it does.
    retention_minutes: u32,
    /// Logical partitions all of whose items were deleted; none most of the time.
    deleted_keys: Option<Arc<DeletedKeys>>,
}

impl CompiledDefinition {
    pub(crate) fn new(
        definition: ContainerDefinition,
        computed: Option<Arc<dyn ComputedProperties>>,
        limits: &Limits,
    ) -> CompiledDefinition {
        let layout = Arc::new(Layout::of(&definition));
        let paths = &definition.partition_key.paths;
        let key = &definition.partition_key;
        // A container without a key has no term for one either.
        let partition_key_is_id = key.system_key || (paths.len() == 1 && paths[0].names() == ["id"]);
        let own = definition.change_feed_retention_minutes;
        let retention_minutes = own.unwrap_or(limits.continuous_backup_minutes);
        CompiledDefinition {
            unique: Arc::new(UniqueKeys::new(&definition.unique_keys)),
            definition: Arc::new(definition),
            layout,
            computed,
            partition_key_is_id,
            keeps_all_versions: retention_minutes > 0,
            retention_minutes,
            deleted_keys: None,
        }
    }

    /// Returns the compiled indexing policy.
    pub(crate) fn matcher(&self) -> &Matcher {
        &self.layout.matcher
    }

    /// Returns the computed properties of an item, if any have entries in the index.
    pub(crate) fn computed(&self, root: Node<'_>) -> Vec<(String, Option<Value>)> {
        match &self.computed {
            Some(computed) if self.layout.has_computed => computed.evaluate(root),
            _ => Vec::new(),
        }
    }

    /// Returns whether a partition has something to do to get to the layout that is wanted, and can.
    pub(crate) fn needs_reindex(&self, state: &IndexState) -> bool {
        state.needs(&self.layout) && (self.evaluates() || !self.layout.has_computed)
    }

    /// Returns the second since 1970 UTC from which on versions are kept, if all are for a while.
    pub(crate) fn oldest_kept(&self, now: u32) -> Option<u32> {
        let seconds = self.retention_minutes.saturating_mul(60);
        self.keeps_all_versions.then(|| now.saturating_sub(seconds))
    }

    /// Returns how long items live without a time to live of their own; none where items live for ever whatever they say.
    pub(crate) fn default_ttl(&self) -> Option<i32> {
        self.definition.default_ttl
    }

    /// Returns what tells, as of a second since 1970 UTC, which items have expired.
    pub(crate) fn expiry(&self, now: u32) -> Expiry {
        Expiry::new(self.default_ttl(), now, self.deleted_keys.clone())
    }

    /// Returns the logical partitions all of whose items were deleted, if there are any.
    pub(crate) fn deleted_keys(&self) -> Option<&DeletedKeys> {
        self.deleted_keys.as_deref()
    }

    /// Returns whether an item may be stored that no reader sees.
    pub(crate) fn may_hide(&self) -> bool {
        self.default_ttl().is_some() || self.deleted_keys.is_some()
    }

    /// Returns whether computed properties can be evaluated.
    pub(crate) fn evaluates(&self) -> bool {
        self.computed.is_some()
    }
}

/// The compiled definition that holds now. A task that must not act on an older one keeps this rather than one of them.
pub(crate) struct CurrentDefinition(RwLock<Arc<CompiledDefinition>>);

impl CurrentDefinition {
    pub(crate) fn new(compiled: CompiledDefinition) -> CurrentDefinition {
        CurrentDefinition(RwLock::new(Arc::new(compiled)))
    }

    /// Returns it.
    pub(crate) fn get(&self) -> Arc<CompiledDefinition> {
        self.0.read().clone()
    }

    /// Puts another in its place; what was deleted stays deleted.
    pub(crate) fn set(&self, compiled: CompiledDefinition) {
        let mut current = self.0.write();
        let deleted_keys = current.deleted_keys.clone();
        // Where its keys are the same, they are seen to have been so all along.
        let unique = match current.unique == compiled.unique {
            true => current.unique.clone(),
            false => compiled.unique.clone(),
        };
        *current = Arc::new(CompiledDefinition { deleted_keys, unique, ..compiled });
    }

    /// Changes which logical partitions were deleted.
    pub(crate) fn change_deleted_keys(&self, change: impl FnOnce(&mut DeletedKeys)) {
        let mut current = self.0.write();
        let mut keys = current.deleted_keys.as_deref().cloned().unwrap_or_default();
        change(&mut keys);
        let deleted_keys = (!keys.is_empty()).then(|| Arc::new(keys));
        *current = Arc::new(CompiledDefinition { deleted_keys, ..(**current).clone() });
    }
}
