//! What a filter says about keys alone.

use super::{Condition, Filter};

impl Filter {
    /// Says whether nothing but keys is compared.
    pub(crate) fn is_of_keys(&self) -> bool {
        self.root.is_of_keys()
    }
}

impl Condition {
    fn is_of_keys(&self) -> bool {
        match self {
            Condition::Constant(_) => true,
            Condition::Compare { name, .. } => matches!(name.as_str(), "PartitionKey" | "RowKey"),
            Condition::Not(inner) => inner.is_of_keys(),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().all(Condition::is_of_keys),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn keys_are_told_from_properties() {
        for (filter, expected) in [
            ("PartitionKey eq 'a'", true),
            ("PartitionKey gt 'a' and not (RowKey lt 'b' or RowKey eq 'c')", true),
            ("true", true),
            ("PartitionKey eq 'a' and n eq 1", false),
            ("not (Timestamp gt datetime'2020-01-01T00:00:00Z')", false),
        ] {
            assert_eq!(Filter::parse(filter).unwrap().unwrap().is_of_keys(), expected, "{filter}");
        }
    }
}
