//! Plans as text, for `EXPLAIN`, logs and tests: stable, and in the words of the query language.
//!
//! A logical plan is one line for each step that rows pass, from their source on. A physical plan is how items are
//! found, then what is checked on each. Conditions look like the query's own, with `c` for the item and `$n` for what
//! other sources bind.

mod expression;
mod ranges;

use std::fmt;

use crate::bound::{BoundSource, OrderKey, Projection, SourceKind, Window};
use crate::logical::{Input, LogicalPlan};
use crate::physical::{Access, IndexOnly, IndexRange, IndexSet, PhysicalPlan, Walk};
use crate::source::Direction;
use expression::{comma_separated, quoted, slot_name};

#[cfg(test)]
mod tests;

/// Returns how a query is answered from one partition: what is done with rows, and how items are found.
pub fn explain(plan: &LogicalPlan, physical: &PhysicalPlan) -> String {
    format!("{plan}{}", Found { physical, order: order_text(&innermost(plan).order) })
}

/// How items are found, and by what they are put in order where an access does that: it does not know itself.
struct Found<'p> {
    physical: &'p PhysicalPlan,
    order: Option<String>,
}

fn innermost(plan: &LogicalPlan) -> &LogicalPlan {
    match &plan.input {
        Input::Derived { plan, .. } => innermost(plan),
        Input::Nothing | Input::Items => plan,
    }
}

pub(crate) fn logical(plan: &LogicalPlan, indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let pad = " ".repeat(indent);
    match &plan.input {
        Input::Nothing => writeln!(f, "{pad}OneRow")?,
        Input::Items => writeln!(f, "{pad}Items")?,
        Input::Derived { slot, plan } => {
            writeln!(f, "{pad}Rows of {}", slot_name(*slot))?;
            logical(plan, indent + INDENT, f)?;
        }
    }
    for condition in &plan.filter {
        writeln!(f, "{pad}Filter {condition}")?;
    }
    for join in &plan.joins {
        writeln!(f, "{pad}Join {}", join.source)?;
        for condition in &join.filter {
            writeln!(f, "{pad}Filter {condition}")?;
        }
    }
    if let Some(grouping) = &plan.grouping {
        write!(f, "{pad}Group")?;
        if !grouping.keys.is_empty() {
            write!(f, " by {}", comma_separated(&grouping.keys))?;
        }
        for (number, (aggregate, argument)) in grouping.aggregates.iter().enumerate() {
            let separator = if number == 0 { ":" } else { "," };
            write!(f, "{separator} {}({argument})", aggregate.name())?;
        }
        writeln!(f)?;
    }
    if let Some(order) = order_text(&plan.order) {
        writeln!(f, "{pad}Order by {order}")?;
    }
    writeln!(f, "{pad}Project {}", plan.projection)?;
    if plan.distinct {
        writeln!(f, "{pad}Distinct")?;
    }
    if plan.window != Window::default() {
        write!(f, "{pad}Window offset={}", plan.window.offset)?;
        if let Some(limit) = plan.window.limit {
            write!(f, " limit={limit}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

const INDENT: usize = 2;

fn order_text(order: &[OrderKey]) -> Option<String> {
    let key = |key: &OrderKey| format!("{} {}", key.expr, if key.descending { "DESC" } else { "ASC" });
    let keys: Vec<String> = order.iter().map(key).collect();
    (!keys.is_empty()).then(|| keys.join(", "))
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Projection::Value(expr) => write!(f, "VALUE {expr}"),
            Projection::Fields(fields) => {
                for (number, (name, expr)) in fields.iter().enumerate() {
                    if number > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{expr} AS {name}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for BoundSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = slot_name(self.slot);
        match &self.kind {
            SourceKind::Item => write!(f, "{slot}"),
            SourceKind::Value(expr) => write!(f, "{slot} = {expr}"),
            SourceKind::Elements(expr) => write!(f, "{slot} IN {expr}"),
            SourceKind::Rows(query) => write!(f, "{slot} = ({query})"),
            SourceKind::RowElements(query) => write!(f, "{slot} IN ({query})"),
        }
    }
}

impl fmt::Display for PhysicalPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Found { physical: self, order: None }.fmt(f)
    }
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.access(&self.physical.access, 0, f)?;
        for condition in &self.physical.residual {
            writeln!(f, "Filter {condition}")?;
        }
        Ok(())
    }
}

impl Found<'_> {
    fn access(&self, access: &Access, indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pad = " ".repeat(indent);
        match access {
            Access::Nothing => writeln!(f, "{pad}Nothing"),
            Access::Point { id } => writeln!(f, "{pad}PointRead id={}", quoted(id)),
            Access::ScanByNumber => writeln!(f, "{pad}Scan in the order of insertion"),
            Access::ScanByKey => writeln!(f, "{pad}Scan in the order of keys"),
            Access::Set(set) => writeln!(f, "{pad}{set}"),
            Access::Stream(range) => writeln!(f, "{pad}Stream {range}"),
            Access::Covered(covered) => writeln!(f, "{pad}Values of {}", covered.range),
            Access::Walk(walk) => writeln!(f, "{pad}{walk}"),
            Access::Sort(inner) => {
                match &self.order {
                    Some(order) => writeln!(f, "{pad}Sort by {order}")?,
                    None => writeln!(f, "{pad}Sort")?,
                }
                self.access(inner, indent + INDENT, f)
            }
            Access::IndexOnly(only) => writeln!(f, "{pad}{only}"),
        }
    }
}

impl fmt::Display for IndexSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, sets) = match self {
            IndexSet::Range(range) => return range.fmt(f),
            IndexSet::And(sets) => ("And", sets),
            IndexSet::Or(sets) => ("Or", sets),
        };
        write!(f, "{word}({})", comma_separated(sets))
    }
}

impl fmt::Display for IndexRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match (&self.term_filter, self.is_equality) {
            (Some(_), _) => "IndexScan",
            (None, true) => "IndexSeek",
            (None, false) => "IndexRange",
        };
        write!(f, "{word} {}", ranges::text(&self.paths, &self.ranges, self.is_equality))?;
        if let Some(condition) = &self.term_filter {
            write!(f, " where {condition}")?;
        }
        match self.estimate {
            None => Ok(()),
            Some(1) => f.write_str(" (1 entry)"),
            Some(entries) => write!(f, " ({entries} entries)"),
        }
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Forward => "ASC",
            Direction::Reverse => "DESC",
        };
        match self.paths.as_slice() {
            [path] => write!(f, "Walk {path} {direction}")?,
            paths => {
                let word = if self.direction == Direction::Forward { "forward" } else { "in reverse" };
                write!(f, "Walk ({}) {word}", paths.join(", "))?;
            }
        }
        if self.is_partial {
            write!(f, " of {}", ranges::bounds(&self.paths, std::slice::from_ref(&self.range), false))?;
        }
        if self.adds_missing {
            f.write_str(" and items without")?;
        }
        if let Some(passing) = &self.passing {
            write!(f, " among {passing}")?;
        }
        Ok(())
    }
}

impl fmt::Display for IndexOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexOnly::CountAll => f.write_str("CountItems"),
            IndexOnly::CountSet(set) => write!(f, "Count {set}"),
            IndexOnly::CountPath(range) => write!(f, "CountEntries {range}"),
            IndexOnly::Extreme { index, highest } => {
                write!(f, "{} of {index}", if *highest { "Highest" } else { "Lowest" })
            }
            IndexOnly::Distinct(range) => write!(f, "DistinctValues {range}"),
        }
    }
}
