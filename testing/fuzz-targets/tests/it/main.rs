//! Every target over the bytes that are kept for it.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use armilla_fuzz_targets::TARGETS;

/// Bounds of what is kept for one target: enough to reach what was ever reached, little enough to be gone over at once.
const FILES_MAX: usize = 200;
const BYTES_MAX: usize = 200 * 1024;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn kept_bytes_are_read_as_they_should_be() {
    for (name, target) in TARGETS {
        let folder = corpus().join(name);
        let files = names(&folder);
        assert!((1..=FILES_MAX).contains(&files.len()), "{name}: {} files", files.len());
        let mut bytes = 0;
        for file in files {
            let data = fs::read(folder.join(&file)).unwrap();
            bytes += data.len();
            let outcome = std::panic::catch_unwind(|| target(&data));
            assert!(outcome.is_ok(), "fuzz/corpus/{name}/{file}: {}", data.escape_ascii());
        }
        assert!(bytes <= BYTES_MAX, "{name}: {bytes} bytes");
    }
}

#[test]
fn every_target_has_a_program_and_a_folder() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len());
    assert_eq!(names(&corpus()), targets);
    let programs = names(&corpus().join("../fuzz_targets"));
    assert_eq!(programs, targets.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(corpus().join("../Cargo.toml")).unwrap();
    for name in targets {
        let program = fs::read_to_string(corpus().join(format!("../fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("armilla_fuzz_targets::{name}(data)")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
