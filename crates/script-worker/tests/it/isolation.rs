//! Nothing of one execution reaches the next, and nothing outside is in reach.

use crate::memory::{Memory, OWNER, procedure, program, workers};

fn response(body: &str, arguments: &str) -> String {
    let outcome = procedure(body, arguments, &mut Memory::default());
    let finished = outcome.result.unwrap_or_else(|error| panic!("{body}: {error}"));
    finished.response_body.unwrap_or_else(|| "nothing".to_owned())
}

/// Changes everything that it can get hold of, after looking whether an earlier execution did so.
const POLLUTE: &str = "function () {
    const roots = { globalThis, Object, Array, Function, Error, TypeError, Date, Math, JSON, Promise, RegExp, String, Number,
        Boolean, Symbol, Map, Set, WeakMap, Proxy, Reflect, Uint8Array, ArrayBuffer, getContext, console, ErrorCodes, __,
        context: getContext(), collection: getContext().getCollection(), request: getContext().getRequest(),
        response: getContext().getResponse(), log: console.log, async: async function () {}, generator: function* () {} };
    const response = getContext().getResponse(), setBody = response.setBody, seen = [];
    for (const name in roots) {
        const root = roots[name];
        for (const target of [root, root.prototype, Object.getPrototypeOf(root)]) {
            if (target === undefined || target === null) continue;
            if (target.left !== undefined) seen.push(name);
        }
    }
    if (Symbol.for('left').left) seen.push('Symbol.for');
    if (globalThis.left || typeof left !== 'undefined') seen.push('global');
    setBody(seen);
    for (const name in roots) {
        const root = roots[name];
        for (const target of [root, root.prototype, Object.getPrototypeOf(root)]) {
            try { Object.defineProperty(target, 'left', { value: 1, configurable: true }); } catch (error) {}
            try { for (const key of Reflect.ownKeys(target)) if (typeof target[key] === 'function' && name !== 'globalThis') target[key] = () => 'left'; } catch (error) {}
        }
    }
    eval('var left = 1');
}";

#[test]
fn an_execution_leaves_nothing_behind() {
    for _ in 0..3 {
        let outcome = procedure(POLLUTE, "[]", &mut Memory::default());
        // What the script broke may fail it in the end; what matters is what it found.
        if let Ok(finished) = outcome.result {
            assert_eq!(finished.response_body.as_deref(), Some("[]"));
        }
        let fresh = response(
            "function () { __.response.setBody([typeof left, [1, 2].map((x) => x + 1), JSON.stringify({ a: 1 }), \
             Object.keys({ b: 1 }), String(new Error('e')), Symbol.for('left').left === undefined, ({}).left === undefined]); }",
            "[]",
        );
        assert_eq!(fresh, r#"["undefined",[2,3],"{\"a\":1}",["b"],"Error: e",true,true]"#);
    }
}

#[test]
fn globals_of_one_execution_are_not_those_of_the_next() {
    let body = "function () {
        const before = [typeof globalThis.kept, typeof Array.prototype.kept, typeof Object.prototype.kept, typeof Error.kept,
            typeof JSON.kept, typeof getContext.kept, typeof Symbol.for('kept').description];
        globalThis.kept = Array.prototype.kept = Error.kept = JSON.kept = getContext.kept = 1;
        getContext().getResponse().setBody(before);
    }";
    for _ in 0..2 {
        assert_eq!(
            response(body, "[]"),
            r#"["undefined","undefined","undefined","undefined","undefined","undefined","string"]"#
        );
    }
}

#[test]
fn constructors_of_code_reach_nothing_more() {
    for body in [
        "function () { __.response.setBody(Object.getOwnPropertyNames(eval('this')).includes('require')); }",
        "function () { __.response.setBody(Function('return typeof require + typeof std + typeof os')() !== 'undefinedundefinedundefined'); }",
        "function () { __.response.setBody((function () {}).constructor('return typeof process')() !== 'undefined'); }",
        "function () { __.response.setBody((async function () {}).constructor('return 1') === undefined); }",
        "function () { __.response.setBody((0, eval)('typeof host') !== 'undefined'); }",
        "function () { __.response.setBody(eval('typeof install') !== 'undefined'); }",
    ] {
        assert_eq!(response(body, "[]"), "false", "{body}");
    }
}

#[test]
fn a_waiting_thread_cannot_be_had() {
    let body = "function () {
        try { Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0); } catch (error) { __.response.setBody(error.name); }
    }";
    assert_eq!(response(body, "[]"), r#""TypeError""#);
}

#[test]
fn the_same_script_computes_the_same_steps() {
    let body =
        "function () { let n = 0; for (let i = 0; i < 123456; i++) n += i % 7; __.response.setBody(n); }";
    let steps: Vec<u64> = (0..3).map(|_| procedure(body, "[]", &mut Memory::default()).steps).collect();
    assert!(steps[0] >= 120_000 && steps[0] <= 260_000, "{steps:?}");
    assert!(steps.iter().all(|count| *count == steps[0]), "{steps:?}");
}

#[test]
fn the_log_is_kept_only_if_it_is_wanted() {
    let program = program("function () { console.log({ toJSON() { throw 1; } }); }");
    let run = armilla_script::Run {
        owner: OWNER,
        program: &program,
        role: armilla_script::Role::Procedure { arguments: b"" },
        keeps_log: false,
        expired: Box::new(|| false),
    };
    let outcome = armilla_script::run(workers(), run, &mut Memory::default());
    assert_eq!((outcome.result.is_ok(), outcome.log.as_str()), (true, ""));
}
