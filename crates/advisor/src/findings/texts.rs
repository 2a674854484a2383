//! What the text of a query says that costs more than it has to.

use armilla_ledger::report::Shape;

use super::{Candidate, Case, cut, percent};
use crate::evidence::ContainerEvidence;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::model::name;

fn by_function(
    case: &Case<'_>,
    rule: &'static str,
    title: &str,
    advice: &str,
    is_meant: impl Fn(&Shape, &Facts) -> bool,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            if is_meant(shape, &facts) && shape.total.count >= 10 {
                found.push(finding(case, container, shape, rule, title, advice));
            }
        }
    }
    found
}

fn finding(
    case: &Case<'_>,
    container: &ContainerEvidence,
    shape: &Shape,
    rule: &'static str,
    title: &str,
    advice: &str,
) -> Candidate {
    let part = case.part(shape);
    Finding::new(rule, if part > 0.05 { Severity::Warning } else { Severity::Note }, title)
        .about(&container.name)
        .because(cut(&name(container.short_name(), shape)))
        .because(format!(
            "asked {} times at {:.2} RU: {} of all request units",
            shape.total.count,
            case.charge(container, shape),
            percent(part)
        ))
        .advise(advice)
        .sure(0.7)
        .into()
}

fn calls(facts: &Facts, function: &str) -> bool {
    facts.functions.iter().any(|name| name == function)
}

/// An element of an array that is looked for by a part of it.
pub(super) fn partial_array_contains(case: &Case<'_>) -> Vec<Candidate> {
    by_function(
        case,
        "partial-array-contains",
        "ARRAY_CONTAINS looks for a part of an element",
        "Unfold the array instead: `EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.name = @name)` is answered by the \
         index.",
        |shape, facts| {
            let text = shape.text.to_ascii_lowercase().replace(' ', "");
            calls(facts, "ARRAY_CONTAINS") && text.contains(",true)")
        },
    )
}

/// A text that is looked for inside of others.
pub(super) fn contains_in_filter(case: &Case<'_>) -> Vec<Candidate> {
    by_function(
        case,
        "contains-in-filter",
        "CONTAINS or ENDSWITH reads the whole index of a path",
        "Compare the whole text, or its beginning with STARTSWITH; where the end is asked for, keep the text backwards \
         in a member of its own.",
        |shape, facts| {
            let is_wasteful = shape.total.entries > 10 * shape.total.rows.max(shape.total.count);
            (calls(facts, "CONTAINS") || calls(facts, "ENDSWITH")) && is_wasteful
        },
    )
}

/// A text that is made large or small for each item.
pub(super) fn upper_or_lower(case: &Case<'_>) -> Vec<Candidate> {
    by_function(
        case,
        "upper-or-lower",
        "UPPER or LOWER is computed for each item that is read",
        "Keep the text in small letters in a member of its own, or as a computed property with an index, and compare \
         that.",
        |_, facts| calls(facts, "UPPER") || calls(facts, "LOWER"),
    )
}

/// The time of the moment, asked of each item.
pub(super) fn current_time(case: &Case<'_>) -> Vec<Candidate> {
    const FUNCTIONS: [&str; 3] = ["GETCURRENTDATETIME", "GETCURRENTTIMESTAMP", "GETCURRENTTICKS"];
    by_function(
        case,
        "current-time",
        "The current time is computed inside of the query",
        "Let the caller send the time as a parameter: the index then serves the comparison, and all pages mean the \
         same moment.",
        |_, facts| FUNCTIONS.iter().any(|function| calls(facts, function)),
    )
}
