//! The one operation that all ways do: put an entry in, and count it in an item of the same logical partition.

use std::fmt::Write as _;

use armilla_env::Random;

use crate::items::{CONTAINER, DATABASE};

/// The id of the item that counts, in every logical partition.
pub(super) const COUNTER: &str = "counter";

/// The one logical partition of everybody.
const HOT_KEY: &str = "hot";

/// The stored procedure and its name: an entry goes in, the counter goes up, and the new count is the answer.
pub(super) const PROCEDURE: &str = "addEntry";
pub(super) const PROCEDURE_BODY: &str = r#"function (entry, counterId) {
    var collection = getContext().getCollection();
    var counterLink = collection.getAltLink() + "/docs/" + counterId;
    must(collection.createDocument(collection.getSelfLink(), entry, function (error) {
        if (error) throw error;
        must(collection.readDocument(counterLink, function (error, counter) {
            if (error) throw error;
            counter.count += 1;
            must(collection.replaceDocument(counter._self, counter, { etag: counter._etag }, function (error) {
                if (error) throw error;
                getContext().getResponse().setBody(counter.count);
            }));
        }));
    }));
    function must(accepted) {
        if (!accepted) throw new Error("the operation was not accepted");
    }
}"#;

/// The same for several entries at once, which are created in a loop.
pub(super) const LOOP_PROCEDURE: &str = "addEntries";
pub(super) const LOOP_PROCEDURE_BODY: &str = r#"function (entries, counterId) {
    var collection = getContext().getCollection();
    for (var i = 0; i < entries.length; i++) must(collection.createDocument(collection.getSelfLink(), entries[i], check));
    must(collection.readDocument(collection.getAltLink() + "/docs/" + counterId, function (error, counter) {
        check(error);
        counter.count += entries.length;
        must(collection.replaceDocument(counter._self, counter, { etag: counter._etag }, function (error) {
            check(error);
            getContext().getResponse().setBody(counter.count);
        }));
    }));
    function check(error) {
        if (error) throw error;
    }
    function must(accepted) {
        if (!accepted) throw new Error("the operation was not accepted");
    }
}"#;

/// Entries of an operation that puts several in.
pub(super) const MANY: usize = 20;

/// The same writes as one transactional batch.
pub(super) fn batch_body(entries: &[Entry]) -> String {
    let mut body = String::from("[");
    for entry in entries {
        // Writing to a string cannot fail.
        let _ = write!(body, r#"{{"operationType":"Create","resourceBody":{}}},"#, entry.json);
    }
    let patch = patch(entries.len());
    let _ = write!(body, r#"{{"operationType":"Patch","id":"{COUNTER}","resourceBody":{patch}}}]"#);
    body
}

/// What counts entries where no script does.
pub(super) fn patch(entries: usize) -> String {
    format!(r#"{{"operations":[{{"op":"incr","path":"/count","value":{entries}}}]}}"#)
}

/// How an operation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By requests to the server.
    Own(Requests),
    /// By a PL/pgSQL function.
    Postgres(Table),
}

/// What the server is asked for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Requests {
    /// A stored procedure.
    Procedure,
    /// A transactional batch.
    Batch,
    /// Two requests one after the other, each durable on its own.
    Separate,
    /// A stored procedure that puts several entries in, in a loop.
    LoopProcedure,
    /// A transactional batch with several entries.
    LargeBatch,
}

impl Requests {
    /// Returns how many entries one operation puts in.
    pub(super) fn entries(self) -> usize {
        match self {
            Requests::Procedure | Requests::Batch | Requests::Separate => 1,
            Requests::LoopProcedure | Requests::LargeBatch => MANY,
        }
    }
}

/// Where a function of PostgreSQL writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// With the primary key as the only index.
    Plain,
    /// With an index of everything in the documents besides, which the server has as well.
    Indexed,
}

impl Way {
    pub(super) const ALL: [Way; 7] = [
        Way::Own(Requests::Procedure),
        Way::Own(Requests::Batch),
        Way::Own(Requests::Separate),
        Way::Own(Requests::LoopProcedure),
        Way::Own(Requests::LargeBatch),
        Way::Postgres(Table::Plain),
        Way::Postgres(Table::Indexed),
    ];

    /// Begins the ids of entries, so that no two measurements meet.
    fn letter(self) -> char {
        match self {
            Way::Own(Requests::Procedure) => 'p',
            Way::Own(Requests::Batch) => 'b',
            Way::Own(Requests::Separate) => 's',
            Way::Own(Requests::LoopProcedure) => 'l',
            Way::Own(Requests::LargeBatch) => 'm',
            Way::Postgres(_) => 'g',
        }
    }
}

/// Which logical partitions the connections write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Each has its own: no two operations meet.
    Apart,
    /// All have the same one, and so the same counter.
    Hot,
}

impl Spread {
    pub(super) const ALL: [Spread; 2] = [Spread::Apart, Spread::Hot];
}

/// One thing that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) way: Way,
    pub(super) spread: Spread,
}

impl Case {
    pub(super) fn name(self) -> &'static str {
        match (self.way, self.spread) {
            (Way::Own(Requests::Procedure), Spread::Apart) => "stored procedure",
            (Way::Own(Requests::Batch), Spread::Apart) => "transactional batch",
            (Way::Own(Requests::Separate), Spread::Apart) => "two requests",
            (Way::Own(Requests::LoopProcedure), Spread::Apart) => "procedure of 20 entries",
            (Way::Own(Requests::LargeBatch), Spread::Apart) => "batch of 20 entries",
            (Way::Own(Requests::LoopProcedure), Spread::Hot) => "procedure of 20 entries, one counter",
            (Way::Own(Requests::LargeBatch), Spread::Hot) => "batch of 20 entries, one counter",
            (Way::Postgres(Table::Plain), Spread::Apart) => "PostgreSQL function",
            (Way::Postgres(Table::Indexed), Spread::Apart) => "PostgreSQL function, GIN index",
            (Way::Own(Requests::Procedure), Spread::Hot) => "stored procedure, one counter",
            (Way::Own(Requests::Batch), Spread::Hot) => "transactional batch, one counter",
            (Way::Own(Requests::Separate), Spread::Hot) => "two requests, one counter",
            (Way::Postgres(Table::Plain), Spread::Hot) => "PostgreSQL function, one counter",
            (Way::Postgres(Table::Indexed), Spread::Hot) => "PostgreSQL function, GIN index, one counter",
        }
    }
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workload {
    pub(super) connections: usize,
    /// Logical partitions that each connection has for itself.
    pub(super) keys_per_connection: usize,
    /// About so many bytes has an entry.
    pub(super) entry_bytes: usize,
}

/// What one connection writes, one entry after the other.
pub(super) struct Entries {
    case: Case,
    workload: Workload,
    connection: usize,
    round: usize,
    sequence: u64,
    random: Random,
}

/// An entry, and where it goes.
pub(super) struct Entry {
    /// The value of the partition key.
    pub(super) key: String,
    pub(super) json: String,
}

impl Workload {
    /// Returns all values of the partition key that any measurement uses.
    pub(super) fn keys(self) -> impl Iterator<Item = String> {
        let own = self.connections * self.keys_per_connection;
        (0..own).map(key).chain([HOT_KEY.to_owned()])
    }

    pub(super) fn entries(self, case: Case, connection: usize, round: usize) -> Entries {
        let random = Random::of_part(round as u64, connection as u64);
        Entries { case, workload: self, connection, round, sequence: 0, random }
    }
}

impl Entries {
    /// Returns some entries of one logical partition.
    pub(super) fn next_entries(&mut self, count: usize) -> Vec<Entry> {
        let Workload { connections, keys_per_connection, .. } = self.workload;
        let key = match self.case.spread {
            Spread::Apart => key(self.connection + connections * self.random.index(keys_per_connection)),
            Spread::Hot => HOT_KEY.to_owned(),
        };
        (0..count).map(|_| self.next_entry(key.clone())).collect()
    }

    fn next_entry(&mut self, key: String) -> Entry {
        let entry_bytes = self.workload.entry_bytes;
        self.sequence += 1;
        let (letter, round, connection) = (self.case.way.letter(), self.round, self.connection);
        let (amount, day) = (self.random.below(100_000), self.random.below(366));
        let mut json = String::with_capacity(entry_bytes + 32);
        // Writing to a string cannot fail.
        let _ = write!(
            json,
            r#"{{"id":"{letter}{round}-{connection}-{}","customer":"{key}","kind":"entry","amount":{amount},"day":{day},"tags":["web","gift"],"shop":{{"city":"Oslo","number":{}}},"note":""#,
            self.sequence,
            self.random.below(500)
        );
        let filling = entry_bytes.saturating_sub(json.len() + 2);
        self.random.push_text(filling, &mut json);
        json.push_str("\"}");
        Entry { key, json }
    }
}

/// Returns the item that counts in a logical partition.
pub(super) fn counter(key: &str) -> String {
    format!(r#"{{"id":"{COUNTER}","customer":"{key}","kind":"counter","count":0}}"#)
}

/// Returns the targets' names: database and container.
pub(super) fn place() -> (&'static str, &'static str) {
    (DATABASE, CONTAINER)
}

fn key(number: usize) -> String {
    format!("customer-{number:05}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use armilla_value::json;

    use super::*;

    const WORKLOAD: Workload = Workload { connections: 3, keys_per_connection: 4, entry_bytes: 400 };

    #[test]
    fn connections_meet_in_the_hot_partition_alone() {
        let known: BTreeSet<String> = WORKLOAD.keys().collect();
        assert_eq!(known.len(), 13);
        for spread in Spread::ALL {
            let mut keys = Vec::new();
            for connection in 0..WORKLOAD.connections {
                let case = Case { way: Way::Own(Requests::Batch), spread };
                let mut entries = WORKLOAD.entries(case, connection, 1);
                keys.push((0..100).map(|_| entries.next_entries(1)[0].key.clone()).collect::<BTreeSet<_>>());
            }
            for (index, own) in keys.iter().enumerate() {
                assert!(own.is_subset(&known));
                for other in &keys[index + 1..] {
                    assert_eq!(own.is_disjoint(other), spread == Spread::Apart);
                }
            }
        }
    }

    #[test]
    fn bodies_are_json_and_ids_differ() {
        let mut ids = BTreeSet::new();
        for way in Way::ALL.into_iter().filter(|way| *way != Way::Postgres(Table::Indexed)) {
            for (connection, round) in [(0, 0), (0, 1), (1, 0)] {
                let case = Case { way, spread: Spread::Apart };
                let mut entries = WORKLOAD.entries(case, connection, round);
                for count in [1, 1, MANY] {
                    let entries = entries.next_entries(count);
                    for entry in &entries {
                        assert_eq!(entry.json.len(), WORKLOAD.entry_bytes);
                        assert_eq!(entry.key, entries[0].key);
                        let value = json::parse(entry.json.as_bytes()).unwrap();
                        assert!(ids.insert(value.get("id").unwrap().as_str().unwrap().to_owned()));
                    }
                    let batch = json::parse(batch_body(&entries).as_bytes()).unwrap();
                    assert_eq!(batch.as_array().unwrap().len(), count + 1);
                }
            }
        }
        assert!(json::parse(counter("a").as_bytes()).is_ok());
    }
}
