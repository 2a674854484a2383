//! Regular expressions: `$regexMatch`, `$regexFind`, `$regexFindAll`.

use armilla_value::{Object, Value};

use super::{give, is_nullish, kind, null};
use crate::arithmetic::narrow;
use crate::error::{Error, Result};
use crate::parse::Parser;
use crate::regex::{Found, Regex, compile};
use crate::tree::{Frame, Node, Output};
use crate::type_name;

/// A call of one of the three.
#[derive(Debug, Clone)]
pub(crate) struct RegexCall {
    name: Which,
    input: Node,
    pattern: Node,
    options: Option<Node>,
    /// The expression, where it does not depend on the document.
    compiled: Option<Regex>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Match,
    Find,
    FindAll,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Match => "$regexMatch",
            Which::Find => "$regexFind",
            Which::FindAll => "$regexFindAll",
        }
    }
}

/// Reads a call.
pub(crate) fn read(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let which = match name {
        "$regexMatch" => Which::Match,
        "$regexFind" => Which::Find,
        _ => Which::FindAll,
    };
    let Value::Object(object) = argument else {
        return Err(Error::new(
            51103,
            format!("{name} expects an object of named arguments but found: {}", type_name(argument)),
        ));
    };
    if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "input" | "regex" | "options")) {
        return Err(Error::new(31024, format!("{name} found an unknown argument: {own}")));
    }
    let input =
        object.get("input").ok_or_else(|| Error::new(31022, format!("{name} requires 'input' parameter")))?;
    let pattern =
        object.get("regex").ok_or_else(|| Error::new(31023, format!("{name} requires 'regex' parameter")))?;
    let (input, pattern) = (parser.operand(input)?, parser.operand(pattern)?);
    let options = object.get("options").map(|options| parser.operand(options)).transpose()?;
    let constant = |node: &Node| match node {
        Node::Constant(value) => Some(value.clone()),
        _ => None,
    };
    let compiled = match (constant(&pattern), &options) {
        (Some(pattern), None) => compiled(which, Some(&pattern), None)?,
        (Some(pattern), Some(options)) => match constant(options) {
            Some(options) => self::compiled(which, Some(&pattern), Some(&options))?,
            None => None,
        },
        (None, _) => None,
    };
    Ok(Node::Regex(Box::new(RegexCall { name: which, input, pattern, options, compiled })))
}

/// Compiles what is given; nothing where it is null.
fn compiled(which: Which, pattern: Option<&Value>, options: Option<&Value>) -> Result<Option<Regex>> {
    let name = which.name();
    let options = match options {
        None | Some(Value::Null) => None,
        Some(Value::String(options)) => Some(options.as_str()),
        Some(_) => return Err(Error::new(51106, format!("{name} needs 'options' to be of type string"))),
    };
    let (pattern, own_options) = match pattern {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(pattern)) => (pattern.as_str(), ""),
        Some(Value::Regex { pattern, options }) => (&**pattern, &**options),
        Some(_) => {
            return Err(Error::new(51105, format!("{name} needs 'regex' to be of type string or regex")));
        }
    };
    if options.is_some() && !own_options.is_empty() {
        return Err(Error::new(
            51107,
            format!("{name}: found regex option(s) specified in both 'regex' and 'option' fields"),
        ));
    }
    let options = options.unwrap_or(own_options);
    if pattern.contains('\0') || options.contains('\0') {
        return Err(Error::new(
            51109,
            format!("{name}: regular expression cannot contain an embedded null byte"),
        ));
    }
    compile(pattern, options).map(Some).map_err(|error| {
        let code = if error.code == 51108 { 51108 } else { 51111 };
        Error::new(code, format!("Invalid Regex in {name}: {}", error.message))
    })
}

impl RegexCall {
    /// Evaluates the call.
    pub(crate) fn evaluate<'a>(&'a self, frame: &Frame<'a, '_>) -> Output<'a> {
        let name = self.name.name();
        let input = self.input.evaluate(frame)?;
        let regex = match &self.compiled {
            Some(regex) => Some(regex.clone()),
            None => {
                let pattern = self.pattern.evaluate(frame)?;
                let options = match &self.options {
                    Some(options) => options.evaluate(frame)?,
                    None => None,
                };
                compiled(self.name, pattern.as_deref(), options.as_deref())?
            }
        };
        let text = match input.as_deref() {
            Some(Value::String(text)) => text,
            _ if is_nullish(&input) => return self.nothing(),
            _ => {
                return Err(Error::new(
                    51104,
                    format!("{name} needs 'input' to be of type string, found: {}", kind(&input)),
                ));
            }
        };
        let Some(regex) = regex else { return self.nothing() };
        match self.name {
            Which::Match => give(regex.is_match(text).map_err(|error| named(name, error))?),
            Which::Find => match regex.find_at(text, 0).map_err(|error| named(name, error))? {
                Some(found) => {
                    let mut places = Places { text, byte: 0, count: 0 };
                    give(places.described(&found))
                }
                None => null(),
            },
            Which::FindAll => self.all(&regex, text, frame),
        }
    }

    fn nothing<'a>(&self) -> Output<'a> {
        match self.name {
            Which::Match => give(false),
            Which::Find => null(),
            Which::FindAll => give(Value::Array(Vec::new())),
        }
    }

    fn all<'a>(&self, regex: &Regex, text: &str, frame: &Frame<'_, '_>) -> Output<'a> {
        let mut places = Places { text, byte: 0, count: 0 };
        let (mut found_all, mut start) = (Vec::new(), 0);
        while start <= text.len() {
            let Some(found) = regex.find_at(text, start).map_err(|error| named(self.name.name(), error))?
            else {
                break;
            };
            // An empty match would be found again and again.
            start = if found.range.is_empty() {
                found.range.end + text[found.range.end..].chars().next().map_or(1, char::len_utf8)
            } else {
                found.range.end
            };
            let described = Value::Object(places.described(&found));
            frame.budget.charge(crate::measure::memory_bytes(&described))?;
            found_all.push(described);
        }
        give(Value::Array(found_all))
    }
}

fn named(name: &str, error: Error) -> Error {
    Error::new(error.code, format!("{name}: {}", error.message))
}

/// Counts characters up to bytes that only go forward.
struct Places<'a> {
    text: &'a str,
    byte: usize,
    count: usize,
}

impl Places<'_> {
    fn described(&mut self, found: &Found) -> Object {
        self.count += self.text[self.byte..found.range.start].chars().count();
        self.byte = found.range.start;
        let groups: Vec<Value> = found
            .groups
            .iter()
            .map(|group| group.clone().map_or(Value::Null, |range| Value::from(&self.text[range])))
            .collect();
        Object::from([
            ("match", Value::from(&self.text[found.range.clone()])),
            ("idx", narrow(self.count as i64)),
            ("captures", Value::Array(groups)),
        ])
    }
}
