//! Just enough of HTTP/1.1 to look at what really comes over the wire.

use std::io::{ErrorKind, Read, Write};

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    /// Asserts a failure as every client must be able to read it.
    #[track_caller]
    pub(crate) fn assert_failure(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
        self.assert_json();
    }

    /// Asserts a JSON object with a message.
    #[track_caller]
    pub(crate) fn assert_json(&self) {
        let head = self.head.to_ascii_lowercase();
        assert!(head.contains("content-type: application/json"), "{self:?}");
        assert!(self.body.starts_with('{') && self.body.ends_with('}'), "{self:?}");
        assert!(self.body.contains("\"code\":\"") && self.body.contains("\"message\":\""), "{self:?}");
    }
}

/// Sends bytes and reads one response.
#[track_caller]
pub(crate) fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> Response {
    stream.write_all(request).unwrap();
    read(stream).expect("the server answers")
}

/// Reads one response; `None` if the connection ends first.
pub(crate) fn read(stream: &mut impl Read) -> Option<Response> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(position) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break position;
        }
        read_some(stream, &mut bytes)?;
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = bytes[head_end + 4..].to_vec();
    while body.len() < length.unwrap_or(0) {
        read_some(stream, &mut body)?;
    }
    Some(Response { status, head, body: String::from_utf8(body).unwrap() })
}

/// Reads one byte: nothing of the response after this one may be taken.
fn read_some(stream: &mut impl Read, bytes: &mut Vec<u8>) -> Option<()> {
    let mut byte = [0u8];
    match read_once(stream, &mut byte) {
        Ok(1) => {
            bytes.push(byte[0]);
            Some(())
        }
        _ => None,
    }
}

/// Reads what there is. A signal (the end of another test's server) is no reason to stop.
pub(crate) fn read_once(stream: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Waits for the end of a connection, and asserts that nothing comes before it.
#[track_caller]
pub(crate) fn assert_closed(stream: &mut impl Read) {
    match read_once(stream, &mut [0]) {
        Ok(0) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        other => panic!("the connection is not closed: {other:?}"),
    }
}
