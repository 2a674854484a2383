//! Elements as items: what is written, what is read of items that others wrote, both ways.

use armilla_value::{Value, json};

use crate::client::Account;

fn names(item: &Value) -> Vec<String> {
    item.as_object().unwrap().iter().map(|(name, _)| name.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vertex_is_written_as_the_service_does() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client
        .results(
            "g.addV('person').property('id','thomas').property('pk','p1').property('name','Thomas')\
             .property(list,'loc','SF','since',1997).property(list,'loc','LA').property('ttl',1000)",
        )
        .await;
    let item = account.item("p1", "thomas").unwrap();
    assert_eq!(item.get("label"), Some(&Value::from("person")));
    assert_eq!(item.get("pk"), Some(&Value::from("p1")), "flat");
    assert_eq!(item.get("ttl").and_then(Value::as_i64), Some(1000), "flat");
    let name = &item.get("name").unwrap().as_array().unwrap()[0];
    assert_eq!(names(name), ["id", "_value"]);
    assert_eq!(name.get("_value"), Some(&Value::from("Thomas")));
    let loc = item.get("loc").unwrap().as_array().unwrap();
    assert_eq!(json::to_string(loc[0].get("_meta").unwrap()), r#"{"since":1997}"#);
    assert_eq!((names(&loc[1]).len(), loc.len()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_is_written_as_the_service_does() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let item = account.item("person", "9").unwrap();
    assert_eq!(
        json::to_string(&item),
        r#"{"id":"9","label":"created","weight":0.4,"_isEdge":true,"_vertexId":"1","_vertexLabel":"person","_sink":"3","_sinkLabel":"software","_sinkPartition":"software","pk":"person"}"#
    );
    assert_eq!(
        client.texts("g.E('9')").await,
        r#"{"id":"9","label":"created","type":"edge","inVLabel":"software","outVLabel":"person","inV":"3","outV":"1","properties":{"weight":0.4}}"#
    );
}

/// Items that others wrote, in both forms, and what Gremlin does not know of them.
#[tokio::test(flavor = "multi_thread")]
async fn items_of_others_are_read() {
    let account = Account::new().await;
    account
        .put(
            "p",
            r#"{"id":"1","label":"person","pk":"p","name":"Ann","tags":["a","b"],"nested":{"x":1},"nothing":null,
                "age":[{"id":"q","_value":40}]}"#,
        )
        .await;
    account.put("p", r#"{"id":"2","pk":"p"}"#).await;
    let mut client = account.client().await;
    assert_eq!(
        client.texts("g.V('1')").await,
        r#"{"id":"1","label":"person","type":"vertex","properties":{"pk":[{"id":"1|pk","value":"p"}],"name":[{"id":"1|name","value":"Ann"}],"tags":[{"id":"1|tags","value":"a"},{"id":"1|tags|1","value":"b"}],"age":[{"id":"q","value":40}]}}"#
    );
    assert_eq!(
        client.texts("g.V().hasLabel('vertex').id()").await,
        r#""2""#,
        "what has no label is a vertex"
    );
    for script in [
        "g.V().has('name','Ann').id()",
        "g.V().has('tags','b').id()",
        "g.V().has('age',gt(39)).id()",
        "g.V().has('person','age',within(40,41)).id()",
        "g.V().has('name',startingWith('A')).id()",
        "g.V().has('nested').id()",
    ] {
        let expected = if script.contains("nested") { "" } else { r#""1""# };
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
    // What is written keeps what Gremlin does not know.
    client.results("g.V('1').property('name','Bob')").await;
    let item = account.item("p", "1").unwrap();
    assert_eq!(json::to_string(item.get("nested").unwrap()), r#"{"x":1}"#);
    assert_eq!(item.get("name").unwrap().as_array().unwrap()[0].get("_value"), Some(&Value::from("Bob")));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_values_that_cannot_be_are_refused() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let start = "g.addV('x').property('pk','p').property('id','1')";
    for script in [
        "g.addV('x')".to_owned(),
        format!("{start}.property('_x',1)"),
        format!("{start}.property('x',[1,2])"),
        format!("{start}.property('ttl','long')"),
        format!("{start}.property(list,'pk','q')"),
    ] {
        let (code, inner, message) = client.failure(&script).await;
        assert_eq!((code, inner), (597, 400), "{script}: {message}");
    }
    assert_eq!(client.texts("g.V().count()").await, "0");
    client.results(start).await;
    let (code, _, message) = client.failure("g.V('1').property('pk','q')").await;
    assert_eq!(code, 597);
    assert!(message.contains("partition key"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn system_properties_are_shown() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let with = |names: &str, rest: &str| {
        format!(
            "g.withStrategies(ProjectionStrategy.build().IncludeSystemProperties({names}).create()){rest}"
        )
    };
    let stamps = client.results(&with("'_ts','_etag'", ".V('1').values('_ts')")).await;
    assert!(stamps[0].as_i64().unwrap() > 1_000_000_000, "{stamps:?}");
    let script = with("'inVPartition','outVPartition'", ".E('9').values('inVPartition','outVPartition')");
    assert_eq!(client.texts(&script).await, r#""person" "software""#);
    assert_eq!(client.texts("g.V('1').values('_ts')").await, "", "not without being asked for");
    let (code, _, message) = client.failure(&with("'_rid'", ".V('1')")).await;
    assert_eq!(code, 597, "{message}");
}
