//! Bounds that this crate enforces.

use std::time::Duration;

/// Longest id of a database, container, user, permission or user-defined function, in characters.
pub const ID_CHARACTERS_MAX: usize = 255;

/// Most resources in one page of a list.
pub const LIST_MAX: usize = 1_000;

/// How long a resource token is valid unless the caller says otherwise.
pub const TOKEN_SECONDS_DEFAULT: u32 = 3_600;

/// The shortest time that a caller may ask for.
pub const TOKEN_SECONDS_MIN: u32 = 10;

/// The longest time that a caller may ask for.
pub const TOKEN_SECONDS_MAX: u32 = 24 * 3_600;

/// Longest resource token that is looked at.
pub(crate) const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Most user-defined functions of one container.
pub const USER_FUNCTIONS_MAX: usize = 50;

/// How long the user-defined functions of a page may go on after the page should have ended.
pub(crate) const FUNCTION_GRACE: Duration = Duration::from_secs(1);
