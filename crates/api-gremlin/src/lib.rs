//! The Gremlin API: graphs on the items of containers.
