//! Stored procedures: running them.

use armilla_container::{Position, RequestUnits};
use armilla_ledger::Act;
use armilla_script::{Finished, Role};
use armilla_value::PartitionKey;

use crate::access::{Action, Caller};
use crate::containers::Located;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execution::Footprint;
use crate::items::required;
use crate::scripts::ScriptKind;
use crate::transactions::Ending;

/// A stored procedure that ran, and whose writes are stored, unless it was rehearsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureDone {
    /// What it answers with, as JSON; nothing where it said nothing.
    pub body: Option<String>,
    /// What it logged, if that was asked for.
    pub log: Option<String>,
    /// What it read and wrote.
    pub footprint: Footprint,
    /// What it cost.
    pub charge: RequestUnits,
    /// Where it ran, and with which commit.
    pub position: Position,
}

/// How a stored procedure is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcedureOptions {
    /// Whether what it logs is wanted.
    pub keeps_log: bool,
    /// Whether what it writes is forgotten in the end. It costs the same. What only a commit refuses is not found out.
    pub rehearses: bool,
}

impl Engine {
    /// Runs a stored procedure in one logical partition, as one transaction. `arguments` is a JSON array; nothing for
    /// none.
    ///
    /// Whether it writes cannot be known before it ran, so its caller needs to be allowed to write.
    pub async fn execute_procedure(
        &self,
        caller: &Caller,
        located: &Located,
        procedure: &str,
        partition_key: Option<&PartitionKey>,
        arguments: &[u8],
        options: ProcedureOptions,
    ) -> Result<ProcedureDone> {
        let Located { container, by_rid } = located;
        caller.read_cost(self.consistency())?;
        let partition_key = required(partition_key)?;
        caller.access.check_item(Action::Write, container.rid(), None, Some(partition_key))?;
        let program = container.scripts().find(ScriptKind::StoredProcedure, procedure, *by_rid)?.program;
        let arguments = arguments.to_vec();
        let ending = if options.rehearses { Ending::Forgotten } else { Ending::Stored };
        let transacted = self.run_scripts(caller, container, partition_key, ending, move |execution| {
            let role = Role::Procedure { arguments: &arguments };
            let (result, log) = execution.run(&program, role, options.keeps_log);
            match result {
                Ok(Finished { response_body, .. }) => Ok((response_body, log, execution.take_footprint())),
                Err(error) => Err(Error { script_log: log, ..error }),
            }
        });
        let noting = self.noting();
        let transacted = transacted.await;
        if let Some(noting) = noting {
            let act = Act::Procedure { name: procedure };
            noting.write(container, act, Some(partition_key), &transacted, |done| (done.charge, 0));
        }
        let transacted = transacted?;
        let (body, log, footprint) = transacted.value;
        let (charge, position) = (transacted.charge, transacted.position);
        Ok(ProcedureDone { body, log, footprint, charge, position })
    }
}
