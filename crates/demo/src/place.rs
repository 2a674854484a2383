//! The server that a demonstration runs against: one that is there, or one of our own.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use armilla_client::ServerOptions;
use armilla_client::child::Child;

use crate::limits::{USERS_FEW_MAX, WRITE_BUFFER_MB, WRITE_BUFFER_MB_OF_FEW};
use crate::options::BlogOptions;

/// A server.
pub(crate) struct Place {
    options: ServerOptions,
    child: Option<Child>,
    /// Removed in the end, with everything in it.
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    /// Takes the server that was named, or starts one.
    pub(crate) fn open(options: &BlogOptions, users: u32) -> Result<Place> {
        if options.server.endpoint.is_some() || options.server.config.is_some() {
            return Ok(Place { options: options.server.clone(), child: None, _folder: None });
        }
        let (path, folder) = folder(options, users)?;
        let mut arguments = vec!["--data-dir".into(), path.into_os_string()];
        let megabytes = if users <= USERS_FEW_MAX { WRITE_BUFFER_MB_OF_FEW } else { WRITE_BUFFER_MB };
        arguments.extend(["--write-buffer-mb".into(), megabytes.to_string().into()]);
        // What is measured is what an operation costs, not what it may.
        arguments.extend(["--throttle".into(), "off".into()]);
        if options.relaxed {
            arguments.extend(["--durability".into(), "relaxed".into()]);
        }
        let child = Child::start(&arguments)?;
        Ok(Place { options: child.plain_server_options(), child: Some(child), _folder: folder })
    }

    /// Returns how to reach it.
    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// Returns the server if it is our own.
    pub(crate) fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }

    /// Stops the server if it is our own.
    pub(crate) fn close(mut self) -> Result<()> {
        match &mut self.child {
            Some(child) => child.stop(),
            None => Ok(()),
        }
    }
}

fn folder(options: &BlogOptions, users: u32) -> Result<(PathBuf, Option<tempfile::TempDir>)> {
    if let Some(path) = &options.data_dir {
        let own = if options.scale.is_empty() { path.clone() } else { path.join(users.to_string()) };
        return Ok((own, None));
    }
    let folder = tempfile::Builder::new()
        .prefix("armilla-demo-")
        .tempdir()
        .context("cannot make a temporary folder")?;
    if options.keep {
        let path = folder.keep();
        crate::progress::say(&format!("the data stays in {}", Path::new(&path).display()));
        return Ok((path, None));
    }
    Ok((folder.path().to_owned(), Some(folder)))
}
