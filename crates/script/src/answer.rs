//! Answering what a script asks of its collection.

use armilla_value::{Value, json};

use crate::collection::{Collection, DocumentName, ErrorCode, FeedRequest, ReadDocument, Refusal};
use crate::limits::{GUIDS_PER_CALL, RANDOMS_PER_CALL};
use crate::wire::{Call, Name, Order, Reply};

/// Does what a call asks for, and appends the frame of the reply. An operation that was not accepted already may be
/// told that nothing is any more.
pub(crate) fn answer(
    call: Call<'_>,
    is_accepted: bool,
    collection: &mut dyn Collection,
    replies: &mut Vec<u8>,
) {
    let mut reply = |reply: Reply<'_>| Order::Reply(reply).encode(replies);
    match call {
        Call::Guids => {
            let ids: Vec<String> =
                std::iter::repeat_with(|| collection.guid()).take(GUIDS_PER_CALL).collect();
            return reply(Reply::Ids(ids.iter().map(String::as_str).collect()));
        }
        Call::Randoms => {
            let numbers = std::iter::repeat_with(|| collection.random()).take(RANDOMS_PER_CALL).collect();
            return reply(Reply::Numbers(numbers));
        }
        // Dates end long before doubles lose milliseconds.
        Call::Now => return reply(Reply::Numbers(vec![collection.now_ms() as f64])),
        Call::Usage => {
            let usage = collection.usage();
            let (current_bytes, max_bytes) = (usage.current_bytes, usage.max_bytes);
            return reply(Reply::Usage { current_bytes, max_bytes });
        }
        _ if !is_accepted && collection.is_closing() => return reply(Reply::Closing),
        _ => {}
    }
    let done = match call {
        Call::Read { name, known, is_wanted } => collection.read(name.into(), known).map(|read| match read {
            ReadDocument::NotModified => reply(Reply::NotModified),
            ReadDocument::Found(text) => reply(document(&text, is_wanted)),
        }),
        Call::Create { body, is_wanted } => {
            collection.create(body).map(|text| reply(document(&text, is_wanted)))
        }
        Call::Upsert { body, is_wanted, etag } => collection.upsert(body, etag).map(|(text, is_created)| {
            reply(Reply::Upserted { document: is_wanted.then_some(&text), is_created })
        }),
        Call::Replace { name, body, is_wanted, etag } => {
            collection.replace(name.into(), body, etag).map(|text| reply(document(&text, is_wanted)))
        }
        Call::Delete { name, etag } => collection.delete(name.into(), etag).map(|()| reply(Reply::Done)),
        Call::Query { text, parameters, page_size, continuation, is_wanted } => parse_parameters(parameters)
            .and_then(|parameters| {
                let page_size = page_size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
                collection.query(FeedRequest { text, parameters, page_size, continuation })
            })
            .map(|page| {
                let documents = is_wanted.then_some(page.documents.as_str());
                reply(Reply::Page { documents, continuation: page.continuation.as_deref() })
            }),
        Call::Guids | Call::Randoms | Call::Now | Call::Usage => unreachable!("they were answered above"),
    };
    if let Err(refusal) = done {
        reply(Reply::Refused { code: refusal.code.number(), message: &refusal.message });
    }
}

fn document(text: &str, is_wanted: bool) -> Reply<'_> {
    if is_wanted { Reply::Text(text) } else { Reply::Done }
}

impl<'a> From<Name<'a>> for DocumentName<'a> {
    fn from(name: Name<'a>) -> DocumentName<'a> {
        if name.is_rid { DocumentName::Rid(name.text) } else { DocumentName::Id(name.text) }
    }
}

fn parse_parameters(text: Option<&str>) -> Result<Vec<(String, Value)>, Refusal> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let refused = |why: &str| Refusal::new(ErrorCode::BadRequest, format!("the query's parameters {why}"));
    let parsed = json::parse(text.as_bytes()).map_err(|error| refused(&format!("are not JSON: {error}")))?;
    let Some(list) = parsed.as_array() else { return Err(refused("must be an array")) };
    let mut parameters = Vec::with_capacity(list.len());
    for entry in list {
        let members =
            entry.as_object().and_then(|entry| Some((entry.get("name")?.as_str()?, entry.get("value"))));
        match members {
            Some((name, Some(value))) => parameters.push((name.to_owned(), value.clone())),
            _ => return Err(refused("must have a name, which is text, and a value")),
        }
    }
    Ok(parameters)
}
