//! Tests of the documents, with the texts that the published clients send.

use proptest::prelude::*;

use super::access_policies::POLICIES_MAX;
use super::element::{BODY_BYTES_MAX, DEPTH_MAX, ELEMENTS_MAX, Element, parse};
use super::service_properties::{
    CORS_ENTRY_CHARACTERS_MAX, CORS_LIST_MAX, CORS_RULES_MAX, Logging, Metrics, RETENTION_DAYS_MAX, Retention,
};
use super::*;
use crate::auth::{AccessPolicy, POLICY_ID_CHARACTERS_MAX};
use crate::utc_time::UtcTime;

fn identifier(id: &str, start: &str, expiry: &str, permission: &str) -> SignedIdentifier {
    let policy = AccessPolicy {
        start: UtcTime::parse(start),
        expiry: UtcTime::parse(expiry),
        permission: (!permission.is_empty()).then(|| permission.to_owned()),
    };
    SignedIdentifier { id: id.to_owned(), policy }
}

#[test]
fn policies_are_read_as_clients_send_them() {
    for text in [
        // Python, JavaScript, and one that is laid out, with prefixes and a byte order mark.
        "<?xml version='1.0' encoding='utf-8'?>\n<SignedIdentifiers><SignedIdentifier><Id>id1</Id><AccessPolicy><Start>2021-06-08T00:00:00Z</Start><Permission>r</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>none</Id></SignedIdentifier></SignedIdentifiers>",
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><SignedIdentifiers><SignedIdentifier><Id>id1</Id><AccessPolicy><Start>2021-06-08T00:00:00Z</Start><Permission>r</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>none</Id><AccessPolicy/></SignedIdentifier></SignedIdentifiers>"#,
        "\u{FEFF}<s:SignedIdentifiers xmlns:s=\"urn:x\">\n <!-- two -->\n <s:SignedIdentifier>\n  <s:AccessPolicy><s:Permission> r </s:Permission><s:Expiry/>\n<s:Start>2021-06-08</s:Start></s:AccessPolicy>\n  <s:Id>id1</s:Id></s:SignedIdentifier>\n <s:SignedIdentifier><s:Id><![CDATA[none]]></s:Id></s:SignedIdentifier>\n</s:SignedIdentifiers>\n",
    ] {
        let expected = vec![identifier("id1", "2021-06-08", "", "r"), identifier("none", "", "", "")];
        assert_eq!(read_signed_identifiers(text.as_bytes()), Ok(expected), "{text}");
    }
    for nothing in
        ["", " \n", "\u{FEFF}", "<SignedIdentifiers/>", "<SignedIdentifiers>\n</SignedIdentifiers>"]
    {
        assert_eq!(read_signed_identifiers(nothing.as_bytes()), Ok(Vec::new()), "{nothing}");
    }
}

#[test]
fn policies_are_written_as_clients_read_them() {
    let identifiers = [
        identifier("full", "2021-06-08T02:10:09Z", "2021-06-08T03:10:09.5Z", "raud"),
        identifier("a<b>&'\"", "", "", "r"),
        identifier("none", "", "", ""),
    ];
    let expected = "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>full</Id>\
        <AccessPolicy><Start>2021-06-08T02:10:09.0000000Z</Start><Expiry>2021-06-08T03:10:09.5000000Z</Expiry>\
        <Permission>raud</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>a&lt;b&gt;&amp;'\"</Id>\
        <AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>none</Id>\
        </SignedIdentifier></SignedIdentifiers>";
    let written = write_signed_identifiers(&identifiers, false);
    assert_eq!(std::str::from_utf8(&written), Ok(expected));
    let with_bom = write_signed_identifiers(&identifiers, true);
    assert_eq!(with_bom.strip_prefix(b"\xEF\xBB\xBF"), Some(&written[..]));
    for text in [written, with_bom] {
        assert_eq!(read_signed_identifiers(&text).as_deref(), Ok(&identifiers[..]));
    }
    let none = write_signed_identifiers(&[], false);
    assert_eq!(none, br#"<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers />"#);
}

#[track_caller]
fn check_refused(result: Result<(), XmlError>, code: &str, detail: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error:?}");
    assert!(error.message().contains(detail), "{error:?}");
}

#[test]
fn wrong_policies_are_refused() {
    let one = |inner: &str| {
        let text =
            format!("<SignedIdentifiers><SignedIdentifier>{inner}</SignedIdentifier></SignedIdentifiers>");
        read_signed_identifiers(text.as_bytes()).map(|_| ())
    };
    let long = "é".repeat(POLICY_ID_CHARACTERS_MAX);
    assert_eq!(one(&format!("<Id>{long}</Id>")), Ok(()));
    for (inner, code, detail) in [
        ("", "InvalidXmlDocument", "no Id"),
        ("<Id></Id>", "InvalidXmlNodeValue", "no Id"),
        ("<Id> </Id>", "InvalidXmlNodeValue", "no Id"),
        (&format!("<Id>{long}x</Id>"), "InvalidXmlNodeValue", "more than 64"),
        ("<Id>a</Id><Id>b</Id>", "InvalidXmlDocument", "more than one Id"),
        ("<Id>a</Id><Name/>", "InvalidXmlDocument", "Name does not belong"),
        ("<Id>a</Id><AccessPolicy><Begin/></AccessPolicy>", "InvalidXmlDocument", "Begin does not belong"),
        ("<Id>a</Id><AccessPolicy><Start>soon</Start></AccessPolicy>", "InvalidXmlNodeValue", "Start is not"),
        (
            "<Id>a</Id><AccessPolicy><Expiry>soon</Expiry></AccessPolicy>",
            "InvalidXmlNodeValue",
            "Expiry is not",
        ),
        ("<Id>a</Id><AccessPolicy><Permission>rx</Permission></AccessPolicy>", "InvalidXmlNodeValue", "raud"),
    ] {
        check_refused(one(inner), code, detail);
    }
    let many = |count: usize, id: fn(usize) -> String| {
        let list: String =
            (0..count).map(|n| format!("<SignedIdentifier><Id>{}</Id></SignedIdentifier>", id(n))).collect();
        read_signed_identifiers(format!("<SignedIdentifiers>{list}</SignedIdentifiers>").as_bytes())
            .map(|_| ())
    };
    assert_eq!(many(POLICIES_MAX, |n| n.to_string()), Ok(()));
    check_refused(many(POLICIES_MAX + 1, |n| n.to_string()), "InvalidXmlDocument", "more than 5");
    check_refused(many(2, |_| "a".to_owned()), "InvalidXmlDocument", "given twice");
}

#[test]
fn texts_that_are_no_such_documents_are_refused() {
    for (text, detail) in [
        ("<Other/>", "root is Other"),
        ("SignedIdentifiers", "outside of its root"),
        ("<SignedIdentifiers>", "inside of an element"),
        ("<SignedIdentifiers></Other>", ""),
        ("<SignedIdentifiers/><SignedIdentifiers/>", "more than one root"),
        ("<SignedIdentifiers/>x", "outside of its root"),
        ("</SignedIdentifiers>", ""),
        ("<!DOCTYPE x [<!ENTITY a \"b\">]><SignedIdentifiers/>", "document type"),
        ("<SignedIdentifiers>&unknown;</SignedIdentifiers>", "'unknown' is unknown"),
        ("<SignedIdentifiers>&#x110000;</SignedIdentifiers>", ""),
        ("<!-- only -->", "empty"),
        ("{}", "outside of its root"),
    ] {
        check_refused(read_signed_identifiers(text.as_bytes()).map(|_| ()), "InvalidXmlDocument", detail);
    }
    check_refused(
        read_signed_identifiers(b"<SignedIdentifiers>\xFF").map(|_| ()),
        "InvalidXmlDocument",
        "UTF-8",
    );
    check_refused(read_properties(b"").map(|_| ()), "InvalidXmlDocument", "empty");
}

#[test]
fn documents_have_bounds() {
    let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(parse(nested(DEPTH_MAX).as_bytes(), "a").is_ok());
    assert!(parse(nested(DEPTH_MAX + 1).as_bytes(), "a").is_err());
    let wide = |count: usize| format!("<a>{}</a>", "<b/>".repeat(count - 1));
    assert!(parse(wide(ELEMENTS_MAX).as_bytes(), "a").is_ok());
    assert!(parse(wide(ELEMENTS_MAX + 1).as_bytes(), "a").is_err());
    let long = |bytes: usize| format!("<a>{}</a>", "x".repeat(bytes - 7));
    assert!(parse(long(BODY_BYTES_MAX).as_bytes(), "a").is_ok());
    assert!(parse(long(BODY_BYTES_MAX + 1).as_bytes(), "a").is_err());
}

#[test]
fn text_is_put_together() {
    let parsed = parse(b"<a> 1 &lt;&amp;&gt; &#50;&#x33;<![CDATA[<4>]]><b>5</b> 6\r\n</a>", "a").unwrap();
    let b = Element { name: "b".to_owned(), text: "5".to_owned(), children: Vec::new() };
    assert_eq!(
        parsed,
        Element { name: "a".to_owned(), text: " 1 <&> 23<4> 6\n".to_owned(), children: vec![b] }
    );
}

const PYTHON_PROPERTIES: &str = "<?xml version='1.0' encoding='utf-8'?>\n<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy></HourMetrics><Cors><CorsRule><AllowedOrigins>www.xyz.com</AllowedOrigins><AllowedMethods>GET</AllowedMethods><AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>0</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>";

#[test]
fn what_a_change_leaves_out_stays() {
    let change = read_properties(PYTHON_PROPERTIES.as_bytes()).unwrap();
    let metrics = Metrics {
        is_enabled: true,
        includes_apis: Some(true),
        retention: Retention { days: Some(5) },
        ..Metrics::default()
    };
    let rule = CorsRule {
        allowed_origins: vec!["www.xyz.com".to_owned()],
        allowed_methods: vec!["GET".to_owned()],
        ..CorsRule::default()
    };
    let expected = PropertiesChange {
        hour_metrics: Some(metrics.clone()),
        cors_rules: Some(vec![rule.clone()]),
        ..PropertiesChange::default()
    };
    assert_eq!(change, expected);
    let logging = Logging { is_read_logged: true, ..Logging::default() };
    let before = ServiceProperties { logging: logging.clone(), ..ServiceProperties::default() };
    let after = change.applied_to(&before);
    assert_eq!(
        after,
        ServiceProperties {
            logging,
            hour_metrics: metrics,
            minute_metrics: Metrics::default(),
            cors_rules: vec![rule]
        }
    );
    let none = read_properties(b"<StorageServiceProperties><Cors/></StorageServiceProperties>").unwrap();
    assert_eq!(none.applied_to(&after).cors_rules, Vec::new());
    let nothing = read_properties(b"<StorageServiceProperties/>").unwrap();
    assert_eq!(nothing.applied_to(&after), after);
}

#[test]
fn properties_are_written_as_clients_read_them() {
    let off = "<Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>";
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Logging><Version>1.0</Version>\
         <Read>false</Read><Write>false</Write><Delete>false</Delete><RetentionPolicy><Enabled>false</Enabled>\
         </RetentionPolicy></Logging><HourMetrics>{off}</HourMetrics><MinuteMetrics>{off}</MinuteMetrics><Cors />\
         </StorageServiceProperties>"
    );
    let written = write_properties(&ServiceProperties::default(), false);
    assert_eq!(String::from_utf8_lossy(&written), expected);
    assert!(write_properties(&ServiceProperties::default(), true).starts_with(b"\xEF\xBB\xBF<?xml"));
    let change = read_properties(PYTHON_PROPERTIES.as_bytes()).unwrap();
    let properties = change.applied_to(&ServiceProperties::default());
    let written = write_properties(&properties, true);
    let again = read_properties(&written).unwrap().applied_to(&ServiceProperties::default());
    assert_eq!(again, properties);
}

#[test]
fn wrong_properties_are_refused() {
    let read = |inner: &str| {
        let text = format!("<StorageServiceProperties>{inner}</StorageServiceProperties>");
        read_properties(text.as_bytes()).map(|_| ())
    };
    let retention = |days: u32| {
        format!(
            "<MinuteMetrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>{days}</Days></RetentionPolicy></MinuteMetrics>"
        )
    };
    let rule = |origins: &str, methods: &str, age: &str| {
        format!(
            "<CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}</AllowedMethods><MaxAgeInSeconds>{age}</MaxAgeInSeconds></CorsRule>"
        )
    };
    let cors = |rules: &str| format!("<Cors>{rules}</Cors>");
    let list = |count: usize| vec!["a"; count].join(",");
    let good = [
        retention(1),
        retention(RETENTION_DAYS_MAX),
        cors(&rule("*", "GET,PATCH,MERGE", "0").repeat(CORS_RULES_MAX)),
        cors(&rule(&list(CORS_LIST_MAX), "GET", "1")),
        cors(&rule(&"a".repeat(CORS_ENTRY_CHARACTERS_MAX), "GET", "1")),
        "<DefaultServiceVersion>2019-02-02</DefaultServiceVersion>".to_owned(),
    ];
    for inner in good {
        assert_eq!(read(&inner), Ok(()), "{inner:.200}");
    }
    let (document, value) = ("InvalidXmlDocument", "InvalidXmlNodeValue");
    for (inner, code, detail) in [
        (retention(0), document, "between 1 and 365"),
        (retention(RETENTION_DAYS_MAX + 1), document, "between 1 and 365"),
        (cors(&rule("*", "GET", "0").repeat(CORS_RULES_MAX + 1)), document, "more than 5 rules"),
        (cors(&rule(&list(CORS_LIST_MAX + 1), "GET", "1")), value, "more than 64"),
        (cors(&rule(&"a".repeat(CORS_ENTRY_CHARACTERS_MAX + 1), "GET", "1")), value, "more than 256"),
        (cors(&rule("h\u{e9}", "GET", "1")), value, "no header holds"),
        (cors(&rule("", "GET", "1")), document, "AllowedOrigins is missing"),
        (cors(&rule("*", "", "1")), document, "AllowedMethods is missing"),
        (cors(&rule("*", "FETCH", "1")), value, "no verb"),
        (cors(&rule("*", "GET", "-1")), value, "whole number"),
        ("<Cors><Rule/></Cors>".to_owned(), document, "Rule does not belong"),
        ("<Metrics/>".to_owned(), document, "Metrics does not belong"),
        ("<Logging><Version>3.0</Version></Logging>".to_owned(), value, "Version in Logging"),
        ("<Logging><Read>true</Read></Logging>".to_owned(), document, "Delete is missing"),
        ("<HourMetrics><Enabled>yes</Enabled></HourMetrics>".to_owned(), value, "neither 'true'"),
        ("<HourMetrics/>".to_owned(), document, "Enabled is missing"),
        ("<HourMetrics><Enabled>true</Enabled></HourMetrics>".to_owned(), document, "IncludeAPIs is missing"),
        (
            "<HourMetrics><Enabled>false</Enabled><RetentionPolicy><Enabled>true</Enabled></RetentionPolicy></HourMetrics>"
                .to_owned(),
            document,
            "Days is missing",
        ),
    ] {
        check_refused(read(&inner), code, detail);
    }
}

#[test]
fn stats_and_errors_are_written() {
    let expected = "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication>\
        <Status>live</Status><LastSyncTime>Tue, 14 Nov 2023 22:13:20 GMT</LastSyncTime></GeoReplication>\
        </StorageServiceStats>";
    assert_eq!(String::from_utf8_lossy(&write_stats(1_700_000_000_123, true)), expected);
    for now_ms in [i64::MIN, -1, i64::MAX] {
        assert!(parse(&write_stats(now_ms, false), "StorageServiceStats").is_ok());
    }
    let expected = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\
        <m:error xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\"><m:code>A</m:code>\
        <m:message xml:lang=\"en-US\">b &lt; c\nd \u{FFFD}</m:message></m:error>";
    assert_eq!(String::from_utf8_lossy(&write_error("A", "b < c\nd \u{1}")), expected);
}

fn any_rule() -> impl Strategy<Value = CorsRule> {
    let list = |pattern: &'static str| proptest::collection::vec(pattern, 0..3);
    let methods = proptest::collection::vec(prop_oneof![Just("GET"), Just("PATCH")], 1..3);
    (
        proptest::collection::vec("[!-+.-~]{1,9}", 1..3),
        methods,
        list("[!-+.-~]{1,9}"),
        list("[a-z*-]{1,9}"),
        any::<u32>(),
    )
        .prop_map(|(allowed_origins, methods, allowed_headers, exposed_headers, max_age_seconds)| {
            CorsRule {
                allowed_origins,
                allowed_methods: methods.into_iter().map(str::to_owned).collect(),
                allowed_headers,
                exposed_headers,
                max_age_seconds,
            }
        })
}

fn any_metrics() -> impl Strategy<Value = Metrics> {
    (any::<bool>(), any::<bool>(), proptest::option::of(1..=RETENTION_DAYS_MAX)).prop_map(
        |(is_enabled, includes_apis, days)| Metrics {
            is_enabled,
            includes_apis: is_enabled.then_some(includes_apis),
            retention: Retention { days },
            ..Metrics::default()
        },
    )
}

proptest! {
    #[test]
    fn properties_survive(
        flags in any::<[bool; 3]>(),
        days in proptest::option::of(1..=RETENTION_DAYS_MAX),
        hour_metrics in any_metrics(),
        minute_metrics in any_metrics(),
        cors_rules in proptest::collection::vec(any_rule(), 0..=CORS_RULES_MAX),
        has_bom: bool,
    ) {
        let [is_delete_logged, is_read_logged, is_write_logged] = flags;
        let retention = Retention { days };
        let logging = Logging { is_delete_logged, is_read_logged, is_write_logged, retention, ..Logging::default() };
        let properties = ServiceProperties { logging, hour_metrics, minute_metrics, cors_rules };
        let read = read_properties(&write_properties(&properties, has_bom)).unwrap();
        prop_assert_eq!(read.applied_to(&ServiceProperties::default()), properties);
    }

    #[test]
    fn policies_survive(
        policies in proptest::collection::vec(("[ -~é\u{10FFFF}]{0,20}[!-~]", proptest::option::of(0i64..4_000_000_000_000), proptest::option::of("[raud]{1,4}")), 0..=POLICIES_MAX),
        has_bom: bool,
    ) {
        let identifiers: Vec<_> = policies.into_iter().enumerate().map(|(position, (name, time_ms, permission))| {
            let time = time_ms.map(UtcTime::from_unix_ms);
            let policy = AccessPolicy { start: time, expiry: time, permission };
            SignedIdentifier { id: format!("{position}{name}"), policy }
        }).collect();
        prop_assert_eq!(read_signed_identifiers(&write_signed_identifiers(&identifiers, has_bom)), Ok(identifiers));
    }

    #[test]
    fn no_text_panics(
        text in "(<|>|/|&|;|'|\"|!|\\[|\\]|-|\\?|a|=| |SignedIdentifiers|Id|CDATA|xml|#x1){0,40}",
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let _ = read_signed_identifiers(text.as_bytes());
        let _ = read_properties(text.as_bytes());
        let _ = read_signed_identifiers(&bytes);
    }
}
