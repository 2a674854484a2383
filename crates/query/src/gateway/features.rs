//! What a client says it can merge, and what a plan asks of it.

use armilla_functions::Aggregate;

use super::{DistinctType, QueryInfo, VALUE_AGGREGATES_ONLY};
use crate::error::{Error, Result};

/// Something that a client may be able to merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// One aggregate after VALUE.
    Aggregate,
    /// Averages as sum and count. Clients that know [`Feature::Aggregate`] do that too, so no plan asks for it.
    CompositeAggregate,
    /// COUNTIF.
    CountIf,
    /// Counting distinct rows.
    DCount,
    /// DISTINCT.
    Distinct,
    /// GROUP BY.
    GroupBy,
    /// Full-text and hybrid search.
    HybridSearch,
    /// A newer form of plans for hybrid search.
    HybridSearchSkipOrderByRewrite,
    /// MAKELIST and MAKESET.
    ListAndSetAggregate,
    /// More than one aggregate.
    MultipleAggregates,
    /// ORDER BY with more than one key.
    MultipleOrderBy,
    /// An order that partitions do not keep, as in vector search.
    NonStreamingOrderBy,
    /// Aggregates that are not by themselves after VALUE.
    NonValueAggregate,
    /// OFFSET LIMIT.
    OffsetAndLimit,
    /// ORDER BY with one key.
    OrderBy,
    /// TOP.
    Top,
    /// Weights in hybrid search.
    WeightedRankFusion,
}

impl Feature {
    /// Every feature.
    pub const ALL: &[Feature] = &[
        Feature::Aggregate,
        Feature::CompositeAggregate,
        Feature::CountIf,
        Feature::DCount,
        Feature::Distinct,
        Feature::GroupBy,
        Feature::HybridSearch,
        Feature::HybridSearchSkipOrderByRewrite,
        Feature::ListAndSetAggregate,
        Feature::MultipleAggregates,
        Feature::MultipleOrderBy,
        Feature::NonStreamingOrderBy,
        Feature::NonValueAggregate,
        Feature::OffsetAndLimit,
        Feature::OrderBy,
        Feature::Top,
        Feature::WeightedRankFusion,
    ];

    /// Returns the name that clients send.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Aggregate => "Aggregate",
            Feature::CompositeAggregate => "CompositeAggregate",
            Feature::CountIf => "CountIf",
            Feature::DCount => "DCount",
            Feature::Distinct => "Distinct",
            Feature::GroupBy => "GroupBy",
            Feature::HybridSearch => "HybridSearch",
            Feature::HybridSearchSkipOrderByRewrite => "HybridSearchSkipOrderByRewrite",
            Feature::ListAndSetAggregate => "ListAndSetAggregate",
            Feature::MultipleAggregates => "MultipleAggregates",
            Feature::MultipleOrderBy => "MultipleOrderBy",
            Feature::NonStreamingOrderBy => "NonStreamingOrderBy",
            Feature::NonValueAggregate => "NonValueAggregate",
            Feature::OffsetAndLimit => "OffsetAndLimit",
            Feature::OrderBy => "OrderBy",
            Feature::Top => "Top",
            Feature::WeightedRankFusion => "WeightedRankFusion",
        }
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features(u32);

impl Features {
    /// Every feature.
    pub const ALL: Features = Features((1 << Feature::ALL.len()) - 1);

    /// Reads the list that clients send, names between commas; unknown names say nothing.
    pub fn parse(list: &str) -> Features {
        let known =
            |name: &str| Feature::ALL.iter().find(|feature| feature.name().eq_ignore_ascii_case(name));
        list.split(',').filter_map(|name| known(name.trim())).copied().collect()
    }

    /// Says whether a feature is in the set.
    pub fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Refuses a plan that asks for more, naming each feature that is missing.
    pub(super) fn check(self, info: &QueryInfo) -> Result<()> {
        let mut missing = Features(needed(info).0 & !self.0).names();
        let Some(first) = missing.next() else { return Ok(()) };
        let mut message = String::from(
            "Query contains 1 or more unsupported features. Upgrade your SDK to a version that does support the \
             requested features:",
        );
        for name in std::iter::once(first).chain(missing) {
            message
                .push_str(&format!("\r\nQuery contained {name}, which the calling client does not support."));
            if name == Feature::NonValueAggregate.name() {
                message.push(' ');
                message.push_str(VALUE_AGGREGATES_ONLY);
            }
        }
        Err(Error::refused(message))
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        Feature::ALL.iter().filter(move |feature| self.contains(**feature)).map(|feature| feature.name())
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Features {
        Features(features.into_iter().fold(0, |bits, feature| bits | feature.bit()))
    }
}

fn needed(info: &QueryInfo) -> Features {
    let named = info.group_by_alias_to_aggregate.iter().filter_map(|(_, aggregate)| *aggregate);
    let aggregates: Vec<Aggregate> = info.aggregates.iter().copied().chain(named).collect();
    let any = |wanted: &[Aggregate]| aggregates.iter().any(|aggregate| wanted.contains(aggregate));
    let single = aggregates.len() == 1;
    let several = aggregates.len() > 1;
    let needs = [
        (Feature::Aggregate, single && info.has_select_value),
        (Feature::NonValueAggregate, several || (single && !info.has_select_value)),
        (Feature::MultipleAggregates, several),
        (Feature::CountIf, any(&[Aggregate::CountIf])),
        (Feature::ListAndSetAggregate, any(&[Aggregate::MakeList, Aggregate::MakeSet])),
        (Feature::DCount, info.distinct_count_alias.is_some()),
        (Feature::Distinct, info.distinct_type != DistinctType::None),
        (Feature::GroupBy, !info.group_by_expressions.is_empty()),
        (Feature::OrderBy, info.order_by.len() == 1),
        (Feature::MultipleOrderBy, info.order_by.len() > 1),
        (Feature::OffsetAndLimit, info.offset.is_some() || info.limit.is_some()),
        (Feature::Top, info.top.is_some()),
    ];
    needs.into_iter().filter(|(_, is_needed)| *is_needed).map(|(feature, _)| feature).collect()
}
