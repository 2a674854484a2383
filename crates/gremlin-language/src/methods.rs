//! The methods of traversals and their arguments: one table.
//!
//! Arguments are checked roughly, by kind: whether an overload exists. What values mean is the machine's.
//!
//! A signature has a letter for each argument ([`crate::kinds`]); a star repeats the letter before it any number of
//! times, and none. Signatures are separated by blanks; `-` takes no arguments.

use std::sync::{Arc, OnceLock};

/// Stands at the source, before the first step.
pub(crate) const SOURCE: u8 = 1;
/// Begins a traversal after the source.
pub(crate) const START: u8 = 2;
/// Follows a step, or begins an anonymous traversal.
pub(crate) const STEP: u8 = 4;
/// Ends a traversal of a source.
pub(crate) const END: u8 = 8;

/// A method of a traversal or of its source.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// Where it may stand.
    pub(crate) roles: u8,
    pub(crate) signatures: &'static str,
    /// Those of the service; none if it does not have the method.
    pub(crate) strict: &'static str,
}

/// A method that the service has with the same signatures.
const fn both(name: &'static str, roles: u8, signatures: &'static str) -> Method {
    Method { name, roles, signatures, strict: signatures }
}

/// A method that the service has with fewer signatures.
const fn some(name: &'static str, roles: u8, signatures: &'static str, strict: &'static str) -> Method {
    Method { name, roles, signatures, strict }
}

/// A method that the service does not have.
const fn open(name: &'static str, roles: u8, signatures: &'static str) -> Method {
    Method { name, roles, signatures, strict: "" }
}

/// Every method, by name.
#[rustfmt::skip]
const METHODS: &[Method] = &[
    both("E", START | STEP, "a*"),
    both("V", START | STEP, "a*"),
    both("addE", START | STEP, "S t"),
    both("addV", START | STEP, "- S t"),
    some("aggregate", STEP, "S oS", "S"),
    open("all", STEP, "p"),
    both("and", STEP, "t*"),
    open("any", STEP, "p"),
    both("as", STEP, "SS*"),
    open("asBool", STEP, "-"),
    open("asDate", STEP, "-"),
    open("asNumber", STEP, "- G"),
    open("asString", STEP, "- o"),
    open("barrier", STEP, "- i B"),
    both("both", STEP, "s*"),
    both("bothE", STEP, "s*"),
    both("bothV", STEP, "-"),
    open("branch", STEP, "t T"),
    both("by", STEP, "- S t T C O SO tO TO CO"),
    open("call", START | STEP, "- S SM St SMt"),
    both("cap", STEP, "SS*"),
    both("choose", STEP, "t tt ttt pt ptt T C"),
    both("coalesce", STEP, "t*"),
    both("coin", STEP, "n"),
    open("combine", STEP, "a"),
    open("concat", STEP, "s* tt*"),
    open("conjoin", STEP, "s"),
    open("connectedComponent", STEP, "-"),
    both("constant", STEP, "a"),
    both("count", STEP, "- o"),
    both("cyclicPath", STEP, "-"),
    open("dateAdd", STEP, "yi"),
    open("dateDiff", STEP, "d t"),
    both("dedup", STEP, "s* os*"),
    open("difference", STEP, "a"),
    open("discard", STEP, "-"),
    open("disjunct", STEP, "a"),
    both("drop", STEP, "-"),
    open("element", STEP, "-"),
    open("elementMap", STEP, "s*"),
    both("emit", STEP, "- p t"),
    both("executionProfile", STEP, "-"),
    open("explain", END, "-"),
    open("fail", STEP, "- S"),
    both("filter", STEP, "p t"),
    both("flatMap", STEP, "t"),
    both("fold", STEP, "- ar"),
    open("format", STEP, "S"),
    both("from", STEP, "a"),
    both("group", STEP, "- S"),
    both("groupCount", STEP, "- S"),
    both("has", STEP, "s sa ssa Ta"),
    both("hasId", STEP, "aa*"),
    both("hasKey", STEP, "p ss*"),
    both("hasLabel", STEP, "p ss*"),
    both("hasNext", END, "-"),
    both("hasNot", STEP, "s"),
    both("hasValue", STEP, "aa*"),
    both("id", STEP, "-"),
    both("identity", STEP, "-"),
    both("in", STEP, "s*"),
    both("inE", STEP, "s*"),
    both("inV", STEP, "-"),
    open("index", STEP, "-"),
    both("inject", START | STEP, "a*"),
    open("intersect", STEP, "a"),
    open("io", START, "S"),
    both("is", STEP, "a"),
    both("iterate", END, "-"),
    both("key", STEP, "-"),
    open("lTrim", STEP, "- o"),
    both("label", STEP, "-"),
    open("length", STEP, "- o"),
    both("limit", STEP, "i oi"),
    both("local", STEP, "t"),
    both("loops", STEP, "- S"),
    both("map", STEP, "t"),
    open("match", STEP, "t*"),
    open("math", STEP, "S"),
    both("max", STEP, "- o"),
    both("mean", STEP, "- o"),
    open("merge", STEP, "a"),
    open("mergeE", START | STEP, "- m t"),
    open("mergeV", START | STEP, "- m t"),
    both("min", STEP, "- o"),
    both("next", END, "- i"),
    some("none", STEP, "- p", "-"),
    both("not", STEP, "t"),
    some("option", STEP, "t at em emc", "t at"),
    both("optional", STEP, "t"),
    both("or", STEP, "t*"),
    both("order", STEP, "- o"),
    both("otherV", STEP, "-"),
    both("out", STEP, "s*"),
    both("outE", STEP, "s*"),
    both("outV", STEP, "-"),
    open("pageRank", STEP, "- n"),
    both("path", STEP, "-"),
    open("peerPressure", STEP, "-"),
    open("product", STEP, "a"),
    open("profile", STEP, "- S"),
    both("project", STEP, "SS*"),
    both("properties", STEP, "s*"),
    some("property", STEP, "m cm aaa* caaa*", "all* call*"),
    both("propertyMap", STEP, "s*"),
    open("rTrim", STEP, "- o"),
    both("range", STEP, "ii oii"),
    open("read", STEP, "-"),
    both("repeat", STEP, "t St"),
    open("replace", STEP, "ss oss"),
    open("reverse", STEP, "-"),
    open("sack", STEP, "- r"),
    both("sample", STEP, "i oi"),
    both("select", STEP, "SS* PSS* C t Pt"),
    open("shortestPath", STEP, "-"),
    both("sideEffect", STEP, "t"),
    both("simplePath", STEP, "-"),
    both("skip", STEP, "i oi"),
    open("split", STEP, "s os"),
    both("store", STEP, "S"),
    open("subgraph", STEP, "S"),
    open("substring", STEP, "i ii oi oii"),
    both("sum", STEP, "- o"),
    both("tail", STEP, "- i o oi"),
    open("timeLimit", STEP, "i"),
    both("times", STEP, "i"),
    some("to", STEP, "a Ds*", "a"),
    both("toBulkSet", END, "-"),
    open("toE", STEP, "Ds*"),
    both("toList", END, "-"),
    open("toLower", STEP, "- o"),
    both("toSet", END, "-"),
    open("toUpper", STEP, "- o"),
    open("toV", STEP, "D"),
    both("tree", STEP, "- S"),
    open("trim", STEP, "- o"),
    both("tryNext", END, "-"),
    both("unfold", STEP, "-"),
    both("union", START | STEP, "t*"),
    both("until", STEP, "p t"),
    both("value", STEP, "-"),
    both("valueMap", STEP, "s* bs*"),
    both("values", STEP, "s*"),
    both("where", STEP, "p Sp t"),
    both("with", SOURCE | STEP, "S Sa"),
    open("withBulk", SOURCE, "b"),
    open("withPath", SOURCE, "-"),
    open("withSack", SOURCE, "a ar"),
    open("withSideEffect", SOURCE, "Sa Sar"),
    both("withStrategies", SOURCE, "gg*"),
    open("withoutStrategies", SOURCE, "gg*"),
    open("write", STEP, "-"),
];

/// What finds methods fast: names to be shared, and where those with a first letter are.
struct Index {
    names: Vec<Arc<str>>,
    letters: [(usize, usize); 128],
}

impl Index {
    fn new() -> Self {
        let letters = std::array::from_fn(|letter| {
            let first = |method: &Method| method.name.bytes().next().map_or(0, usize::from);
            let start = METHODS.partition_point(|method| first(method) < letter);
            (start, METHODS.partition_point(|method| first(method) <= letter))
        });
        Index { names: METHODS.iter().map(|method| Arc::from(method.name)).collect(), letters }
    }
}

/// Finds a method, and its name to be shared by instructions.
pub(crate) fn find(name: &str) -> Option<(&'static Method, Arc<str>)> {
    static INDEX: OnceLock<Index> = OnceLock::new();
    let index = INDEX.get_or_init(Index::new);
    let (start, end) = *index.letters.get(usize::from(*name.as_bytes().first()?))?;
    let found = METHODS.get(start..end)?.iter().position(|method| method.name == name)?;
    Some((METHODS.get(start + found)?, Arc::clone(index.names.get(start + found)?)))
}

#[cfg(test)]
pub(crate) fn all() -> &'static [Method] {
    METHODS
}

#[cfg(test)]
#[path = "methods_tests.rs"]
mod tests;
