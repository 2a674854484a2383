//! Structured logs on standard error.

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::settings::LogSettings;
use crate::settings::options::LogFormat;

/// What is logged unless a filter is given: ours, and only the troubles of others.
const FILTER: &str = "warn,armilla=info";

/// Levels that stand for a filter of their own, so that `debug` does not bury our lines in those of libraries.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging.
pub(crate) fn start(settings: &LogSettings) -> Result<()> {
    let text = settings.filter.clone().or_else(|| std::env::var("RUST_LOG").ok());
    let text = filter_text(text.as_deref());
    let filter = EnvFilter::try_new(&text)
        .with_context(|| format!("--log-level {text:?} is not a level (info) or filter (armilla=debug)"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match settings.format {
        LogFormat::Text => builder.with_ansi(is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}

fn filter_text(given: Option<&str>) -> String {
    match given.map(str::trim) {
        None | Some("") => FILTER.to_string(),
        Some("off") => "off".to_string(),
        Some("error") => "error".to_string(),
        Some(level) if LEVELS.contains(&level) => format!("warn,armilla={level}"),
        Some(filter) => filter.to_string(),
    }
}

fn is_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_mean_our_own_lines() {
        for (given, expected) in [
            (None, FILTER),
            (Some(""), FILTER),
            (Some("debug"), "warn,armilla=debug"),
            (Some("off"), "off"),
            (Some("error"), "error"),
            (Some("armilla_engine=trace"), "armilla_engine=trace"),
        ] {
            assert_eq!(filter_text(given), expected);
        }
    }
}
