//! Loops over workers that only wait.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::anyhow;

use super::*;

/// Answers after a while, or as it is told.
struct Waiting {
    env: Env,
    takes: Duration,
    count: Arc<AtomicU64>,
    answer: fn(u64) -> Result<Answer>,
}

impl Worker for Waiting {
    fn prepare(&mut self) -> usize {
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            self.env.clock.sleep(self.takes).await;
            (self.answer)(self.count.fetch_add(1, Ordering::Relaxed))
        })
    }
}

fn done(_: u64) -> Result<Answer> {
    Ok(Answer::Done(Effort { charge: Some(2.0), requests: 1, items: 3 }))
}

async fn run(
    pace: Pace,
    connections: usize,
    takes_ms: u64,
    answer: fn(u64) -> Result<Answer>,
) -> Result<(Measured, u64)> {
    let env = Env::system();
    let count = Arc::new(AtomicU64::new(0));
    let worker = |_| {
        let takes = Duration::from_millis(takes_ms);
        Box::new(Waiting { env: env.clone(), takes, count: count.clone(), answer }) as Box<dyn Worker>
    };
    let measured = drive(&env, pace, 1, (0..connections).map(worker).collect(), None).await?;
    Ok((measured, count.load(Ordering::Relaxed)))
}

fn pace(warm_up_ms: u64, window_ms: u64, rate: Option<f64>) -> Pace {
    Pace { warm_up: Duration::from_millis(warm_up_ms), window: Duration::from_millis(window_ms), rate }
}

#[tokio::test]
async fn a_closed_loop_counts_what_began_in_the_window() {
    let (measured, performed) = run(pace(100, 300, None), 2, 10, done).await.unwrap();
    let tally = &measured.kinds[0];
    let counted = tally.latencies.count();
    assert!(counted > 0 && counted < performed, "{counted} of {performed}");
    assert!(tally.latencies.quantiles().p50_us >= 10_000.0);
    assert_eq!(tally.charge, Some(2.0 * counted as f64));
    assert_eq!((tally.requests, tally.items), (counted, 3 * counted));
    assert!(measured.took >= Duration::from_millis(300));
    assert_eq!(measured.by_second.len(), 1);
    assert_eq!(measured.open_loop, None);
}

#[tokio::test]
async fn an_open_loop_that_keeps_its_rate_says_so() {
    let (measured, _) = run(pace(50, 400, Some(100.0)), 4, 1, done).await.unwrap();
    let open_loop = measured.open_loop.unwrap();
    assert_eq!((open_loop.rate, open_loop.due), (100.0, 40));
    assert!(open_loop.has_kept_rate(), "{open_loop:?}");
    assert_eq!(measured.kinds[0].latencies.count(), open_loop.due - open_loop.unsent);
}

#[tokio::test]
async fn latency_counts_from_when_an_operation_was_due() {
    // One connection that takes 20 ms does 50 a second of the 500 that are asked for.
    let (measured, _) = run(pace(0, 500, Some(500.0)), 1, 20, done).await.unwrap();
    let open_loop = measured.open_loop.unwrap();
    assert_eq!(open_loop.due, 250);
    assert!(!open_loop.has_kept_rate());
    assert!(open_loop.unsent > 200, "{open_loop:?}");
    assert!(open_loop.late_max_us > 300_000.0, "{open_loop:?}");
    let tally = &measured.kinds[0];
    assert!(tally.latencies.quantiles().max_us > 300_000.0);
    // A busy machine may make one operation slow, but not half of them.
    assert!(tally.services.quantiles().p50_us < tally.latencies.quantiles().p50_us);
}

#[tokio::test]
async fn what_fell_behind_during_the_warm_up_is_left_out() {
    let (measured, performed) = run(pace(200, 300, Some(10_000.0)), 1, 20, done).await.unwrap();
    let open_loop = measured.open_loop.unwrap();
    let counted = measured.kinds[0].latencies.count();
    assert!(counted > 0 && counted < performed, "{counted} of {performed}");
    assert_eq!((open_loop.due, counted + open_loop.unsent), (3_000, 3_000));
}

#[tokio::test]
async fn refused_operations_are_waited_for_and_counted_apart() {
    let refused = |number| match number % 2 {
        0 => Ok(Answer::Refused { retry_after: Duration::from_millis(20) }),
        _ => done(number),
    };
    let (measured, _) = run(pace(0, 300, None), 1, 1, refused).await.unwrap();
    let tally = &measured.kinds[0];
    assert!(tally.refused > 0 && tally.refused <= 15, "{}", tally.refused);
    assert!(tally.latencies.count().abs_diff(tally.refused) <= 1);
}

#[tokio::test]
async fn a_long_wait_ends_with_the_window() {
    let refused = |_| Ok(Answer::Refused { retry_after: Duration::from_secs(3_600) });
    let env = Env::system();
    let begin = env.clock.elapsed();
    let (measured, _) = run(pace(0, 100, None), 2, 1, refused).await.unwrap();
    assert_eq!((measured.kinds[0].refused, measured.kinds[0].latencies.count()), (2, 0));
    assert!(env.clock.elapsed() - begin < Duration::from_secs(5));
}

#[tokio::test]
async fn failures_are_counted_up_to_a_bound() {
    let at_most = |number| if number < FAILURES_MAX { Err(anyhow!("broken {number}")) } else { done(number) };
    let (measured, _) = run(pace(0, 400, None), 1, 0, at_most).await.unwrap();
    assert_eq!(measured.kinds[0].failed, FAILURES_MAX);
    assert_eq!(measured.first_failure.as_deref(), Some("broken 0"));
    let always = |number| Err(anyhow!("broken {number}"));
    let error = run(pace(0, 2_000, None), 1, 0, always).await.unwrap_err().to_string();
    assert_eq!(error, "more than 100 operations failed, the last with: broken 100");
}

/// Answers one reading after the other, each with when it was read.
struct Readings {
    env: Env,
    seconds: Vec<Option<u64>>,
    read_at: Arc<Mutex<Vec<Duration>>>,
}

impl CpuClock for Readings {
    fn read(&mut self) -> Future<'_, Option<Duration>> {
        Box::pin(async {
            self.read_at.lock().push(self.env.clock.elapsed());
            self.seconds.remove(0).map(Duration::from_secs)
        })
    }
}

#[tokio::test]
async fn processor_time_is_that_of_the_window() {
    for (seconds, expected) in [
        ([Some(10), Some(13)], Some(3)),
        ([None, Some(13)], None),
        ([Some(10), None], None),
        // Started again meanwhile.
        ([Some(10), Some(1)], None),
    ] {
        let env = Env::system();
        let (read_at, count) = (Arc::default(), Arc::default());
        let readings = Readings { env: env.clone(), seconds: seconds.into(), read_at: Arc::clone(&read_at) };
        let takes = Duration::from_millis(1);
        let worker = Waiting { env: env.clone(), takes, count, answer: done };
        let begin = env.clock.elapsed();
        let measured = drive(&env, pace(60, 60, None), 1, vec![Box::new(worker)], Some(Box::new(readings)))
            .await
            .unwrap();
        assert_eq!(measured.cpu, expected.map(Duration::from_secs), "{seconds:?}");
        let read_at: Vec<_> = read_at.lock().iter().map(|at| *at - begin).collect();
        let [first, last] = read_at[..] else { panic!("{read_at:?}") };
        assert!(first >= Duration::from_millis(60) && last >= Duration::from_millis(120), "{read_at:?}");
    }
}

#[test]
fn a_rate_is_kept_up_to_one_of_a_hundred() {
    for (due, unsent, expected) in
        [(0, 0, true), (1_000, 10, true), (1_000, 11, false), (99, 1, false), (100, 1, true)]
    {
        let open_loop = OpenLoop { rate: 1.0, due, unsent, late_max_us: 0.0 };
        assert_eq!(open_loop.has_kept_rate(), expected, "{due} {unsent}");
    }
}
