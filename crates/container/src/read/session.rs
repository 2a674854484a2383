//! Session tokens: how far a client has seen each physical partition.

use std::fmt;

use crate::error::{Error, Position, Result};

/// The text between the version and the commit number says "no vector of regions follows".
const VERSION: i64 = -1;

/// Most ranges in one token: as many as a container can have, with the parents of its splits.
const RANGES_MAX: usize = 4_096;

/// How far a client has seen some physical partitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionToken {
    positions: Vec<Position>,
}

impl SessionToken {
    /// Reads a token: `{range}:{version}#{lsn}` with optional regions behind, or `{range}:{lsn}`, joined by commas.
    pub fn parse(text: &str) -> Result<SessionToken> {
        let invalid = |part: &str| Error::invalid(format!("the session token '{part}' is not valid"));
        let mut positions = Vec::new();
        for part in text.split(',').map(str::trim) {
            if positions.len() == RANGES_MAX {
                return Err(Error::invalid(format!("the session token names more than {RANGES_MAX} ranges")));
            }
            let (range, progress) = part.split_once(':').ok_or_else(|| invalid(part))?;
            let range_id = range.parse().map_err(|_| invalid(part))?;
            let mut fields = progress.split('#');
            let first: i64 =
                fields.next().and_then(|field| field.parse().ok()).ok_or_else(|| invalid(part))?;
            let lsn = match fields.next() {
                Some(field) => field.parse().map_err(|_| invalid(part))?,
                None => u64::try_from(first).map_err(|_| invalid(part))?,
            };
            for region in fields {
                let known = region
                    .split_once('=')
                    .is_some_and(|(region, lsn)| region.parse::<u64>().is_ok() && lsn.parse::<i64>().is_ok());
                if !known {
                    return Err(invalid(part));
                }
            }
            positions.push(Position { range_id, lsn });
        }
        Ok(SessionToken { positions })
    }

    /// Returns the commit that the client has seen of a partition or of any partition it came from.
    pub fn lsn(&self, range_id: u32, parents: &[u32]) -> u64 {
        self.positions
            .iter()
            .filter(|position| position.range_id == range_id || parents.contains(&position.range_id))
            .map(|position| position.lsn)
            .max()
            .unwrap_or(0)
    }
}

impl From<Position> for SessionToken {
    fn from(position: Position) -> SessionToken {
        SessionToken { positions: vec![position] }
    }
}

impl FromIterator<Position> for SessionToken {
    fn from_iter<I: IntoIterator<Item = Position>>(positions: I) -> SessionToken {
        SessionToken { positions: positions.into_iter().collect() }
    }
}

impl fmt::Display for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Position { range_id, lsn }) in self.positions.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{range_id}:{VERSION}#{lsn}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (text, range_id, lsn) in [
            ("0:-1#42", 0, 42),
            ("3:42", 3, 42),
            ("1:7#42#3=41#5=40", 1, 42),
            ("0:-1#5,1:-1#9", 1, 9),
            (" 0:-1#5 , 1:-1#9", 0, 5),
            ("0:-1#5", 7, 0),
        ] {
            assert_eq!(SessionToken::parse(text).unwrap().lsn(range_id, &[]), lsn, "{text}");
        }
        for text in [
            "",
            ",",
            "0:-1#1,,",
            "x",
            "0",
            "0:",
            "0:x",
            "0:-1#",
            "0:-1#x",
            "0:-1",
            "-1:0#1",
            "0:1#2#x",
            "0:1#2#3=x",
        ] {
            assert!(SessionToken::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parents_count() {
        let token = SessionToken::parse("0:-1#42,2:-1#7").unwrap();
        assert_eq!(token.lsn(2, &[0]), 42);
        assert_eq!(token.lsn(1, &[0]), 42);
        assert_eq!(token.lsn(1, &[]), 0);
    }

    #[test]
    fn text_comes_back() {
        let token = SessionToken::parse("0:-1#42,1:-1#7").unwrap();
        assert_eq!(token.to_string(), "0:-1#42,1:-1#7");
        assert_eq!(SessionToken::parse(&token.to_string()).unwrap(), token);
    }

    #[test]
    fn number_of_ranges_is_bounded() {
        let text = |count: usize| vec!["0:-1#1"; count].join(",");
        assert!(SessionToken::parse(&text(RANGES_MAX)).is_ok());
        assert!(SessionToken::parse(&text(RANGES_MAX + 1)).is_err());
    }
}
