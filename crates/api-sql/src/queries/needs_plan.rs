//! Queries whose results the client has to merge by itself: they are refused with the plan by which it does so.

use armilla_engine::gateway::{GatewayPlan, QueryInfo};
use armilla_rest_wire::status::Status;

use crate::queries::plan_text;
use crate::reply::failure::{Detail, Failure};

/// What a client is told of a query whose results it has to merge by itself.
const NOT_SERVABLE: &str = "The provided cross partition query can not be directly served by the gateway. \
     This is a first chance (internal) exception that all newer clients will know how to handle gracefully. \
     This exception is traced, but unless you see it bubble up as an exception (which only happens on older SDK \
     clients), then you can safely ignore this message.";

/// What it is told instead of aggregates that do not stand alone behind VALUE.
const VALUE_AGGREGATES_ONLY: &str =
    "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates.";

/// Returns the refusal of a query whose results the client has to merge, with the plan by which it does so.
pub(crate) fn refusal(status: Status, plan: &GatewayPlan) -> Failure {
    let message = if has_bare_aggregates(&plan.query_info) { VALUE_AGGREGATES_ONLY } else { NOT_SERVABLE };
    let detail = Some(Detail::AdditionalErrorInfo(plan_text::to_json(plan).into()));
    Failure { detail, ..Failure::new(status, message) }
}

/// Says whether a plan is that of aggregates without VALUE and without groups, which older clients cannot merge.
pub(crate) fn has_bare_aggregates(info: &QueryInfo) -> bool {
    let aggregates_by_name = info.group_by_alias_to_aggregate.iter().any(|(_, kind)| kind.is_some());
    !info.has_select_value
        && info.group_by_expressions.is_empty()
        && (aggregates_by_name || !info.aggregates.is_empty())
}
