//! Reading everything from the beginning, in process and over HTTP, beside what the store and the HTTP stack can do.
//!
//! Each side reads the same folder, opened anew with the same cache, once to fill the caches and then again and again
//! until its time is up. The raw store walks the items in the order of their keys, which is the cheapest order there is;
//! a feed has to give them in the order of their commits.

mod sides;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use armilla_crash::process_figures;
use armilla_env::Env;

use super::FeedOptions;
use super::folder::DataFolder;
use crate::items::Items;
use crate::server::Setup;
use sides::{Bare, Engine, Http, Raw, Side};
pub(super) use sides::{spaces_with, walk};

/// How long the machine rests before a measurement, so that work in the background of the last one ends.
const REST: Duration = Duration::from_millis(500);

/// A size of the cache, with a name.
pub(super) struct Cache {
    pub(super) name: &'static str,
    pub(super) setup: Setup,
}

/// Who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// The embedded store alone, the items in the order of their keys.
    Raw,
    /// The engine in process, pages as they are.
    Engine,
    /// The engine in process, with the items' JSON written out.
    EngineJson,
    /// A bare HTTP server that sends pages of the same bytes.
    Bare,
    /// The server over HTTP.
    Http,
}

impl Reader {
    pub(super) fn name(self) -> &'static str {
        match self {
            Reader::Raw => "raw store: scan of the items",
            Reader::Engine => "engine: drain",
            Reader::EngineJson => "engine: drain, JSON written",
            Reader::Bare => "bare HTTP: the same pages",
            Reader::Http => "HTTP: drain",
        }
    }
}

/// Who reads, in the order in which it is measured: the bare server sends what the real one has sent.
const READERS: [Reader; 5] = [Reader::Raw, Reader::Engine, Reader::EngineJson, Reader::Http, Reader::Bare];

/// What one reading of everything came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) items: u64,
    pub(super) pages: u64,
    /// Keys and values of the store, the items' values or JSON, or bodies of answers.
    pub(super) bytes: u64,
}

/// What several of them took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Drained {
    pub(super) all: Pass,
    pub(super) took: Duration,
    /// Processor time of the process that did the work.
    pub(super) cpu: Duration,
}

impl Drained {
    pub(super) fn items_per_second(&self) -> f64 {
        self.all.items as f64 / self.took.as_secs_f64()
    }

    pub(super) fn megabytes_per_second(&self) -> f64 {
        self.all.bytes as f64 / 1e6 / self.took.as_secs_f64()
    }

    pub(super) fn cpu_us_per_item(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.all.items.max(1) as f64
    }
}

/// One line of the table.
pub(super) struct Line {
    pub(super) cache: &'static str,
    pub(super) cache_mb: u32,
    pub(super) reader: Reader,
    pub(super) best: Drained,
}

/// Measures all readers with all caches.
pub(super) fn measure(
    options: &FeedOptions,
    env: &Env,
    data: &DataFolder,
    items: Items,
) -> Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let rounds = options.rounds.max(1);
    for round in 0..rounds {
        eprintln!("drain, round {} of {rounds}", round + 1);
        for cache in options.caches() {
            let mut page = None;
            for reader in READERS {
                let mut side: Box<dyn Side> = match reader {
                    Reader::Raw => Box::new(Raw::open(&cache.setup, data)?),
                    Reader::Engine => Box::new(Engine::open(options, &cache.setup, env, data, false)?),
                    Reader::EngineJson => Box::new(Engine::open(options, &cache.setup, env, data, true)?),
                    Reader::Http => Box::new(Http::open(options, &cache.setup, env, data)?),
                    Reader::Bare => {
                        let page = page.take().context("the server has sent no page")?;
                        Box::new(Bare::open(options, &cache.setup, env, page, items)?)
                    }
                };
                let drained = repeat(env, options.seconds, items, side.as_mut())?;
                page = page.or(side.close()?);
                eprintln!(
                    "  {}, {}: {:.0} items a second",
                    reader.name(),
                    cache.name,
                    drained.items_per_second()
                );
                let is_same = |line: &&mut Line| line.cache == cache.name && line.reader == reader;
                match lines.iter_mut().find(is_same) {
                    None => lines.push(Line {
                        cache: cache.name,
                        cache_mb: cache.setup.cache_mb,
                        reader,
                        best: drained,
                    }),
                    Some(line) if line.best.items_per_second() < drained.items_per_second() => {
                        line.best = drained;
                    }
                    Some(_) => {}
                }
            }
        }
    }
    Ok(lines)
}

/// Returns how fast a reader is beside another, with the same cache.
pub(super) fn ratio(lines: &[Line], cache: &str, of: Reader, to: Reader) -> Option<f64> {
    let rate = |reader| {
        let line = lines.iter().find(|line| line.cache == cache && line.reader == reader)?;
        Some(line.best.items_per_second())
    };
    Some(rate(of)? / rate(to)?)
}

/// Reads everything once, and then again and again until the time is up; only the latter counts.
fn repeat(env: &Env, seconds: f64, items: Items, side: &mut dyn Side) -> Result<Drained> {
    let first = side.drain()?;
    ensure!(first.items == items.count as u64, "{} items came, not {}", first.items, items.count);
    std::thread::sleep(REST);
    let cpu = || process_figures::cpu_time(side.pid());
    let (begin, cpu_before) = (env.clock.elapsed(), cpu()?);
    let mut drained = Drained::default();
    while drained.took.as_secs_f64() < seconds {
        let pass = side.drain()?;
        ensure!(pass.items == first.items, "{} items came, then {}", first.items, pass.items);
        drained.all.items += pass.items;
        drained.all.pages += pass.pages;
        drained.all.bytes += pass.bytes;
        drained.took = env.clock.elapsed() - begin;
    }
    drained.cpu = process_figures::cpu_time(side.pid())?.saturating_sub(cpu_before);
    Ok(drained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_the_same_cache() {
        let line = |cache, reader, items| {
            let all = Pass { items, pages: 1, bytes: 4_000_000 };
            let second = Duration::from_secs(1);
            Line { cache, cache_mb: 1, reader, best: Drained { all, took: second, cpu: second / 2 } }
        };
        let lines = [
            line("a", Reader::Raw, 200),
            line("b", Reader::Raw, 1_000),
            line("a", Reader::Engine, 100),
            line("b", Reader::Engine, 100),
        ];
        assert_eq!(ratio(&lines, "a", Reader::Engine, Reader::Raw), Some(0.5));
        assert_eq!(ratio(&lines, "b", Reader::Engine, Reader::Raw), Some(0.1));
        assert_eq!(ratio(&lines, "a", Reader::Http, Reader::Raw), None);
        assert!((lines[0].best.megabytes_per_second() - 4.0).abs() < 1e-9);
        assert!((lines[0].best.cpu_us_per_item() - 2_500.0).abs() < 1e-9);
    }
}
