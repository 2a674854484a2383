//! `/_armilla/dbs/{d}/colls/{c}/throughputBuckets`: how much of a container's throughput requests may use that name a
//! bucket. The body has the members that the service's control plane has for it.

use armilla_engine::{Bucket, BucketShares};
use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::body::refuse_unknown_members;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

const LIST: &str = "throughputBuckets";
const ID: &str = "id";
const PERCENT: &str = "maxThroughputPercentage";

/// Tells of a container's buckets, or puts others in their place.
pub(crate) async fn serve(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    if request.method == http::Method::PUT {
        let buckets = read(&request.json_object("a list of throughput buckets")?)?;
        engine.set_throughput_buckets(caller, database, container, buckets).await?;
    } else {
        request.expect_verb("GET")?;
    }
    let buckets = engine.throughput_buckets(caller, database, container)?;
    Ok(Reply::json(StatusCode::OK, document(&buckets)))
}

fn read(body: &Object) -> Result<BucketShares, Failure> {
    refuse_unknown_members(body, &[LIST])?;
    let list = body.get(LIST).and_then(Value::as_array);
    let list = list.ok_or_else(|| Failure::bad_request(format!("'{LIST}' is no array")))?;
    let mut buckets = BucketShares::default();
    for entry in list {
        let Value::Object(entry) = entry else {
            return Err(Failure::bad_request(format!("an entry of '{LIST}' is no object")));
        };
        refuse_unknown_members(entry, &[ID, PERCENT])?;
        let number = |name: &str| {
            let number = entry.get(name).and_then(Value::as_i64);
            number.and_then(|number| u8::try_from(number).ok())
        };
        let bucket = number(ID).and_then(Bucket::new).ok_or_else(|| {
            Failure::bad_request(format!("the '{ID}' of a bucket is a whole number from 1 to 5"))
        })?;
        if buckets.percent(bucket).is_some() {
            return Err(Failure::bad_request(format!("bucket {} is there twice", bucket.number())));
        }
        if !number(PERCENT).is_some_and(|percent| buckets.set(bucket, percent)) {
            return Err(Failure::bad_request(format!("'{PERCENT}' is a whole number from 1 to 100")));
        }
    }
    Ok(buckets)
}

fn document(buckets: &BucketShares) -> Vec<u8> {
    let entries = buckets.iter().map(|(bucket, percent)| {
        let mut entry = Object::default();
        entry.insert(ID, i64::from(bucket.number()));
        entry.insert(PERCENT, i64::from(percent));
        entry
    });
    let mut document = Object::default();
    document.insert(LIST, entries.collect::<Vec<Object>>());
    let mut text = Vec::new();
    json::write(&document.into(), &mut text);
    text
}
