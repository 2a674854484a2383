//! What the text of a query says about paths, as far as advice needs it: what it compares, sorts, counts and gives.
//!
//! Only what holds of every row counts as a comparison: the parts of the chain of ANDs that the filter is. A path is
//! written as in an indexing policy without the ends: `/author/name`, `/tags/[]`.
//!
//! Not here: what a query costs (`trial`), and how it is planned (the engine).

use armilla_sql::ast::{
    BinaryOp, CollectionKind, CountKind, Direction, Expr, ExprKind, Literal, OrderByKind, PathSegment, Query,
    Selection, SourceKind,
};
use armilla_value::Value;

/// What is said of paths.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Paths that have to be equal to a value.
    pub equals: Vec<(String, Term)>,
    /// Paths that are compared in another way: ranges, prefixes, lists, functions.
    pub compares: Vec<String>,
    /// Every path that is named anywhere in the filter.
    pub filters: Vec<String>,
    /// Paths that are sorted by, and whether downwards.
    pub orders: Vec<(String, bool)>,
    /// Paths that are grouped by.
    pub groups: Vec<String>,
    /// Paths that are given; nothing where the whole item is.
    pub gives: Option<Vec<String>>,
    /// Whether rows are counted or added up, and nothing else is given.
    pub is_aggregate: bool,
    /// At most so many rows, where the text says so with a number.
    pub rows_max: Option<u64>,
    /// Built-in functions in the filter, in capitals.
    pub functions: Vec<String>,
    /// Arrays that are unfolded.
    pub joins: Vec<String>,
}

/// What a path is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// A parameter, its name with the `@`.
    Parameter(String),
    /// A constant.
    Constant(Value),
}

impl Facts {
    /// Reads a text. `None` if it is none that can be read.
    pub fn of(text: &str) -> Option<Facts> {
        let query = armilla_ledger::shape::parse(text)?;
        let mut reader = Reader { names: Vec::new(), facts: Facts::default() };
        reader.query(&query);
        let mut facts = reader.facts;
        for list in [&mut facts.compares, &mut facts.filters, &mut facts.groups, &mut facts.functions] {
            list.sort();
            list.dedup();
        }
        Some(facts)
    }

    /// Returns what a path has to be equal to.
    pub fn equal_to(&self, path: &str) -> Option<&Term> {
        self.equals.iter().find(|(name, _)| name == path).map(|(_, term)| term)
    }

    /// Returns every path that an index could serve.
    pub fn indexable(&self) -> impl Iterator<Item = &str> {
        let orders = self.orders.iter().map(|(path, _)| path);
        self.filters.iter().chain(orders).chain(&self.groups).map(String::as_str)
    }
}

impl Term {
    /// Returns the value, among the parameters of a request.
    pub fn value<'v>(&'v self, parameters: &'v [(String, Value)]) -> Option<&'v Value> {
        match self {
            Term::Constant(value) => Some(value),
            Term::Parameter(wanted) => {
                parameters.iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
            }
        }
    }
}

const AGGREGATES: [&str; 5] = ["COUNT", "SUM", "MIN", "MAX", "AVG"];

struct Reader {
    /// Names of sources, and the path that each stands for.
    names: Vec<(String, String)>,
    facts: Facts,
}

impl Reader {
    fn query(&mut self, query: &Query) {
        for (place, source) in query.from.iter().flat_map(|from| &from.sources).enumerate() {
            let CollectionKind::Path { root, segments } = &source.collection().kind else { continue };
            // The container goes by any name.
            let mut path = match place {
                0 => String::new(),
                _ => self.path_of(&root.text).unwrap_or_default(),
            };
            for segment in segments {
                match segment {
                    PathSegment::Name(name) => push(&mut path, &name.text),
                    PathSegment::Index(_) => path.push_str("/[]"),
                }
            }
            if matches!(source.kind, SourceKind::Iterate { .. }) {
                self.facts.joins.push(path.clone());
                path.push_str("/[]");
            }
            if let Some(alias) = source.alias() {
                self.names.push((alias.text.clone(), path));
            }
        }
        if let Some(filter) = &query.filter {
            self.condition(filter);
            let mut paths = Vec::new();
            self.paths(filter, &mut paths);
            self.facts.filters.append(&mut paths);
        }
        for key in query.group_by.iter().flat_map(|group| &group.keys) {
            self.facts.groups.extend(self.path(key));
        }
        if let Some(order) = &query.order_by
            && let OrderByKind::Items(items) = &order.kind
        {
            for item in items {
                if let Some(path) = self.path(&item.expr) {
                    self.facts.orders.push((path, item.direction == Direction::Descending));
                }
            }
        }
        let limit = query.top.as_ref().map(|top| &top.count);
        let limit = limit.or(query.offset_limit.as_ref().map(|limit| &limit.limit));
        if let Some(CountKind::Integer(count)) = limit.map(|count| &count.kind) {
            self.facts.rows_max = Some(*count);
        }
        self.selection(&query.selection);
    }

    fn selection(&mut self, selection: &Selection) {
        let given: Vec<&Expr> = match selection {
            Selection::Star => return,
            Selection::Value(expr) => vec![expr],
            Selection::List(items) => items.iter().map(|item| &item.expr).collect(),
        };
        let is_aggregate = |expr: &&Expr| {
            let ExprKind::Call { name, .. } = &expr.kind else { return false };
            AGGREGATES.iter().any(|known| name.text.eq_ignore_ascii_case(known))
        };
        self.facts.is_aggregate = given.iter().any(is_aggregate);
        let mut paths = Vec::new();
        given.iter().for_each(|expr| self.paths(expr, &mut paths));
        // `SELECT VALUE c` gives the whole item as well.
        self.facts.gives = (!paths.iter().any(String::is_empty)).then_some(paths);
    }

    /// Reads a part of the filter that every row has to meet.
    fn condition(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::And(parts) => parts.iter().for_each(|part| self.condition(part)),
            ExprKind::Binary { op: BinaryOp::Equal, left, right } => {
                let sides = [(left, right), (right, left)];
                let found =
                    sides.into_iter().find_map(|(path, term)| Some((self.path(path)?, term_of(term)?)));
                match found {
                    Some(pair) => self.facts.equals.push(pair),
                    None => self.compare(expr),
                }
            }
            _ => self.compare(expr),
        }
    }

    fn compare(&mut self, expr: &Expr) {
        let mut paths = Vec::new();
        self.paths(expr, &mut paths);
        self.facts.compares.append(&mut paths);
        self.functions(expr);
    }

    fn functions(&mut self, expr: &Expr) {
        if let ExprKind::Call { name, .. } = &expr.kind {
            self.facts.functions.push(name.text.to_ascii_uppercase());
        }
        children(expr, &mut |child| self.functions(child));
    }

    /// Adds every path in an expression.
    fn paths(&self, expr: &Expr, out: &mut Vec<String>) {
        match self.path(expr) {
            Some(path) => out.push(path),
            None => children(expr, &mut |child| self.paths(child, out)),
        }
    }

    fn path_of(&self, name: &str) -> Option<String> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, path)| path.clone())
    }

    /// Returns the path that an expression is, if it is one.
    fn path(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Identifier(name) => self.path_of(name),
            ExprKind::Member { object, name } => {
                let mut path = self.path(object)?;
                push(&mut path, &name.text);
                Some(path)
            }
            ExprKind::Index { object, index } => {
                let mut path = self.path(object)?;
                match &index.kind {
                    ExprKind::Literal(Literal::Int(_)) => path.push_str("/[]"),
                    _ => return None,
                }
                Some(path)
            }
            _ => None,
        }
    }
}

fn push(path: &mut String, name: &str) {
    path.push('/');
    path.push_str(name);
}

fn term_of(expr: &Expr) -> Option<Term> {
    match &expr.kind {
        ExprKind::Parameter(name) => Some(Term::Parameter(name.clone())),
        ExprKind::Literal(literal) => Some(Term::Constant(match literal {
            Literal::Undefined => return None,
            Literal::Null => Value::Null,
            Literal::Bool(value) => Value::Bool(*value),
            Literal::Int(value) => Value::Int64(*value),
            Literal::Double(value) => Value::Double(*value),
            Literal::String(value) => Value::String(value.clone()),
        })),
        _ => None,
    }
}

/// Calls with each expression directly inside of one. Subqueries are left out: their names mean other things.
fn children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Identifier(_) => {}
        ExprKind::Member { object, .. } => visit(object),
        ExprKind::Index { object, index } => [object, index].into_iter().for_each(|one| visit(one)),
        ExprKind::Unary { operand, .. } => visit(operand),
        ExprKind::Binary { left, right, .. } | ExprKind::Coalesce { left, right } => {
            [left, right].into_iter().for_each(|one| visit(one));
        }
        ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Array(parts) => parts.iter().for_each(visit),
        ExprKind::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|one| visit(one));
        }
        ExprKind::In { value, list, .. } => {
            visit(value);
            list.iter().for_each(visit);
        }
        ExprKind::Like { value, pattern, .. } => [value, pattern].into_iter().for_each(|one| visit(one)),
        ExprKind::Between { value, low, high, .. } => {
            [value, low, high].into_iter().for_each(|one| visit(one));
        }
        ExprKind::Call { args, .. } | ExprKind::UdfCall { args, .. } => args.iter().for_each(visit),
        ExprKind::Object(members) => members.iter().for_each(|member| visit(&member.value)),
        ExprKind::Let { value, body, .. } => [value, body].into_iter().for_each(|one| visit(one)),
        ExprKind::Subquery(_)
        | ExprKind::Exists(_)
        | ExprKind::ArrayQuery(_)
        | ExprKind::All(_)
        | ExprKind::First(_)
        | ExprKind::Last(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        Facts::of(text).expect("the text can be read")
    }

    #[test]
    fn comparisons_that_every_row_meets_are_told_apart_from_others() {
        let facts =
            facts("SELECT * FROM c WHERE c.a = @a AND 'x' = c.b.d AND (c.e = 1 OR c.f = 2) AND c.g > 3");
        let equals = [
            ("/a".to_owned(), Term::Parameter("@a".to_owned())),
            ("/b/d".to_owned(), Term::Constant(Value::String("x".to_owned()))),
        ];
        assert_eq!(facts.equals, equals);
        assert_eq!(facts.compares, ["/e", "/f", "/g"]);
        assert_eq!(facts.filters, ["/a", "/b/d", "/e", "/f", "/g"]);
        assert_eq!(facts.gives, None);
    }

    #[test]
    fn names_stand_for_their_paths() {
        let facts = facts(
            "SELECT t.name, p.id FROM posts p JOIN t IN p.tags WHERE t.name = 'a' ORDER BY p.at DESC OFFSET 0 LIMIT 7",
        );
        assert_eq!(facts.joins, ["/tags"]);
        assert_eq!(facts.equal_to("/tags/[]/name"), Some(&Term::Constant(Value::String("a".to_owned()))));
        assert_eq!(facts.orders, [("/at".to_owned(), true)]);
        assert_eq!(facts.gives, Some(vec!["/tags/[]/name".to_owned(), "/id".to_owned()]));
        assert_eq!(facts.rows_max, Some(7));
    }

    #[test]
    fn counts_are_aggregates_and_functions_are_named() {
        let facts =
            facts("SELECT VALUE COUNT(1) FROM c WHERE CONTAINS(LOWER(c.title), @word) AND c.postId = @post");
        assert!(facts.is_aggregate);
        assert_eq!(facts.functions, ["CONTAINS", "LOWER"]);
        assert_eq!(facts.compares, ["/title"]);
        assert!(Facts::of("SELECT").is_none());
    }
}
