//! The properties of the service: what clients set for logging, metrics and web pages.
//!
//! Logging and metrics are kept and shown and have no other effect; the rules for web pages are followed (`cors`).

use std::sync::Arc;

use armilla_engine::{Engine, Error};
use armilla_env::Env;
use tokio::sync::Mutex;

use crate::settings::Settings;
use crate::xml::{PropertiesChange, ServiceProperties, read_properties, write_properties};

const SETTING_ID: &str = "service-properties";

/// The properties of the service.
pub(crate) struct Properties {
    settings: Settings<ServiceProperties>,
    /// A change is read, changed, written: one at a time.
    change: Mutex<()>,
}

impl Properties {
    /// Returns the properties that an engine keeps.
    pub(crate) fn new(engine: Engine, env: Env) -> Properties {
        let parse = |text: &str| {
            let stored = read_properties(text.as_bytes()).ok()?;
            Some(stored.applied_to(&ServiceProperties::default()))
        };
        Properties { settings: Settings::new(engine, env, parse), change: Mutex::new(()) }
    }

    /// Reads the properties.
    pub(crate) fn read(&self) -> Result<Arc<ServiceProperties>, Error> {
        self.settings.read(SETTING_ID)
    }

    /// Changes the properties.
    pub(crate) async fn write(&self, change: PropertiesChange) -> Result<(), Error> {
        let _one_at_a_time = self.change.lock().await;
        let properties = change.applied_to(&*self.read()?);
        let text = String::from_utf8_lossy(&write_properties(&properties, false)).into_owned();
        self.settings.write(SETTING_ID, text, properties).await
    }
}

#[cfg(test)]
mod tests;
