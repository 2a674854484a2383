//! Prints effective partition keys: reads lines `version<TAB>partition key as JSON` from standard input, where
//! the version is `v1`, `v2` or `multi`, and prints the upper-case hexadecimal key of each.

use std::error::Error;
use std::io::{self, BufRead, Write};

use armilla_value::{HashVersion, PartitionKey, hashed_key};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for (index, line) in io::stdin().lock().lines().enumerate() {
        let key = effective_partition_key(&line?).map_err(|error| format!("line {}: {error}", index + 1))?;
        writeln!(out, "{key}")?;
    }
    Ok(())
}

fn effective_partition_key(line: &str) -> Result<String, Box<dyn Error>> {
    let (version, key) = line.split_once('\t').ok_or("expected a tab after the version")?;
    let version = match version {
        "v1" => HashVersion::V1,
        "v2" => HashVersion::V2,
        "multi" => HashVersion::MultiHash,
        _ => return Err("expected version v1, v2 or multi".into()),
    };
    Ok(hashed_key(&PartitionKey::from_json(key.as_bytes())?, version).to_hex())
}
