//! Changes of posts, comments and likes as workers look at them, and the shortened copy of a post.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::{Context as _, Result, bail};
use armilla_value::json;

use crate::items::SHORT_TEXT_CHARACTERS;
use crate::rows::{members, string};

/// An item of the container of posts.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) post: Cow<'a, str>,
    pub(super) user: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    /// Whether it is the post itself.
    pub(super) is_post: bool,
    /// The whole item.
    pub(super) item: &'a [u8],
}

impl<'a> Change<'a> {
    /// Takes an item apart.
    pub(super) fn of(item: &'a [u8]) -> Result<Change<'a>> {
        let (mut post, mut user, mut name, mut kind) = (None, None, None, None);
        for member in members(item)? {
            let member = member?;
            let slot = match member.spelled_name() {
                b"postId" => &mut post,
                b"userId" => &mut user,
                b"userUsername" => &mut name,
                b"type" => &mut kind,
                _ => continue,
            };
            *slot = Some(member.value);
        }
        let (Some(post), Some(user), Some(name), Some(kind)) = (post, user, name, kind) else {
            bail!("an item has no postId, userId, userUsername or type");
        };
        Ok(Change {
            post: string(post)?,
            user: string(user)?,
            name: string(name)?,
            is_post: kind == b"\"post\"",
            item,
        })
    }
}

/// What a copy is found by, and the copy itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Short {
    pub(crate) id: String,
    /// The author, whose posts lie together.
    pub(crate) user: String,
    pub(crate) date: String,
    /// The item to write.
    pub(crate) text: Vec<u8>,
}

/// The members of a copy, in their order.
const COPIED: [&str; 10] = [
    "id",
    "type",
    "postId",
    "userId",
    "userUsername",
    "title",
    "content",
    "commentCount",
    "likeCount",
    "creationDate",
];

/// Makes the shortened copy of a post. The copy of a copy is the same, so that copies can be compared, too.
pub(crate) fn short_copy(post: &[u8]) -> Result<Short> {
    let mut values: [Option<&[u8]>; COPIED.len()] = [None; COPIED.len()];
    for member in members(post)? {
        let member = member?;
        if let Some(index) = COPIED.iter().position(|copied| copied.as_bytes() == member.spelled_name()) {
            values[index] = Some(member.value);
        }
    }
    let mut text = Vec::with_capacity(512);
    for (name, value) in COPIED.iter().zip(values) {
        let value = value.with_context(|| format!("a post has no {name}"))?;
        text.push(if text.is_empty() { b'{' } else { b',' });
        text.push(b'"');
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"\":");
        if *name == "content" {
            push_shortened(value, &mut text)?;
        } else {
            text.extend_from_slice(value);
        }
    }
    text.push(b'}');
    let own = |index: usize| -> Result<String> {
        Ok(string(values[index].context("a post has no such member")?)?.into_owned())
    };
    Ok(Short { id: own(0)?, user: own(3)?, date: own(9)?, text })
}

/// Returns the copies of the posts among changes, each in the last version that the page has.
pub(super) fn newest_versions(changes: &[Change<'_>]) -> Result<Vec<Short>> {
    let mut copies: HashMap<&str, usize> = HashMap::new();
    let mut posts: Vec<Short> = Vec::new();
    for change in changes.iter().filter(|change| change.is_post) {
        let copy = short_copy(change.item)?;
        match copies.get(&*change.post) {
            Some(index) => posts[*index] = copy,
            None => {
                copies.insert(&change.post, posts.len());
                posts.push(copy);
            }
        }
    }
    Ok(posts)
}

fn push_shortened(value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let content = string(value)?;
    match content.char_indices().nth(SHORT_TEXT_CHARACTERS) {
        Some((end, _)) => json::write_string(&content[..end], out),
        None => out.extend_from_slice(value),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::{self, Version, Writer};
    use crate::shape::Shape;
    use crate::words::Words;

    fn post() -> Vec<u8> {
        let shape = Shape::new(7, 10);
        let post = shape.post(1, 1);
        let (id, name) = (shape.user_id(1), shape.user_name(1));
        let mut out = Vec::new();
        let mut random = shape.text_random(&post);
        let author = Writer { id: id.as_bytes(), name: &name };
        items::post(Version::V2, &post, author, &Words::new(), &mut random, &mut out);
        out
    }

    #[test]
    fn copies_are_as_large_as_the_model_assumes() {
        let shape = Shape::new(7, 10);
        let special = shape.special_post(0);
        let (id, name) = (shape.user_id(0), shape.user_name(0));
        let mut out = Vec::new();
        let author = Writer { id: id.as_bytes(), name: &name };
        let mut random = shape.text_random(&special);
        items::post(Version::V2, &special, author, &Words::new(), &mut random, &mut out);
        // With the 205 bytes of the system properties.
        assert_eq!(short_copy(&out).unwrap().text.len() + 205, 635);
    }

    #[test]
    fn the_copy_of_a_copy_is_the_same() {
        let post = post();
        let copy = short_copy(&post).unwrap();
        let mut stored = copy.text.clone();
        stored.truncate(stored.len() - 1);
        stored.extend_from_slice(br#","_rid":"x","_etag":"\"1\"","_ts":1}"#);
        assert_eq!(short_copy(&stored).unwrap(), copy);
        let change = Change::of(&stored).unwrap();
        assert!(change.is_post);
        assert_eq!((&*change.post, &*change.user, change.item.len()), (&*copy.id, &*copy.user, stored.len()));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let text = |content: &str| {
            let mut value = Vec::new();
            json::write_string(content, &mut value);
            let mut out = Vec::new();
            push_shortened(&value, &mut out).unwrap();
            string(&out).unwrap().into_owned()
        };
        assert_eq!(text(&"ü".repeat(101)), "ü".repeat(100));
        assert_eq!(text(&"\"\n".repeat(60)), "\"\n".repeat(50));
        assert_eq!(text("short"), "short");
    }

    #[test]
    fn items_that_are_no_posts() {
        assert!(short_copy(br#"{"id":"1"}"#).unwrap_err().to_string().contains("no type"));
        assert!(Change::of(br#"{"id":"1","type":"user"}"#).is_err());
        assert!(Change::of(b"[]").is_err());
    }
}
