//! `StorageServiceProperties`: logging, metrics and the rules for requests of web pages.
//!
//! Logging and metrics are kept and shown, as clients expect, and do nothing here.

use super::element::{Element, XmlError, begin, close, leaf, open, parse};

/// Days that logs and metrics may be kept.
pub(super) const RETENTION_DAYS_MAX: u32 = 365;
/// Rules for requests of web pages.
pub(super) const CORS_RULES_MAX: usize = 5;
/// Origins, headers that are allowed and headers that are shown, of one rule.
pub(super) const CORS_LIST_MAX: usize = 64;
/// Characters of an origin or a header.
pub(super) const CORS_ENTRY_CHARACTERS_MAX: usize = 256;
const CORS_METHODS: [&str; 10] =
    ["DELETE", "GET", "HEAD", "MERGE", "PATCH", "POST", "OPTIONS", "PUT", "TRACE", "CONNECT"];
const VERSIONS: [&str; 2] = ["1.0", "2.0"];

/// How long logs or metrics are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Retention {
    /// After so many days they go; never if that is not said.
    pub(crate) days: Option<u32>,
}

/// What is logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logging {
    pub(crate) version: String,
    pub(crate) is_delete_logged: bool,
    pub(crate) is_read_logged: bool,
    pub(crate) is_write_logged: bool,
    pub(crate) retention: Retention,
}

impl Default for Logging {
    fn default() -> Logging {
        Logging {
            version: VERSIONS[0].to_owned(),
            is_delete_logged: false,
            is_read_logged: false,
            is_write_logged: false,
            retention: Retention::default(),
        }
    }
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metrics {
    pub(crate) version: String,
    pub(crate) is_enabled: bool,
    /// Whether by operation; says nothing where metrics are off.
    pub(crate) includes_apis: Option<bool>,
    pub(crate) retention: Retention,
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            version: VERSIONS[0].to_owned(),
            is_enabled: false,
            includes_apis: None,
            retention: Retention::default(),
        }
    }
}

/// Which requests of web pages are allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CorsRule {
    /// Where the pages come from; `*` is everywhere.
    pub(crate) allowed_origins: Vec<String>,
    /// The verbs.
    pub(crate) allowed_methods: Vec<String>,
    /// The headers of requests; a `*` at the end stands for anything.
    pub(crate) allowed_headers: Vec<String>,
    /// The headers of answers that pages are shown; a `*` at the end stands for anything.
    pub(crate) exposed_headers: Vec<String>,
    /// How long a browser need not ask again.
    pub(crate) max_age_seconds: u32,
}

/// The properties of the service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServiceProperties {
    pub(crate) logging: Logging,
    pub(crate) hour_metrics: Metrics,
    pub(crate) minute_metrics: Metrics,
    pub(crate) cors_rules: Vec<CorsRule>,
}

/// Properties that are to be changed; what is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PropertiesChange {
    pub(crate) logging: Option<Logging>,
    pub(crate) hour_metrics: Option<Metrics>,
    pub(crate) minute_metrics: Option<Metrics>,
    pub(crate) cors_rules: Option<Vec<CorsRule>>,
}

impl PropertiesChange {
    /// Returns the properties after the change.
    pub(crate) fn applied_to(self, properties: &ServiceProperties) -> ServiceProperties {
        ServiceProperties {
            logging: self.logging.unwrap_or_else(|| properties.logging.clone()),
            hour_metrics: self.hour_metrics.unwrap_or_else(|| properties.hour_metrics.clone()),
            minute_metrics: self.minute_metrics.unwrap_or_else(|| properties.minute_metrics.clone()),
            cors_rules: self.cors_rules.unwrap_or_else(|| properties.cors_rules.clone()),
        }
    }
}

/// Reads a change of the properties.
pub(crate) fn read_properties(body: &[u8]) -> Result<PropertiesChange, XmlError> {
    let root = parse(body, "StorageServiceProperties")?;
    // The service version is a property of blobs; clients that serve several services send it everywhere.
    root.expect_children(&["Logging", "HourMetrics", "MinuteMetrics", "Cors", "DefaultServiceVersion"])?;
    Ok(PropertiesChange {
        logging: root.child("Logging")?.map(read_logging).transpose()?,
        hour_metrics: root.child("HourMetrics")?.map(read_metrics).transpose()?,
        minute_metrics: root.child("MinuteMetrics")?.map(read_metrics).transpose()?,
        cors_rules: root.child("Cors")?.map(read_cors).transpose()?,
    })
}

fn read_logging(element: &Element) -> Result<Logging, XmlError> {
    element.expect_children(&["Version", "Delete", "Read", "Write", "RetentionPolicy"])?;
    Ok(Logging {
        version: read_version(element)?,
        is_delete_logged: required_bool(element, "Delete")?,
        is_read_logged: required_bool(element, "Read")?,
        is_write_logged: required_bool(element, "Write")?,
        retention: read_retention(element)?,
    })
}

fn read_metrics(element: &Element) -> Result<Metrics, XmlError> {
    element.expect_children(&["Version", "Enabled", "IncludeAPIs", "RetentionPolicy"])?;
    let metrics = Metrics {
        version: read_version(element)?,
        is_enabled: required_bool(element, "Enabled")?,
        includes_apis: read_bool(element, "IncludeAPIs")?,
        retention: read_retention(element)?,
    };
    if metrics.is_enabled && metrics.includes_apis.is_none() {
        return Err(missing(element, "IncludeAPIs"));
    }
    Ok(metrics)
}

fn read_version(element: &Element) -> Result<String, XmlError> {
    match element.child_text("Version")? {
        Some(version) if VERSIONS.contains(&version) => Ok(version.to_owned()),
        Some(_) => Err(XmlError::NodeValue(format!("Version in {} is not '{}'", element.name, VERSIONS[0]))),
        None => Ok(VERSIONS[0].to_owned()),
    }
}

fn read_retention(element: &Element) -> Result<Retention, XmlError> {
    let Some(retention) = element.child("RetentionPolicy")? else { return Ok(Retention::default()) };
    retention.expect_children(&["Enabled", "Days"])?;
    if !required_bool(retention, "Enabled")? {
        return Ok(Retention::default());
    }
    let days = retention.child_text("Days")?.ok_or_else(|| missing(retention, "Days"))?;
    match days.parse() {
        Ok(days @ 1..=RETENTION_DAYS_MAX) => Ok(Retention { days: Some(days) }),
        _ => Err(XmlError::Document(format!(
            "Days in {} is not between 1 and {RETENTION_DAYS_MAX}",
            element.name
        ))),
    }
}

fn read_cors(element: &Element) -> Result<Vec<CorsRule>, XmlError> {
    element.expect_children(&["CorsRule"])?;
    if element.children.len() > CORS_RULES_MAX {
        return Err(XmlError::Document(format!("there are more than {CORS_RULES_MAX} rules in Cors")));
    }
    element.children.iter().map(read_cors_rule).collect()
}

fn read_cors_rule(element: &Element) -> Result<CorsRule, XmlError> {
    element.expect_children(&[
        "AllowedOrigins",
        "AllowedMethods",
        "AllowedHeaders",
        "ExposedHeaders",
        "MaxAgeInSeconds",
    ])?;
    let rule = CorsRule {
        allowed_origins: read_list(element, "AllowedOrigins")?,
        allowed_methods: read_list(element, "AllowedMethods")?,
        allowed_headers: read_list(element, "AllowedHeaders")?,
        exposed_headers: read_list(element, "ExposedHeaders")?,
        max_age_seconds: match element.child_text("MaxAgeInSeconds")? {
            Some(seconds) => seconds.parse().map_err(|_| {
                XmlError::NodeValue("MaxAgeInSeconds is not a whole number of seconds".to_owned())
            })?,
            None => 0,
        },
    };
    if rule.allowed_origins.is_empty() {
        return Err(missing(element, "AllowedOrigins"));
    }
    if rule.allowed_methods.is_empty() {
        return Err(missing(element, "AllowedMethods"));
    }
    match rule.allowed_methods.iter().find(|method| !CORS_METHODS.contains(&method.as_str())) {
        Some(method) => {
            Err(XmlError::NodeValue(format!("'{method}' in AllowedMethods is no verb of the service")))
        }
        None => Ok(rule),
    }
}

/// Reads a list with commas. Entries become parts of headers, so they are of what headers can hold.
fn read_list(element: &Element, name: &str) -> Result<Vec<String>, XmlError> {
    let Some(text) = element.child_text(name)? else { return Ok(Vec::new()) };
    let entries: Vec<String> =
        text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect();
    if entries.len() > CORS_LIST_MAX {
        return Err(XmlError::NodeValue(format!("{name} has more than {CORS_LIST_MAX} entries")));
    }
    let is_usable = |entry: &String| {
        entry.len() <= CORS_ENTRY_CHARACTERS_MAX && entry.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if !entries.iter().all(is_usable) {
        return Err(XmlError::NodeValue(format!(
            "an entry of {name} has more than {CORS_ENTRY_CHARACTERS_MAX} characters, or some that no header holds"
        )));
    }
    Ok(entries)
}

fn read_bool(element: &Element, name: &str) -> Result<Option<bool>, XmlError> {
    match element.child_text(name)? {
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => {
            Err(XmlError::NodeValue(format!("{name} in {} is neither 'true' nor 'false'", element.name)))
        }
        None => Ok(None),
    }
}

fn required_bool(element: &Element, name: &str) -> Result<bool, XmlError> {
    read_bool(element, name)?.ok_or_else(|| missing(element, name))
}

fn missing(element: &Element, name: &str) -> XmlError {
    XmlError::Document(format!("{name} is missing in {}", element.name))
}

/// Writes the properties of the service.
pub(crate) fn write_properties(properties: &ServiceProperties, has_bom: bool) -> Vec<u8> {
    let ServiceProperties { logging, hour_metrics, minute_metrics, cors_rules } = properties;
    let mut out = begin(has_bom);
    open(&mut out, "StorageServiceProperties");
    open(&mut out, "Logging");
    leaf(&mut out, "Version", &logging.version);
    leaf_bool(&mut out, "Read", logging.is_read_logged);
    leaf_bool(&mut out, "Write", logging.is_write_logged);
    leaf_bool(&mut out, "Delete", logging.is_delete_logged);
    write_retention(&mut out, &logging.retention);
    close(&mut out, "Logging");
    for (name, metrics) in [("HourMetrics", hour_metrics), ("MinuteMetrics", minute_metrics)] {
        open(&mut out, name);
        leaf(&mut out, "Version", &metrics.version);
        leaf_bool(&mut out, "Enabled", metrics.is_enabled);
        if let Some(includes_apis) = metrics.includes_apis {
            leaf_bool(&mut out, "IncludeAPIs", includes_apis);
        }
        write_retention(&mut out, &metrics.retention);
        close(&mut out, name);
    }
    if cors_rules.is_empty() {
        leaf(&mut out, "Cors", "");
    } else {
        open(&mut out, "Cors");
        for rule in cors_rules {
            open(&mut out, "CorsRule");
            leaf(&mut out, "AllowedMethods", &rule.allowed_methods.join(","));
            leaf(&mut out, "AllowedOrigins", &rule.allowed_origins.join(","));
            leaf(&mut out, "AllowedHeaders", &rule.allowed_headers.join(","));
            leaf(&mut out, "ExposedHeaders", &rule.exposed_headers.join(","));
            leaf(&mut out, "MaxAgeInSeconds", &rule.max_age_seconds.to_string());
            close(&mut out, "CorsRule");
        }
        close(&mut out, "Cors");
    }
    close(&mut out, "StorageServiceProperties");
    out.into_bytes()
}

fn leaf_bool(out: &mut String, name: &str, value: bool) {
    leaf(out, name, if value { "true" } else { "false" });
}

fn write_retention(out: &mut String, retention: &Retention) {
    open(out, "RetentionPolicy");
    leaf_bool(out, "Enabled", retention.days.is_some());
    if let Some(days) = retention.days {
        leaf(out, "Days", &days.to_string());
    }
    close(out, "RetentionPolicy");
}
