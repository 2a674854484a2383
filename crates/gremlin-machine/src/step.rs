//! Compiled steps.
//!
//! Not here: how they are made (`compile`) and what they do (`run`).

use std::sync::Arc;

use armilla_gremlin_value::{Position, Predicate, Value};

use crate::graph::{Cardinality, Condition, Direction, Need};

/// A compiled traversal: the root, or a child of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traversal {
    pub(crate) steps: Vec<Step>,
    /// Whether a step of it, or of a global child in it, waits for all of its input.
    pub(crate) has_barrier: bool,
    /// The step before which traversers go on one by one, since a side effect is looked at behind it.
    pub(crate) singly: Option<usize>,
    /// Whether its inputs must be gone through one after the other, for the same reason.
    pub(crate) sequential: bool,
}

/// A compiled step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) kind: Kind,
    /// What `as` calls its result.
    pub(crate) labels: Arc<[Arc<str>]>,
    pub(crate) name: Arc<str>,
    pub(crate) position: Option<Position>,
}

/// A `by`.
#[derive(Debug, Clone)]
pub(crate) enum By {
    Identity,
    /// A property, or an entry of a map.
    Key(Arc<str>),
    Token(ElementToken),
    Column(Column),
    Child(Traversal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementToken {
    Id,
    Label,
    Key,
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Keys,
    Values,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sorting {
    Ascending,
    Descending,
    Shuffled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Global,
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pop {
    First,
    Last,
    All,
    Mixed,
}

/// An operator of `Operator`: folds and sacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Sum,
    Minus,
    Multiply,
    Divide,
    Minimum,
    Maximum,
    Assign,
    And,
    Or,
    AddAll,
}

/// A value, or a traversal that yields it.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Value(Value),
    Child(Traversal),
}

/// A value, or a label of the path, or a traversal: an end of an edge.
#[derive(Debug, Clone)]
pub(crate) enum End {
    Label(Arc<str>),
    Id(Value),
    Child(Traversal),
}

/// A `property` step.
#[derive(Debug, Clone)]
pub(crate) struct PropertySpec {
    pub(crate) cardinality: Option<Cardinality>,
    /// The key, or the property of an element that it names.
    pub(crate) key: PropertyKey,
    pub(crate) value: Argument,
    pub(crate) meta: Vec<(Arc<str>, Argument)>,
}

#[derive(Debug, Clone)]
pub(crate) enum PropertyKey {
    Id,
    Label,
    Name(Arc<str>),
    Child(Traversal),
}

/// The end of a `repeat`.
#[derive(Debug, Clone)]
pub(crate) enum Until {
    Times(u32),
    Child(Traversal),
}

/// A `repeat` with what modulates it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repeat {
    pub(crate) label: Option<Arc<str>>,
    pub(crate) body: Option<Traversal>,
    pub(crate) until: Option<Until>,
    pub(crate) until_first: bool,
    /// Emits all if it has no child.
    pub(crate) emit: Option<Option<Traversal>>,
    pub(crate) emit_first: bool,
}

/// What `option` compares with.
#[derive(Debug, Clone)]
pub(crate) enum Pick {
    Any,
    None,
    Unproductive,
    Value(Value),
    Predicate(Predicate),
    Child(Traversal),
}

#[derive(Debug, Clone)]
pub(crate) enum Reduction {
    Count,
    Sum,
    Maximum,
    Minimum,
    Mean,
    Fold(Option<(Value, Operator)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeEnd {
    Out,
    In,
    Both,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStep {
    AsString,
    Length,
    ToLower,
    ToUpper,
    Trim,
    LeftTrim,
    RightTrim,
    Reverse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListStep {
    Combine,
    Difference,
    Disjunct,
    Intersect,
    Merge,
    Product,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Any,
    None,
}

/// Whether `valueMap` and its like show ids and labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MapTokens {
    pub(crate) id: bool,
    pub(crate) label: bool,
    pub(crate) key: bool,
    pub(crate) value: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct LookupStep {
    pub(crate) edges: bool,
    /// None finds all; each is a literal of the script.
    pub(crate) ids: Option<Vec<Value>>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) limit: Option<u64>,
    pub(crate) need: Need,
    pub(crate) count: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct AdjacentStep {
    pub(crate) direction: Direction,
    pub(crate) labels: Vec<Arc<str>>,
    pub(crate) edges: bool,
    pub(crate) edge_conditions: Vec<Condition>,
    pub(crate) vertex_conditions: Vec<Condition>,
    pub(crate) need: Need,
    pub(crate) count: bool,
    /// No more than this many are taken of what one traversal finds.
    pub(crate) limit: Option<u64>,
    /// Whether everything that it finds is waited for, so that nothing is gained by finding little first.
    pub(crate) all_wanted: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct MergeStep {
    pub(crate) edges: bool,
    /// The map to find by; the current object if there is none.
    pub(crate) search: Option<Argument>,
    pub(crate) on_create: Option<Argument>,
    pub(crate) on_match: Option<Argument>,
    pub(crate) out_vertex: Option<Argument>,
    pub(crate) in_vertex: Option<Argument>,
    /// The cardinality that an option gives its properties.
    pub(crate) create_cardinality: Option<Cardinality>,
    pub(crate) match_cardinality: Option<Cardinality>,
    /// The property of a `PartitionStrategy`: its key, the values that are read and the one that is written.
    pub(crate) partition: Option<(Arc<str>, Vec<Value>, Option<Value>)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    // Lookups.
    Lookup(LookupStep),
    Adjacent(AdjacentStep),
    EdgeVertex { end: EdgeEnd, conditions: Vec<Condition> },
    // Filters.
    Has(Vec<Condition>),
    HasChild { key: Arc<str>, child: Traversal },
    HasKey(Predicate),
    HasValue(Predicate),
    Is(Predicate),
    Filter { child: Traversal, negated: bool },
    And(Vec<Traversal>),
    Or(Vec<Traversal>),
    WherePredicate { start: Option<Arc<str>>, predicate: Predicate, bys: Vec<By> },
    WhereStart(Arc<str>),
    WhereEnd(Arc<[Arc<str>]>),
    Coin(f64),
    SimplePath { cyclic: bool, bys: Vec<By>, from: Option<Arc<str>>, to: Option<Arc<str>> },
    Quantified { quantifier: Quantifier, predicate: Predicate },
    Discard,
    // Maps.
    Identity,
    Constant(Value),
    Token(ElementToken),
    Values(Vec<Arc<str>>),
    Properties(Vec<Arc<str>>),
    ValueMap { keys: Vec<Arc<str>>, tokens: MapTokens, bys: Vec<By>, properties: bool },
    ElementMap(Vec<Arc<str>>),
    Element,
    Select { pop: Option<Pop>, keys: Vec<Arc<str>>, bys: Vec<By> },
    SelectChild { pop: Option<Pop>, child: Traversal, bys: Vec<By> },
    SelectColumn(Column),
    Project { keys: Vec<Arc<str>>, bys: Vec<By> },
    Path { bys: Vec<By>, from: Option<Arc<str>>, to: Option<Arc<str>> },
    Unfold,
    Loops(Option<Arc<str>>),
    Math { expression: crate::math::Expression, bys: Vec<By> },
    Map(Traversal),
    FlatMap(Traversal),
    Index { map: bool },
    ReadSack,
    Sack { operator: Operator, by: By, by_given: bool },
    ReduceLocal(Reduction),
    DedupLocal,
    OrderLocal(Vec<(By, Sorting)>),
    RangeLocal { low: u64, high: Option<u64> },
    TailLocal(u64),
    SampleLocal(u64),
    // Texts, lists, dates, casts.
    Text { step: TextStep, scope: Scope },
    Substring { from: i64, to: Option<i64>, scope: Scope },
    Replace { from: Option<Arc<str>>, to: Option<Arc<str>>, scope: Scope },
    Split { separator: Option<Arc<str>>, scope: Scope },
    Concat(Vec<Argument>),
    Conjoin(Arc<str>),
    Format { pattern: Arc<str>, bys: Vec<By> },
    List { step: ListStep, other: Argument },
    AsNumber(Option<Arc<str>>),
    AsBool,
    AsDate,
    DateAdd { nanoseconds_each: i128, amount: i64 },
    DateDiff(Argument),
    // Reductions and barriers.
    Reduce(Reduction),
    Dedup { labels: Vec<Arc<str>>, bys: Vec<By> },
    Order(Vec<(By, Sorting)>),
    Range { low: u64, high: Option<u64> },
    Tail(u64),
    Sample { amount: u64, by: Option<By> },
    Group { key: Option<Arc<str>>, bys: Vec<By> },
    GroupCount { key: Option<Arc<str>>, bys: Vec<By> },
    Tree { key: Option<Arc<str>>, bys: Vec<By> },
    Barrier { normalise_sacks: bool, size: Option<usize> },
    // Branches.
    Union { children: Vec<Traversal> },
    Coalesce(Vec<Traversal>),
    Optional(Traversal),
    Choose { test: Traversal, is_predicate: bool, options: Vec<(Pick, Traversal)> },
    Repeat(Box<Repeat>),
    Local(Traversal),
    Match(Vec<crate::matching::Pattern>),
    // Side effects.
    SideEffect(Traversal),
    Aggregate { key: Arc<str>, by: By, by_given: bool, lazy: bool },
    Cap(Vec<Arc<str>>),
    Inject { values: Vec<Value>, start: bool },
    Fail(Option<Arc<str>>),
    TimeLimit(u64),
    // Writes.
    AddVertex { label: Option<Argument>, properties: Vec<PropertySpec> },
    AddEdge { label: Argument, from: Option<End>, to: Option<End>, properties: Vec<PropertySpec> },
    Property(Vec<PropertySpec>),
    PropertyMap(Argument),
    Drop,
    Merge(Box<MergeStep>),
}

impl Kind {
    /// Says whether the step waits for all of its input before it gives something on.
    pub(crate) fn is_barrier(&self) -> bool {
        match self {
            Kind::Reduce(_)
            | Kind::Order(_)
            | Kind::Tail(_)
            | Kind::Sample { .. }
            | Kind::Barrier { size: None, .. }
            | Kind::Group { .. }
            | Kind::GroupCount { .. }
            | Kind::Tree { .. }
            | Kind::Aggregate { lazy: false, .. }
            | Kind::Cap(_) => true,
            Kind::Adjacent(step) => step.count,
            Kind::Lookup(step) => step.count,
            Kind::Union { children } => children.iter().any(|child| child.has_barrier),
            Kind::Choose { options, .. } => options.iter().any(|(_, child)| child.has_barrier),
            _ => false,
        }
    }
}
