//! Small scripts with what they must do, in cases/*.js.
//!
//! A file holds cases, each begun by `// ==== what it is about`. Lines with `//<` say what the script is given, lines
//! with `//>` what must come of it, in this order: calls that reached the collection, log, response, request, error
//! (its number and the first line of its message). All else is the script. With ARMILLA_ACCEPT=1 in the environment the
//! test writes what came of it into the files instead, for a person to read.

use armilla_script::{Outcome, Role, ScriptError, WriteKind};

use crate::memory::{Memory, run_as};

const CASES: &[&str] = &[
    "bodies",
    "callbacks",
    "console",
    "context",
    "documents",
    "errors",
    "feeds",
    "integrated",
    "links",
    "promises",
    "triggers",
];

#[derive(Default)]
struct Case {
    title: String,
    given: Vec<(String, String)>,
    expected: Vec<String>,
    body: String,
}

impl Case {
    fn parse(text: &str) -> (String, Vec<Case>) {
        let (mut head, mut cases) = (String::new(), Vec::<Case>::new());
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("// ==== ") {
                cases.push(Case { title: title.to_owned(), ..Case::default() });
                continue;
            }
            let Some(case) = cases.last_mut() else {
                head.push_str(line);
                head.push('\n');
                continue;
            };
            if let Some(given) = line.strip_prefix("//< ") {
                let (name, value) = given.split_once(' ').unwrap_or((given, ""));
                case.given.push((name.to_owned(), value.to_owned()));
            } else if let Some(expected) = line.strip_prefix("//> ") {
                case.expected.push(expected.to_owned());
            } else {
                case.body.push_str(line);
                case.body.push('\n');
            }
        }
        (head, cases)
    }

    fn write(&self, into: &mut String) {
        into.push_str(&format!("// ==== {}\n", self.title));
        for (name, value) in &self.given {
            into.push_str(format!("//< {name} {value}").trim_end());
            into.push('\n');
        }
        for line in &self.expected {
            into.push_str(&format!("//> {line}\n"));
        }
        into.push_str(self.body.trim());
        into.push_str("\n\n");
    }

    fn given(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    fn outcome(&self) -> Vec<String> {
        let mut memory = Memory::of(self.given("documents").unwrap_or("[]"));
        memory.closes_after = self.given("closes-after").map(|count| count.parse().unwrap());
        let role = match (self.given("pre"), self.given("post")) {
            (Some(kind), _) => Role::PreTrigger { operation: write_kind(kind), body: self.given("request") },
            (_, Some(kind)) => Role::PostTrigger {
                operation: write_kind(kind),
                request_body: self.given("request"),
                response_body: self.given("response"),
            },
            _ => Role::Procedure { arguments: self.given("arguments").unwrap_or_default().as_bytes() },
        };
        let Outcome { result, log, .. } = run_as(&self.body, role, &mut memory);
        let mut lines: Vec<String> = memory.calls.iter().map(|call| format!("call {call}")).collect();
        lines.extend(log.lines().map(|line| format!("log {line}")));
        match result {
            Ok(finished) => {
                lines.extend(finished.response_body.map(|body| format!("response {body}")));
                lines.extend(finished.request_body.map(|body| format!("request {body}")));
            }
            Err(ScriptError::Thrown { number, message }) => {
                let number = number.map_or("-".to_owned(), |number| number.to_string());
                lines.push(format!("error {number} {}", message.lines().next().unwrap_or_default()));
            }
            Err(other) => lines.push(format!("error {other:?}")),
        }
        if self.given("documents-after").is_some() {
            lines.extend(memory.documents.keys().map(|id| format!("document {id}")));
        }
        lines
    }
}

fn write_kind(name: &str) -> WriteKind {
    match name {
        "Create" => WriteKind::Create,
        "Replace" => WriteKind::Replace,
        "Upsert" => WriteKind::Upsert,
        "Delete" => WriteKind::Delete,
        _ => panic!("there is no write '{name}'"),
    }
}

#[test]
fn cases_come_out_as_written() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let is_accepting = std::env::var_os("ARMILLA_ACCEPT").is_some();
    let mut wrong = Vec::new();
    for name in CASES {
        let path = folder.join(format!("{name}.js"));
        let (head, mut cases) = Case::parse(&std::fs::read_to_string(&path).unwrap());
        assert!(!cases.is_empty(), "{name} has no cases");
        let mut written = head;
        for case in &mut cases {
            let outcome = case.outcome();
            if is_accepting {
                case.expected = outcome;
            } else if outcome != case.expected {
                let (expected, came) = (case.expected.join("\n  "), outcome.join("\n  "));
                wrong.push(format!("{name}: {}\n expected\n  {expected}\n came\n  {came}", case.title));
            }
            case.write(&mut written);
        }
        if is_accepting {
            std::fs::write(&path, written.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn no_file_of_cases_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    found.sort();
    assert_eq!(found, CASES);
}
