//! The answers the server gives without asking an API.
//!
//! Invariant: every answer with a status of 400 or more has a JSON body with a `code` and a `message`; to clients of
//! the Table API in the form and with the header that they look for.

use armilla_rest_wire::names;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

use crate::limits::NO_ROOM_RETRY_MS;
use crate::requests::api::Front;

/// The type of our JSON.
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The text of `GET /health`.
const HEALTHY: &str = r#"{"status":"ok"}"#;

/// Says that the server is well.
pub(crate) fn healthy() -> Response<Full<Bytes>> {
    respond(StatusCode::OK, JSON, HEALTHY.into())
}

/// Gives the metrics in Prometheus' text format.
pub(crate) fn metrics(text: String) -> Response<Full<Bytes>> {
    let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    respond(StatusCode::OK, content_type, text.into())
}

/// Says that the store takes no writes, and why.
pub(crate) fn troubled(reason: &str) -> Response<Full<Bytes>> {
    // The text comes from below and may hold anything.
    let reason: String =
        reason.chars().map(|c| if matches!(c, '"' | '\\') || c.is_control() { '\'' } else { c }).collect();
    let text = format!(
        r#"{{"status":"troubled","code":"ServiceUnavailable","message":"the store takes no writes: {reason}"}}"#
    );
    respond(StatusCode::SERVICE_UNAVAILABLE, JSON, text.into())
}

/// Says that figures are not for everybody.
pub(crate) fn metrics_refused() -> Response<Full<Bytes>> {
    let message = "the figures name containers: ask from this machine, or with the header Authorization: Bearer KEY, \
                   where KEY is one of the account keys (the read-only one will do)";
    let mut response = respond_failure(Front::Sql, StatusCode::UNAUTHORIZED, "Unauthorized", message);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Says that a request was sent to a name that is not ours.
pub(crate) fn host_refused(front: Front, message: &str) -> Response<Full<Bytes>> {
    respond_failure(front, StatusCode::FORBIDDEN, "HostNotAllowed", message)
}

/// Says that a web page may not send requests.
pub(crate) fn origin_refused(front: Front, message: &str) -> Response<Full<Bytes>> {
    respond_failure(front, StatusCode::FORBIDDEN, "OriginNotAllowed", message)
}

/// Lets a web page send what it asked for.
pub(crate) fn preflight(headers: HeaderMap) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.headers_mut() = headers;
    response
}

/// Says that a request body stopped arriving.
pub(crate) fn body_stalled(front: Front) -> Response<Full<Bytes>> {
    let code = match front {
        Front::Sql | Front::Mongo | Front::Gremlin => "RequestTimeout",
        Front::Table | Front::StorageTable => "OperationTimedOut",
    };
    let mut response =
        respond_failure(front, StatusCode::REQUEST_TIMEOUT, code, "the request body stopped arriving");
    // The rest of the body may still come: it must not be taken for the next request.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Says that there is no room for a request now. All clients know this status and try again.
pub(crate) fn no_room(front: Front, message: &str) -> Response<Full<Bytes>> {
    let code = match front {
        Front::Sql | Front::Mongo | Front::Gremlin => "TooManyRequests",
        Front::Table | Front::StorageTable => "ServerBusy",
    };
    let mut response = respond_failure(front, StatusCode::TOO_MANY_REQUESTS, code, message);
    let headers = response.headers_mut();
    headers.insert(names::RETRY_AFTER_MS.clone(), HeaderValue::from(NO_ROOM_RETRY_MS));
    headers.insert(header::RETRY_AFTER, HeaderValue::from(NO_ROOM_RETRY_MS.div_ceil(1_000)));
    response
}

/// Says that a request met a defect of ours.
pub(crate) fn internal(front: Front) -> Response<Full<Bytes>> {
    let code = match front {
        Front::Sql | Front::Mongo | Front::Gremlin => "InternalServerError",
        Front::Table | Front::StorageTable => "InternalError",
    };
    let message = "the request met a defect of the server, see its log";
    respond_failure(front, StatusCode::INTERNAL_SERVER_ERROR, code, message)
}

/// Returns an answer of the HTTP stack, which has a failing status and no body, with a body; `None` for
/// bytes that are no such answer.
pub(crate) fn with_body(answer: &[u8]) -> Option<Vec<u8>> {
    let rest = answer.strip_prefix(b"HTTP/1.")?;
    if !matches!(rest.get(2), Some(b'4' | b'5')) {
        return None;
    }
    let text = std::str::from_utf8(answer).ok()?;
    let head = text.strip_suffix("\r\n\r\n")?;
    let (status_line, headers) = head.split_once("\r\n")?;
    let mut is_empty = false;
    let mut kept = String::new();
    for line in headers.split("\r\n") {
        let (name, value) = line.split_once(':')?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => is_empty = value.trim() == "0",
            "connection" => {}
            _ => {
                kept.push_str(line);
                kept.push_str("\r\n");
            }
        }
    }
    if !is_empty {
        return None;
    }
    let status = StatusCode::from_bytes(status_line.as_bytes().get(9..12)?).ok()?;
    let (code, message) = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            ("RequestHeaderFieldsTooLarge", "the headers of the request are too large or too many")
        }
        StatusCode::URI_TOO_LONG => ("RequestUriTooLong", "the address of the request is too long"),
        _ => ("BadRequest", "the request is not well-formed HTTP"),
    };
    let body = failure(code, message);
    let length = body.len();
    Some(
        format!(
            "{status_line}\r\n{kept}content-type: application/json\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        )
        .into_bytes(),
    )
}

fn respond_failure(
    front: Front,
    status: StatusCode,
    code: &'static str,
    message: &str,
) -> Response<Full<Bytes>> {
    match front {
        Front::Sql | Front::Mongo | Front::Gremlin => respond(status, JSON, failure(code, message).into()),
        Front::Table | Front::StorageTable => {
            let text = format!(
                r#"{{"odata.error":{{"code":"{code}","message":{{"lang":"en-US","value":"{message}"}}}}}}"#
            );
            let mut response = respond(status, JSON, text.into());
            response.headers_mut().insert(names::ERROR_CODE.clone(), HeaderValue::from_static(code));
            response
        }
    }
}

fn failure(code: &str, message: &str) -> String {
    format!(r#"{{"code":"{code}","message":"{message}"}}"#)
}

fn respond(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn failures_in_the_form_of_each_api() {
        for (response, status, body, code) in [
            (
                internal(Front::Sql),
                500,
                r#"{"code":"InternalServerError","message":"the request met a defect of the server, see its log"}"#,
                None,
            ),
            (
                internal(Front::Table),
                500,
                r#"{"odata.error":{"code":"InternalError","message":{"lang":"en-US","value":"the request met a defect of the server, see its log"}}}"#,
                Some("InternalError"),
            ),
            (
                body_stalled(Front::Sql),
                408,
                r#"{"code":"RequestTimeout","message":"the request body stopped arriving"}"#,
                None,
            ),
            (
                body_stalled(Front::StorageTable),
                408,
                r#"{"odata.error":{"code":"OperationTimedOut","message":{"lang":"en-US","value":"the request body stopped arriving"}}}"#,
                Some("OperationTimedOut"),
            ),
        ] {
            assert_eq!(response.status(), status);
            assert_eq!(response.headers().get(&names::ERROR_CODE).map(|code| code.to_str().unwrap()), code);
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(bytes, body);
        }
    }

    #[test]
    fn only_failures_without_a_body_get_one() {
        let mended = |text: &str| with_body(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
                    date: Sat, 01 Jan 2000 00:00:00 GMT\r\n\r\n";
        let body = r#"{"code":"RequestHeaderFieldsTooLarge","message":"the headers of the request are too large or too many"}"#;
        assert_eq!(
            mended(bare).unwrap(),
            format!(
                "HTTP/1.1 431 Request Header Fields Too Large\r\ndate: Sat, 01 Jan 2000 00:00:00 GMT\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
        );
        assert!(
            mended("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap().contains("well-formed")
        );
        for other in [
            "",
            "HTTP/1.1 4",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 400 Bad Request\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\n",
        ] {
            assert_eq!(mended(other), None, "{other:?}");
        }
    }
}
