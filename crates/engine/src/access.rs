//! Who asks, and what they may do.
//!
//! Invariants:
//! * a resource token is made only for callers who may grant everything that it can give;
//! * a caller with a token is told the same of everything outside of its scope, whether it exists or not.

use armilla_container::{ReadCost, SessionToken};
use armilla_governor::Claim;
use armilla_value::PartitionKey;
use armilla_value::rid::ContainerRid;

use crate::consistency::Consistency;
use crate::error::{Error, ErrorKind, Result};

/// Who asks, and with what knowledge.
#[derive(Debug, Clone)]
pub struct Caller {
    /// What they may do.
    pub access: Access,
    /// The consistency they ask for, if not the account's.
    pub consistency: Option<Consistency>,
    /// What they have seen.
    pub session: SessionToken,
    /// Whether others go first when throughput is short.
    pub claim: Claim,
}

impl Caller {
    /// Returns a caller who may do everything.
    pub fn full() -> Caller {
        Caller {
            access: Access::Full,
            consistency: None,
            session: SessionToken::default(),
            claim: Claim::default(),
        }
    }

    /// Returns what this caller's reads cost, or refuses a level that the account does not give.
    pub(crate) fn read_cost(&self, account: Consistency) -> Result<ReadCost> {
        match self.consistency {
            Some(asked) if asked > account => Err(Error::invalid(format!(
                "the consistency level '{}' is stronger than the account's '{}'; a request may only weaken it",
                asked.name(),
                account.name()
            ))),
            asked => Ok(asked.unwrap_or(account).read_cost()),
        }
    }
}

/// What a caller may do.
#[derive(Debug, Clone)]
pub enum Access {
    /// Everything.
    Full,
    /// Read everything.
    ReadOnly,
    /// What a role for data says.
    Role(DataRole),
    /// What one permission says.
    Granted(Grant),
}

/// A role for data, of a caller without a key: everything about items, nothing about the account. The service's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataRole {
    /// Reads items and definitions.
    Reader,
    /// Writes items as well.
    Contributor,
}

/// What one permission allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Reading only, or everything.
    pub mode: GrantMode,
    /// The container that it is for.
    pub container: ContainerRid,
    /// The one item that it is for, by id, if it is not for the whole container.
    pub item: Option<String>,
    /// The one logical partition that it is for, if it is not for all of them. A permission for an item has it wherever
    /// items have partition keys, because several may have the same id.
    pub partition_key: Option<PartitionKey>,
}

impl Grant {
    /// Says whether it is for less than a whole container.
    fn is_of_part(&self) -> bool {
        self.item.is_some() || self.partition_key.is_some()
    }
}

/// How far a permission goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantMode {
    /// Reading.
    Read,
    /// Everything.
    All,
}

impl GrantMode {
    /// Returns the name that definitions and tokens have for it.
    pub fn name(self) -> &'static str {
        match self {
            GrantMode::Read => "Read",
            GrantMode::All => "All",
        }
    }

    /// Reads such a name, however its letters are cased.
    pub fn parse(name: &str) -> Option<GrantMode> {
        [GrantMode::Read, GrantMode::All].into_iter().find(|mode| mode.name().eq_ignore_ascii_case(name))
    }
}

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
}

impl Access {
    /// Refuses what is not about one container to everybody but the account's own keys.
    pub fn check_key(&self) -> Result<()> {
        match self {
            Access::Full | Access::ReadOnly => Ok(()),
            Access::Role(_) => Err(not_data()),
            Access::Granted(_) => Err(outside()),
        }
    }

    /// Says whether the caller sees less than the whole of the containers that they see.
    pub fn is_of_part(&self) -> bool {
        match self {
            Access::Full | Access::ReadOnly | Access::Role(_) => false,
            Access::Granted(grant) => grant.is_of_part(),
        }
    }

    /// Refuses what is not about items of one container to everybody but the account's own keys.
    pub(crate) fn check_account(&self, action: Action) -> Result<()> {
        match (self, action) {
            (Access::Full, _) | (Access::ReadOnly | Access::Role(_), Action::Read) => Ok(()),
            (Access::ReadOnly, Action::Write) => Err(read_only()),
            (Access::Role(_), Action::Write) => Err(not_data()),
            (Access::Granted(_), _) => Err(outside()),
        }
    }

    /// Refuses to show or change permissions to everybody who could not do all that their tokens allow: to show a
    /// permission is to make a token.
    pub(crate) fn check_granting(&self) -> Result<()> {
        match self {
            Access::Full => Ok(()),
            Access::ReadOnly => Err(Error::new(
                ErrorKind::Forbidden,
                "the key is for reading only, and does not read permissions: they come with tokens, which may write",
            )),
            Access::Role(_) => Err(not_data()),
            Access::Granted(_) => Err(outside()),
        }
    }

    /// Refuses reading or changing a container's definition and ranges. A caller that may see items of several ids
    /// needs those to ask for them; a permission for one item is for that item alone.
    pub(crate) fn check_container(&self, action: Action, container: ContainerRid) -> Result<()> {
        match self {
            Access::Granted(grant)
                if action == Action::Read && grant.container == container && grant.item.is_none() =>
            {
                Ok(())
            }
            _ => self.check_account(action),
        }
    }

    /// Refuses to tell what a container holds to those who do not see all of it.
    pub(crate) fn check_usage(&self, container: ContainerRid) -> Result<()> {
        match self {
            Access::Granted(grant) if grant.is_of_part() => Err(outside()),
            _ => self.check_container(Action::Read, container),
        }
    }

    /// Refuses reading or changing an item; `None` for all items of the scope.
    pub(crate) fn check_item(
        &self,
        action: Action,
        container: ContainerRid,
        item: Option<&str>,
        partition_key: Option<&PartitionKey>,
    ) -> Result<()> {
        let grant = match self {
            Access::Granted(grant) => grant,
            Access::Role(DataRole::Contributor) => return Ok(()),
            Access::Role(DataRole::Reader) if action == Action::Write => return Err(beyond_role()),
            _ => return self.check_account(action),
        };
        let is_of_another_item = grant.item.is_some() && grant.item.as_deref() != item;
        let is_of_another_key =
            grant.partition_key.is_some() && grant.partition_key.as_ref() != partition_key;
        if grant.container != container || is_of_another_item || is_of_another_key {
            return Err(outside());
        }
        if action == Action::Write && grant.mode == GrantMode::Read {
            return Err(Error::new(ErrorKind::Forbidden, "the permission is for reading only"));
        }
        Ok(())
    }

    /// Says of an item that was looked for by its number, and is not there, what is said of one outside of the
    /// caller's scope: its place is not known, so neither is whether it would be in that scope.
    pub(crate) fn hide_missing(&self, error: Error) -> Error {
        match error.kind {
            ErrorKind::NotFound(_) if self.is_of_part() => outside(),
            _ => error,
        }
    }
}

/// The one answer about everything outside of a token's scope.
pub(crate) fn outside() -> Error {
    Error::new(ErrorKind::Forbidden, "the resource token gives no access to this resource")
}

/// What a caller with a role is told of everything that is no data.
fn not_data() -> Error {
    Error::new(
        ErrorKind::NotData,
        "The given request cannot be authorized by AAD token in data plane. Roles are for items: use a key of the account.",
    )
}

fn beyond_role() -> Error {
    Error::new(
        ErrorKind::BeyondRole,
        "Request is blocked because principal does not have required RBAC permissions to perform the action: its role is \
         for reading only.",
    )
}

fn read_only() -> Error {
    Error::new(ErrorKind::Forbidden, "the key is for reading only")
}
