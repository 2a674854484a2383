//! Puts the built page, which lies in `explorer/dist`, into the program: each file compressed, in a table by its path.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};

const DIST: &str = "../../explorer/dist";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={DIST}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(DIST);
    let out =
        PathBuf::from(std::env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("there is no OUT_DIR"))?);
    let mut files = Vec::new();
    collect(&folder, "", &mut files)?;
    // In the order of their paths, whatever order the folder has.
    files.sort();
    let mut table = "pub(crate) static FILES: &[File] = &[\n".to_owned();
    for (number, path) in files.iter().enumerate() {
        let content = fs::read(folder.join(path))?;
        let compressed = out.join(format!("{number}.gz"));
        // Without a time, so that the same page makes the same program.
        let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        encoder.write_all(&content)?;
        fs::write(&compressed, encoder.finish()?)?;
        table.push_str(&format!("    File {{ path: {path:?}, gzip: include_bytes!({compressed:?}) }},\n"));
    }
    table.push_str("];\n");
    fs::write(out.join("files.rs"), table)
}

fn collect(folder: &Path, below: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name =
            entry.file_name().into_string().map_err(|_| io::Error::other("a file's name is not UTF-8"))?;
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
