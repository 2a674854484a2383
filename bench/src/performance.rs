//! How figures change with the number of items: the same workloads over more and more of them, drawn as plots.
//!
//! Each number of items is a run of `armilla bench` of its own, whose file of results is kept in a folder: a number that
//! has its file is not measured again, so that a long series can be continued, and drawn anew without measuring. What
//! comes of it goes into another folder: plots of operations a second and of processor time for each state, and the
//! figures as a table.

mod figures;
mod plots;
mod results;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use armilla_crash::server_process::sibling_program;
use armilla_workload::State;
use clap::Args;

use results::{Results, Series};

/// What is measured of each number of items.
const WORKLOADS: [&str; 3] = ["point-read", "write", "query"];
const QUERIES: &str = "by-key,range,order-by-top,aggregate,count";

/// Measures workloads over more and more items, and draws plots of it.
#[derive(Debug, Args)]
pub(crate) struct PerformanceOptions {
    /// Numbers of items
    #[arg(
        long,
        value_name = "COUNT",
        value_delimiter = ',',
        default_value = "10000,100000,1000000",
        value_parser = clap::value_parser!(u64).range(1..=100_000_000)
    )]
    items: Vec<u64>,
    /// Bytes of an item's JSON
    #[arg(long, value_name = "BYTES", default_value_t = 400)]
    item_bytes: u32,
    /// Connections; everything is measured with each
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_value = "1,16")]
    connections: Vec<u16>,
    /// States of the data in which everything is measured: loaded, written, rested
    #[arg(long, value_name = "STATE", value_delimiter = ',', default_value = "loaded,written,rested")]
    states: Vec<String>,
    /// Seconds of each measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    seconds: f64,
    /// Measure PostgreSQL as well
    #[arg(long)]
    postgres: bool,
    /// Folder for plots and figures
    #[arg(long, value_name = "FOLDER", default_value = "docs/performance")]
    out: PathBuf,
    /// Folder in which the results of each number of items are kept
    #[arg(long, value_name = "FOLDER", default_value = "target/performance")]
    results: PathBuf,
    /// The server program [default: armilla beside this program]
    #[arg(long, value_name = "FILE")]
    bin: Option<PathBuf>,
    /// A further argument of `armilla bench`; may be repeated
    #[arg(long = "bench-arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    bench_arguments: Vec<String>,
}

/// Measures what is missing and draws everything.
pub(crate) fn run(options: &PerformanceOptions) -> Result<()> {
    let program = options.bin.clone().map_or_else(sibling_program, Ok)?;
    for folder in [&options.out, &options.results] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut all = Vec::new();
    for items in each_once(&options.items) {
        let file = options.results.join(format!("{items}.json"));
        if file.exists() {
            eprintln!("{items} items: measured before, see {}", file.display());
        } else {
            eprintln!("{items} items");
            measure(&program, &options.arguments(items), &file)?;
        }
        let text = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let own = results::read(items, &text)
            .with_context(|| format!("{} is no result of `armilla bench`", file.display()))?;
        if let Some(difference) = options.difference(&own) {
            bail!(
                "{} was measured with other settings: {difference}; remove it, or set the same",
                file.display()
            );
        }
        all.push(own);
    }
    let series = results::series(&all);
    ensure!(!series.is_empty(), "nothing was measured");
    for (name, text) in files(&series, &all) {
        let path = options.out.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Returns the files that are made, by name.
fn files(series: &[Series], results: &[Results]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for state in results::states(series) {
        files.push((format!("rate-{state}.svg"), plots::rate(series, &state).standalone()));
        files.push((format!("cpu-{state}.svg"), plots::cpu(series, &state).standalone()));
    }
    files.push(("figures.md".to_owned(), figures::markdown(series, results)));
    files
}

impl PerformanceOptions {
    fn arguments(&self, items: u64) -> Vec<String> {
        let listed = |counts: &[u16]| counts.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
        let mut arguments = vec!["bench".to_owned()];
        arguments.extend(WORKLOADS.map(str::to_owned));
        for (name, value) in [
            ("--queries", QUERIES.to_owned()),
            ("--items", items.to_string()),
            ("--item-bytes", self.item_bytes.to_string()),
            ("--connections", listed(&self.connections)),
            ("--states", self.states.join(",")),
            ("--seconds", self.seconds.to_string()),
        ] {
            arguments.extend([name.to_owned(), value]);
        }
        if self.postgres {
            arguments.push("--postgres".to_owned());
        }
        arguments.extend_from_slice(&self.bench_arguments);
        arguments
    }
}

impl PerformanceOptions {
    /// Returns what a kept result was measured with and is not wanted: figures of different settings are no series.
    fn difference(&self, kept: &Results) -> Option<String> {
        let connections = self.connections.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
        let states: Vec<_> = State::ALL.iter().map(|state| state.name()).collect();
        let states: Vec<_> =
            states.into_iter().filter(|name| self.states.iter().any(|own| own == name)).collect();
        let wanted = [
            ("itemBytes", self.item_bytes.to_string()),
            ("connections", connections),
            ("states", states.join(",")),
            ("seconds", self.seconds.to_string()),
        ];
        wanted.into_iter().find_map(|(name, wanted)| {
            let kept = kept.setting(name)?;
            (kept != wanted).then(|| format!("{name} {kept} instead of {wanted}"))
        })
    }
}

fn each_once(items: &[u64]) -> Vec<u64> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    items
}

/// Runs `armilla bench`; its file appears under its name when it is complete.
fn measure(program: &Path, arguments: &[String], file: &Path) -> Result<()> {
    let partial = file.with_extension("partial");
    let status = Command::new(program)
        .args(arguments)
        .arg("--json")
        .arg(&partial)
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(status.success(), "`armilla bench` ended with {status}");
    std::fs::rename(&partial, file).with_context(|| format!("cannot name {}", file.display()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        performance: PerformanceOptions,
    }

    fn parse(arguments: &[&str]) -> Option<PerformanceOptions> {
        Line::try_parse_from(["performance"].iter().chain(arguments)).ok().map(|line| line.performance)
    }

    #[test]
    fn what_is_run() {
        let options =
            parse(&["--connections=4", "--states=rested", "--postgres", "--bench-arg=--seed=7"]).unwrap();
        assert_eq!(
            options.arguments(10).join(" "),
            "bench point-read write query --queries by-key,range,order-by-top,aggregate,count --items 10 \
             --item-bytes 400 --connections 4 --states rested --seconds 5 --postgres --seed=7"
        );
        assert_eq!(each_once(&[100, 10, 100]), [10, 100]);
        for wrong in ["--items=0", "--items=100000001", "--items=ten"] {
            assert!(parse(&[wrong]).is_none(), "{wrong}");
        }
    }

    #[test]
    fn kept_results_of_other_settings_are_refused() {
        let kept = |settings: &str| {
            let text = format!(r#"{{"settings":{{{settings}}},"measurements":[]}}"#);
            results::read(10, text.as_bytes()).unwrap()
        };
        let options = parse(&["--connections=1,16", "--states=rested,loaded", "--seconds=2"]).unwrap();
        let same = r#""connections":"1,16","states":"loaded,rested","seconds":"2","itemBytes":"400""#;
        for (settings, expected) in [
            (same.to_owned(), None),
            (String::new(), None),
            (same.replace("1,16", "16"), Some("connections 16 instead of 1,16")),
            (same.replace("loaded,", ""), Some("states rested instead of loaded,rested")),
            (same.replace("\"2\"", "\"5\""), Some("seconds 5 instead of 2")),
            (same.replace("400", "800"), Some("itemBytes 800 instead of 400")),
        ] {
            assert_eq!(options.difference(&kept(&settings)).as_deref(), expected, "{settings}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_fails_leaves_no_result() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("10.json");
        assert!(measure(Path::new("/bin/false"), &[], &file).is_err());
        assert!(measure(&folder.path().join("none"), &[], &file).is_err());
        assert!(!file.exists());
    }
}
