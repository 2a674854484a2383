//! Batches as clients write them, and broken ones.

use bytes::Bytes;
use proptest::prelude::*;

use super::{Content, MultipartError, parse};
use crate::limits::{BATCH_OPERATIONS_MAX, BOUNDARY_BYTES_MAX, PART_HEADERS_MAX};

const KIND: &str = "multipart/mixed; boundary=batch_1";

fn operation(number: usize) -> String {
    format!(
        "--changeset_1\nContent-Type: application/http\nContent-Transfer-Encoding: binary\nContent-ID: {number}\n\n\
         POST http://localhost:8902/t HTTP/1.1\nContent-Type: application/json\nPrefer: return-no-content\n\n\
         {{\"n\":{number}}}\n"
    )
}

fn change_set(count: usize) -> String {
    let operations: String = (0..count).map(operation).collect();
    format!(
        "--batch_1\nContent-Type: multipart/mixed; boundary=changeset_1\n\n{operations}--changeset_1--\n--batch_1--\n"
    )
}

fn read(text: &str) -> Result<Content, MultipartError> {
    parse(KIND, &Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn both_line_ends_are_read() {
    let text = change_set(3);
    let expected = read(&text).unwrap();
    assert_eq!(read(&text.replace('\n', "\r\n")).unwrap(), expected);
    let Content::ChangeSet(requests) = expected else { panic!("{expected:?}") };
    assert_eq!(requests.len(), 3);
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(request.method, "POST");
        assert_eq!(request.target, "http://localhost:8902/t");
        assert_eq!(request.headers["prefer"], "return-no-content");
        assert_eq!(request.body, format!("{{\"n\":{number}}}"));
        assert_eq!(request.content_id, Some(number.to_string()));
    }
}

#[test]
fn a_query_stands_alone() {
    let text = "--batch_1\r\nContent-Type: application/http\r\n\r\nGET http://h/t()?$top=1 HTTP/1.1\r\n\r\n\r\n--batch_1--";
    let Ok(Content::Single(request)) = read(text) else { panic!() };
    assert_eq!((request.method.as_str(), &*request.target), ("GET", "http://h/t()?$top=1"));
    assert_eq!(request.content_id, None);
}

#[test]
fn operations_are_counted() {
    assert!(read(&change_set(BATCH_OPERATIONS_MAX)).is_ok());
    assert_eq!(read(&change_set(BATCH_OPERATIONS_MAX + 1)), Err(MultipartError::TooManyOperations));
    assert_eq!(read(&change_set(0)), Err(MultipartError::Shape));
}

#[test]
fn boundaries_are_bounded() {
    for (length, is_good) in
        [(1, true), (BOUNDARY_BYTES_MAX, true), (BOUNDARY_BYTES_MAX + 1, false), (0, false)]
    {
        let boundary = "b".repeat(length);
        let text = change_set(1).replace("batch_1", &boundary);
        for kind in [
            format!("multipart/mixed; boundary={boundary}"),
            format!("Multipart/Mixed;Boundary=\"{boundary}\""),
        ] {
            let found = parse(&kind, &Bytes::copy_from_slice(text.as_bytes()));
            assert_eq!(found.is_ok(), is_good, "{kind}");
        }
    }
    for kind in ["", "multipart/mixed", "application/json", "multipart/form-data; boundary=batch_1"] {
        assert_eq!(parse(kind, &Bytes::new()), Err(MultipartError::NoBoundary), "{kind}");
    }
}

#[test]
fn broken_bodies_are_refused() {
    let good = change_set(2);
    let two = good.replace("--batch_1--\n", "") + &good;
    for (text, error) in [
        (String::new(), MultipartError::Malformed),
        ("--batch_1--".to_owned(), MultipartError::Shape),
        (two, MultipartError::Shape),
        (good.replace("--changeset_1--", ""), MultipartError::Malformed),
        (good.replace("--batch_1--", ""), MultipartError::Malformed),
        (good.replace("HTTP/1.1", ""), MultipartError::Malformed),
        (good.replace("POST", "PO ST"), MultipartError::Malformed),
        (good.replace("Prefer: ", "Prefer "), MultipartError::Malformed),
        (good.replace("application/http", "text/plain"), MultipartError::Shape),
    ] {
        assert_eq!(read(&text), Err(error), "{text}");
    }
    let many = |count| good.replace("Prefer: return-no-content\n", &"x: y\n".repeat(count));
    assert!(read(&many(PART_HEADERS_MAX - 1)).is_ok());
    assert_eq!(read(&many(PART_HEADERS_MAX)), Err(MultipartError::Malformed));
}

proptest! {
    #[test]
    fn nothing_panics(cut in 0usize..2_000, insert in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut bytes = change_set(2).into_bytes();
        let at = cut.min(bytes.len());
        bytes.splice(at..at, insert);
        let _ = parse(KIND, &Bytes::from(bytes.clone()));
        bytes.truncate(at);
        let _ = parse(KIND, &Bytes::from(bytes));
    }
}
