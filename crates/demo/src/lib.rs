//! `armilla demo`: a worked example, end to end.
//!
//! A blog platform in three versions of its data model, with users, posts, comments and likes from a seed. It is loaded
//! in bulk (`load`), kept in step by workers on change feeds (`workers`), left alone until the store has put it all away
//! (`settle`), measured as a client does it (`measure`), written to while the workers run (`live`), and compared copy by
//! copy (`check`). What is published stands in `figures`; what comes out is shown by `output`.
//!
//! Everything goes over HTTP: nothing here knows the inside of the server.

mod blog;
mod check;
mod dates;
mod fan;
mod figures;
mod guid;
mod items;
mod limits;
mod live;
mod load;
mod measure;
mod model;
mod options;
mod output;
mod place;
mod progress;
mod rows;
mod settle;
mod shape;
mod words;
mod workers;

use std::process::ExitCode;

use anyhow::Result;
use armilla_env::Env;

use options::Demo;
pub use options::DemoOptions;

/// Runs a demonstration.
pub fn run(options: &DemoOptions, env: Env) -> Result<ExitCode> {
    match &options.demo {
        Demo::Blog(options) => blog::run(options, &env),
        Demo::BlogWorker(options) => blog::work(options, &env),
    }
}
