//! Reading request bodies, up to a bound.
//!
//! Not here: how long a body may take, and how much of all bodies is held at once, which the server looks after.

use std::fmt::Display;

use armilla_rest_wire::body::{BodyError, BodyLimits};
use armilla_rest_wire::status::Status;
use bytes::Bytes;
use http_body::Body;

use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};
use crate::reply::failure::{Failure, Origin};

/// Reads a whole body.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes>,
    B::Error: Display,
{
    let limits = BodyLimits { bytes_max: REQUEST_BODY_BYTES_MAX, drain_bytes_max: REQUEST_DRAIN_BYTES_MAX };
    armilla_rest_wire::body::read(body, limits).await.map_err(|error| match error {
        BodyError::Broken(error) => {
            Failure::bad_request(format!("the request body could not be read: {error}"))
        }
        BodyError::TooLarge => too_large(),
    })
}

/// Returns the refusal of a body that is too long. Clients look for the sentence in the shape that the engine's have.
pub(crate) fn too_large() -> Failure {
    Failure { origin: Origin::Engine, ..Failure::new(Status::TOO_LARGE, "Request size is too large") }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use http_body::{Body, Frame};
    use http_body_util::Full;

    use super::read;
    use crate::limits::REQUEST_BODY_BYTES_MAX;

    /// A body that breaks off.
    struct Broken;

    impl Body for Broken {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            Poll::Ready(Some(Err("cut off")))
        }
    }

    #[tokio::test]
    async fn length_is_bounded() {
        let body = |length| Full::new(Bytes::from(vec![b'x'; length]));
        assert_eq!(read(body(REQUEST_BODY_BYTES_MAX)).await.unwrap().len(), REQUEST_BODY_BYTES_MAX);
        let failure = read(body(REQUEST_BODY_BYTES_MAX + 1)).await.unwrap_err();
        assert_eq!((failure.status.http.as_u16(), failure.status.code), (413, "RequestEntityTooLarge"));
    }

    #[tokio::test]
    async fn broken_bodies_are_bad_requests() {
        assert_eq!(read(Broken).await.unwrap_err().status.http, 400);
    }
}
