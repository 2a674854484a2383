//! The clauses of a query.

use super::{Measured, Parsed, Parser};
use crate::ast::{
    Collection, CollectionKind, Count, CountKind, Direction, ExprKind, FromClause, GroupBy, Name,
    OffsetLimit, OrderBy, OrderByKind, OrderItem, PathSegment, Query, SelectItem, Selection, Source,
    SourceKind, Top,
};
use crate::literal::{integer_magnitude, string_value};
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn query(&mut self) -> Parsed<Measured<Box<Query>>> {
        self.descend()?;
        let start = self.expect(TokenKind::Select)?.start;
        // Filled in place and by functions of their own: a query is large, and what is held on the stack at
        // every level of nesting adds up.
        let mut query = empty_query();
        self.head(&mut query)?;
        let mut height = self.selection(&mut query)?;
        if self.kind() == TokenKind::From {
            height = height.max(self.from(&mut query)?);
        }
        if self.kind() == TokenKind::Where {
            height = height.max(self.filter(&mut query)?);
        }
        if self.kind() == TokenKind::Group {
            height = height.max(self.group_by(&mut query)?);
        }
        if self.kind() == TokenKind::Order {
            height = height.max(self.order_by(&mut query)?);
        }
        if self.kind() == TokenKind::Offset {
            self.offset_limit(&mut query)?;
        }
        query.span = self.since(start);
        self.depth -= 1;
        Ok(Measured { node: query, height: self.grow(height)? })
    }

    /// What stands between SELECT and the selection.
    fn head(&mut self, query: &mut Query) -> Parsed<()> {
        query.distinct = self.accept(TokenKind::Distinct);
        query.top = self.top()?;
        Ok(())
    }

    fn top(&mut self) -> Parsed<Option<Top>> {
        if self.kind() != TokenKind::Top {
            return Ok(None);
        }
        let start = self.advance().start;
        let count = if self.kind() == TokenKind::Double {
            let span = self.advance();
            let value: f64 =
                self.text_of(span).parse().expect("the lexer takes only what a double can be read from");
            // An infinite count could not be written back.
            Count { kind: CountKind::Double(value.min(f64::MAX)), span }
        } else {
            self.integer_count()?
        };
        Ok(Some(Top { count, span: self.since(start) }))
    }

    /// A count without sign and fraction, or a parameter.
    fn integer_count(&mut self) -> Parsed<Count> {
        let text = self.text_of(self.span());
        let kind = match self.kind() {
            TokenKind::Integer => CountKind::Integer(integer_magnitude(text).unwrap_or(u64::MAX)),
            TokenKind::Parameter => CountKind::Parameter(text.to_owned()),
            _ => return Err(self.unexpected()),
        };
        Ok(Count { kind, span: self.advance() })
    }

    /// What follows SELECT; returns its height.
    fn selection(&mut self, query: &mut Query) -> Parsed<usize> {
        let start = self.span().start;
        let mut height = 0;
        query.selection = if self.accept(TokenKind::Star) {
            Selection::Star
        } else if self.accept(TokenKind::Value) {
            let value = self.expression()?;
            height = value.height;
            Selection::Value(*value.expr)
        } else {
            let mut items = Vec::new();
            loop {
                height = height.max(self.select_item(&mut items)?);
                if !self.accept(TokenKind::Comma) {
                    break Selection::List(items);
                }
            }
        };
        query.selection_span = self.since(start);
        Ok(height)
    }

    /// Adds one item to `items`; returns its height.
    fn select_item(&mut self, items: &mut Vec<SelectItem>) -> Parsed<usize> {
        let tree = self.expression()?;
        let height = tree.height;
        let alias = self.select_alias()?;
        let is_path = matches!(tree.expr.kind, ExprKind::Identifier(_) | ExprKind::Member { .. });
        let parenthesised = is_path && tree.is_parenthesised();
        items.push(SelectItem { expr: *tree.expr, alias, parenthesised });
        Ok(height)
    }

    fn select_alias(&mut self) -> Parsed<Option<Name>> {
        let is_announced = self.accept(TokenKind::As);
        match self.kind() {
            TokenKind::String => Ok(Some(self.string()?)),
            kind if is_announced || kind.is_identifier() => Ok(Some(self.identifier()?)),
            _ => Ok(None),
        }
    }

    /// The FROM clause; returns its height.
    fn from(&mut self, query: &mut Query) -> Parsed<usize> {
        let start = self.advance().start;
        let mut sources = Vec::new();
        let mut height = 0;
        loop {
            height = height.max(self.source(&mut sources)?);
            if !self.accept(TokenKind::Join) {
                break;
            }
        }
        query.from = Some(FromClause { sources, span: self.since(start) });
        Ok(height)
    }

    /// Adds one source to `sources`; returns its height.
    fn source(&mut self, sources: &mut Vec<Source>) -> Parsed<usize> {
        let start = self.span().start;
        let is_iteration = self.kind().is_identifier() && self.kind_ahead(1) == TokenKind::In;
        let element = if is_iteration { Some(self.element()?) } else { None };
        let collection_start = self.span().start;
        if self.accept(TokenKind::LeftParen) {
            let Measured { node: query, height } = self.query()?;
            self.expect(TokenKind::RightParen)?;
            let collection =
                Collection { kind: CollectionKind::Query(query), span: self.since(collection_start) };
            sources.push(self.finished_source(element, collection, start)?);
            Ok(height)
        } else {
            let Measured { node: collection, height } = self.path()?;
            sources.push(self.finished_source(element, collection, start)?);
            Ok(height)
        }
    }

    /// The name before IN, and that word.
    fn element(&mut self) -> Parsed<Box<Name>> {
        let name = self.identifier()?;
        self.expect(TokenKind::In)?;
        Ok(Box::new(name))
    }

    /// Makes a source of its collection, which has just been read.
    fn finished_source(
        &mut self,
        element: Option<Box<Name>>,
        collection: Collection,
        start: usize,
    ) -> Parsed<Source> {
        let kind = match element {
            Some(alias) => SourceKind::Iterate { alias: *alias, collection },
            None => {
                let is_named = self.accept(TokenKind::As) || self.kind().is_identifier();
                let alias = if is_named { Some(self.identifier()?) } else { None };
                SourceKind::Bind { collection, alias }
            }
        };
        Ok(Source { kind, span: self.since(start) })
    }

    /// A collection that is no subquery.
    fn path(&mut self) -> Parsed<Measured<Collection>> {
        let root = self.identifier()?;
        let start = root.span.start;
        let mut segments = Vec::new();
        // Turning the path into member expressions makes one level per step.
        let mut height = 1;
        loop {
            if self.accept(TokenKind::Dot) {
                segments.push(PathSegment::Name(self.identifier()?));
            } else if self.accept(TokenKind::LeftBracket) {
                segments.push(self.bracketed_segment()?);
                self.expect(TokenKind::RightBracket)?;
            } else {
                let kind = CollectionKind::Path { root, segments };
                return Ok(Measured { node: Collection { kind, span: self.since(start) }, height });
            }
            height = self.grow(height)?;
        }
    }

    fn bracketed_segment(&mut self) -> Parsed<PathSegment> {
        let span = self.span();
        let text = self.text_of(span);
        let segment = match self.kind() {
            TokenKind::String => PathSegment::Name(Name { text: string_value(text), span }),
            TokenKind::Integer => match integer_magnitude(text) {
                Some(index) => PathSegment::Index(index),
                None => return Err(self.unexpected()),
            },
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(segment)
    }

    /// The WHERE clause; returns its height.
    fn filter(&mut self, query: &mut Query) -> Parsed<usize> {
        self.advance();
        let filter = self.expression()?;
        query.filter = Some(*filter.expr);
        Ok(filter.height)
    }

    /// The GROUP BY clause; returns its height.
    fn group_by(&mut self, query: &mut Query) -> Parsed<usize> {
        let start = self.advance().start;
        self.expect(TokenKind::By)?;
        let Measured { node: keys, height } = self.expressions()?;
        query.group_by = Some(GroupBy { keys, span: self.since(start) });
        Ok(height)
    }

    /// The ORDER BY clause; returns its height.
    fn order_by(&mut self, query: &mut Query) -> Parsed<usize> {
        let start = self.advance().start;
        self.expect(TokenKind::By)?;
        let is_rank = self.kind() == TokenKind::Rank
            && self.kind_ahead(1).is_function_name()
            && self.kind_ahead(2) == TokenKind::LeftParen;
        let mut height = 0;
        let kind = if is_rank {
            self.advance();
            let call = self.call()?;
            height = call.height;
            OrderByKind::Rank { call: *call.expr, direction: self.direction() }
        } else {
            let mut items = Vec::new();
            loop {
                let key = self.expression()?;
                height = height.max(key.height);
                let direction = self.direction().unwrap_or(Direction::Ascending);
                items.push(OrderItem { expr: *key.expr, direction });
                if !self.accept(TokenKind::Comma) {
                    break OrderByKind::Items(items);
                }
            }
        };
        query.order_by = Some(OrderBy { kind, span: self.since(start) });
        Ok(height)
    }

    fn direction(&mut self) -> Option<Direction> {
        if self.accept(TokenKind::Asc) {
            Some(Direction::Ascending)
        } else if self.accept(TokenKind::Desc) {
            Some(Direction::Descending)
        } else {
            None
        }
    }

    fn offset_limit(&mut self, query: &mut Query) -> Parsed<()> {
        let start = self.advance().start;
        let offset = self.integer_count()?;
        self.expect(TokenKind::Limit)?;
        let limit = self.integer_count()?;
        query.offset_limit = Some(OffsetLimit { offset, limit, span: self.since(start) });
        Ok(())
    }
}

fn empty_query() -> Box<Query> {
    Box::new(Query::new(Selection::Star))
}
