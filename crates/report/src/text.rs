//! Text on its way into markup: cleaned of what no document may hold, escaped, cut to a length.

/// Returns the text on one line, with everything a document or a terminal would not show as a character replaced.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Returns the text escaped for the content of an element or a quoted attribute, in HTML and in XML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push_escaped(&mut escaped, text.chars().map(visible));
    escaped
}

/// Returns the text escaped like [`escape`], with its line breaks kept.
pub(crate) fn escape_lines(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push_escaped(&mut escaped, text.chars().map(|c| if c == '\n' { c } else { visible(c) }));
    escaped
}

/// Returns the text escaped for HTML, what stands between two back-ticks as code.
pub(crate) fn escape_prose(text: &str) -> String {
    let mut parts = text.split('`');
    let mut markup = parts.next().map(escape).unwrap_or_default();
    while let Some(code) = parts.next() {
        match parts.next() {
            Some(after) => markup.push_str(&format!("<code>{}</code>{}", escape(code), escape(after))),
            // A back-tick without a partner is a character like any other.
            None => markup.push_str(&format!("`{}", escape(code))),
        }
    }
    markup
}

/// Returns the text cleaned, and cut with an ellipsis to at most so many characters.
pub(crate) fn clip(text: &str, characters_max: usize) -> String {
    let cleaned = clean(text);
    if cleaned.chars().count() <= characters_max {
        return cleaned;
    }
    let mut clipped: String = cleaned.chars().take(characters_max.saturating_sub(1)).collect();
    clipped.push('…');
    clipped
}

fn visible(c: char) -> char {
    match c {
        // Not characters in XML, whatever form they are written in.
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_control() => ' ',
        // They would turn the text around them, or what follows a cell, the other way.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
        c => c,
    }
}

fn push_escaped(escaped: &mut String, characters: impl Iterator<Item = char>) {
    for c in characters {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_never_made_of_text() {
        for (text, escaped) in [
            ("plain", "plain"),
            ("a < b && c > \"d\" 'e'", "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;"),
            ("&lt;", "&amp;lt;"),
            ("two\nlines\tand\r\u{0}\u{1b}[31m", "two lines and   [31m"),
            ("\u{85}\u{ffff}\u{fffe}", " \u{fffd}\u{fffd}"),
            ("a\u{202e}b\u{2066}c", "a b c"),
            ("größer, 日本", "größer, 日本"),
        ] {
            assert_eq!(escape(text), escaped, "{text:?}");
        }
        assert_eq!(escape_lines("a\n<b>\r\n"), "a\n&lt;b&gt; \n");
    }

    #[test]
    fn back_ticks_make_code() {
        for (text, markup) in [
            ("a `b` c", "a <code>b</code> c"),
            ("`<b>`", "<code>&lt;b&gt;</code>"),
            ("a ` b", "a ` b"),
            ("`a` `", "<code>a</code> `"),
            ("``", "<code></code>"),
            ("", ""),
        ] {
            assert_eq!(escape_prose(text), markup, "{text:?}");
        }
    }

    #[test]
    fn clipping_counts_characters() {
        for (text, clipped) in
            [("abcd", "abcd"), ("abcde", "abc…"), ("äöüß", "äöüß"), ("äöüßä", "äöü…"), ("", "")]
        {
            assert_eq!(clip(text, 4), clipped);
        }
        assert_eq!(clip("ab", 0), "…");
    }
}
