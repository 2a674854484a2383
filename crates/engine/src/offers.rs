//! Offers: the throughput that a database or container was given, as a resource.
//!
//! In this folder: changing it (`replace`), what some requests may use of it (`buckets`). Not here: what follows from it for containers (`supply`).

mod buckets;
mod offer;
mod replace;

use armilla_container::ETag;
use std::sync::Arc;

use armilla_value::rid::OfferRid;

use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::resource::{
    self, Answer, Content, Feed, OfferContent, Resource, ResourceKind, check_modified, etag,
};
use crate::supply::Consumption;
use crate::tree::{Page, Tree, page_of};

pub(crate) use offer::Offer;
pub use replace::{Migration, OfferChange, OfferState};

impl Engine {
    /// Lists the offers, oldest first.
    pub fn list_offers(
        &self,
        caller: &Caller,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let far = self.far_figures_now();
        let tree = self.tree();
        let (offers, continuation) = page_of(&tree.offers, &Page::new(count_max, continuation)?);
        // Partitions that no request has used since the start are not opened for a list.
        let resources = offers
            .into_iter()
            .map(|offer| resource_of(offer, &Consumption::seen(&tree.containers_of(offer), &far)))
            .collect();
        Ok(resource::feed(String::new(), resources, continuation))
    }

    /// Reads an offer.
    pub fn read_offer(&self, caller: &Caller, rid: &str, known: Option<ETag>) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Read)?;
        let (offer, containers) = self.offer_and_containers(rid)?;
        check_modified(known, etag(ResourceKind::Offer, offer.version))?;
        Ok(resource::read(resource_of(&offer, &Consumption::whole(&containers, &self.far_figures_now())?)))
    }

    /// Returns an offer with the containers that draw on it.
    fn offer_and_containers(&self, rid: &str) -> Result<(Offer, Vec<Arc<ContainerHandle>>)> {
        let tree = self.tree();
        let offer = find(&tree, rid)?;
        Ok((offer.clone(), tree.containers_of(offer)))
    }
}

/// Finds an offer by its resource id.
pub(crate) fn find<'t>(tree: &'t Tree, rid: &str) -> Result<&'t Offer> {
    OfferRid::parse(rid)
        .and_then(|rid| tree.offers.get(&rid.number()))
        .ok_or_else(|| Error::not_found(ResourceKind::Offer, rid))
}

/// Shows an offer.
fn resource_of(offer: &Offer, consumption: &Consumption) -> Resource {
    let rid = offer.rid();
    Resource {
        kind: ResourceKind::Offer,
        id: rid.clone(),
        self_link: format!("offers/{rid}/"),
        rid,
        parent_rid: String::new(),
        etag: etag(ResourceKind::Offer, offer.version),
        ts: offer.version.ts,
        content: Content::Offer(OfferContent {
            resource_link: offer.resource_link.clone(),
            resource_rid: offer.resource_rid.clone(),
            throughput: offer.throughput,
            current: offer.throughput.reported(consumption.used_part),
            highest_ever: offer.highest_ever,
            stored_ever_kb: offer.stored_ever_kb.max(consumption.stored_kb()),
            is_pending: consumption.is_pending,
        }),
    }
}
