//! A writer of binary JSON for tests: any tree, with the form of every value chosen by the test.

use super::markers as m;
use crate::json_text;

/// A JSON value to be written both ways.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// Writes a tree in binary form. `choices` are used up in turn to pick among the forms of a value.
pub(super) fn to_binary(node: &Node, choices: &[u8]) -> Vec<u8> {
    let mut writer = Writer { choices, chosen: 0 };
    let mut bytes = vec![0x80];
    writer.write(node, &mut bytes);
    bytes
}

struct Writer<'c> {
    choices: &'c [u8],
    chosen: usize,
}

impl Writer<'_> {
    fn choose(&mut self, options: usize) -> usize {
        self.chosen += 1;
        if self.choices.is_empty() {
            return 0;
        }
        usize::from(self.choices[self.chosen % self.choices.len()]) % options
    }

    fn write(&mut self, node: &Node, bytes: &mut Vec<u8>) {
        match node {
            Node::Null => bytes.push(m::NULL),
            Node::Boolean(false) => bytes.push(m::FALSE),
            Node::Boolean(true) => bytes.push(m::TRUE),
            Node::Integer(number) => self.integer(*number, bytes),
            Node::Unsigned(number) => {
                bytes.push(m::NUMBER_U64);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Node::Double(number) => {
                bytes.push([m::NUMBER_DOUBLE, m::FLOAT_64][self.choose(2)]);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Node::String(string) => self.string(string, bytes),
            Node::Array(items) => {
                let mut inside = Vec::new();
                for item in items {
                    self.write(item, &mut inside);
                }
                self.enclose(m::ARRAY_0, items.len(), &inside, bytes);
            }
            Node::Object(members) => {
                let mut inside = Vec::new();
                for (name, value) in members {
                    self.string(name, &mut inside);
                    self.write(value, &mut inside);
                }
                self.enclose(m::OBJECT_0, members.len(), &inside, bytes);
            }
        }
    }

    fn integer(&mut self, number: i64, bytes: &mut Vec<u8>) {
        let mut forms: Vec<Vec<u8>> = Vec::new();
        let mut form = |marker: u8, payload: &[u8]| forms.push([&[marker], payload].concat());
        form(m::NUMBER_I64, &number.to_le_bytes());
        form(m::I64, &number.to_le_bytes());
        if let Ok(small) = i32::try_from(number) {
            form(m::NUMBER_I32, &small.to_le_bytes());
            form(m::I32, &small.to_le_bytes());
        }
        if let Ok(small) = u32::try_from(number) {
            form(m::U32, &small.to_le_bytes());
        }
        if let Ok(small) = i16::try_from(number) {
            form(m::NUMBER_I16, &small.to_le_bytes());
            form(m::I16, &small.to_le_bytes());
        }
        if let Ok(small) = u8::try_from(number) {
            form(m::NUMBER_U8, &[small]);
            form(m::U8, &[small]);
            if small <= m::SMALL_INTEGER_LAST {
                form(small, &[]);
            }
        }
        if let Ok(small) = i8::try_from(number) {
            form(m::I8, &small.to_le_bytes());
        }
        let chosen = self.choose(forms.len());
        bytes.extend_from_slice(&forms[chosen]);
    }

    fn string(&mut self, string: &str, bytes: &mut Vec<u8>) {
        let length = string.len();
        let mut forms: Vec<Vec<u8>> = Vec::new();
        forms.push([&[m::STRING_L4][..], &(length as u32).to_le_bytes(), string.as_bytes()].concat());
        if let Ok(length) = u16::try_from(length) {
            forms.push([&[m::STRING_L2][..], &length.to_le_bytes(), string.as_bytes()].concat());
            if string.is_ascii() {
                forms.push([&[m::PACKED_7_L2][..], &length.to_le_bytes(), &pack(string, 7, 0)].concat());
            }
        }
        if let Ok(length) = u8::try_from(length) {
            forms.push([&[m::STRING_L1, length], string.as_bytes()].concat());
            if length <= m::SHORT_STRING_LAST - m::SHORT_STRING_FIRST {
                forms.push([&[m::SHORT_STRING_FIRST + length], string.as_bytes()].concat());
            }
            if string.is_ascii() {
                forms.push([&[m::PACKED_7_L1, length][..], &pack(string, 7, 0)].concat());
                let (least, most) =
                    (string.bytes().min().unwrap_or(b'0'), string.bytes().max().unwrap_or(b'0'));
                for (marker, bits) in [(m::PACKED_4, 4), (m::PACKED_5, 5), (m::PACKED_6, 6)] {
                    if most - least < 1 << bits {
                        forms.push([&[marker, length, least][..], &pack(string, bits, least)].concat());
                    }
                }
            }
        }
        if let Some(index) = m::SYSTEM_STRINGS.iter().position(|system| *system == string) {
            forms.push(vec![m::SYSTEM_STRING_FIRST + index as u8]);
        }
        let chosen = self.choose(forms.len());
        bytes.extend_from_slice(&forms[chosen]);
    }

    fn enclose(&mut self, first_marker: u8, count: usize, inside: &[u8], bytes: &mut Vec<u8>) {
        if count <= 1 && self.choose(2) == 0 {
            bytes.push(first_marker + count as u8);
            bytes.extend_from_slice(inside);
            return;
        }
        let widths: &[usize] = match inside.len() {
            0..0x100 => &[0, 1, 2],
            0x100..0x1_0000 => &[1, 2],
            _ => &[2],
        };
        let width = widths[self.choose(widths.len())];
        let with_count = self.choose(2) == 1;
        bytes.push(first_marker + 2 + width as u8 + if with_count { 3 } else { 0 });
        let size = 1 << width;
        bytes.extend_from_slice(&inside.len().to_le_bytes()[..size]);
        if with_count {
            bytes.extend_from_slice(&count.to_le_bytes()[..size]);
        }
        bytes.extend_from_slice(inside);
    }
}

/// Packs characters into fewer bits.
pub(super) fn pack(string: &str, bits: usize, base: u8) -> Vec<u8> {
    let mut bytes = vec![0u8; (string.len() * bits).div_ceil(8)];
    for (index, character) in string.bytes().enumerate() {
        for bit in 0..bits {
            if (character - base) >> bit & 1 == 1 {
                let position = index * bits + bit;
                bytes[position / 8] |= 1 << (position % 8);
            }
        }
    }
    bytes
}

/// Writes a tree as the text that the reader should give.
pub(super) fn to_text(node: &Node, text: &mut Vec<u8>) {
    let push_list = |text: &mut Vec<u8>, index: usize| {
        if index > 0 {
            text.push(b',');
        }
    };
    match node {
        Node::Null => text.extend_from_slice(b"null"),
        Node::Boolean(value) => text.extend_from_slice(value.to_string().as_bytes()),
        Node::Integer(number) => text.extend_from_slice(number.to_string().as_bytes()),
        Node::Unsigned(number) => text.extend_from_slice(number.to_string().as_bytes()),
        Node::Double(number) => text.extend_from_slice(format!("{number:?}").as_bytes()),
        Node::String(string) => json_text::push_string(text, string),
        Node::Array(items) => {
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                push_list(text, index);
                to_text(item, text);
            }
            text.push(b']');
        }
        Node::Object(members) => {
            text.push(b'{');
            for (index, (name, value)) in members.iter().enumerate() {
                push_list(text, index);
                json_text::push_string(text, name);
                text.push(b':');
                to_text(value, text);
            }
            text.push(b'}');
        }
    }
}
