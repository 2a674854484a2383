//! What the prelude asks the host for, by number.

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// What the prelude asks for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// All of them, with the names that the prelude has for them. Their numbers are their places.
            pub(crate) const ALL: &'static [(Operation, &'static str)] = &[$((Operation::$variant, $name),)*];
        }
    };
}

operations! {
    /// The link by resource ids.
    SelfLink "SELF_LINK",
    /// The link by names.
    AltLink "ALT_LINK",
    /// (replies, is by rid, name, known etag, is wanted)
    Read "READ",
    /// (replies, body, is wanted)
    Create "CREATE",
    /// (replies, body, is wanted, etag)
    Upsert "UPSERT",
    /// (replies, is by rid, name, body, is wanted, etag)
    Replace "REPLACE",
    /// (replies, is by rid, name, is wanted, etag)
    Delete "DELETE",
    /// (replies, text, parameters as JSON, page size, continuation, is wanted)
    Query "QUERY",
    /// (replies): sends the operations that wait.
    Send "SEND",
    /// Why the last query was refused.
    Message "MESSAGE",
    /// Where the page after the last one begins.
    Continuation "CONTINUATION",
    /// What is stored, in megabytes, as text.
    CurrentMegabytes "CURRENT_MB",
    /// What may be stored, likewise.
    MaxMegabytes "MAX_MB",
    /// What is stored, as the headers say it.
    CurrentUsage "CURRENT_USAGE",
    /// What may be stored, likewise.
    MaxUsage "MAX_USAGE",
    /// An id for a document without one.
    Guid "GUID",
    /// A number for Math.random.
    Random "RANDOM",
    /// Milliseconds since 1970.
    Now "NOW",
    /// (text); false if the log is full.
    Log "LOG",
    /// (value)
    SetRequest "SET_REQUEST",
    /// (value)
    SetResponse "SET_RESPONSE",
    /// The name of the write that a trigger goes with.
    WriteName "OPERATION_TYPE",
    /// Whether the log is kept.
    KeepsLog "KEEPS_LOG",
    /// The body of the request, as JSON text.
    RequestText "REQUEST_TEXT",
    /// The body of the response so far, as JSON text.
    ResponseText "RESPONSE_TEXT",
    /// The part of the prelude for console.log.
    LoadConsole "LOAD_CONSOLE",
    /// The part of the prelude for the integrated query.
    LoadQuery "LOAD_QUERY",
}
