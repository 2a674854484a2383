//! A port that may be left closed: a number, or `off`.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// What an option says about a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PortChoice {
    /// It is open; 0 takes a free one.
    Open(u16),
    /// Nothing listens.
    Off,
}

/// The word for a port that is not opened.
const OFF: &str = "off";

/// What an option takes, in words.
const EXPECTED: &str = "a port from 0 to 65535, or off";

impl PortChoice {
    /// Returns the port, if there is one.
    pub(crate) fn port(self) -> Option<u16> {
        match self {
            PortChoice::Open(port) => Some(port),
            PortChoice::Off => None,
        }
    }
}

impl FromStr for PortChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<PortChoice, &'static str> {
        match text {
            OFF => Ok(PortChoice::Off),
            number => number.parse().map(PortChoice::Open).map_err(|_| EXPECTED),
        }
    }
}

impl<'de> Deserialize<'de> for PortChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PortChoice, D::Error> {
        deserializer.deserialize_any(NumberOrWord)
    }
}

/// Takes `8902`, and `"off"` or `"8902"` as the command line does.
struct NumberOrWord;

impl Visitor<'_> for NumberOrWord {
    type Value = PortChoice;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(EXPECTED)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<PortChoice, E> {
        let port = u16::try_from(number);
        port.map(PortChoice::Open).map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PortChoice, E> {
        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct File {
        port: PortChoice,
    }

    #[test]
    fn on_the_command_line_and_in_the_file() {
        for (text, in_file, expected) in [
            ("off", "\"off\"", Some(PortChoice::Off)),
            ("0", "0", Some(PortChoice::Open(0))),
            ("65535", "65535", Some(PortChoice::Open(65_535))),
            ("8902", "\"8902\"", Some(PortChoice::Open(8_902))),
            ("65536", "65536", None),
            ("-1", "-1", None),
            ("Off", "\"on\"", None),
            ("", "false", None),
            ("8902.0", "8902.0", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
            let file = toml::from_str::<File>(&format!("port = {in_file}"));
            assert_eq!(file.ok().map(|file| file.port), expected, "{in_file}");
        }
        assert_eq!((PortChoice::Open(7).port(), PortChoice::Off.port()), (Some(7), None));
    }
}
