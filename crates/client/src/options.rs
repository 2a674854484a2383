//! What can be told to the commands that ask a running server.

use std::path::PathBuf;

use clap::Args;

/// The port of the SQL API. The one the emulators use.
pub const PORT: u16 = 8081;

/// Which server, and with which key.
#[derive(Debug, Clone, Default, Args)]
pub struct ServerOptions {
    /// Address of the server [default: http://localhost:8081/]
    #[arg(long, env = "ARMILLA_ENDPOINT", value_name = "URL", help_heading = "Server")]
    pub endpoint: Option<String>,

    /// Account key in base64 [default: the well-known key of the emulators]
    ///
    /// Prefer ARMILLA_KEY: command lines can be read by every user of the machine.
    #[arg(long, env = "ARMILLA_KEY", value_name = "BASE64", hide_env_values = true, help_heading = "Server")]
    pub key: Option<String>,

    /// Certificate in PEM that the server must show; needed for https to another machine
    #[arg(long, env = "ARMILLA_CACERT", value_name = "FILE", help_heading = "Server")]
    pub cacert: Option<PathBuf>,

    /// TOML file of the server, for its key and port
    #[arg(long, env = "ARMILLA_CONFIG", value_name = "FILE", help_heading = "Server")]
    pub config: Option<PathBuf>,
}
