//! A collection in memory that writes down what reaches it.

use std::collections::BTreeMap;

use std::sync::LazyLock;

use armilla_script::{
    Collection, CollectionUsage, DocumentName, ErrorCode, FeedPage, FeedRequest, Outcome, Owner, Program,
    ReadDocument, Refusal, Role, Run, Sandbox, ScriptError, WorkerStart, Workers, run,
};
use armilla_value::{Object, Value, json};

/// Documents by their ids, and the calls so far.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) documents: BTreeMap<String, Object>,
    pub(crate) calls: Vec<String>,
    /// After so many operations it is closing.
    pub(crate) closes_after: Option<usize>,
    /// How many operations it accepts without being asked, as long as it is not closing.
    pub(crate) window: Option<u64>,
    operations: usize,
    written: u64,
    randoms: u64,
}

impl Memory {
    pub(crate) fn of(documents: &str) -> Memory {
        let mut memory = Memory::default();
        for document in json::parse(documents.as_bytes()).unwrap().as_array().unwrap() {
            memory.store(document.as_object().unwrap().clone());
        }
        memory
    }

    fn store(&mut self, mut document: Object) -> String {
        self.written += 1;
        let id = document.get("id").and_then(Value::as_str).unwrap().to_owned();
        document.insert("_rid", format!("rid-{id}"));
        document.insert("_self", format!("dbs/drid==/colls/crid=/docs/rid-{id}/"));
        document.insert("_etag", format!("\"{}\"", self.written));
        let text = json::to_string(&Value::Object(document.clone()));
        self.documents.insert(id, document);
        text
    }

    fn note(&mut self, call: String) {
        self.operations += 1;
        self.calls.push(call);
    }

    fn find(&self, name: DocumentName<'_>) -> Result<String, Refusal> {
        let id = match name {
            DocumentName::Id(id) => id,
            DocumentName::Rid(rid) => rid.strip_prefix("rid-").unwrap_or_default(),
        };
        if self.documents.contains_key(id) {
            Ok(id.to_owned())
        } else {
            Err(Refusal::new(ErrorCode::NotFound, format!("there is no document {name:?}")))
        }
    }

    fn check(&self, id: &str, etag: Option<&str>) -> Result<(), Refusal> {
        let stored = self.documents[id].get("_etag").and_then(Value::as_str);
        match etag {
            Some(etag) if Some(etag) != stored => {
                Err(Refusal::new(ErrorCode::PreconditionFailed, "the etag is another one"))
            }
            _ => Ok(()),
        }
    }

    fn parse(body: &str) -> Result<(String, Object), Refusal> {
        let refused = |why: &str| Refusal::new(ErrorCode::BadRequest, why);
        let value = json::parse(body.as_bytes()).map_err(|error| refused(&error.to_string()))?;
        let document = value.as_object().ok_or_else(|| refused("a document is an object"))?.clone();
        let id = document.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| refused("the id is missing"))?.to_owned();
        Ok((id, document))
    }

    /// Knows the queries of the tests by their beginnings and ends.
    fn select(&self, text: Option<&str>, parameters: &[(String, Value)]) -> Result<Vec<Value>, Refusal> {
        let all = || self.documents.values().cloned().map(Value::Object);
        let Some(text) = text else { return Ok(all().collect()) };
        if text.starts_with("SELECT VALUE COUNT(1)") {
            return Ok(vec![Value::from(self.documents.len() as i64)]);
        }
        if let Some(rest) = text.strip_prefix("SELECT TOP ") {
            let count: usize = rest.split(' ').next().unwrap().parse().unwrap();
            let mut sorted: Vec<Value> = all().collect();
            sorted.sort_by_key(|document| {
                json::to_string(document.get("creationDate").unwrap_or(&Value::Null))
            });
            sorted.truncate(count);
            return Ok(sorted);
        }
        if let Some((_, condition)) = text.split_once(" WHERE ") {
            let (path, wanted) = condition.split_once(" = ").unwrap();
            let (_, member) = path.split_once('.').unwrap();
            let wanted = match parameters.iter().find(|(name, _)| name == wanted) {
                Some((_, value)) => value.clone(),
                None => json::parse(wanted.replace('\'', "\"").as_bytes()).unwrap(),
            };
            return Ok(all().filter(|document| document.get(member) == Some(&wanted)).collect());
        }
        match text {
            "SELECT * FROM c" => Ok(all().collect()),
            _ => Err(Refusal::new(ErrorCode::BadRequest, format!("syntax error in '{text}'"))),
        }
    }
}

impl Collection for Memory {
    fn self_link(&self) -> String {
        "dbs/drid==/colls/crid=/".to_owned()
    }

    fn alt_link(&self) -> String {
        "dbs/shop/colls/orders".to_owned()
    }

    fn is_closing(&self) -> bool {
        self.closes_after.is_some_and(|count| self.operations >= count)
    }

    fn window(&self) -> u64 {
        let left = self.closes_after.map(|count| count.saturating_sub(self.operations) as u64);
        if self.is_closing() { 0 } else { self.window.or(left).unwrap_or(u64::MAX) }
    }

    fn read(&mut self, document: DocumentName<'_>, known: Option<&str>) -> Result<ReadDocument, Refusal> {
        self.note(format!(
            "read {document:?}{}",
            known.map(|etag| format!(" unless {etag}")).unwrap_or_default()
        ));
        let id = self.find(document)?;
        let stored = &self.documents[&id];
        if known.is_some() && stored.get("_etag").and_then(Value::as_str) == known {
            return Ok(ReadDocument::NotModified);
        }
        Ok(ReadDocument::Found(json::to_string(&Value::Object(stored.clone()))))
    }

    fn create(&mut self, body: &str) -> Result<String, Refusal> {
        self.note(format!("create {body}"));
        let (id, document) = Memory::parse(body)?;
        if self.documents.contains_key(&id) {
            return Err(Refusal::new(ErrorCode::Conflict, format!("there is a document '{id}' already")));
        }
        Ok(self.store(document))
    }

    fn upsert(&mut self, body: &str, etag: Option<&str>) -> Result<(String, bool), Refusal> {
        self.note(format!("upsert {body}{}", etag.map(|etag| format!(" if {etag}")).unwrap_or_default()));
        let (id, document) = Memory::parse(body)?;
        let is_created = !self.documents.contains_key(&id);
        if !is_created {
            self.check(&id, etag)?;
        }
        Ok((self.store(document), is_created))
    }

    fn replace(
        &mut self,
        document: DocumentName<'_>,
        body: &str,
        etag: Option<&str>,
    ) -> Result<String, Refusal> {
        let condition = etag.map(|etag| format!(" if {etag}")).unwrap_or_default();
        self.note(format!("replace {document:?} {body}{condition}"));
        let id = self.find(document)?;
        self.check(&id, etag)?;
        let (_, document) = Memory::parse(body)?;
        self.documents.remove(&id);
        Ok(self.store(document))
    }

    fn delete(&mut self, document: DocumentName<'_>, etag: Option<&str>) -> Result<(), Refusal> {
        self.note(format!(
            "delete {document:?}{}",
            etag.map(|etag| format!(" if {etag}")).unwrap_or_default()
        ));
        let id = self.find(document)?;
        self.check(&id, etag)?;
        self.documents.remove(&id);
        Ok(())
    }

    fn query(&mut self, feed: FeedRequest<'_>) -> Result<FeedPage, Refusal> {
        let parameters: Vec<String> = feed
            .parameters
            .iter()
            .map(|(name, value)| format!(" {name}={}", json::to_string(value)))
            .collect();
        let text = feed.text.unwrap_or("all");
        let page = feed.page_size.map(|size| format!(" page {size}")).unwrap_or_default();
        let from = feed.continuation.map(|from| format!(" from {from}")).unwrap_or_default();
        self.note(format!("query {text}{}{page}{from}", parameters.concat()));
        let results = self.select(feed.text, &feed.parameters)?;
        let from: usize = feed.continuation.map_or(0, |text| text.parse().unwrap());
        let end = feed.page_size.map_or(results.len(), |size| results.len().min(from + size));
        let continuation = (end < results.len()).then(|| end.to_string());
        let page: Vec<Value> = results[from..end].to_vec();
        Ok(FeedPage { count: page.len(), documents: json::to_string(&Value::Array(page)), continuation })
    }

    fn guid(&mut self) -> String {
        self.written += 1;
        format!("guid-{}", self.written)
    }

    fn random(&mut self) -> f64 {
        self.randoms += 1;
        self.randoms as f64 / 8.0 % 1.0
    }

    fn now_ms(&self) -> u64 {
        1_700_000_000_123
    }

    fn usage(&self) -> CollectionUsage {
        CollectionUsage { current_bytes: 1024 * 512, max_bytes: 20 * 1024 * 1024 * 1024 }
    }
}

/// Whose scripts those of these tests are.
pub(crate) const OWNER: Owner = Owner(1);

/// Real processes, as the product has them.
pub(crate) fn workers() -> &'static Workers {
    static WORKERS: LazyLock<Workers> = LazyLock::new(|| {
        Workers::new(WorkerStart::Program(env!("CARGO_BIN_EXE_armilla-script-worker").into()))
    });
    &WORKERS
}

/// Takes a text.
pub(crate) fn program(body: &str) -> Program {
    Program::new(body.to_owned()).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// Evaluates a text, for two seconds at most.
pub(crate) fn evaluate(body: &str) -> Result<(), ScriptError> {
    let began = std::time::Instant::now();
    let mut sandbox =
        Sandbox::new(workers(), OWNER, move || began.elapsed() > std::time::Duration::from_secs(2))?;
    sandbox.add("f", &program(body))
}

/// Runs a procedure.
pub(crate) fn procedure(body: &str, arguments: &str, memory: &mut Memory) -> Outcome {
    let role = Role::Procedure { arguments: arguments.as_bytes() };
    run_as(body, role, memory)
}

/// Runs a script with its log kept, for half a minute at most.
pub(crate) fn run_as(body: &str, role: Role<'_>, memory: &mut Memory) -> Outcome {
    let program = program(body);
    let began = std::time::Instant::now();
    let expired = Box::new(move || began.elapsed() > std::time::Duration::from_secs(30));
    run(workers(), Run { owner: OWNER, program: &program, role, keeps_log: true, expired }, memory)
}
