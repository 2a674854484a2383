//! The names of all headers that the SQL API reads or writes, and of those of the Table API that the server knows;
//! clients and the Table API use some of them.
//!
//! Those that the API knows and ignores are listed in its `COMPAT.md`.

use http::HeaderName;

/// Declares header names as constants, so that neither side of a request parses or allocates one.
macro_rules! header_names {
    ($($constant:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $constant: HeaderName = HeaderName::from_static($name);
        )*
    };
}

// Requests.
header_names! {
    A_IM = "a-im";
    MS_DATE = "x-ms-date";
    PARTITION_KEY = "x-ms-documentdb-partitionkey";
    MAX_ITEM_COUNT = "x-ms-max-item-count";
    CONSISTENCY_LEVEL = "x-ms-consistency-level";
    PREFER = "prefer";
    POPULATE_CONTENT_ON_WRITE = "x-ms-cosmos-populate-content-response-on-write";
    IS_UPSERT = "x-ms-documentdb-is-upsert";
    IS_QUERY = "x-ms-documentdb-isquery";
    IS_QUERY_LEGACY = "x-ms-documentdb-query";
    IS_QUERY_PLAN = "x-ms-cosmos-is-query-plan-request";
    IS_BATCH = "x-ms-cosmos-is-batch-request";
    BATCH_ATOMIC = "x-ms-cosmos-batch-atomic";
    BATCH_CONTINUE_ON_ERROR = "x-ms-cosmos-batch-continue-on-error";
    INDEXING_DIRECTIVE = "x-ms-indexing-directive";
    PRE_TRIGGER_INCLUDE = "x-ms-documentdb-pre-trigger-include";
    PRE_TRIGGER_EXCLUDE = "x-ms-documentdb-pre-trigger-exclude";
    POST_TRIGGER_INCLUDE = "x-ms-documentdb-post-trigger-include";
    POST_TRIGGER_EXCLUDE = "x-ms-documentdb-post-trigger-exclude";
    SCRIPT_ENABLE_LOGGING = "x-ms-documentdb-script-enable-logging";
    SCRIPT_ENABLE_FOOTPRINT = "x-armilla-script-enable-footprint";
    SCRIPT_REHEARSAL = "x-armilla-script-rehearsal";
    OFFER_THROUGHPUT = "x-ms-offer-throughput";
    OFFER_TYPE = "x-ms-offer-type";
    OFFER_AUTOPILOT = "x-ms-cosmos-offer-autopilot-settings";
    MIGRATE_TO_AUTOSCALE = "x-ms-cosmos-migrate-offer-to-autopilot";
    MIGRATE_TO_MANUAL = "x-ms-cosmos-migrate-offer-to-manual-throughput";
    EXPIRY_SECONDS = "x-ms-documentdb-expiry-seconds";
    INTENDED_CONTAINER_RID = "x-ms-cosmos-intended-collection-rid";
    PRIORITY_LEVEL = "x-ms-cosmos-priority-level";
    THROUGHPUT_BUCKET = "x-ms-cosmos-throughput-bucket";
    POPULATE_QUOTA_INFO = "x-ms-documentdb-populatequotainfo";
    POPULATE_PARTITION_STATISTICS = "x-ms-documentdb-populatepartitionstatistics";
    ENABLE_CROSS_PARTITION_QUERY = "x-ms-documentdb-query-enablecrosspartition";
    SUPPORTED_QUERY_FEATURES = "x-ms-cosmos-supported-query-features";
    POPULATE_QUERY_METRICS = "x-ms-documentdb-populatequerymetrics";
    EXPLAIN = "x-armilla-explain";
    POPULATE_INDEX_METRICS = "x-ms-cosmos-populateindexmetrics";
    POPULATE_INDEX_METRICS_V2 = "x-ms-cosmos-populateindexmetrics-v2";
    START_EPK = "x-ms-start-epk";
    END_EPK = "x-ms-end-epk";
    READ_KEY_TYPE = "x-ms-read-key-type";
    CHANGE_FEED_WIRE_FORMAT = "x-ms-cosmos-changefeed-wire-format-version";
}

// Both ways.
header_names! {
    ACTIVITY_ID = "x-ms-activity-id";
    CONTINUATION = "x-ms-continuation";
    SESSION_TOKEN = "x-ms-session-token";
    PARTITION_KEY_RANGE_ID = "x-ms-documentdb-partitionkeyrangeid";
    VERSION = "x-ms-version";
}

// Responses.
header_names! {
    FEED_END = "x-armilla-feed-end";
    SCRIPT_FOOTPRINT = "x-armilla-script-footprint";
    PREFERENCE_APPLIED = "preference-applied";
    REQUEST_CHARGE = "x-ms-request-charge";
    GATEWAY_VERSION = "x-ms-gatewayversion";
    SERVICE_VERSION = "x-ms-serviceversion";
    SCHEMA_VERSION = "x-ms-schemaversion";
    LSN = "lsn";
    ITEM_LSN = "x-ms-item-lsn";
    GLOBAL_COMMITTED_LSN = "x-ms-global-committed-lsn";
    LOCAL_LSN = "x-ms-cosmos-llsn";
    ITEM_LOCAL_LSN = "x-ms-cosmos-item-llsn";
    QUORUM_ACKED_LSN = "x-ms-quorum-acked-lsn";
    QUORUM_ACKED_LOCAL_LSN = "x-ms-cosmos-quorum-acked-llsn";
    PHYSICAL_PARTITION_ID = "x-ms-cosmos-physical-partition-id";
    ALT_CONTENT_PATH = "x-ms-alt-content-path";
    CONTENT_PATH = "x-ms-content-path";
    ITEM_COUNT = "x-ms-item-count";
    RESOURCE_QUOTA = "x-ms-resource-quota";
    RESOURCE_USAGE = "x-ms-resource-usage";
    SUB_STATUS = "x-ms-substatus";
    RETRY_AFTER_MS = "x-ms-retry-after-ms";
    OFFER_REPLACE_PENDING = "x-ms-offer-replace-pending";
    MIN_THROUGHPUT = "x-ms-cosmos-min-throughput";
    INDEX_TRANSFORMATION_PROGRESS = "x-ms-documentdb-collection-index-transformation-progress";
    QUERY_METRICS = "x-ms-documentdb-query-metrics";
    QUERY_EXECUTION_INFO = "x-ms-cosmos-query-execution-info";
    INDEX_UTILIZATION = "x-ms-cosmos-index-utilization";
    SCRIPT_LOG_RESULTS = "x-ms-documentdb-script-log-results";
    LAZY_INDEXING_PROGRESS = "x-ms-documentdb-collection-lazy-indexing-progress";
}

// Of the Table API alone.
header_names! {
    REQUEST_ID = "x-ms-request-id";
    CLIENT_REQUEST_ID = "x-ms-client-request-id";
    ERROR_CODE = "x-ms-error-code";
}
