//! The stored form: any bytes can be looked at, those that pass the full check say what their text says, and whatever can
//! be stored passes it.

use armilla_value::stored::{encode, encode_value};
use armilla_value::{Kind, Node, Stored, json};

/// How many nodes of one item are looked at: bytes that are no item may name one node many times.
const NODES_MAX: usize = 10_000;

/// Reads bytes as a stored item, and as the text of one.
pub fn stored(data: &[u8]) {
    read(data);
    // The first byte says which members are left out.
    let Some((first, text)) = data.split_first() else { return };
    let dropped: &[&str] = if first % 2 == 0 { &[] } else { &["_rid", "a"] };
    if let Ok(bytes) = encode(text, dropped) {
        let stored = Stored::open(&bytes).unwrap_or_else(|error| panic!("{error}"));
        stored.verify().unwrap_or_else(|error| panic!("{error}: {}", stored.text()));
        check(&stored);
        assert!(dropped.iter().all(|name| stored.root().get(name).is_none()), "{}", stored.text());
        damage(bytes, *first);
    }
}

/// Reads bytes that came from a disk.
fn read(bytes: &[u8]) {
    let Ok(stored) = Stored::open(bytes) else { return };
    look(&stored);
    if stored.verify().is_ok() {
        check(&stored);
    }
}

/// Changes each of the last bytes, where the skeleton is, and one of the text: what is near to right is read, too.
fn damage(mut bytes: Vec<u8>, choice: u8) {
    const BYTES_MAX: usize = 64;
    let in_text = usize::from(choice) % bytes.len();
    for place in (bytes.len().saturating_sub(BYTES_MAX)..bytes.len()).chain([in_text]) {
        let right = bytes[place];
        bytes[place] ^= choice.max(1);
        read(&bytes);
        bytes[place] = right;
    }
}

/// Looks at everything that the bytes name, right or wrong.
fn look(stored: &Stored<'_>) {
    let mut left = NODES_MAX;
    let mut waiting = vec![stored.root()];
    while let Some(node) = waiting.pop() {
        let Some(fewer) = left.checked_sub(1) else { break };
        left = fewer;
        let _ = (node.raw(), node.as_str(), node.as_f64(), node.as_i64(), node.as_bool(), node.is_null());
        let _ = (node.get("a"), node.element(0), node.element(usize::MAX));
        let room = left.saturating_sub(waiting.len());
        waiting.extend(node.members().map(|(_, value)| value).take(room));
        let room = left.saturating_sub(waiting.len());
        waiting.extend(node.elements().take(room));
    }
}

/// Checks that an item says what its text says.
fn check(stored: &Stored<'_>) {
    let root = stored.root();
    let value = root.to_value();
    // As plain JSON: which objects stand for something else is said by the skeleton alone.
    let text = json::parse(stored.text().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(json::to_string(&value), json::to_string(&text));
    members_are_found(root);
    let again = encode_value(&value, &[]).unwrap_or_else(|error| panic!("{error}"));
    let again = Stored::open(&again).unwrap_or_else(|error| panic!("{error}")).root().to_value();
    assert_eq!(json::to_string(&again), json::to_string(&value));
}

fn members_are_found(node: Node<'_>) {
    match node.kind() {
        Kind::Object => {
            for (name, value) in node.members() {
                let found = node.get(&name).unwrap_or_else(|| panic!("{name:?} is not found"));
                assert_eq!(found.raw(), value.raw(), "{name:?}");
                members_are_found(value);
            }
        }
        Kind::Array => {
            for (at, element) in node.elements().enumerate() {
                assert_eq!(
                    node.element(at).map(|found| found.raw().to_owned()),
                    Some(element.raw().to_owned())
                );
                members_are_found(element);
            }
        }
        _ => {}
    }
}
