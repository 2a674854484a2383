//! Two protocols that the product does not have, on real sockets: what holds of all protocols must hold of them.

mod client;
mod frames;
mod port;
mod web_socket;
