//! What a client takes from the configuration file of a server: its port and its key.
//!
//! Not here: everything else in the file, which the server itself checks.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;

use crate::limits::CONFIG_FILE_BYTES_MAX;

/// How to reach a server, as its file says.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Config {
    pub(crate) port: Option<u16>,
    pub(crate) key: Option<String>,
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Config> {
    let name = path.display();
    let text = bounded(path, CONFIG_FILE_BYTES_MAX)
        .with_context(|| format!("cannot read the configuration file {name}"))?;
    let text = String::from_utf8(text)
        .map_err(|error| anyhow!("configuration file {name} is not UTF-8: {error}"))?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("configuration file {name}, line {line}: {}", error.message().replace('\n', " "))
    })
}

/// Reads a file that has no more than so many bytes.
pub(crate) fn bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        bail!("it is larger than {bytes_max} bytes");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("armilla.toml");
        std::fs::write(&path, "bind = \"::1\"\nport = 9000\nkey = \"AAAA\"\n").unwrap();
        let config = read(&path).unwrap();
        assert_eq!((config.port, config.key.as_deref()), (Some(9_000), Some("AAAA")));
        for (text, expected) in [
            (&b"\nport = \"x\""[..], "line 2: "),
            (b"port = 65536", "line 1: "),
            (b"[", "line 1: "),
            (b"\xFF", "not UTF-8"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", read(&path).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn files_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [b'x'; 8]).unwrap();
        assert_eq!(bounded(&path, 8).unwrap().len(), 8);
        assert!(bounded(&path, 7).unwrap_err().to_string().contains("larger than 7 bytes"));
    }
}
