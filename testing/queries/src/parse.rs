//! The text of a file of the corpus.
//!
//! ```text
//! container NAME pk=/path[,/path] [ranges=N] [policy={...}] [computed=[...]] [udfs={...}]
//! items, one a line
//! ----
//!
//! query [unordered] [key=[...]] [params={...}] [tolerance=X]
//! statement, on any number of lines
//! ----
//! rows, one a line; an empty line ends them
//!
//! explain [key=[...]] [params={...}]
//! statement
//! ----
//! plan; an empty line ends it
//!
//! error [key=[...]] [params={...}]
//! statement
//! ----
//! STATUS CODE [START..END]       `-` for no code, `*` for any or none
//! a part of the message, or nothing
//! ```
//!
//! Lines that begin with `#` between directives are comments.

use std::fmt;
use std::path::{Path, PathBuf};

use armilla_value::{Value, json};

use crate::json_text::value_length;
use crate::script::{
    Case, Comparison, ContainerStep, Expected, ExpectedCode, ExpectedError, ExpectedRows, RANGES_DEFAULT,
    RANGES_MAX, Script, Step,
};

/// The line that separates what is asked from what must come.
const SEPARATOR: &str = "----";

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, where it is known.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path.display(), self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a file of the corpus.
pub fn parse(path: &Path, text: &str) -> Result<Script, ParseError> {
    let mut reader = Reader { lines: text.lines().collect(), position: 0 };
    reader.script(path).map_err(|fault| ParseError {
        path: path.to_owned(),
        line: fault.line + 1,
        column: fault.column + 1,
        message: fault.message,
    })
}

/// What is wrong, with line and column from 0.
struct Fault {
    line: usize,
    column: usize,
    message: String,
}

type Parsed<T> = Result<T, Fault>;

struct Reader<'a> {
    lines: Vec<&'a str>,
    position: usize,
}

impl<'a> Reader<'a> {
    fn script(&mut self, path: &Path) -> Parsed<Script> {
        let mut steps = Vec::new();
        while let Some(&line) = self.lines.get(self.position) {
            if line.trim().is_empty() || line.starts_with('#') {
                self.position += 1;
                continue;
            }
            let number = self.position;
            self.position += 1;
            let mut words = Words { line, number, position: 0 };
            steps.push(match words.word()? {
                Some("container") => Step::Container(self.container(words)?),
                Some("query") => Step::Case(self.query(words)?),
                Some("explain") => Step::Case(self.explain(words)?),
                Some("error") => Step::Case(self.error(words)?),
                _ => return Err(words.fault_at(0, "expected container, query, explain or error")),
            });
        }
        Ok(Script { path: path.to_owned(), steps })
    }

    fn container(&mut self, mut words: Words<'a>) -> Parsed<ContainerStep> {
        let line = words.number + 1;
        let Some(name) = words.word()? else { return Err(words.fault("a container has a name")) };
        let mut step = ContainerStep { line, name: name.to_owned(), ..ContainerStep::nameless() };
        step.key_paths.clear();
        while let Some(option) = words.option()? {
            match option.name {
                "pk" => step.key_paths = option.text()?.split(',').map(str::to_owned).collect(),
                "ranges" => step.range_count = option.number(RANGES_DEFAULT..=RANGES_MAX)?,
                "policy" => step.policy = Some(option.json()?),
                "computed" => step.computed = Some(option.json()?),
                "udfs" => step.functions = Some(option.json()?),
                _ => return Err(option.unknown()),
            }
        }
        if step.key_paths.iter().all(|path| !path.starts_with('/')) {
            return Err(words.fault("a container has a partition key: pk=/path"));
        }
        for (number, line) in self.block()? {
            let item = read_json(line, number, 0)?;
            if item.as_object().is_none() {
                return Err(Fault { line: number, column: 0, message: "an item is an object".to_owned() });
            }
            step.items.push((number + 1, item));
        }
        Ok(step)
    }

    fn query(&mut self, mut words: Words<'a>) -> Parsed<Case> {
        let line = words.number + 1;
        let (mut common, mut comparison) = (Common::default(), Comparison::default());
        while let Some(option) = words.option()? {
            match (option.name, option.value) {
                ("unordered", None) => comparison.unordered = true,
                ("tolerance", Some(_)) => comparison.tolerance = option.fraction()?,
                _ => common.read(&option)?,
            }
        }
        let text = self.statement()?;
        let (first, lines) = self.expectation();
        let rows = lines.iter().enumerate().map(|(index, row)| read_json(row, first + index, 0));
        let rows = rows.collect::<Parsed<_>>()?;
        let expected = Expected::Rows(ExpectedRows { rows, comparison });
        Ok(common.case(line, text, expected, first..first + lines.len()))
    }

    fn explain(&mut self, mut words: Words<'a>) -> Parsed<Case> {
        let line = words.number + 1;
        let mut common = Common::default();
        while let Some(option) = words.option()? {
            common.read(&option)?;
        }
        let text = self.statement()?;
        let (first, lines) = self.expectation();
        Ok(common.case(line, text, Expected::Plan(lines.join("\n")), first..first + lines.len()))
    }

    fn error(&mut self, mut words: Words<'a>) -> Parsed<Case> {
        let line = words.number + 1;
        let mut common = Common::default();
        while let Some(option) = words.option()? {
            common.read(&option)?;
        }
        let text = self.statement()?;
        let (first, lines) = self.expectation();
        let error = match lines.as_slice() {
            [head] => expected_error(head, None),
            [head, message] => expected_error(head, Some(message)),
            _ => None,
        };
        let error = error.ok_or_else(|| Fault {
            line: first,
            column: 0,
            message: "expected STATUS CODE [START..END], then at most a part of the message".to_owned(),
        })?;
        Ok(common.case(line, text, Expected::Error(error), first..first + lines.len()))
    }

    /// Takes the lines up to the separator, without empty ones.
    fn block(&mut self) -> Parsed<Vec<(usize, &'a str)>> {
        let start = self.position;
        let end = self.separator()?;
        let lines = self.lines[start..end].iter().enumerate();
        Ok(lines.map(|(index, line)| (start + index, *line)).filter(|(_, line)| !line.is_empty()).collect())
    }

    /// Takes the lines up to the separator as one text.
    fn statement(&mut self) -> Parsed<String> {
        let start = self.position;
        let end = self.separator()?;
        if start == end {
            return Err(Fault { line: start, column: 0, message: "a case has a statement".to_owned() });
        }
        Ok(self.lines[start..end].join("\n"))
    }

    fn separator(&mut self) -> Parsed<usize> {
        let start = self.position;
        let length = self.lines[start..].iter().position(|line| *line == SEPARATOR);
        let Some(length) = length else {
            return Err(Fault { line: start, column: 0, message: format!("no {SEPARATOR} follows") });
        };
        self.position = start + length + 1;
        Ok(start + length)
    }

    /// Takes the lines up to an empty one.
    fn expectation(&mut self) -> (usize, Vec<&'a str>) {
        let start = self.position;
        let lines: Vec<_> = self.lines[start..].iter().copied().take_while(|line| !line.is_empty()).collect();
        self.position += lines.len();
        (start, lines)
    }
}

fn expected_error(head: &str, message: Option<&&str>) -> Option<ExpectedError> {
    let mut words = head.split(' ');
    let status = words.next()?.parse().ok()?;
    let code = match words.next()? {
        "*" => ExpectedCode::Any,
        "-" => ExpectedCode::None,
        code => ExpectedCode::Is(code.to_owned()),
    };
    let place = match words.next() {
        Some(range) => {
            let (start, end) = range.split_once("..")?;
            Some((start.parse().ok()?, end.parse().ok()?))
        }
        None => None,
    };
    let message = message.map(|message| (*message).to_owned());
    words.next().is_none().then_some(ExpectedError { status, code, place, message })
}

/// What every kind of case may say.
#[derive(Default)]
struct Common {
    parameters: Vec<(String, Value)>,
    key: Option<String>,
}

impl Common {
    fn read(&mut self, option: &Named<'_>) -> Parsed<()> {
        match option.name {
            "params" => {
                let Value::Object(object) = option.json()? else {
                    return Err(option.fault("parameters are an object"));
                };
                self.parameters = object.into_iter().collect();
            }
            "key" => {
                option.json()?;
                self.key = Some(option.text()?.to_owned());
            }
            _ => return Err(option.unknown()),
        }
        Ok(())
    }

    fn case(
        self,
        line: usize,
        text: String,
        expected: Expected,
        expected_lines: std::ops::Range<usize>,
    ) -> Case {
        Case { line, text, parameters: self.parameters, key: self.key, expected, expected_lines }
    }
}

/// The words of a directive.
struct Words<'a> {
    line: &'a str,
    number: usize,
    position: usize,
}

/// An option of a directive: a name, or a name and a value.
struct Named<'a> {
    name: &'a str,
    value: Option<&'a str>,
    line: usize,
    column: usize,
}

impl<'a> Words<'a> {
    fn skip_spaces(&mut self) -> &'a str {
        let rest = &self.line[self.position..];
        self.position += rest.len() - rest.trim_start().len();
        &self.line[self.position..]
    }

    fn word(&mut self) -> Parsed<Option<&'a str>> {
        let rest = self.skip_spaces();
        let word = rest.split(' ').next().unwrap_or_default();
        self.position += word.len();
        Ok((!word.is_empty()).then_some(word))
    }

    fn option(&mut self) -> Parsed<Option<Named<'a>>> {
        let rest = self.skip_spaces();
        if rest.is_empty() {
            return Ok(None);
        }
        let column = self.position;
        let name_length = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(name_length);
        self.position += name_length;
        let value = match after.strip_prefix('=') {
            Some(value) => {
                let length =
                    value_length(value).ok_or_else(|| self.fault_at(column, "the value does not end"))?;
                self.position += 1 + length;
                Some(&value[..length])
            }
            None => None,
        };
        Ok(Some(Named { name, value, line: self.number, column }))
    }

    fn fault(&self, message: &str) -> Fault {
        self.fault_at(self.position, message)
    }

    fn fault_at(&self, column: usize, message: &str) -> Fault {
        Fault { line: self.number, column, message: message.to_owned() }
    }
}

impl<'a> Named<'a> {
    fn text(&self) -> Parsed<&'a str> {
        self.value.ok_or_else(|| self.fault(&format!("{} has a value", self.name)))
    }

    fn json(&self) -> Parsed<Value> {
        read_json(self.text()?, self.line, self.column + self.name.len() + 1)
    }

    fn number(&self, range: std::ops::RangeInclusive<usize>) -> Parsed<usize> {
        let number = self.text()?.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            self.fault(&format!("{} is a number from {} to {}", self.name, range.start(), range.end()))
        })
    }

    fn fraction(&self) -> Parsed<f64> {
        let number = self.text()?.parse().ok().filter(|number: &f64| (0.0..1.0).contains(number));
        number.ok_or_else(|| self.fault(&format!("{} is a number from 0 to 1", self.name)))
    }

    fn unknown(&self) -> Fault {
        self.fault(&format!("unknown option {}", self.name))
    }

    fn fault(&self, message: &str) -> Fault {
        Fault { line: self.line, column: self.column, message: message.to_owned() }
    }
}

fn read_json(text: &str, line: usize, column: usize) -> Parsed<Value> {
    json::parse(text.as_bytes()).map_err(|error| Fault { line, column, message: format!("no JSON: {error}") })
}

#[cfg(test)]
mod tests;
