//! Tables: made, listed, deleted, in both flavours.

use armilla_engine::{Caller, Content, Throughput};
use armilla_value::json;
use http::Method;

use super::client::{Client, FLAVOURS};
use crate::Flavour;

#[tokio::test]
async fn tables_live_through_every_verb() {
    for flavour in FLAVOURS {
        let client = Client::new(flavour).await;
        assert_eq!(client.get("/Tables").await.expect(200).all("TableName"), [""; 0]);
        let made = client.post("/Tables", r#"{"TableName":"people"}"#).await.expect(201);
        assert_eq!(made.member("TableName").as_deref(), Some("\"people\""));
        assert_eq!(
            made.member("odata.metadata").as_deref(),
            Some("\"http://localhost:8902/$metadata#Tables/@Element\"")
        );
        assert_eq!(made.header("location"), Some("http://localhost:8902/Tables('people')"));
        assert!(made.header("x-ms-request-charge").is_some());
        let again = client.post("/Tables", r#"{"TableName":"people"}"#).await;
        assert!(again.expect_code(409, "TableAlreadyExists").message().contains("already exists"));
        assert_eq!(client.get("/Tables()").await.expect(200).all("TableName"), ["people"]);
        let one = client.get("/Tables('people')").await.expect(200);
        assert_eq!(one.member("TableName").as_deref(), Some("\"people\""));
        client.get("/Tables('others')").await.expect_code(404, "ResourceNotFound");
        client.send(Method::DELETE, "/Tables('people')", &[], "").await.expect(204);
        client.send(Method::DELETE, "/Tables('people')", &[], "").await.expect_code(404, "ResourceNotFound");
        assert_eq!(client.get("/Tables").await.expect(200).all("TableName"), [""; 0]);
    }
}

#[tokio::test]
async fn answers_to_new_tables_follow_the_preference() {
    for flavour in FLAVOURS {
        let client = Client::new(flavour).await;
        let prefer = |word| [("prefer", word)];
        let none = client
            .send(Method::POST, "/Tables", &prefer("return-no-content"), r#"{"TableName":"one"}"#)
            .await
            .expect(204);
        assert_eq!(none.header("preference-applied"), Some("return-no-content"));
        assert_eq!(none.header("dataserviceid").is_some(), flavour == Flavour::Storage);
        let some = client
            .send(Method::POST, "/Tables", &prefer("return-content"), r#"{"TableName":"two"}"#)
            .await
            .expect(201);
        assert_eq!(some.header("preference-applied"), Some("return-content"));
    }
}

#[tokio::test]
async fn levels_of_metadata_of_tables() {
    let client = Client::with_table(Flavour::Cosmos, "it's").await;
    let at = |level| [("accept", level)];
    let none =
        client.send(Method::GET, "/Tables", &at("application/json;odata=nometadata"), "").await.expect(200);
    assert_eq!(none.text, r#"{"value":[{"TableName":"it's"}]}"#);
    assert_eq!(none.header("content-type"), Some("application/json; odata=nometadata"));
    let minimal = client.get("/Tables").await.expect(200);
    assert_eq!(
        minimal.text,
        r#"{"value":[{"TableName":"it's"}],"odata.metadata":"http://localhost:8902/$metadata#Tables"}"#
    );
    let full =
        client.send(Method::GET, "/Tables", &at("application/json;odata=fullmetadata"), "").await.expect(200);
    assert_eq!(
        full.text,
        "{\"value\":[{\"odata.type\":\"localhost.Tables\",\"odata.id\":\"http://localhost:8902/Tables('it''s')\",\
         \"odata.editLink\":\"Tables('it''s')\",\"TableName\":\"it's\"}],\
         \"odata.metadata\":\"http://localhost:8902/$metadata#Tables\"}"
    );
    let storage = client.of_flavour(Flavour::Storage);
    let kind = storage.get("/Tables").await.expect(200);
    assert_eq!(
        kind.header("content-type"),
        Some("application/json;odata=minimalmetadata;streaming=true;charset=utf-8")
    );
    client
        .send(Method::GET, "/Tables", &at("application/atom+xml"), "")
        .await
        .expect_code(415, "AtomFormatNotSupported");
}

#[tokio::test]
async fn names_of_tables_are_checked() {
    let long = "a".repeat(255);
    for (flavour, name, code) in [
        (Flavour::Cosmos, "", "BadRequest"),
        (Flavour::Cosmos, &*long, "BadRequest"),
        (Flavour::Cosmos, "a/b", "InvalidInput"),
        (Flavour::Cosmos, "a?b", "InvalidInput"),
        (Flavour::Cosmos, "ab ", "InvalidInput"),
        (Flavour::Storage, "", "OutOfRangeInput"),
        (Flavour::Storage, "ab", "OutOfRangeInput"),
        (Flavour::Storage, "a_b", "InvalidResourceName"),
        (Flavour::Storage, "1abc", "InvalidResourceName"),
        (Flavour::Storage, "Tables", "InvalidResourceName"),
    ] {
        let client = Client::new(flavour).await;
        client.post("/Tables", &format!(r#"{{"TableName":"{name}"}}"#)).await.expect_code(400, code);
    }
    for (body, code) in [
        ("", "InvalidInput"),
        ("{", "InvalidInput"),
        ("[]", "PropertiesNeedValue"),
        ("{}", "PropertiesNeedValue"),
        (r#"{"TableName":null}"#, "PropertiesNeedValue"),
        (r#"{"TableName":7}"#, "InvalidInput"),
    ] {
        Client::new(Flavour::Cosmos).await.post("/Tables", body).await.expect_code(400, code);
    }
    // Where there is no such table, a name that none can have is told as such.
    let storage = Client::new(Flavour::Storage).await;
    storage.get("/a_b()").await.expect_code(400, "InvalidResourceName");
    storage.get("/ab()").await.expect_code(400, "OutOfRangeInput");
    storage.get("/abc()").await.expect_code(404, "TableNotFound");
    let cosmos = Client::new(Flavour::Cosmos).await;
    cosmos.get("/a%5Cb()").await.expect_code(400, "InvalidInput");
    cosmos.get("/abc()").await.expect_code(404, "ResourceNotFound");
    cosmos.get(&format!("/{long}()")).await.expect_code(404, "ResourceNotFound");
    for name in ["%5C", "%2F%2F", "%23", "%3F", "-%20"] {
        let target = format!("/Tables('{name}')");
        cosmos.send(Method::DELETE, &target, &[], "").await.expect_code(400, "InvalidInput");
    }
}

#[tokio::test]
async fn case_counts_in_one_flavour_only() {
    let cosmos = Client::with_table(Flavour::Cosmos, "People").await;
    cosmos.get("/people()").await.expect(404);
    cosmos.create_table("people").await;
    cosmos.send(Method::DELETE, "/Tables('people')", &[], "").await.expect(204);
    let storage = cosmos.of_flavour(Flavour::Storage);
    storage.insert("PEOPLE", r#"{"PartitionKey":"p","RowKey":"r"}"#).await.expect(204);
    assert_eq!(storage.get("/people()").await.expect(200).all("RowKey"), ["r"]);
    storage.post("/Tables", r#"{"TableName":"pEoPlE"}"#).await.expect_code(409, "TableAlreadyExists");
    storage.send(Method::DELETE, "/Tables('peoplE')", &[], "").await.expect(204);
    cosmos.get("/People()").await.expect(404);
}

#[tokio::test]
async fn lists_have_pages_and_filters() {
    for flavour in FLAVOURS {
        let client = Client::new(flavour).await;
        for name in ["delta", "alpha", "charlie", "bravo"] {
            client.create_table(name).await;
        }
        let (mut names, mut pages, mut token) = (Vec::new(), 0, String::new());
        loop {
            let page = client.get(&format!("/Tables?$top=3{token}")).await.expect(200);
            names.extend(page.all("TableName"));
            pages += 1;
            match page.header("x-ms-continuation-nexttablename") {
                Some(next) => token = format!("&NextTableName={next}"),
                None => break,
            }
        }
        assert_eq!((pages, names), (2, ["alpha", "bravo", "charlie", "delta"].map(str::to_owned).to_vec()));
        for (filter, expected) in [
            ("TableName eq 'bravo'", &["bravo"][..]),
            ("TableName ge 'b' and TableName lt 'd'", &["bravo", "charlie"]),
            ("not (TableName eq 'alpha')", &["bravo", "charlie", "delta"]),
            ("Other eq 1", &[]),
        ] {
            let target = format!("/Tables?$filter={}", filter.replace(' ', "%20"));
            assert_eq!(client.get(&target).await.expect(200).all("TableName"), expected, "{filter}");
        }
        client.get("/Tables?$filter=TableName%20eq").await.expect_code(400, "InvalidInput");
        client.get("/Tables?NextTableName=!").await.expect_code(400, "InvalidInput");
        client.get("/Tables?$top=0").await.expect_code(400, "InvalidInput");
        client.get("/Tables?$orderby=TableName").await.expect_code(501, "NotImplemented");
    }
}

#[tokio::test]
async fn throughput_is_given_when_a_table_is_made() {
    let client = Client::new(Flavour::Cosmos).await;
    for (name, header, expected) in [
        ("plain", None, 400),
        ("manual", Some(("x-ms-offer-throughput", "1200")), 1_200),
        ("auto", Some(("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":4000}"#)), 400),
    ] {
        let headers: Vec<_> = header.into_iter().collect();
        let body = format!(r#"{{"TableName":"{name}"}}"#);
        client.send(Method::POST, "/Tables", &headers, body).await.expect(201);
        let rid = client.container(name).rid().to_string();
        let offers = client.engine.list_offers(&Caller::full(), None, None).unwrap().value.resources;
        let offers = offers.into_iter().filter_map(|offer| match offer.content {
            Content::Offer(content) => Some(content),
            _ => None,
        });
        let offer = offers.into_iter().find(|offer| offer.resource_rid == rid).unwrap();
        assert_eq!(i64::from(offer.current), expected, "{name}");
        if name == "auto" {
            let autoscale = Throughput::Autoscale { max: 4_000, increment_percent: None };
            assert_eq!(offer.throughput, autoscale);
        }
    }
    for header in [
        ("x-ms-offer-throughput", "1"),
        ("x-ms-offer-throughput", "x"),
        ("x-ms-cosmos-offer-autopilot-settings", "{}"),
    ] {
        client
            .send(Method::POST, "/Tables", &[header], r#"{"TableName":"refused"}"#)
            .await
            .expect_code(400, "InvalidInput");
    }
    client.get("/refused()").await.expect(404);
}

#[tokio::test]
async fn only_containers_partitioned_like_tables_are_tables() {
    let client = Client::with_table(Flavour::Cosmos, "table").await;
    for (id, path) in [("other", "/pk"), ("made", "/PartitionKey")] {
        let definition =
            format!(r#"{{"id":"{id}","partitionKey":{{"paths":["{path}"],"kind":"Hash","version":2}}}}"#);
        let definition = json::parse(definition.as_bytes()).unwrap();
        client
            .engine
            .create_container(
                &Caller::full(),
                "TablesDB",
                armilla_engine::ContainerDefinition::from_value(&definition).unwrap(),
                None,
            )
            .await
            .unwrap();
    }
    client.send(Method::PUT, "/table?comp=acl", &[], "<SignedIdentifiers/>").await.expect(204);
    assert_eq!(client.get("/Tables").await.expect(200).all("TableName"), ["made", "table"]);
    client.get("/other()").await.expect(404);
    client.get("/$TableSettings()").await.expect(400);
    client.insert("made", r#"{"PartitionKey":"p","RowKey":"r"}"#).await.expect(204);
    client.send(Method::DELETE, "/Tables('other')", &[], "").await.expect(404);
}

#[tokio::test]
async fn verbs_that_resources_do_not_have() {
    let client = Client::with_table(Flavour::Cosmos, "t").await;
    for (method, target, allowed) in [
        (Method::PUT, "/Tables", "GET, POST"),
        (Method::PUT, "/Tables('t')", "GET, DELETE"),
        (Method::GET, "/$batch", "POST"),
        (Method::DELETE, "/t", "GET, POST"),
        (Method::POST, "/t(PartitionKey='p',RowKey='r')", "GET, PUT, PATCH, MERGE, DELETE"),
        (Method::DELETE, "/t?comp=acl", "GET, PUT"),
    ] {
        let answer = client.send(method, target, &[], "{}").await.expect_code(405, "MethodNotAllowed");
        assert_eq!(answer.header("allow"), Some(allowed), "{target}");
    }
    let tunnel = [("x-http-method", "FETCH")];
    client.send(Method::POST, "/t", &tunnel, "{}").await.expect_code(400, "XMethodIncorrectValue");
}

#[tokio::test]
async fn addresses_that_lead_nowhere() {
    let cosmos = Client::with_table(Flavour::Cosmos, "people").await;
    for target in ["/", "/people/Tables", "/people?comp=x", "/%zz", "/?comp=list"] {
        let answer = cosmos.get(target).await.expect_code(400, "InvalidInput");
        assert!(answer.text.contains("Request url is invalid."), "{target}");
    }
    let storage = cosmos.of_flavour(Flavour::Storage);
    storage.post("/others/Tables", "{}").await.expect_code(404, "TableNotFound");
    storage.post("/people/Tables", "{}").await.expect_code(400, "PropertiesNeedValue");
    let kind = [("content-type", "multipart/mixed; boundary=b")];
    storage.send(Method::POST, "/people/$batch", &kind, "").await.expect_code(415, "MediaTypeNotSupported");
    let component = storage.get("/people/?restype=service&comp=properties").await;
    component.expect_code(400, "InvalidQueryParameterValue");
    let keys = storage.send(Method::DELETE, "/people/Tables('x')", &[], "").await;
    assert!(keys.expect_code(400, "InvalidInput").message().contains("number of keys"));
}
