//! The rules of the service's properties for requests that web pages send: cross-origin resource sharing.
//!
//! A browser asks first, with `OPTIONS`, and then sends the request itself; rules are tried in their order and the
//! first one that fits counts.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::xml::{CorsRule, ServiceProperties};

/// Why a browser may not send what it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CorsError {
    /// No rule fits.
    NoRule,
    /// The question lacks one of its headers.
    MissingHeader(&'static str),
}

impl CorsError {
    /// Returns the status of the answer.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            CorsError::NoRule => StatusCode::FORBIDDEN,
            CorsError::MissingHeader(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns the error code of the answer.
    pub(crate) fn code(self) -> &'static str {
        match self {
            CorsError::NoRule => "CorsPreflightFailure",
            CorsError::MissingHeader(_) => "MissingRequiredHeader",
        }
    }

    /// Returns the message of the answer.
    pub(crate) fn message(self) -> String {
        match self {
            CorsError::NoRule => "CORS not enabled or no matching rule found for this request.".to_owned(),
            CorsError::MissingHeader(name) => {
                format!("A required CORS header is not present. ({name})")
            }
        }
    }
}

/// Answers a browser's question: returns the headers of the answer.
pub(crate) fn preflight(properties: &ServiceProperties, headers: &HeaderMap) -> Result<HeaderMap, CorsError> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let origin = text(&ORIGIN).ok_or(CorsError::MissingHeader("Origin"))?;
    let method = text(&ACCESS_CONTROL_REQUEST_METHOD)
        .ok_or(CorsError::MissingHeader("Access-Control-Request-Method"))?;
    let wanted = text(&ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
    let rule = properties
        .cors_rules
        .iter()
        .find(|rule| {
            allows_origin(rule, origin) && allows_method(rule, method) && allows_headers(rule, wanted)
        })
        .ok_or(CorsError::NoRule)?;
    let mut answer = HeaderMap::new();
    put_origin(&mut answer, rule, origin);
    put(&mut answer, ACCESS_CONTROL_ALLOW_METHODS, method);
    if !wanted.is_empty() {
        put(&mut answer, ACCESS_CONTROL_ALLOW_HEADERS, wanted);
    }
    put(&mut answer, ACCESS_CONTROL_MAX_AGE, &rule.max_age_seconds.to_string());
    Ok(answer)
}

/// Tells whether a rule lets a page send a request.
pub(crate) fn allows(properties: &ServiceProperties, origin: &str, method: &Method) -> bool {
    let mut rules = properties.cors_rules.iter();
    rules.any(|rule| allows_origin(rule, origin) && allows_method(rule, method.as_str()))
}

/// Adds what a browser must see in the answer to a request, whatever that answer is.
pub(crate) fn apply(
    properties: &ServiceProperties,
    method: &Method,
    request: &HeaderMap,
    response: &mut HeaderMap,
) {
    let rules = &properties.cors_rules;
    let Some(origin) = request.get(ORIGIN).and_then(|value| value.to_str().ok()) else {
        // An answer that a cache keeps must not serve pages for which it would have looked otherwise.
        let is_cached = matches!(*method, Method::GET | Method::HEAD);
        if is_cached && rules.iter().any(|rule| !is_for_everyone(rule)) {
            response.append(VARY, HeaderValue::from_static("Origin"));
        }
        return;
    };
    let Some(rule) =
        rules.iter().find(|rule| allows_origin(rule, origin) && allows_method(rule, method.as_str()))
    else {
        // Another page may be let in, so its answer is another one.
        if !rules.is_empty() {
            response.append(VARY, HeaderValue::from_static("Origin"));
        }
        return;
    };
    let exposed: Vec<_> = response
        .keys()
        .map(HeaderName::as_str)
        .filter(|name| rule.exposed_headers.iter().any(|pattern| fits(pattern, name)))
        .map(str::to_owned)
        .collect();
    put_origin(response, rule, origin);
    if !exposed.is_empty() {
        put(response, ACCESS_CONTROL_EXPOSE_HEADERS, &exposed.join(","));
    }
}

fn put_origin(answer: &mut HeaderMap, rule: &CorsRule, origin: &str) {
    if is_for_everyone(rule) {
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        return;
    }
    put(answer, ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    answer.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    answer.append(VARY, HeaderValue::from_static("Origin"));
}

/// Inserts a header, unless its value cannot stand in one.
fn put(answer: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.insert(name, value);
    }
}

fn is_for_everyone(rule: &CorsRule) -> bool {
    rule.allowed_origins.iter().any(|allowed| allowed == "*")
}

/// Origins are compared letter by letter; `https://*.example.com` fits every name below that one.
fn allows_origin(rule: &CorsRule, origin: &str) -> bool {
    rule.allowed_origins.iter().any(|allowed| {
        allowed == "*"
            || allowed == origin
            || allowed.split_once("://*.").is_some_and(|(scheme, domain)| {
                origin
                    .split_once("://")
                    .filter(|(origin_scheme, _)| *origin_scheme == scheme)
                    .and_then(|(_, host)| host.strip_suffix(domain))
                    .is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
            })
    })
}

fn allows_method(rule: &CorsRule, method: &str) -> bool {
    rule.allowed_methods.iter().any(|allowed| allowed == method)
}

fn allows_headers(rule: &CorsRule, wanted: &str) -> bool {
    wanted
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .all(|name| rule.allowed_headers.iter().any(|pattern| fits(pattern, name)))
}

/// Returns whether the name of a header fits a pattern, which may end in `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => {
            name.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix))
        }
        None => pattern.eq_ignore_ascii_case(name),
    }
}

#[cfg(test)]
mod tests;
