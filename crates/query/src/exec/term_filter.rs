//! Conditions on the indexed value itself, checked on index entries without their items.

use armilla_functions::Datum;
use armilla_index::term;

use crate::error::Result;
use crate::eval::Evaluator;
use crate::expr::Expr;
use crate::frame::Frame;
use crate::physical::TERM_SLOT;

/// Checks terms against a condition. Entries of one value lie side by side, so the last answer is kept.
pub(super) struct TermFilter<'q> {
    evaluator: &'q Evaluator<'q>,
    condition: Option<Expr>,
    term: Vec<u8>,
    verdict: bool,
    /// Entries that the condition ruled out.
    pub(super) rejected: u64,
}

impl<'q> TermFilter<'q> {
    /// Makes a filter; without a condition everything passes.
    pub(super) fn new(evaluator: &'q Evaluator<'q>, condition: Option<&Expr>) -> TermFilter<'q> {
        TermFilter { evaluator, condition: condition.cloned(), term: Vec::new(), verdict: true, rejected: 0 }
    }

    /// Returns whether there is a condition.
    pub(super) fn is_present(&self) -> bool {
        self.condition.is_some()
    }

    /// Returns whether the value of a term may satisfy the condition. Where the term does not hold its value, it may.
    pub(super) fn admits(&mut self, term: &[u8]) -> Result<bool> {
        let Some(condition) = &self.condition else { return Ok(true) };
        if self.term.is_empty() || self.term != term {
            self.verdict = match term::decode(term) {
                None => true,
                Some(value) => {
                    let value = value.map_or(Datum::Undefined, Datum::from_owned);
                    let empty = Frame::empty();
                    self.evaluator.is_true(condition, &Frame::with(&empty, TERM_SLOT, value))?
                }
            };
            self.term.clear();
            self.term.extend_from_slice(term);
        }
        self.rejected += u64::from(!self.verdict);
        Ok(self.verdict)
    }
}
