//! Pages against one big page, for every way to find items.

mod ahead;
mod changes;
mod chosen;
mod memory;
mod ordered;
mod passing;
mod prices;
mod reads;
mod splits;
mod stopping;
mod unordered;
