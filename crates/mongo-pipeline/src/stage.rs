//! The stages that there are, as they were read.

use std::sync::Arc;

use armilla_mongo_expression::Expression;
use armilla_mongo_filter::{AddFields, Filter, Projection, Sort};
use armilla_value::Object;

use crate::Pipeline;
use crate::stages::bucket_auto::BucketAuto;
use crate::stages::densify::Densify;
use crate::stages::geo_near::GeoNear;
use crate::stages::graph_lookup::GraphLookup;
use crate::stages::group::Group;
use crate::stages::lookup::Lookup;
use crate::stages::replace_root::ReplaceRoot;
use crate::stages::union_with::UnionWith;
use crate::stages::unwind::Unwind;
use crate::stages::window::SetWindowFields;
use crate::stages::write::{Merge, Out};

/// A stage.
///
/// Those in the second half are the caller's: what the first ones of some pipelines give, it brings as the input,
/// and what the last ones write, it reads from the output. Running passes documents through them.
#[derive(Debug, Clone)]
pub enum Stage {
    /// `$match`: lets documents through.
    Match(Arc<Filter>),
    /// `$project` and `$unset`.
    Project(Arc<Projection>),
    /// `$addFields` and `$set`.
    AddFields(Arc<AddFields>),
    /// `$group`, `$bucket`, and the first half of `$sortByCount`.
    Group(Arc<Group>),
    /// `$sort`: orders them.
    Sort(Sort),
    /// `$limit`: so many of them.
    Limit(u64),
    /// `$skip`: all but the first.
    Skip(u64),
    /// `$count`: how many, in a field of this name.
    Count(String),
    /// `$unwind`: one for each element of an array.
    Unwind(Arc<Unwind>),
    /// `$lookup`: joins another collection.
    Lookup(Arc<Lookup>),
    /// `$replaceRoot` and `$replaceWith`.
    ReplaceRoot(Arc<ReplaceRoot>),
    /// `$facet`: pipelines side by side over the same documents.
    Facet(Arc<Vec<(String, Pipeline)>>),
    /// `$sample`: so many at random.
    Sample(u64),
    /// `$bucketAuto`.
    BucketAuto(Arc<BucketAuto>),
    /// `$unionWith`: the documents of another collection after these.
    UnionWith(Arc<UnionWith>),
    /// `$redact`: leaves parts of documents out.
    Redact(Arc<Expression>),
    /// `$documents`: documents that the pipeline itself brings.
    Documents(Arc<Expression>),
    /// `$graphLookup`: joins another collection over and over.
    GraphLookup(Arc<GraphLookup>),
    /// `$setWindowFields`, and `$fill` by a method.
    SetWindowFields(Arc<SetWindowFields>),
    /// `$densify`: fills gaps with documents.
    Densify(Arc<Densify>),
    /// `$geoNear`: by distance.
    GeoNear(Arc<GeoNear>),

    /// `$out`, the caller's: replaces a collection.
    Out(Out),
    /// `$merge`, the caller's: writes into a collection.
    Merge(Arc<Merge>),
    /// `$changeStream`, the caller's, with its options.
    ChangeStream(Object),
    /// `$collStats`, the caller's, with its options.
    CollStats(Object),
    /// `$indexStats`, the caller's.
    IndexStats,
    /// `$currentOp`, the caller's, with its options.
    CurrentOp(Object),
    /// `$listLocalSessions`, the caller's, with its options.
    ListLocalSessions(Object),
    /// `$listSessions`, the caller's, with its options.
    ListSessions(Object),
    /// `$planCacheStats`, the caller's.
    PlanCacheStats,
    /// `$changeStreamSplitLargeEvent`, the caller's.
    ChangeStreamSplitLargeEvent,
}

impl Stage {
    /// Returns the name of the stage; of those that have several, the main one.
    pub fn name(&self) -> &'static str {
        match self {
            Stage::Match(_) => "$match",
            Stage::Project(_) => "$project",
            Stage::AddFields(_) => "$addFields",
            Stage::Group(_) => "$group",
            Stage::Sort(_) => "$sort",
            Stage::Limit(_) => "$limit",
            Stage::Skip(_) => "$skip",
            Stage::Count(_) => "$count",
            Stage::Unwind(_) => "$unwind",
            Stage::Lookup(_) => "$lookup",
            Stage::ReplaceRoot(_) => "$replaceRoot",
            Stage::Facet(_) => "$facet",
            Stage::Sample(_) => "$sample",
            Stage::BucketAuto(_) => "$bucketAuto",
            Stage::UnionWith(_) => "$unionWith",
            Stage::Redact(_) => "$redact",
            Stage::Documents(_) => "$documents",
            Stage::GraphLookup(_) => "$graphLookup",
            Stage::SetWindowFields(_) => "$setWindowFields",
            Stage::Densify(_) => "$densify",
            Stage::GeoNear(_) => "$geoNear",
            Stage::Out(_) => "$out",
            Stage::Merge(_) => "$merge",
            Stage::ChangeStream(_) => "$changeStream",
            Stage::CollStats(_) => "$collStats",
            Stage::IndexStats => "$indexStats",
            Stage::CurrentOp(_) => "$currentOp",
            Stage::ListLocalSessions(_) => "$listLocalSessions",
            Stage::ListSessions(_) => "$listSessions",
            Stage::PlanCacheStats => "$planCacheStats",
            Stage::ChangeStreamSplitLargeEvent => "$changeStreamSplitLargeEvent",
        }
    }

    /// Says whether the stage writes what comes to it, so that the caller takes it off the end of the pipeline.
    pub fn writes(&self) -> bool {
        matches!(self, Stage::Out(_) | Stage::Merge(_))
    }

    /// Says whether the stage brings documents that are not those of the collection, so that the caller makes them.
    pub fn is_source(&self) -> bool {
        matches!(
            self,
            Stage::ChangeStream(_)
                | Stage::CollStats(_)
                | Stage::IndexStats
                | Stage::CurrentOp(_)
                | Stage::ListLocalSessions(_)
                | Stage::ListSessions(_)
                | Stage::PlanCacheStats
        )
    }
}
