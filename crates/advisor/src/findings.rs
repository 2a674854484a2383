//! The rules: each looks at the evidence and says what it finds.
//!
//! A rule is a function from a [`Case`] to candidates. What it thinks would be better it names as alterations, which are
//! then measured; a candidate whose alteration saves nothing is dropped.

mod changes;
mod embedding;
mod indexing;
mod keys;
mod queries;
mod references;
mod texts;
mod throughput;

use armilla_ledger::report::{Shape, ShapeKind};

use crate::alteration::Alteration;
use crate::evidence::{ContainerEvidence, Evidence, charge_of};
use crate::facts::Facts;
use crate::finding::Finding;
use crate::limits::{CHARGE_PART_MIN, LINE_CHARACTERS_MAX, SAMPLE_ITEMS_MIN, WATCHED_SECONDS_MIN};
use crate::model;

/// Everything a rule looks at.
pub(crate) struct Case<'c> {
    /// What is known.
    pub(crate) evidence: &'c Evidence,
}

/// What a rule has found, and what would be better.
pub(crate) struct Candidate {
    /// The finding, without what it would cost then.
    pub(crate) finding: Finding,
    /// What would be better; nothing where it cannot be tried.
    pub(crate) alterations: Vec<Alteration>,
}

impl From<Finding> for Candidate {
    fn from(finding: Finding) -> Candidate {
        Candidate { finding, alterations: Vec::new() }
    }
}

type Rule = fn(&Case<'_>) -> Vec<Candidate>;

/// Every rule, with the page that explains what it finds.
pub(crate) const RULES: [(&str, &str, Rule); 38] = [
    ("unbounded-array", "embedding", embedding::unbounded_array),
    ("item-near-limit", "embedding", embedding::item_near_limit),
    ("volatile-copy", "embedding", embedding::volatile_copy),
    ("copy-worth-embedding", "embedding", references::copy_worth_embedding),
    ("embedded-never-read", "embedding", embedding::embedded_never_read),
    ("growing-id-list", "references", references::growing_id_list),
    ("join-items", "references", references::join_items),
    ("dangling-reference", "references", references::dangling_reference),
    ("reads-after-query", "references", references::reads_after_query),
    ("repeated-aggregate", "queries", queries::repeated_aggregate),
    ("fan-out-query", "queries", queries::fan_out_query),
    ("newest-of-all", "queries", queries::newest_of_all),
    ("hot-logical-key", "partition-keys", keys::hot_logical_key),
    ("hot-partition", "partition-keys", keys::hot_partition),
    ("monotone-key", "partition-keys", keys::monotone_key),
    ("coarse-key", "partition-keys", keys::coarse_key),
    ("filling-logical-partition", "partition-keys", keys::filling_logical_partition),
    ("over-fine-key", "partition-keys", keys::over_fine_key),
    ("missing-key", "partition-keys", keys::missing_key),
    ("long-keys-hashed-short", "partition-keys", keys::long_keys_hashed_short),
    ("no-discriminator", "queries", queries::no_discriminator),
    ("discriminator-not-filtered", "queries", queries::discriminator_not_filtered),
    ("dominant-tenant", "partition-keys", keys::dominant_tenant),
    ("many-small-containers", "throughput", throughput::many_small_containers),
    ("series-without-ttl", "changing-data", changes::series_without_ttl),
    ("events-by-replace", "changing-data", changes::events_by_replace),
    ("query-for-one-item", "queries", queries::query_for_one_item),
    ("index-not-used", "indexing", indexing::index_not_used),
    ("filter-without-index", "indexing", indexing::filter_without_index),
    ("order-without-composite", "indexing", indexing::order_without_composite),
    ("large-item-small-change", "changing-data", changes::large_item_small_change),
    ("stronger-than-needed", "throughput", throughput::stronger_than_needed),
    ("throughput-of-its-own", "throughput", throughput::throughput_of_its_own),
    ("copies-out-of-step", "changing-data", changes::copies_out_of_step),
    ("partial-array-contains", "queries", texts::partial_array_contains),
    ("contains-in-filter", "queries", texts::contains_in_filter),
    ("upper-or-lower", "queries", texts::upper_or_lower),
    ("current-time", "queries", texts::current_time),
];

/// Returns the page that explains what a rule finds.
pub(crate) fn page(rule: &str) -> &'static str {
    RULES.iter().find(|(name, ..)| *name == rule).map_or("README", |(_, page, _)| page)
}

/// Asks every rule.
pub(crate) fn candidates(case: &Case<'_>) -> Vec<Candidate> {
    RULES.iter().flat_map(|(_, _, rule)| rule(case)).collect()
}

impl Case<'_> {
    /// Returns the containers that are worth looking at: those that cost or hold a part of the account.
    pub(crate) fn containers(&self) -> impl Iterator<Item = &ContainerEvidence> {
        let charge = self.evidence.charge();
        let bytes: u64 = self.evidence.containers.iter().map(|container| container.bytes).sum();
        self.evidence.containers.iter().filter(move |container| {
            let spent = self.evidence.requests(container).map_or(0.0, charge_of);
            spent >= CHARGE_PART_MIN * charge || container.bytes as f64 >= CHARGE_PART_MIN * bytes as f64
        })
    }

    /// Returns the shapes of a container's requests.
    pub(crate) fn shapes(&self, container: &ContainerEvidence) -> &[Shape] {
        self.evidence.requests(container).map_or(&[], |requests| &requests.shapes)
    }

    /// Returns the queries of a container with what their texts say.
    pub(crate) fn queries<'s>(
        &'s self,
        container: &'s ContainerEvidence,
    ) -> impl Iterator<Item = (&'s Shape, Facts)> {
        let queries = self.shapes(container).iter().filter(|shape| shape.kind == ShapeKind::Query);
        queries.filter_map(|shape| Some((shape, Facts::of(&shape.text)?)))
    }

    /// Returns how often a shape is asked in a second.
    pub(crate) fn per_second(&self, container: &ContainerEvidence, shape: &Shape) -> f64 {
        model::calls(shape, container.partitions.len()) / self.evidence.seconds()
    }

    /// Returns what a request of a shape costs, in request units: where each physical partition is asked by itself, all
    /// of them together.
    pub(crate) fn charge(&self, container: &ContainerEvidence, shape: &Shape) -> f64 {
        let calls = model::calls(shape, container.partitions.len());
        shape.total.charge as f64 / 100.0 / calls.max(1.0)
    }

    /// Returns which part of all that the account is charged goes to a shape.
    pub(crate) fn part(&self, shape: &Shape) -> f64 {
        shape.total.charge as f64 / 100.0 / self.evidence.charge().max(0.01)
    }

    /// Whether the sample of a container is large enough to show what is usual.
    pub(crate) fn shows_usual(&self, container: &ContainerEvidence) -> bool {
        container.profile.items >= SAMPLE_ITEMS_MIN
    }

    /// Whether requests were watched for long enough to say what is not asked.
    pub(crate) fn was_watched(&self) -> bool {
        self.evidence.seconds() >= WATCHED_SECONDS_MIN
    }

    /// Returns how many physical partitions a request of a shape asks.
    pub(crate) fn fan_out(&self, container: &ContainerEvidence, shape: &Shape) -> f64 {
        match shape.total.ranged * 2 > shape.total.count {
            true => container.partitions.len() as f64,
            false => shape.total.partitions as f64 / shape.total.count.max(1) as f64,
        }
    }
}

/// Returns a text that is not too long for a line.
pub(crate) fn cut(text: &str) -> String {
    match text.chars().count() > LINE_CHARACTERS_MAX {
        true => text.chars().take(LINE_CHARACTERS_MAX - 1).chain(['\u{2026}']).collect(),
        false => text.to_owned(),
    }
}

/// Returns a part as percent.
pub(crate) fn percent(part: f64) -> String {
    match part {
        part if part >= 0.1 => format!("{:.0} %", part * 100.0),
        part => format!("{:.1} %", part * 100.0),
    }
}

/// Returns a sort of items as one says it.
pub(crate) fn sort_name(entity: &str) -> String {
    match entity {
        "" => "items".to_owned(),
        entity => format!("items '{entity}'"),
    }
}

/// Returns a sort of items with the container that has them.
pub(crate) fn sort_of(container: &ContainerEvidence, entity: &str) -> String {
    format!("{} of {}", sort_name(entity), container.short_name())
}
