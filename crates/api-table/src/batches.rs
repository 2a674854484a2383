//! `$batch`: a change set, all or nothing, or one query.
//!
//! A change set is one batch of the engine in one logical partition. Merges in it are read before and replace the
//! versions that were read; if others came between, all of it is done again. What a client demanded itself fails for
//! good, and names the operation.
//!
//! Not here: the body as it is written (`multipart`), and the answer (`batch_answer`).

use std::collections::HashSet;

use armilla_engine::{
    ActionDone, BatchAnswer, ErrorKind, ItemAction, ItemName, Precondition, RequestUnits, WriteMode,
};
use armilla_value::PartitionKey;

use crate::batch_answer;
use crate::changes::{Change, Write};
use crate::dispatch;
use crate::entities::{is_lost_race, precondition};
use crate::entity::row_id;
use crate::failure::{Failure, Kind};
use crate::headers::{self, IfMatch, Verb};
use crate::limits::{BATCH_OPERATIONS_MAX, MERGE_ATTEMPTS_MAX};
use crate::multipart::{self, Content, MultipartError, PartRequest};
use crate::options::Flavour;
use crate::parameters::Parameters;
use crate::path::{self, Address};
use crate::request::{Request, Table, is_missing_item, logical_partition};
use crate::response::Reply;

/// Does a batch.
pub(crate) async fn execute(request: &Request<'_>) -> Result<Reply, Failure> {
    let kind = headers::text(request.headers, &http::header::CONTENT_TYPE)?.unwrap_or_default();
    match multipart::parse(kind, &request.body) {
        Ok(Content::ChangeSet(parts)) => change_set(request, parts).await,
        Ok(Content::Single(part)) => single(request, part).await,
        Err(MultipartError::TooManyOperations) => {
            let failure = Failure::from(Kind::TooManyOperations).at(BATCH_OPERATIONS_MAX - 1);
            Ok(batch_answer::failed(request, &failure))
        }
        Err(error) => Err(Kind::InvalidInput(error.message().into()).into()),
    }
}

/// Does a request that stands alone in its batch: it reads.
async fn single(request: &Request<'_>, part: PartRequest) -> Result<Reply, Failure> {
    let outcome = match target(request, &part) {
        Ok((address, verb, parameters)) => {
            let inner = Request {
                verb,
                headers: &part.headers,
                parameters: &parameters,
                body: part.body.clone(),
                ..*request
            };
            match verb {
                Verb::Get => dispatch::read(&inner, address).await,
                _ => {
                    Err(Kind::InvalidInput("A write in a batch must be part of a change set.".into()).into())
                }
            }
        }
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(reply) => Ok(batch_answer::single(request, reply, part.content_id.as_deref())),
        Err(failure) => told(request, failure, batch_answer::failed_single),
    }
}

/// What a request in a part is about.
fn target(request: &Request<'_>, part: &PartRequest) -> Result<(Address, Verb, Parameters), Failure> {
    // Whatever stands before the path: batches are sent where their requests belong.
    let target = match part.target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => &part.target,
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix(request.path_prefix).filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let address = path::parse(path, request.flavour()).map_err(|_| Kind::UrlInvalid)?;
    Ok((address, headers::verb(&part.method, &part.headers)?, Parameters::parse(query)?))
}

async fn change_set(request: &Request<'_>, parts: Vec<PartRequest>) -> Result<Reply, Failure> {
    let content_ids: Vec<Option<String>> = parts.iter().map(|part| part.content_id.clone()).collect();
    let changes = match read_changes(request, &parts) {
        Ok(changes) => changes,
        Err(failure) => return told(request, failure, batch_answer::failed),
    };
    let table = match request.table(&changes[0].table) {
        Ok(table) => table,
        // Only storage accounts say at which operation.
        Err(failure) if request.flavour() == Flavour::Storage => {
            return told(request, failure.at(0), batch_answer::failed);
        }
        Err(failure) => return told(request, failure, batch_answer::failed),
    };
    match apply(request, &table, &changes).await {
        Ok((done, charge)) => batch_answer::done(request, &table, &changes, &content_ids, done, charge),
        Err(failure) => told(request, failure, batch_answer::failed),
    }
}

/// Tells of a failure in a part, or of the whole request where it is not about an operation: clients come again with the
/// whole.
fn told(
    request: &Request<'_>,
    failure: Failure,
    answer: fn(&Request<'_>, &Failure) -> Reply,
) -> Result<Reply, Failure> {
    let status = failure.shape(request.flavour()).status;
    if failure.retry_after_ms().is_some() || status.is_server_error() && status.as_u16() != 501 {
        return Err(Failure { index: None, ..failure });
    }
    Ok(answer(request, &failure))
}

/// Reads the operations of a change set, and checks what must hold of them together.
fn read_changes(request: &Request<'_>, parts: &[PartRequest]) -> Result<Vec<Change>, Failure> {
    let mut changes: Vec<Change> = Vec::with_capacity(parts.len());
    let mut row_keys = HashSet::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let change = read_change(request, part).map_err(|failure| failure.at(index))?;
        if let Some(first) = changes.first() {
            if !is_same_table(request.flavour(), &first.table, &change.table) {
                return Err(Failure::from(Kind::OtherTable).at(index));
            }
            if first.partition_key != change.partition_key {
                return Err(Failure::from(Kind::OtherPartition).at(index));
            }
        }
        if !row_keys.insert(change.row_key.clone()) {
            return Err(Failure::from(Kind::DuplicateRow).at(index));
        }
        changes.push(change);
    }
    Ok(changes)
}

fn read_change(request: &Request<'_>, part: &PartRequest) -> Result<Change, Failure> {
    let (address, verb, parameters) = target(request, part)?;
    parameters.refuse_unknown()?;
    if verb == Verb::Get {
        return Err(Kind::InvalidInput("A change set holds writes only.".into()).into());
    }
    let change = Change::read(address, verb, &part.headers, &part.body, request.flavour())?;
    let keys = Some((&*change.partition_key, &*change.row_key));
    request.allow(change.operation(), Some(&change.table), keys)?;
    Ok(change)
}

fn is_same_table(flavour: Flavour, first: &str, second: &str) -> bool {
    match flavour {
        Flavour::Cosmos => first == second,
        Flavour::Storage => first.eq_ignore_ascii_case(second),
    }
}

/// Does the operations, again if others came between the reads and the writes of merges.
async fn apply(
    request: &Request<'_>,
    table: &Table,
    changes: &[Change],
) -> Result<(Vec<ActionDone>, RequestUnits), Failure> {
    let partition_key = &changes[0].partition_key;
    let key = logical_partition(partition_key);
    let merged = changes.iter().filter(|change| matches!(change.write, Write::Merge(_)));
    let row_keys = merged.map(|change| &*change.row_key);
    let _turn = request.shared.merges.turn(table.container.rid(), partition_key, row_keys).await;
    let mut spent = RequestUnits::ZERO;
    for _ in 0..MERGE_ATTEMPTS_MAX {
        let (mut actions, mut rests) = (Vec::with_capacity(changes.len()), Vec::with_capacity(changes.len()));
        for change in changes {
            let (action, rest) = draft(request, table, &key, change, &mut spent)
                .map_err(|failure| Failure { charge: spent, ..failure })?;
            actions.push(action);
            rests.push(rest);
        }
        let caller = request.caller();
        let answer = request.engine().execute_batch(&caller, &table.container, Some(&key), actions).await;
        let BatchAnswer { results, charge, .. } =
            answer.map_err(|error| Failure::from(error).and_charge(spent))?;
        spent += charge;
        let culprit = results.iter().enumerate().find_map(|(index, result)| match result {
            Err(error) if error.kind != ErrorKind::FailedDependency => Some((index, error.clone())),
            _ => None,
        });
        match culprit {
            None => {
                let done = results.into_iter().collect::<Result<Vec<_>, _>>();
                return Ok((done.map_err(Failure::from)?, spent));
            }
            Some((index, error)) if rests[index].is_lost_race(error.kind) => {}
            Some((index, error)) => {
                return Err(Failure { charge: spent, ..Failure::from(error).at(index) });
            }
        }
    }
    Err(Failure::from(Kind::Busy).and_charge(spent))
}

/// What an action was drafted upon.
#[derive(Clone, Copy)]
enum Rest {
    /// What the client said: if it fails, it fails for good.
    Client,
    /// A version, or its absence, that was read here.
    Read,
    /// That there is nothing, of which the client is to be told when its turn comes.
    Nothing,
}

impl Rest {
    /// Says whether it is not as it was read, so that all is to be done again.
    fn is_lost_race(self, kind: ErrorKind) -> bool {
        match self {
            Rest::Client => false,
            Rest::Read => is_lost_race(kind),
            Rest::Nothing => kind == ErrorKind::PreconditionFailed,
        }
    }
}

/// Returns the action for a change, and what it rests upon.
fn draft(
    request: &Request<'_>,
    table: &Table,
    key: &PartitionKey,
    change: &Change,
    spent: &mut RequestUnits,
) -> Result<(ItemAction, Rest), Failure> {
    let id = row_id(&change.row_key).to_string();
    let condition = precondition(change.if_match);
    let put =
        |mode, id, body: Vec<u8>, precondition| ItemAction::Put { mode, id, body: body.into(), precondition };
    Ok(match (&change.write, change.if_match) {
        (Write::Insert(entity), _) => {
            (put(WriteMode::Create, None, entity.item_json(), Precondition::None), Rest::Client)
        }
        (Write::Put(entity), IfMatch::Absent) => {
            (put(WriteMode::Upsert, None, entity.item_json(), Precondition::None), Rest::Client)
        }
        (Write::Put(entity), _) => {
            (put(WriteMode::Replace, Some(id), entity.item_json(), condition), Rest::Client)
        }
        (Write::Delete, _) => (ItemAction::Delete { id, precondition: condition }, Rest::Client),
        (Write::Merge(entity), if_match) => {
            let container = &table.container;
            let name = ItemName::Id(&id);
            match request.engine().read_item(&request.caller(), container, name, Some(key), None) {
                Ok(found) => {
                    *spent += found.charge;
                    if !if_match.holds(found.item.moment()) {
                        // It fails when its turn comes: operations before it may fail as well, and are named first.
                        let never = Precondition::Version(None);
                        return Ok((
                            put(WriteMode::Replace, Some(id), entity.item_json(), never),
                            Rest::Client,
                        ));
                    }
                    let text = entity.merged_into(found.item.stored().text_bytes());
                    let read = Precondition::Version(Some(found.item.etag(container.identity())));
                    (put(WriteMode::Replace, Some(id), text, read), Rest::Read)
                }
                Err(error) if is_missing_item(&error) && if_match == IfMatch::Absent => {
                    *spent += error.charge;
                    (put(WriteMode::Create, None, entity.item_json(), Precondition::None), Rest::Read)
                }
                Err(error) if is_missing_item(&error) => {
                    *spent += error.charge;
                    let never = Precondition::Version(None);
                    let rest = if if_match == IfMatch::Any { Rest::Nothing } else { Rest::Client };
                    (put(WriteMode::Replace, Some(id), entity.item_json(), never), rest)
                }
                Err(error) => return Err(error.into()),
            }
        }
    })
}
