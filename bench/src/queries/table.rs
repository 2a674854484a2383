//! The table of all queries, for people and as JSON.

use armilla_value::{Object, Value};

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

/// What was measured in process.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnFigures {
    pub(super) us: f64,
    pub(super) pages: usize,
    /// Index entries that were walked.
    pub(super) entries: u64,
    pub(super) items_loaded: u64,
    pub(super) hundredths_of_units: u64,
}

/// What was measured of PostgreSQL.
#[derive(Debug, Clone)]
pub(super) struct PostgresFigures {
    /// The executor alone, which passes rows on as they are stored.
    pub(super) executor_us: f64,
    /// The executor when it writes documents out as text.
    pub(super) executor_as_text_us: f64,
    /// A prepared statement, with the way there and back.
    pub(super) round_trip_us: f64,
    pub(super) explained: Explained,
}

/// One query's figures.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: &'static str,
    text: String,
    postgres_text: String,
    /// What each side answered.
    pub(super) answers: Vec<(&'static str, Answer)>,
    pub(super) own: Option<OwnFigures>,
    pub(super) http_us: Option<f64>,
    pub(super) postgres: Option<PostgresFigures>,
}

impl Line {
    pub(super) fn new(case: &Case) -> Line {
        Line {
            name: case.name,
            text: case.text.clone(),
            postgres_text: case.postgres.clone(),
            answers: Vec::new(),
            own: None,
            http_us: None,
            postgres: None,
        }
    }

    /// Whether all sides gave the same answer.
    pub(super) fn agrees(&self) -> bool {
        self.answers.windows(2).all(|pair| pair[0].1 == pair[1].1)
    }

    /// Returns how many times longer PostgreSQL's executor takes than the engine.
    fn ratio(&self, postgres_us: fn(&PostgresFigures) -> f64) -> Option<f64> {
        let (own, postgres) = (self.own.as_ref()?, self.postgres.as_ref()?);
        (own.us > 0.0).then(|| postgres_us(postgres) / own.us)
    }

    /// Returns how many times longer PostgreSQL's answer takes than the server's.
    fn round_trip_ratio(&self) -> Option<f64> {
        let (own, postgres) = (self.http_us?, self.postgres.as_ref()?);
        (own > 0.0).then(|| postgres.round_trip_us / own)
    }

    fn cells(&self) -> [String; COLUMNS] {
        let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let (own, postgres) = (self.own.as_ref(), self.postgres.as_ref());
        [
            self.name.to_owned(),
            cell(self.answers.first().map(|(_, answer)| answer.rows.to_string())),
            cell(own.map(|own| own.entries.to_string())),
            cell(own.map(|own| own.items_loaded.to_string())),
            cell(own.map(|own| units(own.hundredths_of_units))),
            cell(own.map(|own| time(own.us))),
            cell(self.http_us.map(time)),
            cell(postgres.map(|postgres| time(postgres.executor_us))),
            cell(postgres.map(|postgres| time(postgres.executor_as_text_us))),
            cell(postgres.map(|postgres| time(postgres.round_trip_us))),
            cell(self.ratio(|postgres| postgres.executor_us).map(|ratio| format!("{ratio:.2}"))),
            cell(self.ratio(|postgres| postgres.executor_as_text_us).map(|ratio| format!("{ratio:.2}"))),
            cell(self.round_trip_ratio().map(|ratio| format!("{ratio:.2}"))),
        ]
    }

    fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("name", self.name);
        object.insert("query", self.text.as_str());
        object.insert("postgresQuery", self.postgres_text.as_str());
        object.insert("agrees", self.agrees());
        let answers = self.answers.iter().map(|(side, answer)| {
            let mut object = Object::new();
            object.insert("side", *side);
            object.insert("rows", answer.rows as i64);
            object.insert("number", answer.number);
            object
        });
        object.insert("answers", answers.collect::<Vec<_>>());
        if let Some(own) = &self.own {
            object.insert("engineUs", own.us);
            object.insert("pages", own.pages as i64);
            object.insert("entries", own.entries as i64);
            object.insert("itemsLoaded", own.items_loaded as i64);
            object.insert("requestUnits", own.hundredths_of_units as f64 / 100.0);
        }
        object.insert("httpUs", self.http_us);
        if let Some(postgres) = &self.postgres {
            object.insert("postgresExecutorUs", postgres.executor_us);
            object.insert("postgresExecutorAsTextUs", postgres.executor_as_text_us);
            object.insert("postgresRoundTripUs", postgres.round_trip_us);
            object.insert("postgresPlanningUs", postgres.explained.planning_us);
            object.insert("postgresPlan", postgres.explained.nodes.join(" <- "));
        }
        object.insert("postgresExecutor/engine", self.ratio(|postgres| postgres.executor_us));
        object.insert("postgresExecutorAsText/engine", self.ratio(|postgres| postgres.executor_as_text_us));
        object.insert("postgresRoundTrip/http", self.round_trip_ratio());
        Value::Object(object)
    }
}

const COLUMNS: usize = 13;

/// The names of the columns.
const HEADINGS: [&str; COLUMNS] = [
    "query",
    "rows",
    "entries",
    "loaded",
    "RU",
    "engine",
    "HTTP",
    "PG exec",
    "PG exec, text",
    "PG trip",
    "exec/engine",
    "text/engine",
    "trip/HTTP",
];

/// What the figures are about.
#[derive(Debug)]
pub(super) struct Table {
    items: usize,
    partitions: u32,
    cache_mb: u32,
    pub(super) loaded_per_second: Option<f64>,
    /// Version and settings, where there is a PostgreSQL.
    pub(super) postgres: Option<String>,
}

impl Table {
    pub(super) fn new(items: usize, setup: &Setup) -> Table {
        Table {
            items,
            partitions: setup.partitions,
            cache_mb: setup.cache_mb,
            loaded_per_second: None,
            postgres: None,
        }
    }

    /// Prints the table.
    pub(super) fn print(&self, lines: &[Line]) {
        println!(
            "{} items, {} physical partition(s), {} MB of cache",
            self.items, self.partitions, self.cache_mb
        );
        if let Some(per_second) = self.loaded_per_second {
            println!("loaded in process with relaxed durability: {per_second:.0} a second");
        }
        println!("{}", self.postgres.as_deref().unwrap_or("without PostgreSQL"));
        let cells: Vec<_> = lines.iter().map(Line::cells).collect();
        println!(
            "times are medians; the engine writes rows out as JSON, PostgreSQL's executor only with ::text"
        );
        println!("{}", layout(&HEADINGS.map(str::to_owned), &cells).trim_end());
        for line in lines.iter().filter(|line| !line.agrees()) {
            println!("{}: the answers differ: {:?}", line.name, line.answers);
        }
    }

    /// Returns everything as JSON.
    pub(super) fn figures(&self, lines: &[Line]) -> Value {
        let mut all = Object::new();
        all.insert("items", self.items as i64);
        all.insert("partitions", i64::from(self.partitions));
        all.insert("cacheMb", i64::from(self.cache_mb));
        all.insert("loadedPerSecond", self.loaded_per_second);
        all.insert("postgres", self.postgres.clone());
        all.insert("queries", lines.iter().map(Line::to_value).collect::<Vec<_>>());
        Value::Object(all)
    }
}

fn units(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;
    use crate::queries::orders::Orders;

    #[test]
    fn units_have_two_decimals() {
        assert_eq!(units(1_203), "12.03");
    }

    #[test]
    fn answers_that_differ_are_seen() {
        let mut line = Line::new(&super::super::cases::cases(Orders { count: 10 })[0]);
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
}
