//! What a call between two nodes takes, beside the same bytes over plain TCP.
//!
//! `cargo bench -p armilla-peer --bench calls` prints the tables; `-- SECONDS` measures each row for longer. Both sides run in
//! this process, each on a runtime of its own, and the microseconds of the processor are those of both together.

#![expect(clippy::print_stdout, reason = "a bench reports on the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures the machine")]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use armilla_peer::{Link, Secret, Service, serve};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};

const REQUEST_BYTES: usize = 200;
const ANSWER_BYTES: usize = 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// Clock ticks a second in `/proc`, which is the same on every Linux.
const TICKS: f64 = 100.0;

struct Answering(Bytes);

impl Service for Answering {
    type Session = ();

    fn open(&self) {}

    fn call(self: Arc<Self>, _session: Arc<()>, _request: Bytes) -> BoxFuture<'static, Bytes> {
        let answer = self.0.clone();
        async move { answer }.boxed()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(3.0);
    let length = Duration::from_secs_f64(seconds);
    println!("| | callers | calls/s | CPU µs a call, both sides | µs a call |");
    println!("|---|---|---|---|---|");
    for callers in [1, 16, 256] {
        bare(callers, length)?;
    }
    for threads in [1, 2] {
        for callers in [1, 16, 256] {
            calls(threads, callers, length)?;
        }
    }
    Ok(())
}

/// Writes the requests of all callers and reads their answers, in turn.
fn bare(callers: usize, length: Duration) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut caller = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    caller.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let serving = thread::spawn(move || {
        let (mut requests, answers) = (vec![0; REQUEST_BYTES * callers], vec![0; ANSWER_BYTES * callers]);
        while server.read_exact(&mut requests).is_ok() && server.write_all(&answers).is_ok() {}
    });
    let (requests, mut answers) = (vec![0; REQUEST_BYTES * callers], vec![0; ANSWER_BYTES * callers]);
    let (begin, ticks) = (Instant::now(), ticks()?);
    let mut count = 0;
    while begin.elapsed() < length {
        caller.write_all(&requests)?;
        caller.read_exact(&mut answers)?;
        count += callers as u64;
    }
    report("plain TCP", callers, count, begin.elapsed(), ticks)?;
    drop(caller);
    serving.join().map_err(|_| "the server panicked")?;
    Ok(())
}

fn calls(threads: usize, callers: usize, length: Duration) -> Result<(), Box<dyn Error>> {
    let (serving, calling) = (runtime(threads)?, runtime(threads)?);
    let listener = serving.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?.to_string();
    let service = Arc::new(Answering(Bytes::from(vec![7; ANSWER_BYTES])));
    serving.spawn(serve(listener, service, Secret::derive("key"), std::future::pending()));
    let link = Link::new(&address, Secret::derive("key"), calling.handle().clone());
    let request = Bytes::from(vec![1; REQUEST_BYTES]);
    let (is_over, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (link, request) = (link.clone(), request.clone());
            let (is_over, count) = (is_over.clone(), count.clone());
            calling.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    link.call(request.clone(), PATIENCE).await?;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<(), armilla_peer::CallError>(())
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(300));
    let (begin, ticks, before) = (Instant::now(), ticks()?, count.load(Ordering::Relaxed));
    thread::sleep(length);
    let done = count.load(Ordering::Relaxed) - before;
    report(&format!("calls, {threads} threads a side"), callers, done, begin.elapsed(), ticks)?;
    is_over.store(true, Ordering::Relaxed);
    for task in tasks {
        calling.block_on(task)??;
    }
    Ok(())
}

fn runtime(threads: usize) -> Result<Runtime, std::io::Error> {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build()
}

fn report(name: &str, callers: usize, count: u64, took: Duration, before: u64) -> Result<(), Box<dyn Error>> {
    let cpu = (ticks()? - before) as f64 / TICKS * 1e6 / count as f64;
    let each = took.as_secs_f64() * 1e6 / count as f64;
    let rate = count as f64 / took.as_secs_f64();
    println!("| {name} | {callers} | {rate:.0} | {cpu:.2} | {each:.2} |");
    Ok(())
}

/// Returns the clock ticks that this process has had of all processors.
fn ticks() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program is in brackets and may contain anything.
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let field = |index: usize| fields.get(index).ok_or("too few fields").map(|field| field.parse::<u64>());
    Ok(field(11)?? + field(12)??)
}
