//! Reading request bodies, up to a bound.
//!
//! Not here: how long a body may take, and how much of all bodies is held at once, which the server looks after.

use std::fmt::Display;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use crate::failure::Failure;
use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};
use crate::status::Status;

/// Reads a whole body.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes>,
    B::Error: Display,
{
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut joined = BytesMut::new();
    let mut total = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| Failure::bad_request(format!("the request body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        total += data.len();
        if total > REQUEST_BODY_BYTES_MAX {
            // A client that is still sending would find the connection reset and never see the answer,
            // so what it sends is taken, to a point, and thrown away.
            if total > REQUEST_DRAIN_BYTES_MAX {
                break;
            }
            (first, joined) = (Bytes::new(), BytesMut::new());
        } else if first.is_empty() {
            // Nearly every body comes in one piece: keep it without a copy.
            first = data;
        } else {
            if joined.is_empty() {
                joined.reserve(2 * (first.len() + data.len()));
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
    }
    if total > REQUEST_BODY_BYTES_MAX {
        return Err(too_large());
    }
    Ok(if joined.is_empty() { first } else { joined.freeze() })
}

/// Returns the refusal of a body that is too long.
pub(crate) fn too_large() -> Failure {
    Failure::new(Status::TOO_LARGE, "Request size is too large")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use http_body::{Body, Frame};

    use super::read;
    use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};

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
            let body = read(pieces(lengths)).await.unwrap();
            assert_eq!(body.len(), lengths.iter().sum::<usize>(), "{lengths:?}");
        }
    }

    #[tokio::test]
    async fn one_piece_is_not_copied() {
        let piece = Bytes::from_static(b"whole");
        let body = read(http_body_util::Full::new(piece.clone())).await.unwrap();
        assert_eq!(body.as_ptr(), piece.as_ptr());
    }

    #[tokio::test]
    async fn length_is_bounded() {
        let half = REQUEST_BODY_BYTES_MAX / 2;
        assert!(read(pieces(&[half, REQUEST_BODY_BYTES_MAX - half])).await.is_ok());
        let failure = read(pieces(&[half, REQUEST_BODY_BYTES_MAX - half, 1])).await.unwrap_err();
        assert_eq!((failure.status.http.as_u16(), failure.status.code), (413, "RequestEntityTooLarge"));
        let failure = read(pieces(&[REQUEST_DRAIN_BYTES_MAX + 1, 1])).await.unwrap_err();
        assert_eq!(failure.status.http, 413);
    }

    #[tokio::test]
    async fn broken_bodies_are_bad_requests() {
        let mut body = pieces(&[3]);
        body.fail_at_end = true;
        assert_eq!(read(body).await.unwrap_err().status.http, 400);
    }
}
