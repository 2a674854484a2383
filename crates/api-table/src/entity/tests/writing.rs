//! Tests of items and answers.

use super::super::{Entity, EntityContext, EntityView, MetadataLevel};
use super::{context, moment, written};
use crate::edm::{EdmValue, Ticks, parse_guid};
use crate::options::Flavour;

fn everything() -> Entity {
    let properties = [
        ("name", EdmValue::String("Ann \"A\"\n".to_owned())),
        ("age", EdmValue::Int32(39)),
        ("ratio", EdmValue::Double(3.1)),
        ("even", EdmValue::Double(3.0)),
        ("married", EdmValue::Boolean(true)),
        ("big", EdmValue::Int64(1_125_899_906_842_624)),
        ("small", EdmValue::Int64(5)),
        ("born", EdmValue::DateTime(Ticks::parse("1973-10-04").unwrap())),
        ("bin", EdmValue::Binary(b"binary".to_vec())),
        ("uid", EdmValue::Guid(parse_guid("c9da6455-213d-42c9-9a79-3e9149a57833").unwrap())),
        ("nan", EdmValue::Double(f64::NAN)),
        ("id", EdmValue::Int64(7)),
    ];
    Entity {
        properties: properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        partition_key: Some("p".to_owned()),
        row_key: Some("r".to_owned()),
    }
}

const ITEM: &str = concat!(
    r#"{"id":"r","PartitionKey":"p","RowKey":"r","name":"Ann \"A\"\n","age":39,"ratio":3.1,"even":3.0,"#,
    r#""married":true,"big":1125899906842624,"small":5,"born":"1973-10-04T00:00:00.0000000Z","bin":"YmluYXJ5","#,
    r#""uid":"c9da6455-213d-42c9-9a79-3e9149a57833","nan":"NaN","$p:id":7,"#,
    r#""$edm":{"big":"Int64","small":"Int64","born":"DateTime","bin":"Binary","uid":"Guid","nan":"Double","$p:id":"Int64"}}"#,
);

#[test]
fn items_are_plain() {
    assert_eq!(String::from_utf8(everything().item_json()).unwrap(), ITEM);
    let empty =
        Entity { properties: vec![], partition_key: Some("p".to_owned()), row_key: Some(" ".to_owned()) };
    assert_eq!(
        String::from_utf8(empty.item_json()).unwrap(),
        r#"{"id":"\u001f%20","PartitionKey":"p","RowKey":" "}"#
    );
}

#[test]
fn answers_by_level() {
    let none = written(ITEM.as_bytes(), &context(MetadataLevel::None));
    assert_eq!(
        none,
        concat!(
            r#"{"PartitionKey":"p","RowKey":"r","name":"Ann \"A\"\n","age":39,"ratio":3.1,"even":3.0,"married":true,"#,
            r#""big":"1125899906842624","small":"5","born":"1973-10-04T00:00:00.0000000Z","bin":"YmluYXJ5","#,
            r#""uid":"c9da6455-213d-42c9-9a79-3e9149a57833","nan":"NaN","id":"7","#,
            r#""Timestamp":"2022-05-06T00:47:36.5851144Z"}"#
        )
    );
    let minimal = written(ITEM.as_bytes(), &context(MetadataLevel::Minimal));
    assert_eq!(
        minimal,
        concat!(
            r#"{"odata.etag":"W/\"datetime'2022-05-06T00%3A47%3A36.5851144Z'\"","PartitionKey":"p","RowKey":"r","#,
            r#""name":"Ann \"A\"\n","age":39,"ratio":3.1,"even":3.0,"married":true,"#,
            r#""big@odata.type":"Edm.Int64","big":"1125899906842624","small@odata.type":"Edm.Int64","small":"5","#,
            r#""born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00.0000000Z","#,
            r#""bin@odata.type":"Edm.Binary","bin":"YmluYXJ5","#,
            r#""uid@odata.type":"Edm.Guid","uid":"c9da6455-213d-42c9-9a79-3e9149a57833","#,
            r#""nan@odata.type":"Edm.Double","nan":"NaN","id@odata.type":"Edm.Int64","id":"7","#,
            r#""Timestamp":"2022-05-06T00:47:36.5851144Z"}"#
        )
    );
    let single =
        written(ITEM.as_bytes(), &EntityContext { is_single: true, ..context(MetadataLevel::Minimal) });
    assert_eq!(single, minimal.replacen('{', r#"{"odata.metadata":"https://host/$metadata#t/@Element","#, 1));
    let full = written(ITEM.as_bytes(), &context(MetadataLevel::Full));
    let link = "t(PartitionKey='p',RowKey='r')";
    let addresses = format!(
        r#"{{"odata.type":"acct.t","odata.id":"https://host/{link}","odata.editLink":"{link}","odata.etag""#
    );
    let typed = r#""Timestamp@odata.type":"Edm.DateTime","Timestamp""#;
    assert_eq!(full, minimal.replace(r#"{"odata.etag""#, &addresses).replace(r#""Timestamp""#, typed));
}

#[test]
fn only_what_is_wanted_is_shown() {
    let names = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
    let check = |select: &str, flavour, expected: &str| {
        let select = names(select);
        let context = EntityContext { select: Some(&select), flavour, ..context(MetadataLevel::None) };
        assert_eq!(written(ITEM.as_bytes(), &context), expected);
    };
    check("age", Flavour::Cosmos, r#"{"age":39}"#);
    check("married,age,RowKey", Flavour::Cosmos, r#"{"RowKey":"r","age":39,"married":true}"#);
    check("Timestamp", Flavour::Cosmos, r#"{"Timestamp":"2022-05-06T00:47:36.5851144Z"}"#);
    check("missing,id,Age", Flavour::Cosmos, r#"{"id":"7"}"#);
    check("missing,age,missing,ttl", Flavour::Storage, r#"{"age":39,"missing":null,"ttl":null}"#);
    check("$edm,_ts", Flavour::Cosmos, "{}");
    let many: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
    check(&(many.join(",") + ",age"), Flavour::Cosmos, r#"{"age":39}"#);
    let select = names("nan");
    let context = EntityContext { select: Some(&select), ..context(MetadataLevel::Minimal) };
    assert_eq!(
        written(ITEM.as_bytes(), &context),
        concat!(
            r#"{"odata.etag":"W/\"datetime'2022-05-06T00%3A47%3A36.5851144Z'\"","#,
            r#""nan@odata.type":"Edm.Double","nan":"NaN"}"#
        )
    );
}

#[test]
fn odd_keys_and_names_are_encoded() {
    let entity = Entity {
        properties: vec![("a\"b".to_owned(), EdmValue::Int64(1))],
        partition_key: Some("it's \"p\"".to_owned()),
        row_key: Some(String::new()),
    };
    let context = EntityContext { table: "t\"é", base_url: "http://h\"/", ..context(MetadataLevel::Full) };
    let text = written(&entity.item_json(), &context);
    for part in [
        r#""odata.type":"acct.t\"é""#,
        r#""odata.id":"http://h\"/t%22%C3%A9(PartitionKey='it''s%20%22p%22',RowKey='')""#,
        r#""PartitionKey":"it's \"p\"","RowKey":"""#,
        r#""a\"b@odata.type":"Edm.Int64","a\"b":"1""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn items_of_others_are_read_as_far_as_they_go() {
    let item = concat!(
        r#"{"PartitionKey":"p","x":1,"whole":5000000000,"exact":9007199254740993,"beyond":99999999999999999999,"#,
        r#""minus":-0,"exponent":1E5,"$edm":{"x":"Guid","s":"DateTime","g":"Guid","b":"Binary","d":"Double","#,
        r#""w":"Double","i":"Int64","n":5,"z":"Int64","PartitionKey":"Binary"},"s":"2020-01-01T00:00:00Z","#,
        r#""g":"C9DA6455-213D-42C9-9A79-3E9149A57833","b":"YQ","d":"nan","w":3,"i":1.5,"n":"n","object":{"a":"}"},"#,
        r#""array":[{}],"null":null,"Timestamp":"mine","odata.etag":"x","a@odata.type":"Edm.Int64","$other":1,"#,
        r#""$p:x":2,"RowKey":"r","id":"r","ttl":60,"_rid":"x","_self":"s","_etag":"\"e\"","_attachments":"a/","#,
        r#""_ts":1651798056}"#,
    );
    let expected = concat!(
        r#"{"PartitionKey":"p","x":1,"whole":5000000000.0,"exact@odata.type":"Edm.Int64","exact":"9007199254740993","#,
        r#""beyond":99999999999999999999.0,"minus":-0,"exponent":1E5,"s":"2020-01-01T00:00:00Z","#,
        r#""g":"C9DA6455-213D-42C9-9A79-3E9149A57833","b":"YQ","d":"nan","w":3.0,"i":1.5,"n":"n","RowKey":"r","#,
        r#""Timestamp":"2022-05-06T00:47:36.5851144Z"}"#,
    );
    let minimal = written(item.as_bytes(), &context(MetadataLevel::Minimal));
    assert_eq!(minimal.split_once(',').unwrap().1, &expected[1..]);
    assert!(Entity::from_item(item.as_bytes()).is_some());
}

#[test]
fn other_items_are_no_entities() {
    for item in [
        "",
        "[]",
        "{}",
        r#"{"id":"r","PartitionKey":"p"}"#,
        r#"{"id":"r","RowKey":"r"}"#,
        r#"{"PartitionKey":"p","RowKey":"r"}"#,
        r#"{"id":"r","PartitionKey":5,"RowKey":"r"}"#,
        r#"{"id":"r","PartitionKey":"p","RowKey":null}"#,
        r#"{"id":"x","PartitionKey":"p","RowKey":"r"}"#,
        r#"{"id":"r ","PartitionKey":"p","RowKey":"r "}"#,
        r#"{"id":"r","PartitionKey":"p","RowKey":"r""#,
    ] {
        assert!(EntityView::of(item.as_bytes(), moment()).is_none(), "{item}");
        assert_eq!(Entity::from_item(item.as_bytes()), None);
    }
    assert!(EntityView::of(br#"{"id":"\u001f","PartitionKey":"","RowKey":""}"#, moment()).is_some());
}

#[test]
fn merges_keep_what_they_do_not_name() {
    let update = |properties: &[(&str, EdmValue)]| Entity {
        properties: properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        partition_key: None,
        row_key: None,
    };
    let check = |existing: &str, properties: &[(&str, EdmValue)], expected: &str| {
        let merged = update(properties).merged_into(existing.as_bytes());
        assert_eq!(String::from_utf8(merged).unwrap(), expected);
    };
    let text = |text: &str| EdmValue::String(text.to_owned());
    let keys = r#""id":"r","PartitionKey":"p","RowKey":"r""#;
    check(&format!("{{{keys}}}"), &[], &format!("{{{keys}}}"));
    check(&format!("{{{keys},\"a\":1}}"), &[("b", text("x"))], &format!(r#"{{{keys},"a":1,"b":"x"}}"#));
    check(
        &format!(
            r#"{{{keys},"a":1,"list":[1,{{}}],"ttl":5,"_rid":"x","_self":"s","_etag":"e","_attachments":"a","_ts":1}}"#
        ),
        &[("a", text("x")), ("list", EdmValue::Int32(2))],
        &format!(r#"{{{keys},"a":"x","list":2,"ttl":5}}"#),
    );
    // A type goes with its value.
    check(
        &format!(r#"{{{keys},"a":5,"b":6,"$edm":{{"a":"Int64","b":"Int64"}}}}"#),
        &[("a", EdmValue::Int32(1))],
        &format!(r#"{{{keys},"a":1,"b":6,"$edm":{{"b":"Int64"}}}}"#),
    );
    check(
        &format!(r#"{{{keys},"a":5,"$edm":{{"a":"Int64"}}}}"#),
        &[("a", text("x"))],
        &format!(r#"{{{keys},"a":"x"}}"#),
    );
    check(
        &format!(r#"{{{keys},"$edm":5,"a":5}}"#),
        &[("id", EdmValue::Int64(1)), ("$edm", EdmValue::Int32(2))],
        &format!(r#"{{{keys},"a":5,"$p:id":1,"$p:$edm":2,"$edm":{{"$p:id":"Int64"}}}}"#),
    );
    check("{}", &[("a", EdmValue::Int32(1))], r#"{"a":1}"#);
    check("{}", &[], "{}");
    check("{", &[("a", EdmValue::Int32(1))], r#"{"id":"\u001f","PartitionKey":"","RowKey":"","a":1}"#);
}

#[test]
fn types_in_another_order_are_found() {
    let members: String = (0..1_000).map(|number| format!(",\"p{number}\":{number}")).collect();
    let types: String = (0..1_000).rev().map(|number| format!(",\"p{number}\":\"Int64\"")).collect();
    let item = format!(r#"{{"id":"r","PartitionKey":"p","RowKey":"r"{members},"$edm":{{{}}}}}"#, &types[1..]);
    let entity = Entity::from_item(item.as_bytes()).unwrap();
    assert!(entity.properties.iter().all(|(_, value)| matches!(value, EdmValue::Int64(_))));
    assert_eq!(entity.properties.len(), 1_000);
}
