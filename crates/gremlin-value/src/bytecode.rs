//! Traversals as instructions: what scripts are parsed to and what drivers send.

use std::sync::Arc;

use crate::Value;

/// A traversal as a list of instructions, not yet compiled.
#[derive(Debug, Clone, Default)]
pub struct Bytecode {
    /// Instructions of the source, such as `withSideEffect`.
    pub sources: Vec<Instruction>,
    /// Steps, such as `V` and `out`; a terminal such as `toList` of a script is the last of them.
    pub steps: Vec<Instruction>,
}

/// A step as it was written: its name and arguments.
#[derive(Debug, Clone)]
pub struct Instruction {
    pub name: Arc<str>,
    pub arguments: Vec<Value>,
    /// Where the script has it; none in what came as bytecode.
    pub position: Option<Position>,
}

/// A place in a script: both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}
