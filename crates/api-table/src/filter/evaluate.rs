//! Decides whether an entity matches.

use super::{Condition, Filter, Operator};
use crate::edm::{EdmRef, Relation, relation};

/// Something whose properties can be asked for by name.
pub(crate) trait Fields {
    /// Returns the value of a property; `None` if there is none.
    fn field(&self, name: &str) -> Option<EdmRef<'_>>;
}

impl Filter {
    /// Says whether an entity, or whatever else has fields, matches.
    pub(crate) fn matches(&self, fields: &dyn Fields) -> bool {
        self.root.holds(fields)
    }
}

impl Condition {
    fn holds(&self, fields: &dyn Fields) -> bool {
        match self {
            Condition::Constant(truth) => *truth,
            Condition::Compare { name, operator, value } => {
                fields.field(name).is_some_and(|field| compare(&field, *operator, &value.lend()))
            }
            Condition::Not(inner) => !inner.holds(fields),
            Condition::And(parts) => parts.iter().all(|part| part.holds(fields)),
            Condition::Or(parts) => parts.iter().any(|part| part.holds(fields)),
        }
    }
}

/// Compares two values; false where their types do not compare so.
pub(super) fn compare(left: &EdmRef<'_>, operator: Operator, right: &EdmRef<'_>) -> bool {
    match relation(left, right) {
        Relation::None => false,
        Relation::Unordered { is_equal } => match operator {
            Operator::Equal => is_equal,
            Operator::NotEqual => !is_equal,
            Operator::Greater | Operator::GreaterOrEqual | Operator::Less | Operator::LessOrEqual => false,
        },
        Relation::Ordered(order) => operator.holds(order),
    }
}
