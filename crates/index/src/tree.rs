//! One way to walk both forms of a value: inside a stored item, and in memory.

use std::borrow::Cow;

use armilla_value::{Kind, Node, Value, key};

/// A value that can be walked.
pub(crate) trait Tree: Copy {
    fn kind(self) -> Kind;
    fn member(self, name: &str) -> Option<Self>;
    fn for_each_member(self, visit: impl FnMut(&str, Self));
    fn for_each_element(self, visit: impl FnMut(Self));
    fn text(&self) -> Option<Cow<'_, str>>;
    /// Appends the key bytes of a scalar that is no string.
    fn push_key(self, out: &mut Vec<u8>);
    fn to_value(self) -> Value;

    fn is_scalar(self) -> bool {
        !matches!(self.kind(), Kind::Array | Kind::Object)
    }
}

impl Tree for Node<'_> {
    fn kind(self) -> Kind {
        Node::kind(&self)
    }

    fn member(self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn for_each_member(self, mut visit: impl FnMut(&str, Self)) {
        for (name, member) in self.members() {
            visit(&name, member);
        }
    }

    fn for_each_element(self, visit: impl FnMut(Self)) {
        self.elements().for_each(visit);
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        self.as_str()
    }

    fn push_key(self, out: &mut Vec<u8>) {
        key::encode_node(self, out);
    }

    fn to_value(self) -> Value {
        Node::to_value(&self)
    }
}

impl Tree for &Value {
    fn kind(self) -> Kind {
        Value::kind(self)
    }

    fn member(self, name: &str) -> Option<Self> {
        self.as_object().and_then(|object| object.get(name))
    }

    fn for_each_member(self, mut visit: impl FnMut(&str, Self)) {
        if let Value::Object(object) = self {
            object.iter().for_each(|(name, member)| visit(name, member));
        }
    }

    fn for_each_element(self, visit: impl FnMut(Self)) {
        if let Value::Array(elements) = self {
            elements.iter().for_each(visit);
        }
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    fn push_key(self, out: &mut Vec<u8>) {
        key::encode_value(self, out);
    }

    fn to_value(self) -> Value {
        self.clone()
    }
}
