use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::discriminator::Found;
use crate::limits::{
    DISTINCT_EXACT_MAX, ENTITIES_MAX, ENTITY_PATHS_MAX, EXAMPLES_MAX, MEMORY_BYTES_MAX, PATH_BYTES_MAX,
    PATHS_MAX,
};
use crate::profile::{Entity, Lengths, PathProfile};
use crate::testing::{Chance, key_paths, sample};

fn only_entity(profile: &Profile) -> &Entity {
    assert_eq!(profile.entities.len(), 1);
    profile.entities.values().next().unwrap()
}

#[test]
fn every_figure_of_a_small_container() {
    let (profile, sketches) = sample(
        &[&["city"]],
        &[
            r#"{"id":"1", "city":"Oslo","age":30,"tags":["a","b"],"address":{"zip":"0150"},"_ts":100,"_rid":"r"}"#,
            r#"{"id":"2","city":"Oslo","age":12,"tags":["a"],"address":{"zip":"0150"},"_ts":200,"_etag":"e"}"#,
            r#"{"id":"3","city":"Rome","age":null,"seen":"2024-05-31","_ts":300,"_self":"s","_attachments":"a"}"#,
            r#"{"id":"4","active":true,"ref":"0f8fad5b-d9cb-469f-a165-70867728950e"}"#,
        ],
    );
    assert!(!sketches.is_whole());
    assert_eq!((profile.items, profile.bytes), (4, 75 + 71 + 55 + 69));
    assert_eq!((profile.bytes_p50, profile.bytes_p99, profile.bytes_max), (69, 75, 75));
    assert_eq!((profile.discriminator.as_deref(), profile.sorts), (None, 2));
    assert_eq!(profile.written, Some((100, 300)));
    assert_eq!(profile.key.distinct, 3);
    assert!((profile.key.monotone - 1.5 / 3_f64.sqrt()).abs() < 1e-12);

    let entity = only_entity(&profile);
    assert_eq!((entity.items, entity.bytes, entity.bytes_max), (4, 270, 75));
    assert_eq!(entity.examples, ["1", "2", "4", "3"]);
    assert_eq!(entity.paths_beyond, 0);
    let one = PathProfile { items: 1, values: 1, distinct: 1, ..PathProfile::default() };
    let two = PathProfile { items: 2, values: 2, ..PathProfile::default() };
    let expected = BTreeMap::from([
        (
            "/active",
            PathProfile { bytes: 4, bytes_max: 4, booleans: 1, most: Some((true.into(), 1)), ..one.clone() },
        ),
        (
            "/address",
            PathProfile { bytes: 28, bytes_max: 14, objects: 2, distinct: 1, repeated: 2, ..two.clone() },
        ),
        (
            "/address/zip",
            PathProfile {
                bytes: 12,
                bytes_max: 6,
                texts: 2,
                distinct: 1,
                most: Some(("0150".into(), 2)),
                ..two.clone()
            },
        ),
        (
            "/age",
            PathProfile {
                items: 3,
                values: 3,
                bytes: 8,
                bytes_max: 4,
                nulls: 1,
                numbers: 2,
                distinct: 3,
                most: Some((12.into(), 1)),
                ..PathProfile::default()
            },
        ),
        (
            "/city",
            PathProfile {
                items: 3,
                values: 3,
                bytes: 18,
                bytes_max: 6,
                texts: 3,
                distinct: 2,
                most: Some(("Oslo".into(), 2)),
                ..PathProfile::default()
            },
        ),
        (
            "/id",
            PathProfile {
                items: 4,
                values: 4,
                bytes: 12,
                bytes_max: 3,
                texts: 4,
                distinct: 4,
                most: Some(("1".into(), 1)),
                ..PathProfile::default()
            },
        ),
        (
            "/ref",
            PathProfile {
                bytes: 38,
                bytes_max: 38,
                texts: 1,
                guids: 1,
                most: Some(("0f8fad5b-d9cb-469f-a165-70867728950e".into(), 1)),
                ..one.clone()
            },
        ),
        (
            "/seen",
            PathProfile {
                bytes: 12,
                bytes_max: 12,
                texts: 1,
                dates: 1,
                most: Some(("2024-05-31".into(), 1)),
                ..one.clone()
            },
        ),
        (
            "/tags",
            PathProfile {
                bytes: 14,
                bytes_max: 9,
                arrays: 2,
                distinct: 2,
                lengths: Some(Lengths { p50: 1, p99: 2, max: 2 }),
                ..two.clone()
            },
        ),
        (
            "/tags/[]",
            PathProfile {
                items: 2,
                values: 3,
                bytes: 9,
                bytes_max: 3,
                texts: 3,
                distinct: 2,
                most: Some(("a".into(), 2)),
                ..PathProfile::default()
            },
        ),
    ]);
    for (path, told) in &entity.paths {
        assert_eq!(Some(told), expected.get(path.as_str()), "{path}");
    }
    assert_eq!(entity.paths.len(), expected.len());
}

#[test]
fn items_are_told_by_what_they_say_they_are() {
    let (profile, _) = sample(
        &[&["id"]],
        &[
            r#"{"id":"1","type":"user","name":"a"}"#,
            r#"{"id":"2","type":"post","title":"a"}"#,
            r#"{"id":"3","type":"post","title":"bb"}"#,
            r#"{"id":"4","name":"none"}"#,
            r#"{"id":"5","type":7}"#,
            r#"{"id":"6","type":"post"}"#,
        ],
    );
    assert_eq!(profile.discriminator.as_deref(), Some("/type"));
    let items: Vec<(&str, u64)> =
        profile.entities.iter().map(|(sort, entity)| (sort.as_str(), entity.items)).collect();
    assert_eq!(items, [("", 2), ("post", 3), ("user", 1)]);
    assert_eq!(profile.entities["post"].examples, ["3", "2", "6"]);
    assert!(profile.entities["post"].paths.contains_key("/title"));
    assert!(!profile.entities["post"].paths.contains_key("/name"));
    assert_eq!(profile.key.ids, 6);
}

#[test]
fn an_empty_sample_has_an_empty_profile() {
    let (profile, _) = Sampler::new(&[]).finish();
    assert_eq!(profile, Profile::default());
}

#[test]
fn what_is_no_item_leaves_no_trace() {
    let mut sampler = Sampler::new(&[]);
    for text in ["", "{", r#"{"a":}"#, r#"{"a":1} "#.repeat(2).as_str()] {
        assert!(sampler.add(text.as_bytes()).is_err(), "{text:?}");
    }
    for text in ["[1]", "7", "null"] {
        assert_eq!(sampler.add(text.as_bytes()), Err("an item must be a JSON object".to_owned()));
    }
    assert!(sampler.add(b"\xFF").is_err());
    assert_eq!(sampler.memory(), 0);
    assert_eq!(sampler.finish().0, Profile::default());
}

#[test]
fn scalars_that_json_lacks_are_texts_numbers_and_dates() {
    let (profile, _) = sample(
        &[],
        &[
            r#"{"at":{"$date":{"$numberLong":"5"}},"oid":{"$oid":"abababababababababababab"},"sum":{"$numberDecimal":"1.10"}}"#,
        ],
    );
    let paths = &only_entity(&profile).paths;
    assert_eq!(paths.len(), 3);
    assert_eq!((paths["/at"].texts, paths["/at"].dates), (1, 1));
    assert_eq!((paths["/oid"].texts, paths["/sum"].numbers), (1, 1));
}

#[test]
fn paths_inside_arrays_and_names_with_slashes() {
    let (profile, _) =
        sample(&[], &[r#"{"lines":[{"price":1,"tax":[[2],[3,4]]},{"price":2},"none"],"a/b":{"":1}}"#]);
    let paths = &only_entity(&profile).paths;
    let told: Vec<(&str, u64, u64)> =
        paths.iter().map(|(path, told)| (path.as_str(), told.items, told.values)).collect();
    assert_eq!(
        told,
        [
            ("/\"a/b\"", 1, 1),
            ("/\"a/b\"/\"\"", 1, 1),
            ("/lines", 1, 1),
            ("/lines/[]", 1, 3),
            ("/lines/[]/price", 1, 2),
            ("/lines/[]/tax", 1, 1),
            ("/lines/[]/tax/[]", 1, 2),
            ("/lines/[]/tax/[]/[]", 1, 3),
        ]
    );
    assert_eq!((paths["/lines/[]"].objects, paths["/lines/[]"].texts), (2, 1));
}

#[test]
fn objects_that_another_item_has_as_well() {
    let (profile, _) = sample(
        &[],
        &[
            r#"{"n":1,"who":{"id":"1","name":"a"},"in":[{"x":1},{"x":1}]}"#,
            r#"{"n":2,"who":{"name":"a","id":"1"},"in":[{"x":2}]}"#,
            r#"{"n":3,"who":{"id":"2","name":"b"},"in":[{"x":2},{"x":3}]}"#,
        ],
    );
    let paths = &only_entity(&profile).paths;
    assert_eq!(paths["/who"].repeated, 2, "the order of members does not matter");
    assert_eq!(paths["/in/[]"].repeated, 2, "twice in one item is no other item");
    assert_eq!(paths["/n"].repeated, 0);
    assert_eq!(paths["/in/[]"].distinct, 3);
}

#[test]
fn different_values_are_exact_at_the_bound_and_estimated_past_it() {
    let distinct = |count: usize| {
        let items: Vec<String> =
            (0..count + 100).map(|number| format!(r#"{{"n":{}}}"#, number % count)).collect();
        only_entity(&sample(&[], &items).0).paths["/n"].clone()
    };
    for count in [DISTINCT_EXACT_MAX - 1, DISTINCT_EXACT_MAX] {
        assert_eq!(distinct(count).distinct, count as u64);
    }
    let told = distinct(DISTINCT_EXACT_MAX + 1);
    assert!(told.distinct.abs_diff(DISTINCT_EXACT_MAX as u64 + 1) < 200, "{}", told.distinct);
    assert_eq!(told.values, DISTINCT_EXACT_MAX as u64 + 101);
    assert!(told.most.unwrap().1 <= 2);
}

#[test]
fn paths_at_the_bound_and_past_it() {
    let names = |count: usize| {
        let members: Vec<String> = (0..count).map(|number| format!("\"m{number}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    for (count, beyond) in [(ENTITY_PATHS_MAX, 0), (ENTITY_PATHS_MAX + 1, 1), (ENTITY_PATHS_MAX + 300, 300)] {
        let (profile, _) = sample(&[], &[names(count), names(count)]);
        let entity = only_entity(&profile);
        assert_eq!((entity.paths.len(), entity.paths_beyond), (ENTITY_PATHS_MAX, beyond));
        assert!(entity.paths.values().all(|told| told.items == 2));
    }
}

#[test]
fn a_path_that_is_too_long_is_counted_and_those_below_it() {
    let name = |length: usize| "n".repeat(length);
    let longest = (PATH_BYTES_MAX - 3) / 2;
    let (profile, _) = sample(
        &[],
        &[format!(
            r#"{{"{}":1,"{}":{{"below":[1,2]}},"deep":{}1{}}}"#,
            name(longest),
            name(longest + 1),
            "[".repeat(100),
            "]".repeat(100),
        )],
    );
    let entity = only_entity(&profile);
    assert!(entity.paths.contains_key(&format!("/{}", name(longest))));
    assert_eq!(entity.paths_beyond, 3, "the path, what is below, and its elements");
    assert_eq!(entity.paths.len(), 1 + 101);
    assert_eq!(entity.bytes, profile.bytes);
}

#[test]
fn sorts_at_the_bound_and_past_it() {
    let found = Found { discriminator: Some("type".to_owned()), sorts: 1 };
    let mut profiler = Profiler::new(&[], found);
    for number in (0..ENTITIES_MAX + 3).chain(0..2) {
        let text = format!(r#"{{"id":"1","type":"{number}"}}"#);
        let Ok(Value::Object(item)) = json::parse(text.as_bytes()) else { unreachable!() };
        profiler.add(&item, text.as_bytes(), None);
    }
    let (profile, _) = profiler.finish(false);
    assert_eq!(profile.entities.len(), ENTITIES_MAX + 1);
    assert_eq!(profile.entities[""].items, 3);
    assert_eq!(profile.entities["0"].items, 2);
    assert_eq!(profile.entities["0"].examples.len(), 1);
}

#[test]
fn few_examples_are_told() {
    let items: Vec<String> =
        (0..20).map(|number| format!(r#"{{"id":"{number}","text":"{}"}}"#, "x".repeat(number))).collect();
    let (profile, _) = sample(&[], &items);
    let examples = &only_entity(&profile).examples;
    assert_eq!(examples.len(), EXAMPLES_MAX);
    assert_eq!(examples[..2], ["19", "18"]);
}

/// Items with more text than is kept: what comes later is looked at as it comes, and nothing is lost.
#[test]
fn more_items_than_are_kept() {
    let text = "x".repeat(1 << 20);
    let mut sampler = Sampler::new(&key_paths(&[&["type"]]));
    let items = 70;
    for number in 0..items {
        let sort = if number % 2 == 0 { "even" } else { "odd" };
        let item = format!(r#"{{"id":"{number}","type":"{sort}","text":"{text}","_ts":{number}}}"#);
        sampler.add(item.as_bytes()).unwrap();
        assert!(sampler.memory() <= MEMORY_BYTES_MAX);
    }
    assert!(sampler.memory() < 1 << 20, "the kept texts are gone");
    let (profile, _) = sampler.finish();
    assert_eq!((profile.items, profile.written), (items, Some((0, items as i64 - 1))));
    assert_eq!(profile.discriminator.as_deref(), Some("/type"));
    for sort in ["even", "odd"] {
        let entity = &profile.entities[sort];
        assert_eq!((entity.items, entity.paths["/id"].distinct), (items / 2, items / 2));
        assert_eq!(entity.paths["/text"].most, None, "too long to be told");
        assert_eq!(entity.paths["/text"].distinct, 1);
    }
    assert_eq!(profile.key.distinct, 2);
}

/// A container with some of everything.
fn mixed_items(count: u64) -> Vec<String> {
    let mut chance = Chance(7);
    let mut items = Vec::new();
    for number in 0..count {
        let user = chance.below(40);
        let lines: Vec<String> = (0..chance.below(6))
            .map(|_| format!(r#"{{"sku":"s{}","price":{}}}"#, chance.below(500), chance.below(90)))
            .collect();
        items.push(match chance.below(3) {
            0 => format!(
                r#"{{"id":"u{number}","type":"user","city":"c{user}","name":"n{}","_ts":{}}}"#,
                chance.below(1_000),
                chance.below(5_000)
            ),
            1 => format!(
                r#"{{"id":"o{number}","type":"order","city":"c{user}","lines":[{}],"m{}":1,"_ts":{number}}}"#,
                lines.join(","),
                chance.below(700)
            ),
            _ => format!(
                r#"{{"id":"p{number}","city":"c{user}","author":{{"id":"u{user}","name":"x{user}"}},"type":"post"}}"#
            ),
        });
    }
    items
}

#[test]
fn the_order_of_items_does_not_matter() {
    let mut items = mixed_items(6_000);
    let expected = sample(&[&["city"]], &items);
    assert_eq!(expected.0.discriminator.as_deref(), Some("/type"));
    assert!(expected.0.entities["order"].paths_beyond > 0, "more than there is room for");
    for seed in 1..4 {
        Chance(seed).shuffle(&mut items);
        assert_eq!(sample(&[&["city"]], &items), expected);
    }
}

/// Looked at as they come, without a canonical order, all that is counted is the same as well.
#[test]
fn counts_do_not_depend_on_the_order_in_which_items_are_looked_at() {
    let look = |items: &[String]| {
        let found = Found { discriminator: Some("type".to_owned()), sorts: 1 };
        let mut profiler = Profiler::new(&key_paths(&[&["city"]]), found);
        for text in items {
            let Ok(Value::Object(mut item)) = json::parse(text.as_bytes()) else { unreachable!() };
            let written = item.remove("_ts").and_then(|written| written.as_i64());
            profiler.add(&item, json::to_string(&Value::Object(item.clone())).as_bytes(), written);
        }
        let (mut profile, _) = profiler.finish(false);
        for entity in profile.entities.values_mut() {
            // Which paths have room, and which of many values is the most frequent, is decided as they come.
            entity.paths.retain(|path, _| !path.starts_with("/m"));
            entity.paths.values_mut().for_each(|told| told.most = None);
        }
        profile
    };
    let mut items = mixed_items(6_000);
    let expected = look(&items);
    for seed in 1..4 {
        Chance(seed).shuffle(&mut items);
        assert_eq!(look(&items), expected);
    }
}

#[test]
fn items_of_random_names_stay_within_the_bound() {
    let mut chance = Chance(3);
    let mut sampler = Sampler::new(&key_paths(&[&["key"]]));
    let mut bytes = 0;
    while bytes < 80 << 20 {
        let mut item = format!(r#"{{"id":"{}","key":"{}""#, chance.below(1 << 40), chance.below(1 << 40));
        for _ in 0..200 {
            let (name, value) = (chance.below(1 << 40), chance.below(1 << 40));
            match chance.below(4) {
                0 => item.push_str(&format!(r#","n{name}":"{value}""#)),
                1 => item.push_str(&format!(r#","n{name}":{{"a":"{value}","b{name}":{value}}}"#)),
                2 => item.push_str(&format!(r#","n{name}":[{value},{{"a":"{value}","b":{value}}}]"#)),
                _ => item.push_str(&format!(r#","{}":{value}"#, "l".repeat(chance.below(1_000) as usize))),
            }
        }
        item.push('}');
        bytes += item.len();
        sampler.add(item.as_bytes()).unwrap();
        assert!(sampler.memory() <= MEMORY_BYTES_MAX, "{}", sampler.memory());
    }
    let (profile, _) = sampler.finish();
    assert_eq!(only_entity(&profile).paths.len(), ENTITY_PATHS_MAX);
    assert!(only_entity(&profile).paths_beyond > 100_000);
}

#[test]
fn as_many_paths_as_there_may_be_with_values_of_their_own_stay_within_the_bound() {
    let found = Found { discriminator: Some("type".to_owned()), sorts: 1 };
    let mut profiler = Profiler::new(&[], found);
    let mut chance = Chance(5);
    let mut items = 0;
    for number in 0..60_u64 * 64 {
        let mut text = format!(r#"{{"id":"{number}","type":"t{}""#, number % 64);
        for name in 0..100 {
            let value = chance.below(1 << 40);
            match name % 3 {
                0 => text.push_str(&format!(r#","m{name}":"{value}{}""#, "x".repeat(100))),
                1 => text.push_str(&format!(r#","m{name}":{{"a":"{value}","b":"{value}","c":{value}}}"#)),
                _ => text.push_str(&format!(r#","m{name}":[{}0]"#, "0,".repeat(chance.below(40) as usize))),
            }
        }
        text.push('}');
        let Ok(Value::Object(item)) = json::parse(text.as_bytes()) else { unreachable!() };
        profiler.add(&item, text.as_bytes(), None);
        items += 1;
        if items % 100 == 0 {
            assert!(profiler.memory() <= MEMORY_BYTES_MAX - KEPT_BYTES_MAX, "{}", profiler.memory());
        }
    }
    assert!(profiler.memory() <= MEMORY_BYTES_MAX - KEPT_BYTES_MAX, "{}", profiler.memory());
    let (profile, _) = profiler.finish(false);
    let paths: usize = profile.entities.values().map(|entity| entity.paths.len()).sum();
    assert_eq!(paths, PATHS_MAX);
    let told = &profile.entities["t0"].paths["/m0"];
    assert_eq!((told.values, told.distinct), (60, 60));
}

fn json_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Double),
        any::<i64>().prop_map(Value::Date),
        ".{0,12}".prop_map(Value::String),
        "[0-9T:.Z{}-]{0,40}".prop_map(Value::String),
    ];
    scalar.prop_recursive(5, 60, 8, |inner| {
        let name = prop_oneof!["[a-c]{0,2}", ".{0,6}", Just("type".to_owned()), Just("id".to_owned())];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            proptest::collection::vec((name, inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_an_item_or_an_error(values in proptest::collection::vec(json_value(), 0..12)) {
        let mut sampler = Sampler::new(&key_paths(&[&["a"], &["b", "c"]]));
        let mut items = 0;
        for value in &values {
            let is_item = sampler.add(json::to_string(value).as_bytes()).is_ok();
            items += u64::from(is_item);
        }
        let (profile, _) = sampler.finish();
        prop_assert_eq!(profile.items, items);
        let of_entities: u64 = profile.entities.values().map(|entity| entity.bytes).sum();
        prop_assert_eq!(profile.bytes, of_entities);
        for entity in profile.entities.values() {
            for (path, told) in &entity.paths {
                prop_assert!(told.items <= entity.items && told.items <= told.values, "{}", path);
                let kinds = told.nulls + told.booleans + told.numbers + told.texts + told.objects + told.arrays;
                prop_assert_eq!(kinds, told.values);
                prop_assert!(told.distinct <= told.values && told.repeated <= told.objects);
                prop_assert!(told.bytes_max <= told.bytes && told.bytes <= entity.bytes);
            }
        }
    }

    #[test]
    fn any_bytes_are_an_item_or_an_error(bytes: Vec<u8>, text in r#"[\[\]{}",:\\a0-9.eE+\- tn_srl]{0,40}"#) {
        let mut sampler = Sampler::new(&key_paths(&[&["a"]]));
        let _ = sampler.add(&bytes);
        let _ = sampler.add(text.as_bytes());
        let _ = sampler.finish();
    }

    #[test]
    fn small_containers_are_told_alike_in_any_order(
        values in proptest::collection::vec(json_value(), 0..12),
        seed: u64,
    ) {
        let is_item = |value: &&Value| matches!(value, Value::Object(_));
        let mut items: Vec<String> = values.iter().filter(is_item).map(json::to_string).collect();
        items.retain(|item| Sampler::new(&[]).add(item.as_bytes()).is_ok());
        let expected = sample(&[&["a"]], &items);
        Chance(seed).shuffle(&mut items);
        prop_assert_eq!(sample(&[&["a"]], &items), expected);
    }
}
