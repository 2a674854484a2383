//! A finding: what is wrong, how it is known, what it costs, and what would be better.

use armilla_value::{Object, Value};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// It costs, or is going to.
    Warning,
    /// It costs much, or is about to stop working.
    Severe,
}

impl Severity {
    /// Returns its word.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Severe => "severe",
        }
    }

    /// Returns the severity with a name.
    pub fn from_name(name: &str) -> Option<Severity> {
        [Severity::Note, Severity::Warning, Severity::Severe]
            .into_iter()
            .find(|severity| severity.name() == name)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its name, which is that of the section that explains it: `fan-out-query`.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The database and the container, `database/container`; nothing where it is about the account.
    pub container: Option<String>,
    /// What is wrong, in one sentence.
    pub title: String,
    /// How that is known: figures and examples, one a line.
    pub evidence: Vec<String>,
    /// What to do, in a few sentences.
    pub advice: String,
    /// What speaks against it.
    pub but: Option<String>,
    /// What it costs today, and what it would cost then.
    pub comparison: Option<Comparison>,
    /// What `--try-...` says to try it, where it can be tried.
    pub try_it: Vec<String>,
    /// An indexing policy that does what is advised, where applying it is safe.
    pub policy: Option<Value>,
    /// How sure this is, from 0 to 1.
    pub confidence: f64,
}

/// What something costs, today and then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The operations, one a line.
    pub lines: Vec<ComparisonLine>,
    /// Whether it was measured on a copy; otherwise it was computed from what requests were charged.
    pub is_measured: bool,
}

/// What an operation costs, today and then.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonLine {
    /// The operation.
    pub operation: String,
    /// How often it is done.
    pub per_second: f64,
    /// What it costs today, in request units.
    pub before: f64,
    /// What it would cost.
    pub after: f64,
    /// How many requests it takes today.
    pub requests_before: f64,
    /// How many it would take.
    pub requests_after: f64,
}

impl Comparison {
    /// Returns what would be saved, in request units a second.
    pub fn saved(&self) -> f64 {
        self.lines.iter().map(|line| line.per_second * (line.before - line.after)).sum()
    }

    /// Returns what it costs today, in request units a second.
    pub fn before(&self) -> f64 {
        self.lines.iter().map(|line| line.per_second * line.before).sum()
    }
}

impl Finding {
    /// Begins a finding.
    pub fn new(rule: &'static str, severity: Severity, title: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity,
            container: None,
            title: title.into(),
            evidence: Vec::new(),
            advice: String::new(),
            but: None,
            comparison: None,
            try_it: Vec::new(),
            policy: None,
            confidence: 1.0,
        }
    }

    /// Says which container it is about.
    pub fn about(mut self, container: &str) -> Finding {
        self.container = Some(container.to_owned());
        self
    }

    /// Adds a line of evidence.
    pub fn because(mut self, line: impl Into<String>) -> Finding {
        self.evidence.push(line.into());
        self
    }

    /// Says what to do.
    pub fn advise(mut self, advice: impl Into<String>) -> Finding {
        self.advice = advice.into();
        self
    }

    /// Says what speaks against it.
    pub fn but(mut self, but: impl Into<String>) -> Finding {
        self.but = Some(but.into());
        self
    }

    /// Says how it can be tried.
    pub fn try_with(mut self, option: impl Into<String>) -> Finding {
        self.try_it.push(option.into());
        self
    }

    /// Says how sure it is.
    pub fn sure(mut self, confidence: f64) -> Finding {
        self.confidence = confidence;
        self
    }

    /// Returns the page and section that explain it.
    pub fn page(&self) -> String {
        format!("docs/modelling/{}.md#{}", crate::findings::page(self.rule), self.rule)
    }

    /// Returns it as JSON.
    pub fn to_value(&self) -> Value {
        let mut object = Object::default();
        object.insert("rule", text(self.rule));
        object.insert("severity", text(self.severity.name()));
        object.insert("container", self.container.as_deref().map_or(Value::Null, text));
        object.insert("title", text(&self.title));
        object.insert("evidence", texts(&self.evidence));
        object.insert("advice", text(&self.advice));
        if let Some(but) = &self.but {
            object.insert("but", text(but));
        }
        if let Some(comparison) = &self.comparison {
            object.insert("comparison", comparison.to_value());
        }
        object.insert("try", texts(&self.try_it));
        if let Some(policy) = &self.policy {
            object.insert("indexingPolicy", policy.clone());
        }
        object.insert("confidence", Value::Double(rounded(self.confidence)));
        object.insert("page", text(&self.page()));
        Value::Object(object)
    }
}

impl Comparison {
    /// Returns it as JSON.
    pub fn to_value(&self) -> Value {
        let line = |line: &ComparisonLine| {
            let mut object = Object::default();
            object.insert("operation", text(&line.operation));
            object.insert("perSecond", Value::Double(rounded(line.per_second)));
            object.insert("before", Value::Double(rounded(line.before)));
            object.insert("after", Value::Double(rounded(line.after)));
            object.insert("requestsBefore", Value::Double(rounded(line.requests_before)));
            object.insert("requestsAfter", Value::Double(rounded(line.requests_after)));
            Value::Object(object)
        };
        let mut object = Object::default();
        object.insert("measured", Value::Bool(self.is_measured));
        object.insert("savedPerSecond", Value::Double(rounded(self.saved())));
        object.insert("operations", Value::Array(self.lines.iter().map(line).collect()));
        Value::Object(object)
    }
}

/// Four digits behind the point: what is measured has no more.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

pub(crate) fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn texts(lines: &[String]) -> Value {
    Value::Array(lines.iter().map(|line| text(line)).collect())
}
