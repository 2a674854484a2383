//! `armilla export`: the items of a container into a file, one a line, or as a picture of a graph.
//!
//! Pages of the container's feed, one after the other, the next one asked for while the last one is written. A
//! position in the feed stays good through splits, merges and restarts, so every item that is there all the time comes
//! exactly once; one that is written meanwhile may come as it was or as it is.
//!
//! Lines are items as the server writes them: no white space between tokens, members in the order in which they were
//! written, without what the server adds.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use armilla_client::{Client, Done, Failure, Query, Scope, Session, lines};
use armilla_env::Env;
use armilla_value::PropertyPath;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::dot;
use crate::import::is_standard;
use crate::limits::{EXPORT_PAGE_ITEMS, THROTTLE_PATIENCE};
use crate::options::ExportOptions;
use crate::progress::{Step, progress};
use crate::scan;
use crate::sending::{Backoff, SYSTEM_PROPERTIES};

/// Exports, and tells how many items there were.
pub fn export(options: &ExportOptions, env: Env) -> Result<ExitCode> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let client = Client::new(&options.server, env.clone())?;
    let session = client.session().patience(THROTTLE_PATIENCE);
    let mut export = Export {
        options,
        session,
        start: env.clock.elapsed(),
        progress: progress(options.progress),
        env,
        count: 0,
    };
    runtime.block_on(export.run())?;
    let items = if export.count == 1 { "item" } else { "items" };
    let told = format!("exported {} {items}", export.count);
    let _ = match is_standard(&options.file) {
        true => writeln!(io::stderr(), "armilla: {told}"),
        false => writeln!(io::stdout(), "{told} to {}", options.file.display()),
    };
    Ok(ExitCode::SUCCESS)
}

struct Export<'o> {
    options: &'o ExportOptions,
    session: Session,
    env: Env,
    start: Duration,
    progress: armilla_report::Progress,
    count: u64,
}

impl Export<'_> {
    async fn run(&mut self) -> Result<()> {
        let key = match self.options.dot {
            true => Some(Arc::new(self.key_paths().await?)),
            false => None,
        };
        let mut page = self.next_page(None).await?;
        // Only now is it clear that there is something to write.
        let mut output = Output::create(&self.options.file, self.options.gzip)?;
        if key.is_some() {
            output.write_all(dot::BEGIN).map_err(|error| output.failure(&error))?;
        }
        loop {
            let body = std::mem::take(&mut page.body);
            let is_query = self.options.query.is_some();
            let with_system_properties = self.options.system_properties;
            let key = key.clone();
            let writing = tokio::task::spawn_blocking(move || {
                let lines = lines(&body)?;
                let text = match key {
                    Some(key) => dot::statements(&lines.text, &key)?,
                    None if with_system_properties => lines.text,
                    None => stripped(&lines.text, is_query)?,
                };
                output.write_all(&text).map_err(|error| output.failure(&error))?;
                Ok::<_, anyhow::Error>((output, lines.count))
            });
            let next = match page.continuation.take() {
                Some(token) => Some(self.next_page(Some(&token)).await?),
                None => None,
            };
            let count;
            (output, count) = writing.await.context("writing broke off")??;
            self.count += count;
            self.show(false);
            match next {
                Some(next) => page = next,
                None => break,
            }
        }
        if key.is_some() {
            output.write_all(dot::END).map_err(|error| output.failure(&error))?;
        }
        self.show(true);
        tokio::task::block_in_place(|| output.finish())
    }

    /// Asks where the items have their partition keys.
    async fn key_paths(&mut self) -> Result<Vec<PropertyPath>> {
        let ExportOptions { database, container, .. } = self.options;
        match self.session.key_rule(database, container).await {
            Ok(rule) => Ok(rule.paths),
            Err(failure) if failure.is(404) => Err(no_container(database, container)),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Asks for a page, however long the server is away meanwhile.
    async fn next_page(&mut self, continuation: Option<&str>) -> Result<Done> {
        let ExportOptions { database, container, query, .. } = self.options;
        let mut backoff = Backoff::new(&self.env);
        loop {
            let items_max = Some(EXPORT_PAGE_ITEMS);
            let page = match query {
                Some(text) => {
                    let query = Query { text, items_max, continuation, ..Query::default() };
                    self.session.query(database, container, &query).await
                }
                None => {
                    self.session.read_items(database, container, Scope::All, items_max, continuation).await
                }
            };
            match page {
                Ok(page) => return Ok(page),
                Err(failure) if failure.is(404) => return Err(no_container(database, container)),
                // Before the first page nothing is worth waiting for.
                Err(failure @ Failure::Lost(_)) if continuation.is_none() => return Err(failure.into()),
                Err(failure) if failure.is_passing() => backoff.wait(&failure.to_string()).await?,
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    fn show(&mut self, is_end: bool) {
        let now = self.env.clock.elapsed();
        let elapsed = now.saturating_sub(self.start);
        let step = Step { items: self.count, part: None, elapsed };
        match is_end {
            true => self.progress.finish(&step.shown("exported")),
            false => self.progress.show(now, || step.shown("exported")),
        }
    }
}

fn no_container(database: &str, container: &str) -> anyhow::Error {
    anyhow!("there is no container {container} in a database {database}")
}

/// Returns lines without what the server adds to items.
///
/// A row of a query is only an item if it has all of that; otherwise the query asked for what is in it.
fn stripped(text: &[u8], is_query: bool) -> Result<Vec<u8>> {
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let is_item = line.first() == Some(&b'{') && (!is_query || is_whole_item(line));
        if is_item {
            let item = scan::without(line, &SYSTEM_PROPERTIES)
                .map_err(|malformed| anyhow!("the server sent an item that is none: {malformed}"))?;
            kept.extend_from_slice(&item);
        } else {
            kept.extend_from_slice(line);
        }
        kept.push(b'\n');
    }
    Ok(kept)
}

fn is_whole_item(line: &[u8]) -> bool {
    let paths = SYSTEM_PROPERTIES
        .iter()
        .filter_map(|name| armilla_value::PropertyPath::parse(&format!("/{name}")).ok());
    let paths: Vec<_> = paths.collect();
    scan::object(line, &paths).is_ok_and(|found| found.values.iter().all(Option::is_some))
}

/// Where the lines go.
struct Output {
    name: String,
    writer: Writer,
    /// The file that is written, and the one that it becomes at the end.
    rename: Option<(PathBuf, PathBuf)>,
}

enum Writer {
    Plain(Box<dyn Write + Send>),
    Gzip(Box<GzEncoder<Box<dyn Write + Send>>>),
}

impl Output {
    /// Opens a file, or standard output.
    fn create(path: &Path, gzip: bool) -> Result<Output> {
        let is_standard = is_standard(path);
        let name = if is_standard { "standard output".to_owned() } else { path.display().to_string() };
        // A device or pipe is written as it is; a file appears once it is whole.
        let is_special = std::fs::metadata(path).is_ok_and(|about| !about.is_file());
        let (target, rename): (Box<dyn Write + Send>, _) = if is_standard {
            (Box::new(io::stdout()), None)
        } else {
            let mut part = path.as_os_str().to_owned();
            part.push(".part");
            let part = PathBuf::from(part);
            let opened = if is_special { path } else { part.as_path() };
            let file = File::create(opened).with_context(|| format!("cannot write {}", opened.display()))?;
            (Box::new(file), (!is_special).then(|| (part, path.to_owned())))
        };
        let target: Box<dyn Write + Send> = Box::new(BufWriter::with_capacity(1 << 16, target));
        let is_gzip = gzip || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        let writer = match is_gzip {
            true => Writer::Gzip(Box::new(GzEncoder::new(target, Compression::default()))),
            false => Writer::Plain(target),
        };
        Ok(Output { name, writer, rename })
    }

    fn write_all(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.writer {
            Writer::Plain(writer) => writer.write_all(text),
            Writer::Gzip(writer) => writer.write_all(text),
        }
    }

    fn failure(&self, error: &io::Error) -> anyhow::Error {
        anyhow!("cannot write {}: {error}", self.name)
    }

    /// Writes what is left, and puts the file in place.
    fn finish(self) -> Result<()> {
        let Output { name, writer, rename } = self;
        let flushed = match writer {
            Writer::Plain(mut writer) => writer.flush(),
            Writer::Gzip(writer) => writer.finish().and_then(|mut inner| inner.flush()),
        };
        flushed.with_context(|| format!("cannot write {name}"))?;
        if let Some((part, path)) = rename {
            let placed = File::open(&part)
                .and_then(|file| file.sync_all())
                .and_then(|()| std::fs::rename(&part, &path));
            placed.with_context(|| format!("cannot write {name}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    const ADDED: &str = r#","_rid":"r","_self":"s","_etag":"\"e\"","_attachments":"attachments/","_ts":5}"#;

    #[test]
    fn what_the_server_adds_goes() {
        let item = format!(r#"{{"id":"a","n":1{ADDED}"#);
        let text = format!("{item}\n{item}\n");
        let expected = "{\"id\":\"a\",\"n\":1}\n{\"id\":\"a\",\"n\":1}\n";
        for is_query in [false, true] {
            assert_eq!(stripped(text.as_bytes(), is_query).unwrap(), expected.as_bytes());
        }
        let rows = "{\"id\":\"a\",\"_ts\":5}\n7\n\"x\"\n[1]\n{}\n";
        assert_eq!(stripped(rows.as_bytes(), true).unwrap(), rows.as_bytes());
        assert_eq!(stripped(b"", false).unwrap(), b"");
        assert!(stripped(b"{\"a\"\n", false).is_err());
    }

    #[test]
    fn files_appear_when_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        for (name, gzip, is_gzip) in
            [("a.jsonl", false, false), ("b.jsonl.gz", false, true), ("c.jsonl", true, true)]
        {
            let path = folder.path().join(name);
            let mut output = Output::create(&path, gzip).unwrap();
            output.write_all(b"{}\n").unwrap();
            assert!(!path.exists());
            output.finish().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            let mut text = String::new();
            match is_gzip {
                true => GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
                false => (&bytes[..]).read_to_string(&mut text).unwrap(),
            };
            assert_eq!(text, "{}\n");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing else is left");
        assert!(Output::create(&folder.path().join("none/x"), false).is_err());
    }
}
