//! Decides whether a folder may be opened, without changing anything in it.
//!
//! The engine is never let near a folder from which something is missing. A folder is
//!
//! * new: there is nothing in it, or what an interrupted first start left, of which no caller was told anything;
//! * of an older program, which wrote no manifest: then every byte is compared with the engine's own accounts, once;
//! * ours: then it is compared with its manifest and its acknowledged mark.
//!
//! Whatever else it is, it is damaged, and the findings say what is missing.

use std::path::Path;

use armilla_kv::{Durability, Error, ErrorKind, Result};

use crate::compare::{compare, compare_without_manifest};
use crate::format;
use crate::journal;
use crate::limits::FINDINGS_TOLD_MAX;
use crate::manifest::{self, Manifest, State};
use crate::mark;
use crate::survey::{self, Depth, ENGINE_FOLDER, ENGINE_MARKER, Finding, Survey};

/// What a folder is.
pub(crate) enum Examined {
    /// It holds nothing that a caller was told of.
    New,
    /// It was written by a program without manifests, and is whole.
    Older(Whole),
    /// It is whole.
    Known(Whole),
    /// Something is missing or damaged.
    Damaged(Vec<Finding>),
}

/// A folder in which nothing is missing.
pub(crate) struct Whole {
    pub(crate) survey: Survey,
    pub(crate) manifest: Option<Manifest>,
}

/// Looks at a folder. `progress` is told of each piece of a file that was read, and how long it was.
pub(crate) fn examine(folder: &Path, depth: Depth, progress: &mut dyn FnMut(&str, u64)) -> Result<Examined> {
    let mut findings = Vec::new();
    let written = readable(format::read(folder), format::FILE, &mut findings)?;
    let manifest = readable(manifest::read(folder), manifest::FILE, &mut findings)?;
    let mark = readable(mark::read(folder), mark::FILE, &mut findings)?;
    let manifest_is_damaged = findings.iter().any(|finding| finding.file == manifest::FILE);
    let format_is_damaged = findings.iter().any(|finding| finding.file == format::FILE);
    let nothing_told = || -> Result<bool> { Ok(mark.unwrap_or(0) == 0 && !holds_commits(folder)?) };
    match (&written, &manifest) {
        // Whichever of its files came first, no caller was told of anything yet.
        (_, Some(manifest)) if manifest.state == State::New => {
            if nothing_told()? {
                return Ok(Examined::New);
            }
            findings.push(Finding {
                file: manifest::FILE.to_owned(),
                problem: "it is of a store that was just being made, and there is data".to_owned(),
            });
        }
        (None, None) if !manifest_is_damaged && !format_is_damaged => {
            let has_marker = folder.join(ENGINE_FOLDER).join(ENGINE_MARKER).exists();
            if !has_marker && nothing_told()? {
                return Ok(Examined::New);
            }
            findings.push(missing(format::FILE));
        }
        (None, _) if !format_is_damaged => findings.push(missing(format::FILE)),
        (Some(written), None) if !manifest_is_damaged => {
            if written.format >= format::WITH_MANIFEST {
                findings.push(missing(manifest::FILE));
            } else if !folder.join(ENGINE_FOLDER).join(ENGINE_MARKER).exists() && nothing_told()? {
                return Ok(Examined::New);
            }
        }
        _ => {}
    }
    let durability = written.as_ref().map_or(Durability::Strict, |written| written.durability);
    let survey = survey::survey(folder, manifest.as_ref(), durability, depth, progress)?;
    match &manifest {
        Some(manifest) => {
            // Said by the comparison, if it matters.
            findings.retain(|finding| finding.file != mark::FILE);
            findings.extend(compare(manifest, mark, &survey));
        }
        None if findings.is_empty() => findings.extend(compare_without_manifest(&survey)),
        None => findings.extend(survey.findings.iter().cloned()),
    }
    if !findings.is_empty() {
        return Ok(Examined::Damaged(findings));
    }
    let is_older = manifest.is_none();
    let whole = Whole { survey, manifest };
    Ok(if is_older { Examined::Older(whole) } else { Examined::Known(whole) })
}

/// Turns a file that cannot be read into a finding. What a newer program wrote, or the system refuses, is no damage.
fn readable<T>(read: Result<Option<T>>, file: &str, findings: &mut Vec<Finding>) -> Result<Option<T>> {
    match read {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            findings.push(Finding { file: file.to_owned(), problem: "it is damaged".to_owned() });
            Ok(None)
        }
        read => read,
    }
}

fn missing(file: &str) -> Finding {
    Finding { file: file.to_owned(), problem: "it is missing".to_owned() }
}

/// Returns whether the engine's folder holds anything that a caller may have been told of, or that this
/// program has not written.
fn holds_commits(folder: &Path) -> Result<bool> {
    let engine_path = folder.join(ENGINE_FOLDER);
    if !engine_path.is_dir() {
        return Ok(false);
    }
    let journals = journal::inspect(&engine_path, Durability::Relaxed)?;
    let in_journals = journals.iter().any(|journal| {
        // The very first write may be torn.
        matches!(journal.rest, journal::Rest::Hole(_))
            || journal.batches.is_some_and(|(_, last)| last.group > 0)
    });
    let Ok(families) = std::fs::read_dir(engine_path.join("keyspaces")) else { return Ok(in_journals) };
    let mut tables = families
        .flatten()
        .filter(|family| family.file_name() != "0")
        .filter_map(|family| std::fs::read_dir(family.path().join("tables")).ok())
        .flatten();
    Ok(in_journals || tables.next().is_some())
}

/// Says why a folder is not opened, and what to do.
pub(crate) fn refusal(folder: &Path, findings: &[Finding]) -> Error {
    let told: Vec<String> = findings.iter().take(FINDINGS_TOLD_MAX).map(ToString::to_string).collect();
    let more = match findings.len().saturating_sub(FINDINGS_TOLD_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!(
        "{} is not whole, and nothing in it was changed: {}{more}. \
         Restore a backup, or save what can be saved with `armilla repair`",
        folder.display(),
        told.join("; ")
    );
    Error::new(ErrorKind::Corrupt, message)
}
