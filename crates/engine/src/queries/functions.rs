//! The user-defined functions that one page of a query may call, in a sandbox of its own.

use std::time::Duration;

use armilla_env::Env;
use armilla_query::UserFunctions;
use armilla_script::Sandbox;
use armilla_value::Value;

use super::oversight::Cancellation;
use crate::containers::ContainerHandle;
use crate::limits::FUNCTION_GRACE;
use crate::scripts::ScriptKind;

/// The functions of a container that a query names.
pub(super) struct ContainerFunctions {
    /// There is none for a query without functions: making one takes longer than many a query.
    sandbox: Option<Sandbox>,
}

impl ContainerFunctions {
    /// Finds the functions of these names, for a page that ends at a deadline, or when no caller waits for it.
    pub(super) fn find(
        handle: &ContainerHandle,
        names: &[String],
        env: &Env,
        page_deadline: Duration,
        cancellation: &Cancellation,
    ) -> armilla_query::Result<ContainerFunctions> {
        if names.is_empty() {
            return Ok(ContainerFunctions { sandbox: None });
        }
        let mut functions = Vec::new();
        {
            let stored = handle.scripts().of(ScriptKind::UserDefinedFunction);
            for (index, name) in names.iter().enumerate() {
                let Some(found) = stored.get(name) else {
                    let message =
                        format!("the user-defined function '{name}' is not registered in this container");
                    return Err(armilla_query::Error::refused(message));
                };
                // A name stands in the list as often as in the text.
                if !names[..index].contains(name) {
                    functions.push((name, found.program.clone()));
                }
            }
        }
        let clock = env.clock.clone();
        // A page ends by itself between two rows. Only a row that does not come to its end is cut off.
        let deadline = page_deadline + FUNCTION_GRACE;
        let (workers, owner) = (handle.script_workers(), handle.script_owner());
        let cancellation = cancellation.clone();
        let expired = move || clock.elapsed() >= deadline || cancellation.is_cancelled();
        let mut sandbox = Sandbox::new(workers, owner, expired)
            .map_err(|error| armilla_query::Error::refused(error.to_string()))?;
        for (name, function) in functions {
            sandbox
                .add(name, &function)
                .map_err(|error| armilla_query::Error::refused(failed(name, &error.to_string())))?;
        }
        Ok(ContainerFunctions { sandbox: Some(sandbox) })
    }
}

impl UserFunctions for ContainerFunctions {
    fn call(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, String> {
        match &self.sandbox {
            Some(sandbox) => sandbox.call(name, arguments).map_err(|error| failed(name, &error.to_string())),
            None => Err(failed(name, "the query does not name it")),
        }
    }
}

fn failed(name: &str, why: &str) -> String {
    format!("the user-defined function '{name}' failed: {why}")
}
