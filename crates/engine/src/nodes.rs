//! The processes that serve an account.
//!
//! Not here: what they do for each other (`among`).

use crate::access::{Access, Action, Caller};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::neighbours::{NodeFigures, NodeStatus};

impl Engine {
    /// Returns the nodes that serve the account; none where this process does it alone.
    pub fn nodes(&self, caller: &Caller) -> Result<Vec<NodeStatus>> {
        caller.access.check_account(Action::Read)?;
        Ok(self.among().map(|among| among.nodes().table()).unwrap_or_default())
    }

    /// Returns the figures of this process as a node; nothing where it serves the account alone.
    pub fn node_figures(&self) -> Option<NodeFigures> {
        self.among().map(|among| among.nodes().figures())
    }

    /// Asks a node to end once others have taken its partitions: the one with this name, or this one. It goes on in the
    /// background. Returns the name.
    pub fn drain_node(&self, caller: &Caller, name: Option<&str>) -> Result<String> {
        caller.access.check_account(Action::Write)?;
        if !matches!(caller.access, Access::Full) {
            return Err(Error::new(ErrorKind::Forbidden, "a key for reading ends no node"));
        }
        let Some(among) = self.among() else {
            return Err(Error::invalid(
                "this server is not one of several nodes: nothing could take over what it has",
            ));
        };
        let nodes = among.nodes().table();
        let wanted = |node: &&NodeStatus| match name {
            Some(name) => node.name == name || node.address == name,
            None => node.is_self,
        };
        let Some(node) = nodes.iter().find(wanted) else {
            let known: Vec<String> =
                nodes.iter().map(|node| format!("{} at {}", node.name, node.address)).collect();
            let name = name.unwrap_or_default();
            return Err(Error::invalid(format!("there is no node '{name}', but {}", known.join(", "))));
        };
        if nodes.len() < 2 {
            return Err(Error::invalid(
                "it is the only node: nothing could take over what it has; end it with SIGTERM",
            ));
        }
        among.nodes().drain(&node.name);
        Ok(node.name.clone())
    }
}
