//! A command on its way: who sent it, in which session, and what it has cost so far.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use armilla_engine::Caller;
use armilla_mongo_expression::{Environment, Expression, Scope, codes};
use armilla_value::{Object, Value};

use crate::Shared;
use crate::arguments::Arguments;
use crate::catalog::Collection;
use crate::connection::{Connection, User};
use crate::data::{Charges, Data};
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::sessions::SessionId;
use crate::snapshots::{Reader, Snapshot};

/// A command on its way.
pub(crate) struct Context<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) connection: &'a mut Connection,
    pub(crate) database: &'a str,
    pub(crate) name: &'a str,
    pub(crate) command: &'a Object,
    pub(crate) session: Option<SessionId>,
    /// The number of a write that may be sent again, or of a transaction.
    pub(crate) number: Option<i64>,
    /// Whether it is part of a transaction.
    pub(crate) is_in_transaction: bool,
    pub(crate) caller: Caller,
    pub(crate) charges: Charges,
    /// When it has to be done, on the clock of elapsed time.
    pub(crate) deadline: Option<Duration>,
    /// The moment that it reads, where it is not now.
    pub(crate) snapshot: Option<Snapshot>,
    /// Whether it is about a change stream.
    pub(crate) is_of_stream: bool,
    /// What the reply ends with besides what all have.
    pub(crate) notes: Object,
}

impl<'a> Context<'a> {
    pub(crate) fn arguments(&self) -> Arguments<'a> {
        Arguments::new(self.name, self.command)
    }

    /// Returns the collection that the command names as its first member.
    pub(crate) fn namespace(&self) -> Result<Namespace> {
        match self.command.iter().next() {
            Some((_, Value::String(collection))) => Namespace::new(self.database, collection),
            Some((name, value)) => Err(Failure::new(
                codes::INVALID_NAMESPACE,
                format!(
                    "collection name has invalid type {}: '{name}' names a collection",
                    armilla_mongo_expression::type_name(value)
                ),
            )),
            None => Err(Failure::new(codes::INVALID_NAMESPACE, "the command names no collection")),
        }
    }

    /// Returns the items of a collection, outside of any transaction.
    pub(crate) fn data<'d>(&'d self, collection: &'d Collection) -> Data<'d> {
        Data {
            engine: &self.shared.engine,
            caller: &self.caller,
            handle: &collection.handle,
            charges: &self.charges,
            transaction: None,
            written: None,
            patience: self.shared.patience(),
        }
    }

    /// Reads as of a moment, at the cost of the command.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { shared: self.shared, caller: &self.caller, charges: &self.charges }
    }

    /// Refuses what the user's roles do not allow in a database that the command names besides its own.
    pub(crate) fn check_access(&self, namespace: &Namespace, is_write: bool) -> Result<()> {
        let may = |user: &User| crate::users::may(user, &namespace.database, is_write);
        let is_kept = is_write && namespace.is_kept_by_the_server();
        if self.connection.user.as_ref().is_some_and(may) && !is_kept {
            return Ok(());
        }
        Err(Failure::new(
            codes::UNAUTHORIZED,
            format!("not authorized on {} to execute command {{ {}: ... }}", namespace.database, self.name),
        ))
    }

    /// Refuses collations but the simple one.
    pub(crate) fn check_collation(&self) -> Result<()> {
        self.command.get("collation").map_or(Ok(()), crate::collation::check)
    }

    /// Returns what the languages see besides documents, with the command's `let`.
    pub(crate) fn environment(&self) -> Result<(Scope, Environment)> {
        let variables = self.arguments().object("let")?;
        self.environment_with(variables)
    }

    /// The same with the given `let`.
    pub(crate) fn environment_with(&self, variables: Option<&Object>) -> Result<(Scope, Environment)> {
        let now = self.shared.clock.now();
        let mut seed = [0; 8];
        self.shared.env.entropy.fill(&mut seed);
        let mut environment = Environment {
            now_ms: self.shared.env.clock.now_ms(),
            cluster_time: (now.seconds, now.increment),
            user_roles: Vec::new(),
            variables: Object::new(),
            seed: u64::from_le_bytes(seed),
        };
        let mut scope = Scope::default();
        for (name, value) in variables.into_iter().flat_map(Object::iter) {
            let constant = Expression::parse(value, &Scope::default())?;
            let constant = constant.evaluate(&Object::new(), &environment)?.unwrap_or(Value::Null);
            scope.variables.push(name.to_owned());
            environment.variables.insert(name, constant);
        }
        Ok((scope, environment))
    }

    /// Returns how much of the command's time is left, where it has a limit.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_sub(self.shared.env.clock.elapsed()))
    }

    /// Fails when the time of the command is over.
    pub(crate) fn check_time(&self) -> Result<()> {
        match self.deadline {
            Some(deadline) if self.shared.env.clock.elapsed() >= deadline => {
                Err(Failure::new(codes::MAX_TIME_MS_EXPIRED, "operation exceeded time limit"))
            }
            _ => Ok(()),
        }
    }

    /// Makes an object id.
    pub(crate) fn new_object_id(&self) -> Value {
        self.shared.new_object_id()
    }
}

impl Shared {
    /// Returns the clock on which operations wait where the throughput is spent, if they do.
    pub(crate) fn patience(&self) -> Option<&dyn armilla_env::Clock> {
        self.options.waits_when_throttled.then_some(&*self.env.clock)
    }

    /// Returns the id of this process.
    pub(crate) fn process_id(&self) -> Value {
        let mut id = [0; 12];
        id[..5].copy_from_slice(&self.process);
        Value::ObjectId(id)
    }

    /// Makes an object id: seconds, process, counter.
    pub(crate) fn new_object_id(&self) -> Value {
        let seconds = u32::try_from(self.env.clock.now_ms() / 1000).unwrap_or(u32::MAX);
        let count = self.object_count.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut id = [0; 12];
        id[..4].copy_from_slice(&seconds.to_be_bytes());
        id[4..9].copy_from_slice(&self.process);
        id[9..].copy_from_slice(&count[5..]);
        Value::ObjectId(id)
    }
}
