//! Failures, and how each of the two services tells of them.
//!
//! A failure says what went wrong; its status, code and words depend on the flavour and are chosen here alone, because
//! clients look for some of them. Engine failures: `error_map`.

use std::borrow::Cow;

use armilla_engine::{Error, RequestUnits};
use http::StatusCode;

use crate::auth::AuthError;
use crate::cors::CorsError;
use crate::entity::EntityError;
use crate::error_map;
use crate::filter::FilterError;
use crate::options::Flavour;
use crate::table_name::TableNameError;
use crate::xml::XmlError;

/// Why a request was not served.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// What the attempt cost.
    pub(crate) charge: RequestUnits,
    /// Which operation of a change set it was.
    pub(crate) index: Option<usize>,
}

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The engine refused.
    Engine(Box<Error>),
    /// The signature is missing or wrong, or does not permit this.
    Auth(AuthError),
    /// The entity in the body is wrong.
    Entity(EntityError),
    /// The filter is wrong; with its text.
    Filter(FilterError, String),
    /// The name of a table is wrong.
    TableName(TableNameError),
    /// The XML in the body is wrong.
    Xml(XmlError),
    /// No rule lets a browser send this.
    Cors(CorsError),
    /// The address leads nowhere.
    UrlInvalid,
    /// The resource has not the part that is asked for.
    ComponentInvalid,
    /// Something else in the request is wrong.
    InvalidInput(Cow<'static, str>),
    /// There is no such table.
    TableMissing,
    /// There is no such table, and it was to be deleted or read itself.
    ResourceMissing,
    /// There is no such entity.
    EntityMissing,
    /// There is such a table already.
    TableExists,
    /// The keys of an entity are not all there.
    KeysMissing,
    /// The address has not the keys that it should.
    KeyCount,
    /// A header that the request needs is missing.
    HeaderMissing,
    /// The condition on the entity's version does not hold.
    ConditionFailed,
    /// Others wrote what was to be merged, again and again.
    Busy,
    /// The resource has other verbs than this.
    MethodNotAllowed(&'static str),
    /// The way in which a verb is tunnelled through POST is wrong.
    TunnelInvalid,
    /// It is not supported.
    NotImplemented(Cow<'static, str>),
    /// The body is too long.
    BodyTooLarge,
    /// The answer is asked for in the one form that there is no more.
    AtomNotSupported,
    /// The body is of a kind that is not read here.
    MediaTypeNotSupported,
    /// The change set has too many operations.
    TooManyOperations,
    /// An entity is written twice in a change set.
    DuplicateRow,
    /// The entities of a change set lie in several partitions.
    OtherPartition,
    /// The operations of a change set are for several tables.
    OtherTable,
}

/// How a failure is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) status: StatusCode,
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
}

impl Shape {
    pub(crate) fn new(
        status: StatusCode,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Shape {
        Shape { status, code: code.into(), message: message.into() }
    }
}

impl From<Kind> for Failure {
    fn from(kind: Kind) -> Failure {
        Failure { kind, charge: RequestUnits::ZERO, index: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let charge = error.charge;
        Failure { kind: Kind::Engine(Box::new(error)), charge, index: None }
    }
}

impl From<AuthError> for Failure {
    fn from(error: AuthError) -> Failure {
        Kind::Auth(error).into()
    }
}

impl From<EntityError> for Failure {
    fn from(error: EntityError) -> Failure {
        Kind::Entity(error).into()
    }
}

impl Failure {
    /// Says which operation of a change set failed.
    pub(crate) fn at(self, index: usize) -> Failure {
        Failure { index: Some(index), ..self }
    }

    /// Adds to what the attempt cost.
    pub(crate) fn and_charge(self, charge: RequestUnits) -> Failure {
        Failure { charge: self.charge + charge, ..self }
    }

    /// Returns how long to wait before it is tried again, in whole milliseconds, where that is known.
    pub(crate) fn retry_after_ms(&self) -> Option<u64> {
        match &self.kind {
            Kind::Engine(error) => error_map::retry_after_ms(error),
            _ => None,
        }
    }

    /// Returns how the failure is told.
    pub(crate) fn shape(&self, flavour: Flavour) -> Shape {
        let shape = self.bare_shape(flavour);
        match self.index {
            Some(index) => Shape { message: format!("{index}:{}", shape.message).into(), ..shape },
            None => shape,
        }
    }

    fn bare_shape(&self, flavour: Flavour) -> Shape {
        let bad =
            |code: &'static str, message: &'static str| Shape::new(StatusCode::BAD_REQUEST, code, message);
        match &self.kind {
            Kind::Engine(error) => error_map::shape(error, flavour),
            Kind::Auth(error) => {
                Shape::new(error.status(flavour), error.code(flavour), error.message(flavour))
            }
            Kind::Entity(error) => {
                // The service's words, which clients compare, and then what exactly is wrong.
                let (code, words) = error.shape(flavour);
                Shape::new(StatusCode::BAD_REQUEST, code, format!("{words} ({error})"))
            }
            Kind::Xml(error) => Shape::new(StatusCode::BAD_REQUEST, error.code(), error.message()),
            Kind::Cors(error) => Shape::new(error.status(), error.code(), error.message()),
            Kind::Filter(error, text) => match flavour {
                Flavour::Cosmos => url_invalid(),
                Flavour::Storage => Shape::new(
                    StatusCode::BAD_REQUEST,
                    "InvalidInput",
                    format!("Syntax error at position {} in '{text}'.", error.position),
                ),
            },
            Kind::TableName(error) => error.shape(),
            Kind::UrlInvalid => match flavour {
                Flavour::Cosmos => url_invalid(),
                Flavour::Storage => {
                    bad("InvalidUri", "The requested URI does not represent any resource on the server.")
                }
            },
            Kind::ComponentInvalid => match flavour {
                Flavour::Cosmos => url_invalid(),
                Flavour::Storage => bad(
                    "InvalidQueryParameterValue",
                    "Value for one of the query parameters specified in the request URI is invalid.",
                ),
            },
            Kind::InvalidInput(message) => {
                Shape::new(StatusCode::BAD_REQUEST, "InvalidInput", message.clone())
            }
            Kind::TableMissing => match flavour {
                Flavour::Cosmos => resource_missing(),
                Flavour::Storage => {
                    Shape::new(StatusCode::NOT_FOUND, "TableNotFound", "The table specified does not exist.")
                }
            },
            Kind::ResourceMissing | Kind::EntityMissing => resource_missing(),
            Kind::TableExists => Shape::new(
                StatusCode::CONFLICT,
                "TableAlreadyExists",
                match flavour {
                    Flavour::Cosmos => "The specified table already exists.",
                    Flavour::Storage => "The table specified already exists.",
                },
            ),
            Kind::KeysMissing => {
                bad("PropertiesNeedValue", "The values are not specified for all properties in the entity.")
            }
            Kind::KeyCount => bad(
                "InvalidInput",
                "The number of keys specified in the URI does not match number of key properties for the resource.",
            ),
            Kind::HeaderMissing => bad(
                "MissingRequiredHeader",
                "An HTTP header that's mandatory for this request is not specified.",
            ),
            Kind::ConditionFailed => condition_failed(),
            Kind::Busy => Shape::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "ServerBusy",
                "Other writers changed the entity again and again while it was being merged. Please retry.",
            ),
            Kind::MethodNotAllowed(allowed) => Shape::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "MethodNotAllowed",
                format!("The specified HTTP method is not allowed for the resource; these are: {allowed}."),
            ),
            Kind::TunnelInvalid => bad(
                "XMethodIncorrectValue",
                "The HTTP method specified in the X-HTTP-Method header is not allowed: it may be MERGE, PUT or \
                 DELETE, in a POST request.",
            ),
            Kind::NotImplemented(what) => Shape::new(
                StatusCode::NOT_IMPLEMENTED,
                "NotImplemented",
                match what.is_empty() {
                    true => Cow::Borrowed("The requested operation is not supported."),
                    false => format!("The requested operation is not supported: {what}.").into(),
                },
            ),
            Kind::BodyTooLarge => Shape::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestBodyTooLarge",
                "The request body is too large and exceeds the maximum permissible limit.",
            ),
            Kind::AtomNotSupported => Shape::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "AtomFormatNotSupported",
                "Atom format is not supported.",
            ),
            Kind::MediaTypeNotSupported => Shape::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "MediaTypeNotSupported",
                "None of the provided media types are supported",
            ),
            Kind::TooManyOperations => bad(
                "InvalidInput",
                "The batch request operation exceeds the maximum 100 changes per change set.",
            ),
            Kind::DuplicateRow => bad(
                "InvalidDuplicateRow",
                "The batch request contains multiple changes with same row key. An entity can appear only once in a \
                 batch request.",
            ),
            Kind::OtherPartition => bad(
                "CommandsInBatchActOnDifferentPartitions",
                "All commands in a batch must operate on same entity group.",
            ),
            Kind::OtherTable => {
                bad("InvalidInput", "All operations of a change set must be on the same table.")
            }
        }
    }
}

pub(crate) fn resource_missing() -> Shape {
    Shape::new(StatusCode::NOT_FOUND, "ResourceNotFound", "The specified resource does not exist.")
}

pub(crate) fn condition_failed() -> Shape {
    Shape::new(
        StatusCode::PRECONDITION_FAILED,
        "UpdateConditionNotSatisfied",
        "The update condition specified in the request was not satisfied.",
    )
}

fn url_invalid() -> Shape {
    Shape::new(StatusCode::BAD_REQUEST, "InvalidInput", "Request url is invalid.")
}
