//! What texts mean, which texts are refused and where, and that the bounds hold.

mod bounds;
mod errors;
mod fuzz;
mod places;
mod trees;
