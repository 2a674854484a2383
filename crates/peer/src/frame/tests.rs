use proptest::prelude::*;

use super::*;

fn encode(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for frame in frames {
        bytes.extend_from_slice(&frame.header());
        bytes.extend_from_slice(&frame.payload);
    }
    bytes
}

/// Feeds bytes in pieces of these sizes, over and over.
fn feed(bytes: &[u8], sizes: &[usize]) -> Result<Vec<Frame>, Malformed> {
    let (mut decoder, mut frames) = (Decoder::default(), Vec::new());
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(rest.len()).clamp(1, rest.len());
        decoder.feed(&rest[..size], &mut frames)?;
        rest = &rest[size..];
    }
    Ok(frames)
}

#[test]
fn the_largest_payload_and_one_past_it() {
    let header = |length: usize| {
        let mut header = Frame::bare(Kind::Call, 1).header();
        header[..4].copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
        header
    };
    let mut decoder = Decoder::default();
    decoder.feed(&header(FRAME_BYTES_MAX), &mut Vec::new()).unwrap();
    assert!(decoder.is_amid());
    let over = Decoder::default().feed(&header(FRAME_BYTES_MAX + 1), &mut Vec::new());
    assert_eq!(over, Err(Malformed::Length(64 * 1024 * 1024 + 1)));
}

#[test]
fn kinds_that_are_not_there() {
    for byte in (0..=255).filter(|byte| !(1..=8).contains(byte)) {
        let mut header = Frame::bare(Kind::Call, 1).header();
        header[4] = byte;
        assert_eq!(Decoder::default().feed(&header, &mut Vec::new()), Err(Malformed::Kind(byte)));
    }
}

fn frame() -> impl Strategy<Value = Frame> {
    (1..=8_u8, any::<u64>(), prop::collection::vec(any::<u8>(), 0..400))
        .prop_map(|(kind, id, payload)| Frame { kind: Kind::of(kind).unwrap(), id, payload: payload.into() })
}

proptest! {
    #[test]
    fn frames_come_out_as_they_went_in(
        frames in prop::collection::vec(frame(), 0..20),
        sizes in prop::collection::vec(1..600_usize, 0..20),
    ) {
        prop_assert_eq!(feed(&encode(&frames), &sizes), Ok(frames));
    }

    #[test]
    fn no_bytes_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        sizes in prop::collection::vec(1..600_usize, 0..20),
        small in any::<bool>(),
    ) {
        // Lengths of four random bytes are nearly always too large.
        if small && bytes.len() > 4 {
            bytes[1..4].fill(0);
            bytes[4] = bytes[4] % 8 + 1;
        }
        let whole = feed(&bytes, &[]);
        prop_assert_eq!(feed(&bytes, &sizes), whole);
    }
}
