//! Stored procedures: running them.

use armilla_container::{Position, RequestUnits};
use armilla_script::{Finished, Role};
use armilla_value::PartitionKey;

use crate::access::{Action, Caller};
use crate::containers::Located;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::items::required;
use crate::scripts::ScriptKind;

/// A stored procedure that ran, and whose writes are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureDone {
    /// What it answers with, as JSON; nothing where it said nothing.
    pub body: Option<String>,
    /// What it logged, if that was asked for.
    pub log: Option<String>,
    /// What it cost.
    pub charge: RequestUnits,
    /// Where it ran, and with which commit.
    pub position: Position,
}

impl Engine {
    /// Runs a stored procedure in one logical partition, as one transaction. `arguments` is a JSON array; nothing for
    /// none.
    ///
    /// Whether it writes cannot be known before it ran, so whoever runs it needs to be allowed to.
    pub async fn execute_procedure(
        &self,
        caller: &Caller,
        located: &Located,
        procedure: &str,
        partition_key: Option<&PartitionKey>,
        arguments: &[u8],
        keeps_log: bool,
    ) -> Result<ProcedureDone> {
        let Located { container, by_rid } = located;
        caller.read_cost(self.consistency())?;
        let partition_key = required(partition_key)?;
        caller.access.check_item(Action::Write, container.rid(), None, Some(partition_key))?;
        let program = container.scripts().find(ScriptKind::StoredProcedure, procedure, *by_rid)?.program;
        let arguments = arguments.to_vec();
        let transacted = self.run_scripts(caller, container, partition_key, move |execution| {
            let (result, log) = execution.run(&program, Role::Procedure { arguments: &arguments }, keeps_log);
            match result {
                Ok(Finished { response_body, .. }) => Ok((response_body, log)),
                Err(error) => Err(Error { script_log: log, ..error }),
            }
        });
        let transacted = transacted.await?;
        let (body, log) = transacted.value;
        Ok(ProcedureDone { body, log, charge: transacted.charge, position: transacted.position })
    }
}
