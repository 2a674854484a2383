//! Offers: the throughput that a database or container was given, as a resource.
//!
//! Not here: changing it (`replace`), and what follows from it for containers (`supply`).

mod replace;

use std::sync::Arc;

use armilla_value::rid::OfferRid;
use armilla_value::{Object, Value};
use bytes::Bytes;

use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::error::{Error, Result};
use crate::open::Engine;
use crate::record::{self, Record, Version, tag};
use crate::resource::{self, Answer, Feed, Resource, ResourceKind, check_modified};
use crate::supply::Consumption;
use crate::throughput::Throughput;
use crate::tree::{Change, Page, Tree, etag, page_of};

pub use replace::{Migration, OfferState};

/// The throughput of one database or container.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) number: u32,
    /// The link of what it is for.
    pub(crate) resource_link: String,
    /// The resource id of what it is for.
    pub(crate) resource_rid: String,
    pub(crate) throughput: Throughput,
    /// The most that was ever provisioned, which bounds how little may be.
    pub(crate) highest_ever: u32,
    /// The most that was stored whenever it was changed.
    pub(crate) stored_ever_kb: u64,
    pub(crate) version: Version,
}

impl Offer {
    /// Adds an offer to a change of the tree.
    pub(crate) fn create(
        change: &mut Change<'_>,
        resource_link: &str,
        resource_rid: &str,
        throughput: Throughput,
    ) -> Result<Offer> {
        change.counters.offer += 1;
        let number = change.counters.offer;
        if OfferRid::new(number).is_none() {
            return Err(Error::invalid("the account has no resource ids for offers left"));
        }
        let offer = Offer {
            number,
            resource_link: resource_link.to_owned(),
            resource_rid: resource_rid.to_owned(),
            throughput,
            highest_ever: throughput.max(),
            stored_ever_kb: 0,
            version: change.version,
        };
        change.put(Offer::key(number), offer.encode());
        Ok(offer)
    }

    pub(crate) fn key(number: u32) -> Bytes {
        record::key(tag::OFFER, &number.to_be_bytes())
    }

    fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        object.insert("resource", self.resource_link.as_str());
        object.insert("rid", self.resource_rid.as_str());
        object.insert("highestEver", i64::from(self.highest_ever));
        object.insert("storedEverKb", self.stored_ever_kb as i64);
        record::put_throughput(&mut object, self.throughput);
        record::encode(object)
    }

    pub(crate) fn decode(number: u32, bytes: &[u8]) -> Result<Offer> {
        let record = Record::decode(bytes, "an offer")?;
        Ok(Offer {
            number,
            resource_link: record.text("resource")?,
            resource_rid: record.text("rid")?,
            throughput: record.throughput()?,
            highest_ever: record.number("highestEver")?,
            // Older versions did not keep it.
            stored_ever_kb: match record.find("storedEverKb") {
                Some(_) => record.number("storedEverKb")?,
                None => 0,
            },
            version: record.version()?,
        })
    }

    fn rid(&self) -> String {
        OfferRid::new(self.number).map(|rid| rid.to_string()).unwrap_or_default()
    }

    fn resource(&self, consumption: &Consumption) -> Resource {
        let rid = self.rid();
        let mut content = Object::default();
        let reported = self.throughput.reported(consumption.used_part);
        content.insert("offerThroughput", i64::from(reported));
        match self.throughput {
            Throughput::Manual(_) => {}
            Throughput::Autoscale { max, increment_percent } => {
                let mut settings = Object::default();
                settings.insert("tier", 0i64);
                settings.insert("maximumTierThroughput", i64::from(max));
                settings.insert("autoUpgrade", false);
                settings.insert("maxThroughput", i64::from(max));
                if let Some(percent) = increment_percent {
                    let mut policy = Object::default();
                    policy.insert("incrementPercent", i64::from(percent));
                    let mut upgrade = Object::default();
                    upgrade.insert("throughputPolicy", Value::Object(policy));
                    settings.insert("autoUpgradePolicy", Value::Object(upgrade));
                }
                content.insert("offerAutopilotSettings", Value::Object(settings));
            }
        }
        content.insert("offerIsRUPerMinuteThroughputEnabled", false);
        let mut minimum = Object::default();
        minimum.insert("maxThroughputEverProvisioned", i64::from(self.highest_ever));
        let stored_kb = self.stored_ever_kb.max(consumption.stored_kb());
        minimum.insert("maxConsumedStorageEverInKB", i64::try_from(stored_kb).unwrap_or(i64::MAX));
        content.insert("offerMinimumThroughputParameters", Value::Object(minimum));
        let mut body = Object::default();
        body.insert("id", rid.as_str());
        body.insert("resource", self.resource_link.as_str());
        body.insert("offerType", "Invalid");
        body.insert("offerResourceId", self.resource_rid.as_str());
        body.insert("offerVersion", "V2");
        body.insert("content", Value::Object(content));
        Resource {
            kind: ResourceKind::Offer,
            id: rid.clone(),
            self_link: format!("offers/{rid}/"),
            rid,
            parent_rid: String::new(),
            etag: etag(ResourceKind::Offer, self.version),
            ts: self.version.ts,
            body,
        }
    }
}

impl Engine {
    /// Lists the offers, oldest first.
    pub fn list_offers(
        &self,
        caller: &Caller,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        caller.access.check_account(Action::Read)?;
        let tree = self.tree();
        let (offers, continuation) = page_of(&tree.offers, &Page::new(count_max, continuation)?);
        // Partitions that nobody has used since the start are not opened for a list.
        let resources = offers
            .into_iter()
            .map(|offer| offer.resource(&Consumption::seen(&tree.containers_of(offer))))
            .collect();
        Ok(resource::feed(String::new(), resources, continuation))
    }

    /// Reads an offer.
    pub fn read_offer(
        &self,
        caller: &Caller,
        rid: &str,
        known: Option<crate::ETag>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Read)?;
        let (offer, containers) = self.offer_and_containers(rid)?;
        check_modified(known, etag(ResourceKind::Offer, offer.version))?;
        Ok(resource::read(offer.resource(&Consumption::whole(&containers)?)))
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
