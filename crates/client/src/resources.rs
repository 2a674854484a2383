//! Databases, containers, their scripts and their physical partitions.

use anyhow::{Context as _, anyhow};
use armilla_rest_wire::names;
use armilla_value::{HashVersion, HashedKey, PropertyPath, Value, json};
use bytes::Bytes;
use http::{Method, StatusCode};

use crate::failure::Failure;
use crate::items::below;
use crate::question::{Question, push_segment};
use crate::session::{Done, Session};

/// How much a container may use in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throughput {
    /// So many request units.
    Manual(u32),
    /// Up to so many request units.
    Autoscale(u32),
}

impl Throughput {
    /// Returns the most request units that may be used in a second.
    pub fn units(self) -> u32 {
        match self {
            Throughput::Manual(units) | Throughput::Autoscale(units) => units,
        }
    }
}

/// A kind of script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptKind {
    /// A stored procedure.
    Procedure,
    /// A trigger.
    Trigger,
    /// A user-defined function.
    Function,
}

impl ScriptKind {
    fn feed(self) -> &'static str {
        match self {
            ScriptKind::Procedure => "sprocs",
            ScriptKind::Trigger => "triggers",
            ScriptKind::Function => "udfs",
        }
    }
}

/// A physical partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Its id.
    pub id: String,
    /// The first hashed key.
    pub min: HashedKey,
    /// The hashed key behind the last.
    pub max: HashedKey,
    /// The ranges that it comes from.
    pub parents: Vec<String>,
}

/// How a container finds the partition key of an item and hashes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRule {
    /// Where the components of the key are.
    pub paths: Vec<PropertyPath>,
    /// How they are hashed.
    pub version: HashVersion,
}

impl Session {
    /// Creates a database, or tells that it was there (`false`).
    pub async fn create_database(&mut self, database: &str) -> Result<bool, Failure> {
        let mut body = b"{\"id\":".to_vec();
        json::write_string(database, &mut body);
        body.push(b'}');
        let question = Question::new(Method::POST, "dbs", "/dbs".to_owned(), String::new()).body(body);
        self.create(&question).await
    }

    /// Deletes a database, or tells that it was not there (`false`).
    pub async fn delete_database(&mut self, database: &str) -> Result<bool, Failure> {
        let question = database_question(Method::DELETE, database);
        unless(self.carry_out(&question).await, StatusCode::NOT_FOUND)
    }

    /// Creates a container of a definition such as `{"id":"posts","partitionKey":{"paths":["/postId"]}}`, or tells
    /// that one of its name was there (`false`).
    pub async fn create_container(
        &mut self,
        database: &str,
        definition: impl Into<Bytes>,
        throughput: Option<Throughput>,
    ) -> Result<bool, Failure> {
        let Question { mut path, link, .. } = database_question(Method::POST, database);
        path.push_str("/colls");
        let mut question = Question::new(Method::POST, "colls", path, link).body(definition);
        question = match throughput {
            None => question,
            Some(Throughput::Manual(units)) => {
                question.header_text(&names::OFFER_THROUGHPUT, &units.to_string())?
            }
            Some(Throughput::Autoscale(units)) => {
                question.header_text(&names::OFFER_AUTOPILOT, &format!("{{\"maxThroughput\":{units}}}"))?
            }
        };
        self.create(&question).await
    }

    /// Reads the definition of a container.
    pub async fn read_container(&mut self, database: &str, container: &str) -> Result<Done, Failure> {
        self.carry_out(&container_question(Method::GET, database, container)).await
    }

    /// Deletes a container, or tells that it was not there (`false`).
    pub async fn delete_container(&mut self, database: &str, container: &str) -> Result<bool, Failure> {
        let question = container_question(Method::DELETE, database, container);
        unless(self.carry_out(&question).await, StatusCode::NOT_FOUND)
    }

    /// Reads how a container finds and hashes partition keys.
    pub async fn key_rule(&mut self, database: &str, container: &str) -> Result<KeyRule, Failure> {
        let done = self.read_container(database, container).await?;
        key_rule(&done.body).map_err(|error| self.unreadable(error))
    }

    /// Creates a script, or replaces that of its name. `body` is JSON such as `{"id":"p","body":"function () {}"}`.
    pub async fn put_script(
        &mut self,
        database: &str,
        container: &str,
        kind: ScriptKind,
        id: &str,
        body: impl Into<Bytes>,
    ) -> Result<(), Failure> {
        let body = body.into();
        let creation = below(Method::POST, database, container, kind.feed(), None).body(body.clone());
        if !self.create(&creation).await? {
            let replacement = below(Method::PUT, database, container, kind.feed(), Some(id)).body(body);
            self.carry_out(&replacement).await?;
        }
        Ok(())
    }

    /// Reads the physical partitions of a container, in the order of their hashed keys.
    pub async fn ranges(&mut self, database: &str, container: &str) -> Result<Vec<Range>, Failure> {
        let question = below(Method::GET, database, container, "pkranges", None);
        let done = self.carry_out(&question).await?;
        ranges(&done.body).map_err(|error| self.unreadable(error))
    }

    async fn create(&mut self, question: &Question) -> Result<bool, Failure> {
        unless(self.carry_out(question).await, StatusCode::CONFLICT)
    }

    pub(crate) fn unreadable(&self, error: anyhow::Error) -> Failure {
        let endpoint = &self.shared.endpoint;
        Failure::Malformed(error.context(format!("cannot read the answer of the server at {endpoint}")))
    }
}

/// Whether it was done; `false` if it was refused with this status.
fn unless(done: Result<Done, Failure>, status: StatusCode) -> Result<bool, Failure> {
    match done {
        Ok(_) => Ok(true),
        Err(failure) if failure.status() == Some(status) => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn database_question(method: Method, database: &str) -> Question {
    let mut path = "/dbs/".to_owned();
    push_segment(&mut path, database);
    Question::new(method, "dbs", path, format!("dbs/{database}"))
}

fn container_question(method: Method, database: &str, container: &str) -> Question {
    let Question { mut path, mut link, .. } = database_question(Method::GET, database);
    path.push_str("/colls/");
    push_segment(&mut path, container);
    link.push_str("/colls/");
    link.push_str(container);
    Question::new(method, "colls", path, link)
}

fn key_rule(body: &[u8]) -> anyhow::Result<KeyRule> {
    let definition = json::parse(body)?;
    let rule = definition.get("partitionKey").context("the container has no partitionKey")?;
    let paths = rule.get("paths").and_then(Value::as_array).context("the partitionKey has no paths")?;
    let path = |path: &Value| {
        let text = path.as_str().context("a path of the partitionKey is no text")?;
        PropertyPath::parse(text).map_err(|error| anyhow!("the path {text} of the partitionKey: {error}"))
    };
    let paths = paths.iter().map(path).collect::<anyhow::Result<Vec<_>>>()?;
    let kind = rule.get("kind").and_then(Value::as_str).unwrap_or("Hash");
    let version = match (kind, rule.get("version").and_then(Value::as_i64)) {
        ("MultiHash", _) => HashVersion::MultiHash,
        (_, Some(2)) => HashVersion::V2,
        _ => HashVersion::V1,
    };
    Ok(KeyRule { paths, version })
}

fn ranges(body: &[u8]) -> anyhow::Result<Vec<Range>> {
    let value = json::parse(body)?;
    let list = value.get("PartitionKeyRanges").and_then(Value::as_array);
    let list = list.context("there is no list of PartitionKeyRanges")?;
    let mut ranges = list.iter().map(range).collect::<anyhow::Result<Vec<_>>>()?;
    ranges.sort_by(|one, other| one.min.cmp_bounds(&other.min));
    Ok(ranges)
}

fn range(value: &Value) -> anyhow::Result<Range> {
    let text = |name: &str| {
        value.get(name).and_then(Value::as_str).with_context(|| format!("a range has no {name}"))
    };
    let key = |name: &str| {
        HashedKey::from_hex(text(name)?).with_context(|| format!("the {name} of a range is no hexadecimal"))
    };
    let parents = value.get("parents").and_then(Value::as_array).unwrap_or_default();
    Ok(Range {
        id: text("id")?.to_owned(),
        min: key("minInclusive")?,
        max: key("maxExclusive")?,
        parents: parents.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_keys() {
        for (text, expected) in [
            (r#"{"partitionKey":{"paths":["/a"]}}"#, Ok((1, HashVersion::V1))),
            (r#"{"partitionKey":{"paths":["/a"],"kind":"Hash","version":2}}"#, Ok((1, HashVersion::V2))),
            (
                r#"{"partitionKey":{"paths":["/a","/b/c"],"kind":"MultiHash","version":2}}"#,
                Ok((2, HashVersion::MultiHash)),
            ),
            ("{}", Err("no partitionKey")),
            (r#"{"partitionKey":{}}"#, Err("no paths")),
            (r#"{"partitionKey":{"paths":[1]}}"#, Err("no text")),
            (r#"{"partitionKey":{"paths":["a"]}}"#, Err("the path a")),
        ] {
            match (key_rule(text.as_bytes()), expected) {
                (Ok(rule), Ok(expected)) => assert_eq!((rule.paths.len(), rule.version), expected),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
    }

    #[test]
    fn partitions_in_their_order() {
        let text = r#"{"_rid":"x","PartitionKeyRanges":[
            {"id":"2","minInclusive":"1F","maxExclusive":"FF","parents":["0"]},
            {"id":"1","minInclusive":"","maxExclusive":"1F"}],"_count":2}"#;
        let ranges = ranges(text.as_bytes()).unwrap();
        assert_eq!(ranges.iter().map(|range| range.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(ranges[1].parents, ["0"]);
        for (text, expected) in [
            ("{}", "no list"),
            (r#"{"PartitionKeyRanges":[{}]}"#, "no id"),
            (
                r#"{"PartitionKeyRanges":[{"id":"1","minInclusive":"x","maxExclusive":"FF"}]}"#,
                "no hexadecimal",
            ),
        ] {
            let error = super::ranges(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
