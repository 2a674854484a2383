//! Where nodes leave word for each other: a few objects under one prefix.

use std::path::Path as FilePath;
use std::sync::Arc;

use armilla_lease::{Register, RegisterError, Registers, Version};
use object_store::ObjectStore;
use object_store::path::Path;

use crate::assignment::Assignment;

/// The objects of a cluster.
#[derive(Clone)]
pub struct Board {
    /// The record of each node.
    pub(crate) nodes: Registers,
    /// The lease of the coordinator.
    pub(crate) coordinator: Register,
    assignment: Register,
}

/// An assignment, and what it is replaced by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posted {
    pub(crate) assignment: Assignment,
    pub(crate) version: Option<Version>,
}

impl Board {
    /// Returns the board under a path of an object store, which has to replace objects conditionally.
    pub fn objects(objects: &Arc<dyn ObjectStore>, path: &Path) -> Board {
        let register = |name: &str| Register::object(objects.clone(), path.clone().join(name));
        Board {
            nodes: Registers::objects(objects.clone(), path.clone().join("nodes")),
            coordinator: register("coordinator"),
            assignment: register("assignment"),
        }
    }

    /// Returns the board in a folder, which is made: for processes on one machine.
    pub fn folder(path: &FilePath) -> std::io::Result<Board> {
        let nodes = path.join("nodes");
        std::fs::create_dir_all(&nodes)?;
        Ok(Board {
            nodes: Registers::folder(nodes),
            coordinator: Register::file(path.join("coordinator")),
            assignment: Register::file(path.join("assignment")),
        })
    }

    /// Returns the assignment that there is: nothing where it is the one that was seen.
    pub(crate) async fn read(&self, seen: Option<&Version>) -> Result<Option<Posted>, RegisterError> {
        let found = match seen {
            Some(seen) => self.assignment.read_unless(seen).await?,
            None => self.assignment.read().await?,
        };
        let Some((bytes, version)) = found else { return Ok(None) };
        let assignment = Assignment::decode(&bytes).ok_or_else(|| {
            RegisterError::Unknown("the assignment is damaged, or was written by a later version".to_owned())
        })?;
        Ok(Some(Posted { assignment, version: Some(version) }))
    }

    /// Replaces the assignment that was seen.
    pub(crate) async fn post(
        &self,
        seen: Option<&Version>,
        assignment: Assignment,
    ) -> Result<Posted, RegisterError> {
        let version = self.assignment.replace(seen, assignment.encode()).await?;
        Ok(Posted { assignment, version: Some(version) })
    }
}
