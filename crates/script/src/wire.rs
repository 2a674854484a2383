//! What passes between this process and a worker.
//!
//! A frame is its length in four bytes, little-endian, and that many bytes: one byte that says what it is, then its
//! fields. Texts have their length in front; numbers have eight bytes. This process sends [`Order`]s, a worker
//! [`Notice`]s. Both sides are the same program, so the format has no versions.
//!
//! One side speaks at a time: a worker that was given an order sends notices until it has finished. To
//! [`Notice::Calls`] it gets one [`Order::Reply`] for each call, in their order, and then [`Order::Replied`]; to
//! [`Notice::NeedBody`] one [`Order::Body`]. The exception is [`Order::Stop`], which may come at any time while a script
//! runs.
//!
//! Operations whose results the script does not look at yet travel together. Whether one is accepted has to be said at once, so
//! the server says ahead how many it accepts without being asked: the *window*.

mod bytes;
mod calls;

use crate::error::ScriptError;
use crate::limits::CALLS_MAX;
use crate::role::{Finished, Role, WriteKind};
use bytes::{Reader, Writer};
use calls::CALLS_TAG;

pub use bytes::{Frames, Malformed};
pub use calls::{Call, CallList, Name};

/// What a worker is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Order<'a> {
    /// Run a procedure or trigger. Answered by calls and, in the end, [`Notice::Done`].
    Run {
        /// Which script; its text is asked for if it is not known yet.
        program: u64,
        /// Its place.
        role: Role<'a>,
        /// Whether `console.log` is kept.
        keeps_log: bool,
        /// How many operations are accepted without being asked for.
        window: u64,
        /// The collection's link by resource ids.
        self_link: &'a str,
        /// The collection's link by names.
        alt_link: &'a str,
    },
    /// Make room for user-defined functions.
    Functions,
    /// Add one. Answered by [`Notice::Checked`].
    Add {
        /// Its name.
        name: &'a str,
        /// Which script.
        program: u64,
    },
    /// Call one. Answered by [`Notice::Returned`].
    Call {
        /// Its name.
        name: &'a str,
        /// What it is given.
        arguments: Vec<Argument<'a>>,
    },
    /// Forget the functions.
    Close,
    /// The text that was asked for.
    Body(&'a str),
    /// What became of a call.
    Reply(Reply<'a>),
    /// All calls are answered.
    Replied {
        /// How many operations are accepted from now on without being asked for.
        window: u64,
    },
    /// The time of the script is over.
    Stop,
}

/// One argument of a function.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument<'a> {
    /// JSON text.
    Json(&'a str),
    /// A number for which JSON has no word.
    Number(f64),
}

/// What a worker says.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice<'a> {
    /// It can be given orders.
    Ready,
    /// It does not know the text of the program that the order names.
    NeedBody,
    /// A line for the log. Not answered.
    Log(&'a str),
    /// The script wants something.
    Calls {
        /// How many of the calls, from the first on, were accepted already.
        accepted: u64,
        /// What it wants, in this order.
        calls: Vec<Call<'a>>,
    },
    /// A text is a function, or a function was added, or why not.
    Checked(Result<(), ScriptError>),
    /// What a function returned; `None` is undefined.
    Returned(Result<Option<&'a str>, ScriptError>),
    /// An execution is over.
    Done {
        /// What it gave.
        result: Result<Finished, ScriptError>,
        /// How much it computed.
        steps: u64,
    },
    /// No memory is left. It is the last that is heard of this worker.
    OutOfMemory {
        /// How much was computed until then.
        steps: u64,
    },
}

/// What became of a [`Call`].
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<'a> {
    /// Nothing is accepted any more.
    Closing,
    /// It was refused.
    Refused {
        /// The number of the error.
        code: u32,
        /// The reason in words.
        message: &'a str,
    },
    /// It was done, and the script does not look at the result.
    Done,
    /// The script holds this version already.
    NotModified,
    /// A document or a text.
    Text(&'a str),
    /// A document was upserted.
    Upserted {
        /// What is stored, if it is wanted.
        document: Option<&'a str>,
        /// Whether it is new.
        is_created: bool,
    },
    /// A page.
    Page {
        /// A JSON array, if it is wanted.
        documents: Option<&'a str>,
        /// Where the next page begins.
        continuation: Option<&'a str>,
    },
    /// Numbers.
    Numbers(Vec<f64>),
    /// Ids.
    Ids(Vec<&'a str>),
    /// How much is stored, and how much may be.
    Usage {
        /// What is stored.
        current_bytes: u64,
        /// What may be stored.
        max_bytes: u64,
    },
}

impl Order<'_> {
    /// Appends the frame.
    pub fn encode(&self, frame: &mut Vec<u8>) {
        let mut writer = Writer::begin(frame);
        match self {
            Order::Run { program, role, keeps_log, window, self_link, alt_link } => {
                writer.tag(1).number(*program).flag(*keeps_log).number(*window);
                writer.text(self_link).text(alt_link);
                encode_role(&mut writer, role)
            }
            Order::Functions => writer.tag(2),
            Order::Add { name, program } => writer.tag(3).text(name).number(*program),
            Order::Call { name, arguments } => {
                writer.tag(4).text(name).number(arguments.len() as u64);
                for argument in arguments {
                    match argument {
                        Argument::Json(text) => writer.tag(0).text(text),
                        Argument::Number(number) => writer.tag(1).double(*number),
                    };
                }
                &mut writer
            }
            Order::Close => writer.tag(5),
            Order::Body(body) => writer.tag(6).text(body),
            Order::Reply(reply) => {
                writer.tag(7);
                encode_reply(&mut writer, reply)
            }
            Order::Stop => writer.tag(8),
            Order::Replied { window } => writer.tag(9).number(*window),
        };
        writer.end();
    }

    /// Reads a frame without its length.
    pub fn decode(bytes: &[u8]) -> Result<Order<'_>, Malformed> {
        let mut reader = Reader::new(bytes);
        let order = match reader.tag()? {
            1 => {
                let (program, keeps_log, window) = (reader.number()?, reader.flag()?, reader.number()?);
                let (self_link, alt_link) = (reader.text()?, reader.text()?);
                let role = decode_role(&mut reader)?;
                Order::Run { program, role, keeps_log, window, self_link, alt_link }
            }
            2 => Order::Functions,
            3 => Order::Add { name: reader.text()?, program: reader.number()? },
            4 => {
                let (name, count) = (reader.text()?, reader.number()?);
                let mut arguments = Vec::new();
                for _ in 0..count {
                    arguments.push(match reader.tag()? {
                        0 => Argument::Json(reader.text()?),
                        1 => Argument::Number(reader.double()?),
                        _ => return Err(Malformed),
                    });
                }
                Order::Call { name, arguments }
            }
            5 => Order::Close,
            6 => Order::Body(reader.text()?),
            7 => Order::Reply(decode_reply(&mut reader)?),
            8 => Order::Stop,
            9 => Order::Replied { window: reader.number()? },
            _ => return Err(Malformed),
        };
        reader.end()?;
        Ok(order)
    }
}

impl Notice<'_> {
    /// Appends the frame.
    pub fn encode(&self, frame: &mut Vec<u8>) {
        let mut writer = Writer::begin(frame);
        match self {
            Notice::Ready => writer.tag(0),
            Notice::NeedBody => writer.tag(1),
            Notice::Log(text) => writer.tag(2).text(text),
            Notice::Calls { accepted, calls } => {
                writer.tag(CALLS_TAG).number(*accepted).number(calls.len() as u64);
                for call in calls {
                    call.encode(&mut writer);
                }
                &mut writer
            }
            Notice::Checked(Ok(())) => writer.tag(4).tag(0),
            Notice::Checked(Err(error)) => encode_error(writer.tag(4).tag(1), error),
            Notice::Returned(Ok(text)) => writer.tag(5).tag(0).optional(*text),
            Notice::Returned(Err(error)) => encode_error(writer.tag(5).tag(1), error),
            Notice::Done { result: Ok(finished), steps } => writer
                .tag(6)
                .number(*steps)
                .tag(0)
                .optional(finished.response_body.as_deref())
                .optional(finished.request_body.as_deref()),
            Notice::Done { result: Err(error), steps } => {
                encode_error(writer.tag(6).number(*steps).tag(1), error)
            }
            Notice::OutOfMemory { steps } => writer.tag(7).number(*steps),
        };
        writer.end();
    }

    /// Reads a frame without its length.
    pub fn decode(bytes: &[u8]) -> Result<Notice<'_>, Malformed> {
        let mut reader = Reader::new(bytes);
        let notice = match reader.tag()? {
            0 => Notice::Ready,
            1 => Notice::NeedBody,
            2 => Notice::Log(reader.text()?),
            CALLS_TAG => {
                let (accepted, count) = (reader.number()?, reader.number()?);
                // A call takes many times the room of its shortest form.
                if accepted > count || count > CALLS_MAX {
                    return Err(Malformed);
                }
                let mut calls = Vec::new();
                for _ in 0..count {
                    calls.push(Call::decode(&mut reader)?);
                }
                Notice::Calls { accepted, calls }
            }
            4 => Notice::Checked(match reader.flag()? {
                false => Ok(()),
                true => Err(decode_error(&mut reader)?),
            }),
            5 => Notice::Returned(match reader.flag()? {
                false => Ok(reader.optional()?),
                true => Err(decode_error(&mut reader)?),
            }),
            6 => {
                let steps = reader.number()?;
                let result = match reader.flag()? {
                    false => Ok(Finished {
                        response_body: reader.optional()?.map(str::to_owned),
                        request_body: reader.optional()?.map(str::to_owned),
                    }),
                    true => Err(decode_error(&mut reader)?),
                };
                Notice::Done { result, steps }
            }
            7 => Notice::OutOfMemory { steps: reader.number()? },
            _ => return Err(Malformed),
        };
        reader.end()?;
        Ok(notice)
    }
}

fn encode_role<'w, 'f>(writer: &'w mut Writer<'f>, role: &Role<'_>) -> &'w mut Writer<'f> {
    match *role {
        Role::Procedure { arguments } => writer.tag(0).bytes(arguments),
        Role::PreTrigger { operation, body } => writer.tag(1).tag(operation as u8).optional(body),
        Role::PostTrigger { operation, request_body, response_body } => {
            writer.tag(2).tag(operation as u8).optional(request_body).optional(response_body)
        }
    }
}

fn decode_role<'a>(reader: &mut Reader<'a>) -> Result<Role<'a>, Malformed> {
    Ok(match reader.tag()? {
        0 => Role::Procedure { arguments: reader.bytes()? },
        1 => Role::PreTrigger { operation: decode_write(reader)?, body: reader.optional()? },
        2 => Role::PostTrigger {
            operation: decode_write(reader)?,
            request_body: reader.optional()?,
            response_body: reader.optional()?,
        },
        _ => return Err(Malformed),
    })
}

fn decode_write(reader: &mut Reader<'_>) -> Result<WriteKind, Malformed> {
    let number = reader.tag()?;
    WriteKind::ALL.into_iter().find(|kind| *kind as u8 == number).ok_or(Malformed)
}

fn encode_reply<'w, 'f>(writer: &'w mut Writer<'f>, reply: &Reply<'_>) -> &'w mut Writer<'f> {
    match reply {
        Reply::Closing => writer.tag(0),
        Reply::Refused { code, message } => writer.tag(1).number((*code).into()).text(message),
        Reply::Done => writer.tag(2),
        Reply::NotModified => writer.tag(3),
        Reply::Text(text) => writer.tag(4).text(text),
        Reply::Upserted { document, is_created } => writer.tag(5).optional(*document).flag(*is_created),
        Reply::Page { documents, continuation } => writer.tag(6).optional(*documents).optional(*continuation),
        Reply::Numbers(numbers) => {
            writer.tag(7).number(numbers.len() as u64);
            for number in numbers {
                writer.double(*number);
            }
            writer
        }
        Reply::Usage { current_bytes, max_bytes } => writer.tag(8).number(*current_bytes).number(*max_bytes),
        Reply::Ids(ids) => {
            writer.tag(9).number(ids.len() as u64);
            for id in ids {
                writer.text(id);
            }
            writer
        }
    }
}

fn decode_reply<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, Malformed> {
    Ok(match reader.tag()? {
        0 => Reply::Closing,
        1 => Reply::Refused {
            code: u32::try_from(reader.number()?).map_err(|_| Malformed)?,
            message: reader.text()?,
        },
        2 => Reply::Done,
        3 => Reply::NotModified,
        4 => Reply::Text(reader.text()?),
        5 => Reply::Upserted { document: reader.optional()?, is_created: reader.flag()? },
        6 => Reply::Page { documents: reader.optional()?, continuation: reader.optional()? },
        7 => {
            let count = reader.number()?;
            let mut numbers = Vec::new();
            for _ in 0..count {
                numbers.push(reader.double()?);
            }
            Reply::Numbers(numbers)
        }
        8 => Reply::Usage { current_bytes: reader.number()?, max_bytes: reader.number()? },
        9 => {
            let count = reader.number()?;
            let mut ids = Vec::new();
            for _ in 0..count {
                ids.push(reader.text()?);
            }
            Reply::Ids(ids)
        }
        _ => return Err(Malformed),
    })
}

fn encode_error<'w, 'f>(writer: &'w mut Writer<'f>, error: &ScriptError) -> &'w mut Writer<'f> {
    match error {
        ScriptError::NotAFunction(why) => writer.tag(0).text(why),
        ScriptError::TooLong => writer.tag(1),
        ScriptError::Thrown { number, message } => {
            writer.tag(2).number(number.map_or(u64::MAX, u64::from)).text(message)
        }
        ScriptError::OutOfTime => writer.tag(3),
        ScriptError::OutOfMemory => writer.tag(4),
        ScriptError::ResponseTooLong => writer.tag(5),
        ScriptError::Arguments(why) => writer.tag(6).text(why),
        ScriptError::Result(why) => writer.tag(7).text(why),
        ScriptError::ResultTooLong => writer.tag(8),
        ScriptError::Unknown => writer.tag(9),
        ScriptError::Ended => writer.tag(10),
        ScriptError::Sandbox(why) => writer.tag(11).text(why),
    }
}

fn decode_error(reader: &mut Reader<'_>) -> Result<ScriptError, Malformed> {
    Ok(match reader.tag()? {
        0 => ScriptError::NotAFunction(reader.text()?.to_owned()),
        1 => ScriptError::TooLong,
        2 => ScriptError::Thrown {
            number: u32::try_from(reader.number()?).ok(),
            message: reader.text()?.to_owned(),
        },
        3 => ScriptError::OutOfTime,
        4 => ScriptError::OutOfMemory,
        5 => ScriptError::ResponseTooLong,
        6 => ScriptError::Arguments(reader.text()?.to_owned()),
        7 => ScriptError::Result(reader.text()?.to_owned()),
        8 => ScriptError::ResultTooLong,
        9 => ScriptError::Unknown,
        10 => ScriptError::Ended,
        11 => ScriptError::Sandbox(reader.text()?.to_owned()),
        _ => return Err(Malformed),
    })
}

#[cfg(test)]
mod tests;
