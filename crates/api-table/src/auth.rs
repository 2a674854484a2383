//! Who a request comes from: signatures with an account's key, shared access signatures, and tokens of the emulators'
//! Entra ID.
//!
//! A request goes three steps: [`Address::of`] finds the account and the resource's path, [`authenticate`] checks the
//! credentials, and [`Permit::allows`] is asked for each operation, those inside of a batch too. A signature that
//! leaves something to a stored access policy stops between the second and the third step, as
//! [`Authenticated::NeedsPolicy`], until the policy is read.
//!
//! Invariant: nothing that is compared with a secret is compared by anything but `ring`'s constant-time check.
//!
//! Not here: where stored access policies are kept (`policies`), and how errors are written.

mod accounts;
mod error;
mod grant;
mod limits;
mod query_string;
mod sas;
mod shared_key;

use std::time::Duration;

use armilla_rest_wire::authorization::emulator_token;
use armilla_rest_wire::authorization::open_id::DataRole;
use http::{HeaderMap, Method};

pub(crate) use accounts::{Accounts, Address};
pub(crate) use error::{AuthError, AuthErrorKind};
pub(crate) use grant::{Operation, Permit, Principal};
pub(crate) use limits::POLICY_ID_CHARACTERS_MAX;
pub(crate) use sas::{AccessPolicy, PendingGrant};

use crate::Peer;
use sas::Sas;
use shared_key::{Authorization, Signed};

/// What of a request credentials are about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'r> {
    /// The verb, as it was sent.
    pub(crate) method: &'r Method,
    /// The path, as it was sent: with the account, still percent-encoded.
    pub(crate) path: &'r str,
    /// The query string, as it was sent.
    pub(crate) query: &'r str,
    /// The headers.
    pub(crate) headers: &'r HeaderMap,
    /// The host, with or without a port.
    pub(crate) host: Option<&'r str>,
    /// Where it comes from.
    pub(crate) peer: &'r Peer,
}

/// Credentials that are authentic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Authenticated {
    /// What the request may do.
    Permit(Permit),
    /// That depends on a stored access policy.
    NeedsPolicy(NeedsPolicy),
}

/// A signature that leaves something to a stored access policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NeedsPolicy {
    /// What is known of it.
    pub(crate) pending: PendingGrant,
    is_secondary: bool,
}

impl NeedsPolicy {
    /// Puts the policy and the signature together; `None` stands for a table or a policy that does not exist.
    pub(crate) fn settle(self, policy: Option<&AccessPolicy>, now_ms: i64) -> Result<Permit, AuthError> {
        let grant = self.pending.settle(policy, now_ms)?;
        Ok(Permit { principal: Principal::Sas(grant), is_secondary: self.is_secondary })
    }
}

/// Checks the credentials of a request.
pub(crate) fn authenticate(
    head: &Head<'_>,
    address: &Address<'_>,
    accounts: &Accounts,
    now_ms: i64,
    date_skew: Option<Duration>,
) -> Result<Authenticated, AuthError> {
    let is_secondary = address.is_secondary;
    let permit = |principal| Authenticated::Permit(Permit { principal, is_secondary });
    let of_key = |access| permit(Principal::of_key(access));
    if let Some(token) = bearer_token(head.headers) {
        let refused = |why| AuthError::new(AuthErrorKind::BearerToken, format!("the bearer token {why}"));
        if let Some(open_id) = accounts.open_id().filter(|_| !emulator_token::is_one(token)) {
            let role = open_id.role_of(token, now_ms / 1_000).map_err(refused)?;
            return Ok(permit(match role {
                DataRole::Reader => Principal::ReadOnly,
                DataRole::Contributor => Principal::Full,
            }));
        }
        let key = emulator_token::shown_key(token, now_ms / 1_000).map_err(refused)?;
        let access = accounts.access_of_key(address.account, &key);
        return access.map(of_key).ok_or_else(|| refused(emulator_token::OTHER_KEY));
    }
    if let Some(authorization) = Authorization::of(head.headers)? {
        let Head { method, path, query, headers, host, .. } = *head;
        let signed = Signed { method, path, query, headers, host };
        return shared_key::check(&authorization, &signed, address, accounts, now_ms, date_skew).map(of_key);
    }
    match sas::check(head.query, address, head.host, accounts, head.peer, now_ms)? {
        Some(Sas::Granted(grant)) => Ok(permit(Principal::Sas(grant))),
        Some(Sas::Pending(pending)) => Ok(Authenticated::NeedsPolicy(NeedsPolicy { pending, is_secondary })),
        None => Err(AuthError::new(
            AuthErrorKind::NoCredentials,
            "the request has neither an Authorization header nor a shared access signature",
        )),
    }
}

/// Returns the token that a request is sent with, where it is one of that kind.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests;
