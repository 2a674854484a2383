//! Cuts JSON text into the elements of an array or the members of an object, without reading them.
//!
//! A batch holds whole items. They are read once, by the engine, so here only their ends are looked for.
//!
//! Invariants:
//! * any bytes give parts or an error, never a panic, in one pass and without recursion;
//! * a part is a view of the text: nothing is copied;
//! * text that is JSON is cut where JSON says. What is cut out of other text may be no JSON: whoever uses a part
//!   reads it strictly.

use std::fmt;

use bytes::Bytes;

/// Why text cannot be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Where in the text.
    pub(crate) position: usize,
    /// What should stand there.
    pub(crate) expected: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.position)
    }
}

/// The parts of one array or object, from the first to the last.
pub(crate) struct Parts {
    text: Bytes,
    position: usize,
    is_first: bool,
}

impl Parts {
    /// Begins with the elements of an array.
    pub(crate) fn of_array(text: Bytes) -> Result<Parts, Malformed> {
        Parts::begin(text, b'[', "an array")
    }

    /// Begins with the members of an object.
    pub(crate) fn of_object(text: Bytes) -> Result<Parts, Malformed> {
        Parts::begin(text, b'{', "an object")
    }

    fn begin(text: Bytes, bracket: u8, expected: &'static str) -> Result<Parts, Malformed> {
        let mut parts = Parts { text, position: 0, is_first: true };
        parts.skip_whitespace();
        parts.take(bracket, expected)?;
        Ok(parts)
    }

    /// Returns the text of the next element of an array.
    pub(crate) fn next_element(&mut self) -> Result<Option<Bytes>, Malformed> {
        if self.is_over(b']', "a comma or the end of the array")? { Ok(None) } else { self.value().map(Some) }
    }

    /// Returns the next member of an object: its name as it is spelled, with the quotes, and the text of its value.
    pub(crate) fn next_member(&mut self) -> Result<Option<(Bytes, Bytes)>, Malformed> {
        if self.is_over(b'}', "a comma or the end of the object")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.expected("a name in quotes"));
        }
        let name = self.value()?;
        self.skip_whitespace();
        self.take(b':', "a colon")?;
        self.skip_whitespace();
        Ok(Some((name, self.value()?)))
    }

    /// Steps to the next part. At the end nothing but white space may follow.
    fn is_over(&mut self, bracket: u8, expected: &'static str) -> Result<bool, Malformed> {
        self.skip_whitespace();
        let is_first = std::mem::replace(&mut self.is_first, false);
        if self.peek() == Some(bracket) {
            self.position += 1;
            self.skip_whitespace();
            return if self.peek().is_none() { Ok(true) } else { Err(self.expected("the end of the text")) };
        }
        if !is_first {
            self.take(b',', expected)?;
            self.skip_whitespace();
        }
        Ok(false)
    }

    /// Steps over one value and returns its text.
    fn value(&mut self) -> Result<Bytes, Malformed> {
        let start = self.position;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{' | b'[') => self.nested()?,
            _ => {
                let is_scalar =
                    |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                self.position += self.rest().iter().take_while(|byte| is_scalar(byte)).count();
                if self.position == start {
                    return Err(self.expected("a value"));
                }
            }
        }
        Ok(self.text.slice(start..self.position))
    }

    /// Steps over an object or an array: to the bracket that closes the first one.
    fn nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
                None => return Err(self.expected("a closing bracket")),
            }
            self.position += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Steps over a string.
    fn string(&mut self) -> Result<(), Malformed> {
        self.position += 1;
        loop {
            let rest = self.rest();
            let Some(next) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                self.position = self.text.len();
                return Err(self.expected("a closing quote"));
            };
            if rest[next] == b'"' {
                self.position += next + 1;
                return Ok(());
            }
            // What stands behind a backslash ends no string. It may be the end of the text.
            self.position = (self.position + next + 2).min(self.text.len());
        }
    }

    fn skip_whitespace(&mut self) {
        let is_whitespace = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.position += self.rest().iter().take_while(|byte| is_whitespace(byte)).count();
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(self.expected(expected));
        }
        self.position += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.position..]
    }

    fn expected(&self, expected: &'static str) -> Malformed {
        Malformed { position: self.position, expected }
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::{Value, json};
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::{Malformed, Parts};

    fn elements(text: &str) -> Result<Vec<Bytes>, Malformed> {
        let mut parts = Parts::of_array(Bytes::copy_from_slice(text.as_bytes()))?;
        let mut elements = Vec::new();
        while let Some(element) = parts.next_element()? {
            elements.push(element);
        }
        Ok(elements)
    }

    fn members(text: &str) -> Result<Vec<(Bytes, Bytes)>, Malformed> {
        let mut parts = Parts::of_object(Bytes::copy_from_slice(text.as_bytes()))?;
        let mut members = Vec::new();
        while let Some(member) = parts.next_member()? {
            members.push(member);
        }
        Ok(members)
    }

    #[test]
    fn arrays_are_cut() {
        for (text, expected) in [
            ("[]", &[][..]),
            (" [ ] \n", &[]),
            ("[1]", &["1"]),
            ("\t[ -1.5e+3 , null,true ]", &["-1.5e+3", "null", "true"]),
            (r#"["a,]","\"","\\",""]"#, &[r#""a,]""#, r#""\"""#, r#""\\""#, r#""""#]),
            (r#"[{"a":"}"},[[1],[]]]"#, &[r#"{"a":"}"}"#, "[[1],[]]"]),
            ("[\"\u{e9}\"]", &["\"\u{e9}\""]),
        ] {
            assert_eq!(elements(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn objects_are_cut() {
        for (text, expected) in [
            ("{}", &[][..]),
            (r#"{"a":1}"#, &[(r#""a""#, "1")]),
            (
                r#" { "a" : {"b":[1]} , "c\"" : "d" , "a":2 } "#,
                &[(r#""a""#, r#"{"b":[1]}"#), (r#""c\"""#, r#""d""#), (r#""a""#, "2")],
            ),
        ] {
            let expected: Vec<_> =
                expected.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            assert_eq!(members(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn other_text_is_refused_at_its_place() {
        for (text, position, word) in [
            ("", 0, "an array"),
            ("{}", 0, "an array"),
            ("[", 1, "a value"),
            ("[1", 2, "a comma"),
            ("[1 2]", 3, "a comma"),
            ("[,1]", 1, "a value"),
            ("[1,]", 3, "a value"),
            ("[]]", 2, "the end"),
            ("[\"a]", 4, "a closing quote"),
            ("[\"a\\", 4, "a closing quote"),
            ("[{\"a\":1]", 8, "a comma"),
            ("[[1]", 4, "a comma"),
            ("[[[1]", 5, "a closing bracket"),
        ] {
            let malformed = elements(text).unwrap_err();
            assert_eq!(malformed.position, position, "{text}: {malformed}");
            assert!(malformed.to_string().contains(word), "{text}: {malformed}");
        }
        for text in
            ["[]", "{", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{\"a\":1}x"]
        {
            assert!(members(text).is_err(), "{text}");
        }
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:]{0,6}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec(("[a-c\"{]{0,3}", inner), 0..4).prop_map(|members| {
                    let mut object = armilla_value::Object::default();
                    for (name, value) in members {
                        object.insert(name, value);
                    }
                    Value::Object(object)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn parts_are_what_a_reader_finds(values in prop::collection::vec(json_value(), 0..5)) {
            let text = json::to_string(&Value::Array(values.clone()));
            let parts: Vec<Value> =
                elements(&text).unwrap().iter().map(|part| json::parse(part).unwrap()).collect();
            prop_assert_eq!(&parts, &values);
            for value in &values {
                let Value::Object(object) = value else { continue };
                let found = members(&json::to_string(value)).unwrap();
                prop_assert_eq!(found.len(), object.len());
                for ((name, part), (expected_name, expected)) in found.iter().zip(object.iter()) {
                    prop_assert_eq!(json::parse(name).unwrap(), Value::String(expected_name.to_owned()));
                    prop_assert_eq!(&json::parse(part).unwrap(), expected);
                }
            }
        }

        #[test]
        fn any_bytes_are_taken_without_panic(text in "[\\[\\]{}\",:\\\\a1 ]{0,40}") {
            let _ = elements(&text);
            let _ = members(&text);
        }
    }
}
