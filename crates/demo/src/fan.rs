//! Several connections that work through a list together, as an application awaits requests together.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use armilla_client::{Client, Session};
use tokio::task::JoinSet;

/// What is done with one job over one connection.
pub(crate) type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Several connections.
pub(crate) struct Fan {
    client: Client,
    sessions: Vec<Session>,
    width: usize,
}

impl Fan {
    /// Opens connections when they are needed, at most so many.
    pub(crate) fn new(client: &Client, width: usize) -> Fan {
        Fan { client: client.clone(), sessions: Vec::new(), width: width.max(1) }
    }

    /// Returns one connection, for what is done one after the other.
    pub(crate) fn one(&mut self) -> &mut Session {
        if self.sessions.is_empty() {
            self.sessions.push(self.client.session());
        }
        &mut self.sessions[0]
    }

    /// Does all jobs and returns what each gave, in their order. After a failure no further job is begun.
    pub(crate) async fn each<J, T, F>(&mut self, jobs: Vec<J>, act: F) -> Result<Vec<T>>
    where
        J: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'a> Fn(&'a mut Session, &'a J) -> Doing<'a, T> + Clone + Send + 'static,
    {
        if jobs.len() <= 1 {
            let mut results = Vec::with_capacity(jobs.len());
            for job in &jobs {
                results.push(act(self.one(), job).await?);
            }
            return Ok(results);
        }
        let lanes = self.width.min(jobs.len());
        let mut results: Vec<Option<T>> = Vec::new();
        results.resize_with(jobs.len(), || None);
        let (jobs, next) = (Arc::new(jobs), Arc::new(AtomicUsize::new(0)));
        let mut tasks = JoinSet::new();
        for _ in 0..lanes {
            let mut session = self.sessions.pop().unwrap_or_else(|| self.client.session());
            let (jobs, next, act) = (jobs.clone(), next.clone(), act.clone());
            tasks.spawn(async move {
                let mut done = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return Ok((session, done)) };
                    match act(&mut session, job).await {
                        Ok(result) => done.push((index, result)),
                        Err(error) => {
                            next.store(jobs.len(), Ordering::Relaxed);
                            return Err(error);
                        }
                    }
                }
            });
        }
        let mut failure = None;
        while let Some(ended) = tasks.join_next().await {
            match ended.context("a task ended early")? {
                Ok((session, done)) => {
                    self.sessions.push(session);
                    for (index, result) in done {
                        results[index] = Some(result);
                    }
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(results.into_iter().flatten().collect()),
        }
    }
}
