//! What goes wrong, as MongoDB numbers it.

use armilla_value::Object;

/// A failure with MongoDB's code, which is the contract; texts follow the server's where it is known that clients look.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The number of the failure.
    pub code: i32,
    /// What is wrong, for people.
    pub message: String,
    /// More of it for programs (`errInfo`), where there is any.
    pub info: Option<Box<Object>>,
}

/// The result of something that may fail so.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes a failure.
    pub fn new(code: i32, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), info: None }
    }

    /// Makes a failure of a value that is not what it should be.
    pub fn bad_value(message: impl Into<String>) -> Error {
        Error::new(codes::BAD_VALUE, message)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The numbers that have names. Others are `Location<number>`.
pub mod codes {
    macro_rules! codes {
        ($($constant:ident = $code:literal $name:literal;)*) => {
            $(#[doc = concat!("`", $name, "`")] pub const $constant: i32 = $code;)*

            /// Returns the name of a code.
            pub fn name(code: i32) -> String {
                match code {
                    $($code => $name.to_owned(),)*
                    _ => format!("Location{code}"),
                }
            }
        };
    }

    codes! {
        INTERNAL_ERROR = 1 "InternalError";
        BAD_VALUE = 2 "BadValue";
        GRAPH_CONTAINS_CYCLE = 5 "GraphContainsCycle";
        HOST_UNREACHABLE = 6 "HostUnreachable";
        HOST_NOT_FOUND = 7 "HostNotFound";
        UNKNOWN_ERROR = 8 "UnknownError";
        FAILED_TO_PARSE = 9 "FailedToParse";
        USER_NOT_FOUND = 11 "UserNotFound";
        UNAUTHORIZED = 13 "Unauthorized";
        TYPE_MISMATCH = 14 "TypeMismatch";
        OVERFLOW = 15 "Overflow";
        INVALID_LENGTH = 16 "InvalidLength";
        PROTOCOL_ERROR = 17 "ProtocolError";
        AUTHENTICATION_FAILED = 18 "AuthenticationFailed";
        ILLEGAL_OPERATION = 20 "IllegalOperation";
        INVALID_BSON = 22 "InvalidBSON";
        ALREADY_INITIALIZED = 23 "AlreadyInitialized";
        LOCK_TIMEOUT = 24 "LockTimeout";
        NAMESPACE_NOT_FOUND = 26 "NamespaceNotFound";
        INDEX_NOT_FOUND = 27 "IndexNotFound";
        PATH_NOT_VIABLE = 28 "PathNotViable";
        ROLE_NOT_FOUND = 31 "RoleNotFound";
        CANNOT_BACKFILL_ARRAY = 34 "CannotBackfillArray";
        CONFLICTING_UPDATE_OPERATORS = 40 "ConflictingUpdateOperators";
        CURSOR_NOT_FOUND = 43 "CursorNotFound";
        NO_MATCHING_DOCUMENT = 47 "NoMatchingDocument";
        NAMESPACE_EXISTS = 48 "NamespaceExists";
        MAX_TIME_MS_EXPIRED = 50 "MaxTimeMSExpired";
        DOLLAR_PREFIXED_FIELD_NAME = 52 "DollarPrefixedFieldName";
        INVALID_ID_FIELD = 53 "InvalidIdField";
        NOT_SINGLE_VALUE_FIELD = 54 "NotSingleValueField";
        EMPTY_FIELD_NAME = 56 "EmptyFieldName";
        DOTTED_FIELD_NAME = 57 "DottedFieldName";
        COMMAND_NOT_FOUND = 59 "CommandNotFound";
        SHARD_KEY_NOT_FOUND = 61 "ShardKeyNotFound";
        WRITE_CONCERN_FAILED = 64 "WriteConcernFailed";
        IMMUTABLE_FIELD = 66 "ImmutableField";
        CANNOT_CREATE_INDEX = 67 "CannotCreateIndex";
        INDEX_ALREADY_EXISTS = 68 "IndexAlreadyExists";
        INVALID_OPTIONS = 72 "InvalidOptions";
        INVALID_NAMESPACE = 73 "InvalidNamespace";
        UNKNOWN_REPL_WRITE_CONCERN = 79 "UnknownReplWriteConcern";
        INDEX_OPTIONS_CONFLICT = 85 "IndexOptionsConflict";
        INDEX_KEY_SPECS_CONFLICT = 86 "IndexKeySpecsConflict";
        NETWORK_TIMEOUT = 89 "NetworkTimeout";
        SHUTDOWN_IN_PROGRESS = 91 "ShutdownInProgress";
        OPERATION_FAILED = 96 "OperationFailed";
        UNSATISFIABLE_WRITE_CONCERN = 100 "UnsatisfiableWriteConcern";
        WRITE_CONFLICT = 112 "WriteConflict";
        COMMAND_NOT_SUPPORTED = 115 "CommandNotSupported";
        CONFLICTING_OPERATION_IN_PROGRESS = 117 "ConflictingOperationInProgress";
        DOCUMENT_VALIDATION_FAILURE = 121 "DocumentValidationFailure";
        FAILED_TO_SATISFY_READ_PREFERENCE = 133 "FailedToSatisfyReadPreference";
        READ_CONCERN_MAJORITY_NOT_AVAILABLE_YET = 134 "ReadConcernMajorityNotAvailableYet";
        CAPPED_POSITION_LOST = 136 "CappedPositionLost";
        CURSOR_IN_USE = 143 "CursorInUse";
        EXCEEDED_MEMORY_LIMIT = 146 "ExceededMemoryLimit";
        COMMAND_ON_SHARDED_VIEW_NOT_SUPPORTED_ON_MONGOD = 166 "CommandOnShardedViewNotSupportedOnMongod";
        OPTION_NOT_SUPPORTED_ON_VIEW = 167 "OptionNotSupportedOnView";
        INVALID_PIPELINE_OPERATOR = 168 "InvalidPipelineOperator";
        CANNOT_INDEX_PARALLEL_ARRAYS = 171 "CannotIndexParallelArrays";
        QUERY_PLAN_KILLED = 175 "QueryPlanKilled";
        CLIENT_APP_NAME_TOO_LARGE = 184 "ClientAppNameTooLarge";
        CLIENT_METADATA_DOCUMENT_TOO_LARGE = 185 "ClientMetadataDocumentTooLarge";
        CLIENT_METADATA_CANNOT_BE_MUTATED = 186 "ClientMetadataCannotBeMutated";
        PRIMARY_STEPPED_DOWN = 189 "PrimarySteppedDown";
        INVALID_INDEX_SPECIFICATION_OPTION = 197 "InvalidIndexSpecificationOption";
        NO_SUCH_SESSION = 206 "NoSuchSession";
        INCOMPLETE_TRANSACTION_HISTORY = 217 "IncompleteTransactionHistory";
        ILLEGAL_OP_MSG_FLAG = 223 "IllegalOpMsgFlag";
        TRANSACTION_TOO_OLD = 225 "TransactionTooOld";
        TOO_MANY_DOCUMENT_SEQUENCES = 233 "TooManyDocumentSequences";
        CURSOR_KILLED = 237 "CursorKilled";
        NOT_IMPLEMENTED = 238 "NotImplemented";
        SNAPSHOT_TOO_OLD = 239 "SnapshotTooOld";
        CONVERSION_FAILURE = 241 "ConversionFailure";
        SNAPSHOT_UNAVAILABLE = 246 "SnapshotUnavailable";
        NO_SUCH_TRANSACTION = 251 "NoSuchTransaction";
        TRANSACTION_COMMITTED = 256 "TransactionCommitted";
        TRANSACTION_TOO_LARGE = 257 "TransactionTooLarge";
        INVALID_RESUME_TOKEN = 260 "InvalidResumeToken";
        EXCEEDED_TIME_LIMIT = 262 "ExceededTimeLimit";
        OPERATION_NOT_SUPPORTED_IN_TRANSACTION = 263 "OperationNotSupportedInTransaction";
        TOO_MANY_LOGICAL_SESSIONS = 261 "TooManyLogicalSessions";
        CHANGE_STREAM_FATAL_ERROR = 280 "ChangeStreamFatalError";
        CHANGE_STREAM_HISTORY_LOST = 286 "ChangeStreamHistoryLost";
        CHECKSUM_MISMATCH = 288 "ChecksumMismatch";
        TRANSACTION_EXCEEDED_LIFETIME_LIMIT_SECONDS = 290 "TransactionExceededLifetimeLimitSeconds";
        QUERY_EXCEEDED_MEMORY_LIMIT = 292 "QueryExceededMemoryLimitNoDiskUseAllowed";
        API_VERSION_ERROR = 322 "APIVersionError";
        API_STRICT_ERROR = 323 "APIStrictError";
        API_DEPRECATION_ERROR = 324 "APIDeprecationError";
        MECHANISM_UNAVAILABLE = 334 "MechanismUnavailable";
        UNSUPPORTED_OP_QUERY_COMMAND = 352 "UnsupportedOpQueryCommand";
        SOCKET_EXCEPTION = 9001 "SocketException";
        NOT_WRITABLE_PRIMARY = 10107 "NotWritablePrimary";
        BSON_OBJECT_TOO_LARGE = 10334 "BSONObjectTooLarge";
        DUPLICATE_KEY = 11000 "DuplicateKey";
        INTERRUPTED_AT_SHUTDOWN = 11600 "InterruptedAtShutdown";
        INTERRUPTED = 11601 "Interrupted";
        INTERRUPTED_DUE_TO_REPL_STATE_CHANGE = 11602 "InterruptedDueToReplStateChange";
        NOT_PRIMARY_NO_SECONDARY_OK = 13435 "NotPrimaryNoSecondaryOk";
        NOT_PRIMARY_OR_SECONDARY = 13436 "NotPrimaryOrSecondary";
        TOO_MANY_REQUESTS = 16500 "TooManyRequests";
        SEARCH_NOT_ENABLED = 31082 "SearchNotEnabled";
        NOT_A_RETRYABLE_WRITE_COMMAND = 50768 "NotARetryableWriteCommand";
        DATABASE_DIFFER_CASE = 13297 "DatabaseDifferCase";
    }
}
