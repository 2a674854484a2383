//! Changing an offer while what it is for is in use.
//!
//! What fits the physical partitions there are holds from the running second on. What needs more of them is stored at
//! once, is used as far as the partitions serve it, and counts as pending until the last of them was made; so long, it
//! cannot be changed again. Lowering it never takes partitions away.

use armilla_value::Value;

use super::Offer;
use crate::access::{Action, Caller};
use crate::error::{Error, Result};
use crate::open::Engine;
use crate::resource::{self, Answer, Resource, ResourceKind, ResourcePrecondition};
use crate::supply::Consumption;
use crate::throughput::{Past, Throughput};
use crate::tree::{Change, etag};

/// Another kind of throughput that an offer is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// From manual to autoscale.
    ToAutoscale,
    /// From autoscale to manual.
    ToManual,
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
        let consumption = Consumption::whole(&containers)?;
        Ok(OfferState {
            pending: containers.iter().any(|container| container.is_pending()),
            minimum: offer.throughput.minimum(&offer.past(&consumption)),
        })
    }

    /// Sets the throughput of an offer from its whole resource. The kind of throughput stays, unless the offer is to be
    /// migrated: then what it is set to follows from what it was.
    pub async fn replace_offer(
        &self,
        caller: &Caller,
        rid: &str,
        body: &Value,
        precondition: ResourcePrecondition,
        migrate: Option<Migration>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        let mut writer = self.writer().await;
        let (mut offer, containers) = self.offer_and_containers(rid)?;
        precondition.check(etag(ResourceKind::Offer, offer.version))?;
        if containers.iter().any(|container| container.is_pending()) {
            return Err(Error::locked(
                "the throughput of this resource is being changed already: partitions are still being made for it",
            ));
        }
        let consumption = Consumption::whole(&containers)?;
        let past = offer.past(&consumption);
        let throughput = match (migrate, offer.throughput) {
            (None, current) => read_content(body, current)?,
            (Some(Migration::ToAutoscale), manual @ Throughput::Manual(_)) => manual.to_autoscale(&past),
            (Some(Migration::ToManual), autoscale @ Throughput::Autoscale { .. }) => autoscale.to_manual(),
            (Some(Migration::ToAutoscale), Throughput::Autoscale { .. }) => {
                return Err(Error::invalid("the offer is an autoscale offer already"));
            }
            (Some(Migration::ToManual), Throughput::Manual(_)) => {
                return Err(Error::invalid("the offer has manual throughput already"));
            }
        };
        throughput.validate()?;
        if containers.iter().any(|container| container.is_fixed()) {
            throughput.validate_fixed(self.limits())?;
        }
        let minimum = throughput.minimum(&past);
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
        let answer = resource::written(offer.resource(&consumption));
        let mut tree = self.tree_mut();
        tree.supply(&offer, self.limits(), self.env().clock.now_ms());
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

fn read_content(body: &Value, current: Throughput) -> Result<Throughput> {
    let content = body.get("content").ok_or_else(|| Error::invalid("the offer has no 'content'"))?;
    let positive = |value: &Value, name: &str| {
        value
            .as_i64()
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| Error::invalid(format!("the offer's '{name}' must be a positive whole number")))
    };
    let settings = content.get("offerAutopilotSettings").filter(|settings| !settings.is_null());
    match (current, settings) {
        (Throughput::Autoscale { .. }, Some(settings)) => {
            let max = settings.get("maxThroughput").ok_or_else(|| {
                Error::invalid("the offer's 'content.offerAutopilotSettings' has no 'maxThroughput'")
            })?;
            let increment = settings
                .get("autoUpgradePolicy")
                .and_then(|policy| policy.get("throughputPolicy"))
                .and_then(|policy| policy.get("incrementPercent"));
            Ok(Throughput::Autoscale {
                max: positive(max, "maxThroughput")?,
                increment_percent: increment.map(|value| positive(value, "incrementPercent")).transpose()?,
            })
        }
        (Throughput::Manual(_), None) => {
            let value = content
                .get("offerThroughput")
                .ok_or_else(|| Error::invalid("the offer's 'content' has no 'offerThroughput'"))?;
            Ok(Throughput::Manual(positive(value, "offerThroughput")?))
        }
        (Throughput::Autoscale { .. }, None) => Err(Error::invalid(
            "the offer is an autoscale offer: 'content.offerAutopilotSettings' is missing",
        )),
        (Throughput::Manual(_), Some(_)) => Err(Error::invalid(
            "the offer has manual throughput: 'content.offerAutopilotSettings' cannot be set by a replace",
        )),
    }
}
