//! Tests of entities: out of requests, into items, out of items, into answers.

mod reading;
mod writing;

use armilla_engine::Moment;
use proptest::prelude::*;

use super::{Entity, EntityContext, EntityView, MetadataLevel, write_entity};
use crate::edm::{EdmValue, Ticks};
use crate::options::Flavour;

/// Values of every type.
fn value() -> impl Strategy<Value = EdmValue> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20).prop_map(EdmValue::Binary),
        any::<bool>().prop_map(EdmValue::Boolean),
        (0..=Ticks::MAX.count()).prop_map(|ticks| EdmValue::DateTime(Ticks::new(ticks).unwrap())),
        any::<f64>().prop_map(EdmValue::Double),
        prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(3.0)]
            .prop_map(EdmValue::Double),
        any::<i64>().prop_map(|number| EdmValue::Double(number as f64)),
        any::<[u8; 16]>().prop_map(EdmValue::Guid),
        any::<i32>().prop_map(EdmValue::Int32),
        any::<i64>().prop_map(EdmValue::Int64),
        (-5_i64..5).prop_map(EdmValue::Int64),
        ".{0,20}".prop_map(EdmValue::String),
        "(NaN|[\"\\\\\n\u{1}é😀]{0,5}|YWE=)".prop_map(EdmValue::String),
    ]
}

/// Entities with names that items use and names that need escapes among those of their properties.
fn entity() -> impl Strategy<Value = Entity> {
    let name = "(id|ttl|_ts|_rid|\\$edm|\\$p:id|[a-e]|[\"\\\\é ]{1,2}|[a-z]{3,8})";
    let properties = prop_oneof![
        9 => prop::collection::btree_map(name, value(), 0..6),
        1 => prop::collection::btree_map(name, value(), 0..60),
    ];
    (properties, "[a-c' ]{0,3}", "[a-c' é\"]{0,3}").prop_map(|(properties, partition_key, row_key)| Entity {
        properties: properties.into_iter().collect(),
        partition_key: Some(partition_key),
        row_key: Some(row_key),
    })
}

impl Entity {
    /// Returns the entity that an item holds; `None` if it holds none.
    fn from_item(text: &[u8]) -> Option<Entity> {
        let view = EntityView::of(text, moment())?;
        let mut properties = Vec::new();
        for property in view.properties() {
            let name = property.name.as_str();
            if !matches!(name, "PartitionKey" | "RowKey") {
                properties.push((name.to_owned(), property.value.decode()?.into_owned()));
            }
        }
        Some(Entity {
            properties,
            partition_key: Some(view.partition_key().into_owned()),
            row_key: Some(view.row_key().into_owned()),
        })
    }
}

/// NaN is not equal to itself, so what they look like is compared.
fn shown(entity: &Entity) -> String {
    format!("{entity:?}")
}

fn moment() -> Moment {
    Moment::from_ticks(Ticks::parse("2022-05-06T00:47:36.5851144Z").unwrap().count())
}

fn context(level: MetadataLevel) -> EntityContext<'static> {
    EntityContext {
        level,
        account: "acct",
        table: "t",
        base_url: "https://host/",
        select: None,
        is_single: false,
        flavour: Flavour::Cosmos,
    }
}

fn written(item: &[u8], context: &EntityContext<'_>) -> String {
    let view = EntityView::of(item, moment()).expect("the item is an entity");
    let mut out = b"before".to_vec();
    write_entity(&mut out, &view, context);
    let text = String::from_utf8(out).unwrap();
    text.strip_prefix("before").unwrap().to_owned()
}

proptest! {
    #[test]
    fn entities_come_back_from_their_items(entity in entity()) {
        let item = entity.item_json();
        prop_assert_eq!(shown(&Entity::from_item(&item).unwrap()), shown(&entity), "{}", String::from_utf8_lossy(&item));
        // The engine keeps what its reader reads, without white space and needless escapes.
        let read = armilla_value::json::parse(&item).unwrap();
        let again = armilla_value::json::to_string(&read);
        prop_assert_eq!(again.as_bytes(), &item[..]);
    }

    #[test]
    fn answers_are_requests(entity in entity()) {
        let item = entity.item_json();
        for level in [MetadataLevel::Minimal, MetadataLevel::Full] {
            for is_single in [false, true] {
                let text = written(&item, &EntityContext { is_single, ..context(level) });
                let read = Entity::from_json(text.as_bytes(), Flavour::Cosmos).unwrap();
                prop_assert_eq!(shown(&read), shown(&entity), "{}", text);
            }
        }
        let plain = written(&item, &context(MetadataLevel::None));
        prop_assert!(armilla_value::json::parse(plain.as_bytes()).is_ok(), "{}", plain);
    }

    #[test]
    fn merges_set_what_they_name(existing in entity(), update in entity()) {
        let merged = update.merged_into(&existing.item_json());
        let mut expected = existing.clone();
        for (name, value) in &update.properties {
            match expected.properties.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = value.clone(),
                None => expected.properties.push((name.clone(), value.clone())),
            }
        }
        prop_assert_eq!(shown(&Entity::from_item(&merged).unwrap()), shown(&expected));
        prop_assert!(armilla_value::json::parse(&merged).is_ok());
    }

    #[test]
    fn any_bytes_are_taken_without_panic(
        bytes: Vec<u8>,
        near in "(\\{|\\}|,|:|\"a\"|\"a@odata\\.type\"|\"Edm\\.Int64\"|\"\\$edm\"|\"id\"|\"RowKey\"|\"PartitionKey\"|1|1\\.5|null|\\[|\\]|\"\\\\u00){0,24}",
    ) {
        let update = Entity { properties: vec![("a".to_owned(), EdmValue::Int64(1))], partition_key: None, row_key: None };
        for bytes in [&bytes[..], near.as_bytes(), format!("{{\"id\":\"r\",\"PartitionKey\":\"p\",\"RowKey\":\"r\",{near}").as_bytes()] {
            let _ = (Entity::from_json(bytes, Flavour::Storage), Entity::from_item(bytes), update.merged_into(bytes));
            if let Some(view) = EntityView::of(bytes, moment()) {
                write_entity(&mut Vec::new(), &view, &context(MetadataLevel::Full));
            }
        }
    }
}
