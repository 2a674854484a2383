//! The loaded blog left up, for people to look at.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use armilla_client::Client;
use armilla_env::Env;

use super::phases::{catch_up, fill, many_threads};
use super::worker_process::end_signal;
use crate::options::BlogOptions;
use crate::place::Place;
use crate::progress::say;
use crate::shape::Shape;

/// Loads the blog and leaves it up until a signal.
pub(super) fn run(options: &BlogOptions, env: &Env) -> Result<ExitCode> {
    let mut place = Place::open(options, options.users)?;
    let served = many_threads()?.block_on(serve(options, &mut place, env));
    match (served, place.close()) {
        (Ok(()), Ok(())) => Ok(ExitCode::SUCCESS),
        (Err(error), _) | (Ok(()), Err(error)) => Err(error),
    }
}

async fn serve(options: &BlogOptions, place: &mut Place, env: &Env) -> Result<()> {
    let client = Client::new(place.options(), env.clone())?;
    let shape = Arc::new(Shape::new(options.seed, options.users));
    // Ended while it loads, it stops its server, too.
    let prepared = async {
        fill(options, &client, &shape, true, env).await?;
        catch_up(options, &client, &shape.totals(), env).await
    };
    let (workers, _) = tokio::select! {
        prepared = prepared => prepared?,
        signal = end_signal() => return signal,
    };
    let mut running = workers.start();
    let endpoint = place.options().endpoint.as_deref().context("a server of our own has an address")?;
    let explorer = format!("{}/_explorer/", endpoint.trim_end_matches('/'));
    let mut out = std::io::stdout();
    writeln!(
        out,
        "the blog is loaded in three versions, blog-v1, blog-v2 and blog-v3: open one of their containers of posts in the \
         explorer and run its saved queries to see what the same costs in each\nexplorer={explorer}"
    )
    .and_then(|()| out.flush())
    .context("cannot write to standard output")?;
    say("Ctrl-C ends it");
    tokio::select! {
        biased;
        signal = end_signal() => signal?,
        ended = running.failure() => {
            // People try things out: what workers cannot make sense of is no reason to take everything away from them.
            if let Err(error) = ended {
                say(&format!("copies are not kept in step any more: {error:#}"));
            }
            end_signal().await?;
        }
    }
    say("ending");
    // Ctrl-C in a terminal ends the server at the same time, which workers then miss. They go on where they were.
    if let Err(error) = running.stop().await {
        say(&format!("the workers did not end in good order: {error:#}"));
    }
    Ok(())
}
