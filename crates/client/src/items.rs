//! Operations on the items of a container.
//!
//! Partition keys are the JSON arrays that requests carry, such as `["Oslo"]`.

use armilla_rest_wire::names;
use armilla_value::json;
use bytes::Bytes;
use http::{Method, header};

use crate::failure::Failure;
use crate::question::{Question, push_segment};
use crate::session::{Done, Session};

/// Which part of a container is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All of it; the server puts together what its partitions find.
    #[default]
    All,
    /// The items of one partition key.
    Key(&'a str),
    /// A physical partition, by its id.
    Range(&'a str),
    /// Hashed keys from the first up to but not including the second, in hexadecimal. Unlike ids of physical
    /// partitions they stay good through splits and merges.
    Hashed(&'a str, &'a str),
}

/// A query, or its next page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// The text.
    pub text: &'a str,
    /// The parameters as a JSON array of `{"name":"@x","value":...}`; empty for none.
    pub parameters: &'a str,
    /// Which items are asked.
    pub scope: Scope<'a>,
    /// Most rows of a page; without, the server decides.
    pub items_max: Option<u32>,
    /// Where the page before ended.
    pub continuation: Option<&'a str>,
    /// How it is explained: `plan` instead of its rows, `run` beside them.
    pub explain: Option<&'a str>,
}

/// Conditions and company of a write.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions<'a> {
    /// The entity tag that the item must still have.
    pub if_match: Option<&'a str>,
    /// `*`: the item must not be there yet.
    pub if_none_match: Option<&'a str>,
    /// The trigger that runs before.
    pub pre_trigger: Option<&'a str>,
    /// The trigger that runs after.
    pub post_trigger: Option<&'a str>,
    /// Whether the answer shall leave out the item.
    pub is_minimal: bool,
}

/// How an item is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Create,
    Upsert,
    Replace,
}

impl Session {
    /// Creates an item.
    pub async fn create_item(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        body: impl Into<Bytes>,
    ) -> Result<Done, Failure> {
        self.create_item_with(database, container, partition_key, body, WriteOptions::default()).await
    }

    /// Creates an item.
    pub async fn create_item_with(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        body: impl Into<Bytes>,
        options: WriteOptions<'_>,
    ) -> Result<Done, Failure> {
        let question = items(Method::POST, database, container, None);
        self.write(question, Mode::Create, partition_key, body.into(), options).await
    }

    /// Creates or replaces an item.
    pub async fn upsert_item(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        body: impl Into<Bytes>,
    ) -> Result<Done, Failure> {
        self.upsert_item_with(database, container, partition_key, body, WriteOptions::default()).await
    }

    /// Creates or replaces an item.
    pub async fn upsert_item_with(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        body: impl Into<Bytes>,
        options: WriteOptions<'_>,
    ) -> Result<Done, Failure> {
        let question = items(Method::POST, database, container, None);
        self.write(question, Mode::Upsert, partition_key, body.into(), options).await
    }

    /// Replaces an item that is there.
    pub async fn replace_item(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        id: &str,
        body: impl Into<Bytes>,
        options: WriteOptions<'_>,
    ) -> Result<Done, Failure> {
        let question = items(Method::PUT, database, container, Some(id));
        self.write(question, Mode::Replace, partition_key, body.into(), options).await
    }

    async fn write(
        &mut self,
        mut question: Question,
        mode: Mode,
        partition_key: &str,
        body: Bytes,
        options: WriteOptions<'_>,
    ) -> Result<Done, Failure> {
        question = question
            .body(body)
            .partition_key(partition_key)?
            .header_option(&header::IF_MATCH, options.if_match)?
            .header_option(&header::IF_NONE_MATCH, options.if_none_match)?
            .header_option(&names::PRE_TRIGGER_INCLUDE, options.pre_trigger)?
            .header_option(&names::POST_TRIGGER_INCLUDE, options.post_trigger)?;
        if mode == Mode::Upsert {
            question = question.header(&names::IS_UPSERT, "true");
        }
        if options.is_minimal {
            question = question.header(&names::PREFER, "return=minimal");
        }
        self.carry_out(&question).await
    }

    /// Reads an item. One that is not there is a failure with the status 404.
    pub async fn read_item(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        id: &str,
    ) -> Result<Done, Failure> {
        let question = items(Method::GET, database, container, Some(id)).partition_key(partition_key)?;
        self.carry_out(&question).await
    }

    /// Deletes an item.
    pub async fn delete_item(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        id: &str,
        if_match: Option<&str>,
    ) -> Result<Done, Failure> {
        let question = items(Method::DELETE, database, container, Some(id))
            .partition_key(partition_key)?
            .header_option(&header::IF_MATCH, if_match)?;
        self.carry_out(&question).await
    }

    /// Reads a page of all items, in the order of their partition keys' hashes.
    pub async fn read_items(
        &mut self,
        database: &str,
        container: &str,
        scope: Scope<'_>,
        items_max: Option<u32>,
        continuation: Option<&str>,
    ) -> Result<Done, Failure> {
        let question = scoped(items(Method::GET, database, container, None), scope)?;
        let question = paged(question, items_max, continuation)?;
        self.carry_out(&question).await
    }

    /// Reads a page of a query's rows.
    pub async fn query(
        &mut self,
        database: &str,
        container: &str,
        query: &Query<'_>,
    ) -> Result<Done, Failure> {
        let mut body = Vec::with_capacity(query.text.len() + query.parameters.len() + 64);
        body.extend_from_slice(b"{\"query\":");
        json::write_string(query.text, &mut body);
        if !query.parameters.is_empty() {
            body.extend_from_slice(b",\"parameters\":");
            body.extend_from_slice(query.parameters.as_bytes());
        }
        body.push(b'}');
        let mut question = items(Method::POST, database, container, None)
            .body(body)
            .header(&names::IS_QUERY, "true")
            .header_option(&header::CONTENT_TYPE, Some("application/query+json"))?;
        question = question.header_option(&names::EXPLAIN, query.explain)?;
        if !matches!(query.scope, Scope::Key(_)) {
            question = question.header(&names::ENABLE_CROSS_PARTITION_QUERY, "true");
        }
        let question = paged(scoped(question, query.scope)?, query.items_max, query.continuation)?;
        self.carry_out(&question).await
    }

    /// Does several operations of one partition key, all or none. Its results come as those of a bulk request
    /// (see [`results`](crate::results)), also with the status 207 of a batch that was not done.
    pub async fn batch(
        &mut self,
        database: &str,
        container: &str,
        partition_key: &str,
        operations: impl Into<Bytes>,
    ) -> Result<Done, Failure> {
        let question = items(Method::POST, database, container, None)
            .body(operations)
            .partition_key(partition_key)?
            .header(&names::IS_BATCH, "true")
            .header(&names::BATCH_ATOMIC, "true");
        self.carry_out(&question).await
    }

    /// Does several operations of any partition keys, each on its own, see [`Operations`](crate::Operations) and
    /// [`results`](crate::results). `range` is the physical partition that has them all, if one is named.
    pub async fn bulk(
        &mut self,
        database: &str,
        container: &str,
        range: Option<&str>,
        operations: impl Into<Bytes>,
    ) -> Result<Done, Failure> {
        let question = items(Method::POST, database, container, None)
            .body(operations)
            .header_option(&names::PARTITION_KEY_RANGE_ID, range)?
            .header(&names::IS_BATCH, "true")
            .header(&names::BATCH_ATOMIC, "false")
            .header(&names::BATCH_CONTINUE_ON_ERROR, "true")
            // Whoever writes in bulk has the items.
            .header(&names::PREFER, "return=minimal");
        self.carry_out(&question).await
    }

    /// Runs a stored procedure. `arguments` is a JSON array.
    pub async fn execute(
        &mut self,
        database: &str,
        container: &str,
        procedure: &str,
        partition_key: &str,
        arguments: impl Into<Bytes>,
    ) -> Result<Done, Failure> {
        let question = below(Method::POST, database, container, "sprocs", Some(procedure))
            .body(arguments)
            .partition_key(partition_key)?;
        self.carry_out(&question).await
    }
}

/// Returns a question about the items of a container, or about one of them.
pub(crate) fn items(method: Method, database: &str, container: &str, id: Option<&str>) -> Question {
    below(method, database, container, "docs", id)
}

/// Returns a question about a feed of a container, or about one resource of it.
pub(crate) fn below(
    method: Method,
    database: &str,
    container: &str,
    feed: &'static str,
    id: Option<&str>,
) -> Question {
    let id_length = id.map_or(0, |id| id.len() + 1);
    let length = "/dbs//colls//".len() + database.len() + container.len() + feed.len() + id_length;
    let mut path = String::with_capacity(length);
    path.push_str("/dbs/");
    push_segment(&mut path, database);
    path.push_str("/colls/");
    push_segment(&mut path, container);
    path.push('/');
    path.push_str(feed);
    let mut link = String::with_capacity(length);
    for part in ["dbs/", database, "/colls/", container] {
        link.push_str(part);
    }
    if let Some(id) = id {
        path.push('/');
        push_segment(&mut path, id);
        for part in ["/", feed, "/", id] {
            link.push_str(part);
        }
    }
    Question::new(method, feed, path, link)
}

pub(crate) fn scoped(question: Question, scope: Scope<'_>) -> Result<Question, Failure> {
    match scope {
        Scope::All => Ok(question),
        Scope::Key(key) => question.partition_key(key),
        Scope::Range(id) => question.header_text(&names::PARTITION_KEY_RANGE_ID, id),
        Scope::Hashed(from, to) => question
            .header(&names::READ_KEY_TYPE, "EffectivePartitionKeyRange")
            .header_text(&names::START_EPK, from)?
            .header_text(&names::END_EPK, to),
    }
}

fn paged(
    question: Question,
    items_max: Option<u32>,
    continuation: Option<&str>,
) -> Result<Question, Failure> {
    let count = items_max.map(|count| count.to_string());
    question
        .header_option(&names::MAX_ITEM_COUNT, count.as_deref())?
        .header_option(&names::CONTINUATION, continuation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_links() {
        let all = items(Method::GET, "shop 1", "ø", None);
        assert_eq!(
            (all.path.as_str(), all.link.as_str()),
            ("/dbs/shop%201/colls/%C3%B8/docs", "dbs/shop 1/colls/ø")
        );
        let one = items(Method::GET, "d", "c", Some("a b"));
        assert_eq!(
            (one.path.as_str(), one.link.as_str()),
            ("/dbs/d/colls/c/docs/a%20b", "dbs/d/colls/c/docs/a b")
        );
        assert_eq!(one.resource_type, "docs");
        let procedure = below(Method::POST, "d", "c", "sprocs", Some("p"));
        assert_eq!((procedure.resource_type, procedure.link.as_str()), ("sprocs", "dbs/d/colls/c/sprocs/p"));
    }
}
