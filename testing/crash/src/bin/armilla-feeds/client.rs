//! A history's way to the server, which is killed and started again under it.
//!
//! Several requests are sent at once, each on a connection of its own. An answer comes, or the server went: then nobody
//! knows what became of the request. A connection that breaks while the server should live is a fault.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_crash::http_client::{Connection, Reply};
use armilla_crash::requests::{Composer, Target};
use armilla_env::Env;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The database that all histories have their containers in.
pub(crate) const DATABASE: &str = "feeds";

/// Longest time until an answer, and until a killed server is back, with a check of its folder in between.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const RETURN_TIMEOUT: Duration = Duration::from_secs(180);

/// Whether there is a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// It is about to be ended, or is not back yet.
    Down,
    /// It must answer.
    Up {
        /// How often it was started.
        life: u64,
        address: SocketAddr,
    },
}

/// Why a history ends early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// Something is not as it must be.
    Wrong(String),
    /// The run ends.
    Over,
}

impl From<String> for Halt {
    fn from(wrong: String) -> Halt {
        Halt::Wrong(wrong)
    }
}

/// An answer, taken off its connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) sub_status: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) item_count: Option<usize>,
    pub(crate) body: Vec<u8>,
    /// The seconds between which it was given.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// When it came, on the clock of elapsed time.
    pub(crate) came_after: Duration,
}

impl Answer {
    fn of(reply: &Reply<'_>, from: i64, env: &Env) -> Answer {
        let header = |name: &str| reply.header(name).map(str::to_owned);
        Answer {
            status: reply.status,
            sub_status: header("x-ms-substatus"),
            etag: header("etag"),
            session: header("x-ms-session-token"),
            item_count: header("x-ms-item-count").and_then(|count| count.parse().ok()),
            body: reply.body.to_vec(),
            from,
            to: env.clock.now_seconds(),
            came_after: env.clock.elapsed(),
        }
    }

    /// Says what came instead of what was expected.
    pub(crate) fn unexpected(&self, what: &str, expected: &str) -> String {
        const CHARACTERS_MAX: usize = 400;
        let body: String = String::from_utf8_lossy(&self.body).chars().take(CHARACTERS_MAX).collect();
        let sub_status = self.sub_status.as_deref().unwrap_or("none");
        format!("{what} got {} (sub-status {sub_status}), expected {expected}: {body}", self.status)
    }

    /// Returns the commit that the answer of one partition names.
    pub(crate) fn commit(&self) -> Result<u64, String> {
        let token = self.session.as_deref().ok_or("the answer to a write has no session token")?;
        commit_number(token).ok_or_else(|| format!("the session token {token} is not of the known form"))
    }
}

fn commit_number(token: &str) -> Option<u64> {
    token.split_once(':')?.1.split('#').nth(1)?.parse().ok()
}

/// The client of one history.
pub(crate) struct Client {
    line: watch::Receiver<Line>,
    is_over: Arc<AtomicBool>,
    idle: Vec<Connection>,
    life: u64,
    composer: Composer,
    pub(crate) env: Env,
}

impl Client {
    pub(crate) fn new(line: watch::Receiver<Line>, is_over: Arc<AtomicBool>, env: &Env) -> Client {
        Client { line, is_over, idle: Vec::new(), life: 0, composer: Composer::new(env), env: env.clone() }
    }

    /// Returns a request.
    pub(crate) fn compose(
        &mut self,
        method: &str,
        target: Target<'_>,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Vec<u8> {
        self.composer.compose(method, target, headers, body.as_bytes())
    }

    /// Sends a request that does no harm twice, until it is answered.
    pub(crate) async fn ask(&mut self, request: Vec<u8>) -> Result<Answer, Halt> {
        loop {
            if let Some(answer) = self.send(vec![request.clone()]).await?.pop().flatten() {
                return Ok(answer);
            }
        }
    }

    /// Sends requests all at once; where the server went, nothing is known of the answer.
    pub(crate) async fn send(&mut self, requests: Vec<Vec<u8>>) -> Result<Vec<Option<Answer>>, Halt> {
        let address = self.connect_line().await?;
        let mut asking = JoinSet::new();
        let count = requests.len();
        for (index, request) in requests.into_iter().enumerate() {
            let (connection, env) = (self.idle.pop(), self.env.clone());
            asking.spawn(async move {
                let exchanged = timeout(ANSWER_TIMEOUT, exchange(connection, address, &request, &env)).await;
                (index, exchanged)
            });
        }
        let mut answers = vec![None; count];
        while let Some(asked) = asking.join_next().await {
            let (index, exchanged) = asked.map_err(|error| format!("a request ended with {error}"))?;
            match exchanged {
                Err(_) => {
                    return Err(Halt::Wrong(format!("no answer came within {ANSWER_TIMEOUT:?}")));
                }
                Ok(Ok((connection, answer))) => {
                    self.idle.extend(connection);
                    answers[index] = Some(answer);
                }
                Ok(Err(error)) => {
                    let line = *self.line.borrow();
                    if matches!(line, Line::Up { life, .. } if life == self.life) {
                        return Err(Halt::Wrong(format!(
                            "a connection broke while the server should live: {error}"
                        )));
                    }
                }
            }
        }
        Ok(answers)
    }

    /// Waits until there is a server, and forgets the connections to those before.
    async fn connect_line(&mut self) -> Result<SocketAddr, Halt> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(Halt::Over);
        }
        let back = self.line.wait_for(|line| matches!(line, Line::Up { .. }));
        let line = match timeout(RETURN_TIMEOUT, back).await {
            Ok(Ok(line)) => *line,
            Ok(Err(_)) => return Err(Halt::Over),
            Err(_) => return Err(Halt::Wrong(format!("the server was not back within {RETURN_TIMEOUT:?}"))),
        };
        let Line::Up { life, address } = line else { return Err(Halt::Over) };
        if life != self.life {
            self.idle.clear();
            self.life = life;
        }
        Ok(address)
    }
}

/// Sends one request; returns the connection as well, if it is good for another.
async fn exchange(
    connection: Option<Connection>,
    address: SocketAddr,
    request: &[u8],
    env: &Env,
) -> std::io::Result<(Option<Connection>, Answer)> {
    let mut connection = match connection {
        Some(connection) => connection,
        None => Connection::open(address).await?,
    };
    let from = env.clock.now_seconds();
    let reply = connection.exchange(request).await?;
    let (answer, is_last) = (Answer::of(&reply, from, env), reply.is_last());
    Ok(((!is_last).then_some(connection), answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_of_session_tokens() {
        for (token, expected) in
            [("0:-1#42", Some(42)), ("3:1#7#1=7", Some(7)), ("0:42", None), ("", None), ("0:-1#x", None)]
        {
            assert_eq!(commit_number(token), expected, "{token}");
        }
    }
}
