//! Lines and columns of a script, from offsets.

use armilla_gremlin_value::Position;

/// Finds lines and columns; going forward costs the distance from the place before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'s> {
    text: &'s str,
    offset: usize,
    position: Position,
}

const START: Position = Position { line: 1, column: 1 };

impl<'s> Places<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Places { text, offset: 0, position: START }
    }

    /// Returns the line and column of an offset; columns count characters.
    pub(crate) fn at(&mut self, offset: usize) -> Position {
        if offset < self.offset {
            (self.offset, self.position) = (0, START);
        }
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        for byte in passed {
            match *byte {
                b'\n' => {
                    self.position.line = self.position.line.saturating_add(1);
                    self.position.column = 1;
                }
                // The second and later bytes of a character.
                0x80..=0xBF => {}
                _ => self.position.column = self.position.column.saturating_add(1),
            }
        }
        self.offset = offset.min(self.text.len());
        self.position
    }
}
