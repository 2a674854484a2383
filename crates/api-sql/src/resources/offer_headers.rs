//! Throughput that a new database or container asks for in headers.

use armilla_engine::Throughput;
use armilla_rest_wire::names;
use armilla_value::{Value, json};

use crate::reply::failure::Failure;
use crate::request::headers::RequestHeaders;

/// Returns the throughput that the headers ask for, if they do.
pub(crate) fn throughput(headers: RequestHeaders<'_>) -> Result<Option<Throughput>, Failure> {
    let manual = match headers.offer_throughput()? {
        Some(throughput) => Some(throughput),
        None => headers.offer_type_throughput()?,
    };
    match (manual, headers.offer_autopilot()?) {
        (Some(_), Some(_)) => Err(Failure::bad_request(format!(
            "the headers {} and {} exclude each other: throughput is manual or autoscale",
            names::OFFER_THROUGHPUT,
            names::OFFER_AUTOPILOT
        ))),
        (Some(throughput), None) => Ok(Some(Throughput::Manual(throughput))),
        (None, Some(settings)) => autoscale(settings).map(Some),
        (None, None) => Ok(None),
    }
}

fn autoscale(settings: &str) -> Result<Throughput, Failure> {
    let invalid = || {
        Failure::bad_request(format!(
            "the header {} is not of the form {{\"maxThroughput\":4000}}: '{settings}'",
            names::OFFER_AUTOPILOT
        ))
    };
    let settings = json::parse(settings.as_bytes()).map_err(|_| invalid())?;
    let number = |value: &Value| value.as_i64().and_then(|number| u32::try_from(number).ok());
    let max = settings.get("maxThroughput").and_then(number).ok_or_else(invalid)?;
    let policy = settings.get("autoUpgradePolicy").and_then(|policy| policy.get("throughputPolicy"));
    let increment_percent = match policy.and_then(|policy| policy.get("incrementPercent")) {
        None | Some(Value::Null) => None,
        Some(percent) => Some(number(percent).ok_or_else(invalid)?),
    };
    Ok(Throughput::Autoscale { max, increment_percent })
}

#[cfg(test)]
mod tests {
    use armilla_engine::Throughput;
    use armilla_rest_wire::names;
    use http::{HeaderMap, HeaderValue};

    use super::throughput;
    use crate::request::headers::RequestHeaders;

    #[test]
    fn headers_say_how_much() {
        let autoscale = |max, increment_percent| Ok(Some(Throughput::Autoscale { max, increment_percent }));
        for (manual, autopilot, kind, expected) in [
            ("", "", "", Ok(None)),
            ("400", "", "", Ok(Some(Throughput::Manual(400)))),
            // Whether so little is allowed is the engine's question.
            ("1", "", "", Ok(Some(Throughput::Manual(1)))),
            ("", "", "S2", Ok(Some(Throughput::Manual(1_000)))),
            ("500", "", "S2", Ok(Some(Throughput::Manual(500)))),
            ("", r#"{"maxThroughput":4000}"#, "", autoscale(4_000, None)),
            ("", r#"{"maxThroughput":4000,"autoUpgradePolicy":null}"#, "", autoscale(4_000, None)),
            (
                "",
                r#"{"maxThroughput": 4000, "autoUpgradePolicy": {"throughputPolicy": {"incrementPercent": 10}}}"#,
                "",
                autoscale(4_000, Some(10)),
            ),
            ("400", r#"{"maxThroughput":4000}"#, "", Err(400)),
            ("x", "", "", Err(400)),
            ("", "{", "", Err(400)),
            ("", "{}", "", Err(400)),
            ("", "4000", "", Err(400)),
            ("", r#"{"maxThroughput":"4000"}"#, "", Err(400)),
            ("", r#"{"maxThroughput":-1}"#, "", Err(400)),
            ("", r#"{"maxThroughput":4294967296}"#, "", Err(400)),
            (
                "",
                r#"{"maxThroughput":4000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":"x"}}}"#,
                "",
                Err(400),
            ),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in [
                (&names::OFFER_THROUGHPUT, manual),
                (&names::OFFER_AUTOPILOT, autopilot),
                (&names::OFFER_TYPE, kind),
            ] {
                map.insert(name, HeaderValue::from_static(value));
            }
            let found = throughput(RequestHeaders(&map)).map_err(|failure| failure.status.http.as_u16());
            assert_eq!(found, expected, "{manual} {autopilot} {kind}");
        }
    }
}
