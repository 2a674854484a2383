//! Plans as clients read them that run a query on every partition themselves.
//!
//! Clients are pedantic about it: every list is present even if empty, ranges are sorted and do not overlap, and
//! `rewrittenQuery` is empty where the original text is to be used.

use armilla_engine::gateway::{Aggregate, Direction, DistinctType, GatewayPlan, QueryInfo, QueryRange};
use armilla_value::json::write_string;

#[cfg(test)]
mod tests;

/// Returns a plan as JSON, with every list present.
pub(crate) fn to_json(plan: &GatewayPlan) -> String {
    let mut out = Vec::with_capacity(512 + 128 * plan.query_ranges.len());
    out.extend_from_slice(b"{\"partitionedQueryExecutionInfoVersion\":2,\"queryInfo\":");
    write_info(&plan.query_info, &mut out);
    out.extend_from_slice(b",\"queryRanges\":");
    write_list(&plan.query_ranges, b"[]", &mut out, write_range);
    out.push(b'}');
    String::from_utf8(out).expect("everything written is text")
}

fn write_info(info: &QueryInfo, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"distinctType\":");
    write_string(distinct_name(info.distinct_type), out);
    for (name, count) in [("top", info.top), ("offset", info.offset), ("limit", info.limit)] {
        let count = count.map_or_else(|| "null".to_owned(), |count| count.to_string());
        out.extend_from_slice(format!(",\"{name}\":{count}").as_bytes());
    }
    out.extend_from_slice(b",\"orderBy\":");
    write_list(&info.order_by, b"[]", out, |direction, out| write_string(direction_name(*direction), out));
    for (name, texts) in [
        ("orderByExpressions", &info.order_by_expressions),
        ("groupByExpressions", &info.group_by_expressions),
        ("groupByAliases", &info.group_by_aliases),
    ] {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        write_list(texts, b"[]", out, |text, out| write_string(text, out));
    }
    out.extend_from_slice(b",\"aggregates\":");
    write_list(&info.aggregates, b"[]", out, |aggregate, out| write_string(aggregate_name(*aggregate), out));
    out.extend_from_slice(b",\"groupByAliasToAggregateType\":");
    write_list(&info.group_by_alias_to_aggregate, b"{}", out, |(alias, aggregate), out| {
        write_string(alias, out);
        out.push(b':');
        match aggregate {
            Some(aggregate) => write_string(aggregate_name(*aggregate), out),
            None => out.extend_from_slice(b"null"),
        }
    });
    out.extend_from_slice(b",\"rewrittenQuery\":");
    write_string(&info.rewritten_query, out);
    out.extend_from_slice(
        format!(",\"hasSelectValue\":{},\"dCountInfo\":", info.has_select_value).as_bytes(),
    );
    match &info.distinct_count_alias {
        Some(alias) => {
            out.extend_from_slice(b"{\"dCountAlias\":");
            write_string(alias, out);
            out.push(b'}');
        }
        None => out.extend_from_slice(b"null"),
    }
    // True only for vector search, which the binder refuses as yet.
    out.extend_from_slice(b",\"hasNonStreamingOrderBy\":false}");
}

fn write_range(range: &QueryRange, out: &mut Vec<u8>) {
    let QueryRange { min, max, is_max_inclusive } = range;
    let text = format!(
        "{{\"min\":\"{min}\",\"max\":\"{max}\",\"isMinInclusive\":true,\"isMaxInclusive\":{is_max_inclusive}}}"
    );
    out.extend_from_slice(text.as_bytes());
}

fn write_list<T>(elements: &[T], brackets: &[u8; 2], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(brackets[0]);
    for (position, element) in elements.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(brackets[1]);
}

fn distinct_name(distinct_type: DistinctType) -> &'static str {
    match distinct_type {
        DistinctType::None => "None",
        DistinctType::Ordered => "Ordered",
        DistinctType::Unordered => "Unordered",
    }
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "Ascending",
        Direction::Descending => "Descending",
    }
}

fn aggregate_name(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Count => "Count",
        Aggregate::Sum => "Sum",
        Aggregate::Avg => "Average",
        Aggregate::Min => "Min",
        Aggregate::Max => "Max",
        Aggregate::CountIf => "CountIf",
        Aggregate::MakeList => "MakeList",
        Aggregate::MakeSet => "MakeSet",
    }
}
