use super::*;

fn order(order: Order<'_>) -> Vec<u8> {
    let mut frame = Vec::new();
    order.encode(&mut frame);
    frame
}

fn notice(notice: Notice<'_>) -> Vec<u8> {
    let mut frame = Vec::new();
    notice.encode(&mut frame);
    frame
}

fn orders() -> Vec<Order<'static>> {
    let name = "f";
    let mut orders = vec![
        Order::Functions,
        Order::Add { name, program: 7 },
        Order::Call { name, arguments: vec![] },
        Order::Call { name, arguments: vec![Argument::Json("[1]"), Argument::Number(f64::INFINITY)] },
        Order::Close,
        Order::Body("é"),
        Order::Stop,
        Order::Replied { window: 64 },
    ];
    for role in [
        Role::Procedure { arguments: b"[1]" },
        Role::PreTrigger { operation: WriteKind::Create, body: None },
        Role::PreTrigger { operation: WriteKind::Delete, body: Some("{}") },
        Role::PostTrigger { operation: WriteKind::Upsert, request_body: Some("1"), response_body: None },
        Role::PostTrigger { operation: WriteKind::Replace, request_body: None, response_body: Some("") },
    ] {
        let (program, keeps_log, window) = (u64::MAX, true, 3);
        orders.push(Order::Run { program, role, keeps_log, window, self_link: "s", alt_link: "" });
    }
    for reply in [
        Reply::Closing,
        Reply::Refused { code: 404, message: "no" },
        Reply::Done,
        Reply::NotModified,
        Reply::Text("{}"),
        Reply::Upserted { document: Some("{}"), is_created: true },
        Reply::Upserted { document: None, is_created: false },
        Reply::Page { documents: Some("[]"), continuation: None },
        Reply::Page { documents: None, continuation: Some("c") },
        Reply::Numbers(vec![0.5, -0.0]),
        Reply::Ids(vec!["a", ""]),
        Reply::Usage { current_bytes: 1, max_bytes: 2 },
    ] {
        orders.push(Order::Reply(reply));
    }
    orders
}

fn notices() -> Vec<Notice<'static>> {
    let name = Name { is_rid: true, text: "n" };
    let mut notices = vec![
        Notice::Ready,
        Notice::NeedBody,
        Notice::Log("line"),
        Notice::Checked(Ok(())),
        Notice::Returned(Ok(None)),
        Notice::Returned(Ok(Some("1"))),
        Notice::OutOfMemory { steps: 10_000 },
        Notice::Done { result: Ok(Finished::default()), steps: 1 },
        Notice::Done {
            result: Ok(Finished { response_body: Some("1".into()), request_body: Some("2".into()) }),
            steps: 0,
        },
    ];
    for error in [
        ScriptError::NotAFunction("why".into()),
        ScriptError::TooLong,
        ScriptError::Thrown { number: None, message: "m".into() },
        ScriptError::Thrown { number: Some(u32::MAX), message: String::new() },
        ScriptError::OutOfTime,
        ScriptError::OutOfMemory,
        ScriptError::ResponseTooLong,
        ScriptError::Arguments("why".into()),
        ScriptError::Result("why".into()),
        ScriptError::ResultTooLong,
        ScriptError::Unknown,
        ScriptError::Ended,
        ScriptError::Sandbox("why".into()),
    ] {
        notices.push(Notice::Checked(Err(error.clone())));
        notices.push(Notice::Returned(Err(error.clone())));
        notices.push(Notice::Done { result: Err(error), steps: 3 });
    }
    let calls = [
        Call::Read { name, known: None, is_wanted: true },
        Call::Create { body: "{}", is_wanted: false },
        Call::Upsert { body: "{}", is_wanted: true, etag: Some("e") },
        Call::Replace { name, body: "{}", is_wanted: true, etag: None },
        Call::Delete { name, etag: Some("e") },
        Call::Query { text: None, parameters: None, page_size: None, continuation: None, is_wanted: true },
        Call::Query {
            text: Some("q"),
            parameters: Some("[]"),
            page_size: Some(0),
            continuation: Some("c"),
            is_wanted: false,
        },
        Call::Guids,
        Call::Randoms,
        Call::Now,
        Call::Usage,
    ];
    notices.extend(calls.iter().map(|call| Notice::Calls { accepted: 0, calls: vec![call.clone()] }));
    notices.push(Notice::Calls { accepted: 3, calls: calls.to_vec() });
    notices
}

#[test]
fn what_is_written_is_read() {
    for sent in orders() {
        let frame = order(sent.clone());
        assert_eq!(Order::decode(&frame[4..]), Ok(sent));
    }
    for sent in notices() {
        let frame = notice(sent.clone());
        assert_eq!(Notice::decode(&frame[4..]), Ok(sent));
    }
}

#[test]
fn nothing_that_is_cut_or_changed_is_trusted() {
    let frames: Vec<Vec<u8>> =
        notices().into_iter().map(notice).chain(orders().into_iter().map(order)).collect();
    for frame in frames {
        let whole = &frame[4..];
        for length in 0..whole.len() {
            // What is shorter is never the whole.
            assert!(Notice::decode(&whole[..length]).is_err() || Notice::decode(whole).is_err());
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.to_vec();
                changed[length] = value;
                // It may mean something else; it must mean something, or nothing.
                let _ = (Notice::decode(&changed), Order::decode(&changed));
            }
        }
        let longer = [whole, &[0]].concat();
        assert!(Notice::decode(&longer).is_err() || Notice::decode(whole).is_err());
    }
}

#[test]
fn frames_come_in_pieces() {
    let sent: Vec<Vec<u8>> = notices().into_iter().map(notice).collect();
    let stream = sent.concat();
    for piece in [1, 3, 1_000_000] {
        let (mut frames, mut got) = (Frames::default(), Vec::new());
        for bytes in stream.chunks(piece) {
            let filled = frames.fill(|buffer| {
                buffer[..bytes.len()].copy_from_slice(bytes);
                Ok::<usize, ()>(bytes.len())
            });
            assert_eq!(filled, Ok(bytes.len()));
            while frames.take().unwrap() {
                got.push(frames.frame().to_vec());
            }
        }
        assert!(frames.is_empty());
        assert_eq!(got, sent.iter().map(|frame| frame[4..].to_vec()).collect::<Vec<_>>());
    }
}

#[test]
fn frames_are_bounded() {
    for (length, expected) in
        [(crate::limits::FRAME_BYTES_MAX, Ok(false)), (crate::limits::FRAME_BYTES_MAX + 1, Err(Malformed))]
    {
        let mut frames = Frames::default();
        let bytes = (length as u32).to_le_bytes();
        let filled = frames.fill(|buffer| {
            buffer[..4].copy_from_slice(&bytes);
            Ok::<usize, ()>(4)
        });
        assert_eq!((filled, frames.take()), (Ok(4), expected));
    }
}

#[test]
fn calls_that_waited_are_sent_as_if_at_once() {
    let calls = vec![Call::Create { body: "{}", is_wanted: true }, Call::Usage];
    let mut list = CallList::default();
    for round in 0..2 {
        assert!(list.is_empty(), "round {round}");
        calls.iter().for_each(|call| list.push(call));
        let mut frame = Vec::new();
        list.encode(1, &mut frame);
        assert_eq!(list.len(), 2);
        assert_eq!(frame, notice(Notice::Calls { accepted: 1, calls: calls.clone() }));
        list.clear(0);
    }
}

#[test]
fn calls_are_bounded() {
    let most = crate::limits::CALLS_MAX as usize;
    for (count, accepted, is_taken) in [(most, most, true), (most + 1, 0, false), (1, 2, false)] {
        let frame = notice(Notice::Calls { accepted: accepted as u64, calls: vec![Call::Now; count] });
        assert_eq!(Notice::decode(&frame[4..]).is_ok(), is_taken, "{count} calls, {accepted} accepted");
    }
}
