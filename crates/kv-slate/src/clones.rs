//! Spaces made of ranges of others, without copying: their trees name the sorted files of the other one.
//!
//! A tree that others were made of keeps a checkpoint for each of them, and its objects stay as long as there is one, though
//! nothing may open the tree any more (`reclaim`). SlateDB takes the checkpoint away once the new tree has merged what it
//! had of the old one into files of its own; here it is taken away with a tree that is dropped before.

use std::sync::Arc;
use std::time::Duration;

use armilla_kv::{RangeClone, Result};
use object_store::path::Path;
use slatedb::CloneSourceSpec;
use slatedb::admin::Admin;

use crate::failure;
use crate::keys::tree_bounds;
use crate::place::Place;
use crate::reclaim::delete_all;
use crate::spaces::Shared;
use crate::view::View;

/// How long a moment is kept of which trees are made. Each has a checkpoint of its own when it is made.
const MAKING_TIME: Duration = Duration::from_secs(3_600);

/// Makes new trees of ranges of another, and returns the view of that at the moment that they show.
pub(crate) async fn make(shared: Arc<Shared>, from: u64, clones: Vec<RangeClone>) -> Result<View> {
    let (checkpoint, view) = shared.checkpoint(from, MAKING_TIME).await?;
    for RangeClone { space, family, lower, upper } in clones {
        let made = shared.state(space.0);
        // Whoever drops it waits until it is there: what of it is not there yet could not be deleted.
        let _turn = made.turn().await;
        if made.is_dropped() {
            return Err(failure::dropped(space.0));
        }
        let source = CloneSourceSpec::with_checkpoint(shared.place.space(from), checkpoint.id)
            .with_projection_range(tree_bounds(family, &lower, &upper));
        admin(&shared.place, shared.place.space(space.0))
            .create_clone_builder_from_source(source)
            .build()
            .await
            .map_err(|error| failure::of_read(&error))?;
        // Another process may have dropped it, if this one was paused for long.
        if shared.place.has(&shared.place.dropped(space.0)).await? {
            let_go(&shared.place, space.0).await?;
            delete_all(&shared.place, &shared.place.space(space.0)).await?;
            return Err(failure::dropped(space.0));
        }
    }
    Ok(view)
}

/// Returns whether other trees still name files of one.
pub(crate) async fn is_named(place: &Place, id: u64) -> Result<bool> {
    let admin = admin(place, place.space(id));
    if admin.read_manifest(None).await.map_err(|error| failure::of_read(&error))?.is_none() {
        return Ok(false);
    }
    let checkpoints = admin.list_checkpoints(None).await.map_err(|error| failure::of_read(&error))?;
    Ok(checkpoints.iter().any(|checkpoint| checkpoint.expire_time.is_none()))
}

/// Lets go of the trees that one was made of, before it is deleted.
pub(crate) async fn let_go(place: &Place, id: u64) -> Result<()> {
    let manifest = admin(place, place.space(id)).read_manifest(None).await;
    let Some(manifest) = manifest.map_err(|error| failure::of_read(&error))? else { return Ok(()) };
    for other in manifest.external_dbs() {
        let Some(checkpoint) = other.final_checkpoint_id else { continue };
        let admin = admin(place, Path::from(other.path.as_str()));
        // It may be gone with its tree, or have been taken away before.
        if admin.read_manifest(None).await.map_err(|error| failure::of_read(&error))?.is_some() {
            admin.delete_checkpoint(checkpoint).await.map_err(|error| failure::of_read(&error))?;
        }
    }
    Ok(())
}

fn admin(place: &Place, path: Path) -> Admin {
    Admin::builder(path, place.objects().clone()).build()
}
