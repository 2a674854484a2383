//! Single entities: reading one, the six writes, what is refused.

use http::Method;

use super::client::{Client, FLAVOURS};
use crate::Flavour;

const ONE: &str = "/t12(PartitionKey='p',RowKey='r')";

fn merge() -> Method {
    Method::from_bytes(b"MERGE").unwrap()
}

#[tokio::test]
async fn entities_live_through_every_verb() {
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        let made =
            client.post("/t12", r#"{"PartitionKey":"p","RowKey":"r","a":1,"b":"x"}"#).await.expect(201);
        assert_eq!(made.header("location"), Some("http://localhost:8902/t12(PartitionKey='p',RowKey='r')"));
        assert_eq!(made.member("a").as_deref(), Some("1"));
        let read = client.get(ONE).await.expect(200);
        assert_eq!((read.text.clone(), read.etag()), (made.text.clone(), made.etag()));
        client
            .insert("t12", r#"{"PartitionKey":"p","RowKey":"r"}"#)
            .await
            .expect_code(409, "EntityAlreadyExists");

        let any = [("if-match", "*")];
        let replaced = client.send(Method::PUT, ONE, &any, r#"{"c":2}"#).await.expect(204);
        assert_ne!(replaced.etag(), made.etag());
        let read = client.get(ONE).await.expect(200);
        assert_eq!(
            (read.member("a"), read.member("c").as_deref(), read.etag()),
            (None, Some("2"), replaced.etag())
        );

        let merged = client.send(Method::PATCH, ONE, &any, r#"{"d":3,"c":4}"#).await.expect(204);
        let read = client.get(ONE).await.expect(200);
        assert_eq!((read.member("c").as_deref(), read.member("d").as_deref()), (Some("4"), Some("3")));
        assert_eq!(read.etag(), merged.etag());

        let deleted = client.delete(ONE).await.expect(204);
        assert_eq!(deleted.header("etag"), None);
        client.get(ONE).await.expect_code(404, "ResourceNotFound");
        client.delete(ONE).await.expect_code(404, "ResourceNotFound");
        client.send(Method::PUT, ONE, &any, "{}").await.expect_code(404, "ResourceNotFound");
        client.send(Method::PATCH, ONE, &any, "{}").await.expect_code(404, "ResourceNotFound");

        client.send(Method::PUT, ONE, &[], r#"{"e":5}"#).await.expect(204);
        client.send(Method::PUT, ONE, &[], r#"{"f":6}"#).await.expect(204);
        let read = client.get(ONE).await.expect(200);
        assert_eq!((read.member("e"), read.member("f").as_deref()), (None, Some("6")));
        client.delete(ONE).await.expect(204);
        client.send(merge(), ONE, &[], r#"{"g":7}"#).await.expect(204);
        client.send(merge(), ONE, &[], r#"{"h":8}"#).await.expect(204);
        let read = client.get(ONE).await.expect(200);
        assert_eq!((read.member("g").as_deref(), read.member("h").as_deref()), (Some("7"), Some("8")));
    }
}

#[tokio::test]
async fn merges_come_in_three_ways() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    client.insert("t12", r#"{"PartitionKey":"p","RowKey":"r","kept":true}"#).await.expect(204);
    let any = ("if-match", "*");
    client.send(Method::PATCH, ONE, &[any], r#"{"one":1}"#).await.expect(204);
    client.send(merge(), ONE, &[any], r#"{"two":2}"#).await.expect(204);
    let tunnel = ("x-http-method", "MERGE");
    client.send(Method::POST, ONE, &[any, tunnel], r#"{"three":3}"#).await.expect(204);
    let read = client.get(ONE).await.expect(200);
    for (name, value) in [("kept", "true"), ("one", "1"), ("two", "2"), ("three", "3")] {
        assert_eq!(read.member(name).as_deref(), Some(value), "{name}");
    }
}

#[tokio::test]
async fn versions_are_conditions() {
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        let made = client.insert("t12", r#"{"PartitionKey":"p","RowKey":"r"}"#).await.expect(204).etag();
        let stale = [("if-match", made.as_str())];
        let next = client.send(Method::PUT, ONE, &stale, r#"{"a":1}"#).await.expect(204).etag();
        let never = "W/\"datetime'2000-01-01T00%3A00%3A00.0000000Z'\"";
        for tag in [made.as_str(), never, "W/\"wrong\""] {
            let wrong = [("if-match", tag)];
            for (method, body) in [(Method::PUT, "{}"), (Method::PATCH, "{}"), (Method::DELETE, "")] {
                let answer = client.send(method.clone(), ONE, &wrong, body).await;
                let message = answer.expect_code(412, "UpdateConditionNotSatisfied").message();
                assert!(message.contains("The update condition specified in the request was not satisfied."));
            }
        }
        for tag in ["wrong", "\"wrong\"", "\""] {
            for method in [Method::PUT, Method::PATCH, Method::DELETE] {
                client.send(method, ONE, &[("if-match", tag)], "{}").await.expect_code(400, "InvalidInput");
            }
        }
        client.send(Method::DELETE, ONE, &[], "").await.expect_code(400, "MissingRequiredHeader");
        let now = [("if-match", next.as_str())];
        let merged = client.send(Method::PATCH, ONE, &now, r#"{"b":2}"#).await.expect(204).etag();
        client.send(Method::DELETE, ONE, &[("if-match", merged.as_str())], "").await.expect(204);
        client.send(Method::DELETE, ONE, &[("if-match", merged.as_str())], "").await.expect(404);
        client.send(Method::PUT, ONE, &[("if-match", merged.as_str())], "{}").await.expect(404);
    }
}

#[tokio::test]
async fn every_write_is_a_later_version() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    // Time stands still.
    let mut tags =
        vec![client.insert("t12", r#"{"PartitionKey":"p","RowKey":"r"}"#).await.expect(204).etag()];
    for number in 0..20 {
        let body = format!(r#"{{"n":{number}}}"#);
        let method = if number % 2 == 0 { Method::PUT } else { Method::PATCH };
        tags.push(client.send(method, ONE, &[], body).await.expect(204).etag());
        let read = client.get(ONE).await.expect(200);
        assert_eq!(Some(&read.etag()), tags.last());
        let timestamp = read.member("Timestamp").unwrap();
        assert_eq!(
            timestamp.trim_matches('"').replace(':', "%3A"),
            tags.last().unwrap()[12..tags[0].len() - 2]
        );
    }
    assert!(tags.is_sorted_by(|a, b| a < b), "{tags:?}");
    assert!(tags[0].starts_with("W/\"datetime'2023-11-14T22%3A13%3A20."), "{}", tags[0]);
}

#[tokio::test]
async fn every_type_comes_back_as_it_was() {
    let body = r#"{"PartitionKey":"p","RowKey":"r","PartitionKey@odata.type":"Edm.String",
        "text":"Ann","age":39,"ratio":3.1,"even":3.0,"married":true,
        "big@odata.type":"Edm.Int64","big":"9223372036854775807","small":"-9223372036854775808","small@odata.type":"Edm.Int64",
        "born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00Z","bin@odata.type":"Edm.Binary","bin":"YmluYXJ5",
        "uid@odata.type":"Edm.Guid","uid":"C9DA6455-213D-42C9-9A79-3E9149A57833","nan@odata.type":"Edm.Double","nan":"NaN",
        "whole@odata.type":"Edm.Double","whole":5,"nothing":null,"Timestamp":"2000-01-01T00:00:00Z","odata.etag":"x"}"#;
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        client.insert("t12", body).await.expect(204);
        let read = client.get(ONE).await.expect(200);
        let expected = r#""PartitionKey":"p","RowKey":"r","text":"Ann","age":39,"ratio":3.1,"even":3.0,"married":true,"big@odata.type":"Edm.Int64","big":"9223372036854775807","small@odata.type":"Edm.Int64","small":"-9223372036854775808","born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00.0000000Z","bin@odata.type":"Edm.Binary","bin":"YmluYXJ5","uid@odata.type":"Edm.Guid","uid":"c9da6455-213d-42c9-9a79-3e9149a57833","nan@odata.type":"Edm.Double","nan":"NaN","whole":5.0,"Timestamp":"#;
        assert!(read.text.contains(expected), "{}", read.text);
        assert!(
            read.text.starts_with(
                r#"{"odata.metadata":"http://localhost:8902/$metadata#t12/@Element","odata.etag":"W/\"datetime'"#
            ),
            "{}",
            read.text
        );
        assert!(!read.text.contains("2000-01-01"));
        // Written back as it was read, it is the same.
        client.send(Method::PUT, ONE, &[], &read.text).await.expect(204);
        assert!(client.get(ONE).await.expect(200).text.contains(expected));
    }
}

#[tokio::test]
async fn levels_of_metadata_of_entities() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let body = r#"{"PartitionKey":"p","RowKey":"it's","n@odata.type":"Edm.Int64","n":"1"}"#;
    client.insert("t12", body).await.expect(204);
    let target = "/t12(PartitionKey='p',RowKey='it''s')";
    let at = |level: &'static str| [("accept", level)];
    let none =
        client.send(Method::GET, target, &at("application/json;odata=nometadata"), "").await.expect(200);
    let members = r#"{"PartitionKey":"p","RowKey":"it's","n":"1","Timestamp":"2023-11-14T22:13:20."#;
    assert!(none.text.starts_with(members), "{}", none.text);
    let full =
        client.send(Method::GET, target, &at("application/json;odata=fullmetadata"), "").await.expect(200);
    for part in [
        r#""odata.type":"localhost.t12""#,
        r#""odata.id":"http://localhost:8902/t12(PartitionKey='p',RowKey='it''s')""#,
        r#""odata.editLink":"t12(PartitionKey='p',RowKey='it''s')""#,
        r#""Timestamp@odata.type":"Edm.DateTime""#,
    ] {
        assert!(full.text.contains(part), "{part}: {}", full.text);
    }
    // What stands in the query string goes first.
    let target = format!("{target}?$format=application/json;odata=nometadata");
    assert!(client.get(&target).await.expect(200).text.starts_with(members));
}

#[tokio::test]
async fn selections_show_what_they_name() {
    for (flavour, missing) in [(Flavour::Cosmos, ""), (Flavour::Storage, r#","zz":null"#)] {
        let client = Client::with_table(flavour, "t12").await;
        client.insert("t12", r#"{"PartitionKey":"p","RowKey":"r","a":1,"b":2}"#).await.expect(204);
        let none = [("accept", "application/json;odata=nometadata")];
        let read = client.send(Method::GET, &format!("{ONE}?$select=b,zz"), &none, "").await.expect(200);
        assert_eq!(read.text, format!(r#"{{"b":2{missing}}}"#));
        let all = client.send(Method::GET, &format!("{ONE}?$select=*"), &none, "").await.expect(200);
        assert!(all.text.starts_with(r#"{"PartitionKey":"p","RowKey":"r","a":1,"b":2,"Timestamp":"#));
        let keys = client.send(Method::GET, "/t12()?$select=RowKey", &none, "").await.expect(200);
        assert_eq!(keys.text, r#"{"value":[{"RowKey":"r"}]}"#);
    }
}

#[tokio::test]
async fn wrong_entities_are_refused() {
    let wide = (0..253).map(|n| format!(r#","p{n}":1"#)).collect::<String>();
    let wide = format!(r#"{{"PartitionKey":"p","RowKey":"r"{wide}}}"#);
    let name = format!(r#"{{"PartitionKey":"p","RowKey":"r","{}":1}}"#, "n".repeat(256));
    let long = format!(r#"{{"PartitionKey":"p","RowKey":"r","a":"{}"}}"#, "x".repeat(32 * 1024 + 1));
    let key = format!(r#"{{"PartitionKey":"{}","RowKey":"r"}}"#, "k".repeat(2_049));
    for (body, cosmos, storage) in [
        ("", "InvalidInput", "InvalidInput"),
        ("[]", "InvalidInput", "InvalidInput"),
        (r#"{"RowKey":"r"}"#, "PropertiesNeedValue", "PropertiesNeedValue"),
        (r#"{"PartitionKey":"p"}"#, "PropertiesNeedValue", "PropertiesNeedValue"),
        (r#"{"PartitionKey":"p","RowKey":null}"#, "PropertiesNeedValue", "PropertiesNeedValue"),
        (r#"{"PartitionKey":"","RowKey":"r"}"#, "PropertiesNeedValue", ""),
        (r#"{"PartitionKey":"p","RowKey":""}"#, "PropertiesNeedValue", ""),
        (r#"{"PartitionKey":"p","RowKey":"a/b"}"#, "InvalidInput", "OutOfRangeInput"),
        (r#"{"PartitionKey":"a\\b","RowKey":"r"}"#, "InvalidInput", "OutOfRangeInput"),
        (
            r#"{"PartitionKey":"p","RowKey":"r","a":1,"a":2}"#,
            "DuplicatePropertiesSpecified",
            "DuplicatePropertiesSpecified",
        ),
        (
            r#"{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Nonsense","a":1}"#,
            "InvalidInput",
            "InvalidInput",
        ),
        (
            r#"{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Guid","a":"x"}"#,
            "InvalidInput",
            "InvalidInput",
        ),
        (r#"{"PartitionKey":"p","RowKey":"r","a":{}}"#, "InvalidInput", "InvalidInput"),
        (&wide, "", "TooManyProperties"),
        (&name, "PropertyNameTooLong", "PropertyNameTooLong"),
        (&long, "", "PropertyValueTooLarge"),
        (&key, "KeyValueTooLarge", "KeyValueTooLarge"),
    ] {
        for (flavour, code) in [(Flavour::Cosmos, cosmos), (Flavour::Storage, storage)] {
            let client = Client::with_table(flavour, "t12").await;
            let answer = client.insert("t12", body).await;
            match code {
                "" => answer.expect(204),
                code => answer.expect_code(400, code),
            };
        }
    }
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    client.send(Method::PUT, ONE, &[], r#"{"RowKey":"x"}"#).await.expect_code(400, "InvalidInput");
    let kind = [("content-type", "application/atom+xml")];
    client.send(Method::POST, "/t12", &kind, "<x/>").await.expect_code(415, "AtomFormatNotSupported");
    let kind = [("content-type", "text/plain")];
    client.send(Method::POST, "/t12", &kind, "{}").await.expect_code(415, "MediaTypeNotSupported");
    let huge = format!(r#"{{"PartitionKey":"p","RowKey":"r","a":"{}"}}"#, "x".repeat(3 * 1024 * 1024));
    client.insert("t12", &huge).await.expect_code(400, "EntityTooLarge");
    let huge = " ".repeat(4 * 1024 * 1024 + 1);
    client.insert("t12", &huge).await.expect_code(413, "RequestBodyTooLarge");
    for missing in [
        client.insert("other", "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}").await,
        client.get("/other(PartitionKey='p',RowKey='r')").await,
    ] {
        missing.expect_code(404, "ResourceNotFound");
    }
}

#[tokio::test]
async fn keys_and_names_of_every_kind() {
    let client = Client::with_table(Flavour::Storage, "t12").await;
    for (partition_key, row_key, target) in [
        ("", "", "PartitionKey='',RowKey=''"),
        ("a b", "trailing ", "PartitionKey='a%20b',RowKey='trailing%20'"),
        ("it's", "100%", "PartitionKey='it%27%27s',RowKey='100%25'"),
        ("größe", "日本", "PartitionKey='gr%C3%B6%C3%9Fe',RowKey='%E6%97%A5%E6%9C%AC'"),
        ("{}", "a+b&c=d,e", "PartitionKey='%7B%7D',RowKey='a+b%26c=d,e'"),
    ] {
        let body = format!(r#"{{"PartitionKey":"{partition_key}","RowKey":"{row_key}","a":1}}"#);
        let made = client.insert("t12", &body).await.expect(204);
        assert!(made.header("location").unwrap().is_ascii());
        let target = format!("/t12({target})");
        let read = client.get(&target).await.expect(200);
        assert_eq!(read.member("RowKey"), Some(format!("\"{row_key}\"")));
        client.send(Method::PATCH, &target, &[("if-match", "*")], r#"{"b":2}"#).await.expect(204);
        client.delete(&target).await.expect(204);
    }
    // Some clients say of keys in the body what they were before they became text.
    let body = r#"{"PartitionKey":"2022-04-01T09:30:45.000000Z","PartitionKey@odata.type":"Edm.DateTime",
        "RowKey":"c9da6455-213d-42c9-9a79-3e9149a57833","RowKey@odata.type":"Edm.Guid","n":1}"#;
    let target =
        "/t12(PartitionKey='2022-04-01T09%3A30%3A45.000000Z',RowKey='c9da6455-213d-42c9-9a79-3e9149a57833')";
    client.send(Method::PUT, target, &[], body).await.expect(204);
    client.send(Method::PATCH, target, &[], body).await.expect(204);
    assert_eq!(client.get(target).await.expect(200).member("n").as_deref(), Some("1"));
    client.insert("t12", body).await.expect_code(400, "InvalidInput");
    // Names that items use for themselves.
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let members =
        r#""id":"own","_etag":"own","_ts":1,"ttl":5,"$edm":"own","$p:id":"own","rid":"own","Etag":"own""#;
    client.insert("t12", &format!(r#"{{"PartitionKey":"p","RowKey":"r",{members}}}"#)).await.expect(204);
    let read = client.get(ONE).await.expect(200);
    assert!(read.text.contains(members), "{}", read.text);
    let found = client.get("/t12()?$filter=id%20eq%20'own'%20and%20ttl%20eq%205").await.expect(200);
    assert_eq!(found.all("RowKey"), ["r"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merges_at_once_lose_nothing() {
    let client = std::sync::Arc::new(Client::with_table(Flavour::Cosmos, "t12").await);
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let body = format!(r#"{{"n{number}":{number}}}"#);
                client.send(Method::PATCH, ONE, &[], body).await.expect(204);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let read = client.get(ONE).await.expect(200);
    for number in 0..40 {
        assert_eq!(read.member(&format!("n{number}")), Some(number.to_string()));
    }
}

#[tokio::test]
async fn what_is_no_entity_is_not_seen() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let container = client.container("t12");
    for item in [
        r#"{"id":"other","PartitionKey":"p","RowKey":"r"}"#,
        r#"{"id":"alone","PartitionKey":"p"}"#,
        r#"{"id":"number","PartitionKey":"p","RowKey":5}"#,
    ] {
        let (caller, none) = (armilla_engine::Caller::full(), armilla_engine::Precondition::None);
        let key = crate::request::logical_partition("p");
        let mode = armilla_engine::WriteMode::Create;
        let triggers = Default::default();
        client
            .engine
            .write_item(&caller, &container, mode, Some(&key), item.as_bytes().into(), none, &triggers)
            .await
            .unwrap();
    }
    assert_eq!(client.get("/t12()").await.expect(200).all("RowKey"), [""; 0]);
    client.get("/t12(PartitionKey='p',RowKey='alone')").await.expect_code(404, "ResourceNotFound");
    client.get(ONE).await.expect(404);
    let filter = "/t12()?$filter=PartitionKey%20eq%20'p'%20and%20RowKey%20eq%20'alone'";
    assert_eq!(client.get(filter).await.expect(200).all("RowKey"), [""; 0]);
}
