//! Changing an offer while what it is for is in use.
//!
//! What fits the physical partitions there are holds from the running second on. What needs more of them is stored at
//! once, is used as far as the partitions serve it, and counts as pending until the last of them was made; so long, it
//! cannot be changed again. Lowering it never takes partitions away.

use super::{Offer, resource_of};
use crate::access::{Action, Caller};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::resource::{self, Answer, Resource, ResourceKind, ResourcePrecondition, etag};
use crate::supply::Consumption;
use crate::throughput::{Past, Throughput};
use crate::tree::Change;

/// Another kind of throughput that an offer is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// From manual to autoscale.
    ToAutoscale,
    /// From autoscale to manual.
    ToManual,
}

/// What is to become of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferChange {
    /// Other throughput of the same kind.
    Set(Throughput),
    /// Another kind of throughput; how much follows from what it was.
    Migrate(Migration),
}

/// What is known of an offer beside its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferState {
    /// Whether physical partitions are still being made for it.
    pub pending: bool,
    /// The least throughput that it may be set to.
    pub minimum: u32,
}

impl Engine {
    /// Returns whether an offer is carried out, and the least throughput that it may be set to.
    pub fn offer_state(&self, rid: &str) -> Result<OfferState> {
        let (offer, containers) = self.offer_and_containers(rid)?;
        let consumption = Consumption::whole(&containers, &self.far_figures_now())?;
        Ok(OfferState {
            pending: containers.iter().any(|container| container.is_pending()),
            minimum: offer.throughput.minimum(&offer.past(&consumption), self.limits()),
        })
    }

    /// Changes the throughput of an offer.
    pub async fn replace_offer(
        &self,
        caller: &Caller,
        rid: &str,
        wanted: OfferChange,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        let mut writer = self.writer().await?;
        let (mut offer, containers) = self.offer_and_containers(rid)?;
        precondition.check(etag(ResourceKind::Offer, offer.version))?;
        if containers.iter().any(|container| container.is_pending()) {
            return Err(Error::locked(
                "the throughput of this resource is being changed already: partitions are still being made for it",
            ));
        }
        let mut consumption = Consumption::whole(&containers, &self.far_figures_now())?;
        let past = offer.past(&consumption);
        let throughput = match (wanted, offer.throughput) {
            (OfferChange::Set(throughput @ Throughput::Manual(_)), Throughput::Manual(_))
            | (OfferChange::Set(throughput @ Throughput::Autoscale { .. }), Throughput::Autoscale { .. }) => {
                throughput
            }
            (OfferChange::Set(Throughput::Manual(_)), Throughput::Autoscale { .. }) => {
                return Err(Error::invalid(
                    "the offer is an autoscale offer: 'content.offerAutopilotSettings' is missing",
                ));
            }
            (OfferChange::Set(Throughput::Autoscale { .. }), Throughput::Manual(_)) => {
                return Err(Error::invalid(
                    "the offer has manual throughput: 'content.offerAutopilotSettings' cannot be set by a replace",
                ));
            }
            (OfferChange::Migrate(Migration::ToAutoscale), manual @ Throughput::Manual(_)) => {
                manual.to_autoscale(&past)
            }
            (OfferChange::Migrate(Migration::ToManual), autoscale @ Throughput::Autoscale { .. }) => {
                autoscale.to_manual()
            }
            (OfferChange::Migrate(Migration::ToAutoscale), Throughput::Autoscale { .. }) => {
                return Err(Error::invalid("the offer is an autoscale offer already"));
            }
            (OfferChange::Migrate(Migration::ToManual), Throughput::Manual(_)) => {
                return Err(Error::invalid("the offer has manual throughput already"));
            }
        };
        throughput.validate()?;
        if containers.iter().any(|container| container.is_fixed()) {
            throughput.validate_fixed(self.limits())?;
        }
        let minimum = throughput.minimum(&past, self.limits());
        if throughput.max() < minimum {
            return Err(Error::invalid(format!(
                "the throughput {} is below the minimum of {minimum} for this resource, which follows from the \
                 highest ever provisioned, {}, from the {} KB that it stores and from how many containers share it",
                throughput.max(),
                offer.highest_ever,
                consumption.stored_kb()
            )));
        }
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        offer.throughput = throughput;
        offer.highest_ever = offer.highest_ever.max(throughput.max());
        offer.stored_ever_kb = offer.stored_ever_kb.max(consumption.stored_kb());
        offer.version = change.version;
        change.put(Offer::key(offer.number), offer.encode());
        change.commit().await?;
        let mut tree = self.tree_mut();
        tree.supply(&offer, self.limits(), self.env().clock.now_ms());
        consumption.is_pending = containers.iter().any(|container| container.is_pending());
        let answer = resource::written(resource_of(&offer, &consumption));
        tree.offers.insert(offer.number, offer);
        Ok(answer)
    }
}

impl Offer {
    /// Returns what bounds how little may be provisioned.
    fn past(&self, consumption: &Consumption) -> Past {
        Past {
            highest_ever: self.highest_ever,
            stored_bytes: consumption.stored_bytes,
            sharing: consumption.sharing,
        }
    }
}
