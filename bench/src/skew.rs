//! Whether provisioned throughput is given, no more and no less: by an even key the whole of it, by a single hot key the
//! share of one physical partition.

mod demand;

use anyhow::{Result, ensure};
use armilla_env::Env;
use armilla_value::{Object, Value};
use clap::Args;

use crate::columns::layout;
use crate::place::Place;
use crate::server::{Servers, Setup};
use demand::{Given, Key, demand};

/// Measures what is given of a throughput, by an even key and by a hot one.
#[derive(Debug, Args)]
pub(crate) struct SkewOptions {
    /// Request units a second of the container
    #[arg(long, default_value_t = 1_000)]
    throughput: u32,
    /// Numbers of physical partitions
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    partitions: Vec<u32>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 60)]
    seconds: usize,
    /// Connections that demand more than there is
    #[arg(long, default_value_t = 16)]
    connections: usize,
    #[command(flatten)]
    place: Place,
}

/// One measurement.
struct Line {
    partitions: u32,
    key: Key,
    /// Request units a second that should be given.
    share: f64,
    given: Given,
    /// Request units and refusals that the server counted meanwhile.
    server_ru: f64,
    server_refused: u64,
}

impl Line {
    fn total(&self) -> f64 {
        self.given.seconds.iter().sum()
    }

    /// Returns how far the whole is from what it should be, in percent.
    fn deviation_percent(&self) -> f64 {
        (self.total() / (self.share * self.given.seconds.len() as f64) - 1.0) * 100.0
    }

    /// Returns how far single seconds are from what they should be, in percent: the root of the mean square.
    fn second_deviation_percent(&self) -> f64 {
        let squares = self.given.seconds.iter().map(|own| (own / self.share - 1.0).powi(2));
        (squares.sum::<f64>() / self.given.seconds.len() as f64).sqrt() * 100.0
    }

    fn least_and_most(&self) -> (f64, f64) {
        let seconds = self.given.seconds.iter().copied();
        (seconds.clone().fold(f64::INFINITY, f64::min), seconds.fold(0.0, f64::max))
    }

    fn refused_percent(&self) -> f64 {
        let Given { accepted, refused, .. } = &self.given;
        *refused as f64 * 100.0 / (accepted + refused).max(1) as f64
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &SkewOptions) -> Result<()> {
    ensure!(options.connections > 0 && options.seconds > 0, "there must be a connection and a second");
    let env = Env::system();
    let mut lines = Vec::new();
    for partitions in options.partitions.iter().copied() {
        ensure!(partitions > 0, "there must be a partition");
        measure(options, &env, partitions, &mut lines)?;
    }
    print(options, &lines);
    options.place.write_figures(&figures(options, &lines))
}

fn measure(options: &SkewOptions, env: &Env, partitions: u32, lines: &mut Vec<Line>) -> Result<()> {
    let mut place = options.place.clone();
    let share_ru = options.throughput.div_ceil(partitions).to_string();
    let arguments = ["--throttle", "on", "--physical-partition-ru", &share_ru].map(str::to_owned);
    place.server_arguments.splice(0..0, arguments);
    let setup = Setup { connections: options.connections, seconds: 0.0, partitions, cache_mb: 64, place };
    let servers = Servers::new(&setup, env)?;
    let server = servers.start("skew")?;
    servers.create_container_of(&server, &options.throughput.to_string())?;
    let made = servers.partitions(&server)?.partitions.len();
    ensure!(made == partitions as usize, "there are {made} partitions, expected {partitions}");
    for key in [Key::Even, Key::Hot] {
        eprintln!("{key:?} key, {partitions} partitions, {} seconds ...", options.seconds);
        let totals = || -> Result<(f64, u64)> {
            let partitions = servers.partitions(&server)?.partitions;
            let ru = partitions.iter().map(|own| own.total_ru).sum();
            Ok((ru, partitions.iter().map(|own| own.total_refused).sum()))
        };
        let (ru_before, refused_before) = totals()?;
        let demanded = demand(env, server.address, key, options.connections, options.seconds);
        let given = servers.runtime.block_on(demanded)?;
        let (ru, refused) = totals()?;
        let share = f64::from(options.throughput) / if key == Key::Hot { f64::from(partitions) } else { 1.0 };
        let (server_ru, server_refused) = (ru - ru_before, refused - refused_before);
        lines.push(Line { partitions, key, share, given, server_ru, server_refused });
    }
    servers.stop(server)
}

const HEADINGS: [&str; 10] = [
    "",
    "expected RU",
    "given RU",
    "deviation",
    "a second",
    "least",
    "most",
    "refused",
    "longest wait",
    "counted RU",
];

fn print(options: &SkewOptions, lines: &[Line]) {
    println!(
        "{} RU/s, {} connections that want more, {} s each",
        options.throughput, options.connections, options.seconds
    );
    let cells: Vec<_> = lines
        .iter()
        .map(|line| {
            let key = if line.key == Key::Even { "even" } else { "hot" };
            let (least, most) = line.least_and_most();
            [
                format!("{key} key, {} partitions", line.partitions),
                format!("{:.0}", line.share * options.seconds as f64),
                format!("{:.0}", line.total()),
                format!("{:+.2} %", line.deviation_percent()),
                format!("+-{:.2} %", line.second_deviation_percent()),
                format!("{least:.0}"),
                format!("{most:.0}"),
                format!("{:.1} %", line.refused_percent()),
                format!("{} ms", line.given.longest_wait_ms),
                format!("{:.0}", line.server_ru),
            ]
        })
        .collect();
    println!("{}", layout(&HEADINGS.map(str::to_owned), &cells).trim_end());
}

fn figures(options: &SkewOptions, lines: &[Line]) -> Value {
    let line = |line: &Line| {
        let mut object = Object::new();
        object.insert("key", if line.key == Key::Even { "even" } else { "hot" });
        object.insert("partitions", i64::from(line.partitions));
        object.insert("expectedRu", line.share * options.seconds as f64);
        object.insert("givenRu", line.total());
        object.insert("deviationPercent", line.deviation_percent());
        object.insert("secondDeviationPercent", line.second_deviation_percent());
        let (least, most) = line.least_and_most();
        object.insert("leastRuOfASecond", least);
        object.insert("mostRuOfASecond", most);
        object.insert("accepted", line.given.accepted as i64);
        object.insert("refused", line.given.refused as i64);
        object.insert("longestWaitMs", line.given.longest_wait_ms as i64);
        object.insert("countedRu", line.server_ru);
        object.insert("countedRefused", line.server_refused as i64);
        object
    };
    let mut all = Object::new();
    all.insert("throughput", i64::from(options.throughput));
    all.insert("seconds", options.seconds as i64);
    all.insert("connections", options.connections as i64);
    all.insert("measurements", lines.iter().map(line).collect::<Vec<_>>());
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations() {
        let given = Given { seconds: vec![90.0, 120.0], accepted: 30, refused: 10, longest_wait_ms: 1 };
        let line =
            Line { partitions: 1, key: Key::Even, share: 100.0, given, server_ru: 210.0, server_refused: 10 };
        assert!((line.deviation_percent() - 5.0).abs() < 1e-9);
        assert!((line.second_deviation_percent() - 250f64.sqrt()).abs() < 1e-9);
        assert_eq!(line.least_and_most(), (90.0, 120.0));
        assert!((line.refused_percent() - 25.0).abs() < 1e-9);
    }
}
