//! The line on standard output that says that a server is ready, and where.

/// What it begins with.
const START: &str = "armilla ready: ";

/// What a server says when it is ready: words of the form `name=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    line: String,
}

impl Ready {
    /// Takes a line; nothing if it is another one.
    pub(crate) fn of_line(line: &str) -> Option<Ready> {
        let ready = Ready { line: line.trim_end().to_owned() };
        (line.starts_with(START) && ready.value("sql").is_some()).then_some(ready)
    }

    /// Returns the whole line, without its end.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns a value by its name.
    pub fn value(&self, name: &str) -> Option<&str> {
        let words = self.line.split_ascii_whitespace();
        words.into_iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns the port of an API, by its name, such as `sql`.
    pub fn port(&self, api: &str) -> Option<u16> {
        self.value(api)?.trim_end_matches('/').rsplit_once(':')?.1.parse().ok()
    }

    /// Returns how long the server says that its start took, in milliseconds.
    pub fn start_ms(&self) -> Option<u64> {
        self.value("start_ms")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_lines() {
        for (line, expected) in [
            (
                "armilla ready: sql=https://localhost:4321/ data=/tmp/x pid=7 start_ms=12\n",
                Some((Some(4321), None, Some(12))),
            ),
            (
                "armilla ready: sql=https://localhost:1/ data=memory pid=7 start_ms=0 table=https://localhost:2/",
                Some((Some(1), Some(2), Some(0))),
            ),
            ("armilla ready: sql=https://localhost/ data=memory", Some((None, None, None))),
            ("armilla ready: data=memory", None),
            ("hello sql=https://localhost:1/", None),
            ("", None),
        ] {
            let ready = Ready::of_line(line);
            let found = ready.map(|ready| (ready.port("sql"), ready.port("table"), ready.start_ms()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn values_by_their_whole_names() {
        let ready = Ready::of_line("armilla ready: sql=https://localhost:1/ data=/tmp/a=b pid=7").unwrap();
        assert_eq!(ready.value("data"), Some("/tmp/a=b"));
        assert_eq!(ready.value("pid"), Some("7"));
        assert_eq!(ready.value("pi"), None);
    }
}
