//! Scripts of Gremlin, parsed to instructions.
