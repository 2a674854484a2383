//! Reading expressions into trees: names are resolved, constants folded, the number of arguments is checked.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use armilla_value::{Object, Value, json};

use crate::error::{Error, Result, codes};
use crate::functions::{self, Definition};
use crate::limits::DEPTH_MAX;
use crate::measure::memory_bytes;
use crate::path::{Path, check_name};
use crate::tree::{Budget, Frame, Node, System};
use crate::{Environment, Scope, type_name};

/// Larger constants are made anew at each evaluation rather than kept.
const FOLDED_BYTES_MAX: usize = 1 << 20;

/// Reads expressions in a scope.
pub(crate) struct Parser<'a> {
    scope: &'a Scope,
    /// The variables of `$let` and the like around, from outside to inside.
    locals: Vec<Vec<String>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Begins in a scope.
    pub(crate) fn new(scope: &'a Scope) -> Parser<'a> {
        Parser { scope, locals: Vec::new(), depth: 0 }
    }

    /// Reads any expression.
    pub(crate) fn operand(&mut self, value: &Value) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "expression is nested too deeply"));
        }
        let node = match value {
            Value::String(text) if text.starts_with('$') => self.reference(text),
            Value::Object(object) => self.object(object),
            Value::Array(elements) => self.elements(elements).map(|nodes| fold(Node::Array(nodes.into()))),
            constant => Ok(Node::Constant(constant.clone())),
        };
        self.depth -= 1;
        node
    }

    /// Reads each element.
    pub(crate) fn elements(&mut self, elements: &[Value]) -> Result<Vec<Node>> {
        elements.iter().map(|element| self.operand(element)).collect()
    }

    /// Reads an object: an operator, or the members of an object to be made.
    fn object(&mut self, object: &Object) -> Result<Node> {
        if let Some((name, argument)) = object.iter().next()
            && name.starts_with('$')
        {
            if object.len() != 1 {
                return Err(Error::new(
                    15983,
                    format!(
                        "An object representing an expression must have exactly one field: {}",
                        json::to_string(&Value::Object(object.clone()))
                    ),
                ));
            }
            return self.operator(name, argument);
        }
        let mut members = Vec::with_capacity(object.len());
        for (name, value) in object.iter() {
            check_name(name)?;
            if name.contains('.') {
                return Err(Error::new(
                    16412,
                    "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
                ));
            }
            members.push((name.to_owned(), self.operand(value)?));
        }
        Ok(fold(Node::Object(members.into())))
    }

    /// Reads an operator with its arguments.
    pub(crate) fn operator(&mut self, name: &str, argument: &Value) -> Result<Node> {
        let Some(definition) = functions::definition(name) else {
            return Err(Error::new(
                codes::INVALID_PIPELINE_OPERATOR,
                format!("Unrecognized expression '{name}'"),
            ));
        };
        let node = match definition {
            Definition::Unary(function) => {
                let [node] = self.exactly(name, argument)?;
                Node::Unary(function, Box::new(node))
            }
            Definition::Binary(function) => Node::Binary(function, Box::new(self.exactly(name, argument)?)),
            Definition::Many(count, function) => {
                Node::Many(function, self.counted(name, argument, count)?.into())
            }
            Definition::Lazy(count, function) => {
                Node::Lazy(function, self.counted(name, argument, count)?.into_iter().map(Some).collect())
            }
            Definition::Named(named, function) => Node::Lazy(function, self.named(name, argument, &named)?),
            Definition::Special(read) => return read(self, name, argument).map(fold),
        };
        Ok(fold(node))
    }

    fn list(&mut self, argument: &Value) -> Result<Vec<Node>> {
        match argument {
            Value::Array(elements) => self.elements(elements),
            single => Ok(vec![self.operand(single)?]),
        }
    }

    fn exactly<const COUNT: usize>(&mut self, name: &str, argument: &Value) -> Result<[Node; COUNT]> {
        let nodes = self.list(argument)?;
        <[Node; COUNT]>::try_from(nodes).map_err(|nodes| wrong_count(name, COUNT, nodes.len()))
    }

    fn counted(&mut self, name: &str, argument: &Value, (least, most): (usize, usize)) -> Result<Vec<Node>> {
        let nodes = self.list(argument)?;
        if (least..=most).contains(&nodes.len()) {
            return Ok(nodes);
        }
        if least == most {
            return Err(wrong_count(name, least, nodes.len()));
        }
        Err(Error::new(
            28667,
            format!(
                "Expression {name} takes at least {least} arguments, and at most {most}, but {} were passed in.",
                nodes.len()
            ),
        ))
    }

    /// Reads arguments with names into their places.
    pub(crate) fn named(
        &mut self,
        name: &str,
        argument: &Value,
        named: &Named,
    ) -> Result<Box<[Option<Node>]>> {
        let Value::Object(object) = argument else {
            return Err(Error::new(
                named.not_object,
                format!("{name} only supports an object as its argument, found: {}", type_name(argument)),
            ));
        };
        let mut nodes: Vec<Option<Node>> = vec![None; named.names.len()];
        for (own, value) in object.iter() {
            let Some(place) = named.names.iter().position(|known| *known == own) else {
                return Err(Error::new(named.unknown, format!("Unrecognized argument to {name}: {own}")));
            };
            nodes[place] = Some(self.operand(value)?);
        }
        for (place, code) in named.required {
            if nodes.get(*place).is_none_or(Option::is_none) {
                let missing = named.names.get(*place).copied().unwrap_or_default();
                return Err(Error::new(*code, format!("Missing '{missing}' parameter to {name}")));
            }
        }
        Ok(nodes.into())
    }

    /// Reads an expression inside of which more variables are known.
    pub(crate) fn within(&mut self, names: Vec<String>, body: &Value) -> Result<Node> {
        self.locals.push(names);
        let node = self.operand(body);
        self.locals.pop();
        node
    }

    /// Reads a field path or a variable.
    fn reference(&mut self, text: &str) -> Result<Node> {
        let Some(variable) = text.strip_prefix("$$") else {
            let path = &text[1..];
            if path.is_empty() {
                return Err(Error::new(16872, "'$' by itself is not a valid FieldPath"));
            }
            let path = Some(Path::parse(path)?);
            return Ok(match self.local("CURRENT") {
                Some((up, index)) => Node::Local { up, index, path },
                None => Node::Current(path),
            });
        };
        let (name, path) = match variable.split_once('.') {
            Some((name, path)) => (name, Some(Path::parse(path)?)),
            None => (variable, None),
        };
        if let Some((up, index)) = self.local(name) {
            return Ok(Node::Local { up, index, path });
        }
        let constant = match name {
            "ROOT" => return Ok(Node::Root(path)),
            "CURRENT" => return Ok(Node::Current(path)),
            "REMOVE" => return Ok(Node::Missing),
            "NOW" => return Ok(Node::System { variable: System::Now, path }),
            "CLUSTER_TIME" => return Ok(Node::System { variable: System::ClusterTime, path }),
            "USER_ROLES" => return Ok(Node::System { variable: System::UserRoles, path }),
            // There is no search whose metadata it could hold.
            "SEARCH_META" => return Ok(Node::Missing),
            "DESCEND" => crate::REDACT_DESCEND,
            "PRUNE" => crate::REDACT_PRUNE,
            "KEEP" => crate::REDACT_KEEP,
            _ => {
                if self.scope.variables.iter().any(|known| known == name) {
                    return Ok(Node::Variable { name: name.into(), path });
                }
                check_variable_use(name)?;
                return Err(Error::new(17276, format!("Use of undefined variable: {name}")));
            }
        };
        Ok(if path.is_some() { Node::Missing } else { Node::Constant(constant.into()) })
    }

    fn local(&self, name: &str) -> Option<(usize, usize)> {
        self.locals.iter().rev().enumerate().find_map(|(up, names)| {
            let index = names.iter().position(|known| known == name)?;
            Some((up, index))
        })
    }

    /// Reads the operand that may say what depends on the draw.
    pub(crate) fn random() -> Node {
        Node::Random(Arc::new(AtomicU64::new(0)))
    }
}

/// The arguments with names of a function: names by place, codes of what may be wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    pub(crate) names: &'static [&'static str],
    /// Which must be there, and the code if not.
    pub(crate) required: &'static [(usize, i32)],
    pub(crate) not_object: i32,
    pub(crate) unknown: i32,
}

fn wrong_count(name: &str, expected: usize, found: usize) -> Error {
    Error::new(
        16020,
        format!("Expression {name} takes exactly {expected} arguments. {found} were passed in."),
    )
}

/// Checks the name of a variable that a user defines.
pub(crate) fn check_variable_name(name: &str) -> Result<()> {
    if name == "CURRENT" {
        return Ok(());
    }
    let Some(first) = name.chars().next() else {
        return Err(Error::new(16866, "empty variable names are not allowed"));
    };
    if first.is_ascii() && !first.is_ascii_lowercase() {
        return Err(Error::new(
            16867,
            format!("'{name}' starts with an invalid character for a user variable name"),
        ));
    }
    check_rest(name)
}

fn check_variable_use(name: &str) -> Result<()> {
    let Some(first) = name.chars().next() else {
        return Err(Error::new(16869, "empty variable names are not allowed"));
    };
    if first.is_ascii() && !first.is_ascii_alphabetic() {
        return Err(Error::new(
            16870,
            format!("'{name}' starts with an invalid character for a variable name"),
        ));
    }
    check_rest(name)
}

fn check_rest(name: &str) -> Result<()> {
    match name.chars().find(|&letter| letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_') {
        Some(letter) => Err(Error::new(
            16868,
            format!("'{name}' contains an invalid character for a variable name: '{letter}'"),
        )),
        None => Ok(()),
    }
}

/// Evaluates a node whose parts are all constant. What fails is left to fail where it is evaluated.
fn fold(node: Node) -> Node {
    let is_constant = |node: &Node| matches!(node, Node::Constant(_));
    let foldable = match &node {
        Node::Unary(_, argument) => is_constant(argument),
        Node::Binary(_, arguments) => arguments.iter().all(is_constant),
        Node::Many(_, arguments) | Node::Array(arguments) => arguments.iter().all(is_constant),
        Node::Object(members) => members.iter().all(|(_, node)| is_constant(node)),
        Node::Lazy(_, arguments) => arguments.iter().flatten().all(is_constant),
        _ => false,
    };
    if !foldable {
        return node;
    }
    let (document, environment, budget) = (Object::new(), Environment::default(), Budget::default());
    let frame = Frame {
        root: &document,
        current: &document,
        environment: &environment,
        extra: &[],
        locals: None,
        budget: &budget,
    };
    let folded = match node.evaluate(&frame) {
        Ok(None) => Node::Missing,
        Ok(Some(value)) if memory_bytes(&value) <= FOLDED_BYTES_MAX => Node::Constant(value.into_owned()),
        _ => return node,
    };
    drop(node);
    folded
}
