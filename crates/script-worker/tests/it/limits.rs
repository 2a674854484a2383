//! What ends scripts that do not end, and each bound at the bound and one past it.

use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_script::limits::{
    CALLBACKS_MAX, LOG_BYTES_MAX, MESSAGE_CHARACTERS_MAX, PROGRAM_BYTES_MAX, RESPONSE_BYTES_MAX,
    WAITING_CALLS_BYTES_MAX, WINDOW_MAX,
};
use armilla_script::{Outcome, Program, Role, Run, ScriptError, run};

use crate::memory::{Memory, OWNER, evaluate, procedure, program, workers};

/// Runs a procedure whose time is over after so many questions.
fn run_for(body: &str, questions: usize) -> Outcome {
    let program = program(body);
    let asked = AtomicUsize::new(0);
    let expired = Box::new(move || asked.fetch_add(1, Ordering::Relaxed) >= questions);
    let role = Role::Procedure { arguments: b"" };
    let run_it = Run { owner: OWNER, program: &program, role, keeps_log: true, expired };
    run(workers(), run_it, &mut Memory::default())
}

#[test]
fn endless_scripts_are_stopped() {
    for body in [
        "function () { for (;;) {} }",
        "function () { try { for (;;) {} } finally { for (;;) {} } }",
        "function () { for (;;) { try { for (;;) {} } catch (e) {} } }",
        "async function () { for (;;) { try { for (;;) {} } catch (e) {} } }",
        "async function () { for (;;) await null; }",
        "function () { (function again() { Promise.resolve().then(again); })(); }",
        "function () { (function again() { __.readDocuments(__.getSelfLink(), again); })(); }",
        "function () { return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1); }",
        "function () { return /(a*)*b/.test('a'.repeat(100)); }",
        "function () { return /(?:a|a)*b/.exec('a'.repeat(50)); }",
        "function () { return [3, 2, 1].sort(() => { for (;;) {} }); }",
        "function () { __.response.setBody({ toJSON() { for (;;) {} } }); }",
        "function () { throw { get message() { for (;;) {} }, __proto__: Error.prototype }; }",
        "function () { throw { get message() { for (;;) {} } }; }",
        "function () { throw new Proxy({}, { get() { for (;;) {} } }); }",
        "function () { __.createDocument(__.getSelfLink(), { id: 'a', get n() { for (;;) {} } }); }",
        "function () { new Promise(() => { for (;;) {} }); }",
        "function () { Promise.reject({ get message() { for (;;) {} } }); }",
        "function () { Object.prototype.toJSON = () => { for (;;) {} }; __.response.setBody({}); }",
        "function () { console.log('%j', { toJSON() { for (;;) {} } }); }",
        "function () { 'x'.replace(/x/, () => { for (;;) {} }); }",
        "function () { for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }) {} }",
        "function () { const a = []; a.length = 2 ** 32 - 1; a.forEach(() => {}); }",
        "function () { const a = []; a.length = 2 ** 32 - 1; a.includes(1); a.lastIndexOf(1); a.reduce((b) => b); }",
    ] {
        let outcome = run_for(body, 3);
        let is_ended = matches!(outcome.result, Err(ScriptError::OutOfTime | ScriptError::OutOfMemory));
        assert!(is_ended, "{body}: {:?}", outcome.result);
    }
}

#[test]
fn greedy_scripts_are_stopped() {
    for body in [
        "function () { const a = []; for (;;) a.push(a.length + '-'); }",
        "function () { let s = 'x'; for (;;) s += s; }",
        "function () { return 'x'.repeat(2 ** 29); }",
        "function () { return 'x'.padStart(2 ** 29, 'ab'); }",
        "function () { return new ArrayBuffer(2 ** 30).byteLength; }",
        "function () { return new SharedArrayBuffer(2 ** 30).byteLength; }",
        "function () { return new Array(2 ** 31).fill(1).length; }",
        "function () { return Array(1e9).join('x'); }",
        "function () { let o = {}; for (;;) o = { o, p: [o] }; }",
        "function () { const m = new Map(); for (let i = 0;; i++) m.set(i, { i }); }",
        "function () { return 2n ** (2n ** 30n); }",
        "function () { let a = [1]; for (;;) a = a.concat(a); }",
        "function () { const big = 'x'.repeat(2 ** 20); console.log(Array(100).fill(big).join('')); }",
        "function () { let a = [], b = a; for (;;) { b[0] = []; b = b[0]; } }",
    ] {
        let outcome = procedure(body, "[]", &mut Memory::default());
        let failed = outcome.result.expect_err(body);
        let is_ended =
            matches!(&failed, ScriptError::OutOfMemory | ScriptError::Thrown { .. } | ScriptError::OutOfTime);
        assert!(is_ended, "{body}: {failed:?}");
    }
}

#[test]
fn deep_scripts_are_stopped() {
    for body in [
        "function f() { return f(); }",
        "function () { let a = []; for (let i = 0; i < 100000; i++) a = [a]; __.response.setBody(a); }",
        "function () { let a = []; for (let i = 0; i < 100000; i++) a = [a]; __.createDocument(__.getSelfLink(), { id: 'a', a }); }",
        "function () { JSON.parse('['.repeat(100000)); }",
        "function () { eval('('.repeat(100000)); }",
        "function () { new RegExp('('.repeat(100000)); }",
        "function () { const f = () => [1, 2].sort(f); f(); }",
        "function () { let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); return p.x; }",
        "function () { const a = { toString: () => `${a}` }; return `${a}`; }",
    ] {
        let outcome = procedure(body, "[]", &mut Memory::default());
        let failed = outcome.result.expect_err(body);
        assert!(matches!(&failed, ScriptError::Thrown { .. }), "{body}: {failed:?}");
    }
}

#[test]
fn deep_texts_are_refused() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{a:", "}"), ("-", ""), ("!", ""), ("x=>", ""), ("`${", "}`"), ("a?b:", "")]
    {
        let count = 20_000;
        let body = format!("function () {{ return {}1{}; }}", open.repeat(count), close.repeat(count));
        // Whether a text is deep depends on the grammar; none may end the process.
        if let Err(error) = evaluate(&body) {
            let is_refused = matches!(error, ScriptError::NotAFunction(_) | ScriptError::OutOfMemory);
            assert!(is_refused, "{open}: {error:?}");
        }
    }
    let blocks = format!("function () {{ {}{} }}", "{".repeat(50_000), "}".repeat(50_000));
    assert!(matches!(evaluate(&blocks), Err(ScriptError::NotAFunction(_))));
    let functions = format!("{}{}", "function () { return ".repeat(5_000), "}".repeat(5_000));
    assert!(evaluate(&functions).is_err());
}

#[test]
fn texts_are_bounded() {
    let filled = |length: usize| {
        let (head, tail) = ("function () { /*", "*/ }");
        [head, &"x".repeat(length - head.len() - tail.len()), tail].concat()
    };
    assert!(evaluate(&filled(PROGRAM_BYTES_MAX)).is_ok());
    assert_eq!(Program::new(filled(PROGRAM_BYTES_MAX + 1)), Err(ScriptError::TooLong));
}

#[test]
fn responses_are_bounded() {
    let set = "function (n) { __.response.setBody(['x'.repeat(n - 4)]); }";
    let outcome = procedure(set, &format!("[{RESPONSE_BYTES_MAX}]"), &mut Memory::default());
    assert_eq!(outcome.result.unwrap().response_body.unwrap().len(), RESPONSE_BYTES_MAX);
    let outcome = procedure(set, &format!("[{}]", RESPONSE_BYTES_MAX + 1), &mut Memory::default());
    assert_eq!(outcome.result, Err(ScriptError::ResponseTooLong));
    // A text that cannot fit is refused at once, and a script may do something about it.
    let text = "function (n) {
        try { __.response.setBody('x'.repeat(n)); } catch (error) { __.response.setBody(error.number); }
    }";
    let outcome = procedure(text, &format!("[{}]", RESPONSE_BYTES_MAX + 1), &mut Memory::default());
    assert_eq!(outcome.result.unwrap().response_body.unwrap(), "413");
}

#[test]
fn logs_are_bounded() {
    let log = "function (n) { console.log('x'.repeat(n - 2)); console.log('y'); }";
    let outcome = procedure(log, &format!("[{LOG_BYTES_MAX}]"), &mut Memory::default());
    assert_eq!((outcome.result.is_ok(), outcome.log.len()), (true, LOG_BYTES_MAX));
    let outcome = procedure(log, &format!("[{}]", LOG_BYTES_MAX + 1), &mut Memory::default());
    assert!(matches!(outcome.result, Err(ScriptError::Thrown { number: Some(413), .. })));
    assert_eq!(outcome.log.len(), LOG_BYTES_MAX - 1);
}

#[test]
fn waiting_callbacks_are_bounded() {
    let body = "function () {
        let accepted = 0, called = 0;
        while (accepted < 100000 && __.readDocuments(__.getSelfLink(), { pageSize: 1 }, () => { called++; __.response.setBody([accepted, called]); })) accepted++;
    }";
    let outcome = procedure(body, "[]", &mut Memory::default());
    assert_eq!(outcome.result.unwrap().response_body.unwrap(), format!("[{CALLBACKS_MAX},{CALLBACKS_MAX}]"));
}

#[test]
fn more_operations_than_travel_together_are_all_done() {
    let count = 3 * WINDOW_MAX + 7;
    let body = "function (count, length) {
        const seen = [], text = 'x'.repeat(length);
        for (let i = 0; i < count; i++) {
            const accepted = __.createDocument(__.getSelfLink(), { id: 'd' + i, i, text }, (error, document) => seen.push(document.i));
            if (!accepted) throw new Error('not accepted');
        }
        __.readDocument(__.getAltLink() + '/docs/d0', () => __.response.setBody(seen.every((n, i) => n === i) && seen.length));
    }";
    // Short ones, and ones of which two are too long to wait.
    for length in [1, WAITING_CALLS_BYTES_MAX] {
        let mut memory = Memory::default();
        let outcome = procedure(body, &format!("[{count},{length}]"), &mut memory);
        assert_eq!(outcome.result.unwrap().response_body.unwrap(), count.to_string(), "{length}");
    }
}

#[test]
fn a_script_that_computes_for_long_is_asked_again() {
    // The window would let it go on; what it has computed meanwhile makes it ask.
    let body = "function () {
        const accepted = [];
        for (let i = 0; i < 4; i++) {
            accepted.push(__.createDocument(__.getSelfLink(), { id: 'd' + i }));
            for (let n = 0; n < 600000; n++);
        }
        __.response.setBody(accepted);
    }";
    let mut memory = Memory::default();
    (memory.closes_after, memory.window) = (Some(2), Some(WINDOW_MAX));
    let outcome = procedure(body, "[]", &mut memory);
    assert_eq!(outcome.result.unwrap().response_body.unwrap(), "[true,true,false,false]");
}

#[test]
fn ten_thousand_callbacks_in_a_chain_have_no_depth() {
    let body = "function () {
        let count = 0;
        (function again() {
            __.readDocuments(__.getSelfLink(), () => { if (++count < 10000) again(); else __.response.setBody(count); });
        })();
    }";
    assert_eq!(procedure(body, "[]", &mut Memory::default()).result.unwrap().response_body.unwrap(), "10000");
}

#[test]
fn messages_are_cut_by_characters() {
    for (character, length) in
        [("x", MESSAGE_CHARACTERS_MAX * 2), ("é", MESSAGE_CHARACTERS_MAX * 2), ("😀", 5000)]
    {
        let body = format!("function () {{ throw new Error(400, '{character}'.repeat({length})); }}");
        let Err(ScriptError::Thrown { number, message }) =
            procedure(&body, "[]", &mut Memory::default()).result
        else {
            panic!("it did not throw");
        };
        let first = message.lines().next().unwrap();
        assert_eq!((number, first.chars().count()), (Some(400), MESSAGE_CHARACTERS_MAX));
        assert!(message.lines().count() > 1, "{message}");
    }
}

#[test]
fn stacks_show_the_script_and_nothing_else() {
    let body = "function outer() {\n  function inner() { throw new Error(404, 'deep'); }\n  inner();\n}";
    let Err(ScriptError::Thrown { message, .. }) = procedure(body, "[]", &mut Memory::default()).result
    else {
        panic!("it did not throw");
    };
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    assert_eq!(lines, ["Error: deep", "at inner (script.js:2:32)", "at outer (script.js:3:3)"], "{message}");
}

#[test]
fn an_execution_may_follow_another_on_any_thread() {
    let program = program("function f(n) { return n === 0 ? 0 : 1 + f(n - 1); }");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let program = program.clone();
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let role = Role::Procedure { arguments: b"[100]" };
                    let expired = Box::new(|| false);
                    let run_it = Run { owner: OWNER, program: &program, role, keeps_log: false, expired };
                    assert!(run(workers(), run_it, &mut Memory::default()).result.is_ok());
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
