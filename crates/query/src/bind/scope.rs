//! Which names stand for which slots.

/// The aliases of one query, inside those of the queries around it.
#[derive(Default)]
pub(super) struct Scope<'o> {
    outer: Option<&'o Scope<'o>>,
    own: Vec<(String, usize)>,
}

impl<'o> Scope<'o> {
    pub(super) fn inside(outer: &'o Scope<'o>) -> Scope<'o> {
        Scope { outer: Some(outer), own: Vec::new() }
    }

    pub(super) fn add(&mut self, name: &str, slot: usize) {
        self.own.push((name.to_owned(), slot));
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|(known, _)| known == name)
    }

    /// Returns the slot of a name, the innermost where several queries use it.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let mut scope = Some(self);
        while let Some(current) = scope {
            if let Some((_, slot)) = current.own.iter().rev().find(|(known, _)| known == name) {
                return Some(*slot);
            }
            scope = current.outer;
        }
        None
    }

    /// Returns the name of a slot.
    pub(super) fn name_of(&self, slot: usize) -> Option<&str> {
        let mut scope = Some(self);
        while let Some(current) = scope {
            if let Some((name, _)) = current.own.iter().find(|(_, known)| *known == slot) {
                return Some(name);
            }
            scope = current.outer;
        }
        None
    }
}
