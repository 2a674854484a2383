//! Why a request is not believed, or may not do what it asks for, and how the two services say so.

use http::StatusCode;

use crate::Flavour;

/// What is wrong with the credentials of a request, or with what they are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthErrorKind {
    /// There are none.
    NoCredentials,
    /// A bearer token: there is no Microsoft Entra ID here.
    BearerToken,
    /// They cannot be read, or their signature is not one of a key of the account.
    NotAuthentic,
    /// A shared access signature that is not valid yet or no longer.
    OutOfTime,
    /// A shared access signature for other addresses.
    SourceAddress,
    /// A shared access signature for another protocol.
    Protocol,
    /// An account's shared access signature without the table service.
    Service,
    /// An account's shared access signature for other kinds of resources.
    ResourceType,
    /// A shared access signature without this permission.
    Permission,
    /// A shared access signature for another table or other keys, or one that can never permit this.
    NotGranted,
    /// A key that reads, and a request that writes.
    ReadOnlyKey,
    /// A write at the secondary address.
    SecondaryWrite,
}

/// Credentials that do not serve a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuthError {
    /// What is wrong.
    pub(crate) kind: AuthErrorKind,
    /// What exactly, for the person who reads the message.
    pub(crate) detail: String,
}

impl AuthError {
    pub(crate) fn new(kind: AuthErrorKind, detail: impl Into<String>) -> AuthError {
        AuthError { kind, detail: detail.into() }
    }

    /// Returns the status of the answer.
    pub(crate) fn status(&self, flavour: Flavour) -> StatusCode {
        match (self.kind, flavour) {
            (AuthErrorKind::NoCredentials | AuthErrorKind::BearerToken, _)
            | (AuthErrorKind::NotAuthentic | AuthErrorKind::OutOfTime, Flavour::Cosmos) => {
                StatusCode::UNAUTHORIZED
            }
            _ => StatusCode::FORBIDDEN,
        }
    }

    /// Returns the error code of the answer.
    pub(crate) fn code(&self, flavour: Flavour) -> &'static str {
        match (self.kind, flavour) {
            (
                AuthErrorKind::NoCredentials
                | AuthErrorKind::BearerToken
                | AuthErrorKind::NotAuthentic
                | AuthErrorKind::OutOfTime,
                Flavour::Cosmos,
            ) => "Unauthorized",
            (AuthErrorKind::NoCredentials, Flavour::Storage) => "NoAuthenticationInformation",
            (AuthErrorKind::BearerToken, Flavour::Storage) => "InvalidAuthenticationInfo",
            (AuthErrorKind::NotAuthentic | AuthErrorKind::OutOfTime, Flavour::Storage) => {
                "AuthenticationFailed"
            }
            (AuthErrorKind::SourceAddress, _) => "AuthorizationSourceIPMismatch",
            (AuthErrorKind::Protocol, _) => "AuthorizationProtocolMismatch",
            (AuthErrorKind::Service, _) => "AuthorizationServiceMismatch",
            (AuthErrorKind::ResourceType, _) => "AuthorizationResourceTypeMismatch",
            (AuthErrorKind::Permission, Flavour::Cosmos) => "Forbidden",
            (AuthErrorKind::Permission, Flavour::Storage) => "AuthorizationPermissionMismatch",
            (AuthErrorKind::NotGranted, _) => "AuthorizationFailure",
            (AuthErrorKind::ReadOnlyKey, Flavour::Cosmos) => "Forbidden",
            (AuthErrorKind::ReadOnlyKey, Flavour::Storage) => "AuthorizationFailure",
            (AuthErrorKind::SecondaryWrite, _) => "InsufficientAccountPermissions",
        }
    }

    /// Returns the message of the answer: the service's words, which clients compare, and then what exactly is wrong.
    pub(crate) fn message(&self, flavour: Flavour) -> String {
        let words = match (self.kind, flavour) {
            (
                AuthErrorKind::NoCredentials
                | AuthErrorKind::BearerToken
                | AuthErrorKind::NotAuthentic
                | AuthErrorKind::OutOfTime,
                Flavour::Cosmos,
            ) => {
                "The input authorization token can't serve the request. The wrong key is being used or the \
                 expected payload is not built as per the protocol."
            }
            (AuthErrorKind::NoCredentials | AuthErrorKind::BearerToken, Flavour::Storage) => {
                "Server failed to authenticate the request. Please refer to the information in the \
                 www-authenticate header."
            }
            (AuthErrorKind::NotAuthentic | AuthErrorKind::OutOfTime, Flavour::Storage) => {
                "Server failed to authenticate the request. Make sure the value of Authorization header is formed \
                 correctly including the signature."
            }
            (AuthErrorKind::SourceAddress, _) => {
                "This request is not authorized to perform this operation using this source IP."
            }
            (AuthErrorKind::Protocol, _) => {
                "This request is not authorized to perform this operation using this protocol."
            }
            (AuthErrorKind::Service, _) => {
                "This request is not authorized to perform this operation using this service."
            }
            (AuthErrorKind::ResourceType, _) => {
                "This request is not authorized to perform this operation using this resource type."
            }
            (AuthErrorKind::Permission, _) => {
                "This request is not authorized to perform this operation using this permission."
            }
            (AuthErrorKind::NotGranted | AuthErrorKind::ReadOnlyKey, _) => {
                "This request is not authorized to perform this operation."
            }
            (AuthErrorKind::SecondaryWrite, _) => "Write operations are not allowed.",
        };
        if self.detail.is_empty() { words.to_owned() } else { format!("{words} ({})", self.detail) }
    }

    /// Returns the value of `WWW-Authenticate`, where the answer says which credentials would do.
    pub(crate) fn challenge(&self, flavour: Flavour) -> Option<&'static str> {
        // Nothing here takes bearer tokens, so nobody who has one is sent to fetch another: clients would take any
        // challenge for that, and lose the message over it.
        let is_challenge =
            self.status(flavour) == StatusCode::UNAUTHORIZED && self.kind != AuthErrorKind::BearerToken;
        is_challenge.then_some("SharedKey, SharedKeyLite")
    }
}
