//! Values that are seldom met, where a mistake was once made.

use armilla_value::{Decimal, Legacy, Object, Value};

use crate::client::Client;
use crate::values::{object, single};

async fn count(client: &mut Client, filter: Object) -> usize {
    client
        .read_all(Object::from([("find", Value::from("c")), ("filter", Value::Object(filter))]))
        .await
        .unwrap()
        .len()
}

/// Symbols, which old programs stored, are texts in the order of the language, and text did not find them.
#[tokio::test]
async fn text_finds_symbols() {
    let mut client = Client::new().await;
    let symbol = Value::Legacy(Box::new(Legacy::Symbol("a".to_owned())));
    client.insert("c", &[single("a", symbol.clone()), single("a", Value::Array(vec![symbol]))]).await;
    for filter in [
        "{'a':'a'}",
        "{'a':{'$gte':'a'}}",
        "{'a':{'$lt':'b'}}",
        "{'a':{'$in':['a','x']}}",
        "{'a':{'$gte':''}}",
    ] {
        assert_eq!(count(&mut client, object(filter)).await, 2, "{filter}");
    }
}

/// `ttl` is what items call their time to live, and any value of it that is no time was refused.
#[tokio::test]
async fn a_field_called_ttl_is_any_field() {
    let mut client = Client::new().await;
    for (number, text) in ["'b'", "0", "-5", "[]", "{'a':1}", "null", "1.5", "7"].into_iter().enumerate() {
        let document = object(&format!("{{'_id':{number},'ttl':{text}}}"));
        client.insert("c", std::slice::from_ref(&document)).await;
        let filter = single("_id", document.get("_id").unwrap().clone());
        let find = Object::from([("find", Value::from("c")), ("filter", Value::Object(filter))]);
        assert_eq!(client.read_all(find).await.unwrap(), [document]);
    }
}

/// A number is the same shard key in every type, and as a decimal it led to another logical partition.
#[tokio::test]
async fn decimals_are_the_shard_keys_that_other_numbers_are() {
    let mut client = Client::new().await;
    client.run_text("{'shardCollection':'d.c','key':{'s':'hashed'}}").await;
    let decimal = |coefficient, exponent| {
        Value::Decimal128(Decimal::Finite { negative: false, coefficient, exponent }.to_bytes())
    };
    let forms = [Value::Int32(1), Value::Int64(1), Value::Double(1.0), decimal(1, 0), decimal(10, -1)];
    let documents: Vec<Object> = forms
        .iter()
        .enumerate()
        .map(|(number, form)| Object::from([("_id", Value::Int32(number as i32)), ("s", form.clone())]))
        .collect();
    client.insert("c", &documents).await;
    for form in forms {
        assert_eq!(count(&mut client, single("s", form.clone())).await, 5, "{form:?}");
        let mut point = single("_id", Value::Int32(0));
        point.insert("s", form.clone());
        assert_eq!(count(&mut client, point).await, 1, "{form:?}");
    }
}

/// The server fills in empty timestamps of a document that is inserted, and here they stayed empty.
#[tokio::test]
async fn empty_timestamps_become_the_time() {
    let mut client = Client::new().await;
    let empty = "{'$timestamp':{'t':0,'i':0}}";
    client.insert("c", &[object(&format!("{{'_id':{empty},'t':{empty},'o':{{'t':{empty}}}}}"))]).await;
    let found = client.read_all(single("find", "c")).await.unwrap();
    let is_empty = |value: Option<&Value>| value == Some(&Value::Timestamp { seconds: 0, increment: 0 });
    assert!(is_empty(found[0].get("_id")) && is_empty(found[0].get("o").and_then(|inner| inner.get("t"))));
    assert!(!is_empty(found[0].get("t")), "{found:?}");
}

/// Both zeros are one number, and as shard keys they led to two logical partitions.
#[tokio::test]
async fn both_zeros_are_one_shard_key() {
    let mut client = Client::new().await;
    client.run_text("{'shardCollection':'d.c','key':{'s':'hashed'}}").await;
    let forms = [Value::Int32(0), Value::Double(0.0), Value::Double(-0.0)];
    let documents: Vec<Object> = forms
        .iter()
        .enumerate()
        .map(|(number, form)| Object::from([("_id", Value::Int32(number as i32)), ("s", form.clone())]))
        .collect();
    client.insert("c", &documents).await;
    for form in forms {
        assert_eq!(count(&mut client, single("s", form.clone())).await, 3, "{form:?}");
    }
}
