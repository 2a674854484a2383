//! The greeting: the first thing in a TLS session, with which both sides prove that they are nodes of one account.
//!
//! ```text
//! caller    magic (8)   lowest version u16   highest version u16   proof (32)
//! server    magic (8)   verdict u8   version u16                   proof (32)
//! ```
//!
//! Numbers are little endian. The proofs are about the session, and each about the role of its side, so that one who sits
//! between two sessions can use neither. A server proves nothing to a caller that has not.

use std::io;

use rustls::{ClientConnection, ServerConnection};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::error::CallError;
use crate::secret::{PROOF_BYTES, Role, Secret, Session};

/// What each side begins with.
const MAGIC: &[u8; 8] = b"armnodes";

/// The versions of frames that this program understands.
const VERSION_MIN: u16 = 1;
const VERSION_MAX: u16 = 1;

/// What the session's bytes are asked for with.
const LABEL: &[u8] = b"EXPORTER-armilla-nodes";

const CALLER_BYTES: usize = 12 + PROOF_BYTES;
const SERVER_BYTES: usize = 11 + PROOF_BYTES;

/// Verdicts of a server.
const WELCOME: u8 = 0;
const OTHER_SECRET: u8 = 1;
const OTHER_VERSION: u8 = 2;

/// Returns what the two ends of a session know of it, on the side that called.
pub(crate) fn session_of_client(connection: &ClientConnection) -> Result<Session, rustls::Error> {
    connection.export_keying_material(Session::default(), LABEL, None)
}

/// Returns what the two ends of a session know of it, on the side that was called.
pub(crate) fn session_of_server(connection: &ServerConnection) -> Result<Session, rustls::Error> {
    connection.export_keying_material(Session::default(), LABEL, None)
}

/// Greets a server.
pub(crate) async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    session: &Session,
    secret: &Secret,
) -> Result<(), CallError> {
    let mut hello = [0; CALLER_BYTES];
    hello[..8].copy_from_slice(MAGIC);
    hello[8..10].copy_from_slice(&VERSION_MIN.to_le_bytes());
    hello[10..12].copy_from_slice(&VERSION_MAX.to_le_bytes());
    hello[12..].copy_from_slice(&secret.prove(Role::Caller, session));
    let mut answer = [0; SERVER_BYTES];
    exchange(stream, &hello, &mut answer)
        .await
        .map_err(|error| CallError::NotSent(format!("the greeting was not answered: {error}")))?;
    let refused = |message: String| Err(CallError::Refused(message));
    let version = u16::from_le_bytes([answer[9], answer[10]]);
    match answer[8] {
        _ if answer[..8] != *MAGIC => refused("it is not a node".to_owned()),
        OTHER_SECRET => refused("it is not of the account of this node".to_owned()),
        OTHER_VERSION => refused(format!("it does not understand this version, but version {version}")),
        WELCOME if !secret.is_proved(Role::Server, session, &answer[11..]) => {
            refused("it does not prove that it is of this account".to_owned())
        }
        WELCOME if (VERSION_MIN..=VERSION_MAX).contains(&version) => Ok(()),
        _ => refused(format!("this node does not understand its version {version}")),
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    hello: &[u8],
    answer: &mut [u8],
) -> io::Result<()> {
    stream.write_all(hello).await?;
    stream.flush().await?;
    stream.read_exact(answer).await?;
    Ok(())
}

/// Awaits the greeting of a caller, and answers it. Returns what is wrong with the caller.
pub(crate) async fn receive<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    session: &Session,
    secret: &Secret,
) -> io::Result<Result<(), &'static str>> {
    let mut hello = [0; CALLER_BYTES];
    stream.read_exact(&mut hello).await?;
    if hello[..8] != *MAGIC {
        return Ok(Err("it is not a node"));
    }
    let (lowest, highest) =
        (u16::from_le_bytes([hello[8], hello[9]]), u16::from_le_bytes([hello[10], hello[11]]));
    let mut answer = [0; SERVER_BYTES];
    answer[..8].copy_from_slice(MAGIC);
    answer[9..11].copy_from_slice(&VERSION_MAX.to_le_bytes());
    let verdict = if !secret.is_proved(Role::Caller, session, &hello[12..]) {
        answer[8] = OTHER_SECRET;
        Err("it is not of this account")
    } else if highest < VERSION_MIN || lowest > VERSION_MAX {
        answer[8] = OTHER_VERSION;
        Err("its version is not understood")
    } else {
        answer[8] = WELCOME;
        answer[9..11].copy_from_slice(&highest.min(VERSION_MAX).to_le_bytes());
        answer[11..].copy_from_slice(&secret.prove(Role::Server, session));
        Ok(())
    };
    stream.write_all(&answer).await?;
    stream.flush().await?;
    if verdict.is_err() {
        stream.shutdown().await?;
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what a caller makes of an answer of which some bytes are replaced.
    async fn answered(at: usize, bytes: &[u8]) -> Result<(), CallError> {
        let (mut caller, mut server) = tokio::io::duplex(1024);
        let (session, secret) = ([3; 32], Secret::derive("key"));
        let other = async {
            let mut hello = [0; CALLER_BYTES];
            server.read_exact(&mut hello).await.unwrap();
            let mut answer = [0; SERVER_BYTES];
            answer[..8].copy_from_slice(MAGIC);
            answer[9..11].copy_from_slice(&1_u16.to_le_bytes());
            answer[11..].copy_from_slice(&secret.prove(Role::Server, &session));
            answer[at..at + bytes.len()].copy_from_slice(bytes);
            server.write_all(&answer).await.unwrap();
        };
        tokio::join!(greet(&mut caller, &session, &secret), other).0
    }

    /// Says what a server makes of versions, and whether it proves anything.
    async fn received(lowest: u16, highest: u16, key: &str) -> (Result<(), &'static str>, u8, bool) {
        let (mut caller, mut server) = tokio::io::duplex(1024);
        let (session, secret) = ([3; 32], Secret::derive("key"));
        let other = async {
            let mut hello = [0; CALLER_BYTES];
            hello[..8].copy_from_slice(MAGIC);
            hello[8..10].copy_from_slice(&lowest.to_le_bytes());
            hello[10..12].copy_from_slice(&highest.to_le_bytes());
            hello[12..].copy_from_slice(&Secret::derive(key).prove(Role::Caller, &session));
            caller.write_all(&hello).await.unwrap();
            let mut answer = [0; SERVER_BYTES];
            caller.read_exact(&mut answer).await.unwrap();
            (answer[8], answer[11..] != [0; PROOF_BYTES])
        };
        let (verdict, (byte, proves)) = tokio::join!(receive(&mut server, &session, &secret), other);
        (verdict.unwrap(), byte, proves)
    }

    #[tokio::test]
    async fn callers_refuse_what_is_not_a_node_of_theirs() {
        assert_eq!(answered(0, b"").await, Ok(()));
        for (at, bytes) in
            [(0, &b"X"[..]), (8, b"\x01"), (8, b"\x02"), (8, b"\x09"), (9, b"\x02"), (42, b"\0")]
        {
            let result = answered(at, bytes).await;
            assert!(matches!(result, Err(CallError::Refused(_))), "{at} {bytes:?} {result:?}");
        }
    }

    #[tokio::test]
    async fn servers_choose_a_version_and_prove_nothing_to_strangers() {
        assert_eq!(received(1, 1, "key").await, (Ok(()), WELCOME, true));
        assert_eq!(received(0, 7, "key").await, (Ok(()), WELCOME, true));
        for (lowest, highest) in [(0, 0), (2, 7)] {
            let (verdict, byte, proves) = received(lowest, highest, "key").await;
            assert!(verdict.is_err() && byte == OTHER_VERSION && !proves);
        }
        let (verdict, byte, proves) = received(1, 1, "other").await;
        assert!(verdict.is_err() && byte == OTHER_SECRET && !proves);
    }
}
