//! The members of resources, in the words and the order of the service; and those of them that requests send.

use armilla_engine::{
    Content, OfferChange, OfferContent, PermissionContent, PermissionDefinition, Resource, Throughput,
};
use armilla_value::{Object, PartitionKey, Value, json};

use crate::reply::failure::Failure;

/// Returns the members of a resource but for those that all resources have; `id` is the first.
pub(crate) fn members(resource: &Resource) -> Object {
    let mut body = Object::default();
    match &resource.content {
        Content::Database | Content::User => {
            body.insert("id", resource.id.as_str());
        }
        Content::Container(definition) => match definition.to_value() {
            Value::Object(definition) => return definition,
            _ => unreachable!("a definition is an object"),
        },
        Content::Offer(offer) => put_offer(&mut body, &resource.id, offer),
        Content::Permission(permission) => put_permission(&mut body, &resource.id, permission),
        Content::EncryptionKey(members) => {
            body.insert("id", resource.id.as_str());
            for (name, value) in members.iter() {
                body.insert(name, value.clone());
            }
        }
        Content::Script { body: text, trigger } => {
            body.insert("id", resource.id.as_str());
            body.insert("body", text.as_str());
            if let Some(trigger) = trigger {
                body.insert("triggerType", trigger.time_text());
                body.insert("triggerOperation", trigger.operation_text());
            }
        }
    }
    body
}

fn put_offer(body: &mut Object, id: &str, offer: &OfferContent) {
    let mut content = Object::default();
    content.insert("offerThroughput", i64::from(offer.current));
    if let Throughput::Autoscale { max, increment_percent } = offer.throughput {
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
    content.insert("offerIsRUPerMinuteThroughputEnabled", false);
    let mut minimum = Object::default();
    minimum.insert("maxThroughputEverProvisioned", i64::from(offer.highest_ever));
    let stored_kb = i64::try_from(offer.stored_ever_kb).unwrap_or(i64::MAX);
    minimum.insert("maxConsumedStorageEverInKB", stored_kb);
    content.insert("offerMinimumThroughputParameters", Value::Object(minimum));
    // Clients ask again until it is gone.
    if offer.is_pending {
        content.insert("isOfferReplacePending", true);
    }
    body.insert("id", id);
    body.insert("resource", offer.resource_link.as_str());
    body.insert("offerType", "Invalid");
    body.insert("offerResourceId", offer.resource_rid.as_str());
    body.insert("offerVersion", "V2");
    body.insert("content", Value::Object(content));
}

fn put_permission(body: &mut Object, id: &str, permission: &PermissionContent) {
    body.insert("id", id);
    body.insert("permissionMode", permission.mode.as_str());
    body.insert("resource", permission.resource_link.as_str());
    if let Some(partition_key) = &permission.partition_key
        && let Ok(value) = json::parse(partition_key.to_json().as_bytes())
    {
        body.insert("resourcePartitionKey", value);
    }
    body.insert("_token", permission.token.as_str());
}

/// Reads the throughput that an offer is to have from its whole resource.
pub(crate) fn read_offer(body: &Value) -> Result<OfferChange, Failure> {
    let missing = |what: &str| Failure::bad_request(what.to_owned());
    let content = body.get("content").ok_or_else(|| missing("the offer has no 'content'"))?;
    let positive = |value: &Value, name: &str| {
        let number = value.as_i64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| missing(&format!("the offer's '{name}' must be a positive whole number")))
    };
    let settings = content.get("offerAutopilotSettings").filter(|settings| !settings.is_null());
    let Some(settings) = settings else {
        let value = content
            .get("offerThroughput")
            .ok_or_else(|| missing("the offer's 'content' has no 'offerThroughput'"))?;
        return Ok(OfferChange::Set(Throughput::Manual(positive(value, "offerThroughput")?)));
    };
    let max = settings
        .get("maxThroughput")
        .ok_or_else(|| missing("the offer's 'content.offerAutopilotSettings' has no 'maxThroughput'"))?;
    let increment = settings
        .get("autoUpgradePolicy")
        .and_then(|policy| policy.get("throughputPolicy"))
        .and_then(|policy| policy.get("incrementPercent"));
    Ok(OfferChange::Set(Throughput::Autoscale {
        max: positive(max, "maxThroughput")?,
        increment_percent: increment.map(|value| positive(value, "incrementPercent")).transpose()?,
    }))
}

/// Reads what a permission is to be.
pub(crate) fn read_permission(body: &Object) -> Result<PermissionDefinition, Failure> {
    let text = |name: &str| {
        body.get(name).and_then(Value::as_str).ok_or_else(|| {
            Failure::bad_request(format!("the permission's '{name}' is missing or not a string"))
        })
    };
    let (id, mode) = (text("id")?, text("permissionMode")?);
    let resource_link = text("resource")?.to_owned();
    let partition_key = match body.get("resourcePartitionKey") {
        None | Some(Value::Null) => None,
        Some(value) => Some(PartitionKey::from_json(json::to_string(value).as_bytes()).map_err(|error| {
            Failure::bad_request(format!("the permission's 'resourcePartitionKey' is not valid: {error}"))
        })?),
    };
    Ok(PermissionDefinition { id: id.to_owned(), mode: mode.to_owned(), resource_link, partition_key })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn offers() {
        let autoscale = |max, increment_percent| Throughput::Autoscale { max, increment_percent };
        for (content, expected) in [
            (r#"{"offerThroughput":500}"#, Throughput::Manual(500)),
            (r#"{"offerThroughput":500,"offerAutopilotSettings":null}"#, Throughput::Manual(500)),
            (
                r#"{"offerThroughput":1,"offerAutopilotSettings":{"maxThroughput":4000}}"#,
                autoscale(4_000, None),
            ),
            (
                r#"{"offerAutopilotSettings":{"maxThroughput":4000,
                    "autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":10}}}}"#,
                autoscale(4_000, Some(10)),
            ),
        ] {
            let body = value(&format!(r#"{{"content":{content}}}"#));
            assert_eq!(read_offer(&body).unwrap(), OfferChange::Set(expected), "{content}");
        }
        for wrong in [
            "{}",
            r#"{"content":{}}"#,
            r#"{"content":{"offerThroughput":-1}}"#,
            r#"{"content":{"offerThroughput":1.5}}"#,
            r#"{"content":{"offerThroughput":"500"}}"#,
            r#"{"content":{"offerAutopilotSettings":{}}}"#,
            r#"{"content":{"offerAutopilotSettings":{"maxThroughput":"4000"}}}"#,
        ] {
            assert_eq!(read_offer(&value(wrong)).unwrap_err().status.http, 400, "{wrong}");
        }
    }

    #[test]
    fn permissions() {
        let read = |text: &str| match value(text) {
            Value::Object(body) => read_permission(&body),
            _ => unreachable!("the tests give objects"),
        };
        let body =
            r#"{"id":"p","permissionMode":"all","resource":"/dbs/d/colls/c/","resourcePartitionKey":["a"]}"#;
        let permission = read(body).unwrap();
        assert_eq!((permission.id.as_str(), permission.mode.as_str()), ("p", "all"));
        assert_eq!(permission.resource_link, "/dbs/d/colls/c/");
        assert_eq!(permission.partition_key.unwrap().to_json(), r#"["a"]"#);
        for wrong in [
            r#"{"permissionMode":"Read","resource":"dbs/d/colls/c"}"#,
            r#"{"id":7,"permissionMode":"Read","resource":"dbs/d/colls/c"}"#,
            r#"{"id":"p","permissionMode":"Read"}"#,
            r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":7}"#,
        ] {
            assert_eq!(read(wrong).unwrap_err().status.http, 400, "{wrong}");
        }
    }
}
