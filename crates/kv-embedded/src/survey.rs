//! Looks at everything in the engine's folder, without the engine and without changing anything.
//!
//! What is found is the families with their sorted files, the journals, and whatever is missing or damaged by the engine's
//! own accounts: lists that are not the ones that were named, sorted files that are not the ones that were listed, journals
//! with holes. What the manifest and the acknowledged mark say beyond that is for `compare`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use armilla_kv::{Durability, Result};

use crate::journal;
use crate::manifest::{Family, Journal, Manifest, Sealed, State, Table};
use crate::options::{KEYSPACE_NAMES, RECORDS, RUN_KEYSPACES};
use crate::records;
use crate::sorted::{self, Listed, Walk};

/// Folder of the engine inside the store's folder.
pub(crate) const ENGINE_FOLDER: &str = "fjall";

/// File that the engine writes last when it makes a database, and by which it knows one.
pub(crate) const ENGINE_MARKER: &str = "version";

const ENGINE_MARKER_CONTENT: [u8; 4] = *b"FJL\x03";

/// What the engine's own family is called here. It says which number each other family has.
const ENGINE_FAMILY: &str = "engine";

/// Something that is missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file or folder, as seen from the store's folder.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.problem)
    }
}

/// How closely to look at sorted files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Files that the manifest knows by their size and their end, others by every byte.
    Known,
    /// Every byte of every file.
    Everything,
}

/// What is there.
pub(crate) struct Survey {
    pub(crate) families: Vec<Family>,
    pub(crate) journals: Vec<journal::Found>,
    /// The newest group that sorted files know of.
    pub(crate) flushed_record: Option<u64>,
    pub(crate) findings: Vec<Finding>,
}

impl Survey {
    /// Returns the family of that number.
    pub(crate) fn family(&self, id: u64) -> Option<&Family> {
        self.families.iter().find(|family| family.id == id)
    }

    /// Returns the first and the last batch of all journals.
    pub(crate) fn batches(&self) -> Option<(journal::BatchFound, journal::BatchFound)> {
        let mut batches = self.journals.iter().filter_map(|journal| journal.batches);
        let (first, last) = batches.next()?;
        Some((first, batches.next_back().map_or(last, |(_, last)| last)))
    }

    /// Returns the newest group there is.
    pub(crate) fn newest_group(&self) -> u64 {
        let journaled = self.batches().map(|(_, last)| last.group);
        journaled.max(self.flushed_record).unwrap_or(0)
    }

    /// Returns the newest sequence number in the sorted files of the families, from which the engine goes on counting.
    pub(crate) fn newest_sequence(&self) -> u64 {
        let families = self.families.iter().filter(|family| family.id != 0);
        families.filter_map(|family| family.newest_sequence).max().unwrap_or(0)
    }

    /// Returns the manifest of what is there. What is known of how far sorted files reach is kept, where the journals
    /// still begin at the same place.
    pub(crate) fn manifest(&self, state: State, before: Option<&Manifest>) -> Manifest {
        let (flushed_group, flushed_sequence) = match self.batches() {
            None => (self.newest_group(), self.newest_sequence()),
            Some((first, _)) => match before {
                Some(before) if before.flushed_group + 1 >= first.group => {
                    (before.flushed_group, before.flushed_sequence)
                }
                _ => (first.group.saturating_sub(1), first.sequence.saturating_sub(1)),
            },
        };
        let last = self.journals.last().map(|journal| journal.id);
        let journal = |found: &journal::Found| Journal {
            id: found.id,
            sealed: found.batches.filter(|_| Some(found.id) != last).map(|(first, last)| Sealed {
                first_group: first.group,
                last_group: last.group,
                newest_sequences: found
                    .newest_sequences
                    .iter()
                    .map(|(id, sequence)| (*id, *sequence))
                    .collect(),
            }),
        };
        Manifest {
            state,
            flushed_group,
            flushed_sequence,
            families: self.families.clone(),
            journals: self.journals.iter().map(journal).collect(),
        }
    }
}

/// Looks at a store's folder. `progress` is told of each piece of a file that was read, and how long it was.
pub(crate) fn survey(
    folder: &Path,
    manifest: Option<&Manifest>,
    written_with: Durability,
    depth: Depth,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<Survey> {
    let engine_path = folder.join(ENGINE_FOLDER);
    let mut findings = Vec::new();
    let mut find = |file: String, problem: String| findings.push(Finding { file, problem });
    match std::fs::read(engine_path.join(ENGINE_MARKER)) {
        Ok(content) if content == ENGINE_MARKER_CONTENT => {}
        Ok(_) => {
            find(format!("{ENGINE_FOLDER}/{ENGINE_MARKER}"), "it is not what the engine writes".to_owned())
        }
        Err(error) => find(format!("{ENGINE_FOLDER}/{ENGINE_MARKER}"), sorted::said(error)),
    }
    let mut families = Vec::new();
    for (id, name) in names(&engine_path, manifest, &mut find) {
        let known = manifest.and_then(|manifest| manifest.families.iter().find(|family| family.id == id));
        // Small, and read through here and now.
        let is_read = id == 0 || name == KEYSPACE_NAMES[RECORDS];
        let depth = if is_read { Depth::Everything } else { depth };
        families.extend(survey_family(&engine_path, id, name, known, depth, &mut find, progress));
    }
    let journals =
        if engine_path.is_dir() { journal::inspect(&engine_path, written_with)? } else { Vec::new() };
    for journal in &journals {
        if let Some(damage) = &journal.damage {
            find(format!("{ENGINE_FOLDER}/{}.jnl", journal.id), format!("it is damaged: {damage}"));
        }
    }
    let flushed_record = families
        .iter()
        .find(|family| family.name == KEYSPACE_NAMES[RECORDS])
        .and_then(|family| flushed_record(&engine_path, family));
    Ok(Survey { families, journals, flushed_record, findings })
}

/// Returns the folder of a family, as seen from the store's folder.
fn family_folder(id: u64) -> String {
    format!("{ENGINE_FOLDER}/keyspaces/{id}")
}

/// Returns which families there must be: those of the manifest, or those that the engine knows of.
fn names(
    engine_path: &Path,
    manifest: Option<&Manifest>,
    find: &mut impl FnMut(String, String),
) -> Vec<(u64, String)> {
    if let Some(manifest) = manifest.filter(|manifest| !manifest.families.is_empty()) {
        return manifest.families.iter().map(|family| (family.id, family.name.clone())).collect();
    }
    let mut names = vec![(0, ENGINE_FAMILY.to_owned())];
    let known = engine_names(engine_path);
    for wanted in KEYSPACE_NAMES {
        match known.iter().find(|(_, name)| name.as_str() == wanted) {
            Some((id, name)) => names.push((*id, name.clone())),
            // An older program did not make them.
            None if RUN_KEYSPACES.iter().any(|run| KEYSPACE_NAMES[*run] == wanted) => {}
            None => find(family_folder(0), format!("the engine does not know a family {wanted}")),
        }
    }
    names
}

/// Returns the families that the engine has and a manifest does not know.
pub(crate) fn unknown_families(folder: &Path, manifest: &Manifest) -> Vec<Family> {
    let is_complete =
        KEYSPACE_NAMES.iter().all(|name| manifest.families.iter().any(|family| family.name == *name));
    if is_complete {
        return Vec::new();
    }
    let engine_path = folder.join(ENGINE_FOLDER);
    let is_unknown = |id: &u64| manifest.families.iter().all(|family| family.id != *id);
    let unknown = engine_names(&engine_path).into_iter().filter(|(id, _)| is_unknown(id));
    let survey = |(id, name)| {
        survey_family(&engine_path, id, name, None, Depth::Known, &mut |_, _| {}, &mut |_, _| {})
    };
    unknown.filter_map(survey).collect()
}

/// Returns the engine's numbers and names of the families, as far as they can be read.
pub(crate) fn engine_names(engine_path: &Path) -> BTreeMap<u64, String> {
    let folder = engine_path.join("keyspaces/0");
    let Ok(list) = sorted::read_list(&folder) else { return BTreeMap::new() };
    let mut newest: BTreeMap<u64, (u64, Option<String>)> = BTreeMap::new();
    for Listed { id, base_sequence, .. } in list.tables {
        let Ok(walk) = Walk::new(&sorted::table_path(&folder, id), base_sequence) else { continue };
        for entry in walk {
            let Some((b'n', number)) = entry.key.split_first().map(|(tag, rest)| (*tag, rest)) else {
                continue;
            };
            let Ok(number) = number.try_into().map(u64::from_be_bytes) else { continue };
            let name = entry.value.and_then(|name| String::from_utf8(name).ok());
            let known = newest.entry(number).or_insert((entry.sequence, name.clone()));
            if entry.sequence >= known.0 {
                *known = (entry.sequence, name);
            }
        }
    }
    newest.into_iter().filter_map(|(id, (_, name))| Some((id, name?))).collect()
}

fn survey_family(
    engine_path: &Path,
    id: u64,
    name: String,
    known: Option<&Family>,
    depth: Depth,
    find: &mut impl FnMut(String, String),
    progress: &mut dyn FnMut(&str, u64),
) -> Option<Family> {
    let folder = engine_path.join("keyspaces").join(id.to_string());
    let place = family_folder(id);
    let of_family =
        if id == 0 { "the engine's list of families".to_owned() } else { format!("family {name}") };
    let list = match sorted::read_list(&folder) {
        Ok(list) => list,
        Err((file, problem)) => {
            find(format!("{place}/{file}"), format!("{problem} ({of_family})"));
            return None;
        }
    };
    let mut family = Family { id, name, version: list.version, newest_sequence: None, tables: Vec::new() };
    for listed in list.tables {
        let path = sorted::table_path(&folder, listed.id);
        let file = format!("{place}/tables/{}", listed.id);
        let known = known.and_then(|family| {
            family.tables.iter().find(|table| (table.id, table.sum) == (listed.id, listed.sum))
        });
        match survey_table(&path, &listed, known, depth, &mut |bytes| progress(&file, bytes)) {
            Ok((table, newest_sequence)) => {
                family.newest_sequence = family.newest_sequence.max(Some(newest_sequence));
                family.tables.push(table);
            }
            Err(problem) => find(file, format!("{problem} ({of_family})")),
        }
    }
    Some(family)
}

fn survey_table(
    path: &Path,
    listed: &Listed,
    known: Option<&Table>,
    depth: Depth,
    progress: &mut dyn FnMut(u64),
) -> sorted::Readable<(Table, u64)> {
    let ending = sorted::read_ending(path)?;
    let table = Table { id: listed.id, sum: listed.sum, bytes: ending.bytes, tail_sum: ending.sum };
    match known {
        Some(known) if known.bytes != table.bytes => {
            return Err(format!("it has {} bytes, it must have {}", table.bytes, known.bytes));
        }
        Some(known) if known.tail_sum != table.tail_sum => {
            return Err("its end is not the one it had".to_owned());
        }
        _ => {}
    }
    if (depth == Depth::Everything || known.is_none()) && sorted::sum_of(path, progress)? != listed.sum {
        return Err("its content is not the one that was written: the sums differ".to_owned());
    }
    Ok((table, ending.newest_sequence.saturating_add(listed.base_sequence)))
}

/// Returns the newest group that the store's own records know of in sorted files.
fn flushed_record(engine_path: &Path, family: &Family) -> Option<u64> {
    let folder = engine_path.join("keyspaces").join(family.id.to_string());
    let list = sorted::read_list(&folder).ok()?;
    let walks = list
        .tables
        .iter()
        .filter_map(|listed| Walk::new(&sorted::table_path(&folder, listed.id), listed.base_sequence).ok());
    let newest =
        walks.flatten().filter(|entry| entry.key == records::GROUP).max_by_key(|entry| entry.sequence)?;
    newest.value?.try_into().ok().map(u64::from_be_bytes)
}
