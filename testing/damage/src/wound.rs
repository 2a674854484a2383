//! What is done to a folder: one file of it deleted, cut, zeroed, changed, or replaced.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use armilla_env::Random;

use crate::folder;
use crate::world::World;

/// Bytes of a disk that are lost together.
const SECTOR_BYTES: u64 = 512;

/// Damages one file of a folder that is a copy of a world's. The number of the case says which file and how, so that every
/// file comes round in every way; the rest is drawn. Returns what was done.
pub(crate) fn inflict(world: &World, at: &Path, case: u64, random: &mut Random) -> Result<String> {
    let count = world.files.len() as u64;
    let name = &world.files[(case % count) as usize];
    let path = at.join(name);
    let shown = format!("{} of {}", name.display(), world.name);
    // Files come round one after the other, so ways must not keep step with them.
    let mut way = case / count + case;
    loop {
        way += 1;
        let done = match way % 9 {
            0 => delete(&path)?,
            1 | 2 => cut(&path, random)?,
            3 => zero(&path, random)?,
            4 | 5 => flip(&path, random)?,
            6 => older(world, name, &path)?,
            7 => exchange(world, name, at, random)?,
            _ => delete_folder(world, at, random)?,
        };
        if let Some(done) = done {
            return Ok(format!("{shown}: {done}"));
        }
        if way > case / count + case + 20 {
            bail!("nothing can be done to {shown}");
        }
    }
}

fn delete(path: &Path) -> Result<Option<String>> {
    fs::remove_file(path)?;
    Ok(Some("deleted".to_owned()))
}

fn cut(path: &Path, random: &mut Random) -> Result<Option<String>> {
    let content = folder::content_bytes(path)?;
    if content == 0 {
        return Ok(None);
    }
    let to = match random.below(6) {
        0 => 0,
        1 => content - 1,
        2 => content / 2,
        3 => content.saturating_sub(random.below(200)),
        _ => random.below(content),
    };
    File::options().write(true).open(path)?.set_len(to)?;
    Ok(Some(format!("cut to {to} of {content} bytes")))
}

fn zero(path: &Path, random: &mut Random) -> Result<Option<String>> {
    let content = folder::content_bytes(path)?;
    if content == 0 {
        return Ok(None);
    }
    let range = match random.below(3) {
        0 => 0..content,
        1 => content.saturating_sub(SECTOR_BYTES)..content,
        _ => {
            let start = random.below(content) / SECTOR_BYTES * SECTOR_BYTES;
            start..(start + SECTOR_BYTES).min(content)
        }
    };
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    file.write_all(&vec![0; usize::try_from(range.end - range.start)?])?;
    Ok(Some(format!("bytes {} to {} of {content} zeroed", range.start, range.end)))
}

fn flip(path: &Path, random: &mut Random) -> Result<Option<String>> {
    let content = folder::content_bytes(path)?;
    let length = fs::metadata(path)?.len();
    if length == 0 {
        return Ok(None);
    }
    // Seldom in the zeros behind what a journal holds; often near its end, where the newest commits are.
    let at = match random.below(10) {
        _ if content == 0 => random.below(length),
        0 => random.below(length),
        1..=3 => content - 1 - random.below(content.min(2_000)),
        _ => random.below(content),
    };
    let bit = random.below(8);
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut byte = [0];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut byte)?;
    byte[0] ^= 1 << bit;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(&byte)?;
    Ok(Some(format!("bit {bit} of byte {at} of {content} changed")))
}

fn older(world: &World, name: &Path, path: &Path) -> Result<Option<String>> {
    for (stage, older) in world.older.iter().enumerate() {
        let other = older.join(name);
        if other.is_file() && fs::read(&other)? != fs::read(path)? {
            fs::remove_file(path)?;
            folder::copy_file(&other, path)?;
            return Ok(Some(format!("replaced by its older copy of stage {stage}")));
        }
    }
    Ok(None)
}

fn exchange(world: &World, name: &Path, at: &Path, random: &mut Random) -> Result<Option<String>> {
    let mut alike: Vec<&PathBuf> = world.files.iter().filter(|other| kind(other) == kind(name)).collect();
    alike.retain(|other| other.as_path() != name);
    if alike.is_empty() {
        return Ok(None);
    }
    let other = alike[random.index(alike.len())];
    let (one, two, between) = (at.join(name), at.join(other), at.with_extension("between"));
    if fs::read(&one)? == fs::read(&two)? {
        return Ok(None);
    }
    fs::rename(&one, &between)?;
    fs::rename(&two, &one)?;
    fs::rename(&between, &two)?;
    Ok(Some(format!("exchanged with {}", other.display())))
}

/// Returns what kind of file this is, so that two of a kind can be mistaken for each other.
fn kind(name: &Path) -> String {
    let last = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_numbered = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    if is_numbered {
        "a sorted file".to_owned()
    } else if last.strip_prefix('v').is_some_and(|rest| rest.parse::<u64>().is_ok()) {
        "a list".to_owned()
    } else if let Some((_, extension)) = last.rsplit_once('.') {
        extension.to_owned()
    } else {
        last
    }
}

fn delete_folder(world: &World, at: &Path, random: &mut Random) -> Result<Option<String>> {
    // Seldom: they are few.
    if world.folders.is_empty() || !random.percent(25) {
        return Ok(None);
    }
    let name = &world.folders[random.index(world.folders.len())];
    fs::remove_dir_all(at.join(name))?;
    Ok(Some(format!("the folder {} deleted instead", name.display())))
}
