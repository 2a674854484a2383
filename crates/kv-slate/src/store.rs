//! The store itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_kv::{
    Error, ErrorKind, RangeClone, Result, Snapshot, Space, SpaceId, Store, StoreSnapshot, StoreStats,
};
use armilla_lease::Tenure;
use futures_util::future::join_all;
use object_store::{ObjectStore, ObjectStoreExt};
use parking_lot::{Mutex, RwLock};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use crate::figures::Figures;
use crate::limits::{CLOSE_WAIT, REST_LOOKS, THREADS};
use crate::options::SlateOptions;
use crate::place::{FORMAT_NAME, Place, id_of};
use crate::space::SlateSpace;
use crate::spaces::{Shared, SpaceState};
use crate::view::{AllView, View};
use crate::waiting::answer;
use crate::{clones, failure, reclaim, settings};

/// What is written about the form of a store.
const FORMAT: &str = "armilla 1";

/// A store under a prefix of an object store.
pub struct SlateStore {
    shared: Arc<Shared>,
    tenure: Option<Tenure>,
    /// The threads that do everything that waits.
    runtime: Option<Runtime>,
}

impl SlateStore {
    /// Opens the store at a place, or makes it. Spaces are opened when they are asked for.
    pub fn open(place: Place, options: &SlateOptions) -> Result<SlateStore> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("armilla-slate")
            .enable_all()
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot start threads: {error}")))?;
        let asked = place.clone();
        let reclaiming: BTreeSet<u64> = answer(runtime.handle(), async move {
            check_format(&asked).await?;
            reclaim::unfinished(&asked).await
        })?
        .into_iter()
        .collect();
        let shared = Arc::new(Shared {
            settings: settings::of_trees(options, place.as_folder().is_some()),
            place,
            cache: settings::cache(options),
            durability: options.durability,
            queue_bytes_max: options.queue_bytes_max,
            runtime: runtime.handle().clone(),
            figures: Figures::default(),
            spaces: Mutex::new(HashMap::new()),
            moments: RwLock::new(()),
            reclaiming: Mutex::new(reclaiming),
            reclaim: Notify::new(),
            is_closed: AtomicBool::new(false),
        });
        runtime.spawn(reclaim::run(shared.clone()));
        runtime.spawn(let_rest(shared.clone(), options.rest_after / REST_LOOKS));
        Ok(SlateStore { shared, tenure: options.tenure.clone(), runtime: Some(runtime) })
    }
}

impl Store for SlateStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        self.shared.check_open()?;
        let (state, writer) = answer(&self.shared.runtime, self.shared.clone().open_space(space.0))?;
        Ok(Arc::new(SlateSpace::new(self.shared.clone(), state, writer)))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.shared.check_open()?;
        answer(&self.shared.runtime, self.shared.clone().drop_space(space.0))
    }

    fn release_space(&self, space: SpaceId) -> Result<()> {
        self.shared.check_open()?;
        answer(&self.shared.runtime, self.shared.clone().release_space(space.0))
    }

    fn clone_ranges(&self, from: SpaceId, clones: &[RangeClone]) -> Result<Option<Box<dyn Snapshot>>> {
        self.shared.check_open()?;
        let made = clones::make(self.shared.clone(), from.0, clones.to_vec());
        Ok(Some(Box::new(answer(&self.shared.runtime, made)?)))
    }

    fn snapshot_all(&self) -> Result<Box<dyn StoreSnapshot>> {
        self.shared.check_open()?;
        answer(&self.shared.runtime, open_all(self.shared.clone()))?;
        let _moment = self.shared.moments.write();
        let spaces = self.shared.spaces.lock();
        let open = spaces.values().filter(|space| !space.is_dropped() && space.tree().is_some());
        let views: Result<Vec<View>> = open.map(|space| View::now(&self.shared, space)).collect();
        Ok(Box::new(AllView::new(views?)))
    }

    fn stats(&self) -> StoreStats {
        let figures = &self.shared.figures;
        let of = |figure: &std::sync::atomic::AtomicU64| figure.load(Ordering::Relaxed);
        let trees: Vec<_> = self.shared.spaces.lock().values().filter_map(|space| space.tree()).collect();
        let resting = |space: &Arc<SpaceState>| space.resting().map(|resting| resting.sorted_bytes);
        let at_rest: u64 = self.shared.spaces.lock().values().filter_map(resting).sum();
        StoreStats {
            commits: of(&figures.commits),
            flushes: of(&figures.flushes),
            flush_us: of(&figures.flush_us),
            flush_max_us: of(&figures.flush_max_us),
            stalls: of(&figures.stalls),
            queued_bytes: of(&figures.queued_bytes),
            write_buffer_bytes: trees.iter().map(|tree| tree.memory_bytes()).sum(),
            disk_bytes: trees.iter().map(|tree| tree.sorted_bytes()).sum::<u64>() + at_rest,
            spaces_to_reclaim: self.shared.reclaiming.lock().len() as u64,
            ..StoreStats::default()
        }
    }

    fn is_current(&self) -> bool {
        self.tenure.as_ref().is_none_or(Tenure::is_valid)
    }

    fn close(&self) -> Result<()> {
        if self.shared.is_closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let shared = self.shared.clone();
        answer(&self.shared.runtime, async move {
            let spaces: Vec<_> = shared.spaces.lock().values().cloned().collect();
            let closes = spaces.iter().map(|space| shared.close_space(space, failure::closed()));
            match tokio::time::timeout(CLOSE_WAIT, join_all(closes)).await {
                Ok(outcomes) => outcomes.into_iter().collect(),
                Err(_) => {
                    let seconds = CLOSE_WAIT.as_secs();
                    let message = format!("the object store did not take all within {seconds} seconds");
                    Err(Error::new(ErrorKind::Io, message))
                }
            }
        })
    }
}

impl Drop for SlateStore {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Release);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Closes the trees that nothing asks for, from time to time.
#[expect(clippy::disallowed_methods, reason = "when a tree rests decides nothing but memory")]
async fn let_rest(shared: Arc<Shared>, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        let spaces: Vec<_> = shared.spaces.lock().values().cloned().collect();
        for space in spaces {
            shared.let_rest(&space).await;
        }
    }
}

/// Opens every space that is there, for a reader of all.
async fn open_all(shared: Arc<Shared>) -> Result<()> {
    let place = &shared.place;
    let found = place.objects().list_with_delimiter(Some(&place.path(&["spaces"]))).await;
    let found = found.map_err(|error| failure::of_objects("list the spaces", &error))?;
    for id in found.common_prefixes.iter().filter_map(id_of) {
        match shared.open_for_reading(id).await {
            Ok(_) => {}
            // Its objects are on their way out.
            Err(error) if error.kind() == ErrorKind::SpaceDropped => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Looks at the form of what lies at a place, and writes it down at a new one.
async fn check_format(place: &Place) -> Result<()> {
    let path = place.path(&[FORMAT_NAME]);
    let found = match place.objects().get(&path).await {
        Ok(found) => found.bytes().await.map_err(|error| failure::of_objects("read its format", &error))?,
        Err(object_store::Error::NotFound { .. }) => return place.mark(&path, FORMAT).await,
        Err(error) => return Err(failure::of_objects("read its format", &error)),
    };
    if found == FORMAT.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found).chars().take(40).collect::<String>();
    let message = format!("{place} has the format '{found}', and this version knows '{FORMAT}'");
    Err(Error::new(ErrorKind::NewerFormat, message))
}
