//! A tour of the driver: connecting, documents, pipelines, indexes, sessions, streams.
//!
//! The binary comes from ARMILLA_BIN, or is the debug build of this repository.

use std::env;
use std::path::{Path, PathBuf};

use armilla_launcher::{LogTo, READY_TIMEOUT, ServerProcess, command};
use futures::{StreamExt, TryStreamExt};
use mongodb::bson::{Bson, Decimal128, Document, doc, oid::ObjectId};
use mongodb::change_stream::event::OperationType;
use mongodb::error::{ErrorKind, WriteFailure};
use mongodb::options::{ClientOptions, Credential, IndexOptions, ReturnDocument, Tls, TlsOptions};
use mongodb::{Client, Collection, IndexModel};

/// The well-known key of the emulators.
const KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

struct Server {
    process: ServerProcess,
    folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut command = command(binary());
        command.args(["--port", "0", "--mongo-port", "0", "--throttle", "off", "--data-dir"]);
        command.arg(folder.path().join("data")).env("NO_COLOR", "1");
        let log = folder.path().join("stderr.log");
        let process =
            ServerProcess::start(command, LogTo::File(&log), READY_TIMEOUT).expect("start the server");
        Server { process, folder }
    }

    /// Opens a client with a key, with or without TLS.
    async fn connect(&self, key: &str, tls: bool) -> Client {
        let port = self.process.ready().port("mongo").expect("port");
        let text = format!("mongodb://localhost:{port}/?serverSelectionTimeoutMS=10000");
        let mut options = ClientOptions::parse(text).await.expect("options");
        options.credential =
            Some(Credential::builder().username("localhost".to_owned()).password(key.to_owned()).build());
        if tls {
            let authority = self.folder.path().join("data/tls/cert.pem");
            options.tls = Some(Tls::Enabled(TlsOptions::builder().ca_file_path(authority).build()));
        }
        Client::with_options(options).expect("client")
    }

    fn stop(self) {
        let ended = self.process.stop().expect("stops in time");
        assert_eq!(ended.code(), Some(0), "SIGTERM ends the server with exit code 0");
    }
}

fn binary() -> PathBuf {
    match env::var_os("ARMILLA_BIN") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/armilla"),
    }
}

fn code(error: &mongodb::error::Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(failed) => Some(failed.code),
        ErrorKind::Write(WriteFailure::WriteError(failed)) => Some(failed.code),
        ErrorKind::Authentication { .. } => Some(18),
        ErrorKind::InsertMany(failed) => failed.write_errors.as_ref()?.first().map(|failed| failed.code),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_finds_everything_at_its_place() {
    let server = Server::start();
    for tls in [false, true] {
        let client = server.connect(KEY, tls).await;
        let database = client.database("tour");
        documents(&database.collection("documents")).await;
        types(&database.collection("types")).await;
        pages_and_pipelines(&database.collection("pages")).await;
        indexes(&database.collection("indexes")).await;
        transactions(&client, &database.collection("transactions")).await;
        streams(&database.collection("streams")).await;
        service(&client).await;
        database.drop().await.expect("drop");
        let refused = server.connect("wrong", tls).await.list_database_names().await;
        assert_eq!(code(&refused.expect_err("a wrong key")), Some(18));
    }
    server.stop();
}

async fn documents(collection: &Collection<Document>) {
    let inserted = collection.insert_one(doc! { "name": "Ann", "age": 39 }).await.expect("insert");
    assert!(inserted.inserted_id.as_object_id().is_some());
    let updated = collection.update_one(doc! { "name": "Ann" }, doc! { "$inc": { "age": 1 } }).await.expect("update");
    assert_eq!((updated.matched_count, updated.modified_count), (1, 1));
    let found = collection
        .find_one_and_update(doc! {}, doc! { "$set": { "x": 1 } })
        .return_document(ReturnDocument::After)
        .await
        .expect("find and update")
        .expect("found");
    assert_eq!(found.get_i32("age"), Ok(40));
    let upserted = collection
        .update_one(doc! { "_id": 7, "a": 1 }, doc! { "$setOnInsert": { "b": 2 } })
        .upsert(true)
        .await
        .expect("upsert");
    assert_eq!(upserted.upserted_id, Some(Bson::Int32(7)));
    let duplicate = collection.insert_one(doc! { "_id": 7 }).await.expect_err("duplicate");
    assert_eq!(code(&duplicate), Some(11000));
    let wrong = collection.find_one(doc! { "a": { "$nonsense": 1 } }).await.expect_err("wrong");
    assert_eq!(code(&wrong), Some(2));
    assert_eq!(collection.delete_many(doc! {}).await.expect("delete").deleted_count, 2);
}

async fn types(collection: &Collection<Document>) {
    let document = doc! {
        "_id": 1,
        "double": 1.0,
        "int64": i64::MAX,
        "decimal": "1.10".parse::<Decimal128>().expect("decimal"),
        "object": { "b": 1, "a": [] },
        "array": [1, "two", [3.5]],
        "binary": Bson::Binary(mongodb::bson::Binary { subtype: 128.into(), bytes: vec![0, 255] }),
        "objectid": ObjectId::new(),
        "date": mongodb::bson::DateTime::from_millis(1_577_934_245_678),
        "null": Bson::Null,
        "regex": Bson::RegularExpression(mongodb::bson::Regex { pattern: "^a".into(), options: "im".into() }),
        "code": Bson::JavaScriptCode("x".into()),
        "symbol": Bson::Symbol("y".into()),
        "undefined": Bson::Undefined,
        "timestamp": Bson::Timestamp(mongodb::bson::Timestamp { time: 4_000_000_000, increment: 5 }),
        "minkey": Bson::MinKey,
        "maxkey": Bson::MaxKey,
    };
    collection.insert_one(&document).await.expect("insert");
    assert_eq!(collection.find_one(doc! { "_id": 1.0 }).await.expect("find"), Some(document));
}

async fn pages_and_pipelines(collection: &Collection<Document>) {
    collection.insert_many((0..250).map(|n| doc! { "_id": n, "k": n % 3 })).await.expect("insert");
    let found: Vec<Document> = collection
        .find(doc! {})
        .sort(doc! { "_id": -1 })
        .batch_size(30)
        .await
        .expect("find")
        .try_collect()
        .await
        .expect("all");
    assert_eq!(found.len(), 250);
    assert_eq!(found[0].get_i32("_id"), Ok(249));
    assert_eq!(collection.count_documents(doc! { "k": 1 }).await.expect("count"), 83);
    let groups: Vec<Document> = collection
        .aggregate([doc! { "$group": { "_id": "$k", "n": { "$sum": 1 } } }, doc! { "$sort": { "_id": 1 } }])
        .await
        .expect("aggregate")
        .try_collect()
        .await
        .expect("all");
    assert_eq!(groups[0], doc! { "_id": 0, "n": 84 });
}

async fn indexes(collection: &Collection<Document>) {
    let model = IndexModel::builder()
        .keys(doc! { "email": 1 })
        .options(IndexOptions::builder().unique(true).build())
        .build();
    assert_eq!(collection.create_index(model).await.expect("create").index_name, "email_1");
    collection.insert_one(doc! { "email": "a" }).await.expect("insert");
    let duplicate = collection.insert_one(doc! { "email": "a" }).await.expect_err("duplicate");
    assert_eq!(code(&duplicate), Some(11000));
    assert_eq!(collection.list_index_names().await.expect("list"), ["_id_", "email_1"]);
}

async fn transactions(client: &Client, collection: &Collection<Document>) {
    collection.insert_one(doc! { "_id": 1, "n": 0 }).await.expect("insert");
    let mut session = client.start_session().await.expect("session");
    session.start_transaction().await.expect("start");
    let add = doc! { "$inc": { "n": 1 } };
    collection.update_one(doc! {}, add.clone()).session(&mut session).await.expect("update");
    session.commit_transaction().await.expect("commit");
    session.start_transaction().await.expect("start");
    collection.update_one(doc! {}, add).session(&mut session).await.expect("update");
    session.abort_transaction().await.expect("abort");
    let found = collection.find_one(doc! {}).await.expect("find").expect("found");
    assert_eq!(found.get_i32("n"), Ok(1));
}

async fn streams(collection: &Collection<Document>) {
    collection.insert_one(doc! { "_id": 0 }).await.expect("insert");
    let mut stream = collection.watch().await.expect("watch");
    collection.insert_one(doc! { "_id": 1 }).await.expect("insert");
    collection.delete_one(doc! { "_id": 1 }).await.expect("delete");
    for expected in [OperationType::Insert, OperationType::Delete] {
        let event = stream.next().await.expect("an event").expect("no error");
        assert_eq!(event.operation_type, expected);
    }
}

async fn service(client: &Client) {
    let database = client.database("service");
    let action = doc! { "customAction": "CreateCollection", "collection": "made", "offerThroughput": 500 };
    database.run_command(action).await.expect("create");
    let found =
        database.run_command(doc! { "customAction": "GetCollection", "collection": "made" }).await.expect("get");
    assert_eq!(found.get_i32("provisionedThroughput"), Ok(500));
    database.drop().await.expect("drop");
}
