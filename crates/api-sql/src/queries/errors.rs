//! What is wrong with a query, in the two lists that clients read.

use armilla_engine::QueryError;
use armilla_value::json;

#[cfg(test)]
mod tests;

/// Returns the error list as the service writes it, `{"errors":[{"severity":"Error",...}]}`.
///
/// `text` is the query text the spans point into. A location or code that is not known is left out, and a
/// code of digits alone is written as a number.
pub(crate) fn error_list(text: &str, errors: &[QueryError]) -> String {
    let mut list = String::from("{\"errors\":[");
    for (position, error) in errors.iter().enumerate() {
        if position > 0 {
            list.push(',');
        }
        list.push_str("{\"severity\":\"Error\"");
        if let Some(span) = error.span {
            let (start, end) = (utf16_offset(text, span.start), utf16_offset(text, span.end));
            list.push_str(&format!(",\"location\":{{\"start\":{start},\"end\":{end}}}"));
        }
        if let Some(code) = error.code {
            let is_number = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit());
            let quote = if is_number { "" } else { "\"" };
            list.push_str(&format!(",\"code\":{quote}{code}{quote}"));
        }
        list.push_str(",\"message\":");
        list.push_str(&json_text(&error.message));
        list.push('}');
    }
    list.push_str("]}");
    list
}

/// Returns the list of a query that is well formed and refused all the same: `{"Errors":["..."]}`.
pub(crate) fn refusal_list(message: &str) -> String {
    format!("{{\"Errors\":[{}]}}", json_text(message))
}

fn json_text(text: &str) -> String {
    json::to_string(&text.into())
}

/// Returns where a byte of a text stands in UTF-16 code units, which is how clients count. Beyond the end counts as the
/// end, and inside of a character as its start.
fn utf16_offset(text: &str, byte_offset: usize) -> usize {
    let byte_offset = text.floor_char_boundary(byte_offset);
    text[..byte_offset].encode_utf16().count()
}
