//! The bytes of the input: from a file or standard input, decompressed where they are gzip.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;

use crate::limits::READ_BYTES;
use crate::options::Choice;

/// What gzip begins with.
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The mark that some programs put before UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// An input that is open.
pub(crate) struct Input {
    /// Its bytes, decompressed, without a byte-order mark.
    pub(crate) bytes: Box<dyn Read + Send>,
    /// How far the file is read, in its own bytes.
    pub(crate) read: Arc<AtomicU64>,
    /// How many bytes the file has, if it is one.
    pub(crate) length: Option<u64>,
}

/// Opens a file; `-` is standard input.
pub(crate) fn open(path: &Path, gzip: Choice) -> Result<Input> {
    if path == Path::new("-") {
        return Input::new(io::stdin(), None, gzip).context("cannot read standard input");
    }
    let cannot = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    let about = file.metadata().with_context(cannot)?;
    if about.is_dir() {
        bail!("{}: it is a folder", cannot());
    }
    Input::new(file, about.is_file().then_some(about.len()), gzip).with_context(cannot)
}

impl Input {
    fn new(source: impl Read + Send + 'static, length: Option<u64>, gzip: Choice) -> Result<Input> {
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { source, read: read.clone() };
        let (start, rest) = peeked(counted, GZIP_MAGIC.len())?;
        let is_gzip = match gzip {
            Choice::On => true,
            Choice::Off => false,
            Choice::Auto => start == GZIP_MAGIC,
        };
        let raw = BufReader::with_capacity(READ_BYTES, Cursor::new(start).chain(rest));
        let bytes: Box<dyn Read + Send> = match is_gzip {
            // A file may be several that were put behind each other.
            true => Box::new(without_mark(MultiGzDecoder::new(raw))?),
            false => Box::new(without_mark(raw)?),
        };
        Ok(Input { bytes, read, length })
    }
}

/// Returns the first bytes, as many as there are up to `count`, and what follows them.
fn peeked<R: Read>(mut source: R, count: usize) -> io::Result<(Vec<u8>, R)> {
    let mut start = Vec::with_capacity(count);
    source.by_ref().take(count as u64).read_to_end(&mut start)?;
    Ok((start, source))
}

/// Returns bytes from the beginning, as many as have to be read until there are enough, and what follows them.
///
/// More are not waited for: a pipe may give few at a time.
pub(crate) fn first_bytes<R: Read>(
    mut source: R,
    bytes_max: usize,
    is_enough: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, R)> {
    let mut start = vec![0; bytes_max];
    let mut length = 0;
    while length < bytes_max && !is_enough(&start[..length]) {
        match source.read(&mut start[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    start.truncate(length);
    Ok((start, source))
}

fn without_mark<R: Read + Send>(source: R) -> io::Result<impl Read + Send> {
    let (start, rest) = peeked(source, BYTE_ORDER_MARK.len())?;
    let start = if start == BYTE_ORDER_MARK { Vec::new() } else { start };
    Ok(Cursor::new(start).chain(rest))
}

/// Counts what is read.
struct Counted<R> {
    source: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn text(bytes: Vec<u8>, gzip: Choice) -> Result<Vec<u8>> {
        let mut input = Input::new(Cursor::new(bytes), None, gzip)?;
        let mut text = Vec::new();
        input.bytes.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn gzip_is_told_by_its_first_bytes() {
        let twice = [gzipped(b"one\n"), gzipped(b"two\n")].concat();
        for (bytes, gzip, expected) in [
            (b"plain".to_vec(), Choice::Auto, &b"plain"[..]),
            (Vec::new(), Choice::Auto, b""),
            (b"x".to_vec(), Choice::Auto, b"x"),
            (gzipped(b"text"), Choice::Auto, b"text"),
            (gzipped(b"text"), Choice::On, b"text"),
            (twice, Choice::Auto, b"one\ntwo\n"),
            (GZIP_MAGIC.to_vec(), Choice::Off, &GZIP_MAGIC),
            (b"\xEF\xBB\xBF{}".to_vec(), Choice::Auto, b"{}"),
            (gzipped(b"\xEF\xBB\xBF{}"), Choice::Auto, b"{}"),
            (b"\xEF\xBB".to_vec(), Choice::Auto, b"\xEF\xBB"),
        ] {
            assert_eq!(text(bytes, gzip).unwrap(), expected);
        }
        let mut cut = gzipped(&vec![b'x'; 10_000]);
        cut.truncate(cut.len() - 4);
        assert!(text(cut, Choice::Auto).is_err());
        assert!(text(b"plain".to_vec(), Choice::On).is_err());
    }

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        let mut input = open(&path, Choice::Auto).unwrap();
        assert_eq!(input.length, Some(3));
        io::copy(&mut input.bytes, &mut io::sink()).unwrap();
        assert_eq!(input.read.load(Ordering::Relaxed), 3);
        assert!(format!("{:#}", open(folder.path(), Choice::Auto).err().unwrap()).contains("folder"));
        assert!(open(&folder.path().join("none"), Choice::Auto).is_err());
    }
}
