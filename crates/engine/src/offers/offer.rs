//! One offer, and its record.

use armilla_governor::{Bucket, BucketShares};
use armilla_value::rid::OfferRid;
use armilla_value::{Object, Value};
use bytes::Bytes;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Record, Version, tag};
use crate::throughput::Throughput;
use crate::tree::Change;

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
    /// How much of it some requests may use.
    pub(crate) buckets: BucketShares,
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
            buckets: BucketShares::default(),
            version: change.version,
        };
        change.put(Offer::key(number), offer.encode());
        Ok(offer)
    }

    pub(crate) fn key(number: u32) -> Bytes {
        record::key(tag::OFFER, &number.to_be_bytes())
    }

    pub(super) fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        object.insert("resource", self.resource_link.as_str());
        object.insert("rid", self.resource_rid.as_str());
        object.insert("highestEver", i64::from(self.highest_ever));
        object.insert("storedEverKb", self.stored_ever_kb as i64);
        record::put_throughput(&mut object, self.throughput);
        if self.buckets != BucketShares::default() {
            object.insert("buckets", self.buckets.iter().map(bucket_object).collect::<Vec<Object>>());
        }
        record::encode(object)
    }

    pub(crate) fn decode(number: u32, bytes: &[u8]) -> Result<Offer> {
        let record = Record::decode(bytes, "an offer")?;
        let damaged = |why: &str| Error::new(ErrorKind::Corrupt, format!("offer {number}: {why}"));
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
            buckets: match record.find("buckets") {
                Some(buckets) => {
                    read_buckets(buckets).ok_or_else(|| damaged("its throughput buckets are wrong"))?
                }
                None => BucketShares::default(),
            },
            version: record.version()?,
        })
    }

    pub(super) fn rid(&self) -> String {
        OfferRid::new(self.number).map(|rid| rid.to_string()).unwrap_or_default()
    }
}

fn bucket_object((bucket, percent): (Bucket, u8)) -> Object {
    let mut object = Object::default();
    object.insert("id", i64::from(bucket.number()));
    object.insert("maxPercent", i64::from(percent));
    object
}

fn read_buckets(list: &Value) -> Option<BucketShares> {
    let mut buckets = BucketShares::default();
    for entry in list.as_array()? {
        let number = |name: &str| u8::try_from(entry.get(name)?.as_i64()?).ok();
        buckets.set(Bucket::new(number("id")?)?, number("maxPercent")?).then_some(())?;
    }
    Some(buckets)
}
