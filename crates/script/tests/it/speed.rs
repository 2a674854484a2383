//! What an execution costs before it does anything. Run with `--ignored --nocapture`, in a release build.

use armilla_script::{Program, Role, Run, run};

use crate::memory::Memory;

#[expect(clippy::disallowed_methods, reason = "the speed of this machine is what is measured")]
fn measure(name: &str, body: &str, arguments: &str, documents: &str) {
    let program = Program::compile(body).unwrap();
    // The best of many short rounds: other work on the machine only ever makes one longer.
    let mut best = f64::MAX;
    for _ in 0..200 {
        let mut memory = Memory::of(documents);
        let begin = std::time::Instant::now();
        for _ in 0..20 {
            let role = Role::Procedure { arguments: arguments.as_bytes() };
            let outcome = run(
                Run { program: &program, role, keeps_log: false, expired: Box::new(|| false) },
                &mut memory,
            );
            assert!(outcome.result.is_ok(), "{outcome:?}");
        }
        best = best.min(begin.elapsed().as_secs_f64() / 20.0 * 1e6);
    }
    println!("{name}: {best:.1} us");
}

#[test]
#[ignore = "it measures the machine"]
fn executions_are_measured() {
    measure("an empty procedure", "function () {}", "[]", "[]");
    measure(
        "read, replace, create",
        READ_REPLACE_CREATE,
        r#"["p1",{"content":"text"}]"#,
        r#"[{"id":"p1","n":2}]"#,
    );
    measure("integrated query", "function () { __.filter((d) => d.n > 1); }", "[]", r#"[{"id":"p1","n":2}]"#);
}

const READ_REPLACE_CREATE: &str = "function add(id, body) {
    const collection = getContext().getCollection();
    collection.readDocument(`${collection.getAltLink()}/docs/${id}`, (error, parent) => {
        if (error) throw error;
        parent.n++;
        collection.replaceDocument(parent._self, parent, (error) => {
            if (error) throw error;
            body.parent = id;
            collection.createDocument(collection.getSelfLink(), body);
        });
    });
}";
