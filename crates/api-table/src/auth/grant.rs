//! What an authentic request may do.
//!
//! The service documents which permission each operation needs, and for signatures of the account which kind of
//! resource. Ranges of keys are over both keys together: an entity is in the range if its pair of keys is between the
//! two ends, both included.

use armilla_rest_wire::authorization::KeyAccess;

use super::error::{AuthError, AuthErrorKind};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Lists tables.
    ListTables,
    /// Reads one table's name.
    ReadTable,
    /// Makes a table.
    CreateTable,
    /// Deletes a table.
    DeleteTable,
    /// Reads one entity.
    ReadEntity,
    /// Reads entities by a filter.
    QueryEntities,
    /// Inserts an entity that does not exist.
    InsertEntity,
    /// Replaces an entity that exists, or merges into it.
    UpdateEntity,
    /// Inserts or replaces an entity, or inserts it or merges into it.
    UpsertEntity,
    /// Deletes an entity.
    DeleteEntity,
    /// Reads the stored access policies of a table.
    ReadPolicies,
    /// Writes the stored access policies of a table.
    WritePolicies,
    /// Reads the properties of the service.
    ReadProperties,
    /// Writes the properties of the service.
    WriteProperties,
    /// Reads the state of the replication.
    ReadStats,
}

/// What a signature of the account needs for an operation.
struct AccountNeed {
    /// One of these kinds of resources: service, container, object.
    resource_types: &'static str,
    /// All of these permissions; any of them if `any_permission`.
    permissions: &'static str,
    any_permission: bool,
}

impl Operation {
    /// Returns whether it leaves everything as it is.
    pub(crate) fn is_read(self) -> bool {
        match self {
            Operation::ListTables
            | Operation::ReadTable
            | Operation::ReadEntity
            | Operation::QueryEntities
            | Operation::ReadPolicies
            | Operation::ReadProperties
            | Operation::ReadStats => true,
            Operation::CreateTable
            | Operation::DeleteTable
            | Operation::InsertEntity
            | Operation::UpdateEntity
            | Operation::UpsertEntity
            | Operation::DeleteEntity
            | Operation::WritePolicies
            | Operation::WriteProperties => false,
        }
    }

    /// Returns what a signature of the account needs; `None` if no signature permits it.
    fn account_need(self) -> Option<AccountNeed> {
        let all = |resource_types, permissions| {
            Some(AccountNeed { resource_types, permissions, any_permission: false })
        };
        match self {
            Operation::ReadProperties | Operation::ReadStats => all("s", "r"),
            Operation::WriteProperties => all("s", "w"),
            Operation::ListTables | Operation::ReadTable => all("c", "l"),
            Operation::CreateTable => {
                Some(AccountNeed { resource_types: "c", permissions: "cw", any_permission: true })
            }
            Operation::DeleteTable => all("c", "d"),
            // The service asks for objects, its emulator for containers.
            Operation::ReadEntity | Operation::QueryEntities => all("oc", "r"),
            Operation::InsertEntity => all("o", "a"),
            Operation::UpdateEntity => all("o", "u"),
            Operation::UpsertEntity => all("o", "au"),
            Operation::DeleteEntity => all("o", "d"),
            Operation::ReadPolicies | Operation::WritePolicies => None,
        }
    }

    /// Returns the permissions that a table's signature needs, all of them; `None` if no such signature permits it.
    fn table_need(self) -> Option<&'static str> {
        match self {
            Operation::ReadEntity | Operation::QueryEntities => Some("r"),
            Operation::InsertEntity => Some("a"),
            Operation::UpdateEntity => Some("u"),
            Operation::UpsertEntity => Some("au"),
            Operation::DeleteEntity => Some("d"),
            Operation::ListTables
            | Operation::ReadTable
            | Operation::CreateTable
            | Operation::DeleteTable
            | Operation::ReadPolicies
            | Operation::WritePolicies
            | Operation::ReadProperties
            | Operation::WriteProperties
            | Operation::ReadStats => None,
        }
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Principal {
    /// Whoever holds a key of the account.
    Full,
    /// Whoever holds a key that reads.
    ReadOnly,
    /// Whoever holds a shared access signature.
    Sas(SasGrant),
}

impl Principal {
    /// Returns who shows a key.
    pub(crate) fn of_key(access: KeyAccess) -> Principal {
        match access {
            KeyAccess::ReadWrite => Principal::Full,
            KeyAccess::ReadOnly => Principal::ReadOnly,
        }
    }
}

/// What a request may do: who asks, and at which address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permit {
    /// Who asks.
    pub(crate) principal: Principal,
    /// Whether it came to the secondary address.
    pub(crate) is_secondary: bool,
}

impl Permit {
    /// Refuses an operation that the request may not do.
    ///
    /// `table` is the table it is about, `keys` are partition key and row key of the entity, where it is about one.
    pub(crate) fn allows(
        &self,
        operation: Operation,
        table: Option<&str>,
        keys: Option<(&str, &str)>,
    ) -> Result<(), AuthError> {
        if self.is_secondary && !operation.is_read() {
            return Err(AuthError::new(AuthErrorKind::SecondaryWrite, ""));
        }
        match &self.principal {
            Principal::Full => Ok(()),
            Principal::ReadOnly if operation.is_read() => Ok(()),
            Principal::ReadOnly => Err(AuthError::new(AuthErrorKind::ReadOnlyKey, "the key only reads")),
            Principal::Sas(grant) => grant.allows(operation, table, keys),
        }
    }

    /// Returns the filter that a query must meet besides its own, if the request may not see all of the table.
    pub(crate) fn range_filter(&self) -> Option<String> {
        match &self.principal {
            Principal::Sas(SasGrant { scope: Scope::Table { range, .. }, .. }) => range.filter(),
            Principal::Full | Principal::ReadOnly | Principal::Sas(_) => None,
        }
    }
}

/// What a shared access signature is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The account: these kinds of resources, one letter each.
    Account {
        /// Of `s`, `c`, `o`.
        resource_types: String,
    },
    /// One table, or a part of it.
    Table {
        /// Its name, in any case.
        table: String,
        /// Which of its entities.
        range: KeyRange,
    },
}

/// What a valid shared access signature permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SasGrant {
    pub(super) scope: Scope,
    pub(super) permissions: String,
    /// Whether it was signed with a key that reads, and so cannot give more than that.
    pub(super) is_read_only: bool,
}

impl SasGrant {
    fn allows(
        &self,
        operation: Operation,
        table: Option<&str>,
        keys: Option<(&str, &str)>,
    ) -> Result<(), AuthError> {
        if self.is_read_only && !operation.is_read() {
            return Err(AuthError::new(
                AuthErrorKind::ReadOnlyKey,
                "the shared access signature was signed with a key that only reads",
            ));
        }
        match &self.scope {
            Scope::Account { resource_types } => self.allows_in_account(operation, resource_types),
            Scope::Table { table: granted, range } => {
                let Some(permissions) = operation.table_need() else {
                    return Err(not_granted("a shared access signature of a table is for entities only"));
                };
                let is_its_table = table.is_some_and(|table| table.to_lowercase() == granted.to_lowercase());
                if !is_its_table {
                    return Err(not_granted("the shared access signature is for another table"));
                }
                self.check_permissions(permissions, false)?;
                match keys {
                    Some((partition_key, row_key)) if !range.contains(partition_key, row_key) => {
                        Err(not_granted("the keys are out of the shared access signature's range"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn allows_in_account(&self, operation: Operation, resource_types: &str) -> Result<(), AuthError> {
        let Some(need) = operation.account_need() else {
            return Err(not_granted("no shared access signature permits access to stored access policies"));
        };
        if !need.resource_types.chars().any(|kind| resource_types.contains(kind)) {
            let detail = format!("srt={resource_types}, needed is one of '{}'", need.resource_types);
            return Err(AuthError::new(AuthErrorKind::ResourceType, detail));
        }
        self.check_permissions(need.permissions, need.any_permission)
    }

    fn check_permissions(&self, needed: &str, any_permission: bool) -> Result<(), AuthError> {
        let mut needed_letters = needed.chars();
        let is_permitted = if any_permission {
            needed_letters.any(|letter| self.permissions.contains(letter))
        } else {
            needed_letters.all(|letter| self.permissions.contains(letter))
        };
        if is_permitted {
            return Ok(());
        }
        let quantity = if any_permission { "one of " } else { "" };
        let detail = format!("sp={}, needed is {quantity}'{needed}'", self.permissions);
        Err(AuthError::new(AuthErrorKind::Permission, detail))
    }
}

/// A range of entities by their keys, both ends included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyRange {
    /// The first; none if there is no limit.
    pub(crate) start: Option<KeyBound>,
    /// The last; none if there is no limit.
    pub(crate) end: Option<KeyBound>,
}

/// One end of a range of entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyBound {
    /// The partition key of the last entity that is in the range.
    pub(crate) partition_key: String,
    /// Its row key; none if all of the partition is in the range.
    pub(crate) row_key: Option<String>,
}

impl KeyRange {
    /// Returns whether an entity is in the range.
    pub(crate) fn contains(&self, partition_key: &str, row_key: &str) -> bool {
        let is_after_start = self.start.as_ref().is_none_or(|start| {
            let start_row_key = start.row_key.as_deref().unwrap_or_default();
            (partition_key, row_key) >= (start.partition_key.as_str(), start_row_key)
        });
        let is_before_end = self.end.as_ref().is_none_or(|end| match &end.row_key {
            Some(end_row_key) => {
                (partition_key, row_key) <= (end.partition_key.as_str(), end_row_key.as_str())
            }
            None => partition_key <= end.partition_key.as_str(),
        });
        is_after_start && is_before_end
    }

    /// Returns the condition of being in the range, in the language of filters; `None` if everything is.
    fn filter(&self) -> Option<String> {
        let quoted = |key: &str| format!("'{}'", key.replace('\'', "''"));
        let side = |bound: &KeyBound, beyond: &str, row: &str| {
            let partition_key = quoted(&bound.partition_key);
            match &bound.row_key {
                Some(row_key) => format!(
                    "(PartitionKey {beyond} {partition_key} or \
                     (PartitionKey eq {partition_key} and RowKey {row} {}))",
                    quoted(row_key)
                ),
                None => format!("PartitionKey {row} {partition_key}"),
            }
        };
        let start = self.start.as_ref();
        let end = self.end.as_ref();
        // In one partition the equality is said outright: then the query runs in that partition alone.
        if let (Some(start), Some(end)) = (start, end)
            && start.partition_key == end.partition_key
        {
            let mut filter = format!("PartitionKey eq {}", quoted(&start.partition_key));
            match (&start.row_key, &end.row_key) {
                (Some(first), Some(last)) if first == last => {
                    filter.push_str(&format!(" and RowKey eq {}", quoted(first)));
                }
                (first, last) => {
                    for (row_key, comparison) in [(first, "ge"), (last, "le")] {
                        if let Some(row_key) = row_key {
                            filter.push_str(&format!(" and RowKey {comparison} {}", quoted(row_key)));
                        }
                    }
                }
            }
            return Some(filter);
        }
        let sides: Vec<_> = start
            .map(|start| side(start, "gt", "ge"))
            .into_iter()
            .chain(end.map(|end| side(end, "lt", "le")))
            .collect();
        (!sides.is_empty()).then(|| sides.join(" and "))
    }
}

fn not_granted(detail: &str) -> AuthError {
    AuthError::new(AuthErrorKind::NotGranted, detail)
}
