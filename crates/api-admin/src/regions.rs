//! `/_armilla/regions`: the regions that the account says it has, to try what clients make of one that fails.

use armilla_rest_wire::regions::{RegionState, Regions};
use armilla_rest_wire::status::Status;
use armilla_value::{Object, Value, json};
use http::{Method, StatusCode};

use crate::body::refuse_unknown_members;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

/// Tells of all regions.
pub(crate) fn list(request: &Request<'_>, regions: &Regions) -> Result<Reply, Failure> {
    request.expect_verb("GET")?;
    Ok(document(regions))
}

/// Takes a region offline, lets it answer again, or lets it take the writes.
pub(crate) fn change(request: &Request<'_>, regions: &Regions, name: &str) -> Result<Reply, Failure> {
    if request.method != Method::PUT {
        request.expect_verb("PUT")?;
    }
    if !matches!(request.caller.access, armilla_engine::Access::Full) {
        return Err(Failure::new(Status::FORBIDDEN, "the key is for reading only"));
    }
    let body = request.json_object("what a region is to be")?;
    refuse_unknown_members(&body, &["online", "writable"])?;
    let place = regions.find(name).ok_or_else(|| {
        let names: Vec<&str> = regions.iter().map(|region| region.name).collect();
        Failure::new(
            Status::NOT_FOUND,
            format!("the account has no region '{name}'; it has {}", names.join(", ")),
        )
    })?;
    let flag = |member: &str| match body.get(member) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Failure::bad_request(format!("'{member}' is neither true nor false"))),
    };
    let (online, writable) = (flag("online")?, flag("writable")?);
    if writable == Some(false) {
        return Err(Failure::bad_request(
            "a region stops to take writes when another takes them: say so of that one",
        ));
    }
    if let Some(is_online) = online {
        regions.set_online(place, is_online);
    }
    if writable.is_some() {
        regions.set_writable(place);
    }
    Ok(document(regions))
}

fn document(regions: &Regions) -> Reply {
    let region = |region: RegionState<'_>| {
        let mut object = Object::default();
        object.insert("name", region.name);
        object.insert("port", region.port.map_or(Value::Null, |port| i64::from(port).into()));
        object.insert("online", region.is_online);
        object.insert("writable", region.is_writable);
        object
    };
    let mut document = Object::default();
    document.insert("regions", regions.iter().map(region).collect::<Vec<Object>>());
    let mut text = Vec::new();
    json::write(&document.into(), &mut text);
    Reply::json(StatusCode::OK, text)
}
