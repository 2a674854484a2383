//! Where the server meets the SQL API.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};

/// How the client speaks to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

pub(crate) struct Api;

impl Api {
    pub(crate) async fn handle<B>(&self, request: Request<B>, scheme: Scheme) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let path = request.uri().path().to_string();
        let text = match request.into_body().collect().await {
            Ok(all) => format!("{path} {scheme:?} {}", all.to_bytes().len()),
            Err(error) => error.to_string(),
        };
        let mut response = Response::new(Full::new(format!("{{\"message\":\"{text}\"}}").into()));
        *response.status_mut() = StatusCode::NOT_FOUND;
        response
    }
}
