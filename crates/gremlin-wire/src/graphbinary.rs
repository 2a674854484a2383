//! GraphBinary 1.0: codes of types, reading and writing.

mod cursor;
mod decimal;
mod read;
mod read_elements;
mod write;
mod write_elements;

pub(crate) use cursor::Cursor;
pub(crate) use read::{bare_map, value};
pub(crate) use write::BinaryWriter;

use armilla_gremlin_value::TokenKind;

/// The version byte that requests and responses begin with.
pub(crate) const VERSION: u8 = 0x81;

/// Codes of types.
pub(crate) mod code {
    pub(crate) const CUSTOM: u8 = 0x00;
    pub(crate) const INT: u8 = 0x01;
    pub(crate) const LONG: u8 = 0x02;
    pub(crate) const STRING: u8 = 0x03;
    pub(crate) const DATE: u8 = 0x04;
    pub(crate) const TIMESTAMP: u8 = 0x05;
    pub(crate) const CLASS: u8 = 0x06;
    pub(crate) const DOUBLE: u8 = 0x07;
    pub(crate) const FLOAT: u8 = 0x08;
    pub(crate) const LIST: u8 = 0x09;
    pub(crate) const MAP: u8 = 0x0a;
    pub(crate) const SET: u8 = 0x0b;
    pub(crate) const UUID: u8 = 0x0c;
    pub(crate) const EDGE: u8 = 0x0d;
    pub(crate) const PATH: u8 = 0x0e;
    pub(crate) const PROPERTY: u8 = 0x0f;
    pub(crate) const GRAPH: u8 = 0x10;
    pub(crate) const VERTEX: u8 = 0x11;
    pub(crate) const VERTEX_PROPERTY: u8 = 0x12;
    pub(crate) const BINDING: u8 = 0x14;
    pub(crate) const BYTECODE: u8 = 0x15;
    pub(crate) const LAMBDA: u8 = 0x1d;
    pub(crate) const P: u8 = 0x1e;
    pub(crate) const TRAVERSER: u8 = 0x21;
    pub(crate) const BIG_DECIMAL: u8 = 0x22;
    pub(crate) const BIG_INTEGER: u8 = 0x23;
    pub(crate) const BYTE: u8 = 0x24;
    pub(crate) const BYTE_BUFFER: u8 = 0x25;
    pub(crate) const SHORT: u8 = 0x26;
    pub(crate) const BOOLEAN: u8 = 0x27;
    pub(crate) const TEXT_P: u8 = 0x28;
    pub(crate) const TRAVERSAL_STRATEGY: u8 = 0x29;
    pub(crate) const BULK_SET: u8 = 0x2a;
    pub(crate) const TREE: u8 = 0x2b;
    pub(crate) const METRICS: u8 = 0x2c;
    pub(crate) const TRAVERSAL_METRICS: u8 = 0x2d;
    pub(crate) const CHAR: u8 = 0x80;
    pub(crate) const DURATION: u8 = 0x81;
    pub(crate) const INSTANT: u8 = 0x83;
    pub(crate) const LOCAL_DATE: u8 = 0x84;
    pub(crate) const LOCAL_DATE_TIME: u8 = 0x85;
    pub(crate) const OFFSET_DATE_TIME: u8 = 0x88;
    pub(crate) const NULL: u8 = 0xfe;
}

/// The enumerations and their codes.
const TOKENS: [(TokenKind, u8); 13] = [
    (TokenKind::Barrier, 0x13),
    (TokenKind::Cardinality, 0x16),
    (TokenKind::Column, 0x17),
    (TokenKind::Direction, 0x18),
    (TokenKind::Operator, 0x19),
    (TokenKind::Order, 0x1a),
    (TokenKind::Pick, 0x1b),
    (TokenKind::Pop, 0x1c),
    (TokenKind::Scope, 0x1f),
    (TokenKind::T, 0x20),
    (TokenKind::Merge, 0x2e),
    (TokenKind::Dt, 0x2f),
    (TokenKind::GType, 0x30),
];

#[cfg(test)]
#[path = "graphbinary_tests.rs"]
mod tests;
