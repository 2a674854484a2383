//! What a request asks for: its arguments with their types.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Value};
use base64::Engine;

use crate::error::short;
use crate::{Materialize, Request, WireError};

/// What a request asks for.
#[derive(Debug, Clone)]
pub enum Operation {
    /// To run a script.
    Eval(Eval),
    /// To run a traversal that came as instructions.
    Bytecode(BytecodeRequest),
    /// To log in, as the answer to status 407.
    Authentication(Authentication),
    /// To close a session.
    Close(Close),
}

/// A script with its bindings.
#[derive(Debug, Clone)]
pub struct Eval {
    /// The text of the script.
    pub script: Arc<str>,
    /// Values of names in the script.
    pub bindings: Vec<(Arc<str>, Value)>,
    /// How to run it.
    pub options: RequestOptions,
}

/// A traversal that came as instructions.
#[derive(Debug, Clone)]
pub struct BytecodeRequest {
    /// The traversal.
    pub bytecode: Arc<Bytecode>,
    /// How to run it.
    pub options: RequestOptions,
}

/// How to run a script or a traversal.
#[derive(Debug, Clone, Default)]
pub struct RequestOptions {
    /// Names of graphs, by the names that the request gives them.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// The session, of requests to the processor `session`.
    pub session: Option<Arc<str>>,
    /// How many milliseconds it may take; nothing for the default.
    pub evaluation_timeout: Option<u64>,
    /// How many results a frame has; nothing for the default.
    pub batch_size: Option<usize>,
    /// What the client calls itself.
    pub user_agent: Option<Arc<str>>,
    /// Whether elements are sent with their properties.
    pub materialize: Materialize,
}

impl RequestOptions {
    /// Returns the graph that the request names `g`; `g` itself is the graph of the login.
    pub fn graph(&self) -> &str {
        self.aliases.iter().find(|(name, _)| &**name == "g").map_or("g", |(_, graph)| graph)
    }
}

/// A login.
#[derive(Debug, Clone)]
pub struct Authentication {
    /// The token of SASL, decoded from base64; see [`crate::read_login`].
    pub sasl: Vec<u8>,
}

/// The end of a session.
#[derive(Debug, Clone)]
pub struct Close {
    /// The session, where it was named.
    pub session: Option<Arc<str>>,
}

impl Request {
    /// Understands the request; errors have its id.
    pub fn operation(&self) -> Result<Operation, WireError> {
        self.understand().map_err(|error| error.with_id(Some(self.id)))
    }

    fn understand(&self) -> Result<Operation, WireError> {
        match (&*self.processor, &*self.op) {
            ("" | "traversal" | "session", "authentication") => {
                self.authentication().map(Operation::Authentication)
            }
            ("" | "session", "eval") => self.eval().map(Operation::Eval),
            ("traversal" | "session", "bytecode") => self.bytecode().map(Operation::Bytecode),
            ("session", "close") => Ok(Operation::Close(Close { session: self.session()? })),
            ("" | "traversal" | "session", op) => Err(WireError::malformed(format!(
                "The op '{}' is not one of the processor '{}'; send 'eval' to '', or 'bytecode' to 'traversal'.",
                short(op),
                self.processor
            ))),
            (processor, _) => Err(WireError::malformed(format!(
                "The processor '{}' is not known; use '', 'traversal' or 'session'.",
                short(processor)
            ))),
        }
    }

    fn eval(&self) -> Result<Eval, WireError> {
        let script = match self.given("gremlin") {
            Some(Value::String(script)) => script.clone(),
            Some(Value::Traversal(_)) => {
                return Err(WireError::arguments(
                    "A message with an [eval] op code has a traversal; send it as 'bytecode' to 'traversal'.",
                ));
            }
            _ => {
                return Err(WireError::arguments(
                    "A message with an [eval] op code requires a [gremlin] argument.",
                ));
            }
        };
        if let Some(language) = self.text("language")?
            && !matches!(&*language, "" | "gremlin-groovy" | "gremlin-lang")
        {
            return Err(WireError::arguments(format!(
                "The language '{}' is not supported; use gremlin-groovy or gremlin-lang.",
                short(&language)
            )));
        }
        let mut bindings = Vec::new();
        for (name, value) in self.map("bindings")? {
            match name {
                Value::String(name) => bindings.push((name.clone(), value.clone())),
                _ => return Err(WireError::arguments("The name of a binding is not a string.")),
            }
        }
        Ok(Eval { script, bindings, options: self.options(None)? })
    }

    fn bytecode(&self) -> Result<BytecodeRequest, WireError> {
        let Some(Value::Traversal(bytecode)) = self.given("gremlin") else {
            return Err(WireError::arguments(
                "A message with a [bytecode] op code requires a [gremlin] argument that is bytecode.",
            ));
        };
        let options = self.options(Some(bytecode))?;
        if options.aliases.is_empty() {
            return Err(WireError::arguments(
                "A message with a [bytecode] op code requires the [aliases] argument to name a traversal source.",
            ));
        }
        Ok(BytecodeRequest { bytecode: bytecode.clone(), options })
    }

    fn authentication(&self) -> Result<Authentication, WireError> {
        if let Some(mechanism) = self.text("saslMechanism")?
            && !mechanism.is_empty()
            && !mechanism.eq_ignore_ascii_case("PLAIN")
        {
            return Err(WireError::arguments(format!(
                "The SASL mechanism '{}' is not supported; use PLAIN.",
                short(&mechanism)
            )));
        }
        let sasl = match self.given("sasl").or_else(|| self.given("SASL")) {
            Some(Value::String(text)) => {
                base64::engine::general_purpose::STANDARD.decode(text.as_bytes()).ok()
            }
            Some(Value::Bytes(bytes)) => Some(bytes.to_vec()),
            _ => {
                return Err(WireError::arguments(
                    "A message with an [authentication] op code requires a [sasl] argument.",
                ));
            }
        };
        match sasl {
            Some(sasl) => Ok(Authentication { sasl }),
            None => Err(WireError::arguments("The [sasl] argument is not base64.")),
        }
    }

    fn options(&self, bytecode: Option<&Bytecode>) -> Result<RequestOptions, WireError> {
        let mut aliases = Vec::new();
        for (name, graph) in self.map("aliases")? {
            match (name, graph) {
                (Value::String(name), Value::String(graph)) => aliases.push((name.clone(), graph.clone())),
                _ => {
                    return Err(WireError::arguments(
                        "The [aliases] argument has something else than strings.",
                    ));
                }
            }
        }
        // A traversal may carry options of its own, in a strategy; those of the request go before.
        let option = |name: &str| self.given(name).or_else(|| strategy_option(bytecode?, name));
        let timeout = option("evaluationTimeout").or_else(|| option("scriptEvaluationTimeout"));
        let materialize = match option("materializeProperties").map(text_of) {
            None | Some(Some("all")) => Materialize::All,
            Some(Some("tokens")) => Materialize::Tokens,
            Some(_) => {
                return Err(WireError::arguments(
                    "The [materializeProperties] argument is not 'all' or 'tokens'.",
                ));
            }
        };
        let batch_size = number(option("batchSize"), "batchSize")?;
        if batch_size == Some(0) {
            return Err(WireError::arguments("The [batchSize] argument is not an integer from 1 on."));
        }
        Ok(RequestOptions {
            aliases,
            session: if &*self.processor == "session" { Some(self.required_session()?) } else { None },
            // 0 stands for the default.
            evaluation_timeout: number(timeout, "evaluationTimeout")?.filter(|timeout| *timeout > 0),
            batch_size: batch_size.map(|size| usize::try_from(size).unwrap_or(usize::MAX)),
            user_agent: option("userAgent").and_then(text_of).map(Arc::from),
            materialize,
        })
    }

    fn session(&self) -> Result<Option<Arc<str>>, WireError> {
        match self.given("session") {
            Some(Value::Uuid(id)) => Ok(Some(Arc::from(crate::uuid_text(*id)))),
            _ => self.text("session"),
        }
    }

    fn required_session(&self) -> Result<Arc<str>, WireError> {
        let missing = || {
            WireError::arguments(format!(
                "A message with a [{}] op code requires a [session] argument.",
                self.op
            ))
        };
        self.session()?.ok_or_else(missing)
    }

    /// Returns an argument that is not null.
    fn given(&self, name: &str) -> Option<&Value> {
        self.argument(name).filter(|value| !matches!(value, Value::Null))
    }

    fn text(&self, name: &str) -> Result<Option<Arc<str>>, WireError> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(WireError::arguments(format!("The [{name}] argument is not a string."))),
        }
    }

    fn map(&self, name: &str) -> Result<&[(Value, Value)], WireError> {
        match self.given(name) {
            None => Ok(&[]),
            Some(Value::Map(map)) => Ok(&map.entries),
            Some(_) => Err(WireError::arguments(format!("The [{name}] argument is not a map."))),
        }
    }
}

fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn number(value: Option<&Value>, name: &str) -> Result<Option<u64>, WireError> {
    let number = match value {
        None => return Ok(None),
        Some(Value::Byte(number)) => u64::try_from(*number).ok(),
        Some(Value::Int16(number)) => u64::try_from(*number).ok(),
        Some(Value::Int32(number)) => u64::try_from(*number).ok(),
        Some(Value::Int64(number)) => u64::try_from(*number).ok(),
        Some(Value::BigInteger(number)) => u64::try_from(*number).ok(),
        // A JSON number of JavaScript may come as a double.
        Some(Value::Double(number)) if number.fract() == 0.0 && (0.0..1e15).contains(number) => {
            Some(*number as u64)
        }
        Some(_) => None,
    };
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(WireError::arguments(format!("The [{name}] argument is not an integer from 0 on."))),
    }
}

/// Finds an option in the `OptionsStrategy` of a traversal.
fn strategy_option<'v>(bytecode: &'v Bytecode, name: &str) -> Option<&'v Value> {
    let arguments = bytecode.sources.iter().filter(|source| &*source.name == "withStrategies");
    arguments.flat_map(|source| &source.arguments).rev().find_map(|argument| match argument {
        Value::Strategy { name: strategy, configuration } if &**strategy == "OptionsStrategy" => {
            configuration.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
        }
        _ => None,
    })
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
