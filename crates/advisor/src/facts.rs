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
    /// Every path that is named anywhere in the filter, or in a source that is a query.
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

    /// Returns whether the filter says nothing but which sort of items is wanted: every caller is given the same.
    pub fn is_of_all(&self, discriminator: Option<&str>) -> bool {
        self.filters.iter().all(|path| Some(path.as_str()) == discriminator)
    }

    /// Returns whether the filter says nothing but which sort of items of which logical partition is wanted.
    pub fn is_of_key(&self, discriminator: Option<&str>, key_paths: &[String]) -> bool {
        self.filters.iter().all(|path| Some(path.as_str()) == discriminator || key_paths.contains(path))
    }

    /// Returns whether rows are made of many items each, so that they do not say how many there are.
    pub fn is_condensed(&self) -> bool {
        self.is_aggregate || !self.groups.is_empty()
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
        for source in query.from.iter().flat_map(|from| &from.sources) {
            let path = match &source.collection().kind {
                CollectionKind::Path { root, segments } => Some(self.collection(&root.text, segments)),
                CollectionKind::Query(inner) => self.rows(inner),
            };
            // What is computed is at no path.
            let Some(mut path) = path else { continue };
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

    fn collection(&self, root: &str, segments: &[PathSegment]) -> String {
        // The container goes by any name that nothing else has.
        let mut path = self.path_of(root).unwrap_or_default();
        for segment in segments {
            match segment {
                PathSegment::Name(name) => push(&mut path, &name.text),
                PathSegment::Index(_) => path.push_str("/[]"),
            }
        }
        path
    }

    /// Reads a source that is a query. Returns the path that its rows are at, if they are at one.
    fn rows(&mut self, query: &Query) -> Option<String> {
        let mut inner = self.inside(query);
        self.facts.joins.append(&mut inner.facts.joins);
        self.facts.filters.extend(inner.facts.indexable().map(str::to_owned));
        let path = match &query.selection {
            Selection::Value(value) => inner.path(value),
            Selection::Star | Selection::List(_) => None,
        };
        if path.is_none() {
            self.facts.filters.extend(inner.given(&query.selection, self.names.len()));
        }
        path
    }

    /// Reads a query inside of this one: names mean there what they mean here, and it has names of its own.
    fn inside(&self, query: &Query) -> Reader {
        let mut inner = Reader { names: self.names.clone(), facts: Facts::default() };
        inner.query(query);
        inner
    }

    /// Returns the paths that the query gives which was read; the names beyond the first so many are its own. The path of
    /// the whole item is empty.
    fn given(self, selection: &Selection, names_outside: usize) -> Vec<String> {
        let is_star = matches!(selection, Selection::Star);
        match self.facts.gives {
            Some(paths) if !paths.is_empty() => paths,
            None if !is_star => vec![String::new()],
            // Constants and `*` say no more than where the rows are from.
            _ => self.names.into_iter().skip(names_outside).map(|(_, path)| path).collect(),
        }
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
        match (self.path(expr), subquery(expr)) {
            (Some(path), _) => out.push(path),
            (None, Some(query)) => self.paths_inside(query, matches!(expr.kind, ExprKind::Exists(_)), out),
            (None, None) => children(expr, &mut |child| self.paths(child, out)),
        }
    }

    /// Adds every path in a subquery. Where it is only asked whether there are rows, its filter says which.
    fn paths_inside(&self, query: &Query, is_exists: bool, out: &mut Vec<String>) {
        let inner = self.inside(query);
        out.extend(inner.facts.indexable().map(str::to_owned));
        if !is_exists || query.filter.is_none() {
            out.extend(inner.given(&query.selection, self.names.len()));
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

/// Returns the subquery that an expression is, if it is one.
fn subquery(expr: &Expr) -> Option<&Query> {
    match &expr.kind {
        ExprKind::Subquery(query)
        | ExprKind::Exists(query)
        | ExprKind::ArrayQuery(query)
        | ExprKind::All(query)
        | ExprKind::First(query)
        | ExprKind::Last(query) => Some(query),
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
        assert!(Facts::of("a query without a text, over /age").is_none());
    }

    #[test]
    fn subqueries_name_paths_of_the_item() {
        let some =
            facts("SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.name = @name)");
        assert_eq!(some.filters, ["/tags/[]/name"]);
        assert_eq!(some.compares, ["/tags/[]/name"]);
        assert!(some.equals.is_empty());
        assert_eq!(
            facts("SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 FROM t IN c.tags)").filters,
            ["/tags/[]"]
        );
        // A name inside is another one than the same outside.
        let named =
            facts("SELECT * FROM c WHERE EXISTS(SELECT VALUE c FROM c IN c.tags WHERE c.at > 1) AND c.x > 2");
        assert_eq!(named.filters, ["/tags/[]/at", "/x"]);
        let list =
            facts("SELECT c.id, ARRAY(SELECT VALUE t.name FROM t IN c.tags WHERE t.at > 1) AS names FROM c");
        let gives = ["/id", "/tags/[]/at", "/tags/[]/name"].map(str::to_owned);
        assert_eq!(list.gives, Some(gives.to_vec()));
        let within =
            facts("SELECT * FROM c WHERE 2 IN (c.x, ARRAY_LENGTH(ARRAY(SELECT * FROM t IN c.tags)))");
        assert_eq!(within.filters, ["/tags/[]", "/x"]);
        assert_eq!(facts("SELECT c.id, (SELECT VALUE c) AS whole FROM c").gives, None);
    }

    #[test]
    fn sources_that_are_queries_name_paths_of_the_item() {
        let counted =
            facts("SELECT VALUE COUNT(1) FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t.name = 'x')");
        assert_eq!(counted.filters, ["/tags/[]/name"]);
        assert_eq!(counted.joins, ["/tags"]);
        let named = facts(
            "SELECT * FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t.name = 'x') AS s WHERE s.at = 1",
        );
        assert_eq!(named.filters, ["/tags/[]/at", "/tags/[]/name"]);
        assert!(named.equal_to("/tags/[]/at").is_some());
        let made = facts("SELECT * FROM c JOIN (SELECT t.at FROM t IN c.tags) AS s WHERE s.at = 1");
        assert_eq!(made.filters, ["/tags/[]/at"]);
    }

    #[test]
    fn what_all_are_given_and_what_one_is_given_are_told_apart() {
        let all = facts("SELECT TOP 9 * FROM c WHERE c.type = 'order' ORDER BY c.at DESC");
        assert!(all.is_of_all(Some("/type")) && !all.is_of_all(None));
        let mine =
            facts("SELECT TOP 9 * FROM c WHERE c.type = 'order' AND c.userId = @user ORDER BY c.at DESC");
        let keys = ["/userId".to_owned()];
        assert!(!mine.is_of_all(Some("/type")));
        assert!(mine.is_of_key(Some("/type"), &keys) && !mine.is_of_key(Some("/type"), &[]));
        assert!(facts("SELECT TOP 9 * FROM c ORDER BY c.at DESC").is_of_all(None));
        assert!(
            !mine.is_condensed() && facts("SELECT c.x, COUNT(1) AS n FROM c GROUP BY c.x").is_condensed()
        );
        assert!(facts("SELECT c.x FROM c GROUP BY c.x").is_condensed());
    }
}
