//! The tables of all queries, for people and as JSON: what each reads, and what was measured of it.

use armilla_value::{Object, Value};
use armilla_workload::State;

use super::cases::Case;
use super::explained::Explained;
use crate::columns::{layout, time};
use crate::server::Setup;

/// What a query answered, as far as sides are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) rows: usize,
    /// The answer itself, where it is one number.
    pub(super) number: Option<i64>,
}

/// What the engine did for an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) pages: usize,
    /// Index entries that were walked.
    pub(super) entries: u64,
    pub(super) items_loaded: u64,
    pub(super) hundredths_of_units: u64,
}

/// What PostgreSQL's executor takes.
#[derive(Debug, Clone)]
pub(super) struct PostgresFigures {
    /// When it passes rows on as they are stored.
    pub(super) executor_us: f64,
    /// When it writes documents out as text.
    pub(super) executor_as_text_us: f64,
    pub(super) explained: Explained,
}

/// What was measured of a query on one side under some circumstances.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measurement {
    pub(super) side: &'static str,
    pub(super) connections: usize,
    pub(super) state: State,
    pub(super) per_second: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Processor time of the side's processes for a query, with that of others' writes.
    pub(super) cpu_us: Option<f64>,
    /// What others wrote meanwhile, if they did.
    pub(super) writes_per_second: Option<f64>,
}

/// One query's figures.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) case: Case,
    /// What each side answered.
    pub(super) answers: Vec<(&'static str, Answer)>,
    pub(super) work: Option<Work>,
    pub(super) postgres: Option<PostgresFigures>,
    pub(super) measurements: Vec<Measurement>,
}

impl Line {
    pub(super) fn new(case: &Case) -> Line {
        Line { case: *case, answers: Vec::new(), work: None, postgres: None, measurements: Vec::new() }
    }

    /// Whether all sides gave the same answer.
    pub(super) fn agrees(&self) -> bool {
        self.answers.windows(2).all(|pair| pair[0].1 == pair[1].1)
    }

    fn work_cells(&self) -> [String; WORK_COLUMNS] {
        let (work, postgres) = (self.work.as_ref(), self.postgres.as_ref());
        [
            self.case.name.to_owned(),
            cell(self.answers.first().map(|(_, answer)| answer.rows.to_string())),
            cell(work.map(|work| work.entries.to_string())),
            cell(work.map(|work| work.items_loaded.to_string())),
            cell(work.map(|work| units(work.hundredths_of_units))),
            cell(postgres.map(|postgres| time(postgres.executor_us))),
            cell(postgres.map(|postgres| time(postgres.executor_as_text_us))),
            cell(self.case.postgres_index.map(str::to_owned)),
        ]
    }

    /// A row for each of the circumstances, with the sides beside each other.
    fn rows(&self) -> Vec<[String; COLUMNS]> {
        let mut circumstances: Vec<(usize, State)> = Vec::new();
        for one in &self.measurements {
            if !circumstances.contains(&(one.connections, one.state)) {
                circumstances.push((one.connections, one.state));
            }
        }
        circumstances.into_iter().map(|(connections, state)| self.cells(connections, state)).collect()
    }

    fn cells(&self, connections: usize, state: State) -> [String; COLUMNS] {
        let of = |side: &str| {
            let is_it =
                |one: &&Measurement| one.side == side && one.connections == connections && one.state == state;
            self.measurements.iter().find(is_it)
        };
        let sides = ["engine", "HTTP", "PostgreSQL"].map(of);
        let rate = |one: Option<&Measurement>| cell(one.map(|one| format!("{:.0}", one.per_second)));
        let p50 = |one: Option<&Measurement>| cell(one.map(|one| time(one.p50_us)));
        let cpu = |one: Option<&Measurement>| cell(one.and_then(|one| one.cpu_us).map(time));
        let [engine, http, postgres] = sides;
        let rate_ratio = http.zip(postgres).map(|(own, other)| own.per_second / other.per_second);
        let cpu_ratio = http.zip(postgres).and_then(|(own, other)| Some(own.cpu_us? / other.cpu_us?));
        let ratio = |ratio: Option<f64>| {
            cell(ratio.filter(|ratio| ratio.is_finite()).map(|ratio| format!("{ratio:.2}")))
        };
        [
            self.case.name.to_owned(),
            connections.to_string(),
            state.name().to_owned(),
            rate(engine),
            p50(engine),
            cpu(engine),
            rate(http),
            p50(http),
            cpu(http),
            rate(postgres),
            p50(postgres),
            cpu(postgres),
            ratio(rate_ratio),
            ratio(cpu_ratio),
        ]
    }

    fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("name", self.case.name);
        object.insert("query", self.case.text);
        object.insert("postgresQuery", self.case.postgres);
        object.insert("postgresIndex", self.case.postgres_index);
        object.insert("agrees", self.agrees());
        let answers = self.answers.iter().map(|(side, answer)| {
            let mut object = Object::new();
            object.insert("side", *side);
            object.insert("rows", answer.rows as i64);
            object.insert("number", answer.number);
            object
        });
        object.insert("answers", answers.collect::<Vec<_>>());
        if let Some(work) = &self.work {
            object.insert("pages", work.pages as i64);
            object.insert("entries", work.entries as i64);
            object.insert("itemsLoaded", work.items_loaded as i64);
            object.insert("requestUnits", work.hundredths_of_units as f64 / 100.0);
        }
        if let Some(postgres) = &self.postgres {
            object.insert("postgresExecutorUs", postgres.executor_us);
            object.insert("postgresExecutorAsTextUs", postgres.executor_as_text_us);
            object.insert("postgresPlanningUs", postgres.explained.planning_us);
            object.insert("postgresPlan", postgres.explained.nodes.join(" <- "));
        }
        let measurements = self.measurements.iter().map(|one| {
            let mut object = Object::new();
            object.insert("side", one.side);
            object.insert("connections", one.connections as i64);
            object.insert("state", one.state.name());
            object.insert("perSecond", one.per_second);
            object.insert("p50Us", one.p50_us);
            object.insert("p99Us", one.p99_us);
            object.insert("cpuUsPerOperation", one.cpu_us);
            object.insert("writesPerSecond", one.writes_per_second);
            object
        });
        object.insert("measurements", measurements.collect::<Vec<_>>());
        Value::Object(object)
    }
}

const WORK_COLUMNS: usize = 8;

/// What a query reads, for the order in the middle.
const WORK_HEADINGS: [&str; WORK_COLUMNS] =
    ["query", "rows", "entries", "loaded", "RU", "PG exec", "PG exec, text", "PG index"];

const COLUMNS: usize = 14;

/// What was measured.
const HEADINGS: [&str; COLUMNS] = [
    "query",
    "connections",
    "state",
    "engine/s",
    "p50",
    "CPU",
    "HTTP/s",
    "p50",
    "CPU",
    "PG/s",
    "p50",
    "CPU",
    "rate of PG",
    "CPU of PG",
];

/// What the figures are about.
#[derive(Debug)]
pub(super) struct Table {
    items: usize,
    partitions: u32,
    cache_mb: u32,
    write_rate: f64,
    pub(super) loaded_per_second: Option<f64>,
    /// Version and settings, where there is a PostgreSQL.
    pub(super) postgres: Option<String>,
    /// Its indexes as it names them.
    pub(super) postgres_indexes: Vec<String>,
}

impl Table {
    pub(super) fn new(items: usize, setup: &Setup, write_rate: f64) -> Table {
        Table {
            items,
            partitions: setup.partitions,
            cache_mb: setup.cache_mb,
            write_rate,
            loaded_per_second: None,
            postgres: None,
            postgres_indexes: Vec::new(),
        }
    }

    /// Prints the tables.
    pub(super) fn print(&self, lines: &[Line]) {
        println!(
            "{} items, {} physical partition(s), {} MB of cache",
            self.items, self.partitions, self.cache_mb
        );
        if let Some(per_second) = self.loaded_per_second {
            println!("loaded in process with relaxed durability: {per_second:.0} a second");
        }
        println!("{}", self.postgres.as_deref().unwrap_or("without PostgreSQL"));
        for index in &self.postgres_indexes {
            println!("  {index}");
        }
        let cells: Vec<_> = lines.iter().map(Line::work_cells).collect();
        println!("{}", layout(&WORK_HEADINGS.map(str::to_owned), &cells).trim_end());
        println!(
            "values are drawn for each query; CPU is that of the side's processes for a query; in the state written \
             {:.0} items a second are written meanwhile, which is in it",
            self.write_rate
        );
        let cells: Vec<_> = lines.iter().flat_map(Line::rows).collect();
        println!("{}", layout(&HEADINGS.map(str::to_owned), &cells).trim_end());
        for line in lines {
            for one in line.measurements.iter().filter(|one| one.has_fallen_behind(self.write_rate)) {
                println!(
                    "{} on {}, {} connection(s): {:.0} items a second were written, not {:.0}",
                    line.case.name,
                    one.side,
                    one.connections,
                    one.writes_per_second.unwrap_or_default(),
                    self.write_rate
                );
            }
            if !line.agrees() {
                println!("{}: the answers differ: {:?}", line.case.name, line.answers);
            }
        }
    }

    /// Returns everything as JSON.
    pub(super) fn figures(&self, lines: &[Line]) -> Value {
        let mut all = Object::new();
        all.insert("items", self.items as i64);
        all.insert("partitions", i64::from(self.partitions));
        all.insert("cacheMb", i64::from(self.cache_mb));
        all.insert("writeRate", self.write_rate);
        all.insert("loadedPerSecond", self.loaded_per_second);
        all.insert("postgres", self.postgres.clone());
        let indexes = self.postgres_indexes.iter().map(|index| Value::from(index.as_str()));
        all.insert("postgresIndexes", Value::Array(indexes.collect()));
        all.insert("queries", lines.iter().map(Line::to_value).collect::<Vec<_>>());
        Value::Object(all)
    }
}

impl Measurement {
    /// Whether others wrote clearly less than they should have.
    fn has_fallen_behind(&self, write_rate: f64) -> bool {
        self.writes_per_second.is_some_and(|per_second| per_second < 0.95 * write_rate)
    }
}

fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

fn units(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::super::cases::cases;
    use super::*;

    fn measured(side: &'static str, connections: usize, state: State, per_second: f64) -> Measurement {
        let cpu_us = Some(1e6 / per_second);
        let writes_per_second = (state == State::Written).then_some(1_000.0);
        Measurement {
            side,
            connections,
            state,
            per_second,
            p50_us: 10.0,
            p99_us: 20.0,
            cpu_us,
            writes_per_second,
        }
    }

    #[test]
    fn units_have_two_decimals() {
        assert_eq!(units(1_203), "12.03");
    }

    #[test]
    fn answers_that_differ_are_seen() {
        let mut line = Line::new(&cases()[0]);
        assert!(line.agrees());
        line.answers.push(("engine", Answer { rows: 1, number: Some(2) }));
        assert!(line.agrees());
        line.answers.push(("HTTP", Answer { rows: 1, number: Some(2) }));
        assert!(line.agrees());
        line.answers.push(("PostgreSQL", Answer { rows: 1, number: Some(3) }));
        assert!(!line.agrees());
        let value = json::parse(json::to_string(&line.to_value()).as_bytes()).unwrap();
        assert_eq!(value.get("agrees").unwrap().as_bool(), Some(false));
    }

    #[test]
    fn sides_stand_beside_each_other_under_the_same_circumstances() {
        let mut line = Line::new(&cases()[0]);
        line.measurements = vec![
            measured("HTTP", 1, State::Loaded, 500.0),
            measured("HTTP", 16, State::Written, 3_000.0),
            measured("PostgreSQL", 1, State::Loaded, 1_000.0),
            measured("PostgreSQL", 16, State::Written, 2_000.0),
            measured("PostgreSQL", 16, State::Rested, 2_500.0),
        ];
        let rows = line.rows();
        let told: Vec<_> =
            rows.iter().map(|row| [1, 2, 3, 6, 9, 12, 13].map(|column| row[column].as_str())).collect();
        assert_eq!(
            told,
            [
                ["1", "loaded", "-", "500", "1000", "0.50", "2.00"],
                ["16", "written", "-", "3000", "2000", "1.50", "0.67"],
                ["16", "rested", "-", "-", "2500", "-", "-"],
            ]
        );
        assert!(line.measurements[1].has_fallen_behind(2_000.0));
        assert!(!line.measurements[1].has_fallen_behind(1_000.0));
        assert!(!line.measurements[0].has_fallen_behind(1_000.0));
    }
}
