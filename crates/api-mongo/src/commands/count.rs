//! `count`, and how documents are counted.

use std::sync::Arc;

use armilla_engine::plans::{Aggregate, BoundQuery, Expr, Grouping, Projection as Rows};
use armilla_engine::{Query, QueryRequest};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value, json};

use super::statements::check_hint;
use crate::catalog::{Collection, Found};
use crate::context::Context;
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::pages::{DocumentRows, Shape};
use crate::reply::Reply;
use crate::search::Search;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["query", "limit", "skip", "hint", "collation", "fields"])?;
    context.check_collation()?;
    let namespace = context.namespace()?;
    let (scope, environment) = context.environment_with(None)?;
    let none = Object::new();
    let filter = Arc::new(Filter::parse(arguments.object("query")?.unwrap_or(&none), &scope)?);
    let skip = arguments.count("skip")?.unwrap_or(0);
    // A negative limit means the same as a positive one.
    let limit = arguments.integer("limit")?.map_or(0, i64::unsigned_abs);
    let collection = match context.shared.catalog.find(&namespace).await? {
        Found::Collection(collection) => collection,
        Found::Nothing => return Ok(Object::from([("n", Value::Int32(0))]).into()),
        Found::View(view) => {
            let counted =
                super::aggregate::count_view(context, &namespace, &view, arguments.object("query")?).await?;
            return Ok(reply(counted, skip, limit));
        }
    };
    check_hint(&collection, arguments.value("hint"))?;
    let search = Search::new(&collection, filter, Arc::new(environment));
    let mut data = context.data(&collection);
    let counted = count(&mut data, &search, &collection).await?;
    Ok(reply(counted, skip, limit))
}

fn reply(counted: u64, skip: u64, limit: u64) -> Reply {
    let counted = counted.saturating_sub(skip);
    let counted = if limit > 0 { counted.min(limit) } else { counted };
    let counted = match i32::try_from(counted) {
        Ok(counted) => Value::Int32(counted),
        Err(_) => Value::Int64(i64::try_from(counted).unwrap_or(i64::MAX)),
    };
    Object::from([("n", counted)]).into()
}

/// Counts what matches: by the figures of the container, by the index, or one by one.
pub(super) async fn count(data: &mut Data<'_>, search: &Search, collection: &Collection) -> Result<u64> {
    if search.points().is_some() {
        return Ok(search.read_points(data).await?.len() as u64);
    }
    if search.lowered.is_exact
        && search.lowered.condition.is_none()
        && search.partition_key().is_none_or(|key| key.0.is_empty())
    {
        let definition = collection.handle.definition();
        // What has expired is counted until it is taken away, so the figures are not the answer.
        if definition.default_ttl.is_none() {
            return Ok(collection.handle.usage(data.caller)?.items);
        }
    }
    if search.lowered.is_exact {
        let query = BoundQuery {
            grouping: Some(Grouping {
                keys: Vec::new(),
                aggregates: vec![(Aggregate::Count, Expr::constant(Value::Int64(1)))],
            }),
            projection: Rows::Value(Expr::Aggregate(0)),
            ..search.query()
        };
        let query = Arc::new(query);
        let mut total = 0;
        let mut continuation = None;
        loop {
            let request = QueryRequest {
                scope: search.scope(),
                continuation,
                ..QueryRequest::of(Query::Plan(query.clone()))
            };
            let page = data.query(request).await?;
            for row in page.each_row() {
                let text = row.strip_prefix(b",").unwrap_or(row);
                let number = json::parse(text).ok().and_then(|value| value.as_i64());
                total += number
                    .and_then(|number| u64::try_from(number).ok())
                    .ok_or_else(|| Failure::new(1, "a count is no number"))?;
            }
            match page.continuation {
                Some(next) => continuation = Some(next),
                None => return Ok(total),
            }
        }
    }
    let form = Arc::new(DocumentRows::new(search.residual(), Shape::Nothing, search.environment.clone()));
    let query = Arc::new(search.query());
    let mut total = 0;
    let mut continuation = None;
    loop {
        let page = data.query(search.request(&query, &form, Some(1_000), continuation)).await?;
        form.check()?;
        total += page.row_count() as u64;
        match page.continuation {
            Some(next) => continuation = Some(next),
            None => return Ok(total),
        }
    }
}
