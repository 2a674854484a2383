//! What the cases of the Gremlin API begin with, and look at after an attack.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::gremlin::GremlinConnection;
use armilla_hostile::stage::Stage;
use armilla_value::Value;

/// The graph of the cases, as its users are called.
pub(crate) const GRAPH: &str = "/dbs/d/colls/g";

/// How long a client that comes now may wait for its login and its first answers.
const OTHERS_WAIT_MAX: Duration = Duration::from_secs(15);

/// Makes the graph of the cases.
pub(crate) async fn create_graph(stage: &Stage) -> Result<()> {
    stage.create_container("d", "g", "/pk").await
}

/// A new client logs in, writes and reads, in the graph of another.
pub(crate) async fn others_are_answered(stage: &Stage) -> Result<()> {
    let asking = async {
        let mut other = GremlinConnection::login(stage.gremlin_address(), "/dbs/probe/colls/probe").await?;
        let upsert = "g.V(['o','other']).fold().coalesce(unfold(),addV('x').property('id','other').property('pk','o'))";
        other.run(&format!("{upsert}.property('n',1)")).await?;
        let found = other.run("g.V(['o','other']).values('n')").await?;
        ensure!(found.iter().map(Value::as_i64).eq([Some(1)]), "{found:?}");
        Ok(())
    };
    let waited = tokio::time::timeout(OTHERS_WAIT_MAX, asking).await;
    waited.context("another client was not answered in time")?.context("another client was not answered")
}
