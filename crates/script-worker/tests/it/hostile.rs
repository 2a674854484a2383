//! Scripts that aim at the interpreter itself: each ended the server, or never ended, while scripts ran inside of it.

use std::time::{Duration, Instant};

use armilla_script::{Outcome, Owner, Role, Run, Sandbox, ScriptError, WorkerStart, Workers, run};

use crate::memory::{Memory, OWNER, evaluate, procedure, program, workers};

/// Runs a procedure that has a quarter of a second.
fn run_briefly(body: &str) -> (Outcome, Duration) {
    let program = program(body);
    let began = Instant::now();
    let expired = Box::new(move || began.elapsed() > Duration::from_millis(250));
    let role = Role::Procedure { arguments: b"" };
    let run_it = Run { owner: OWNER, program: &program, role, keeps_log: true, expired };
    let outcome = run(workers(), run_it, &mut Memory::default());
    (outcome, began.elapsed())
}

/// Memory filled in large and ever smaller pieces, then something that does not survive an allocation that fails.
fn at_the_end_of_memory(last: &str) -> String {
    format!(
        "function () {{
            const room = [];
            for (let step = 2 ** 22; step >= 16; step /= 2) {{
                try {{ for (;;) room.push(new ArrayBuffer(step)); }} catch (e) {{}}
            }}
            {last}
        }}"
    )
}

#[test]
fn memory_that_ends_ends_the_script_alone() {
    let bodies = [
        "function () { var a = new Array(1000).fill(1), h = [], f = function () {}; \
         for (;;) h[h.length] = Function.prototype.bind.apply(f, a); }"
            .to_owned(),
        at_the_end_of_memory("Array.fromAsync([1, 2, 3]);"),
        at_the_end_of_memory("new Promise(() => {}).then(1);"),
        at_the_end_of_memory("for (;;) new RegExp('a' + Math.random());"),
        "function () { const a = []; for (;;) a.push(Array.fromAsync(a)); }".to_owned(),
        "function () { const a = []; for (;;) a.push(a.length + '-'); }".to_owned(),
        "function () { return new Array(2 ** 31).fill(1).length; }".to_owned(),
        "function () { const a = []; for (let b = 1n;; b++) a.push(b << 100000n); }".to_owned(),
    ];
    for body in &bodies {
        let outcome = procedure(body, "[]", &mut Memory::default());
        assert_eq!(outcome.result, Err(ScriptError::OutOfMemory), "{body}");
    }
    // It ends while the worker reads what the server sent.
    let reading = "function () {
        const all = [], link = __.getAltLink() + '/docs/large';
        __.createDocument(__.getSelfLink(), { id: 'large', text: 'x'.repeat(1e6) });
        (function again() { __.readDocument(link, (error, document) => { all.push(document); again(); }); })();
    }";
    let outcome = procedure(reading, "[]", &mut Memory::default());
    assert_eq!(outcome.result, Err(ScriptError::OutOfMemory));
    // The same as functions of a query.
    for body in &bodies {
        let mut sandbox = Sandbox::new(workers(), OWNER, || false).unwrap();
        sandbox.add("f", &program(body)).unwrap();
        assert_eq!(sandbox.call("f", &[]), Err(ScriptError::OutOfMemory), "{body}");
        // What is gone stays gone, for this page.
        assert_eq!(sandbox.call("f", &[]), Err(ScriptError::OutOfMemory), "{body}");
    }
    let after = procedure("function () { __.response.setBody(1); }", "[]", &mut Memory::default());
    assert_eq!(after.result.unwrap().response_body.as_deref(), Some("1"));
}

#[test]
fn loops_that_never_ask_are_ended() {
    for body in [
        "function () { var n = 0; for (;;) Array.prototype.join.call({ get length() { return n++ ? 9007199254740991 : 1 } }, ''); }",
        "function () { Array.prototype.join.call({ length: 2 ** 53 - 1 }, ''); }",
        "function () { Array.prototype.reverse.call({ length: 2 ** 53 - 2 }); }",
        "function () { Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0); }",
        "function () { const s = 'ab'.repeat(2 ** 22); s.indexOf('ab'.repeat(2 ** 21) + 'c'); }",
        "function () { let b = 3n ** 100000n; for (;;) b = (b * b) % (2n ** 400000n); }",
        "function () { const s = 'a\\u0323\\u0307'.repeat(2 ** 17); for (;;) s.normalize('NFD'); }",
        "function () { for (;;) {} }",
    ] {
        let (outcome, took) = run_briefly(body);
        assert_eq!(outcome.result, Err(ScriptError::OutOfTime), "{body}");
        assert!(took < Duration::from_secs(2), "{body}: {took:?}");
        assert!(outcome.steps > 0, "{body}: it computed, and that has its price");
    }
}

#[test]
fn a_log_outlives_the_worker() {
    let (outcome, _) = run_briefly(
        "function () { console.log('so far'); Array.prototype.reverse.call({ length: 2 ** 53 - 1 }); }",
    );
    assert_eq!((outcome.result, outcome.log.as_str()), (Err(ScriptError::OutOfTime), "so far"));
    let outcome = procedure(
        "function () { console.log('so far'); const a = []; for (;;) a.push(a.length + '-'); }",
        "[]",
        &mut Memory::default(),
    );
    assert_eq!((outcome.result, outcome.log.as_str()), (Err(ScriptError::OutOfMemory), "so far"));
}

#[test]
fn texts_that_take_long_to_compile_are_refused() {
    // Each nested function is looked at again by those around it.
    let deep = format!("function () {{ {} {} }}", "(a=>{".repeat(2_000), "})".repeat(2_000));
    let began = Instant::now();
    // Whether it can be compiled is the interpreter's affair; that it comes to an end is ours.
    let _ = evaluate(&deep);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn no_worker_serves_two_owners() {
    let own = Workers::new(WorkerStart::Program(env!("CARGO_BIN_EXE_armilla-script-worker").into()));
    let program = program("function () {}");
    let execute = |owner: u64| {
        let role = Role::Procedure { arguments: b"" };
        let expired = Box::new(|| false);
        let run_it = Run { owner: Owner(owner), program: &program, role, keeps_log: false, expired };
        assert!(run(&own, run_it, &mut Memory::default()).result.is_ok());
    };
    execute(1);
    execute(1);
    assert_eq!(own.figures().started, 1);
    execute(2);
    assert_eq!(own.figures().started, 2);
    execute(1);
    execute(2);
    assert_eq!((own.figures().started, own.figures().idle), (2, 2));
    own.rest();
    assert_eq!(own.figures().idle, 0);
}

/// What a worker has of this process: two pipes, and no environment.
#[cfg(target_os = "linux")]
#[test]
fn replies_that_a_script_gets_hold_of_harm_no_other() {
    // What is put into an array passes by its setters.
    let body = "function () {
        const link = __.getSelfLink();
        let depth = 0;
        for (const index of [0, 1, 2, 3]) {
            Object.defineProperty(Array.prototype, index, { configurable: true, get() {}, set() {
                if (++depth < 40) __.readDocuments(link, () => {});
                if (depth < 40) __.createDocument(link, { id: 'again' + depth }, () => {});
            } });
        }
        for (let i = 0; i < 200; i++) __.createDocument(link, { id: 'd' + i }, () => {});
    }";
    for _ in 0..3 {
        // What becomes of it is its own affair.
        let _ = run_briefly(body);
        let after = procedure("function (n) { __.response.setBody(n); }", "[7]", &mut Memory::default());
        assert_eq!(after.result.unwrap().response_body.as_deref(), Some("7"));
    }
}

#[test]
fn a_worker_has_nothing_of_the_server() {
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_armilla-script-worker"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .env_clear()
        .spawn()
        .unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    assert!(status.contains("Seccomp:\t2"), "{status}");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    assert!(limits.lines().any(|line| line.starts_with("Max core file size        0")), "{limits}");
    assert!(
        limits.lines().any(|line| line.starts_with("Max data size") && !line.contains("unlimited")),
        "{limits}"
    );
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    for descriptor in descriptors {
        let target = std::fs::read_link(descriptor.unwrap().path()).unwrap();
        let target = target.to_string_lossy().into_owned();
        assert!(target.starts_with("pipe:") || target == "/dev/null", "{target}");
    }
    // The end of its input is its own.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
