//! Where nodes leave word for each other: a few objects under one prefix.

use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use armilla_env::Env;
use armilla_lease::{Record, Register, RegisterError, Registers, Standing, Version};
use object_store::ObjectStore;
use object_store::path::Path;

use crate::assignment::Assignment;
use crate::note::Note;

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

    /// The same, with another lease for who coordinates: one that something else may take as well, so that both are not at
    /// work at the same time.
    #[must_use]
    pub fn coordinated_by(self, coordinator: Register) -> Board {
        Board { coordinator, ..self }
    }

    /// Returns the notes of the nodes that are there. Where records say that there are some, it waits for as long as their
    /// leases are valid, to see whether they are kept up; those that are not are marked as ended, so that a node that was
    /// paused meanwhile serves nothing any more when it wakes.
    pub async fn living(&self, env: &Env) -> Result<Vec<Note>, RegisterError> {
        let mut living = BTreeMap::new();
        let mut standing: BTreeMap<String, (Version, Standing)> = BTreeMap::new();
        loop {
            let mut longest = Duration::ZERO;
            for listed in self.nodes.list().await? {
                let register = self.nodes.register(&listed.name);
                let Some((bytes, version)) = register.read().await? else { continue };
                let Some(record) = Record::decode(&bytes).filter(|record| !record.is_released) else {
                    continue;
                };
                let now = env.clock.elapsed();
                let known = standing.entry(listed.name.clone());
                let (first, stands) = known.or_insert_with(|| (version.clone(), Standing::default()));
                if *first != version {
                    living.insert(listed.name, Note::decode(&record.note));
                    continue;
                }
                let left = stands.left(&version, record.length, now);
                if !left.is_zero() {
                    longest = longest.max(left);
                    continue;
                }
                match register.replace(Some(&version), record.ended().encode()).await {
                    Ok(_) => {}
                    // It was kept up after all.
                    Err(RegisterError::Other) => drop(living.insert(listed.name, Note::decode(&record.note))),
                    Err(error) => return Err(error),
                }
            }
            if longest.is_zero() {
                return Ok(living.into_values().collect());
            }
            env.clock.sleep(longest).await;
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
