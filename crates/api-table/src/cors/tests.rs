//! Tests of what browsers are told.

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::{CorsError, apply, preflight};
use crate::xml::{CorsRule, ServiceProperties};

fn rule(origins: &str, methods: &str, headers: &str, exposed: &str) -> CorsRule {
    let list = |text: &str| text.split(',').filter(|entry| !entry.is_empty()).map(str::to_owned).collect();
    CorsRule {
        allowed_origins: list(origins),
        allowed_methods: list(methods),
        allowed_headers: list(headers),
        exposed_headers: list(exposed),
        max_age_seconds: 200,
    }
}

fn properties(rules: Vec<CorsRule>) -> ServiceProperties {
    ServiceProperties { cors_rules: rules, ..ServiceProperties::default() }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn shown(headers: &HeaderMap) -> Vec<String> {
    let mut shown: Vec<_> =
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    shown.sort_unstable();
    shown
}

#[test]
fn questions_are_answered_by_the_first_rule_that_fits() {
    let properties = properties(vec![
        rule("http://a.example,http://b.example", "GET,PUT", "x-ms-*,accept", ""),
        rule("https://*.c.example", "GET", "", ""),
        rule("*", "GET", "*", ""),
    ]);
    let ask = |origin: &str, method: &str, wanted: &str| {
        let mut question = headers(&[("origin", origin), ("access-control-request-method", method)]);
        if !wanted.is_empty() {
            question.insert("access-control-request-headers", wanted.parse().unwrap());
        }
        preflight(&properties, &question).map(|answer| shown(&answer))
    };
    let named = |origin: &str, method: &str, wanted: &str| {
        let mut lines = vec!["access-control-allow-credentials: true".to_owned()];
        if !wanted.is_empty() {
            lines.push(format!("access-control-allow-headers: {wanted}"));
        }
        lines.push(format!("access-control-allow-methods: {method}"));
        lines.push(format!("access-control-allow-origin: {origin}"));
        lines.push("access-control-max-age: 200".to_owned());
        lines.push("vary: Origin".to_owned());
        Ok(lines)
    };
    let everyone = |wanted: &str| {
        let mut lines = vec![
            "access-control-allow-methods: GET".to_owned(),
            "access-control-allow-origin: *".to_owned(),
            "access-control-max-age: 200".to_owned(),
        ];
        if !wanted.is_empty() {
            lines.insert(0, format!("access-control-allow-headers: {wanted}"));
        }
        Ok(lines)
    };
    for (origin, method, wanted, expected) in [
        ("http://a.example", "PUT", "", named("http://a.example", "PUT", "")),
        (
            "http://b.example",
            "GET",
            "X-Ms-Date, Accept",
            named("http://b.example", "GET", "X-Ms-Date, Accept"),
        ),
        ("http://b.example", "GET", "dataserviceversion", everyone("dataserviceversion")),
        ("https://x.c.example", "GET", "", named("https://x.c.example", "GET", "")),
        ("https://y.x.c.example", "GET", "", named("https://y.x.c.example", "GET", "")),
        ("https://c.example", "GET", "", everyone("")),
        ("http://x.c.example", "GET", "", everyone("")),
        ("https://xc.example", "GET", "", everyone("")),
        ("http://A.example", "PUT", "", Err(CorsError::NoRule)),
        ("http://a.example", "DELETE", "", Err(CorsError::NoRule)),
        ("http://a.example", "PUT", "x-other", Err(CorsError::NoRule)),
    ] {
        assert_eq!(ask(origin, method, wanted), expected, "{origin} {method} {wanted}");
    }
    let question = |pairs: &[(&'static str, &str)]| preflight(&properties, &headers(pairs)).unwrap_err();
    assert_eq!(question(&[]), CorsError::MissingHeader("Origin"));
    let error = question(&[("origin", "http://a.example")]);
    assert_eq!(error, CorsError::MissingHeader("Access-Control-Request-Method"));
    assert_eq!((error.status().as_u16(), error.code()), (400, "MissingRequiredHeader"));
    assert_eq!(
        (CorsError::NoRule.status().as_u16(), CorsError::NoRule.code()),
        (403, "CorsPreflightFailure")
    );
}

#[test]
fn without_rules_nobody_is_allowed() {
    let question = headers(&[("origin", "http://a.example"), ("access-control-request-method", "GET")]);
    assert_eq!(preflight(&ServiceProperties::default(), &question), Err(CorsError::NoRule));
    let mut response = HeaderMap::new();
    apply(&ServiceProperties::default(), &Method::GET, &question, &mut response);
    apply(&ServiceProperties::default(), &Method::GET, &HeaderMap::new(), &mut response);
    assert_eq!(shown(&response), Vec::<String>::new());
}

#[test]
fn answers_say_what_pages_may_see() {
    let answer = |rule: CorsRule, method: Method, origin: Option<&str>| {
        let request = origin.map_or_else(HeaderMap::new, |origin| headers(&[("origin", origin)]));
        let mut response = headers(&[("x-ms-version", "2019-02-02"), ("etag", "x")]);
        apply(&properties(vec![rule]), &method, &request, &mut response);
        response.remove("x-ms-version");
        response.remove("etag");
        shown(&response)
    };
    let named = || rule("http://a.example", "GET", "", "x-ms-*");
    let everyone = || rule("*", "GET", "", "*");
    assert_eq!(
        answer(named(), Method::GET, Some("http://a.example")),
        [
            "access-control-allow-credentials: true",
            "access-control-allow-origin: http://a.example",
            "access-control-expose-headers: x-ms-version",
            "vary: Origin",
        ]
    );
    assert_eq!(
        answer(everyone(), Method::GET, Some("http://a.example")),
        ["access-control-allow-origin: *", "access-control-expose-headers: x-ms-version,etag"]
    );
    let none: [&str; 0] = [];
    assert_eq!(answer(named(), Method::PUT, Some("http://a.example")), ["vary: Origin"]);
    assert_eq!(answer(named(), Method::GET, Some("http://b.example")), ["vary: Origin"]);
    assert_eq!(answer(named(), Method::GET, None), ["vary: Origin"]);
    assert_eq!(answer(named(), Method::PUT, None), none);
    assert_eq!(answer(everyone(), Method::GET, None), none);
}
