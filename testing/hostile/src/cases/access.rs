//! Who may do what.

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::request::{Answer, Caller, READ_ONLY_KEY, Request, table_signature};
use armilla_hostile::stage::Stage;
use armilla_rest_wire::well_known;
use armilla_value::Value;

/// No credentials, the wrong key, a token nobody gave out and a token cut short: 401 each, on both APIs.
pub(crate) async fn false_signatures_are_refused(stage: &Stage) -> Result<()> {
    let other_key = "bm90IHRoZSBrZXkgb2YgdGhpcyBhY2NvdW50LCBidXQgbG9uZyBlbm91Z2g=";
    let forged = "type=resource&ver=1&sig=AAAA;eyJtb2RlIjoiQWxsIn0;".to_owned();
    let callers = [Caller::Nobody, Caller::key(other_key), Caller::Token(forged)];
    for caller in &callers {
        for request in [
            Request::get("/dbs"),
            Request::post("/dbs", "{\"id\":\"stolen\"}"),
            Request::get("/dbs/probe/colls/probe/docs/read").partition("a"),
            Request::new("DELETE", "/dbs/probe"),
        ] {
            stage.ask_for(caller, &request, 401).await?;
        }
    }
    let request = Request::post("/Tables", "{\"TableName\":\"stolen\"}");
    let answer = stage.ask(&Caller::table_key(other_key), &request).await?;
    ensure!(matches!(answer.status, 401 | 403), "the Table API answered {}", answer.status);
    stage.ask_for(&stage.table(), &request, 201).await?;
    Ok(())
}

/// The key that permits reading reads, and changes nothing.
pub(crate) async fn the_read_only_key_only_reads(stage: &Stage) -> Result<()> {
    let caller = stage.read_only();
    stage.ask_for(&caller, &Request::get("/dbs"), 200).await?;
    stage.ask_for(&caller, &Request::get("/dbs/probe/colls/probe/docs/read").partition("a"), 200).await?;
    for request in [
        Request::post("/dbs", "{\"id\":\"stolen\"}"),
        Request::new("DELETE", "/dbs/probe"),
        Request::new("DELETE", "/dbs/probe/colls/probe"),
        Request::new("DELETE", "/dbs/probe/colls/probe/docs/read").partition("a"),
        Request::post("/dbs/probe/colls/probe/docs", "{\"id\":\"stolen\",\"pk\":\"a\"}").partition("a"),
        Request::post("/dbs/probe/users", "{\"id\":\"stolen\"}"),
    ] {
        stage.ask_for(&caller, &request, 403).await?;
    }
    Ok(())
}

/// Makes the database `d` with the containers `c` and `other`, and in each the items `1` with the keys `a` and `b`.
async fn furnish(stage: &Stage) -> Result<()> {
    for container in ["c", "other"] {
        stage.create_container("d", container, "/pk").await?;
        for key in ["a", "b"] {
            let body = format!("{{\"id\":\"1\",\"pk\":\"{key}\"}}");
            let request = Request::post(&format!("/dbs/d/colls/{container}/docs"), &body).partition(key);
            stage.ask_for(&stage.master(), &request, 201).await?;
        }
    }
    Ok(())
}

/// Makes a permission for a user of its own, and returns somebody who has its token.
async fn grant(stage: &Stage, user: &str, mode: &str, link: &str, more: &str) -> Result<Caller> {
    let master = stage.master();
    let request = Request::post("/dbs/d/users", &format!("{{\"id\":\"{user}\"}}"));
    stage.ask_for(&master, &request, 201).await?;
    let body = format!("{{\"id\":\"p\",\"permissionMode\":\"{mode}\",\"resource\":\"{link}\"{more}}}");
    let request = Request::post(&format!("/dbs/d/users/{user}/permissions"), &body);
    Ok(Caller::Token(stage.ask_for(&master, &request, 201).await?.property("_token")?))
}

/// To show a permission is to make a token, which may write: the key for reading is shown none, by no verb.
pub(crate) async fn the_read_only_key_makes_no_tokens(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    grant(stage, "u", "All", "dbs/d/colls/c", "").await?;
    let body = "{\"id\":\"q\",\"permissionMode\":\"All\",\"resource\":\"dbs/d/colls/other\"}";
    for request in [
        Request::get("/dbs/d/users/u/permissions/p"),
        Request::get("/dbs/d/users/u/permissions"),
        Request::query("/dbs/d/users/u/permissions", "SELECT * FROM p"),
        Request::query("/dbs/d/users/u/permissions", "SELECT VALUE p._token FROM p"),
        Request::post("/dbs/d/users/u/permissions", body),
        Request::post("/dbs/d/users/u/permissions", body).header("x-ms-documentdb-is-upsert", "True"),
        Request::new("PUT", "/dbs/d/users/u/permissions/p").body(body),
        Request::new("DELETE", "/dbs/d/users/u/permissions/p"),
    ] {
        let answer = stage.ask_for(&stage.read_only(), &request, 403).await?;
        ensure!(!answer.text().contains("type=resource"), "{} gave a token", request.what());
    }
    stage.ask_for(&stage.read_only(), &Request::get("/dbs/d/users"), 200).await?;
    Ok(())
}

/// A permission for an item by `_self` is for that item, not for others of the same id.
pub(crate) async fn a_token_of_an_item_opens_one_item(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    let path = "/dbs/d/colls/c/docs/1";
    let item = stage.ask_for(&stage.master(), &Request::get(path).partition("a"), 200).await?;
    let caller = grant(stage, "u", "All", &item.property("_self")?, "").await?;
    stage.ask_for(&caller, &Request::get(path).partition("a"), 200).await?;
    for request in [
        Request::get(path).partition("b"),
        Request::new("DELETE", path).partition("b"),
        Request::new("PUT", path).body("{\"id\":\"1\",\"pk\":\"b\"}").partition("b"),
        Request::post("/dbs/d/colls/c/docs", "{\"id\":\"1\",\"pk\":\"c\"}").partition("c"),
        Request::get("/dbs/d/colls/c/docs"),
        Request::query("/dbs/d/colls/c/docs", "SELECT * FROM c").partition("a"),
        Request::get("/dbs/d/colls/c"),
        Request::get("/dbs/d/colls/c/pkranges"),
    ] {
        stage.ask_for(&caller, &request, 403).await?;
    }
    // By name it must be said which.
    let body = "{\"id\":\"q\",\"permissionMode\":\"All\",\"resource\":\"dbs/d/colls/c/docs/1\"}";
    stage.ask_for(&stage.master(), &Request::post("/dbs/d/users/u/permissions", body), 400).await?;
    Ok(())
}

/// What is outside of a token's scope is answered the same whether it exists or not.
pub(crate) async fn a_token_tells_nothing_of_the_rest(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    let key = ",\"resourcePartitionKey\":[\"a\"]";
    let whole = grant(stage, "whole", "All", "dbs/d/colls/c", "").await?;
    let part = grant(stage, "part", "All", "dbs/d/colls/c", key).await?;
    let pairs = [
        ("/dbs/d", "/dbs/x"),
        ("/dbs/d/colls/other", "/dbs/d/colls/x"),
        ("/dbs/d/colls/other/docs", "/dbs/d/colls/x/docs"),
        ("/dbs/d/colls/other/docs/1", "/dbs/d/colls/other/docs/9"),
        ("/dbs/d/colls/other/docs/1", "/dbs/x/colls/x/docs/1"),
        ("/dbs/d/colls/other/sprocs/s", "/dbs/d/colls/x/sprocs/s"),
        ("/dbs/d/users/whole", "/dbs/d/users/x"),
        ("/dbs/d/users/whole/permissions/p", "/dbs/d/users/x/permissions/p"),
    ];
    for caller in [&whole, &part] {
        for verb in ["GET", "DELETE", "PUT", "POST", "PATCH"] {
            for (exists, missing) in pairs {
                let ask = async |path: &str| {
                    stage.ask(caller, &Request::new(verb, path).body("{}").partition("a")).await
                };
                let (one, other) = (ask(exists).await?, ask(missing).await?);
                ensure!(one.status == 403, "{verb} {exists} got {}", one.status);
                ensure!(
                    lesson(&one) == lesson(&other),
                    "{verb} {exists} and {missing} differ: {one:?} {other:?}"
                );
            }
        }
    }
    // Inside of the container, but of another key.
    let ask = async |id: &str| {
        stage.ask(&part, &Request::get(&format!("/dbs/d/colls/c/docs/{id}")).partition("b")).await
    };
    let (one, other) = (ask("1").await?, ask("9").await?);
    ensure!(one.status == 403 && lesson(&one) == lesson(&other), "{one:?} {other:?}");
    Ok(())
}

/// What an answer tells, apart from what differs in every answer.
fn lesson(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let id = answer.header("x-ms-activity-id").unwrap_or_default().to_owned();
    let differs =
        |name: &str| name.eq_ignore_ascii_case("x-ms-activity-id") || name.eq_ignore_ascii_case("date");
    let headers = answer.headers.iter().filter(|(name, _)| !differs(name)).cloned().collect();
    (answer.status, headers, String::from_utf8_lossy(&answer.body).replace(&id, ""))
}

/// Tokens that were changed, cut, or put together from others.
pub(crate) async fn bent_tokens_are_refused(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    let read = grant(stage, "reader", "Read", "dbs/d/colls/c", "").await?;
    let all = grant(stage, "writer", "All", "dbs/d/colls/c", "").await?;
    let (Caller::Token(read), Caller::Token(all)) = (&read, &all) else { anyhow::bail!("no tokens") };
    let parts = |token: &str| -> Result<(String, String)> {
        let (_, token) = token.split_once("sig=").context("a token has no signature")?;
        let (signature, content) = token.split_once(';').context("a token has one part")?;
        Ok((signature.to_owned(), content.trim_end_matches(';').to_owned()))
    };
    let ((signature, content), (_, more)) = (parts(read)?, parts(all)?);
    let mut bent = vec![
        format!("type=resource&ver=1&sig={signature};{more};"),
        format!("type=resource&ver=1&sig=;{content};"),
        format!("type=resource&ver=1&sig={signature};;"),
        format!("type=resource&ver=1&sig={signature}{signature};{content};"),
        "type=resource&ver=1&sig=".to_owned() + &"A".repeat(15_000) + ";A;",
    ];
    let mut random = stage.random(1);
    let start = read.find("sig=").context("a token has no signature")? + 4;
    for _ in 0..100 {
        let mut bytes = read.clone().into_bytes();
        let place = start + random.index(bytes.len() - start - 1);
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        bent.push(String::from_utf8(bytes)?);
    }
    let request = Request::get("/dbs/d/colls/c/docs/1").partition("a");
    for token in bent {
        stage.ask_for(&Caller::Token(token), &request, 401).await?;
    }
    stage.ask_for(&Caller::Token(read.clone()), &request, 200).await?;
    Ok(())
}

/// A token for a container is not one for another that is made under its name.
pub(crate) async fn tokens_end_with_their_container(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    let caller = grant(stage, "u", "All", "dbs/d/colls/other", "").await?;
    let request = Request::get("/dbs/d/colls/other/docs/1").partition("a");
    stage.ask_for(&caller, &request, 200).await?;
    stage.ask_for(&stage.master(), &Request::new("DELETE", "/dbs/d/colls/other"), 204).await?;
    stage.ask_for(&caller, &request, 403).await?;
    stage.create_container("d", "other", "/pk").await?;
    stage.ask_for(&caller, &request, 403).await?;
    let body = "{\"id\":\"1\",\"pk\":\"a\"}";
    stage.ask_for(&caller, &Request::post("/dbs/d/colls/other/docs", body).partition("a"), 403).await?;
    Ok(())
}

/// Paths that a server could misread, with a token for the one container and the key of nobody.
pub(crate) async fn odd_paths_open_nothing(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    let caller = grant(stage, "u", "All", "dbs/d/colls/c", "").await?;
    for path in [
        "/dbs/d/colls/c/../other/docs/1",
        "/dbs/d/colls/c/%2e%2e/other/docs/1",
        "/dbs/d/colls/c%2f..%2fother/docs/1",
        "/dbs/d/colls/other%00/docs/1",
        "/dbs/d/colls/other%2fdocs%2f1",
        "//dbs/d/colls/other/docs/1",
        "/dbs/d/colls//other/docs/1",
        "/dbs/d/colls/other/docs/1/",
        "/dbs/d/colls/other/docs/1?colls=c",
        "/dbs/d/colls/other/docs/1#/dbs/d/colls/c",
        "/DBS/d/COLLS/other/DOCS/1",
        "/dbs/d/colls/c;other/docs/1",
        "/dbs/d/colls/c,other/docs/1",
        "http://localhost/dbs/d/colls/other/docs/1",
    ] {
        for caller in [&caller, &Caller::Nobody] {
            let answer = stage.ask(caller, &Request::get(path).partition("a")).await?;
            ensure!((400..500).contains(&answer.status), "{path} got {}: {}", answer.status, answer.text());
        }
    }
    Ok(())
}

/// Batches and bulk requests are judged operation by operation.
pub(crate) async fn batches_reach_no_further_than_their_parts(stage: &Stage) -> Result<()> {
    furnish(stage).await?;
    let key = ",\"resourcePartitionKey\":[\"a\"]";
    let caller = grant(stage, "u", "All", "dbs/d/colls/c", key).await?;
    let reader = grant(stage, "r", "Read", "dbs/d/colls/c", "").await?;
    let operations = |key: &str| {
        format!(
            "[{{\"operationType\":\"Read\",\"id\":\"1\",\"partitionKey\":\"[\\\"{key}\\\"]\"}},\
              {{\"operationType\":\"Delete\",\"id\":\"1\",\"partitionKey\":\"[\\\"{key}\\\"]\"}}]"
        )
    };
    let batch = |key: &str| {
        Request::post("/dbs/d/colls/c/docs", &operations(key))
            .header("x-ms-cosmos-is-batch-request", "True")
            .header("x-ms-cosmos-batch-atomic", "True")
            .partition(key)
    };
    let bulk = |key: &str| {
        Request::post("/dbs/d/colls/c/docs", &operations(key))
            .header("x-ms-cosmos-is-batch-request", "True")
            .header("x-ms-cosmos-batch-atomic", "False")
            .header("x-ms-cosmos-batch-continue-on-error", "True")
    };
    stage.ask_for(&caller, &batch("b"), 403).await?;
    stage.ask_for(&reader, &batch("a"), 403).await?;
    let statuses = |answer: &Answer| -> Result<Vec<i64>> {
        let body = answer.json()?;
        let results = body.as_array().context("no list of results")?.to_vec();
        Ok(results.iter().filter_map(|result| result.get("statusCode").and_then(Value::as_i64)).collect())
    };
    let answer = stage.ask(&caller, &bulk("b")).await?;
    ensure!(statuses(&answer)? == [403, 403], "{}", answer.text());
    let answer = stage.ask(&reader, &bulk("b")).await?;
    ensure!(statuses(&answer)? == [200, 403], "{}", answer.text());
    for key in ["a", "b"] {
        let request = Request::get("/dbs/d/colls/c/docs/1").partition(key);
        stage.ask_for(&stage.master(), &request, 200).await?;
    }
    Ok(())
}

/// Signatures of the Table API: one that was made with the key for reading does not write, whatever it says; one for a
/// table tells nothing of others.
pub(crate) async fn table_signatures_reach_no_further(stage: &Stage) -> Result<()> {
    for table in ["mine", "other"] {
        let request = Request::post("/Tables", &format!("{{\"TableName\":\"{table}\"}}"));
        stage.ask_for(&stage.table(), &request, 201).await?;
    }
    let entity = "{\"PartitionKey\":\"a\",\"RowKey\":\"1\"}";
    let signed = |path: &str, signature: &str| format!("{path}?{signature}");
    let full = table_signature(well_known::COSMOS_KEY, "mine", "raud");
    let reading = table_signature(READ_ONLY_KEY, "mine", "raud");
    let nobody = Caller::TableNobody;
    stage.ask_for(&nobody, &Request::post(&signed("/mine", &full), entity), 201).await?;
    stage.ask_for(&nobody, &Request::get(&signed("/mine()", &reading)), 200).await?;
    let answer = stage.ask(&nobody, &Request::post(&signed("/mine", &reading), entity)).await?;
    ensure!(answer.status == 403, "a signature of the key for reading wrote: {}", answer.status);
    for verb in ["GET", "POST"] {
        let ask = async |table: &str| {
            let path = if verb == "GET" { format!("/{table}()") } else { format!("/{table}") };
            stage.ask(&nobody, &Request::new(verb, &signed(&path, &full)).body(entity)).await
        };
        let (one, other) = (ask("other").await?, ask("missing").await?);
        ensure!(one.status == 403, "{verb} of another table got {}", one.status);
        ensure!(one.status == other.status, "another table: {}, a missing one: {}", one.status, other.status);
    }
    let answer = stage.ask(&nobody, &Request::get(&signed("/Tables", &full))).await?;
    ensure!(answer.status == 403, "a signature for one table listed all: {}", answer.status);
    Ok(())
}
