//! Every file of the corpus, and the corpus of JSON lines that `ARMILLA_QUERY_CORPUS` names, if it does.

use std::path::{Path, PathBuf};

use armilla_testing_queries::corpus::run_corpus;
use armilla_testing_queries::differential::run_differential;
use armilla_testing_queries::report::Report;
use armilla_testing_queries::run::{files, run_file};

#[tokio::test(flavor = "multi_thread")]
async fn every_file_gives_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/queries");
    let mut report = Report::default();
    for file in files(&folder).unwrap() {
        report.add(run_file(&file).await.unwrap());
    }
    assert!(report.file_count > 0, "{} has no files", folder.display());
    assert!(report.passed(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_corpus_that_was_named_gives_what_it_says() {
    let Some(path) = std::env::var_os("ARMILLA_QUERY_CORPUS") else { return };
    let report = run_corpus(&PathBuf::from(path)).await.unwrap();
    assert!(report.case_count > 0);
    assert!(report.passed(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_do_not_depend_on_indexes() {
    for seed in 1..=4 {
        let report = run_differential(seed, 150).await.unwrap();
        assert!(report.passed(), "\n{report}");
    }
}
