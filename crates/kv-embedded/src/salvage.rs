//! Saves what can be saved of a damaged store into a new one.
//!
//! Every entry of every sorted file and every whole batch of every journal is read, past whatever cannot be read; of each key
//! the newest state goes into the new store. The folder itself stays as it is.
//!
//! Nothing of this knows what the entries mean: that what is left agrees with itself is for a caller that does.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

use armilla_kv::{Durability, Error, ErrorKind, Family, Result, Store as _};
use fjall::Slice;

use crate::examine::{Examined, examine};
use crate::journal::{self, JournalReader};
use crate::keys::EngineOp;
use crate::limits::{OP_OVERHEAD_BYTES, SALVAGE_BATCH_BYTES};
use crate::manifest;
use crate::open::{self, Existing};
use crate::options::{KEYSPACE_NAMES, Options, RECORDS, RUN_KEYSPACES};
use crate::queue::Priority;
use crate::records;
use crate::runs::{self, Chunk, INDEX};
use crate::sorted::{self, Entry, Hole, Listed, Walk};
use crate::store::EmbeddedStore;
use crate::survey::{Depth, ENGINE_FOLDER, Finding, engine_names};

/// What became of a damaged store.
#[derive(Debug, Default)]
pub struct Salvaged {
    /// What was missing or damaged.
    pub findings: Vec<Finding>,
    /// Entries that the new store has.
    pub entries: u64,
    /// What could not be read.
    pub losses: Vec<Loss>,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The file, as seen from the store's folder.
    pub file: String,
    /// What could not be read of it.
    pub what: String,
    /// The family whose entries are lost, where it is one alone.
    pub family: Option<Family>,
    /// The last key before the gap and the first behind it, each with the eight bytes of its space in front.
    pub between: (Option<Vec<u8>>, Option<Vec<u8>>),
}

/// The newest state of keys, by the index of their family.
type Journaled = Vec<BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>>;

/// Reads what can be read in a folder into a new store in another. Returns nothing if the folder is whole, and then makes
/// none.
pub(crate) fn salvage(
    from: &Path,
    to: &Path,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<Option<Salvaged>> {
    let _lock = open::lock(from, Existing::Only)?;
    let findings = match examine(from, Depth::Everything, progress)? {
        Examined::Damaged(findings) => findings,
        Examined::New | Examined::Older(_) | Examined::Known(_) => return Ok(None),
    };
    let mut salvaged = Salvaged { findings, ..Salvaged::default() };
    let engine_path = from.join(ENGINE_FOLDER);
    let folders = family_folders(from, &engine_path, &mut salvaged);
    let mut journaled = read_journals(&engine_path, &folders, &mut salvaged);
    let options = Options { durability: Durability::Relaxed, ..Options::default() };
    let store = EmbeddedStore::open(to, options)?;
    let mut run_records: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for (index, name) in KEYSPACE_NAMES.iter().enumerate() {
        let mut sink = Sink { store: &store, family: index, ops: Vec::new(), bytes: 0, entries: 0 };
        let folder = folders.iter().find(|(_, found)| *found == index).map(|(id, _)| *id);
        let mut sources = Sources::default();
        if let Some(id) = folder {
            sources.add_tables(&engine_path, id, name, &mut salvaged.losses);
        }
        sources.journaled = std::mem::take(&mut journaled[index]).into_iter();
        if RUN_KEYSPACES.contains(&index) {
            sources.merge(|entry| {
                run_records.extend(runs::group_of(&entry.key).zip(entry.value));
                Ok(())
            })?;
        } else {
            sources.merge(|entry| sink.put(entry, &mut *progress))?;
        }
        sink.flush()?;
        salvaged.entries += sink.entries;
        let family = family_of(index);
        for (file, walk) in &sources.walks {
            salvaged.losses.extend(walk.holes.iter().map(|hole| loss(file, family, hole)));
        }
    }
    // Newer than whatever is in the index's own files.
    let mut sink = Sink { store: &store, family: INDEX, ops: Vec::new(), bytes: 0, entries: 0 };
    for (group, record) in run_records {
        match runs::record::read(&record) {
            Ok(chunk) => sink.put_chunk(&chunk, &mut *progress)?,
            Err(error) => salvaged.losses.push(Loss {
                file: ENGINE_FOLDER.to_owned(),
                what: format!("the index entries of group {group}: {error}"),
                family: Some(Family::Index),
                between: (None, None),
            }),
        }
    }
    sink.flush()?;
    salvaged.entries += sink.entries;
    store.close()?;
    Ok(Some(salvaged))
}

/// Returns whose entries are in a keyspace, where they are of one family alone.
fn family_of(keyspace: usize) -> Option<Family> {
    match keyspace {
        run if RUN_KEYSPACES.contains(&run) => Some(Family::Index),
        keyspace => Family::ALL.get(keyspace).copied(),
    }
}

fn loss(file: &str, family: Option<Family>, hole: &Hole) -> Loss {
    Loss {
        file: file.to_owned(),
        what: format!("bytes {} to {} cannot be read", hole.bytes.start, hole.bytes.end),
        family,
        between: (hole.after.clone(), hole.before.clone()),
    }
}

/// Returns which of the engine's folders holds which family, by whatever still says so.
fn family_folders(from: &Path, engine_path: &Path, salvaged: &mut Salvaged) -> Vec<(u64, usize)> {
    let index_of = |name: &str| KEYSPACE_NAMES.iter().position(|known| *known == name);
    if let Ok(Some(manifest)) = manifest::read(from)
        && !manifest.families.is_empty()
    {
        let known = manifest.families.iter().filter_map(|family| Some((family.id, index_of(&family.name)?)));
        return known.collect();
    }
    let names = engine_names(engine_path);
    let known: Vec<_> = names.iter().filter_map(|(id, name)| Some((*id, index_of(name)?))).collect();
    // An older program did not make those of runs.
    if known.len() + RUN_KEYSPACES.len() >= KEYSPACE_NAMES.len() {
        return known;
    }
    // They were made one after the other, and are numbered in that order.
    let mut ids: Vec<u64> = std::fs::read_dir(engine_path.join("keyspaces"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|id| *id != 0)
        .collect();
    ids.sort_unstable();
    salvaged.losses.push(Loss {
        file: format!("{ENGINE_FOLDER}/keyspaces/0"),
        what: "it does not say any more which family is which: they are taken in the order of their numbers"
            .to_owned(),
        family: None,
        between: (None, None),
    });
    ids.into_iter().enumerate().map(|(index, id)| (id, index)).take(KEYSPACE_NAMES.len()).collect()
}

/// Reads all batches of all journals that are whole, and notes the gaps between them.
fn read_journals(engine_path: &Path, folders: &[(u64, usize)], salvaged: &mut Salvaged) -> Journaled {
    let mut journaled: Journaled = vec![BTreeMap::new(); KEYSPACE_NAMES.len()];
    let mut newest: Option<journal::BatchFound> = None;
    for (id, path) in journal::list(engine_path).unwrap_or_default() {
        let file = format!("{ENGINE_FOLDER}/{id}.jnl");
        if let Err(error) =
            read_journal(&path, &file, folders, &mut newest, &mut journaled, &mut salvaged.losses)
        {
            salvaged.losses.push(Loss {
                file,
                what: sorted::said(error),
                family: None,
                between: (None, None),
            });
        }
    }
    journaled
}

fn read_journal(
    path: &Path,
    file: &str,
    folders: &[(u64, usize)],
    newest: &mut Option<journal::BatchFound>,
    journaled: &mut Journaled,
    losses: &mut Vec<Loss>,
) -> std::io::Result<()> {
    let mut reader = JournalReader::open(path)?;
    loop {
        let start = reader.end_of_batches();
        let Some(batch) = reader.next_batch(*newest)? else {
            let end = reader.end_of_batches();
            if reader.is_zero_from(end)? {
                return Ok(());
            }
            let mut note = |what: String| {
                losses.push(Loss { file: file.to_owned(), what, family: None, between: (None, None) });
            };
            match reader.find_batch_after(end, *newest)? {
                Some(found) => {
                    note(format!("bytes {end} to {found} cannot be read"));
                    reader.skip_to(found)?;
                    continue;
                }
                None => {
                    note(format!("what follows byte {end} cannot be read"));
                    return Ok(());
                }
            }
        };
        if let Some(before) = newest.filter(|before| before.group + 1 != batch.group) {
            losses.push(Loss {
                file: file.to_owned(),
                what: format!("groups {} to {} of commits are missing", before.group + 1, batch.group - 1),
                family: None,
                between: (None, None),
            });
        }
        *newest = Some(batch);
        for change in reader.changes(start..reader.end_of_batches())? {
            let Some((_, index)) = folders.iter().find(|(id, _)| *id == change.family) else { continue };
            journaled[*index].insert(change.key, (batch.sequence, change.value));
        }
    }
}

/// A state of a key, the newest first: key, sequence number, where it comes from, value.
type Candidate = (Vec<u8>, Reverse<u64>, usize, Option<Vec<u8>>);

/// Everything that is known of one family, in the order of its keys.
#[derive(Default)]
struct Sources {
    walks: Vec<(String, Walk)>,
    journaled: std::collections::btree_map::IntoIter<Vec<u8>, (u64, Option<Vec<u8>>)>,
}

impl Sources {
    fn add_tables(&mut self, engine_path: &Path, id: u64, name: &str, losses: &mut Vec<Loss>) {
        let folder = engine_path.join("keyspaces").join(id.to_string());
        let place = format!("{ENGINE_FOLDER}/keyspaces/{id}");
        let family = KEYSPACE_NAMES.iter().position(|known| *known == name).and_then(family_of);
        let mut note = |file: String, what: String| {
            losses.push(Loss { file, what, family, between: (None, None) });
        };
        let listed = match sorted::read_list(&folder) {
            Ok(list) => list.tables,
            Err((file, problem)) => match newest_list(&folder) {
                Some((found, mut tables)) => {
                    note(
                        format!("{place}/{file}"),
                        format!(
                            "{problem}: the list {found} is taken in its place, with the sorted files behind it"
                        ),
                    );
                    // What was written after that list is in files that it does not name.
                    let newest = tables.iter().map(|table| table.id).max();
                    tables.extend(all_tables(&folder).into_iter().filter(|table| Some(table.id) > newest));
                    tables
                }
                None => {
                    note(
                        format!("{place}/{file}"),
                        format!(
                            "{problem}: all sorted files of family {name} are taken, so what was removed may be back"
                        ),
                    );
                    all_tables(&folder)
                }
            },
        };
        for Listed { id, base_sequence, .. } in listed {
            let file = format!("{place}/tables/{id}");
            match Walk::new(&sorted::table_path(&folder, id), base_sequence) {
                Ok(walk) => self.walks.push((file, walk)),
                Err(problem) => note(file, problem),
            }
        }
    }

    /// Calls `each` with the newest state of every key that is there.
    fn merge(&mut self, mut each: impl FnMut(Entry) -> Result<()>) -> Result<()> {
        let mut heap: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        let journal = self.walks.len();
        let next = |sources: &mut Sources, from: usize| {
            let entry = match sources.walks.get_mut(from) {
                Some((_, walk)) => walk.next(),
                None => {
                    sources.journaled.next().map(|(key, (sequence, value))| Entry { key, sequence, value })
                }
            };
            entry.map(|Entry { key, sequence, value }| Reverse((key, Reverse(sequence), from, value)))
        };
        for from in 0..=journal {
            heap.extend(next(self, from));
        }
        let mut last: Option<Vec<u8>> = None;
        while let Some(Reverse((key, Reverse(sequence), from, value))) = heap.pop() {
            heap.extend(next(self, from));
            // The newest comes first.
            if last.as_ref() == Some(&key) {
                continue;
            }
            last = Some(key.clone());
            if value.is_some() {
                each(Entry { key, sequence, value })?;
            }
        }
        Ok(())
    }
}

/// Returns the newest list that can be read, where nothing says any more which is the newest.
fn newest_list(folder: &Path) -> Option<(String, Vec<Listed>)> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut versions: Vec<u64> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix('v')?.parse().ok())
        .collect();
    versions.sort_unstable();
    versions.into_iter().rev().find_map(|version| {
        let name = format!("v{version}");
        Some((name.clone(), sorted::read_unnamed_list(&folder.join(&name)).ok()?))
    })
}

fn all_tables(folder: &Path) -> Vec<Listed> {
    let entries = std::fs::read_dir(folder.join("tables")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .map(|id| Listed { id, sum: 0, base_sequence: 0 })
        .collect()
}

/// Writes entries of one family into the new store.
struct Sink<'a> {
    store: &'a EmbeddedStore,
    family: usize,
    ops: Vec<EngineOp>,
    bytes: usize,
    entries: u64,
}

impl Sink<'_> {
    fn put(&mut self, entry: Entry, progress: &mut dyn FnMut(&str, u64)) -> Result<()> {
        // The new store counts its own groups.
        if self.family == RECORDS && entry.key == records::GROUP {
            return Ok(());
        }
        self.add(entry.key.into(), Some(entry.value.unwrap_or_default().into()), progress)
    }

    /// Writes what a record of index entries says.
    fn put_chunk(&mut self, chunk: &Chunk, progress: &mut dyn FnMut(&str, u64)) -> Result<()> {
        for (key, value) in (0..chunk.len()).map(|at| chunk.shared_entry(at)) {
            self.add(key.into(), value.map(Slice::from), progress)?;
        }
        Ok(())
    }

    fn add(&mut self, key: Slice, value: Option<Slice>, progress: &mut dyn FnMut(&str, u64)) -> Result<()> {
        self.bytes += key.len() + value.as_ref().map_or(0, |value| value.len()) + OP_OVERHEAD_BYTES;
        self.entries += u64::from(value.is_some());
        self.ops.push(EngineOp { keyspace: self.family, key, value });
        if self.bytes >= SALVAGE_BATCH_BYTES {
            progress(KEYSPACE_NAMES[self.family], self.bytes as u64);
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.ops.is_empty() {
            return Ok(());
        }
        let ops = std::mem::take(&mut self.ops);
        let bytes = std::mem::take(&mut self.bytes);
        self.store
            .write_raw(Priority::Client, ops, bytes)
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot write to the new store: {error}")))
    }
}
