//! Reading request bodies, up to a bound.
//!
//! Not here: how long a body may take, and how much of all bodies is held at once, which the server looks after.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt as _;

/// How much of a body is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// The longest body.
    pub bytes_max: usize,
    /// How much of a longer one is taken and thrown away before it is refused.
    pub drain_bytes_max: usize,
}

/// Why there is no body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyError<E> {
    /// It broke off.
    Broken(E),
    /// It is longer than the bound.
    TooLarge,
}

/// Reads a whole body.
pub async fn read<B>(body: B, limits: BodyLimits) -> Result<Bytes, BodyError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut joined = BytesMut::new();
    let mut total = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(BodyError::Broken)?.into_data() else { continue };
        total += data.len();
        if total > limits.bytes_max {
            // A client that is still sending would find the connection reset and never see the answer,
            // so what it sends is taken, to a point, and thrown away.
            if total > limits.drain_bytes_max {
                break;
            }
            (first, joined) = (Bytes::new(), BytesMut::new());
        } else if first.is_empty() {
            // Nearly every body comes in one piece: keep it without a copy.
            first = data;
        } else {
            // Each piece is copied as it comes: to keep many small ones would cost more than they hold.
            if joined.is_empty() {
                joined.reserve(2 * (first.len() + data.len()));
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
    }
    if total > limits.bytes_max {
        return Err(BodyError::TooLarge);
    }
    Ok(if joined.is_empty() { first } else { joined.freeze() })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use http_body::{Body, Frame};

    use super::*;

    const LIMITS: BodyLimits = BodyLimits { bytes_max: 1_000, drain_bytes_max: 4_000 };

    /// A body in pieces, which may break off.
    struct Pieces {
        pieces: VecDeque<Bytes>,
        fail_at_end: bool,
    }

    impl Body for Pieces {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            Poll::Ready(match self.pieces.pop_front() {
                Some(piece) => Some(Ok(Frame::data(piece))),
                None if std::mem::take(&mut self.fail_at_end) => Some(Err("cut off")),
                None => None,
            })
        }
    }

    fn pieces(lengths: &[usize]) -> Pieces {
        let pieces = lengths.iter().map(|length| Bytes::from(vec![b'x'; *length])).collect();
        Pieces { pieces, fail_at_end: false }
    }

    #[tokio::test]
    async fn pieces_are_joined() {
        for lengths in [&[][..], &[0], &[5], &[0, 5], &[1, 2, 3], &[1, 0, 1]] {
            let body = read(pieces(lengths), LIMITS).await.unwrap();
            assert_eq!(body.len(), lengths.iter().sum::<usize>(), "{lengths:?}");
        }
    }

    #[tokio::test]
    async fn one_piece_is_not_copied() {
        let piece = Bytes::from_static(b"whole");
        let body = read(http_body_util::Full::new(piece.clone()), LIMITS).await.unwrap();
        assert_eq!(body.as_ptr(), piece.as_ptr());
    }

    #[tokio::test]
    async fn length_is_bounded() {
        assert_eq!(read(pieces(&[400, 600]), LIMITS).await.unwrap().len(), 1_000);
        assert_eq!(read(pieces(&[400, 600, 1]), LIMITS).await, Err(BodyError::TooLarge));
        assert_eq!(read(pieces(&[4_001, 1]), LIMITS).await, Err(BodyError::TooLarge));
    }

    /// What is too long is read to its end, so that the client sees the answer; but not if it goes on for ever.
    #[tokio::test]
    async fn long_bodies_are_taken_to_a_point() {
        for (lengths, left) in [(&[600; 6][..], 0), (&[600; 10], 3)] {
            let mut body = pieces(lengths);
            assert_eq!(read(Pin::new(&mut body), LIMITS).await, Err(BodyError::TooLarge));
            assert_eq!(body.pieces.len(), left);
        }
    }

    #[tokio::test]
    async fn broken_bodies_are_errors() {
        let mut body = pieces(&[3]);
        body.fail_at_end = true;
        assert_eq!(read(body, LIMITS).await, Err(BodyError::Broken("cut off")));
    }
}
