//! Requests and responses of Gremlin: GraphSON and GraphBinary.
