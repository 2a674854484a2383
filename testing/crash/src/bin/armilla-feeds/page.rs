//! A page of a change feed, read: items with their commit, or envelopes with what happened to them.

use armilla_value::{Value, json};

use crate::model::Model;

/// Which versions a feed has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Latest,
    AllVersions,
}

/// What a feed says that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    Create,
    Replace,
    Delete,
    /// A delete because the item's time was up.
    Expire,
}

/// One change of a page.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) slot: usize,
    /// What was done, where the feed says it.
    pub(crate) done: Option<Done>,
    pub(crate) lsn: u64,
    /// When, in seconds since 1970.
    pub(crate) ts: i64,
    /// The item; nothing for what is gone.
    pub(crate) item: Option<Value>,
    /// What it was before, where the feed shows it.
    pub(crate) previous: Option<Value>,
    /// The commit that had written that.
    pub(crate) previous_lsn: Option<u64>,
}

impl Shown {
    /// Returns the number of the write that made the item.
    pub(crate) fn sequence(&self) -> Option<u64> {
        self.item.as_ref().and_then(sequence)
    }
}

/// Returns the number of the write that made an item.
pub(crate) fn sequence(item: &Value) -> Option<u64> {
    whole(item, "sequence")
}

/// Reads a page.
pub(crate) fn parse(model: &Model, mode: Mode, body: &[u8]) -> Result<Vec<Shown>, String> {
    let page = json::parse(body).map_err(|error| format!("a page is not JSON: {error}"))?;
    let documents = page.get("Documents").and_then(Value::as_array).ok_or("a page has no Documents")?;
    if whole(&page, "_count") != Some(documents.len() as u64) {
        return Err(format!("a page of {} changes has the _count {:?}", documents.len(), page.get("_count")));
    }
    let read = |document: &Value| {
        let shown = match mode {
            Mode::Latest => flat(model, document),
            Mode::AllVersions => envelope(model, document),
        };
        shown.ok_or_else(|| format!("a change is not of the known form: {}", json::to_string(document)))
    };
    documents.iter().map(read).collect()
}

fn flat(model: &Model, document: &Value) -> Option<Shown> {
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    Some(Shown {
        slot: model.find(text("pk")?, text("id")?)?,
        done: None,
        lsn: whole(document, "_lsn")?,
        ts: document.get("_ts")?.as_i64()?,
        item: Some(document.clone()),
        previous: None,
        previous_lsn: None,
    })
}

fn envelope(model: &Model, document: &Value) -> Option<Shown> {
    let metadata = document.get("metadata")?;
    let is_there = |item: &&Value| item.as_object().is_some_and(|item| !item.is_empty());
    let item = document.get("current").filter(is_there);
    let is_expiry = metadata.get("timeToLiveExpired").and_then(Value::as_bool) == Some(true);
    let done = match metadata.get("operationType")?.as_str()? {
        "create" => Done::Create,
        "replace" => Done::Replace,
        "delete" if is_expiry => Done::Expire,
        "delete" => Done::Delete,
        _ => return None,
    };
    let slot = match (done, item) {
        (Done::Create | Done::Replace, Some(item)) => {
            model.find(item.get("pk")?.as_str()?, item.get("id")?.as_str()?)?
        }
        (Done::Delete | Done::Expire, None) => {
            let key = metadata.get("partitionKey")?;
            let key = key.get("pk").or_else(|| key.as_array()?.first())?;
            model.find(key.as_str()?, metadata.get("id")?.as_str()?)?
        }
        _ => return None,
    };
    if is_expiry && done != Done::Expire {
        return None;
    }
    Some(Shown {
        slot,
        done: Some(done),
        lsn: whole(metadata, "lsn")?,
        ts: metadata.get("crts")?.as_i64()?,
        item: item.cloned(),
        previous: document.get("previous").filter(is_there).cloned(),
        previous_lsn: whole(metadata, "previousImageLSN").filter(|lsn| *lsn > 0),
    })
}

fn whole(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_i64().and_then(|number| u64::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model;

    #[test]
    fn pages_of_items() {
        let model = model(2, None);
        let key = &model.spec.keys[0].name;
        let item = format!(r#"{{"id":"item-1","pk":"{key}","sequence":4,"_ts":7,"_lsn":9}}"#);
        let page = |count: u32| format!(r#"{{"_rid":"r","Documents":[{item}],"_count":{count}}}"#);
        let shown = parse(&model, Mode::Latest, page(1).as_bytes()).unwrap();
        assert_eq!((shown[0].slot, shown[0].lsn, shown[0].ts, shown[0].sequence()), (1, 9, 7, Some(4)));
        assert!(parse(&model, Mode::Latest, page(2).as_bytes()).is_err());
        for (from, to) in [("item-1", "item-7"), ("_lsn", "_lns"), ("_ts", "_st"), (key, "other")] {
            assert!(parse(&model, Mode::Latest, page(1).replace(from, to).as_bytes()).is_err(), "{from}");
        }
    }

    #[test]
    fn pages_of_envelopes() {
        let model = model(2, None);
        let key = &model.spec.keys[0].name;
        let item = format!(r#"{{"id":"item-0","pk":"{key}","sequence":4}}"#);
        let parse = |current: &str, metadata: &str| {
            let metadata = format!(r#"{metadata},"lsn":5,"crts":6,"previousImageLSN":3"#);
            let page = format!(
                r#"{{"Documents":[{{"current":{current},"previous":{item},"metadata":{{{metadata}}}}}],"_count":1}}"#
            );
            parse(&model, Mode::AllVersions, page.as_bytes()).map(|mut shown| shown.remove(0))
        };
        let place = format!(r#""id":"item-1","partitionKey":{{"pk":"{key}"}}"#);
        let create = parse(&item, r#""operationType":"create""#).unwrap();
        assert_eq!((create.slot, create.done, create.lsn, create.ts), (0, Some(Done::Create), 5, 6));
        assert_eq!((create.sequence(), create.previous_lsn), (Some(4), Some(3)));
        let delete = parse("{}", &format!(r#""operationType":"delete",{place}"#)).unwrap();
        assert_eq!((delete.slot, delete.done, delete.item.is_none()), (1, Some(Done::Delete), true));
        let expiry = parse("{}", &format!(r#""operationType":"delete","timeToLiveExpired":true,{place}"#));
        assert_eq!(expiry.unwrap().done, Some(Done::Expire));
        assert!(parse(&item, &format!(r#""operationType":"delete",{place}"#)).is_err());
        assert!(parse("{}", r#""operationType":"delete""#).is_err());
        assert!(parse(&item, r#""operationType":"create","timeToLiveExpired":true"#).is_err());
        assert!(parse(&item, r#""operationType":"other""#).is_err());
    }
}
