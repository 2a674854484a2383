//! Where a run takes its server program from, and where it leaves data and figures: options that commands share.

use std::path::PathBuf;

use anyhow::{Context, Result};
use armilla_value::{Value, json};
use clap::Args;

/// The program, the folder and the file of a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// The server program [default: armilla beside this program]
    #[arg(long)]
    pub(crate) bin: Option<PathBuf>,
    /// Folder in which data folders are made; must be on a disk [default: the system's for temporary files]
    #[arg(long)]
    pub(crate) dir: Option<PathBuf>,
    /// A further argument for the server; may be repeated
    #[arg(long = "server-arg", allow_hyphen_values = true)]
    pub(crate) server_arguments: Vec<String>,
    /// File for the figures as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

impl Place {
    /// Returns a place with a folder and a file alone, for what needs no server.
    pub(crate) fn without_server(dir: Option<PathBuf>, json: Option<PathBuf>) -> Place {
        Place { bin: None, dir, server_arguments: Vec::new(), json }
    }

    /// Writes the figures, if there is a file for them.
    pub(crate) fn write_figures(&self, figures: &Value) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        std::fs::write(path, json::to_string(figures) + "\n")
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_go_where_they_are_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures");
        Place::without_server(None, None).write_figures(&Value::Null).unwrap();
        Place::without_server(None, Some(path.clone())).write_figures(&Value::from(7i64)).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "7\n");
        let nowhere = folder.path().join("no").join("figures");
        assert!(Place::without_server(None, Some(nowhere)).write_figures(&Value::Null).is_err());
    }
}
