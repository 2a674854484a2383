//! Reads markup strictly, for the tests of everything that writes it: what it accepts is well-formed, fetches nothing
//! and runs nothing.

use std::collections::BTreeSet;

const VOID: [&str; 2] = ["!doctype", "meta"];
const ELEMENTS: &str = "!doctype html head meta title style body main header nav ul li a h1 h2 h3 p code pre dl div dt \
    dd table caption thead tbody tr th td span figure figcaption details summary footer svg desc defs pattern g rect \
    line path polyline circle text";

/// Returns the elements in the order in which they begin.
#[track_caller]
pub(crate) fn elements(markup: &str) -> Vec<String> {
    read(markup).unwrap_or_else(|problem| panic!("{problem} in {markup}"))
}

/// Reads markup; tells what is wrong with it.
pub(crate) fn read(markup: &str) -> Result<Vec<String>, String> {
    let (mut elements, mut open, mut ids, mut used) =
        (Vec::new(), Vec::new(), BTreeSet::new(), BTreeSet::new());
    if let Some(control) = markup.chars().find(|c| c.is_control() && *c != '\n') {
        return Err(format!("control character {control:?}"));
    }
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start])?;
        let end = rest.find('>').filter(|end| *end > start).ok_or("a tag without an end")?;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if !ELEMENTS.split_whitespace().any(|known| known == name) {
            return Err(format!("element <{name}>"));
        }
        elements.push(name.to_string());
        if name != "!doctype" {
            check_attributes(attributes, &mut ids, &mut used)?;
        }
        if name == "style" {
            let end = rest.find("</style>").ok_or("styles without an end")?;
            check_style(&rest[..end])?;
            rest = &rest[end + "</style>".len()..];
        } else if !is_empty && !VOID.contains(&name) {
            open.push(name.to_string());
        }
    }
    check_text(rest)?;
    match used.into_iter().find(|id| !ids.contains(id)) {
        Some(id) => Err(format!("nothing has the id {id}")),
        None if !open.is_empty() => Err(format!("{open:?} stay open")),
        None => Ok(elements),
    }
}

fn check_attributes(
    text: &str,
    ids: &mut BTreeSet<String>,
    used: &mut BTreeSet<String>,
) -> Result<(), String> {
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or(format!("attribute without a value: {rest}"))?;
        let (value, after) = value.split_once('"').ok_or(format!("attribute without an end: {rest}"))?;
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') || name.starts_with("on") {
            return Err(format!("attribute {name:?}"));
        }
        check_text(value)?;
        match name {
            "id" if !ids.insert(value.to_string()) => {
                return Err(format!("two elements with the id {value}"));
            }
            "href" => {
                used.extend(Some(value.strip_prefix('#').ok_or(format!("link to {value}"))?.to_string()))
            }
            "src" | "style" => return Err(format!("attribute {name}")),
            "aria-labelledby" => used.extend(value.split(' ').map(str::to_string)),
            "fill" => used.extend(value.strip_prefix("url(#").map(|id| id.trim_end_matches(')').to_string())),
            _ => {}
        }
        rest = after.trim_start();
    }
    Ok(())
}

fn check_text(text: &str) -> Result<(), String> {
    if text.contains(['<', '>']) {
        return Err(format!("bare bracket in {text:?}"));
    }
    for (place, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        if !known.iter().any(|entity| text[place..].starts_with(entity)) {
            return Err(format!("bare ampersand in {text:?}"));
        }
    }
    Ok(())
}

fn check_style(text: &str) -> Result<(), String> {
    let fetches = ["url(", "@import", "http", "<"].into_iter().find(|word| text.contains(word));
    fetches.map_or(Ok(()), |word| Err(format!("styles with {word}")))
}

#[test]
fn the_reader_is_strict() {
    for (markup, problem) in [
        ("<p>a</p>", None),
        ("<p>a &lt; b</p>", None),
        ("<p>a < b</p>", Some("element <>")),
        ("<p>a & b</p>", Some("bare ampersand")),
        ("<p>a</div>", Some("closes nothing")),
        ("<p>a", Some("stay open")),
        ("<script>a</script>", Some("element <script>")),
        ("<p onclick=\"a\">a</p>", Some("attribute \"onclick\"")),
        ("<p class=\"a>a</p>", Some("without an end")),
        ("<p id=\"a\"></p><p id=\"a\"></p>", Some("two elements")),
        ("<a href=\"#b\">a</a>", Some("nothing has the id b")),
        ("<a href=\"https://b\">a</a>", Some("link to")),
        ("<rect fill=\"url(#b)\"/>", Some("nothing has the id b")),
        ("<style>@import x</style>", Some("styles with")),
        ("<p>\u{1b}</p>", Some("control character")),
    ] {
        match (read(markup), problem) {
            (Ok(_), None) => {}
            (Err(found), Some(problem)) => assert!(found.contains(problem), "{markup}: {found}"),
            (result, _) => panic!("{markup}: {result:?}"),
        }
    }
}
