//! Limits of what is read and written.

/// How deep JSON may be nested: typed GraphSON takes about four levels for one level of a value.
pub const MAX_JSON_DEPTH: usize = 600;

/// How deep a value may be nested, read or written.
pub const MAX_VALUE_DEPTH: usize = 200;

/// How far behind its name the id of a request is searched in text that is not JSON.
pub const MAX_ID_DISTANCE: usize = 100;

/// The largest response that can be written: lengths have 31 bits, and no driver takes as much.
pub const MAX_RESPONSE_BYTES: usize = 1 << 30;

/// How large a frame of results grows by default: drivers refuse messages from 10 MiB on.
pub const DEFAULT_FRAME_BYTES: usize = 1 << 20;

/// How many results a frame has by default, as drivers may set it with `batchSize`.
pub const DEFAULT_FRAME_ITEMS: usize = 64;

/// How large a result may be on its own.
pub const DEFAULT_ITEM_BYTES: usize = 8 << 20;

/// How many decimal places a `BigDecimal` may be away from its digits, so that its text stays short.
pub const MAX_DECIMAL_SCALE: u32 = 10_000;

/// How long the text of a key may be that is a collection, where keys are texts.
pub const MAX_KEY_BYTES: usize = 64 << 10;

/// How much of a request a message about it quotes at a time.
pub const MAX_QUOTED_CHARACTERS: usize = 60;

/// From what length on the path to a mistake grows no more.
pub const MAX_PATH_BYTES: usize = 300;
