//! As much of GraphBinary as the client needs: requests with a script and its bindings, and a look at answers.

use anyhow::{Context as _, Result, bail, ensure};

/// The name of the format, which begins a message.
const MIME: &[u8] = b"application/vnd.graphbinary-v1.0";

/// The version that requests and answers begin with.
const VERSION: u8 = 0x81;

/// Where the code of an answer's status is: after the version and the id of the request.
const CODE_AT: usize = 18;

/// What is shown of the message of a failure.
const MESSAGE_CHARS_MAX: usize = 260;

const INT: u8 = 0x01;
const LONG: u8 = 0x02;
const STRING: u8 = 0x03;
const DOUBLE: u8 = 0x07;
const LIST: u8 = 0x09;
const MAP: u8 = 0x0A;
/// Says that a value is there.
const PRESENT: u8 = 0;

/// A parameter of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parameter {
    Text(String),
    Int(i32),
    Double(f64),
}

/// Writes a request for a script.
pub(super) fn write_eval(
    out: &mut Vec<u8>,
    id: [u8; 16],
    script: &str,
    bindings: &[(&'static str, Parameter)],
) {
    out.push(MIME.len() as u8);
    out.extend_from_slice(MIME);
    out.push(VERSION);
    out.extend_from_slice(&id);
    plain_text(out, "eval");
    plain_text(out, "");
    length(out, 3);
    text(out, "gremlin");
    text(out, script);
    text(out, "aliases");
    out.extend_from_slice(&[MAP, PRESENT]);
    length(out, 1);
    text(out, "g");
    text(out, "g");
    text(out, "bindings");
    out.extend_from_slice(&[MAP, PRESENT]);
    length(out, bindings.len());
    for (name, parameter) in bindings {
        text(out, name);
        match parameter {
            Parameter::Text(value) => text(out, value),
            Parameter::Int(value) => {
                out.extend_from_slice(&[INT, PRESENT]);
                out.extend_from_slice(&value.to_be_bytes());
            }
            Parameter::Double(value) => {
                out.extend_from_slice(&[DOUBLE, PRESENT]);
                out.extend_from_slice(&value.to_be_bytes());
            }
        }
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&[STRING, PRESENT]);
    plain_text(out, text);
}

fn plain_text(out: &mut Vec<u8>, text: &str) {
    length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn length(out: &mut Vec<u8>, length: usize) {
    // Nothing here is as long as that.
    out.extend_from_slice(&(length as u32).to_be_bytes());
}

/// Returns the code of an answer; what is no answer and what failed is an error.
pub(super) fn good_code(answer: &[u8]) -> Result<u32> {
    let code = answer.get(CODE_AT..CODE_AT + 4).context("the answer is too short")?;
    let code = u32::from_be_bytes(code.try_into().context("the answer is too short")?);
    match code {
        200 | 206 => Ok(code),
        code => bail!("the server answered {code}: {}", readable(answer)),
    }
}

/// Returns what can be read of an answer, where its message begins.
fn readable(answer: &[u8]) -> String {
    let is_text = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
    let text = String::from_utf8_lossy(answer.get(CODE_AT + 4..).unwrap_or_default());
    text.chars().filter(is_text).take(MESSAGE_CHARS_MAX).collect()
}

/// Checks that the results of an answer are one number.
pub(super) fn check_count(answer: &[u8], expected: u64) -> Result<()> {
    let mut end = vec![LIST, PRESENT, 0, 0, 0, 1, LONG, PRESENT];
    end.extend_from_slice(&expected.to_be_bytes());
    ensure!(answer.ends_with(&end), "the answer is not {expected}: {:x?}", answer);
    Ok(())
}

/// Checks that something is named in an answer.
pub(super) fn check_named(answer: &[u8], name: &str) -> Result<()> {
    let is_named = answer.windows(name.len()).any(|window| window == name.as_bytes());
    ensure!(is_named, "the answer does not name {name}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use armilla_gremlin_wire::{Frame, GraphSon2, Operation, Request};

    use super::*;

    #[test]
    fn the_server_reads_what_is_written() {
        let mut message = Vec::new();
        let bindings = [
            ("x", Parameter::Text("a".to_owned())),
            ("age", Parameter::Int(-7)),
            ("w", Parameter::Double(0.5)),
        ];
        write_eval(&mut message, [7; 16], "g.V(x)", &bindings);
        let frame = Frame::binary(&message, GraphSon2::default()).unwrap();
        let request = Request::read(&frame).unwrap();
        assert_eq!(request.id, u128::from_be_bytes([7; 16]));
        let Ok(Operation::Eval(eval)) = request.operation() else { panic!("no script") };
        assert_eq!(&*eval.script, "g.V(x)");
        assert_eq!(eval.bindings.len(), 3);
    }

    #[test]
    fn answers_are_looked_at() {
        let mut answer = vec![0; 40];
        answer[CODE_AT + 3] = 200;
        answer.extend_from_slice(&[9, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 25]);
        assert_eq!(good_code(&answer).unwrap(), 200);
        check_count(&answer, 25).unwrap();
        assert!(check_count(&answer, 26).is_err());
        answer.extend_from_slice(b"..v0000007");
        check_named(&answer, "v0000007").unwrap();
        assert!(check_named(&answer, "v0000008").is_err());
        answer[CODE_AT + 2] = 2;
        assert!(good_code(&answer).is_err());
        assert!(good_code(&[0; 9]).is_err());
    }
}
