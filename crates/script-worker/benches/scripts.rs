//! Times executions in worker processes, documents in memory, in microseconds each.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use armilla_script::{
    Collection, CollectionUsage, DocumentName, ErrorCode, FeedPage, FeedRequest, Owner, Program,
    ReadDocument, Refusal, Role, Run, Sandbox, WorkerStart, Workers, run,
};
use armilla_value::Value;

const OWNER: Owner = Owner(1);

const SMALL: &str = "function () {
    const c = getContext().getCollection(), link = c.getAltLink();
    c.readDocument(link + '/docs/a', (error, item) => {
        if (error) throw error;
        item.count = (item.count || 0) + 1;
        c.replaceDocument(item._self, item, (error) => {
            if (error) throw error;
            c.createDocument(link, { id: 'b', text: 'something to keep' }, (error) => { if (error) throw error; });
        });
    });
}";

const LOOP: &str = "function () {
    const c = getContext().getCollection(), link = c.getAltLink();
    for (let i = 0; i < 20; i++) {
        c.createDocument(link, { id: 'b' + i, text: 'something to keep' }, (error) => { if (error) throw error; });
    }
}";

fn main() -> Result<(), Box<dyn Error>> {
    let workers = Workers::new(WorkerStart::Program(env!("CARGO_BIN_EXE_armilla-script-worker").into()));
    let mut out = io::stdout().lock();
    let mut report = |name: &str, us: f64| writeln!(out, "{name:<44} {us:>9.1} us");
    for (name, body) in [
        ("an empty procedure", "function () {}"),
        ("one that reads, replaces and creates", SMALL),
        ("one that creates twenty in a loop", LOOP),
    ] {
        let program = Program::new(body.to_owned())?;
        report(name, time(2_000, || execute(&workers, &program)))?;
    }
    let identity = Program::new("function (x) { return x; }".to_owned())?;
    let page = || -> Result<Sandbox, Box<dyn Error>> {
        let mut sandbox = Sandbox::new(&workers, OWNER, || false)?;
        sandbox.add("f", &identity)?;
        Ok(sandbox)
    };
    report("a page with a function, no call", time(1_000, || page().is_ok()))?;
    let sandbox = page()?;
    report("a call of a function", time(5_000, || sandbox.call("f", &[Value::from(1)]).is_ok()))?;
    drop(sandbox);
    let empty = Program::new("function () {}".to_owned())?;
    let mut starts = || {
        workers.rest();
        execute(&workers, &empty)
    };
    report("an empty procedure in a new worker", time(50, &mut starts))?;
    Ok(())
}

fn execute(workers: &Workers, program: &Program) -> bool {
    let role = Role::Procedure { arguments: b"" };
    let run_it = Run { owner: OWNER, program, role, keeps_log: false, expired: Box::new(|| false) };
    let mut memory = Memory::default();
    memory.documents.insert("a".to_owned(), r#"{"id":"a","_self":"dbs/d/colls/c/docs/a/"}"#.to_owned());
    run(workers, run_it, &mut memory).result.is_ok()
}

/// Returns the microseconds of one call: the best of several rounds, because other work only ever adds.
#[expect(clippy::disallowed_methods, reason = "measuring the machine is the point")]
fn time(count: u32, mut call: impl FnMut() -> bool) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begin = Instant::now();
        for _ in 0..count {
            assert!(call(), "what is measured must work");
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e6 / f64::from(count));
    }
    best
}

#[derive(Default)]
struct Memory {
    documents: BTreeMap<String, String>,
}

impl Memory {
    fn name(name: DocumentName<'_>) -> String {
        match name {
            DocumentName::Id(id) | DocumentName::Rid(id) => id.to_owned(),
        }
    }
}

impl Collection for Memory {
    fn self_link(&self) -> String {
        "dbs/d/colls/c/".to_owned()
    }

    fn alt_link(&self) -> String {
        "dbs/data/colls/items".to_owned()
    }

    fn is_closing(&self) -> bool {
        false
    }

    fn window(&self) -> u64 {
        u64::MAX
    }

    fn read(&mut self, document: DocumentName<'_>, _known: Option<&str>) -> Result<ReadDocument, Refusal> {
        let found = self.documents.get(&Memory::name(document)).cloned();
        found.map(ReadDocument::Found).ok_or_else(|| Refusal::new(ErrorCode::NotFound, "there is none"))
    }

    fn create(&mut self, body: &str) -> Result<String, Refusal> {
        self.documents.insert("created".to_owned(), body.to_owned());
        Ok(body.to_owned())
    }

    fn upsert(&mut self, body: &str, _etag: Option<&str>) -> Result<(String, bool), Refusal> {
        self.create(body).map(|stored| (stored, true))
    }

    fn replace(
        &mut self,
        document: DocumentName<'_>,
        body: &str,
        _etag: Option<&str>,
    ) -> Result<String, Refusal> {
        self.documents.insert(Memory::name(document), body.to_owned());
        Ok(body.to_owned())
    }

    fn delete(&mut self, document: DocumentName<'_>, _etag: Option<&str>) -> Result<(), Refusal> {
        self.documents.remove(&Memory::name(document));
        Ok(())
    }

    fn query(&mut self, _feed: FeedRequest<'_>) -> Result<FeedPage, Refusal> {
        Ok(FeedPage { documents: "[]".to_owned(), count: 0, continuation: None })
    }

    fn guid(&mut self) -> String {
        "id".to_owned()
    }

    fn random(&mut self) -> f64 {
        0.5
    }

    fn now_ms(&self) -> u64 {
        0
    }

    fn usage(&self) -> CollectionUsage {
        CollectionUsage::default()
    }
}
