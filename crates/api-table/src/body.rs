//! Reading request bodies, up to a bound.
//!
//! Not here: how long a body may take, and how much of all bodies is held at once, which the server looks after.

use std::fmt::Display;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use crate::failure::{Failure, Kind};
use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};

/// Reads a whole body.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes>,
    B::Error: Display,
{
    let mut body = pin!(body);
    let (mut first, mut joined, mut total) = (Bytes::new(), BytesMut::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Failure::from(Kind::InvalidInput(format!("the request body broke off: {error}").into()))
        })?;
        let Ok(data) = frame.into_data() else { continue };
        total += data.len();
        if total > REQUEST_BODY_BYTES_MAX {
            // A client that is still sending would find the connection reset and never see the answer, so what it sends
            // is taken, to a point, and thrown away.
            if total > REQUEST_DRAIN_BYTES_MAX {
                break;
            }
            (first, joined) = (Bytes::new(), BytesMut::new());
        } else if first.is_empty() {
            // Nearly every body comes in one piece: that one is kept without a copy.
            first = data;
        } else {
            // Each piece is copied as it comes: to keep many small ones would cost more than they hold.
            if joined.is_empty() {
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
    }
    if total > REQUEST_BODY_BYTES_MAX {
        return Err(Kind::BodyTooLarge.into());
    }
    Ok(if joined.is_empty() { first } else { joined.freeze() })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use http_body::{Body, Frame};

    use super::read;
    use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};
    use crate::options::Flavour;

    struct Pieces(VecDeque<Bytes>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
        }
    }

    fn pieces(lengths: &[usize]) -> Pieces {
        Pieces(lengths.iter().map(|length| Bytes::from(vec![b'x'; *length])).collect())
    }

    #[tokio::test]
    async fn bodies_are_joined_up_to_the_bound() {
        let half = REQUEST_BODY_BYTES_MAX / 2;
        for (lengths, expected) in [
            (&[][..], Some(0)),
            (&[5], Some(5)),
            (&[1, 0, 2], Some(3)),
            (&[half, half], Some(2 * half)),
            (&[half, half, 1], None),
            (&[REQUEST_DRAIN_BYTES_MAX + 1, 1], None),
        ] {
            let body = read(pieces(lengths)).await;
            match expected {
                Some(length) => assert_eq!(body.unwrap().len(), length, "{lengths:?}"),
                None => assert_eq!(body.unwrap_err().shape(Flavour::Cosmos).status, 413, "{lengths:?}"),
            }
        }
    }
}
