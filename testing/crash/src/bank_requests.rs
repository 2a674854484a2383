//! How banks are asked for things: their items, the scripts that change them, and the same changes as batches.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_value::{Object, Value, json};

use crate::bank::{ACCOUNTS, Account, NOTE_COUNT, OPENING_BALANCE, Transfer, account_id};
use crate::content::Area;
use crate::setup::DATABASE;

/// The number of the error that scripts throw on purpose.
pub(crate) const REFUSAL: &str = "4711";

/// The stored procedures.
const TRANSFER: &str = "transfer";
const SETTLE: &str = "settle";

/// The trigger that counts notes.
const COUNT_NOTES: &str = "countNotes";

/// Moves money and leaves an entry, the entry last; fails after that if it is told to.
///
/// It names no etags: that nobody else changed what it read is the server's business.
const TRANSFER_BODY: &str = r#"function (entry, isRefused) {
    var collection = getContext().getCollection();
    var documents = collection.getAltLink() + "/docs/";
    move(entry.from, -entry.amount, function () {
        move(entry.to, entry.amount, function () {
            must(collection.createDocument(collection.getSelfLink(), entry, function (error, created) {
                if (error) throw error;
                if (isRefused) throw new Error(4711, "refused on purpose");
                getContext().getResponse().setBody(created);
            }));
        });
    });
    function move(account, amount, next) {
        must(collection.readDocument(documents + account, function (error, found) {
            if (error) throw error;
            found.balance += amount;
            found.transfers += 1;
            must(collection.replaceDocument(found._self, found, function (error) {
                if (error) throw error;
                next();
            }));
        }));
    }
    function must(isAccepted) {
        if (!isAccepted) throw new Error("the operation was not accepted");
    }
}"#;

/// Removes entries and adds them up in the accounts, which must hold all the money when it begins.
const SETTLE_BODY: &str = r#"function (ids, money) {
    var collection = getContext().getCollection();
    var documents = collection.getAltLink() + "/docs/";
    var sums = {};
    var balances = "SELECT VALUE c.balance FROM c WHERE c.kind = 'account'";
    must(collection.queryDocuments(collection.getSelfLink(), balances, function (error, found) {
        if (error) throw error;
        if (found.reduce(function (sum, own) { return sum + own; }, 0) !== money) {
            throw new Error("the accounts hold " + found);
        }
        remove(0);
    }));
    function remove(index) {
        if (index === ids.length) return settle(Object.keys(sums), 0);
        must(collection.readDocument(documents + ids[index], function (error, entry) {
            if (error) throw error;
            sums[entry.from] = (sums[entry.from] || 0) - entry.amount;
            sums[entry.to] = (sums[entry.to] || 0) + entry.amount;
            must(collection.deleteDocument(entry._self, { etag: entry._etag }, function (error) {
                if (error) throw error;
                remove(index + 1);
            }));
        }));
    }
    function settle(accounts, index) {
        if (index === accounts.length) return getContext().getResponse().setBody(ids.length);
        must(collection.readDocument(documents + accounts[index], function (error, found) {
            if (error) throw error;
            found.settled += sums[accounts[index]];
            must(collection.replaceDocument(found._self, found, { etag: found._etag }, function (error) {
                if (error) throw error;
                settle(accounts, index + 1);
            }));
        }));
    }
    function must(isAccepted) {
        if (!isAccepted) throw new Error("the operation was not accepted");
    }
}"#;

/// Counts notes as they come and go; fails after that if the note says so.
const COUNT_NOTES_BODY: &str = r#"function () {
    var collection = getContext().getCollection();
    var isDelete = getContext().getRequest().getOperationType() === "Delete";
    var isRefused = !isDelete && getContext().getResponse().getBody().isRefused;
    must(collection.readDocument(collection.getAltLink() + "/docs/note-count", function (error, found) {
        if (error) throw error;
        found.count += isDelete ? -1 : 1;
        found.changes += 1;
        must(collection.replaceDocument(found._self, found, function (error) {
            if (error) throw error;
            if (isRefused) throw new Error(4711, "refused on purpose");
        }));
    }));
    function must(isAccepted) {
        if (!isAccepted) throw new Error("the operation was not accepted");
    }
}"#;

/// Asks for the balances of all accounts of a bank at one moment.
const BALANCES: &str = r#"{"query":"SELECT VALUE c.balance FROM c WHERE c.kind = 'account'"}"#;

/// Returns the requests that make the scripts.
pub(crate) fn scripts(composer: &mut Composer) -> Vec<Vec<u8>> {
    let container = Area::Banks.container();
    let mut requests = Vec::new();
    for (id, body) in [(TRANSFER, TRANSFER_BODY), (SETTLE, SETTLE_BODY)] {
        let body = script(id, body, &[]);
        let target = Target::Procedures(DATABASE, container);
        requests.push(composer.compose("POST", target, &[], body.as_bytes()));
    }
    let when = [("triggerType", "Post"), ("triggerOperation", "All")];
    let body = script(COUNT_NOTES, COUNT_NOTES_BODY, &when);
    requests.push(composer.compose("POST", Target::Triggers(DATABASE, container), &[], body.as_bytes()));
    requests
}

fn script(id: &str, body: &str, members: &[(&str, &str)]) -> String {
    let mut script = Object::new();
    script.insert("id", id);
    script.insert("body", body);
    for (name, value) in members {
        script.insert(*name, *value);
    }
    json::to_string(&Value::Object(script))
}

/// Returns the requests that make what every bank begins with.
pub(crate) fn opening(composer: &mut Composer, key: &str) -> Vec<Vec<u8>> {
    let opened = crate::bank::Bank::new();
    let mut bodies: Vec<String> =
        opened.accounts.iter().enumerate().map(|(number, own)| account(key, number, own)).collect();
    bodies.push(note_count(key, 0, 0));
    bodies.iter().map(|body| Asking::new(composer, key).post_item(body, &[])).collect()
}

/// Returns an account's item.
pub(crate) fn account(key: &str, number: usize, account: &Account) -> String {
    let Account { balance, settled, transfers } = account;
    format!(
        r#"{{"id":"{}","pk":"{key}","kind":"account","balance":{balance},"settled":{settled},"transfers":{transfers}}}"#,
        account_id(number)
    )
}

/// Returns the item that counts notes.
pub(crate) fn note_count(key: &str, count: i64, changes: i64) -> String {
    format!(r#"{{"id":"{NOTE_COUNT}","pk":"{key}","kind":"note count","count":{count},"changes":{changes}}}"#)
}

/// Returns the item of an entry.
pub(crate) fn entry(key: &str, id: &str, transfer: &Transfer) -> String {
    let Transfer { from, to, amount, by } = transfer;
    format!(
        r#"{{"id":"{id}","pk":"{key}","kind":"entry","from":"{}","to":"{}","amount":{amount},"by":"{by}"}}"#,
        account_id(*from),
        account_id(*to)
    )
}

/// Returns the item of a note.
pub(crate) fn note(key: &str, id: &str, text: &str, is_refused: bool) -> String {
    let refused = if is_refused { r#","isRefused":true"# } else { "" };
    format!(r#"{{"id":"{id}","pk":"{key}","kind":"note","text":"{text}"{refused}}}"#)
}

/// Composes requests about one bank.
pub(crate) struct Asking<'a> {
    composer: &'a mut Composer,
    key: &'a str,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(composer: &'a mut Composer, key: &'a str) -> Asking<'a> {
        Asking { composer, key }
    }

    /// A transfer by a stored procedure.
    pub(crate) fn transfer_by_procedure(
        &mut self,
        id: &str,
        transfer: &Transfer,
        is_refused: bool,
    ) -> Vec<u8> {
        let arguments = format!("[{},{is_refused}]", entry(self.key, id, transfer));
        self.procedure(TRANSFER, &arguments)
    }

    /// The same as a batch, of which the last step is that of the entry.
    ///
    /// A batch that is refused ends with a step that cannot succeed: it creates an account that is there.
    pub(crate) fn transfer_by_batch(&mut self, id: &str, transfer: &Transfer, is_refused: bool) -> Vec<u8> {
        let mut steps = String::from("[");
        for (number, amount) in [(transfer.from, -transfer.amount), (transfer.to, transfer.amount)] {
            // Writing to a string cannot fail.
            let _ = write!(
                steps,
                r#"{{"operationType":"Patch","id":"{}","resourceBody":{{"operations":[{{"op":"incr","path":"/balance","value":{amount}}},{{"op":"incr","path":"/transfers","value":1}}]}}}},"#,
                account_id(number)
            );
        }
        let _ =
            write!(steps, r#"{{"operationType":"Create","resourceBody":{}}}"#, entry(self.key, id, transfer));
        if is_refused {
            let taken = account(self.key, 0, &Account::default());
            let _ = write!(steps, r#",{{"operationType":"Create","resourceBody":{taken}}}"#);
        }
        steps.push(']');
        self.batch(&steps)
    }

    /// A settlement by a stored procedure.
    pub(crate) fn settle_by_procedure(&mut self, entries: &BTreeMap<String, Transfer>) -> Vec<u8> {
        let ids: Vec<_> = entries.keys().map(|id| format!("\"{id}\"")).collect();
        let money = ACCOUNTS as i64 * OPENING_BALANCE;
        self.procedure(SETTLE, &format!("[[{}],{money}]", ids.join(",")))
    }

    /// The same as a batch.
    pub(crate) fn settle_by_batch(&mut self, entries: &BTreeMap<String, Transfer>) -> Vec<u8> {
        let mut steps = Vec::new();
        let mut sums = [0; ACCOUNTS];
        for (id, Transfer { from, to, amount, .. }) in entries {
            steps.push(format!(r#"{{"operationType":"Delete","id":"{id}"}}"#));
            sums[*from] -= amount;
            sums[*to] += amount;
        }
        for (number, sum) in sums.iter().enumerate() {
            steps.push(format!(
                r#"{{"operationType":"Patch","id":"{}","resourceBody":{{"operations":[{{"op":"incr","path":"/settled","value":{sum}}}]}}}}"#,
                account_id(number)
            ));
        }
        self.batch(&format!("[{}]", steps.join(",")))
    }

    /// A note with the trigger that counts it.
    pub(crate) fn create_note(&mut self, id: &str, text: &str, is_refused: bool) -> Vec<u8> {
        let body = note(self.key, id, text, is_refused);
        self.post_item(&body, &[("x-ms-documentdb-post-trigger-include", COUNT_NOTES)])
    }

    /// The end of a note, with the trigger that counts it.
    pub(crate) fn delete_note(&mut self, id: &str) -> Vec<u8> {
        let key = partition_key(self.key);
        let headers = [
            ("x-ms-documentdb-partitionkey", key.as_str()),
            ("x-ms-documentdb-post-trigger-include", COUNT_NOTES),
        ];
        let target = Target::Item(DATABASE, Area::Banks.container(), id);
        self.composer.compose("DELETE", target, &headers, b"")
    }

    /// A question for all balances at one moment.
    pub(crate) fn balances(&mut self) -> Vec<u8> {
        self.post_item(BALANCES, &[("x-ms-documentdb-isquery", "True")])
    }

    fn procedure(&mut self, name: &str, arguments: &str) -> Vec<u8> {
        let key = partition_key(self.key);
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let target = Target::Procedure(DATABASE, Area::Banks.container(), name);
        self.composer.compose("POST", target, &headers, arguments.as_bytes())
    }

    fn batch(&mut self, steps: &str) -> Vec<u8> {
        let headers = [("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")];
        self.post_item(steps, &headers)
    }

    fn post_item(&mut self, body: &str, headers: &[(&str, &str)]) -> Vec<u8> {
        let key = partition_key(self.key);
        let mut all = vec![("x-ms-documentdb-partitionkey", key.as_str())];
        all.extend_from_slice(headers);
        let target = Target::Items(DATABASE, Area::Banks.container());
        self.composer.compose("POST", target, &all, body.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use armilla_env::Env;

    use super::*;

    #[test]
    fn bodies_are_json() {
        let mut composer = Composer::new(&Env::system());
        let transfer = Transfer { from: 0, to: 1, amount: 7, by: "batch" };
        let entries =
            BTreeMap::from([("e1".to_owned(), transfer.clone()), ("e2".to_owned(), transfer.clone())]);
        let mut requests = scripts(&mut composer);
        requests.extend(opening(&mut composer, "b"));
        let mut asking = Asking::new(&mut composer, "b");
        for is_refused in [false, true] {
            requests.push(asking.transfer_by_procedure("e", &transfer, is_refused));
            requests.push(asking.transfer_by_batch("e", &transfer, is_refused));
            requests.push(asking.create_note("n", "x", is_refused));
        }
        requests.push(asking.settle_by_procedure(&entries));
        requests.push(asking.settle_by_batch(&entries));
        requests.push(asking.balances());
        for request in requests {
            let at = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
            assert!(json::parse(&request[at + 4..]).is_ok(), "{}", String::from_utf8_lossy(&request));
        }
    }

    #[test]
    fn scripts_throw_the_number_that_is_expected_and_count_in_the_item_that_is_there() {
        for body in [TRANSFER_BODY, COUNT_NOTES_BODY] {
            assert!(body.contains(&format!("new Error({REFUSAL},")));
        }
        assert!(COUNT_NOTES_BODY.contains(&format!("/docs/{NOTE_COUNT}\"")));
    }
}
