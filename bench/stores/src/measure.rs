//! Clients that do one thing again and again, and what that took.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use armilla_env::Random;

use crate::sides::Side;

/// What a measurement came to.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    a_second: f64,
    p50: Duration,
    p99: Duration,
    cpu_us: f64,
}

impl Figures {
    /// Returns the one in the middle, by the rate.
    pub(crate) fn median(mut all: Vec<Figures>) -> Figures {
        all.sort_by(|a, b| a.a_second.total_cmp(&b.a_second));
        all.swap_remove(all.len() / 2)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |time: Duration| format!("{} us", time.as_micros());
        write!(
            f,
            "{:>12.0} {:>12} {:>12} {:>12}",
            self.a_second,
            us(self.p50),
            us(self.p99),
            format!("{:.1} us", self.cpu_us)
        )
    }
}

/// Lets clients work for a while.
#[expect(clippy::disallowed_methods, reason = "the time that it really takes is what is wanted")]
pub(crate) async fn measure(
    side: Arc<Side>,
    clients: u64,
    is_write: bool,
    loaded: u64,
    time: Duration,
) -> Result<Figures> {
    let (began, cpu) = (Instant::now(), cpu_time()?);
    let work = (0..clients).map(|client| {
        let side = side.clone();
        tokio::spawn(async move {
            let mut random = Random::of_part(began.elapsed().as_nanos() as u64, client);
            let mut took = Vec::new();
            while began.elapsed() < time {
                let start = Instant::now();
                let number = random.below(loaded);
                match is_write {
                    true => side.commit(number).await?,
                    false => side.get(number).await?,
                }
                took.push(start.elapsed());
            }
            anyhow::Ok(took)
        })
    });
    let mut took = Vec::new();
    for client in work.collect::<Vec<_>>() {
        took.extend(client.await??);
    }
    let (elapsed, cpu) = (began.elapsed(), cpu_time()?.saturating_sub(cpu));
    took.sort_unstable();
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    Ok(Figures {
        a_second: took.len() as f64 / elapsed.as_secs_f64(),
        p50: at(50),
        p99: at(99),
        cpu_us: cpu.as_secs_f64() * 1e6 / took.len().max(1) as f64,
    })
}

/// Returns the processor time that this process has had.
fn cpu_time() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").context("there is no /proc/self/stat")?;
    // Behind the name, which is in parentheses.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
    let ticks = ticks(11).zip(ticks(12)).context("/proc/self/stat has another form")?;
    // A tick is a hundredth of a second on Linux, whatever the kernel counts in.
    Ok(Duration::from_millis((ticks.0 + ticks.1) * 10))
}
