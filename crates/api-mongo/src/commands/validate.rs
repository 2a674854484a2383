//! `validate`.

use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["full", "repair", "metadata", "checkBSONConformance", "scandata", "background"])?;
    arguments
        .refuse(&["repair"], "what is stored is repaired by 'armilla check', while the server is stopped")?;
    if arguments.truth("background")? && arguments.truth("full")? {
        return Err(Failure::new(
            72,
            "Running the validate command with { background: true } is not supported with { full: true }.",
        ));
    }
    let namespace = context.namespace()?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let collection = collection
        .ok_or_else(|| Failure::new(26, format!("Collection '{namespace}' does not exist to validate.")))?;
    let usage = collection.handle.usage(&context.caller)?;
    let records = Value::Int64(i64::try_from(usage.items).unwrap_or(i64::MAX));
    let indexes = super::list_indexes::all(&collection);
    let names = indexes.iter().filter_map(|index| index.get("name")).filter_map(Value::as_str);
    let details: Object =
        names.map(|name| (name.to_owned(), Value::Object(Object::from([("valid", true)])))).collect();
    Ok(Object::from([
        ("ns", Value::from(namespace.to_string())),
        ("nInvalidDocuments", Value::Int64(0)),
        ("nNonCompliantDocuments", Value::Int64(0)),
        ("nrecords", records),
        ("nIndexes", Value::Int32(i32::try_from(indexes.len()).unwrap_or(i32::MAX))),
        ("indexDetails", Value::Object(details)),
        ("valid", Value::Bool(true)),
        ("repaired", Value::Bool(false)),
        (
            "warnings",
            Value::from(vec![
                "what is stored is checked with 'armilla check', while the server is stopped: this looked at the figures",
            ]),
        ),
        ("errors", Value::Array(Vec::new())),
    ])
    .into())
}
