//! The record of requests in a file: read at the start, written at the end.
//!
//! What cannot be read is left where it is and told: a record is no reason not to start, and none to lose what is in the
//! file.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use armilla_ledger::json::{from_value, to_value};
use armilla_ledger::{Ledger, Report};
use armilla_value::json;

/// Bytes of such a file, at most: more than a record can have.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Takes a record back that an earlier process has left, if there is one.
pub(super) fn take_back(path: &Path, ledger: &Ledger) -> Result<()> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(()) };
    if metadata.len() > FILE_BYTES_MAX {
        bail!("{} has more than {FILE_BYTES_MAX} bytes", path.display());
    }
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let value = json::parse(&text).map_err(|error| anyhow!("{} is no JSON: {error}", path.display()))?;
    let report = from_value(&value).map_err(|error| anyhow!("{} is no record: {error}", path.display()))?;
    ledger.restore(&report);
    Ok(())
}

/// Writes a record, as a whole or not at all.
pub(super) fn leave(path: &Path, report: &Report) -> Result<()> {
    let beside = path.with_extension("new");
    let text = json::to_string(&to_value(report));
    std::fs::write(&beside, text).with_context(|| format!("cannot write {}", beside.display()))?;
    std::fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_and_a_damaged_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.json");
        let ledger = Ledger::new();
        take_back(&path, &ledger).unwrap();
        leave(&path, &ledger.report(1_000)).unwrap();
        take_back(&path, &ledger).unwrap();
        for text in ["", "{", "[1]", "{\"since\":true}"] {
            std::fs::write(&path, text).unwrap();
            let error = take_back(&path, &ledger).unwrap_err().to_string();
            assert!(error.contains("requests.json"), "{error}");
        }
    }
}
