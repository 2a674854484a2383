//! The engine: what all operations of an account share.
//!
//! Not here: the operations, each in the file of its subject.

use std::sync::{Arc, Weak};
use std::time::Duration;

use armilla_container::{KnownNumbers, Limits, SharedBudgets, Whereabouts};
use armilla_env::Env;
use armilla_governor::Policy;
use armilla_kv::{Batch, Family, SpaceId, Store};
use armilla_ledger::Ledger;
use armilla_script::Workers;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::backups::Backups;
use crate::changes::Feeds;
use crate::consistency::Consistency;
use crate::containers::ground::Ground;
use crate::containers::{Common, ContainerHandle};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::ScriptTurns;
use crate::neighbours::Neighbours;
use crate::queries::QueryLanes;
use crate::record::{self, tag};
use crate::token::TokenMint;
use crate::tree::{Tree, Writer, WriterGuard};

/// An account: its resource tree and all operations on it. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// Held by the one change of the tree that is under way, until the change is stored.
pub(crate) type WriterLock = tokio::sync::Mutex<Writer>;

pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    pub(crate) limits: Arc<Limits>,
    /// The account as one of several processes sees it, where others serve it as well.
    pub(crate) among: Option<Arc<dyn Neighbours>>,
    /// What is known of item numbers, in all containers.
    pub(crate) known_numbers: Arc<KnownNumbers>,
    pub(crate) consistency: Consistency,
    pub(crate) tokens: TokenMint,
    pub(crate) tree: RwLock<Tree>,
    pub(crate) writer: WriterLock,
    /// How many threads the machine runs at the same time.
    pub(crate) cores: usize,
    /// The places of queries.
    pub(crate) query_lanes: QueryLanes,
    /// Those of queries with user-defined functions.
    pub(crate) function_lanes: QueryLanes,
    /// Scripts that may, which are not to take the turns of queries.
    pub(crate) script_turns: ScriptTurns,
    /// What all containers have in common.
    pub(crate) common: Common,
    /// What the readers of change feeds share.
    pub(crate) feeds: Feeds,
    /// Backups that are being read.
    pub(crate) backups: Backups,
    pub(crate) script_time: Duration,
    pub(crate) policy: Policy,
    /// What was asked of the account.
    pub(crate) ledger: Arc<Ledger>,
    /// Whether containers are tended.
    pub(crate) background: bool,
    /// Transactions that callers may hold open.
    pub(crate) open_transactions: Arc<tokio::sync::Semaphore>,
    /// Splits and merges that may be carried out at the same time.
    pub(crate) reshape_turns: Arc<tokio::sync::Semaphore>,
}

/// An engine that may have been dropped meanwhile.
#[derive(Clone)]
pub(crate) struct WeakEngine(Weak<Shared>);

impl WeakEngine {
    /// Takes hold of the engine, if there still is one.
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(|shared| Engine { shared })
    }
}

impl Drop for Shared {
    /// Ends the background tasks of an engine that was not closed.
    fn drop(&mut self) {
        let tree = self.tree.get_mut();
        for container in tree.databases.iter().flat_map(|database| database.containers.iter()) {
            container.reindexing().stop();
            container.reshaping().stop();
            container.end();
        }
    }
}

impl Engine {
    /// Returns the account's consistency level.
    pub fn consistency(&self) -> Consistency {
        self.shared.consistency
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Gives the bytes of deleted containers back to the store. The resource tree does not name them any more.
    pub(crate) async fn drop_spaces(&self, spaces: &[SpaceId]) -> Result<()> {
        let mut batch = Batch::new();
        for space in spaces {
            // One that is another process's is dropped by that one, when it learns of it.
            let is_far =
                |among: &Arc<dyn Neighbours>| matches!(among.nodes().find(*space), Whereabouts::At(_));
            if self.among().is_some_and(is_far) {
                continue;
            }
            self.shared.store.drop_space(*space)?;
            batch.delete(Family::Meta, record::key(tag::SPACE_TO_DROP, &space.0.to_be_bytes()));
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.writer().await?.store(batch).await
    }

    pub(crate) fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.shared))
    }

    /// Returns all containers of all databases.
    pub(crate) fn all_containers(&self) -> Vec<Arc<ContainerHandle>> {
        self.tree().databases.iter().flat_map(|database| database.containers.iter().cloned()).collect()
    }

    /// Returns what changes the tree, if it is not in use just now.
    pub(crate) fn idle_writer(&self) -> Option<tokio::sync::MutexGuard<'_, Writer>> {
        self.shared.writer.try_lock().ok()
    }

    /// Returns whether containers have background work done for them.
    pub(crate) fn has_background_work(&self) -> bool {
        self.shared.background
    }

    pub(crate) fn open_transactions(&self) -> &Arc<tokio::sync::Semaphore> {
        &self.shared.open_transactions
    }

    pub(crate) fn reshape_turns(&self) -> Arc<tokio::sync::Semaphore> {
        self.shared.reshape_turns.clone()
    }

    pub(crate) fn policy(&self) -> Policy {
        self.shared.policy
    }

    /// Returns the budgets of a database with throughput.
    pub(crate) fn shared_budgets(&self, throughput: u32) -> SharedBudgets {
        SharedBudgets::new(throughput, self.limits(), self.policy())
    }

    /// Returns the clock and the randomness that it uses.
    pub fn env(&self) -> &Env {
        &self.shared.env
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    pub(crate) fn limits_arc(&self) -> &Arc<Limits> {
        &self.shared.limits
    }

    pub(crate) fn tokens(&self) -> &TokenMint {
        &self.shared.tokens
    }

    pub(crate) fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.shared.tree.read()
    }

    pub(crate) fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.shared.tree.write()
    }

    /// Returns the places of a query.
    pub(crate) fn query_lanes(&self, calls_functions: bool) -> &QueryLanes {
        if calls_functions { &self.shared.function_lanes } else { &self.shared.query_lanes }
    }

    /// Returns how many cores no query runs on.
    pub(crate) fn idle_cores(&self) -> usize {
        self.shared.cores.saturating_sub(self.shared.query_lanes.computing())
    }

    pub(crate) fn script_workers(&self) -> &Workers {
        &self.shared.common.script_workers
    }

    pub(crate) fn feeds(&self) -> &Feeds {
        &self.shared.feeds
    }

    pub(crate) fn backups(&self) -> &Backups {
        &self.shared.backups
    }

    pub(crate) fn script_turns(&self) -> &ScriptTurns {
        &self.shared.script_turns
    }

    /// Returns how long a script may run.
    pub(crate) fn script_time(&self) -> Duration {
        self.shared.script_time
    }

    /// Waits until nothing else changes the tree. Where several processes serve the account, this one's copy of the tree is
    /// as new as it can be from then on.
    pub(crate) async fn writer(&self) -> Result<WriterGuard<'_>> {
        let lock = match &self.shared.among {
            Some(among) => Some(among.clone().lock_tree().await?),
            None => None,
        };
        Ok(WriterGuard::new(self.own_writer().await, lock))
    }

    /// Waits until nothing else of this process changes the tree, or its copy of it.
    pub(crate) async fn own_writer(&self) -> tokio::sync::MutexGuard<'_, Writer> {
        self.shared.writer.lock().await
    }

    pub(crate) fn among(&self) -> Option<&Arc<dyn Neighbours>> {
        self.shared.among.as_ref()
    }

    /// Refuses what reads the tree where its copy may be old.
    pub(crate) fn check_in_touch(&self) -> Result<()> {
        match &self.shared.among {
            Some(among) if !among.is_in_touch() => Err(Error::new(
                ErrorKind::Unavailable,
                "this node has lost touch with the one that keeps the resource tree: ask another, or try again",
            )),
            _ => Ok(()),
        }
    }

    /// Returns what every container stands on.
    pub(crate) fn ground(&self) -> Ground {
        Ground {
            store: self.store().clone(),
            env: self.env().clone(),
            limits: self.shared.limits.clone(),
            policy: self.policy(),
            common: self.shared.common.clone(),
            known_numbers: self.shared.known_numbers.clone(),
            peers: self.shared.among.as_ref().map(|among| among.peers()),
        }
    }
}
