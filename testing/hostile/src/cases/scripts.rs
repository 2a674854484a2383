//! Scripts that aim at the interpreter: its memory, its time, its defects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use armilla_env::Random;
use armilla_hostile::request::{Answer, Request};
use armilla_hostile::stage::Stage;
use armilla_value::{Value, json};

/// What the generated scripts have in common.
const ATTACK: &str = include_str!("scripts/attack.js");

/// Containers that the scripts run in, and scripts at the same time in each.
const CONTAINERS: u64 = 3;
const TASKS_PER_CONTAINER: u64 = 8;

/// How much more memory the server may hold when everything is over.
const GROWTH_BYTES_MAX: u64 = 192 * 1024 * 1024;

/// How long that may take.
const RETURN_SECONDS_MAX: u64 = 30;

/// The place in which a generated script stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Procedure,
    PreTrigger,
    PostTrigger,
    Function,
}

impl Place {
    const ALL: [Place; 4] = [Place::Procedure, Place::PreTrigger, Place::PostTrigger, Place::Function];
}

/// A script, and how it came about.
struct Generated {
    place: Place,
    body: String,
}

/// Makes a script of a number.
fn generate(seed: u64, number: u64) -> Generated {
    let mut random = Random::of_part(seed, number);
    let place = match random.below(5) {
        0 | 1 => Place::Procedure,
        2 => Place::PreTrigger,
        3 => Place::PostTrigger,
        _ => Place::Function,
    };
    let body = match random.below(10) {
        0 => special(&mut random),
        1 => broken(&mut random),
        _ => ATTACK
            .replace("SEED", &(random.next_u64() as u32).to_string())
            .replace("TURNS", &(1 + random.below(200)).to_string())
            .replace("FILL", if random.below(3) == 0 { "true" } else { "false" }),
    };
    Generated { place, body }
}

/// Scripts that were found by hand, with other sizes each time.
fn special(random: &mut Random) -> String {
    let count = 1 + random.below(5_000);
    let texts = [
        format!("function(){{var a=new Array({count}).fill(1),h=[],f=function(){{}};for(;;)h[h.length]=Function.prototype.bind.apply(f,a)}}"),
        format!("function(){{const h=[];for(let n=2**22;n>=16;n/=2)try{{for(;;)h.push(new ArrayBuffer(n))}}catch(e){{}}h.length-={count}%h.length;Array.fromAsync(h)}}"),
        "function(){var n=0;for(;;)Array.prototype.join.call({get length(){return n++?9007199254740991:1}},'')}".to_owned(),
        format!("function(){{const s='ab'.repeat({count}*400);for(;;)s.indexOf('ab'.repeat({count}*200)+'c')}}"),
        format!("function(){{let b=3n**{count}n;for(;;)b=(b*b)%(2n**100000n)}}"),
        format!("function(){{for(;;)'a\\u0323\\u0307'.repeat({count}*100).normalize('NFD')}}"),
        format!("function(){{for(;;)try{{JSON.parse('['.repeat({count}*100))}}catch(e){{}}}}"),
        format!("function(){{let a=[];for(let i=0;i<{count}*20;i++)a=[a];return JSON.stringify(a)}}"),
        format!("function(){{const a=Array({count}*100).fill(0).map((_,i)=>i^{count});for(;;)a.sort(()=>{{a.length={count};return 1}})}}"),
        "async function(){for(;;)await {then(r){r()}}}".to_owned(),
        "function(){let p={};for(let i=0;i<1e6;i++)p=new Proxy(p,{});return p.x}".to_owned(),
        format!("function(){{return /(?:a|a|ab)*$/.test('a'.repeat({count}))}}"),
        "(() => { for (;;) {} })()".to_owned(),
        "(() => { const h = []; for (;;) h.push(new ArrayBuffer(1 << 20)); })()".to_owned(),
    ];
    texts[random.below(texts.len() as u64) as usize].clone()
}

/// Texts that are hard to compile, or cannot be.
fn broken(random: &mut Random) -> String {
    let count = 1 + random.below(10_000) as usize;
    let (open, close) = [
        ("(", ")"),
        ("[", "]"),
        ("{a:", "}"),
        ("-", ""),
        ("x=>", ""),
        ("`${", "}`"),
        ("a?b:", ""),
        ("(a=>{", "})"),
    ][random.below(8) as usize];
    match random.below(3) {
        0 => format!("function () {{ return {}1{}; }}", open.repeat(count), close.repeat(count)),
        1 => format!("function () {{ return /{}{}/; }}", "(".repeat(count), ")".repeat(count)),
        _ => {
            // The attack with some of its text gone, or doubled.
            let mut text: Vec<char> = ATTACK.chars().collect();
            for _ in 0..1 + random.below(4) {
                let begin = random.below(text.len() as u64) as usize;
                let end = (begin + random.below(40) as usize).min(text.len());
                let piece: Vec<char> = text.drain(begin..end).collect();
                if random.below(2) == 0 {
                    let place = random.below(text.len() as u64) as usize;
                    text.splice(place..place, piece.iter().copied().chain(piece.iter().copied()));
                }
            }
            text.into_iter().collect()
        }
    }
}

/// Registers a script under a name, whatever stood there, and runs it in its place.
async fn play(stage: &Stage, container: &str, name: &str, script: &Generated) -> Result<()> {
    let base = format!("/dbs/scripts/colls/{container}");
    let upsert =
        definition(&base, script.place, name, &script.body).header("x-ms-documentdb-is-upsert", "True");
    let registered = ask(stage, &upsert).await?;
    if registered.status == 400 {
        return Ok(());
    }
    ensure!(matches!(registered.status, 200 | 201), "registering got {}", shown(&registered));
    // Functions go over the one item that all of them share.
    let partition = if script.place == Place::Function { "fixed" } else { name };
    let run = execution(&base, script.place, name, partition);
    let answer = ask(stage, &run).await?;
    // Whatever a script does, it is the script's fault, and its author is told so.
    ensure!(
        matches!(answer.status, 200..=299 | 400 | 403 | 404 | 408 | 413 | 429 | 449),
        "running got {}",
        shown(&answer)
    );
    Ok(())
}

async fn ask(stage: &Stage, request: &Request) -> Result<Answer> {
    stage.ask(&stage.master(), request).await
}

fn shown(answer: &Answer) -> String {
    format!("{}: {}", answer.status, answer.text().chars().take(300).collect::<String>())
}

/// Scripts made by a generator that aims at allocations that fail and at time: the server lives, answers the probe in
/// time, and its memory returns.
pub(crate) async fn generated_scripts(stage: &Stage) -> Result<()> {
    let count = stage.scripts(240, 10_000);
    let seed = stage.random(1).next_u64();
    for container in 0..CONTAINERS {
        stage.create_container("scripts", &format!("c{container}"), "/pk").await?;
        let item = Request::post(
            &format!("/dbs/scripts/colls/c{container}/docs"),
            "{\"id\":\"i\",\"pk\":\"fixed\"}",
        );
        stage.ask_for(&stage.master(), &item.partition("fixed"), 201).await?;
    }
    let next = Arc::new(AtomicU64::new(0));
    let tasks = (0..CONTAINERS * TASKS_PER_CONTAINER).map(|task| {
        let next = next.clone();
        async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(());
                }
                let script = generate(seed, number);
                let played =
                    play(stage, &format!("c{}", task % CONTAINERS), &format!("s{task}"), &script).await;
                played.with_context(|| format!("script {number}, a {:?}: {}", script.place, script.body))?;
            }
        }
    });
    let all: Vec<Result<()>> = futures_join(tasks).await;
    all.into_iter().collect::<Result<Vec<()>>>()?;
    memory_returns(stage).await
}

/// Runs futures at the same time, on one task: they do nothing but wait.
async fn futures_join<F: Future<Output = Result<()>>>(futures: impl Iterator<Item = F>) -> Vec<Result<()>> {
    let mut waiting: Vec<_> = futures.map(Box::pin).map(Some).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|context| {
        for slot in &mut waiting {
            if let Some(future) = slot
                && let std::task::Poll::Ready(result) = future.as_mut().poll(context)
            {
                done.push(result);
                *slot = None;
            }
        }
        if waiting.iter().all(Option::is_none) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done
}

async fn memory_returns(stage: &Stage) -> Result<()> {
    for _ in 0..RETURN_SECONDS_MAX {
        let figures = stage.figures();
        if figures.now_bytes <= figures.before_bytes + GROWTH_BYTES_MAX {
            return Ok(());
        }
        stage.env().clock.sleep(Duration::from_secs(1)).await;
    }
    let figures = stage.figures();
    bail!("{} bytes are held, {} before", figures.now_bytes, figures.before_bytes)
}

/// Never ends, inside a function of the interpreter that does not ask for the time.
const ENDLESS: &str = "function () { Array.prototype.reverse.call({ length: 2 ** 53 - 1 }); }";

/// Returns the path and the definition of a script in a place of a container.
fn definition(base: &str, place: Place, name: &str, body: &str) -> Request {
    let body = json::to_string(&Value::from(body));
    let (kind, rule) = match place {
        Place::Procedure => ("sprocs", String::new()),
        Place::Function => ("udfs", String::new()),
        Place::PreTrigger | Place::PostTrigger => {
            let time = if place == Place::PreTrigger { "Pre" } else { "Post" };
            ("triggers", format!(",\"triggerType\":\"{time}\",\"triggerOperation\":\"All\""))
        }
    };
    Request::post(&format!("{base}/{kind}"), &format!("{{\"id\":\"{name}\",\"body\":{body}{rule}}}"))
}

/// Returns what runs a script in its place, for an item of a logical partition.
fn execution(base: &str, place: Place, name: &str, partition: &str) -> Request {
    let item = format!("{{\"id\":\"{name}\",\"pk\":\"{partition}\"}}");
    let put = || {
        Request::post(&format!("{base}/docs"), &item)
            .partition(partition)
            .header("x-ms-documentdb-is-upsert", "True")
    };
    match place {
        Place::Procedure => Request::post(&format!("{base}/sprocs/{name}"), "[]").partition(partition),
        Place::PreTrigger => put().header("x-ms-documentdb-pre-trigger-include", name),
        Place::PostTrigger => put().header("x-ms-documentdb-post-trigger-include", name),
        Place::Function => {
            Request::query(&format!("{base}/docs"), &format!("SELECT VALUE udf.{name}(c) FROM c"))
                .partition(partition)
        }
    }
}

/// Registers a script in all places of a container; a trigger's name says when it runs.
async fn register_everywhere(stage: &Stage, base: &str, name: &str, body: &str) -> Result<()> {
    for place in Place::ALL {
        let request = definition(base, place, &format!("{name}{place:?}"), body);
        stage.ask_for(&stage.master(), &request, 201).await?;
    }
    Ok(())
}

/// Sixteen scripts inside loops that never ask for the time, as procedures, functions and triggers: other scripts and
/// queries of the same container are answered within a second, and each of the sixteen is ended in its time.
pub(crate) async fn endless_scripts_hold_up_nobody(stage: &Stage) -> Result<()> {
    stage.create_container("scripts", "c", "/pk").await?;
    let base = "/dbs/scripts/colls/c";
    let item = Request::post(&format!("{base}/docs"), "{\"id\":\"i\",\"pk\":\"p\"}").partition("p");
    stage.ask_for(&stage.master(), &item, 201).await?;
    register_everywhere(stage, base, "endless", ENDLESS).await?;
    register_everywhere(stage, base, "small", "function () { return 1; }").await?;
    let master = stage.master();
    // Four in each place.
    let attackers = (0..16).map(|number| {
        let place = Place::ALL[number % Place::ALL.len()];
        let request = execution(base, place, &format!("endless{place:?}"), "p");
        let master = &master;
        async move {
            let answer = stage.ask(master, &request).await?;
            ensure!(matches!(answer.status, 400 | 403 | 408), "an endless script got {}", shown(&answer));
            Ok(())
        }
    });
    let others = async {
        // They have begun by then.
        stage.env().clock.sleep(Duration::from_millis(500)).await;
        for _ in 0..10 {
            let limit = Duration::from_secs(1);
            for place in Place::ALL {
                let request = execution(base, place, &format!("small{place:?}"), "p");
                let answer = stage.ask_within(&stage.master(), &request, limit).await?;
                ensure!(matches!(answer.status, 200 | 201), "a small {place:?} got {}", shown(&answer));
            }
            let query = Request::query(&format!("{base}/docs"), "SELECT * FROM c").partition("p");
            let answer = stage.ask_within(&stage.master(), &query, limit).await?;
            ensure!(answer.status == 200, "a query got {}", shown(&answer));
        }
        Ok(())
    };
    let (attacked, served) = tokio::join!(futures_join(attackers), others);
    served?;
    attacked.into_iter().collect::<Result<Vec<()>>>()?;
    Ok(())
}

/// A server in which scripts compute without end ends when it is told to, and nothing of it stays behind.
pub(crate) async fn endless_scripts_do_not_outlive_the_server(stage: &Stage) -> Result<()> {
    stage.create_container("scripts", "c", "/pk").await?;
    let base = "/dbs/scripts/colls/c";
    let item = Request::post(&format!("{base}/docs"), "{\"id\":\"i\",\"pk\":\"p\"}").partition("p");
    stage.ask_for(&stage.master(), &item, 201).await?;
    register_everywhere(stage, base, "endless", ENDLESS).await?;
    let server = stage.take_server().await?;
    let master = &stage.master();
    let attack = futures_join((0..8).map(|number| async move {
        let place = Place::ALL[number % Place::ALL.len()];
        // Whether it is answered before the end is not what this is about.
        let _ = stage.ask(master, &execution(base, place, &format!("endless{place:?}"), "p")).await;
        Ok(())
    }));
    let end = async {
        stage.env().clock.sleep(Duration::from_millis(500)).await;
        let workers = children(stage.pid())?;
        ensure!(workers.len() >= Place::ALL.len(), "{} workers run", workers.len());
        server.kill().await?;
        for _ in 0..50 {
            if !workers.iter().any(|worker| is_running(*worker)) {
                return Ok(());
            }
            stage.env().clock.sleep(Duration::from_millis(100)).await;
        }
        bail!("workers outlived their server")
    };
    let (_, ended) = tokio::join!(attack, end);
    ended
}

/// Returns the processes that a process has started.
fn children(pid: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = thread?.path().join("children");
        let listed = std::fs::read_to_string(path).unwrap_or_default();
        found.extend(listed.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    Ok(found)
}

/// Says whether a process is there and not just waited for by nobody.
fn is_running(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_scripts() {
        let bodies = |seed| (0..50).map(|number| generate(seed, number).body).collect::<Vec<_>>();
        assert_eq!(bodies(1), bodies(1));
        assert_ne!(bodies(1), bodies(2));
        let attacks = bodies(1).iter().filter(|body| body.starts_with("// Calls functions")).count();
        assert!(attacks > 25, "{attacks} of 50");
        // Its constants have values, but for those that were broken on purpose.
        let open = bodies(1).iter().filter(|body| body.contains("let state = SEED;")).count();
        assert!(open < 10, "{open} of 50");
    }
}
