//! Reads the configuration file.
//!
//! The file is TOML with the options of the command line as top-level keys. A key that is not an option
//! is an error: a misspelt option that is silently ignored is worse than none.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::limits::CONFIG_FILE_BYTES_MAX;
use crate::settings::options::Options;

/// Reads the options in a file.
pub(crate) fn read(path: &Path) -> Result<Options> {
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(CONFIG_FILE_BYTES_MAX + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read the configuration file {}", path.display()))?;
    if text.len() as u64 > CONFIG_FILE_BYTES_MAX {
        bail!("configuration file {} is larger than {CONFIG_FILE_BYTES_MAX} bytes", path.display());
    }
    parse(&text).map_err(|message| anyhow::anyhow!("configuration file {}, {message}", path.display()))
}

/// Parses options; the error is one line that names the line and the key.
fn parse(text: &str) -> std::result::Result<Options, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line_number = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        let line = text.lines().nth(line_number - 1).unwrap_or_default();
        let message = error.message().replace('\n', " ");
        match line.split_once('=') {
            Some((key, _)) if !message.contains(key.trim()) => {
                format!("line {line_number}, key `{}`: {message}", key.trim())
            }
            _ => format!("line {line_number}: {message}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_files() {
        let options = parse("# ours\nport = 9000\ndata-dir = \"/tmp/x\"\nmemory = false\n").unwrap();
        assert_eq!(options.port, Some(9000));
        assert_eq!(options.data_dir.unwrap(), Path::new("/tmp/x"));
        assert_eq!(options.memory, Some(false));
        assert_eq!(options.bind, None);
        assert_eq!(parse("").unwrap().port, None);
    }

    #[test]
    fn mistakes_name_line_and_key() {
        for (text, line, word) in [
            ("port = 1\nprot = 2\n", "line 2", "`prot`"),
            ("\n\n\nconfig = \"x\"", "line 4", "`config`"),
            ("port = 70000", "line 1", "`port`"),
            ("table-port = 70000", "line 1", "`table-port`"),
            ("\nstorage-table-port = \"on\"", "line 2", "0 to 65535, or off"),
            ("memory = \"maybe\"", "line 1", "`memory`"),
            ("\ndurability = \"perhaps\"", "line 2", "`perhaps`"),
            ("cross-partition-queries = \"both\"", "line 1", "`both`"),
            ("bind = \"localhorst\"", "line 1", "`bind`"),
            ("port = 1\nport = 2", "line 2", "port"),
            ("port 1", "line 1", ""),
            ("[section]\nport = 1", "line 1", "`section`"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.starts_with(line), "{text:?}: {message}");
            assert!(message.contains(word), "{text:?}: {message}");
            assert!(!message.contains('\n'), "{text:?}: {message}");
        }
    }
}
