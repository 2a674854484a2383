//! What can be told to `armilla backup` and `armilla restore`.

use std::path::PathBuf;

use armilla_client::ServerOptions;
use clap::{Args, Subcommand};

/// Everything that can be set when backing up.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BackupOptions {
    #[command(subcommand)]
    pub(crate) command: Option<BackupCommand>,

    #[command(flatten)]
    pub(crate) take: TakeOptions,
}

/// What to do with backups that there are.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Read every byte of backups and compare
    Verify(VerifyOptions),
    /// Show the backups of a folder
    List(ListOptions),
    /// Remove all but the newest backups of a folder, and what only the others needed
    Prune(PruneOptions),
}

/// Everything that can be set when taking a backup.
#[derive(Debug, Args)]
pub(crate) struct TakeOptions {
    /// Folder of backups, on this machine; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: Option<PathBuf>,

    // No conflict with the options of the server: they may be in the environment for good.
    /// Data folder to back up that no server uses, instead of asking a server
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Most megabytes to read in a second, to leave the disk to others [default: no limit]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) megabytes_per_second: Option<u64>,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be set when verifying backups.
#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// Folder of backups
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Only this backup [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) backup: Option<String>,
}

/// Everything that can be set when listing backups.
#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Folder of backups
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// Everything that can be set when removing backups.
#[derive(Debug, Args)]
pub(crate) struct PruneOptions {
    /// Folder of backups
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// How many backups to keep, the newest ones
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: u32,
}

/// Everything that can be set when restoring.
#[derive(Debug, Args)]
pub(crate) struct RestoreOptions {
    /// Folder of backups
    #[arg(long, value_name = "FOLDER")]
    pub(crate) from: PathBuf,

    /// Backup to restore [default: the newest]
    #[arg(long, value_name = "NAME")]
    pub(crate) backup: Option<String>,

    /// Data folder to make: empty, or not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: PathBuf,
}
