//! Tables: containers of one database that are partitioned by `/PartitionKey`.
//!
//! Tables made here, and containers of that kind made through another API, are the same. Other containers of the
//! database are not seen.

use std::collections::HashSet;

use armilla_engine::{
    Caller, CompositePath, ContainerDefinition, Content, Error, ErrorKind, RequestUnits,
    ResourcePrecondition, SortOrder,
};
use armilla_value::rid::ContainerRid;
use armilla_value::{Object, Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderValue, StatusCode};
use parking_lot::Mutex;

use crate::Shared;
use crate::auth::Operation;
use crate::edm::EdmRef;
use crate::entity::MetadataLevel;
use crate::failure::{Failure, Kind};
use crate::filter::{Fields, Filter};
use crate::headers::{self, Preference, names};
use crate::limits::{KNOWN_TABLES_MAX, TABLES_AT_ONCE};
use crate::options::Flavour;
use crate::path;
use crate::request::{Request, Table};
use crate::response::Reply;
use crate::table_name::{self, TableNameError};

/// The database that tables are containers of.
pub(crate) const DATABASE: &str = "TablesDB";

/// The property that tables are partitioned by, and its path.
const PARTITION_KEY_PROPERTY: &str = "PartitionKey";
const PARTITION_KEY_PATH: &str = "/PartitionKey";

/// The order of both keys, which tables made here have an index of.
const KEY_ORDER: [&str; 2] = [PARTITION_KEY_PATH, "/RowKey"];

/// Containers that are known to be tables: what a container is partitioned by never changes.
#[derive(Default)]
pub(crate) struct KnownTables {
    rids: Mutex<HashSet<ContainerRid>>,
}

impl KnownTables {
    fn contains(&self, rid: ContainerRid) -> bool {
        self.rids.lock().contains(&rid)
    }

    fn insert(&self, rid: ContainerRid) {
        let mut rids = self.rids.lock();
        if rids.len() >= KNOWN_TABLES_MAX {
            rids.clear();
        }
        rids.insert(rid);
    }
}

/// Finds a table by its name.
pub(crate) fn find(shared: &Shared, flavour: Flavour, name: &str) -> Result<Option<Table>, Failure> {
    if let Some(table) = find_exactly(shared, name)? {
        return Ok(Some(table));
    }
    if flavour == Flavour::Cosmos {
        return Ok(None);
    }
    // Names of storage accounts have no case.
    match all_names(shared)?.iter().find(|own| own.eq_ignore_ascii_case(name)) {
        Some(own) => find_exactly(shared, own),
        None => Ok(None),
    }
}

fn find_exactly(shared: &Shared, name: &str) -> Result<Option<Table>, Failure> {
    let container = match shared.engine.container(DATABASE, name) {
        Ok(located) => located.container,
        Err(error) if matches!(error.kind, ErrorKind::OwnerNotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let known = &shared.known_tables;
    if !known.contains(container.rid()) {
        if !is_table(&container.definition()) {
            return Ok(None);
        }
        known.insert(container.rid());
    }
    Ok(Some(Table { name: container.id().to_owned(), container }))
}

fn is_table(definition: &ContainerDefinition) -> bool {
    matches!(&definition.partition_key.paths[..], [only] if only.names() == [PARTITION_KEY_PROPERTY])
}

/// Says whether a table has an index of the order of both keys. Its policy may be changed through other APIs.
pub(crate) fn has_key_order(table: &Table) -> bool {
    let definition = table.container.definition();
    let is_key_order = |composite: &Vec<CompositePath>| {
        let is_part = |(part, path): (&CompositePath, &&str)| {
            part.path.text() == *path && part.order == SortOrder::Ascending
        };
        composite.len() == KEY_ORDER.len() && composite.iter().zip(&KEY_ORDER).all(is_part)
    };
    definition.indexing.composites().iter().any(is_key_order)
}

/// Returns the names of all tables, in their order.
fn all_names(shared: &Shared) -> Result<Vec<String>, Failure> {
    let (mut names, mut continuation) = (Vec::new(), None::<String>);
    loop {
        let page = shared.engine.list_containers(
            &Caller::full(),
            DATABASE,
            Some(TABLES_AT_ONCE),
            continuation.as_deref(),
        );
        let feed = match page {
            Ok(answer) => answer.value,
            Err(error) if matches!(error.kind, ErrorKind::OwnerNotFound(_)) => break,
            Err(error) => return Err(error.into()),
        };
        for resource in feed.resources {
            if matches!(&resource.content, Content::Container(definition) if is_table(definition)) {
                names.push(resource.id);
            }
        }
        continuation = feed.continuation;
        if continuation.is_none() {
            break;
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// A table as filters see it.
struct TableFields<'t>(&'t str);

impl Fields for TableFields<'_> {
    fn field(&self, name: &str) -> Option<EdmRef<'_>> {
        (name == "TableName").then_some(EdmRef::String(self.0.into()))
    }
}

/// Lists tables.
pub(crate) fn list(request: &Request<'_>) -> Result<Reply, Failure> {
    request.parameters.refuse_unknown()?;
    request.allow(Operation::ListTables, None, None)?;
    let level = request.metadata_level()?;
    let page_size = request.parameters.page_size(request.flavour())?;
    let filter = match &request.parameters.filter {
        Some(text) => Filter::parse(text).map_err(|error| Kind::Filter(error, text.clone()))?,
        None => None,
    };
    let from = match &request.parameters.next_table_name {
        Some(token) => Some(decode_token(token)?),
        None => None,
    };
    let names = all_names(request.shared)?;
    let mut matching = names.iter().filter(|name| {
        from.as_ref().is_none_or(|from| *name >= from)
            && filter.as_ref().is_none_or(|filter| filter.matches(&TableFields(name)))
    });
    let mut text = b"{\"value\":[".to_vec();
    for (position, name) in matching.by_ref().take(page_size).enumerate() {
        if position > 0 {
            text.push(b',');
        }
        text.push(b'{');
        write_table(&mut text, request, name, level);
        text.push(b'}');
    }
    text.push(b']');
    if level != MetadataLevel::None {
        text.extend_from_slice(b",\"odata.metadata\":");
        json::write_string(&format!("{}$metadata#Tables", request.base_url), &mut text);
    }
    text.push(b'}');
    let mut reply = Reply::json(StatusCode::OK, text, level, request.flavour(), RequestUnits::ZERO);
    if let Some(next) = matching.next() {
        reply.set_text(&names::NEXT_TABLE_NAME, &URL_SAFE_NO_PAD.encode(next));
    }
    Ok(reply)
}

/// Returns one table.
pub(crate) fn get(request: &Request<'_>, name: &str) -> Result<Reply, Failure> {
    request.allow(Operation::ReadTable, Some(name), None)?;
    let level = request.metadata_level()?;
    let Some(table) = find(request.shared, request.flavour, name)? else {
        return Err(Kind::ResourceMissing.into());
    };
    let text = table_text(request, &table.name, level);
    Ok(Reply::json(StatusCode::OK, text, level, request.flavour(), RequestUnits::ZERO))
}

/// Makes a table.
pub(crate) async fn create(request: &Request<'_>) -> Result<Reply, Failure> {
    headers::check_json_body(request.headers)?;
    let level = request.metadata_level()?;
    let name = table_name_of(&request.body)?;
    request.allow(Operation::CreateTable, Some(&name), None)?;
    table_name::check(&name, request.flavour()).map_err(Kind::TableName)?;
    let throughput = headers::throughput(request.headers)?;
    let caller = request.caller();
    let _one_at_a_time = request.shared.creating.lock().await;
    if find(request.shared, request.flavour, &name)?.is_some() {
        return Err(Kind::TableExists.into());
    }
    match request.engine().create_database(&caller, DATABASE, None).await {
        Ok(_) => {}
        Err(error) if matches!(error.kind, ErrorKind::AlreadyExists(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let definition = ContainerDefinition::from_value(&definition(&name)).map_err(Error::from)?;
    let made = request.engine().create_container(&caller, DATABASE, definition, throughput).await?;
    let link = format!("{}Tables('{}')", request.base_url, encoded(&name));
    let mut reply = match headers::preference(request.headers) {
        Preference::NoContent => {
            let mut reply = Reply::empty(StatusCode::NO_CONTENT, made.charge);
            if request.flavour() == Flavour::Storage {
                reply.set_text(&names::DATA_SERVICE_ID, &link);
            }
            reply
        }
        Preference::None | Preference::Content => {
            let text = table_text(request, &name, level);
            Reply::json(StatusCode::CREATED, text, level, request.flavour(), made.charge)
        }
    };
    reply.set_text(&http::header::LOCATION, &link);
    if let Some(applied) = headers::preference(request.headers).applied() {
        reply.set(&names::PREFERENCE_APPLIED, HeaderValue::from_static(applied));
    }
    Ok(reply)
}

/// Deletes a table with everything in it.
pub(crate) async fn delete(request: &Request<'_>, name: &str) -> Result<Reply, Failure> {
    request.allow(Operation::DeleteTable, Some(name), None)?;
    let Some(table) = find(request.shared, request.flavour, name)? else {
        // Clients take a table that is not there for deleted; a name that no table has is told as such.
        return Err(match table_name::check(name, request.flavour()) {
            Err(error @ (TableNameError::Character(_) | TableNameError::TrailingSpace)) => {
                Kind::TableName(error)
            }
            _ => Kind::ResourceMissing,
        }
        .into());
    };
    let precondition = ResourcePrecondition::None;
    let deleted =
        request.engine().delete_container(&request.caller(), DATABASE, &table.name, precondition).await?;
    request.shared.policies.forget(&table.container).await;
    Ok(Reply::empty(StatusCode::NO_CONTENT, deleted.charge))
}

/// Returns the definition of a new table: every property is indexed, types are not.
fn definition(name: &str) -> Value {
    let text = |text: &str| Value::from(text);
    let object = |members: Vec<(&str, Value)>| Value::Object(members.into_iter().collect::<Object>());
    let path = |path: &str| object(vec![("path", text(path))]);
    let ascending = |path: &&str| object(vec![("path", text(path)), ("order", text("ascending"))]);
    let key_order = KEY_ORDER.iter().map(ascending).collect();
    object(vec![
        ("id", text(name)),
        (
            "partitionKey",
            object(vec![
                ("paths", Value::Array(vec![text(PARTITION_KEY_PATH)])),
                ("kind", text("Hash")),
                ("version", Value::Int64(2)),
            ]),
        ),
        (
            "indexingPolicy",
            object(vec![
                ("automatic", Value::Bool(true)),
                ("indexingMode", text("consistent")),
                ("includedPaths", Value::Array(vec![path("/*")])),
                ("excludedPaths", Value::Array(vec![path("/\"_etag\"/?"), path("/\"$edm\"/*")])),
                ("compositeIndexes", Value::Array(vec![Value::Array(key_order)])),
            ]),
        ),
    ])
}

/// Reads the name of the table that is to be made.
fn table_name_of(body: &[u8]) -> Result<String, Failure> {
    let invalid =
        || Failure::from(Kind::InvalidInput("An error occurred while processing this request.".into()));
    let body = json::parse(body).map_err(|_| invalid())?;
    match body.get("TableName") {
        Some(Value::String(name)) => Ok(name.clone()),
        Some(Value::Null) | None => Err(Kind::KeysMissing.into()),
        Some(_) => Err(invalid()),
    }
}

fn table_text(request: &Request<'_>, name: &str, level: MetadataLevel) -> Vec<u8> {
    let mut text = b"{".to_vec();
    if level != MetadataLevel::None {
        text.extend_from_slice(b"\"odata.metadata\":");
        json::write_string(&format!("{}$metadata#Tables/@Element", request.base_url), &mut text);
        text.push(b',');
    }
    write_table(&mut text, request, name, level);
    text.push(b'}');
    text
}

fn write_table(text: &mut Vec<u8>, request: &Request<'_>, name: &str, level: MetadataLevel) {
    if level == MetadataLevel::Full {
        let link = format!("Tables('{}')", encoded(name));
        for (member, value) in [
            ("\"odata.type\":", format!("{}.Tables", request.account)),
            ("\"odata.id\":", format!("{}{link}", request.base_url)),
            ("\"odata.editLink\":", link),
        ] {
            text.extend_from_slice(member.as_bytes());
            json::write_string(&value, text);
            text.push(b',');
        }
    }
    text.extend_from_slice(b"\"TableName\":");
    json::write_string(name, text);
}

fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    path::encode(name, &mut encoded);
    encoded
}

fn decode_token(token: &str) -> Result<String, Failure> {
    let name = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    name.ok_or_else(|| Kind::InvalidInput("The continuation was not given by this server.".into()).into())
}
