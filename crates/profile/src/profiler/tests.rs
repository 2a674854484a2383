use armilla_value::json;

use super::*;
use crate::limits::{KEPT_BYTES_MAX, MEMORY_BYTES_MAX, PATHS_MAX};
use crate::testing::Chance;

fn profiler() -> Profiler {
    Profiler::new(&[], Found { discriminator: Some("type".to_owned()), sorts: 1 })
}

fn add(profiler: &mut Profiler, text: &str) {
    let Ok(Value::Object(item)) = json::parse(text.as_bytes()) else { panic!("{text}") };
    profiler.add(&item, text.as_bytes(), None);
}

/// More paths with more values than there is room for in detail: each is told in less, and none is lost.
#[test]
fn detail_is_halved_until_everything_fits() {
    const SORTS: u64 = 64;
    const VALUES: u64 = 150;
    let mut profiler = profiler();
    let mut chance = Chance(5);
    for number in 0..SORTS * VALUES {
        let mut text = format!(r#"{{"id":"{number}","type":"t{}""#, number % SORTS);
        for name in 0..126 {
            text.push_str(&format!(r#","m{name}":{}"#, chance.below(1 << 40)));
        }
        text.push('}');
        add(&mut profiler, &text);
        assert!(profiler.room.used <= PATH_SKETCH_BYTES_MAX);
    }
    assert!(profiler.memory() <= MEMORY_BYTES_MAX - KEPT_BYTES_MAX, "{}", profiler.memory());
    assert_eq!(profiler.room.paths, PATHS_MAX);
    assert!((5..=LEVEL_MAX).contains(&profiler.room.level), "{}", profiler.room.level);
    let (profile, _) = profiler.finish(false);
    for entity in profile.entities.values() {
        assert_eq!((entity.items, entity.paths.len()), (VALUES, 128));
        for told in entity.paths.values().filter(|told| told.numbers > 0) {
            assert_eq!(told.values, VALUES);
            let error = told.distinct as f64 / VALUES as f64 - 1.0;
            assert!(error.abs() < 0.8, "{error}");
        }
    }
    let all: u64 =
        profile.entities.values().flat_map(|entity| entity.paths.values()).map(|told| told.distinct).sum();
    let mean = all as f64 / PATHS_MAX as f64;
    assert!((140.0..160.0).contains(&mean), "estimates are right on the whole: {mean}");
}

/// Objects of so many paths that only few of each can be kept.
#[test]
fn fewer_objects_are_kept_of_each_path_until_they_fit() {
    let mut profiler = profiler();
    for number in 0..1_200 {
        let mut text = format!(r#"{{"id":"{number}""#);
        for name in 0..100 {
            text.push_str(&format!(r#","m{name}":{{"id":"{number}","n":{number}}}"#));
        }
        text.push('}');
        add(&mut profiler, &text);
        assert!(objects_bytes(&profiler.room) <= OBJECTS_BYTES_MAX);
    }
    let level = profiler.room.objects_level;
    assert!(level > 0);
    let (_, sketches) = profiler.finish(true);
    let objects = &sketches.entities[""].objects;
    assert_eq!(objects.len(), 100);
    assert!(objects.values().all(|kept| kept.len() == OBJECTS_MAX >> level), "the same of each");
}
