//! Rule: words of a protocol stand in its own crate, and in what serves and tests it, never below the APIs.
//!
//! Words alone, case aside: `RowKey` of a query's sorted rows is no row key of a table, so names that have a meaning of
//! their own below are not among them.

use super::Problem;
use super::arrows::INSIDE;
use crate::repository::Source;

/// Words that only one protocol has.
const WORDS: [&str; 5] = ["odata", "edm", "tablesdb", "sharedkey", "sharedkeylite"];

/// How words begin that only one protocol has. `value` has an order and scalars that go by its name.
const BEGINNINGS: [&str; 2] = ["mongo", "pymongo"];

/// Parts of texts that only one protocol has: names of headers, and of members that clients read.
const PARTS: [&str; 6] =
    ["x-ms-", "rewrittenquery", "partitionedqueryexecutioninfo", "hasselectvalue", "indexspec", "\"severity"];

/// Searches the crates that know nothing of protocols.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| is_inside(&source.path)) {
        for (number, line) in source.lines() {
            let line = line.to_ascii_lowercase();
            let mut words = line.split(|character: char| !character.is_ascii_alphanumeric());
            let part = PARTS.iter().copied().find(|part| line.contains(part));
            let is_free = source.path.starts_with("crates/value/");
            let is_foreign = |word: &&str| {
                WORDS.contains(word)
                    || (!is_free && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)))
            };
            if let Some(word) = words.find(is_foreign).or(part) {
                let message = format!("{word}: a word of one protocol, and this crate knows of none");
                problems.push(Problem::new(source, number, message));
            }
        }
    }
    problems
}

fn is_inside(path: &str) -> bool {
    let name = path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    name.is_some_and(|name| INSIDE.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn words_are_found_below_the_apis_only() {
        for (path, text, is_fine) in [
            ("crates/engine/src/a.rs", "// as OData has it\n", false),
            ("crates/container/src/a.rs", "let edm = 1;\n", false),
            ("crates/query/src/a.rs", "const NAME: &str = \"TablesDB\";\n", false),
            ("crates/index/Cargo.toml", "# odata_x\n", false),
            ("crates/engine/src/a.rs", "\"please set X-MS-documentdb-partitionkey\"\n", false),
            ("crates/query/src/a.rs", "\"rewrittenQuery\"\n", false),
            ("crates/sql/src/a.rs", "r#\"{\"severity\":\"Error\"}\"#\n", false),
            ("crates/engine/src/a.rs", "// as MongoDB has it\n", false),
            ("crates/value/src/order.rs", "pub fn mongo_cmp() {}\n", true),
            ("crates/mongo-filter/src/a.rs", "MongoDB\n", true),
            ("crates/api-sql/src/a.rs", "x-ms-date\n", true),
            ("crates/engine/src/a.rs", "struct RowKey; // redmond\n", true),
            ("crates/api-table/src/a.rs", "odata\n", true),
            ("crates/server/src/a.rs", "odata\n", true),
            ("docs/a.md", "odata\n", true),
        ] {
            assert_eq!(findings(check, &[(path, text)]).is_empty(), is_fine, "{path}: {text}");
        }
    }
}
