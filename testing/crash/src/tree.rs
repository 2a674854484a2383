//! The client that makes and drops databases and containers while the writers write.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target};
use armilla_env::{Env, Random};
use armilla_value::{Value, json};

use crate::setup::{DATABASE, list, unexpected};
use crate::tree_model::{self, Change, Container, Database, Item, Rid, Tree};
use crate::writer::Round;

/// Databases and containers that may be there at once; few, so that names are used again.
const DATABASES_MAX: u64 = 3;
const CONTAINERS_MAX: u64 = 3;
const ITEMS_MAX: usize = 12;

/// The partition key of all items here.
const PARTITION_KEY: &str = r#"["p"]"#;

/// The gardener of the resource tree, over all rounds.
pub(crate) struct Gardener {
    composer: Composer,
    tree: Tree,
    in_flight: Option<Change>,
    rids_used: BTreeSet<String>,
    sequence: u64,
    /// Changes that were acknowledged in the round.
    pub(crate) changes: u64,
    /// What was wrong in the round.
    pub(crate) wrong: Option<String>,
}

impl Gardener {
    pub(crate) fn new(env: &Env) -> Gardener {
        Gardener {
            composer: Composer::new(env),
            tree: Tree::new(),
            in_flight: None,
            rids_used: BTreeSet::new(),
            sequence: 0,
            changes: 0,
            wrong: None,
        }
    }

    /// Works until the server is gone.
    pub(crate) async fn run(mut self, round: Arc<Round>, mut random: Random) -> Gardener {
        self.changes = 0;
        self.wrong = None;
        let Ok(mut connection) = Connection::open(round.address).await else { return self };
        loop {
            let change = self.choose(&mut random);
            let request = self.compose(&change, &mut random);
            self.in_flight = Some(change.clone());
            let reply = match connection.exchange(&request).await {
                Ok(reply) => reply,
                Err(error) => {
                    if !round.ending.load(Ordering::Acquire) {
                        self.wrong =
                            Some(format!("a connection broke while the server should live: {error}"));
                    }
                    return self;
                }
            };
            self.in_flight = None;
            let is_last = reply.is_last();
            let expected = match change {
                Change::DeleteDatabase(_) | Change::DeleteContainer(..) => 204,
                _ => 201,
            };
            if reply.status != 429 {
                let answer = if reply.status == expected {
                    self.acknowledge(&change, reply.body)
                } else {
                    Err(unexpected(&request, &reply, &expected.to_string()))
                };
                if let Err(error) = answer {
                    self.wrong = Some(format!("{error:#}"));
                    return self;
                }
            }
            if is_last {
                return self;
            }
            round.env.clock.sleep(Duration::from_millis(random.below(40))).await;
        }
    }

    fn choose(&mut self, random: &mut Random) -> Change {
        let database_name = format!("come-and-go-{}", random.below(DATABASES_MAX));
        let Some(database) = self.tree.get(&database_name) else {
            return Change::CreateDatabase(database_name);
        };
        if random.percent(8) {
            return Change::DeleteDatabase(database_name);
        }
        let container_name = format!("c{}", random.below(CONTAINERS_MAX));
        let Some(container) = database.containers.get(&container_name) else {
            return Change::CreateContainer(database_name, container_name);
        };
        if random.percent(15) || container.items.len() >= ITEMS_MAX {
            return Change::DeleteContainer(database_name, container_name);
        }
        self.sequence += 1;
        // Names are those of an older container's items, which must not shine through.
        let id = format!("i{}", container.items.len());
        let text = format!(r#"{{"id":"{id}","pk":"p","sequence":{}}}"#, self.sequence);
        let sent = json::parse(text.as_bytes()).expect("an item is JSON");
        Change::CreateItem(database_name, container_name, id, sent)
    }

    fn compose(&mut self, change: &Change, random: &mut Random) -> Vec<u8> {
        let mut headers = Vec::new();
        let (method, target, body) = match change {
            Change::CreateDatabase(database) => {
                ("POST", Target::Databases, format!(r#"{{"id":"{database}"}}"#))
            }
            Change::DeleteDatabase(database) => ("DELETE", Target::Database(database), String::new()),
            Change::CreateContainer(database, container) => {
                if random.percent(25) {
                    // Three physical partitions.
                    headers.push(("x-ms-offer-throughput", "18000"));
                }
                let body = format!(
                    r#"{{"id":"{container}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}}}"#
                );
                ("POST", Target::Containers(database), body)
            }
            Change::DeleteContainer(database, container) => {
                ("DELETE", Target::Container(database, container), String::new())
            }
            Change::CreateItem(database, container, _, sent) => {
                headers.push(("x-ms-documentdb-partitionkey", PARTITION_KEY));
                ("POST", Target::Items(database, container), json::to_string(sent))
            }
        };
        self.composer.compose(method, target, &headers, body.as_bytes())
    }

    /// Takes in the answer to a change that succeeded.
    fn acknowledge(&mut self, change: &Change, body: &[u8]) -> Result<()> {
        self.changes += 1;
        change.apply(&mut self.tree);
        let shown = match change {
            Change::DeleteDatabase(_) | Change::DeleteContainer(..) => return Ok(()),
            _ => json::parse(body).context("an answer is not JSON")?,
        };
        let rid = shown.get("_rid").and_then(Value::as_str).context("an answer has no _rid")?.to_owned();
        let is_new = self.rids_used.insert(rid.clone());
        anyhow::ensure!(is_new, "{change:?} got the resource id {rid} of an older resource");
        match change {
            Change::CreateDatabase(database) => {
                self.tree.get_mut(database).context("just made")?.rid = Rid::Known(rid);
            }
            Change::CreateContainer(database, container) => {
                self.container_mut(database, container)?.rid = Rid::Known(rid);
            }
            Change::CreateItem(database, container, id, _) => {
                self.container_mut(database, container)?.items.insert(id.clone(), Item::Shown(shown));
            }
            Change::DeleteDatabase(_) | Change::DeleteContainer(..) => {}
        }
        Ok(())
    }

    fn container_mut(&mut self, database: &str, container: &str) -> Result<&mut Container> {
        self.tree
            .get_mut(database)
            .and_then(|database| database.containers.get_mut(container))
            .context("an answer is about a container that is not there")
    }

    /// Reads the whole tree back after a restart and compares it; then knows it. Returns whether a change was
    /// under way, and whether it had happened.
    pub(crate) async fn verify(&mut self, connection: &mut Connection) -> Result<(bool, bool), Vec<String>> {
        let shown = self.read(connection).await.map_err(|error| vec![format!("{error:#}")])?;
        let in_flight = self.in_flight.take();
        let happened = tree_model::judge(&self.tree, in_flight.as_ref(), &shown, &self.rids_used)
            .map_err(|difference| vec![difference])?;
        self.tree = shown;
        for database in self.tree.values() {
            let containers = database.containers.values();
            for rid in containers.map(|container| &container.rid).chain([&database.rid]) {
                if let Rid::Known(rid) = rid {
                    self.rids_used.insert(rid.clone());
                }
            }
        }
        Ok((in_flight.is_some(), happened))
    }

    async fn read(&mut self, connection: &mut Connection) -> Result<Tree> {
        let mut tree = Tree::new();
        let composer = &mut self.composer;
        for database in list(connection, composer, Target::Databases, "Databases", &[]).await? {
            let (name, rid) = name_and_rid(&database)?;
            if name == DATABASE {
                continue;
            }
            let target = Target::Containers(&name);
            let mut containers = std::collections::BTreeMap::new();
            for container in list(connection, composer, target, "DocumentCollections", &[]).await? {
                let (container_name, rid) = name_and_rid(&container)?;
                let target = Target::Items(&name, &container_name);
                let mut items = std::collections::BTreeMap::new();
                for item in list(connection, composer, target, "Documents", &[]).await? {
                    items.insert(name_and_rid(&item)?.0, Item::Shown(item));
                }
                containers.insert(container_name, Container { rid, items });
            }
            tree.insert(name, Database { rid, containers });
        }
        Ok(tree)
    }
}

fn name_and_rid(resource: &Value) -> Result<(String, Rid)> {
    let text = |name: &str| {
        let value = resource.get(name).and_then(Value::as_str);
        value.map(str::to_owned).with_context(|| format!("a resource has no {name}"))
    };
    Ok((text("id")?, Rid::Known(text("_rid")?)))
}
