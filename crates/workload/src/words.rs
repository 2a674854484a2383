//! Made-up texts.

use armilla_env::Random;

/// Appends words of lower-case letters with spaces between them, so many characters in all.
pub(crate) fn push_words(random: &mut Random, length: usize, out: &mut String) {
    let end = out.len() + length;
    while out.len() < end {
        let word = random.pick(&WORDS);
        let left = end - out.len();
        out.push_str(&word[..word.len().min(left)]);
        if out.len() < end {
            out.push(' ');
        }
    }
}

/// Words that texts are made of: they compress about as well as what people write.
const WORDS: [&str; 64] = [
    "about",
    "after",
    "amber",
    "answer",
    "basket",
    "before",
    "between",
    "bridge",
    "candle",
    "carry",
    "change",
    "cloud",
    "copper",
    "corner",
    "desk",
    "during",
    "early",
    "ember",
    "evening",
    "every",
    "fountain",
    "garden",
    "gentle",
    "harbour",
    "hollow",
    "indigo",
    "island",
    "jasmine",
    "kettle",
    "lantern",
    "letter",
    "little",
    "maple",
    "market",
    "morning",
    "narrow",
    "needle",
    "never",
    "orchard",
    "other",
    "paper",
    "pebble",
    "quiet",
    "quilt",
    "rather",
    "river",
    "saddle",
    "second",
    "silver",
    "sometimes",
    "stone",
    "street",
    "summer",
    "timber",
    "together",
    "umber",
    "under",
    "velvet",
    "water",
    "while",
    "willow",
    "winter",
    "without",
    "yarrow",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_length_that_is_asked_for() {
        let mut random = Random::new(7);
        for length in [0, 1, 5, 6, 11, 1_000] {
            let mut text = "before ".to_owned();
            push_words(&mut random, length, &mut text);
            assert_eq!(text.len(), 7 + length);
            assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' '));
        }
    }
}
