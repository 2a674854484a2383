//! Items as JSON, of each version of the data model.
//!
//! In the first version items refer to each other alone; in the second they carry names and counts of what they refer
//! to; in the third there are shortened copies of the posts beside the users, and users say what they are.
//!
//! Invariant: what is written here has no character that JSON escapes, and no white space between its parts.

use armilla_env::Random;

use crate::dates;
use crate::guid::Guid;
use crate::shape::{Answer, AnswerKind, Post};
use crate::words::Words;

/// Characters of a post's text.
const POST_TEXT_BYTES: usize = 1_300;

/// Characters of a comment's text.
const COMMENT_TEXT_BYTES: usize = 1_490;

/// Characters of a title.
const TITLE_BYTES: usize = 40;

/// Characters that a shortened copy has of a post's text.
pub(crate) const SHORT_TEXT_CHARACTERS: usize = 100;

/// A version of the data model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Version {
    V1,
    V2,
    V3,
}

impl Version {
    /// All of them.
    pub(crate) const ALL: [Version; 3] = [Version::V1, Version::V2, Version::V3];

    /// Returns the name that tables show.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Version::V1 => "V1",
            Version::V2 => "V2",
            Version::V3 => "V3",
        }
    }
}

/// Who wrote something: the id, and the name as it is written into items of V2 and V3.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) name: &'a [u8],
}

/// Appends the item of a user.
pub(crate) fn user(version: Version, id: &Guid, name: &[u8], out: &mut Vec<u8>) {
    begin(id, out);
    if version == Version::V3 {
        text("type", b"user", out);
        text("userId", id.as_bytes(), out);
    }
    text("username", name, out);
    out.push(b'}');
}

/// Appends the item of a post as it is in the container of posts, with a text from a generator.
pub(crate) fn post(
    version: Version,
    post: &Post,
    author: Writer<'_>,
    words: &Words,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    begin(&post.id, out);
    text("type", b"post", out);
    text("postId", post.id.as_bytes(), out);
    writer(version, author, out);
    prose("title", TITLE_BYTES, words, random, out);
    prose("content", POST_TEXT_BYTES, words, random, out);
    if version != Version::V1 {
        number("commentCount", post.comments, out);
        number("likeCount", post.likes, out);
    }
    text("creationDate", &dates::text(post.date_ticks), out);
    out.push(b'}');
}

/// Appends the item of a comment or like, with a text from a generator if it has one.
pub(crate) fn answer(
    version: Version,
    answer: &Answer,
    post: &Guid,
    author: Writer<'_>,
    words: &Words,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    begin(&answer.id, out);
    match answer.kind {
        AnswerKind::Comment => text("type", b"comment", out),
        AnswerKind::Like => text("type", b"like", out),
    }
    text("postId", post.as_bytes(), out);
    writer(version, author, out);
    if answer.kind == AnswerKind::Comment {
        prose("content", COMMENT_TEXT_BYTES, words, random, out);
    }
    text("creationDate", &answer.date, out);
    out.push(b'}');
}

/// Returns a title and a text for a post that is edited.
pub(crate) fn edited_text(words: &Words, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let (mut title, mut content) = (Vec::new(), Vec::new());
    words.write(random, TITLE_BYTES, &mut title);
    words.write(random, POST_TEXT_BYTES, &mut content);
    (title, content)
}

fn begin(id: &Guid, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":\"");
    out.extend_from_slice(id.as_bytes());
    out.push(b'"');
}

fn writer(version: Version, author: Writer<'_>, out: &mut Vec<u8>) {
    text("userId", author.id, out);
    if version != Version::V1 {
        text("userUsername", author.name, out);
    }
}

fn member(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn text(name: &str, value: &[u8], out: &mut Vec<u8>) {
    member(name, out);
    out.push(b'"');
    out.extend_from_slice(value);
    out.push(b'"');
}

fn prose(name: &str, length: usize, words: &Words, random: &mut Random, out: &mut Vec<u8>) {
    member(name, out);
    out.push(b'"');
    words.write(random, length, out);
    out.push(b'"');
}

fn number(name: &str, value: u32, out: &mut Vec<u8>) {
    member(name, out);
    out.extend_from_slice(value.to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;
    use crate::shape::Shape;

    /// What the model of charges assumes: bytes as they are stored, with the system properties.
    const STORED_BYTES: [(&str, Version, usize); 9] = [
        ("user", Version::V1, 278),
        ("user", Version::V2, 278),
        ("post", Version::V1, 1_770),
        ("comment", Version::V1, 1_912),
        ("like", Version::V1, 406),
        ("post", Version::V2, 1_835),
        ("comment", Version::V2, 1_944),
        ("like", Version::V2, 438),
        ("user", Version::V3, 340),
    ];

    /// What the server adds: five properties, whose values are always of the same length.
    const SYSTEM_PROPERTIES_BYTES: usize = 205;

    #[test]
    fn items_are_as_large_as_the_model_assumes() {
        let shape = Shape::new(7, 100);
        let words = Words::new();
        let special = shape.special_post(0);
        let (id, name) = (shape.user_id(0), shape.user_name(0));
        let author = Writer { id: id.as_bytes(), name: &name };
        for (kind, version, stored_bytes) in STORED_BYTES {
            let mut out = Vec::new();
            let mut random = shape.text_random(&special);
            match kind {
                "user" => user(version, &id, &name, &mut out),
                "post" => post(version, &special, author, &words, &mut random, &mut out),
                _ => {
                    let wanted = if kind == "like" { AnswerKind::Like } else { AnswerKind::Comment };
                    let found = shape.answers(&special).find(|answer| answer.kind == wanted).unwrap();
                    answer(version, &found, &special.id, author, &words, &mut random, &mut out);
                }
            }
            let value = json::parse(&out).unwrap();
            let mut again = Vec::new();
            json::write(&value, &mut again);
            assert_eq!(again, out, "nothing is escaped, and there is no white space");
            assert_eq!(out.len() + SYSTEM_PROPERTIES_BYTES, stored_bytes, "{kind} {version:?}");
        }
    }

    #[test]
    fn versions_of_an_item_have_the_same_text() {
        let shape = Shape::new(7, 100);
        let words = Words::new();
        let one = shape.post(3, 1);
        let (id, name) = (shape.user_id(3), shape.user_name(3));
        let texts = [Version::V1, Version::V2].map(|version| {
            let mut out = Vec::new();
            let mut random = shape.text_random(&one);
            post(version, &one, Writer { id: id.as_bytes(), name: &name }, &words, &mut random, &mut out);
            let value = json::parse(&out).unwrap();
            (value.get("title").cloned(), value.get("content").cloned(), value.get("creationDate").cloned())
        });
        assert!(texts[0].0.is_some());
        assert_eq!(texts[0], texts[1]);
    }
}
