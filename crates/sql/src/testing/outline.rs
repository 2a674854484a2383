//! A syntax tree as nested lists, operator first, so that a snapshot shows what belongs to what.
//!
//! Written apart from the printer on purpose: a mistake there must not hide one in the parser.

use crate::ast::*;

pub(crate) fn query(query: &Query) -> String {
    let mut clauses = vec!["select".to_owned()];
    if query.distinct {
        clauses.push("distinct".to_owned());
    }
    if let Some(top) = &query.top {
        clauses.push(format!("(top {})", count(&top.count)));
    }
    clauses.push(match &query.selection {
        Selection::Star => "*".to_owned(),
        Selection::Value(value) => format!("(value {})", expr(value)),
        Selection::List(items) => list("list", items, |item| {
            let value = expr(&item.expr);
            let value = if item.parenthesised { format!("(nameless {value})") } else { value };
            match &item.alias {
                Some(alias) => format!("(as {value} {:?})", alias.text),
                None => value,
            }
        }),
    });
    if let Some(from) = &query.from {
        clauses.push(list("from", &from.sources, |source| match &source.kind {
            SourceKind::Iterate { alias, collection: read } => {
                format!("(each {} {})", alias.text, collection(read))
            }
            SourceKind::Bind { collection: read, alias: Some(alias) } => {
                format!("(bind {} {})", alias.text, collection(read))
            }
            SourceKind::Bind { collection: read, alias: None } => collection(read),
        }));
    }
    if let Some(filter) = &query.filter {
        clauses.push(format!("(where {})", expr(filter)));
    }
    if let Some(group_by) = &query.group_by {
        clauses.push(list("group", &group_by.keys, expr));
    }
    match query.order_by.as_ref().map(|order_by| &order_by.kind) {
        None => {}
        Some(OrderByKind::Items(items)) => clauses.push(list("order", items, |item| match item.direction {
            Direction::Ascending => expr(&item.expr),
            Direction::Descending => format!("(desc {})", expr(&item.expr)),
        })),
        Some(OrderByKind::Rank { call, direction }) => {
            let direction = direction.map_or(String::new(), |direction| format!(" {direction:?}"));
            clauses.push(format!("(rank {}{direction})", expr(call)));
        }
    }
    if let Some(clause) = &query.offset_limit {
        clauses.push(format!("(offset {} limit {})", count(&clause.offset), count(&clause.limit)));
    }
    format!("({})", clauses.join(" "))
}

fn count(count: &Count) -> String {
    match &count.kind {
        CountKind::Integer(integer) => integer.to_string(),
        CountKind::Double(double) => format!("{double:?}"),
        CountKind::Parameter(name) => name.clone(),
    }
}

fn collection(collection: &Collection) -> String {
    match &collection.kind {
        CollectionKind::Path { root, segments } => {
            let steps = segments.iter().map(|segment| match segment {
                PathSegment::Name(name) => format!("/{}", name.text),
                PathSegment::Index(index) => format!("/[{index}]"),
            });
            std::iter::once(root.text.clone()).chain(steps).collect()
        }
        CollectionKind::Query(nested) => query(nested),
    }
}

pub(crate) fn expr(tree: &Expr) -> String {
    let not = |negated: &bool, word: &str| if *negated { format!("not-{word}") } else { word.to_owned() };
    match &tree.kind {
        ExprKind::Literal(literal) => match literal {
            Literal::Int(integer) => integer.to_string(),
            Literal::Double(double) => format!("{double:?}"),
            Literal::String(text) => format!("{text:?}"),
            other => format!("{other:?}"),
        },
        ExprKind::Parameter(name) | ExprKind::Identifier(name) => name.clone(),
        ExprKind::Member { object, name } => format!("(. {} {:?})", expr(object), name.text),
        ExprKind::Index { object, index } => format!("([] {} {})", expr(object), expr(index)),
        ExprKind::Unary { op, operand } => format!("({} {})", op.symbol(), expr(operand)),
        ExprKind::Binary { op, left, right } => format!("({} {} {})", op.symbol(), expr(left), expr(right)),
        ExprKind::And(parts) => list("and", parts, expr),
        ExprKind::Or(parts) => list("or", parts, expr),
        ExprKind::Coalesce { left, right } => format!("(?? {} {})", expr(left), expr(right)),
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("(if {} {} {})", expr(condition), expr(then), expr(otherwise))
        }
        ExprKind::In { value, list: candidates, negated } => {
            list(&format!("{} {}", not(negated, "in"), expr(value)), candidates, expr)
        }
        ExprKind::Like { value, pattern, escape, negated } => {
            let escape = escape.map_or(String::new(), |escape| format!(" escape {escape:?}"));
            format!("({} {} {}{escape})", not(negated, "like"), expr(value), expr(pattern))
        }
        ExprKind::Between { value, low, high, negated } => {
            format!("({} {} {} {})", not(negated, "between"), expr(value), expr(low), expr(high))
        }
        ExprKind::Call { name, args } => list(&format!("call {}", name.text), args, expr),
        ExprKind::UdfCall { name, args } => list(&format!("udf {}", name.text), args, expr),
        ExprKind::Array(elements) => list("array", elements, expr),
        ExprKind::Object(members) => {
            list("object", members, |member| format!("({:?} {})", member.name.text, expr(&member.value)))
        }
        ExprKind::Subquery(nested) => query(nested),
        ExprKind::Exists(nested) => format!("(exists {})", query(nested)),
        ExprKind::ArrayQuery(nested) => format!("(array-of {})", query(nested)),
        ExprKind::All(nested) => format!("(all {})", query(nested)),
        ExprKind::First(nested) => format!("(first {})", query(nested)),
        ExprKind::Last(nested) => format!("(last {})", query(nested)),
        ExprKind::Let { name, value, body } => format!("(let {} {} {})", name.text, expr(value), expr(body)),
    }
}

fn list<T>(head: &str, items: &[T], show: impl Fn(&T) -> String) -> String {
    let mut shown = format!("({head}");
    for item in items {
        shown.push(' ');
        shown.push_str(&show(item));
    }
    shown.push(')');
    shown
}
