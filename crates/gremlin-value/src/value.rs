//! A value of Gremlin.

use std::sync::Arc;

use crate::{Bytecode, Edge, Path, Predicate, Property, Token, Tree, Vertex, VertexProperty};

/// A value: what arguments of steps are, what traversers carry, what answers contain.
#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Bool(bool),
    Byte(i8),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    /// An integer beyond 64 bits.
    BigInteger(i128),
    Float(f32),
    Double(f64),
    /// A decimal number as its text.
    BigDecimal(Arc<str>),
    Char(char),
    String(Arc<str>),
    /// Its 128 bits, the first byte highest.
    Uuid(u128),
    /// Milliseconds since the epoch, and the offset in seconds it was written with.
    Date {
        milliseconds: i64,
        offset_seconds: i32,
    },
    /// Nanoseconds.
    Duration(i128),
    Bytes(Arc<[u8]>),
    List(Arc<Vec<Value>>),
    Set(Arc<Vec<Value>>),
    /// Values with how often each occurs.
    BulkSet(Arc<Vec<(Value, u64)>>),
    Map(Arc<Map>),
    /// An entry of a map, as `unfold()` yields it.
    Entry(Arc<(Value, Value)>),
    Vertex(Arc<Vertex>),
    Edge(Arc<Edge>),
    VertexProperty(Arc<VertexProperty>),
    Property(Arc<Property>),
    Path(Arc<Path>),
    Tree(Arc<Tree>),
    Token(Token),
    Predicate(Arc<Predicate>),
    /// A traversal as an argument.
    Traversal(Arc<Bytecode>),
    /// A strategy of `withStrategies`: its name and configuration. Without configuration also a class,
    /// as `withoutStrategies` names it.
    Strategy {
        name: Arc<str>,
        configuration: Arc<Vec<(Arc<str>, Value)>>,
    },
    /// The metrics of `profile()`.
    Metrics(Arc<Map>),
}

/// A map in the order its entries came.
#[derive(Debug, Clone, Default)]
pub struct Map {
    pub entries: Vec<(Value, Value)>,
}
