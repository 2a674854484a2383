//! A page of a change feed, asked for.

use armilla_crash::requests::Target;
use armilla_env::Random;
use armilla_rest_wire::http_date;

use crate::client::{Client, DATABASE};
use crate::page::Mode;
use crate::reader::{Reader, Start};

/// The form of the answers that tell what happened.
const WIRE_FORMAT: &str = "2021-09-15";

/// A page that a reader asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageRequest {
    /// The index of the reader.
    pub(crate) reader: usize,
    /// The index of the part.
    pub(crate) part: usize,
    /// Most changes.
    pub(crate) items_max: usize,
    /// Whether the reader fails before it has saved where it is, and reads the same again.
    pub(crate) is_forgotten: bool,
    /// Seconds that it waits for changes if there are none.
    pub(crate) wait: Option<u32>,
}

impl PageRequest {
    /// Draws one.
    pub(crate) fn draw(reader: usize, part: usize, random: &mut Random) -> PageRequest {
        let items_max = match random.below(10) {
            0..3 => 1,
            3..8 => 1 + random.index(6),
            _ => 100,
        };
        PageRequest { reader, part, items_max, is_forgotten: random.percent(8), wait: None }
    }

    /// Returns the request.
    pub(crate) fn compose(&self, client: &mut Client, container: &str, reader: &Reader) -> Vec<u8> {
        let part = &reader.parts[self.part];
        let mut headers = part.headers();
        match reader.mode {
            Mode::Latest => headers.push(("a-im", "Incremental Feed".to_owned())),
            Mode::AllVersions => {
                headers.push(("a-im", "Full-Fidelity Feed".to_owned()));
                headers.push(("x-ms-cosmos-changefeed-wire-format-version", WIRE_FORMAT.to_owned()));
            }
        }
        headers.push(("x-ms-max-item-count", self.items_max.to_string()));
        match (&part.token, reader.start) {
            (Some(token), _) => headers.push(("if-none-match", token.clone())),
            (None, Start::Now) => headers.push(("if-none-match", "*".to_owned())),
            (None, _) => {}
        }
        // Clients go on naming the time when they have a position.
        if let Start::Time(seconds) = reader.start {
            headers.push(("if-modified-since", http_date::format_seconds(seconds)));
        }
        if let Some(seconds) = self.wait {
            headers.push(("prefer", format!("wait={seconds}")));
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        client.compose("GET", Target::Items(DATABASE, container), &headers, "")
    }
}
