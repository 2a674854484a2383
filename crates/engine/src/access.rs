//! Who asks, and what they may do.

use armilla_container::{ReadCost, SessionToken};
use armilla_governor::Priority;
use armilla_value::PartitionKey;
use armilla_value::rid::ContainerRid;

use crate::consistency::Consistency;
use crate::error::{Error, ErrorKind, Result};
use crate::open::Engine;

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
    pub priority: Priority,
}

impl Caller {
    /// Returns a caller who may do everything.
    pub fn full() -> Caller {
        Caller {
            access: Access::Full,
            consistency: None,
            session: SessionToken::default(),
            priority: Priority::default(),
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
    /// What one permission says.
    Granted(Grant),
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
    /// The one logical partition that it is for, if it is not for all of them.
    pub partition_key: Option<PartitionKey>,
}

/// How far a permission goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantMode {
    /// Reading.
    Read,
    /// Everything.
    All,
}

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
}

impl Access {
    /// Refuses what is not about items of one container to everybody but the account's own keys.
    pub(crate) fn check_account(&self, action: Action) -> Result<()> {
        match (self, action) {
            (Access::Full, _) | (Access::ReadOnly, Action::Read) => Ok(()),
            (Access::ReadOnly, Action::Write) => Err(read_only()),
            (Access::Granted(_), _) => Err(Error::new(
                ErrorKind::Forbidden,
                "a resource token gives access to one container or item, not to this resource",
            )),
        }
    }

    /// Refuses reading or changing a container's definition and ranges.
    pub(crate) fn check_container(&self, action: Action, container: ContainerRid) -> Result<()> {
        match self {
            Access::Granted(grant) if action == Action::Read && grant.container == container => Ok(()),
            _ => self.check_account(action),
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
        let Access::Granted(grant) = self else { return self.check_account(action) };
        let forbidden = |why: &str| Err(Error::new(ErrorKind::Forbidden, format!("the permission is {why}")));
        if grant.container != container {
            return forbidden("for another container");
        }
        if action == Action::Write && grant.mode == GrantMode::Read {
            return forbidden("for reading only");
        }
        if grant.item.is_some() && grant.item.as_deref() != item {
            return forbidden("for another item");
        }
        if grant.partition_key.is_some() && grant.partition_key.as_ref() != partition_key {
            return forbidden("for another partition key");
        }
        Ok(())
    }
}

fn read_only() -> Error {
    Error::new(ErrorKind::Forbidden, "the key is for reading only")
}

impl Engine {
    /// Returns the grant that a resource token carries, if it was made here and has not expired.
    pub fn authorize_token(&self, token: &str) -> Result<Grant> {
        self.tokens().verify(token, self.env().clock.now_seconds())
    }
}
