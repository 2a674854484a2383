//! Commands of the MongoDB API that ask for much: cursors and sessions without number, updates, expressions and
//! pipelines that make much out of little.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::mongo::{MongoConnection, document};
use armilla_hostile::stage::Stage;
use armilla_value::Object;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::task::JoinSet;

use super::mongo_common::others_are_answered;
use super::settling::{MEBIBYTE, settles};

/// How long a command that is refused in the end, or ends by a bound, may take.
const ENDS_WITHIN: Duration = Duration::from_secs(75);

/// Commands that are on their way at the same time.
const AT_ONCE: usize = 16;

async fn insert(connection: &mut MongoConnection, collection: &str, documents: &[String]) -> Result<()> {
    for part in documents.chunks(1_000) {
        let command =
            format!("{{\"insert\":\"{collection}\",\"documents\":[{}],\"$db\":\"d\"}}", part.join(","));
        connection.run(&document(&command)).await?;
    }
    Ok(())
}

/// Sends commands on connections of their own, at the same time; each must be answered, well or not. Returns how many
/// were refused.
async fn all_answered(stage: &Stage, commands: &[String]) -> Result<usize> {
    let mut asking = JoinSet::new();
    for (place, text) in commands.iter().cycle().take(AT_ONCE.max(commands.len())).enumerate() {
        let (address, command): (_, Object) = (stage.mongo_address(), document(text));
        let shown: String =
            format!("{}: {}", place % commands.len(), text.chars().take(200).collect::<String>());
        asking.spawn(async move {
            let mut connection = MongoConnection::login(address).await?;
            let reply = connection.ask_within(&command, ENDS_WITHIN).await.context(shown)?;
            anyhow::Ok(reply.is_ok() && reply.document.get("writeErrors").is_none())
        });
    }
    let mut refused = 0;
    while let Some(asked) = asking.join_next().await {
        refused += usize::from(!asked??);
    }
    Ok(refused)
}

/// Sends commands without an end, lets others ask meanwhile, and hangs up.
async fn hang_up_on(stage: &Stage, commands: &[String]) -> Result<()> {
    let mut connections = Vec::new();
    for text in commands.iter().cycle().take(AT_ONCE) {
        let mut connection = MongoConnection::login(stage.mongo_address()).await?;
        connection.send_command(&document(text)).await?;
        connections.push(connection);
    }
    stage.env().clock.sleep(Duration::from_secs(3)).await;
    others_are_answered(stage).await?;
    drop(connections);
    Ok(())
}

/// More cursors than may be open, none of which is ever asked again.
pub(crate) async fn cursors_without_number_are_bounded(stage: &Stage) -> Result<()> {
    const CONNECTIONS: usize = 4;
    const CURSORS: usize = 2_700;
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let documents: Vec<String> =
        (0..200).map(|number| format!("{{\"_id\":{number},\"t\":\"{}\"}}", "x".repeat(1_000))).collect();
    insert(&mut connection, "c", &documents).await?;
    let mut opening = JoinSet::new();
    for place in 0..CONNECTIONS {
        let address = stage.mongo_address();
        opening.spawn(async move {
            let mut connection = MongoConnection::login(address).await?;
            let find = document("{\"find\":\"c\",\"batchSize\":1,\"sort\":{\"_id\":-1},\"$db\":\"d\"}");
            let aggregate =
                "{\"aggregate\":\"c\",\"pipeline\":[{\"$sort\":{\"t\":1}}],\"cursor\":{\"batchSize\":0},\"$db\":\"d\"}";
            let aggregate = document(aggregate);
            for number in 0..CURSORS {
                let is_aggregate = (number + place) % 20 == 0;
                // It may be refused at some time, or older cursors may go.
                connection.ask(if is_aggregate { &aggregate } else { &find }).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(opened) = opening.join_next().await {
        opened??;
    }
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 1_024 * MEBIBYTE, "{} MiB for cursors", grown / MEBIBYTE);
    others_are_answered(stage).await
}

/// More sessions than are kept, and hundreds of transactions that never end.
pub(crate) async fn sessions_without_number_are_bounded(stage: &Stage) -> Result<()> {
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let mut random = stage.random(0);
    let mut session = || {
        let id = [random.next_u64().to_le_bytes(), random.next_u64().to_le_bytes()].concat();
        format!("{{\"id\":{{\"$binary\":{{\"base64\":\"{}\",\"subType\":\"04\"}}}}}}", STANDARD.encode(id))
    };
    for _ in 0..12 {
        let sessions: Vec<String> = (0..10_000).map(|_| session()).collect();
        let command = format!("{{\"refreshSessions\":[{}],\"$db\":\"admin\"}}", sessions.join(","));
        connection.ask(&document(&command)).await?;
    }
    for _ in 0..2_000 {
        let command = format!("{{\"find\":\"c\",\"lsid\":{},\"$db\":\"d\"}}", session());
        connection.ask(&document(&command)).await?;
    }
    for number in 0..500 {
        let command = format!(
            "{{\"insert\":\"c\",\"documents\":[{{\"_id\":{number},\"t\":\"{}\"}}],\"lsid\":{},\
             \"txnNumber\":1,\"startTransaction\":true,\"autocommit\":false,\"$db\":\"d\"}}",
            "x".repeat(10_000),
            session()
        );
        connection.ask(&document(&command)).await?;
    }
    others_are_answered(stage).await?;
    drop(connection);
    settles(stage, 256).await
}

/// Updates that make large documents out of small ones end at the largest that may be, or are refused.
pub(crate) async fn updates_that_grow_are_bounded(stage: &Stage) -> Result<()> {
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let ids: Vec<String> =
        (0..20).map(|number| format!("{{\"_id\":{number},\"s\":\"0123456789abcdef\",\"l\":[1]}}")).collect();
    insert(&mut connection, "c", &ids).await?;
    let numbers = (0..400_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let paths = (0..50_000).map(|number| format!("\"p{number}.q.r\":1")).collect::<Vec<_>>().join(",");
    let doubled = ["{\"$set\":{\"s\":{\"$concat\":[\"$s\",\"$s\"]}}}"; 40].join(",");
    let doubled_list = ["{\"$set\":{\"l\":{\"$concatArrays\":[\"$l\",\"$l\"]}}}"; 40].join(",");
    let deep = format!("\"{}\":1", vec!["a"; 5_000].join("."));
    let stages = ["{\"$set\":{\"n\":1}}"; 1_001].join(",");
    let commands: Vec<String> = [
        format!("{{\"$push\":{{\"a\":{{\"$each\":[{numbers}],\"$sort\":-1,\"$slice\":-10}}}}}}"),
        format!("{{\"$addToSet\":{{\"b\":{{\"$each\":[{numbers}]}}}}}}"),
        "{\"$set\":{\"c.1499999\":1}}".to_owned(),
        "{\"$set\":{\"c.99999999999\":1}}".to_owned(),
        "{\"$push\":{\"e\":{\"$each\":[],\"$position\":9223372036854775807,\"$slice\":-9223372036854775808}}}".to_owned(),
        format!("{{\"$set\":{{{paths}}}}}"),
        format!("{{\"$set\":{{{deep}}}}}"),
        format!("[{doubled}]"),
        format!("[{doubled_list}]"),
        format!("[{stages}]"),
        "[{\"$set\":{\"l\":{\"$range\":[0,2147483647]}}}]".to_owned(),
    ]
    .iter()
    .enumerate()
    .map(|(number, update)| {
        format!("{{\"update\":\"c\",\"updates\":[{{\"q\":{{\"_id\":{number}}},\"u\":{update}}}],\"$db\":\"d\"}}")
    })
    .collect();
    let refused = all_answered(stage, &commands).await?;
    ensure!(refused >= 5, "only {refused} updates were refused");
    others_are_answered(stage).await?;
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 2_048 * MEBIBYTE, "{} MiB for updates", grown / MEBIBYTE);
    settles(stage, 384).await
}

/// Patterns that could be tried in very many ways are not, wherever they may stand.
pub(crate) async fn mongo_patterns_end(stage: &Stage) -> Result<()> {
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let texts: Vec<String> =
        (0..20).map(|number| format!("{{\"_id\":{number},\"t\":\"{}b\"}}", "a".repeat(50_000))).collect();
    insert(&mut connection, "c", &texts).await?;
    let mut commands = Vec::new();
    let alternatives = vec!["a?"; 200].join("");
    for pattern in
        ["(a+)+$", "(a|a)*$", "(a*)*\\\\1c", "^(?=(a+)+$)", "(?:a{1,1000}){1,1000}c", &alternatives]
    {
        commands.push(format!(
            "{{\"find\":\"c\",\"filter\":{{\"t\":{{\"$regularExpression\":{{\"pattern\":\"{pattern}\",\"options\":\"i\"}}}}}},\
             \"projection\":{{\"_id\":1}},\"$db\":\"d\"}}"
        ));
        commands.push(format!(
            "{{\"aggregate\":\"c\",\"pipeline\":[{{\"$project\":{{\"m\":{{\"$regexFindAll\":{{\"input\":\"$t\",\
             \"regex\":\"{pattern}\"}}}}}}}},{{\"$count\":\"n\"}}],\"cursor\":{{}},\"$db\":\"d\"}}"
        ));
    }
    all_answered(stage, &commands).await?;
    others_are_answered(stage).await?;
    settles(stage, 384).await
}

/// Expressions that compute without an end, or make values without an end, come to one of their bounds; others are
/// answered meanwhile, and the work ends with who asked for it.
pub(crate) async fn expressions_come_to_an_end(stage: &Stage) -> Result<()> {
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let ids: Vec<String> = (0..50).map(|number| format!("{{\"_id\":{number}}}")).collect();
    insert(&mut connection, "c", &ids).await?;
    let range = "{\"$range\":[0,100000]}";
    let within = |inner: &str| format!("{{\"$map\":{{\"input\":{range},\"as\":\"x\",\"in\":{inner}}}}}");
    let long = within(&within(&within("{\"$add\":[\"$$x\",1]}")));
    let grown = format!(
        "{{\"$reduce\":{{\"input\":{range},\"initialValue\":[1],\"in\":{{\"$concatArrays\":[\"$$value\",\"$$value\"]}}}}}}"
    );
    let text = format!(
        "{{\"$reduce\":{{\"input\":{range},\"initialValue\":\"ab\",\"in\":{{\"$concat\":[\"$$value\",\"$$value\"]}}}}}}"
    );
    let kept =
        format!("{{\"$filter\":{{\"input\":{range},\"as\":\"y\",\"cond\":{{\"$in\":[\"$$y\",{range}]}}}}}}");
    let mut nested = "1".to_owned();
    for _ in 0..90 {
        nested = format!("{{\"$abs\":{nested}}}");
    }
    let expressions = [
        long,
        grown,
        text,
        kept,
        nested,
        "{\"$range\":[0,2147483647]}".to_owned(),
        "{\"$replaceAll\":{\"input\":{\"$toString\":{\"$range\":[0,9]}},\"find\":\"\",\"replacement\":\"x\"}}".to_owned(),
        "{\"$pow\":[{\"$numberDecimal\":\"9.99E+6144\"},{\"$numberDecimal\":\"1E-6143\"}]}".to_owned(),
    ];
    let mut commands = Vec::new();
    for expression in &expressions {
        commands.push(format!(
            "{{\"find\":\"c\",\"filter\":{{\"$expr\":{{\"$eq\":[{expression},1]}}}},\"$db\":\"d\"}}"
        ));
        commands.push(format!(
            "{{\"aggregate\":\"c\",\"pipeline\":[{{\"$group\":{{\"_id\":{expression},\"n\":{{\"$sum\":1}}}}}}],\
             \"cursor\":{{}},\"$db\":\"d\"}}"
        ));
    }
    hang_up_on(stage, &commands).await?;
    settles(stage, 512).await?;
    let refused = all_answered(stage, &commands).await?;
    ensure!(refused >= 6, "only {refused} expressions were refused");
    others_are_answered(stage).await?;
    settles(stage, 512).await
}

/// Pipelines of very many stages, in each other, and with products without an end.
pub(crate) async fn pipelines_come_to_an_end(stage: &Stage) -> Result<()> {
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let numbers = (0..200).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let documents: Vec<String> = (0..100)
        .map(|id| {
            format!(
                "{{\"_id\":{id},\"a\":[{numbers}],\"b\":[{numbers}],\"c\":[{numbers}],\"d\":[{numbers}]}}"
            )
        })
        .collect();
    insert(&mut connection, "c", &documents).await?;
    let times = |count: usize, stage: &str| vec![stage; count].join(",");
    let lookup = "{\"$lookup\":{\"from\":\"c\",\"pipeline\":[{\"$limit\":1}],\"as\":\"x\"}}";
    let mut inside = "{\"$match\":{}}".to_owned();
    for _ in 0..22 {
        inside = format!("{{\"$lookup\":{{\"from\":\"c\",\"pipeline\":[{inside}],\"as\":\"x\"}}}}");
    }
    let facets =
        (0..100).map(|number| format!("\"f{number}\":[{{\"$match\":{{}}}}]")).collect::<Vec<_>>().join(",");
    let unwound = ["a", "b", "c", "d"].map(|name| format!("{{\"$unwind\":\"${name}\"}}")).join(",");
    let ending = [
        times(1_000, "{\"$addFields\":{\"x\":{\"$add\":[1,2]}}}"),
        times(1_001, "{\"$match\":{}}"),
        times(20_000, "{\"$limit\":5}"),
        times(200, lookup),
        inside,
        format!("{{\"$facet\":{{{facets}}}}}"),
        times(200, "{\"$unionWith\":\"c\"}"),
        "{\"$densify\":{\"field\":\"_id\",\"range\":{\"step\":0.000001,\"bounds\":[0,1000000]}}}".to_owned(),
        "{\"$bucketAuto\":{\"groupBy\":\"$_id\",\"buckets\":2147483647}}".to_owned(),
        "{\"$sample\":{\"size\":9223372036854775807}}".to_owned(),
    ];
    let endless = [
        format!("{unwound},{{\"$group\":{{\"_id\":\"$a\",\"n\":{{\"$sum\":1}}}}}}"),
        format!("{unwound},{{\"$match\":{{\"a\":-1}}}}"),
        format!("{unwound},{{\"$sort\":{{\"a\":1}}}}"),
        format!("{unwound},{{\"$group\":{{\"_id\":null,\"all\":{{\"$push\":\"$$ROOT\"}}}}}}"),
    ];
    let command = |stages: &String| {
        format!("{{\"aggregate\":\"c\",\"pipeline\":[{stages}],\"cursor\":{{}},\"$db\":\"d\"}}")
    };
    let refused = all_answered(stage, &ending.iter().map(command).collect::<Vec<_>>()).await?;
    ensure!(refused >= 2, "only {refused} pipelines were refused");
    others_are_answered(stage).await?;
    hang_up_on(stage, &endless.iter().map(command).collect::<Vec<_>>()).await?;
    settles(stage, 512).await
}

/// Documents that lead to each other in circles are each found once.
pub(crate) async fn circles_are_walked_once(stage: &Stage) -> Result<()> {
    const DOCUMENTS: usize = 600;
    let mut connection = MongoConnection::login(stage.mongo_address()).await?;
    let documents: Vec<String> = (0..DOCUMENTS)
        .map(|id| {
            let next = [(id + 1) % DOCUMENTS, id * 7 % DOCUMENTS, id];
            format!("{{\"_id\":{id},\"next\":[{},{},{}]}}", next[0], next[1], next[2])
        })
        .collect();
    insert(&mut connection, "c", &documents).await?;
    let walk = "{\"$graphLookup\":{\"from\":\"c\",\"startWith\":\"$next\",\"connectFromField\":\"next\",\
                \"connectToField\":\"_id\",\"as\":\"all\"}}";
    let one = format!(
        "{{\"aggregate\":\"c\",\"pipeline\":[{{\"$limit\":1}},{walk},{{\"$project\":{{\"n\":{{\"$size\":\"$all\"}}}}}}],\
         \"cursor\":{{}},\"$db\":\"d\"}}"
    );
    let reply = connection.run(&document(&one)).await?;
    let first =
        reply.get("cursor").and_then(|cursor| cursor.get("firstBatch")).and_then(|batch| batch.as_array());
    let found = first.and_then(|batch| batch.first()?.get("n")?.as_i64());
    ensure!(found == Some(i64::try_from(DOCUMENTS)?), "{found:?} of {DOCUMENTS} documents are in the circle");
    let all = format!("{{\"aggregate\":\"c\",\"pipeline\":[{walk}],\"cursor\":{{}},\"$db\":\"d\"}}");
    let twice = format!(
        "{{\"aggregate\":\"c\",\"pipeline\":[{walk},{{\"$unwind\":\"$all\"}},{walk}],\"cursor\":{{}},\"$db\":\"d\"}}"
    );
    hang_up_on(stage, &[all, twice]).await?;
    settles(stage, 512).await
}
