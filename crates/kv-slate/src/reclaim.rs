//! Giving back what dropped spaces took.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use armilla_kv::Result;
use futures_util::stream::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::clones;
use crate::failure;
use crate::limits::{DELETES_AT_ONCE, RECLAIM_PAUSE};
use crate::place::{Place, id_of};
use crate::spaces::Shared;

/// Returns the dropped spaces of which something may be left.
pub(crate) async fn unfinished(place: &Place) -> Result<Vec<u64>> {
    let marks = place.objects().list(Some(&place.path(&["dropping"])));
    let ids = marks.try_filter_map(async |mark| Ok(id_of(&mark.location)));
    let ids: Vec<u64> =
        ids.try_collect().await.map_err(|error| failure::of_objects("list what is dropped", &error))?;
    for id in &ids {
        // The process that dropped it may have ended between the two marks.
        place.mark(&place.dropped(*id), "").await?;
    }
    Ok(ids)
}

/// Deletes the objects of dropped spaces, until the store ends.
pub(crate) async fn run(shared: Arc<Shared>) {
    loop {
        let ids: Vec<u64> = shared.reclaiming.lock().iter().copied().collect();
        for id in ids {
            match reclaim(&shared, id).await {
                Ok(true) => {
                    shared.reclaiming.lock().remove(&id);
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(space = id, %error, "a dropped space is not deleted yet"),
            }
        }
        // Early if another is dropped. Those that could not be deleted are tried again in any case.
        let _ = tokio::time::timeout(RECLAIM_PAUSE, shared.reclaim.notified()).await;
    }
}

/// Deletes what is left of a dropped space. Returns false while it is still read, or others name its files.
async fn reclaim(shared: &Shared, id: u64) -> Result<bool> {
    let space = shared.state(id);
    if space.pins.load(Ordering::Acquire) > 0 {
        return Ok(false);
    }
    if let Err(error) = shared.close_space(&space, failure::dropped(id)).await {
        // Nothing of it is wanted; what it could still write is deleted below, or by the next store.
        tracing::debug!(space = id, %error, "the tree of a dropped space did not close");
    }
    if clones::is_named(&shared.place, id).await? {
        return Ok(false);
    }
    clones::let_go(&shared.place, id).await?;
    delete_all(&shared.place, &shared.place.space(id)).await?;
    let mark = shared.place.objects().delete(&shared.place.dropping(id)).await;
    match mark {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(true),
        Err(error) => Err(failure::of_objects("delete a mark", &error)),
    }
}

/// Deletes every object under a prefix.
pub(crate) async fn delete_all(place: &Place, prefix: &Path) -> Result<()> {
    let objects = place.objects();
    let deletes = objects.list(Some(prefix)).map_ok(|object| async move {
        match objects.delete(&object.location).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    });
    deletes
        .try_buffer_unordered(DELETES_AT_ONCE)
        .try_collect::<()>()
        .await
        .map_err(|error| failure::of_objects("delete what is dropped", &error))
}
