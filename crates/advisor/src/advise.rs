//! Advice: what the rules find, with what each change would save, measured.

use armilla_engine::Error;
use armilla_value::{Object, Value};

use crate::alteration::{Alteration, CannotAlter};
use crate::evidence::{Evidence, charge_of};
use crate::finding::{Comparison, ComparisonLine, Finding, Severity, text};
use crate::findings::{self, Candidate, Case};
use crate::limits::{FINDINGS_MAX, TRIALS_MAX};
use crate::model::Model;
use crate::trial::{Measured, Trial, Workshop};

/// What there is to say of an account.
#[derive(Debug, Clone, Default)]
pub struct Advice {
    /// How many seconds of requests it is made from.
    pub seconds: f64,
    /// What those requests were charged, in request units a second.
    pub charge: f64,
    /// The containers that were looked at.
    pub containers: Vec<ContainerSummary>,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
    /// What all of it together would come to, step by step.
    pub stages: Vec<Stage>,
}

/// A container that was looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContainerSummary {
    /// `database/container`.
    pub name: String,
    /// Items that it holds.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them were looked at.
    pub sampled: u64,
    /// Physical partitions.
    pub partitions: u64,
    /// What its requests were charged, in request units a second.
    pub charge: f64,
}

/// Changes that go together, and what they come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// What they are.
    pub title: &'static str,
    /// How they are tried.
    pub options: Vec<String>,
    /// What the operations cost before and after.
    pub comparison: Comparison,
}

/// Of what an operation costs, the part by which it has to change to be told.
const CHANGE_PART_MIN: f64 = 0.005;

/// Of what operations cost, the part that a change has to save.
const SAVED_PART_MIN: f64 = 0.02;

/// Judges an account.
pub async fn advise(evidence: &Evidence, workshop: &Workshop) -> Result<Advice, Error> {
    let mut model = Model::of(evidence);
    let candidates = findings::candidates(&Case { evidence });
    let base = match candidates.iter().any(|candidate| !candidate.alterations.is_empty()) {
        true => as_it_is(&mut model, workshop).await?,
        false => Vec::new(),
    };
    let mut advice = Advice {
        seconds: evidence.seconds(),
        charge: evidence.charge() / evidence.seconds(),
        containers: evidence.containers.iter().map(|container| summary(evidence, container)).collect(),
        ..Advice::default()
    };
    let mut kept: Vec<Alteration> = Vec::new();
    let mut tried: Vec<(Vec<Alteration>, Option<Comparison>)> = Vec::new();
    for candidate in candidates {
        let Candidate { mut finding, alterations } = candidate;
        if alterations.is_empty() {
            advice.findings.push(finding);
            continue;
        }
        let known = tried.iter().find(|(known, _)| *known == alterations).map(|(_, found)| found.clone());
        let comparison = match known {
            Some(comparison) => comparison,
            None if tried.len() < TRIALS_MAX => {
                let comparison = altered(&model, &base, &alterations, workshop).await?;
                tried.push((alterations.clone(), comparison.clone()));
                comparison
            }
            None => None,
        };
        let Some(comparison) = comparison else {
            // It cannot be tried, which does not make it wrong.
            finding.confidence *= 0.5;
            advice.findings.push(finding);
            continue;
        };
        // What saves nothing is no advice.
        if comparison.saved() < SAVED_PART_MIN * comparison.before().max(f64::MIN_POSITIVE) {
            continue;
        }
        finding.try_it =
            alterations.iter().map(Alteration::option).filter(|option| !option.is_empty()).collect();
        finding.comparison = Some(comparison);
        advice.findings.push(finding);
        for alteration in alterations {
            if !kept.contains(&alteration) {
                kept.push(alteration);
            }
        }
    }
    let saved = |finding: &Finding| finding.comparison.as_ref().map_or(0.0, Comparison::saved);
    advice.findings.sort_by(|one, other| {
        other.severity.cmp(&one.severity).then_with(|| saved(other).total_cmp(&saved(one)))
    });
    advice.findings.truncate(FINDINGS_MAX);
    advice.stages = stages(&model, base, &kept, workshop).await?;
    Ok(advice)
}

/// Measures alterations one after the other, all in one: each operation as it is, and as it would be.
pub async fn compare(
    evidence: &Evidence,
    alterations: &[Alteration],
    workshop: &Workshop,
) -> Result<Result<Comparison, CannotAlter>, Error> {
    let mut model = Model::of(evidence);
    let base = as_it_is(&mut model, workshop).await?;
    let mut after = model.clone();
    for alteration in alterations {
        match alteration.apply(&after) {
            Ok(next) => after = next,
            Err(error) => return Ok(Err(error)),
        }
    }
    let measured = Trial::of(&after, workshop).await?.measure(&after).await;
    Ok(Ok(comparison(&model, &base, &measured, true)))
}

/// Measures the model that an account has, and has it know what was charged there.
async fn as_it_is(model: &mut Model, workshop: &Workshop) -> Result<Vec<Measured>, Error> {
    let mut trial = Trial::of(model, workshop).await?;
    trial.calibrate(model).await;
    Ok(trial.measure(model).await)
}

async fn altered(
    model: &Model,
    base: &[Measured],
    alterations: &[Alteration],
    workshop: &Workshop,
) -> Result<Option<Comparison>, Error> {
    let mut after = model.clone();
    for alteration in alterations {
        match alteration.apply(&after) {
            Ok(next) => after = next,
            Err(_) => return Ok(None),
        }
    }
    let measured = Trial::of(&after, workshop).await?.measure(&after).await;
    Ok(Some(comparison(model, base, &measured, false)))
}

/// First what changes items where they are, then what copies them or gives them another key. Each is added to those before
/// it if it saves something beside them: what serves a query by itself may be in the way of what serves it better.
async fn stages(
    model: &Model,
    base: Vec<Measured>,
    kept: &[Alteration],
    workshop: &Workshop,
) -> Result<Vec<Stage>, Error> {
    let is_place = |alteration: &&Alteration| {
        matches!(alteration, Alteration::Copy { .. } | Alteration::Newest { .. } | Alteration::Key { .. })
    };
    let within: Vec<&Alteration> = kept.iter().filter(|one| !is_place(one)).collect();
    let beyond: Vec<&Alteration> = kept.iter().filter(is_place).collect();
    let (mut model, mut base) = (model.clone(), base);
    let mut stages = Vec::new();
    for (title, alterations) in [("in the items and their index", within), ("copies and keys", beyond)] {
        if alterations.is_empty() {
            continue;
        }
        let (mut after, mut measured) = (model.clone(), base.clone());
        let mut options = Vec::new();
        let mut is_changed = false;
        for alteration in alterations {
            // One may take away what another would have changed.
            let Ok(next) = alteration.apply(&after) else { continue };
            let then = Trial::of(&next, workshop).await?.measure(&next).await;
            let saving = comparison(&after, &measured, &then, false);
            if saving.saved() < SAVED_PART_MIN * saving.before() {
                continue;
            }
            (after, measured, is_changed) = (next, then, true);
            options.push(alteration.option());
        }
        if !is_changed {
            continue;
        }
        options.retain(|option| !option.is_empty());
        stages.push(Stage { title, options, comparison: comparison(&model, &base, &measured, false) });
        (model, base) = (after, measured);
    }
    Ok(stages)
}

/// Puts what operations cost before beside what they cost after; all of them, or those that changed.
fn comparison(model: &Model, before: &[Measured], after: &[Measured], is_all: bool) -> Comparison {
    let mut lines = Vec::new();
    for ((operation, before), after) in model.operations.iter().zip(before).zip(after) {
        let changed = (after.charge - before.charge).abs();
        if is_all || changed > CHANGE_PART_MIN * before.charge || before.requests != after.requests {
            lines.push(ComparisonLine {
                operation: operation.name.clone(),
                per_second: operation.per_second,
                before: before.charge,
                after: after.charge,
                requests_before: before.requests,
                requests_after: after.requests,
            });
        }
        if before.background != after.background {
            lines.push(ComparisonLine {
                operation: format!("{}, by workers", operation.name),
                per_second: operation.per_second,
                before: before.background,
                after: after.background,
                requests_before: 0.0,
                requests_after: 0.0,
            });
        }
    }
    Comparison { lines, is_measured: true }
}

fn summary(evidence: &Evidence, container: &crate::evidence::ContainerEvidence) -> ContainerSummary {
    ContainerSummary {
        name: container.name.clone(),
        items: container.items,
        bytes: container.bytes,
        sampled: container.sample.len() as u64,
        partitions: container.partitions.len() as u64,
        charge: evidence.requests(container).map_or(0.0, charge_of) / evidence.seconds(),
    }
}

impl Advice {
    /// Returns the worst of what was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Returns it as JSON.
    pub fn to_value(&self) -> Value {
        let container = |container: &ContainerSummary| {
            let mut object = Object::default();
            object.insert("container", text(&container.name));
            object.insert("items", Value::Int64(container.items as i64));
            object.insert("bytes", Value::Int64(container.bytes as i64));
            object.insert("sampled", Value::Int64(container.sampled as i64));
            object.insert("partitions", Value::Int64(container.partitions as i64));
            object.insert("chargePerSecond", Value::Double((container.charge * 1_000.0).round() / 1_000.0));
            Value::Object(object)
        };
        let stage = |stage: &Stage| {
            let mut object = Object::default();
            object.insert("title", text(stage.title));
            object.insert("try", Value::Array(stage.options.iter().map(|option| text(option)).collect()));
            object.insert("comparison", stage.comparison.to_value());
            Value::Object(object)
        };
        let mut object = Object::default();
        object.insert("seconds", Value::Double((self.seconds * 1_000.0).round() / 1_000.0));
        object.insert("chargePerSecond", Value::Double((self.charge * 1_000.0).round() / 1_000.0));
        object.insert("containers", Value::Array(self.containers.iter().map(container).collect()));
        object.insert("findings", Value::Array(self.findings.iter().map(Finding::to_value).collect()));
        object.insert("stages", Value::Array(self.stages.iter().map(stage).collect()));
        Value::Object(object)
    }
}
