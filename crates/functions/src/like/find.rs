//! Finding the first place where a segment of a pattern fits, in time that does not grow with text and segment together.
//!
//! A text between `_` is searched for as it is. Everything else goes by masks: of every character of the text it is
//! known, one bit for each place of the segment, where it may stand; a row of bits says which beginnings of the segment
//! fit so far, and moves on with each character.

use std::collections::HashMap;

use super::{Part, Segment};
use crate::limits::{LIKE_MASK_BYTES_MAX, LIKE_MASK_CHARACTERS_MAX};
use crate::meter::Meter;

/// After this many characters of the text the meter is asked.
const CHARACTERS_AT_ONCE: usize = 64;

impl Segment {
    /// Finds the first place in a text where the segment matches; returns where the match ends.
    pub(super) fn find_in(&self, text: &str, meter: &Meter<'_>) -> Option<usize> {
        if let Some((before, own, after)) = self.as_one_text() {
            if !meter.go_over(text.len()) {
                return None;
            }
            let start = end_of(text, before)?;
            let end = start + text[start..].find(own)? + own.len();
            return Some(end + end_of(&text[end..], after)?);
        }
        match self.character_count <= LIKE_MASK_CHARACTERS_MAX {
            true => Masks::new(self).find_in(text, meter),
            false => self.find_by_place(text, meter),
        }
    }

    /// Returns a segment of one text with the number of `_` before and behind it.
    fn as_one_text(&self) -> Option<(usize, &str, usize)> {
        let is_one = |part: &&Part| matches!(part, Part::One);
        let before = self.parts.iter().take_while(is_one).count();
        let (own, behind) = match self.parts.get(before) {
            Some(Part::Text(own)) => (own.as_str(), before + 1),
            _ => ("", before),
        };
        let after = self.parts[behind..].iter().take_while(is_one).count();
        (behind + after == self.parts.len()).then_some((before, own, after))
    }

    /// Tries one place after the other.
    fn find_by_place(&self, text: &str, meter: &Meter<'_>) -> Option<usize> {
        let mut start = 0;
        loop {
            if let Some(Part::Text(own)) = self.parts.first() {
                start += text[start..].find(own.as_str())?;
            }
            // What is compared at one place is bounded by the segment, and most often a few characters.
            let mut rest = &text[start..];
            let fits = self.parts.iter().enumerate().all(|(index, part)| {
                let goes_on = index % CHARACTERS_AT_ONCE != 0 || meter.go_on(CHARACTERS_AT_ONCE as u64 / 8);
                goes_on && strip(part, &mut rest)
            });
            if meter.stopped().is_some() {
                return None;
            }
            if fits {
                return Some(text.len() - rest.len());
            }
            start += text[start..].chars().next()?.len_utf8();
        }
    }

    /// Calls `visit` for each place with the part that stands there, and its character where it is a text.
    fn places(&self, mut visit: impl FnMut(usize, &Part, Option<char>)) {
        let mut place = 0;
        for part in &self.parts {
            match part {
                Part::Text(own) => own.chars().for_each(|character| {
                    visit(place, part, Some(character));
                    place += 1;
                }),
                Part::One | Part::Set(_) => {
                    visit(place, part, None);
                    place += 1;
                }
            }
        }
    }
}

fn strip(part: &Part, rest: &mut &str) -> bool {
    let mut characters = rest.chars();
    let after = match part {
        Part::Text(own) => rest.strip_prefix(own.as_str()),
        Part::One => characters.next().map(|_| characters.as_str()),
        Part::Set(set) => characters.next().filter(|one| set.contains(*one)).map(|_| characters.as_str()),
    };
    match after {
        Some(after) => *rest = after,
        None => return false,
    }
    true
}

/// Returns where so many characters of a text end; `None` where it has fewer.
fn end_of(text: &str, count: usize) -> Option<usize> {
    match count {
        0 => Some(0),
        count => text.char_indices().nth(count - 1).map(|(at, last)| at + last.len_utf8()),
    }
}

/// Where the characters of a text may stand in a segment.
struct Masks<'s> {
    segment: &'s Segment,
    /// Words of one mask.
    words: usize,
    /// How long it takes to find a mask out, in steps.
    steps: u64,
    /// All masks that are known, one behind the other.
    masks: Vec<u64>,
    known: HashMap<char, usize>,
    /// The same for ASCII.
    ascii: [Option<usize>; 128],
}

impl<'s> Masks<'s> {
    fn new(segment: &'s Segment) -> Masks<'s> {
        let ranges = |part: &Part| if let Part::Set(set) = part { set.ranges.len() } else { 0 };
        let ranges: usize = segment.parts.iter().map(ranges).sum();
        Masks {
            segment,
            words: segment.character_count.div_ceil(64),
            steps: ((segment.character_count + ranges) / 16) as u64,
            masks: Vec::new(),
            known: HashMap::new(),
            ascii: [None; 128],
        }
    }

    fn find_in(&mut self, text: &str, meter: &Meter<'_>) -> Option<usize> {
        let last = self.segment.character_count - 1;
        let mut fitting = vec![0u64; self.words];
        for (count, (at, character)) in text.char_indices().enumerate() {
            if count % CHARACTERS_AT_ONCE == 0
                && !meter.go_on((CHARACTERS_AT_ONCE / 8 * (1 + self.words)) as u64)
            {
                return None;
            }
            let mask = self.mask(character, meter)?;
            let mut carried = 1;
            for (word, mask) in fitting.iter_mut().zip(&self.masks[mask..mask + self.words]) {
                let moved = *word << 1 | carried;
                carried = *word >> 63;
                *word = moved & mask;
            }
            if fitting[last / 64] >> (last % 64) & 1 == 1 {
                return Some(at + character.len_utf8());
            }
        }
        None
    }

    /// Returns where the mask of a character begins; `None` where the meter has stopped.
    fn mask(&mut self, character: char, meter: &Meter<'_>) -> Option<usize> {
        let known = match self.ascii.get(character as usize) {
            Some(known) => *known,
            None => self.known.get(&character).copied(),
        };
        if known.is_some() {
            return known;
        }
        if !meter.go_on(self.steps) {
            return None;
        }
        if self.masks.len() * size_of::<u64>() > LIKE_MASK_BYTES_MAX {
            self.masks.clear();
            self.known.clear();
            self.ascii = [None; 128];
        }
        let (start, words) = (self.masks.len(), self.words);
        self.masks.resize(start + words, 0);
        let mask = &mut self.masks[start..];
        self.segment.places(|place, part, own| {
            let fits = match (part, own) {
                (Part::Set(set), _) => set.contains(character),
                (_, Some(own)) => own == character,
                _ => true,
            };
            mask[place / 64] |= u64::from(fits) << (place % 64);
        });
        match self.ascii.get_mut(character as usize) {
            Some(known) => *known = Some(start),
            None => {
                self.known.insert(character, start);
            }
        }
        Some(start)
    }
}
