//! Paths of filters, and what they reach in a document.
//!
//! A path goes through objects by name. At an array it goes on in each element that is an object, and, where the next
//! component is a number, also in the element at that place; arrays directly inside arrays are entered by number only.
//!
//! Not here: field paths of expressions, which follow other rules (`mongo-expression`).

use armilla_mongo_expression::Result;
use armilla_value::{Object, Value};

/// A dotted path, taken apart once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    text: String,
    components: Vec<Component>,
}

/// A part of a path between dots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The name of a member.
    pub name: String,
    /// The place in an array that it can also mean.
    pub index: Option<usize>,
}

impl Path {
    /// Takes a path apart.
    pub fn new(text: &str) -> Path {
        Path { text: text.to_owned(), components: text.split('.').map(Component::new).collect() }
    }

    /// Returns it as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns its components; there is at least one.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Returns the first component.
    pub fn first(&self) -> &str {
        self.components.first().map_or("", |component| component.name.as_str())
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Component {
    fn new(name: &str) -> Component {
        // Only the usual spelling of a number is a place: "01" is a name.
        let is_place = name == "0"
            || (name.bytes().all(|byte| byte.is_ascii_digit()) && !name.starts_with('0') && !name.is_empty());
        Component { name: name.to_owned(), index: if is_place { name.parse().ok() } else { None } }
    }
}

/// What is visited where a path ends in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// Its elements, then itself.
    Elements,
    /// Itself only.
    Whole,
}

/// Where a path begins.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// In a document.
    Document(&'a Object),
    /// At a value, which the empty path means.
    Value(&'a Value),
}

impl<'a> Subject<'a> {
    /// Returns the document, or the value if it is one.
    pub(crate) fn document(self) -> Option<&'a Object> {
        match self {
            Subject::Document(object) | Subject::Value(Value::Object(object)) => Some(object),
            Subject::Value(_) => None,
        }
    }
}

/// Visits what a path reaches until a visit says yes, and says whether one did. Where the path ends nowhere, missing is
/// visited. With each value comes the place in the outermost array that was gone through, unless the path named it.
pub(crate) fn walk<'a, V>(subject: Subject<'a>, path: &Path, leaf: Leaf, visit: &mut V) -> Result<bool>
where
    V: FnMut(Option<&'a Value>, Option<usize>) -> Result<bool>,
{
    let components = path.components();
    match subject {
        Subject::Document(object) => walk_object(object, components, leaf, None, visit),
        Subject::Value(value) => {
            let rest = if path.as_str().is_empty() { &[] } else { components };
            match value {
                Value::Array(_) => walk_array(value, rest, leaf, None, visit),
                _ if rest.is_empty() => visit(Some(value), None),
                Value::Object(object) => walk_object(object, rest, leaf, None, visit),
                _ => visit(None, None),
            }
        }
    }
}

fn walk_object<'a, V>(
    mut object: &'a Object,
    components: &[Component],
    leaf: Leaf,
    place: Option<usize>,
    visit: &mut V,
) -> Result<bool>
where
    V: FnMut(Option<&'a Value>, Option<usize>) -> Result<bool>,
{
    let mut rest = components;
    while let Some((component, further)) = rest.split_first() {
        rest = further;
        match object.get(&component.name) {
            Some(array @ Value::Array(_)) => return walk_array(array, rest, leaf, place, visit),
            Some(value) if rest.is_empty() => return visit(Some(value), place),
            Some(Value::Object(inner)) => object = inner,
            _ => return visit(None, place),
        }
    }
    visit(None, place)
}

fn walk_array<'a, V>(
    array: &'a Value,
    rest: &[Component],
    leaf: Leaf,
    place: Option<usize>,
    visit: &mut V,
) -> Result<bool>
where
    V: FnMut(Option<&'a Value>, Option<usize>) -> Result<bool>,
{
    let Value::Array(elements) = array else { return Ok(false) };
    let Some((next, further)) = rest.split_first() else {
        if leaf == Leaf::Elements {
            for (index, element) in elements.iter().enumerate() {
                if visit(Some(element), place.or(Some(index)))? {
                    return Ok(true);
                }
            }
        }
        return visit(Some(array), place);
    };
    for (index, element) in elements.iter().enumerate() {
        if let Value::Object(object) = element
            && walk_object(object, rest, leaf, place.or(Some(index)), visit)?
        {
            return Ok(true);
        }
        if next.index != Some(index) {
            continue;
        }
        let found = match element {
            _ if further.is_empty() => visit(Some(element), place)?,
            Value::Object(object) => walk_object(object, further, leaf, place, visit)?,
            Value::Array(_) => walk_array(element, further, leaf, place, visit)?,
            _ => false,
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}
