//! Reading request bodies, up to a bound, and refusing what they should not say.
//!
//! Not here: how long a body may take, and how much of all bodies is held at once, which the server looks after.

use std::fmt::Display;

use armilla_rest_wire::body::{BodyError, BodyLimits};
use armilla_rest_wire::status::Status;
use armilla_value::Object;
use bytes::Bytes;
use http_body::Body;

use crate::failure::Failure;
use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_DRAIN_BYTES_MAX};

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
        BodyError::TooLarge => Failure::new(Status::TOO_LARGE, "Request size is too large"),
    })
}

/// Refuses a body that says something else: a misspelt member would do something else than what is meant.
pub(crate) fn refuse_unknown_members(body: &Object, known: &[&str]) -> Result<(), Failure> {
    match body.iter().find(|(name, _)| !known.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::bad_request(format!(
            "the body has the unknown member '{name}'; it takes {}",
            known.join(" and ")
        ))),
    }
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
