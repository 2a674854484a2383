//! JSON text to a [`Value`].

use super::error::{Fault, JsonError, JsonErrorKind};
use super::scan::{NumberToken, Scanner, StringToken, validate_utf8};
use super::{DEPTH_MAX, extended, string};
use crate::value::{Kind, Object, Value};

/// Reads one JSON value that takes up the whole text; Extended JSON wrappers stay objects.
pub fn parse(text: &[u8]) -> Result<Value, JsonError> {
    read(text).map_err(|fault| fault.locate(text))
}

/// Reads one JSON value and turns canonical Extended JSON wrappers into the scalars they stand for.
pub fn parse_extended(text: &[u8]) -> Result<Value, JsonError> {
    parse(text).map(extended::recognise)
}

/// Reads one JSON value that takes the place of one with types that JSON lacks: wrappers become the scalars they stand
/// for, and integers without a wrapper have 32 bits where they fit, as drivers write them, else 64.
pub fn parse_typed(text: &[u8]) -> Result<Value, JsonError> {
    parse(text).map(typed)
}

/// Gives a value that was read by [`parse`] the types that [`parse_typed`] gives.
pub fn typed(value: Value) -> Value {
    extended::recognise_typed(value)
}

fn read(text: &[u8]) -> Result<Value, Fault> {
    let mut scanner = Scanner::new(validate_utf8(text)?);
    scanner.skip_whitespace();
    let value = read_value(&mut scanner, 1)?;
    scanner.skip_whitespace();
    if scanner.position < text.len() {
        return Err(scanner.fault(JsonErrorKind::TrailingBytes));
    }
    Ok(value)
}

fn read_value(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, Fault> {
    match scanner.peek() {
        Some(b'"') => Ok(Value::String(text_of(scanner.string()?))),
        Some(b'{') => read_object(scanner, depth),
        Some(b'[') => read_array(scanner, depth),
        Some(b't') => scanner.literal("true").map(|()| Value::Bool(true)),
        Some(b'f') => scanner.literal("false").map(|()| Value::Bool(false)),
        Some(b'n') => scanner.literal("null").map(|()| Value::Null),
        Some(b'-' | b'0'..=b'9') => scanner.number().map(number_of),
        _ => Err(scanner.expected("a value")),
    }
}

fn read_object(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, Fault> {
    open(scanner, depth)?;
    if close(scanner, b'}') {
        return Ok(Value::Object(Object::new()));
    }
    let mut members = Vec::new();
    loop {
        if scanner.peek() != Some(b'"') {
            return Err(scanner.expected("a member name"));
        }
        let name = text_of(scanner.string()?);
        scanner.skip_whitespace();
        scanner.expect(b':', "':'")?;
        scanner.skip_whitespace();
        members.push((name, read_value(scanner, depth + 1)?));
        scanner.skip_whitespace();
        if close(scanner, b'}') {
            return Ok(Value::Object(Object::from(members)));
        }
        scanner.expect(b',', "',' or '}'")?;
        scanner.skip_whitespace();
    }
}

fn read_array(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, Fault> {
    open(scanner, depth)?;
    if close(scanner, b']') {
        return Ok(Value::Array(Vec::new()));
    }
    let mut elements = Vec::new();
    loop {
        elements.push(read_value(scanner, depth + 1)?);
        scanner.skip_whitespace();
        if close(scanner, b']') {
            return Ok(Value::Array(elements));
        }
        scanner.expect(b',', "',' or ']'")?;
        scanner.skip_whitespace();
    }
}

fn open(scanner: &mut Scanner<'_>, depth: usize) -> Result<(), Fault> {
    if depth > DEPTH_MAX {
        return Err(scanner.fault(JsonErrorKind::TooDeep));
    }
    scanner.position += 1;
    scanner.skip_whitespace();
    Ok(())
}

fn close(scanner: &mut Scanner<'_>, bracket: u8) -> bool {
    let closes = scanner.peek() == Some(bracket);
    scanner.position += usize::from(closes);
    closes
}

fn text_of(token: StringToken<'_>) -> String {
    if token.escaped {
        string::unescape(token.raw).expect("the scanner has checked the escapes").into_owned()
    } else {
        token.raw.to_owned()
    }
}

fn number_of(token: NumberToken<'_>) -> Value {
    match token.kind {
        Kind::Int64 => Value::Int64(token.raw.parse().expect("the scanner has checked the integer")),
        _ => Value::Double(token.raw.parse().expect("the scanner has checked the number")),
    }
}
