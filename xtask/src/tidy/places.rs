//! Rule: some words stand in certain files only: what asks the machine for chance, what may be unsafe, what opens sockets,
//! what a crate that only computes has no business with.

use super::arrows::PURE;
use super::{Problem, is_test_file};
use crate::repository::Source;

/// A word, and where it may stand: paths, or what they begin with.
struct Place {
    word: &'static str,
    places: &'static [&'static str],
    why: &'static str,
}

// Each word is in two parts here, so that this file does not contain it.
const PLACES: [Place; 4] = [
    Place {
        word: concat!("System", "Random"),
        places: &["crates/env/src/"],
        why: "random bytes come from env::Entropy",
    },
    Place {
        word: concat!("unsafe", "_code"),
        places: &[
            "crates/server/src/allocator.rs",
            "crates/script-worker/src/arena.rs",
            "crates/script-worker/src/raw.rs",
            "crates/script-worker/src/warm.rs",
        ],
        why: "unsafe code is in three files of script-worker, and in the server's allocator",
    },
    Place {
        word: concat!("tokio", "::net"),
        places: &["crates/server/", "crates/client/", "crates/peer/", "testing/", "bench/", "conformance/"],
        why: "sockets belong to the server, to those who ask it, and to nodes among themselves",
    },
    Place {
        word: concat!("std::net", "::Tcp"),
        places: &[
            "crates/server/",
            "crates/client/",
            "crates/peer/",
            "crates/script-worker/src/confine.rs",
            "testing/",
            "bench/",
            "conformance/",
        ],
        why: "sockets belong to the server and to those who ask it",
    },
];

/// What a crate that only computes does not name, tests aside.
const IMPURE: [&str; 4] =
    [concat!("std", "::fs"), concat!("std", "::net"), concat!("std", "::process"), concat!("std", "::env")];

/// Searches Rust files for the words.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&["rs"])) {
        let is_pure = PURE.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")))
            && !is_test_file(&source.path);
        for (number, line) in source.lines() {
            let is_elsewhere = |place: &&Place| {
                line.contains(place.word) && !place.places.iter().any(|start| source.path.starts_with(start))
            };
            if let Some(place) = PLACES.iter().find(is_elsewhere) {
                let message = format!("{} has no place here: {}", place.word, place.why);
                problems.push(Problem::new(source, number, message));
            }
            if let Some(word) = IMPURE.iter().find(|word| is_pure && line.contains(**word)) {
                problems.push(Problem::new(source, number, format!("{word}: this crate only computes")));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn words_stand_in_their_places_only() {
        for place in PLACES {
            let text = format!("x\n{}\n", place.word);
            let expected =
                format!("crates/engine/src/a.rs:2: {} has no place here: {}", place.word, place.why);
            assert_eq!(findings(check, &[("crates/engine/src/a.rs", &text), ("a.md", &text)]), [expected]);
            for start in place.places {
                let path = if start.ends_with(".rs") { (*start).to_owned() } else { format!("{start}a.rs") };
                assert!(findings(check, &[(&path, &text)]).is_empty(), "{path}");
            }
        }
    }

    #[test]
    fn crates_that_compute_reach_for_nothing() {
        for word in IMPURE {
            let files = [
                ("crates/sql/src/a.rs", word),
                ("crates/sql/src/a/tests.rs", word),
                ("crates/sql/tests/it/main.rs", word),
                ("crates/engine/src/a.rs", word),
            ];
            let expected = format!("crates/sql/src/a.rs:1: {word}: this crate only computes");
            assert_eq!(findings(check, &files), [expected]);
        }
    }
}
