//! The tree of a filter that was read.
//!
//! Front ends walk it to find an index: every [`Condition::Path`] in the [`Condition::And`] at the top must hold.

use std::sync::Arc;

use armilla_mongo_expression::Expression;
use armilla_value::Value;

use crate::geo::{Geometry, Near, Region};
use crate::path::Path;
use crate::pattern::Pattern;
use crate::schema::Schema;
use crate::types::TypeSet;

/// A part of a filter.
#[derive(Debug, Clone)]
pub enum Condition {
    /// All of them; none is true.
    And(Vec<Condition>),
    /// One of them; there is at least one.
    Or(Vec<Condition>),
    /// None of them; there is at least one.
    Nor(Vec<Condition>),
    /// What a path reaches. Several conditions about one path are several of these, which different elements of an
    /// array may fulfil.
    Path {
        /// The path.
        path: Path,
        /// What must hold of what it reaches.
        predicate: Predicate,
    },
    /// `$expr`: an expression must be truthy.
    Expression(Box<Expression>),
    /// `$jsonSchema`.
    Schema(Arc<Schema>),
    /// `$sampleRate`: holds for about this part of the documents.
    SampleRate(f64),
    /// `$alwaysTrue`.
    AlwaysTrue,
    /// `$alwaysFalse`.
    AlwaysFalse,
}

/// What must hold of the values that a path reaches: of one of them, unless it says otherwise.
///
/// Where the path ends in an array, its elements and the array itself are looked at, but for `Size`, `ElemMatchObject`
/// and `ElemMatchValue`, which look at the array.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// Equal across number types. Null is equal to missing and undefined too; NaN to NaN.
    Eq(Value),
    /// Lower, of the same class of types (only `MaxKey` has every class below it).
    Lt(Value),
    /// Lower or equal, of the same class.
    Lte(Value),
    /// Greater, of the same class (only `MinKey` has every class above it).
    Gt(Value),
    /// Greater or equal, of the same class.
    Gte(Value),
    /// Equal to one of the values, which are in canonical order and each there once, or matched by a pattern.
    In {
        /// The values.
        values: Vec<Value>,
        /// The patterns.
        patterns: Vec<Pattern>,
    },
    /// Present, or not.
    Exists(bool),
    /// Of one of these types.
    Type(TypeSet),
    /// Text in which the pattern is found, or a regular expression that is the same.
    Regex(Pattern),
    /// A number whose whole part leaves this remainder.
    Mod {
        /// Never zero.
        divisor: i64,
        /// What is left, with the sign of the number.
        remainder: i64,
    },
    /// An array of so many elements.
    Size(u64),
    /// Each of these holds of the path, maybe by different elements; none is false.
    All(Vec<Predicate>),
    /// An array with an element, itself an object or array, for which the condition holds.
    ElemMatchObject(Box<Condition>),
    /// An array with an element for which all of them hold.
    ElemMatchValue(Vec<Predicate>),
    /// A number or bytes with bits so.
    Bits {
        /// Which of them must be how.
        test: BitsTest,
        /// Their places, the lowest is 0; sorted, each once.
        positions: Vec<u32>,
    },
    /// A shape that lies in a region.
    GeoWithin(Arc<Region>),
    /// A shape that has a point in common with this one.
    GeoIntersects(Arc<Geometry>),
    /// A point, not too near and not too far.
    Near(Arc<Near>),
    /// Not all of them hold of the path: the negation of the whole.
    Not(Vec<Predicate>),
}

/// Which of the bits must be how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitsTest {
    /// All are one.
    AllSet,
    /// All are zero.
    AllClear,
    /// One of them is one.
    AnySet,
    /// One of them is zero.
    AnyClear,
}

impl BitsTest {
    /// Reads the name of an operator.
    pub fn from_operator(name: &str) -> Option<BitsTest> {
        match name {
            "$bitsAllSet" => Some(BitsTest::AllSet),
            "$bitsAllClear" => Some(BitsTest::AllClear),
            "$bitsAnySet" => Some(BitsTest::AnySet),
            "$bitsAnyClear" => Some(BitsTest::AnyClear),
            _ => None,
        }
    }
}
