//! Reading request bodies, up to a bound.
//!
//! Not here: how long a body may take, and how much of all bodies is held at once, which the server looks after.

use std::fmt::Display;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use crate::failure::{Failure, Status};
use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};

/// Reads a whole body.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes>,
    B::Error: Display,
{
    let mut body = pin!(body);
    let mut whole = BytesMut::new();
    let mut total = 0;
    // A client that is still sending would find the connection reset and never see the answer, so what it sends beyond
    // the bound is taken, to a point, and thrown away.
    while total <= REQUEST_DRAIN_BYTES_MAX {
        let Some(frame) = body.frame().await else { break };
        let frame = frame
            .map_err(|error| Failure::bad_request(format!("the request body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        total += data.len();
        if total <= REQUEST_BODY_BYTES_MAX {
            whole.extend_from_slice(&data);
        } else {
            whole = BytesMut::new();
        }
    }
    if total > REQUEST_BODY_BYTES_MAX {
        return Err(Failure::new(Status::TOO_LARGE, "Request size is too large"));
    }
    Ok(whole.freeze())
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn length_is_bounded() {
        let body = |length| Full::new(Bytes::from(vec![b'x'; length]));
        assert_eq!(read(body(0)).await.unwrap(), "");
        assert_eq!(read(body(REQUEST_BODY_BYTES_MAX)).await.unwrap().len(), REQUEST_BODY_BYTES_MAX);
        for length in [REQUEST_BODY_BYTES_MAX + 1, REQUEST_DRAIN_BYTES_MAX + 1] {
            let failure = read(body(length)).await.unwrap_err();
            assert_eq!((failure.status.http.as_u16(), failure.status.code), (413, "RequestEntityTooLarge"));
        }
    }
}
