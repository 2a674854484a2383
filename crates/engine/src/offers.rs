//! Offers: the throughput that a database or container was given.

use armilla_value::rid::OfferRid;
use armilla_value::{Object, Value};
use bytes::Bytes;

use crate::access::{Action, Caller};
use crate::error::{Error, Result};
use crate::open::Engine;
use crate::record::{self, Record, Version, tag};
use crate::resource::{self, Answer, Feed, Resource, ResourceKind, ResourcePrecondition, check_modified};
use crate::throughput::Throughput;
use crate::tree::{Change, Page, etag, page_of};

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
            version: record.version()?,
        })
    }

    fn rid(&self) -> String {
        OfferRid::new(self.number).map(|rid| rid.to_string()).unwrap_or_default()
    }

    fn resource(&self) -> Resource {
        let rid = self.rid();
        let mut content = Object::default();
        match self.throughput {
            Throughput::Manual(value) => {
                content.insert("offerThroughput", i64::from(value));
            }
            Throughput::Autoscale { max, increment_percent } => {
                // What is reported while nothing is used.
                content.insert("offerThroughput", i64::from(max / 10));
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
        minimum.insert("maxConsumedStorageEverInKB", 0i64);
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
        let resources = offers.into_iter().map(Offer::resource).collect();
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
        let tree = self.tree();
        let offer = find(&tree, rid)?;
        check_modified(known, etag(ResourceKind::Offer, offer.version))?;
        Ok(resource::read(offer.resource()))
    }

    /// Returns the least throughput that an offer may be set to.
    pub fn minimum_throughput(&self, rid: &str) -> Result<u32> {
        let tree = self.tree();
        let offer = find(&tree, rid)?;
        Ok(offer.throughput.minimum(offer.highest_ever))
    }

    /// Sets the throughput of an offer from its whole resource. The kind of throughput stays.
    pub async fn replace_offer(
        &self,
        caller: &Caller,
        rid: &str,
        body: &Value,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        let mut writer = self.writer().await;
        let mut offer = find(&self.tree(), rid)?.clone();
        precondition.check(etag(ResourceKind::Offer, offer.version))?;
        let throughput = read_content(body, offer.throughput)?;
        throughput.validate()?;
        let minimum = throughput.minimum(offer.highest_ever);
        if throughput.max() < minimum {
            return Err(Error::invalid(format!(
                "the throughput {} is below the minimum of {minimum} for this resource, which follows from the \
                 highest ever provisioned, {}",
                throughput.max(),
                offer.highest_ever
            )));
        }
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        offer.throughput = throughput;
        offer.highest_ever = offer.highest_ever.max(throughput.max());
        offer.version = change.version;
        change.put(Offer::key(offer.number), offer.encode());
        change.commit().await?;
        let answer = resource::written(offer.resource());
        self.tree_mut().offers.insert(offer.number, offer);
        Ok(answer)
    }
}

fn find<'t>(tree: &'t crate::tree::Tree, rid: &str) -> Result<&'t Offer> {
    OfferRid::parse(rid)
        .and_then(|rid| tree.offers.get(&rid.number()))
        .ok_or_else(|| Error::not_found(ResourceKind::Offer, rid))
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
