//! What both sides of the MongoDB wire protocol agree on: messages, documents, authentication.
//!
//! Not here: sockets, commands.
