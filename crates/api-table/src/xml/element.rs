//! A tree of XML elements, and the text of one.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::{partial_escape, resolve_predefined_entity};
use quick_xml::events::Event;

/// Bytes of a document that are read.
pub(super) const BODY_BYTES_MAX: usize = 64 * 1024;
/// Elements of a document.
pub(super) const ELEMENTS_MAX: usize = 256;
/// Elements inside of one another.
pub(super) const DEPTH_MAX: usize = 8;

const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum XmlError {
    /// It is not XML, or not this kind of document.
    Document(String),
    /// The text of an element is not of its form.
    NodeValue(String),
}

impl XmlError {
    /// Returns the error code of the answer. Its status is 400.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            XmlError::Document(_) => "InvalidXmlDocument",
            XmlError::NodeValue(_) => "InvalidXmlNodeValue",
        }
    }

    /// Returns the message of the answer: the service's words, and then what exactly is wrong.
    pub(crate) fn message(&self) -> String {
        match self {
            XmlError::Document(detail) => format!("XML specified is not syntactically valid. ({detail})"),
            XmlError::NodeValue(detail) => {
                format!("The value for one of the XML nodes is not in the correct format. ({detail})")
            }
        }
    }
}

/// An element: its name without a prefix, its text, the elements in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// Returns the one child of a name.
    pub(super) fn child(&self, name: &str) -> Result<Option<&Element>, XmlError> {
        let mut named = self.children.iter().filter(|child| child.name == name);
        match (named.next(), named.next()) {
            (found, None) => Ok(found),
            (_, Some(_)) => {
                Err(XmlError::Document(format!("there is more than one {name} in {}", self.name)))
            }
        }
    }

    /// Returns the text of the one child of a name, without space around it; `None` if it is missing or empty.
    pub(super) fn child_text(&self, name: &str) -> Result<Option<&str>, XmlError> {
        Ok(self.child(name)?.map(|child| child.text.trim()).filter(|text| !text.is_empty()))
    }

    /// Refuses children of other names.
    pub(super) fn expect_children(&self, names: &[&str]) -> Result<(), XmlError> {
        match self.children.iter().find(|child| !names.contains(&child.name.as_str())) {
            Some(child) => {
                Err(XmlError::Document(format!("{} does not belong in {}", child.name, self.name)))
            }
            None => Ok(()),
        }
    }
}

/// Returns whether a body holds nothing at all.
pub(super) fn is_blank(body: &[u8]) -> bool {
    body.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(body).trim_ascii().is_empty()
}

/// Reads a document whose root has this name.
pub(super) fn parse(body: &[u8], root_name: &str) -> Result<Element, XmlError> {
    let document = |detail: &str| XmlError::Document(detail.to_owned());
    if body.len() > BODY_BYTES_MAX {
        return Err(XmlError::Document(format!("it is longer than {BODY_BYTES_MAX} bytes")));
    }
    let text = std::str::from_utf8(body).map_err(|_| document("it is not UTF-8"))?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().enable_all_checks(true);
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    let mut element_count = 0;
    loop {
        let position = reader.buffer_position();
        let broken = |error: String| XmlError::Document(format!("{error}, at byte {position}"));
        match reader.read_event().map_err(|error| broken(error.to_string()))? {
            Event::Start(start) => {
                begin_element(&mut open, start.local_name().as_ref(), &mut element_count, root.is_some())?;
            }
            Event::Empty(start) => {
                begin_element(&mut open, start.local_name().as_ref(), &mut element_count, root.is_some())?;
                end_element(&mut open, &mut root);
            }
            Event::End(_) => end_element(&mut open, &mut root),
            Event::Text(part) => {
                push_text(&mut open, &part.xml_content().map_err(|error| broken(error.to_string()))?)?;
            }
            Event::CData(part) => {
                push_text(&mut open, &part.xml_content().map_err(|error| broken(error.to_string()))?)?;
            }
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(|error| broken(error.to_string()))?;
                let name = reference.decode().map_err(|error| broken(error.to_string()))?;
                let resolved = match character {
                    Some(character) => Cow::Owned(character.to_string()),
                    None => Cow::Borrowed(
                        resolve_predefined_entity(&name)
                            .ok_or_else(|| broken(format!("the entity '{name}' is unknown")))?,
                    ),
                };
                push_text(&mut open, &resolved)?;
            }
            // Documents with definitions of their own could be made to grow without bound.
            Event::DocType(_) => return Err(document("a document type does not belong here")),
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    if !open.is_empty() {
        return Err(document("it ends inside of an element"));
    }
    match root {
        Some(root) if root.name == root_name => Ok(root),
        Some(root) => Err(XmlError::Document(format!("its root is {}, not {root_name}", root.name))),
        None => Err(document("it is empty")),
    }
}

fn begin_element(
    open: &mut Vec<Element>,
    name: &[u8],
    element_count: &mut usize,
    has_root: bool,
) -> Result<(), XmlError> {
    if has_root {
        return Err(XmlError::Document("it has more than one root".to_owned()));
    }
    *element_count += 1;
    if *element_count > ELEMENTS_MAX {
        return Err(XmlError::Document(format!("it has more than {ELEMENTS_MAX} elements")));
    }
    if open.len() == DEPTH_MAX {
        return Err(XmlError::Document(format!("its elements are nested more than {DEPTH_MAX} deep")));
    }
    let name = String::from_utf8_lossy(name).into_owned();
    open.push(Element { name, ..Element::default() });
    Ok(())
}

fn end_element(open: &mut Vec<Element>, root: &mut Option<Element>) {
    let Some(element) = open.pop() else { return };
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => *root = Some(element),
    }
}

fn push_text(open: &mut [Element], text: &str) -> Result<(), XmlError> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim().is_empty() => {}
        None => return Err(XmlError::Document("there is text outside of its root".to_owned())),
    }
    Ok(())
}

/// Begins the text of a document.
pub(super) fn begin(has_bom: bool) -> String {
    let mut out = String::with_capacity(1_024);
    if has_bom {
        out.push_str(BYTE_ORDER_MARK);
    }
    out.push_str(r#"<?xml version="1.0" encoding="utf-8"?>"#);
    out
}

/// Writes a start tag.
pub(super) fn open(out: &mut String, name: &str) {
    out.push('<');
    out.push_str(name);
    out.push('>');
}

/// Writes an end tag.
pub(super) fn close(out: &mut String, name: &str) {
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// Writes an element that holds text, or nothing.
pub(super) fn leaf(out: &mut String, name: &str, text: &str) {
    if text.is_empty() {
        out.push('<');
        out.push_str(name);
        out.push_str(" />");
        return;
    }
    open(out, name);
    out.push_str(&escaped(text));
    close(out, name);
}

/// Writes text. What no document can hold becomes a replacement character.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let is_refused = |character: char| {
        (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
            || matches!(character, '\u{FFFE}' | '\u{FFFF}')
    };
    if text.contains(is_refused) {
        Cow::Owned(partial_escape(text.replace(is_refused, "\u{FFFD}")).into_owned())
    } else {
        partial_escape(text)
    }
}
