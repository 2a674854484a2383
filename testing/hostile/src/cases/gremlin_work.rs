//! Traversals of a client that has logged in: without an end, without a bound, and with answers that are not read.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::gremlin::{GremlinConnection, Outcome, script_request, text};
use armilla_hostile::request::Request;
use armilla_hostile::stage::Stage;
use armilla_value::Value;
use tokio::task::JoinSet;

use super::gremlin_common::{GRAPH, create_graph, others_are_answered};
use super::settling::{MEBIBYTE, settles};

/// How long a traversal may take that must come to an end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Clients of an attack.
const AT_ONCE: usize = 16;

/// A request that may take as long as any may.
const VERY_PATIENT: &str = ",\"evaluationTimeout\":600000";

/// A traversal that takes years, and little room.
const ENDLESS: &str =
    "g.inject(0).repeat(repeat(repeat(map(constant(0))).times(9999)).times(9999)).times(9999).count()";

async fn login(stage: &Stage) -> Result<GremlinConnection> {
    GremlinConnection::login(stage.gremlin_address(), GRAPH).await
}

/// Makes a graph in which each vertex leads to several others, with a text at each.
async fn create_dense_graph(stage: &Stage, vertices: usize, degree: usize) -> Result<()> {
    create_graph(stage).await?;
    let mut connection = login(stage).await?;
    for number in 0..vertices {
        let vertex =
            format!("addV('x').property('id','v{number}').property('pk','p').property('n',{number})");
        connection.run(&format!("g.{vertex}.property('t','{}b')", "a".repeat(200))).await?;
    }
    for number in 0..vertices {
        let edges: String = (1..=degree)
            .map(|step| format!(".sideEffect(addE('to').to(V(['p','v{}'])))", (number * 3 + step) % vertices))
            .collect();
        connection.run(&format!("g.V(['p','v{number}']){edges}")).await?;
    }
    let edges = connection.run("g.E().count()").await?;
    ensure!(
        edges.first().and_then(Value::as_i64) == i64::try_from(vertices * degree).ok(),
        "{edges:?} edges"
    );
    Ok(())
}

/// Asks on connections of their own, at the same time; each must be answered to its end, well or not.
async fn all_answered(stage: &Stage, scripts: &[String]) -> Result<Vec<Outcome>> {
    let mut asking = JoinSet::new();
    for (place, script) in scripts.iter().enumerate() {
        let (address, script) = (stage.gremlin_address(), script.clone());
        asking.spawn(async move {
            let mut connection = GremlinConnection::login(address, GRAPH).await?;
            anyhow::Ok((place, connection.ask_within(&script, "", ENDS_WITHIN).await?))
        });
    }
    let mut outcomes = Vec::new();
    while let Some(asked) = asking.join_next().await {
        let (place, outcome) = asked??;
        ensure!(
            matches!(outcome.code, 200 | 204 | 500 | 597 | 598 | 599) && outcome.inner != 500,
            "{} got {} ({}): {}",
            scripts[place],
            outcome.code,
            outcome.inner,
            outcome.message
        );
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Traversals that multiply what they hold or never end come to one of their bounds: rounds, time, memory, length.
pub(crate) async fn traversals_come_to_an_end(stage: &Stage) -> Result<()> {
    create_dense_graph(stage, 60, 6).await?;
    let scripts: Vec<String> = [
        // Rounds.
        "g.V().repeat(both()).times(10000).count()",
        "g.V().repeat(both()).until(has('n',-1)).count()",
        "g.V().repeat(both()).until(has('n',-1)).path().count()",
        "g.V().repeat(both()).emit().path().count()",
        "g.V().repeat(both().simplePath()).emit().path().count()",
        "g.V().repeat(repeat(repeat(out()).times(50)).times(50)).times(50).count()",
        "g.V().repeat(out()).times(20).tree()",
        "g.inject(0).repeat(union(identity(),identity())).times(70).count()",
        "g.inject(0).repeat(union(identity(),identity())).times(70).path()",
        "g.inject(0).repeat(union(identity(),identity()).as('a')).times(70).select(all,'a')",
        // Products.
        "g.V().as('a').V().as('b').V().as('c').V().as('d').select('a','b','c','d').count()",
        "g.V().match(as('a').out().as('b'),as('c').out().as('d'),as('e').out().as('f')).count()",
        "g.V().group().by(V().fold()).by(V().fold())",
        "g.V().V().V().V().V().fold()",
        "g.V().repeat(V().aggregate('x')).times(20).cap('x')",
        "g.V().repeat(fold().union(identity(),identity()).fold()).times(200)",
        // Texts and numbers.
        "g.inject('a').repeat(replace('a','aa')).times(60)",
        "g.inject('ab').repeat(concat(identity())).times(60)",
        "g.inject(2).repeat(math('_ * _ + 1')).times(9999)",
        "g.inject(9223372036854775807L).repeat(fold().unfold().sum()).times(9999)",
        "g.V().values('t').repeat(filter(has('t',regex('(a+)+$')))).times(9)",
        "g.V().has('t',regex('(a|a)*$')).has('t',regex('^(a+)+$')).has('t',regex('(a{1,500}){1,500}c')).count()",
        // Bounds.
        "g.V().range(0,9223372036854775807L).count()",
        "g.V().tail(9223372036854775807L).count()",
        "g.V().sample(2147483647).count()",
        "g.V().limit(9223372036854775807L).skip(9223372036854775807L).count()",
        "g.inject(1..100000).unfold().as('a').inject(1..2).count()",
        "g.inject(1..2147483647)",
        "g.inject(0).repeat(timeLimit(9223372036854775807L)).times(9999)",
        // Writes.
        "g.inject(0).repeat(addV('w').property('pk','w')).times(9999).count()",
    ]
    .map(str::to_owned)
    .into();
    let outcomes = all_answered(stage, &scripts).await?;
    let refused = outcomes.iter().filter(|outcome| !outcome.is_ok()).count();
    ensure!(refused >= 8, "only {refused} traversals were refused");
    others_are_answered(stage).await?;
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 3_072 * MEBIBYTE, "{} MiB for {} traversals", grown / MEBIBYTE, scripts.len());
    settles(stage, 512).await
}

/// Scripts that are nested very deep, very long or of very many steps are refused, or run.
pub(crate) async fn scripts_without_a_bound_are_refused(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let nested = |levels: usize, open: &str, inner: &str| {
        format!("g.V().{}{inner}{}", open.repeat(levels), ")".repeat(levels))
    };
    let mut scripts = vec![
        format!("g.V(){}", ".out()".repeat(5_000)),
        format!("g.V(){}", ".out()".repeat(50_000)),
        format!("g.inject({})", vec!["0"; 30_000].join(",")),
        format!("g.V().hasId(within({}))", vec!["'a'"; 12_000].join(",")),
        format!("g.V().has('n',{})", vec!["gt(1)"; 5_000].join(".or(") + &")".repeat(4_999)),
        format!("g.V().has('n',{})", ["not("].repeat(10_000).concat()),
        format!("g.V().union({})", vec!["out()"; 8_000].join(",")),
        format!("g.V().project({})", (0..5_000).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(",")),
        format!("g.V(){}", ".as('a')".repeat(7_000)),
        format!("g.inject({}1{})", "[".repeat(20_000), "]".repeat(20_000)),
        format!("g.inject({}1{})", "[a:".repeat(15_000), "]".repeat(15_000)),
        format!("g.inject('{}')", "\\u0041".repeat(10_000)),
        format!("g.inject({}1)", "-".repeat(60_000)),
        format!("g.inject({})", "9".repeat(60_000)),
        format!("g.inject(1e{})", "9".repeat(60_000)),
        format!("g.inject(1{}m)", "0".repeat(60_000)),
        format!("g.inject(2).math('{}1{}')", "(".repeat(30_000), ")".repeat(30_000)),
        format!("g.inject(2).math('{}')", vec!["_"; 15_000].join("*")),
        "g.V();".repeat(10_000),
        "g".repeat(65_000),
    ];
    for levels in [40, 90, 100, 1_000, 9_000] {
        for open in ["not(", "union(", "map(", "__.not(", "repeat("] {
            scripts.push(nested(levels, open, "out()"));
        }
    }
    let mut connection = login(stage).await?;
    let mut refused = 0;
    for script in &scripts {
        let outcome = connection.ask(script).await?;
        let shown: String = script.chars().take(60).collect();
        ensure!(
            matches!(outcome.code, 200 | 597 | 598 | 599) && outcome.inner != 500,
            "{shown} got {} ({}): {}",
            outcome.code,
            outcome.inner,
            outcome.message.chars().take(300).collect::<String>()
        );
        ensure!(outcome.message.len() < 10_000, "{shown}: a message of {} bytes", outcome.message.len());
        refused += usize::from(!outcome.is_ok());
    }
    ensure!(refused >= 20, "only {refused} of {} scripts were refused", scripts.len());
    others_are_answered(stage).await
}

/// One client that asks for as much as it may, and is very patient, leaves room for others; what it asked for ends with
/// its connection.
pub(crate) async fn one_client_does_not_take_all_places(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let mut connections = Vec::new();
    for _ in 0..4 {
        connections.push(login(stage).await?);
    }
    for connection in &mut connections {
        for _ in 0..64 {
            connection.send_script(ENDLESS, VERY_PATIENT).await?;
        }
    }
    stage.env().clock.sleep(Duration::from_secs(1)).await;
    others_are_answered(stage).await?;
    drop(connections);
    settles(stage, 128).await
}

/// Answers that a client takes which did not read for a while.
const SERVED_AGAIN: usize = 5;

/// Requests without number on connections that read no answers, and read them very slowly: some answers are made and no
/// more, others are answered, and those who read again are served again.
pub(crate) async fn unread_answers_of_gremlin_are_bounded(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let item =
        format!("{{\"id\":\"large\",\"pk\":\"large\",\"label\":\"x\",\"t\":\"{}\"}}", "x".repeat(1_000_000));
    let create = Request::post("/dbs/d/colls/g/docs", &item).partition("large");
    stage.ask_for(&stage.master(), &create, 201).await?;
    let script = "g.V(['large','large']).repeat(identity()).emit().times(50).values('t')";
    let mut sending = JoinSet::new();
    for place in 0..AT_ONCE {
        let address = stage.gremlin_address();
        sending.spawn(async move {
            let mut connection = GremlinConnection::login(address, GRAPH).await?;
            let requests: Vec<u8> =
                (0..50).flat_map(|number| text(&script_request(number, script, VERY_PATIENT))).collect();
            connection.send_while_taken(&requests, 20, Duration::from_secs(1)).await;
            anyhow::Ok((place, connection))
        });
    }
    let mut connections = Vec::new();
    while let Some(sent) = sending.join_next().await {
        connections.push(sent??);
    }
    others_are_answered(stage).await?;
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 768 * MEBIBYTE, "{} MiB for answers that are not read", grown / MEBIBYTE);
    for (place, connection) in &mut connections {
        // Half of them read one answer, and stop again.
        if *place % 2 == 0 {
            let _ = connection.next(Duration::from_secs(10)).await;
        }
    }
    others_are_answered(stage).await?;
    // Those that were not given up are served as soon as they read.
    for (place, connection) in &mut connections {
        for _ in 0..SERVED_AGAIN {
            let next = connection.next(Duration::from_secs(20)).await;
            if next.with_context(|| format!("connection {place} is neither closed nor served"))?.is_none() {
                break;
            }
        }
    }
    drop(connections);
    others_are_answered(stage).await?;
    settles(stage, 256).await
}

/// Very many small requests on one connection at once are all answered, each under its id.
pub(crate) async fn very_many_requests_are_each_answered(stage: &Stage) -> Result<()> {
    const REQUESTS: u64 = 3_000;
    create_graph(stage).await?;
    let mut asking = JoinSet::new();
    for _ in 0..2 {
        let address = stage.gremlin_address();
        asking.spawn(async move {
            let mut connection = GremlinConnection::login(address, GRAPH).await?;
            let mut seen = std::collections::BTreeSet::new();
            for first in (0..REQUESTS).step_by(500) {
                let requests: Vec<u8> = (first..first + 500)
                    .flat_map(|number| text(&script_request(number, &format!("g.inject({number})"), "")))
                    .collect();
                connection.send(&requests).await?;
                for _ in 0..500 {
                    let answer =
                        connection.answer_within(ENDS_WITHIN).await?.context("the connection ended")?;
                    let id = answer.get("requestId").and_then(Value::as_str).unwrap_or_default().to_owned();
                    ensure!(seen.insert(id), "answered twice: {answer:?}");
                }
            }
            ensure!(seen.len() as u64 == REQUESTS, "{} of {REQUESTS} answers", seen.len());
            Ok(())
        });
    }
    while let Some(asked) = asking.join_next().await {
        asked??;
    }
    others_are_answered(stage).await
}

/// Steps that make much of little, or values that are deep or share their parts, come to a bound; each is of a size that
/// the machine bears if there is none.
pub(crate) async fn steps_that_multiply_are_bounded(stage: &Stage) -> Result<()> {
    create_graph(stage).await?;
    let doubled = |times: usize, rest: &str| {
        format!("g.inject(0,1).repeat(union(identity(),identity())).times({times}).{rest}")
    };
    let (letters, long) = ("a".repeat(25_000), "b".repeat(30_000));
    let scripts = [
        // Deep values, which are dropped, compared and written level by level.
        "g.inject(1).repeat(fold()).times(9999)".to_owned(),
        "g.inject(1).repeat(fold()).times(9999).count()".to_owned(),
        "g.inject(1).repeat(repeat(fold()).times(999)).times(99).dedup().count()".to_owned(),
        "g.inject(1).repeat(repeat(project('a').by()).times(9999)).times(20).count()".to_owned(),
        "g.inject(1).repeat(repeat(project('a').by()).times(9999)).times(3).dedup().count()".to_owned(),
        "g.inject(1).repeat(project('a').by()).times(9999).count()".to_owned(),
        "g.inject(1).repeat(group()).times(9999).count()".to_owned(),
        "g.inject(1).repeat(path()).times(999).count()".to_owned(),
        "g.inject(1).repeat(fold().index()).times(4999).count()".to_owned(),
        format!("g.inject(2).math('{}')", vec!["_"; 32_000].join("*")),
        format!("g.inject(2).math('{}_')", "-_+".repeat(20_000)),
        // Values that share their parts: few bytes, very many items.
        "g.inject(1).repeat(union(identity(),identity()).fold()).times(60).count()".to_owned(),
        "g.inject(1).repeat(union(identity(),identity()).fold()).times(60).asString()".to_owned(),
        "g.inject(1).repeat(union(identity(),identity()).fold()).times(60).dedup().order().count()".to_owned(),
        "g.inject(1).repeat(project('a','b').by().by()).times(60).group().by().count()".to_owned(),
        "g.inject(1).repeat(project('a','b').by().by()).times(60)".to_owned(),
        "g.inject(1).repeat(project('a','b').by().by()).times(60).asString().length()".to_owned(),
        "g.inject(1).repeat(project('a','b').by().by()).times(60).order().dedup().count()".to_owned(),
        // Texts and lists.
        format!("g.inject('{letters}').replace('a','{long}').length()"),
        format!("g.inject(1..25000).conjoin('{long}').length()"),
        "g.inject('a').repeat(concat(identity())).times(23).split('').count(local)".to_owned(),
        "g.inject(1..3000).product(1..3000).count(local)".to_owned(),
        "g.inject(1..3000).as('x').product(select('x')).count(local)".to_owned(),
        // Traversers that stand for very many.
        doubled(60, "coin(0.5).count()"),
        doubled(60, "sample(5000000).count()"),
        doubled(63, "fold().count(local)"),
        doubled(63, "fold(0,sum)"),
        doubled(63, "sum()"),
        doubled(70, "groupCount()"),
        doubled(63, "group().by(constant(1))"),
        doubled(23, "aggregate('x').cap('x').order(local).count(local)"),
        doubled(63, "aggregate('x').cap('x').count(local)"),
        doubled(63, "aggregate('x').cap('x').unfold().count()"),
        doubled(60, "limit(9223372036854775807L)"),
        doubled(63, "tail(5).fold()"),
        doubled(60, "barrier().count()"),
        doubled(60, "addV('x').property('pk','many').count()"),
        "g.withSideEffect('x',[1],addAll).inject(0).repeat(union(identity(),identity())).times(23).aggregate('x').count()".to_owned(),
        // Numbers at their ends.
        "g.inject(9223372036854775807L).asDate().dateDiff(datetime('1960-01-01T00:00:00Z'))".to_owned(),
        "g.inject(datetime('2020-01-01T00:00:00Z')).dateAdd(DT.day,2147483647).dateAdd(DT.day,2147483647)".to_owned(),
        "g.inject(-9223372036854775808L).math('abs(_)')".to_owned(),
        "g.inject(9223372036854775807L,1L,2147483647).sum()".to_owned(),
        "g.inject('abc').substring(-9223372036854775807L,9223372036854775807L)".to_owned(),
        "g.inject([1,2]).range(local,9223372036854775806L,9223372036854775807L)".to_owned(),
    ];
    for script in &scripts {
        let mut connection = login(stage).await?;
        let outcome = connection.ask_within(script, "", ENDS_WITHIN).await?;
        let shown: String = script.chars().take(100).collect();
        ensure!(
            matches!(outcome.code, 200 | 597 | 598 | 599) && outcome.inner != 500,
            "{shown} got {} ({}): {}",
            outcome.code,
            outcome.inner,
            outcome.message
        );
        let figures = stage.figures();
        let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
        ensure!(grown < 768 * MEBIBYTE, "{} MiB for {shown}", grown / MEBIBYTE);
    }
    others_are_answered(stage).await?;
    settles(stage, 384).await
}
