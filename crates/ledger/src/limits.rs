//! Every bound of this crate, with the reason for its size.

/// What the ledger holds at most, everything together: small beside what a server needs for anything else.
pub const MEMORY_BYTES_MAX: usize = 20 * MEBIBYTE;

const MEBIBYTE: usize = 1024 * 1024;

/// Requests a second up to which each is written down.
pub const ALL_A_SECOND: u32 = 1_000;

/// Requests a second up to which one of [`SOME_OF`] is written down; beyond it is one of [`FEW_OF`].
pub const SOME_A_SECOND: u32 = 16_000;

/// Of how many requests one is written down at a high rate.
pub const SOME_OF: u32 = 16;

/// Of how many requests one is written down at the highest rates.
pub const FEW_OF: u32 = 256;

/// How far the clock may step back and be taken for the running second: threads read it and are then put aside.
pub const STEP_BACK_SECONDS_MAX: i64 = 5;

/// Containers that are written of.
pub const CONTAINERS_MAX: usize = 1_024;

/// Shapes of a container's requests.
pub const CONTAINER_SHAPES_MAX: usize = 512;

/// Shapes of all containers.
pub const SHAPES_MAX: usize = 4_096;

/// How long a shape, a container or a link is not asked for before another may take its place.
pub const IDLE_MS: i64 = 3_600_000;

/// How long no place is looked for after none was found: looking walks everything that there is.
pub const FULL_PAUSE_MS: i64 = 1_000;

/// Hours of which the requests are told apart.
pub const HOURS: i64 = 24;

/// What the hours of all shapes take. All of [`SHAPES_MAX`] in all of [`HOURS`] would need four times as much: then
/// shapes have shorter pasts.
pub const HOURS_BYTES_MAX: usize = 2 * MEBIBYTE + MEBIBYTE / 2;

/// Longest text of a shape; of a longer one the beginning and a hash of the whole are kept.
pub const SHAPE_TEXT_BYTES_MAX: usize = 4 * 1024;

/// Texts of all shapes.
pub const SHAPE_TEXTS_BYTES_MAX: usize = MEBIBYTE;

/// What is kept of a text that is no query.
pub const PLAIN_TEXT_CHARS_MAX: usize = 1_000;

/// Longest text that is read as a query; a longer one counts as one that cannot be read.
pub const READ_TEXT_BYTES_MAX: usize = 64 * 1024;

/// Texts of queries that are remembered with their shapes.
pub const CACHED_TEXTS_MAX: usize = 1_024;

/// Longest text that is remembered.
pub const CACHED_TEXT_BYTES_MAX: usize = 4 * 1024;

/// What the remembered texts take.
pub const CACHED_BYTES_MAX: usize = MEBIBYTE;

/// Examples of a shape.
pub const EXAMPLES_MAX: usize = 8;

/// Largest request that is kept as an example.
pub const EXAMPLE_BYTES_MAX: usize = 2 * 1024;

/// Examples of all shapes. The last quarter is for first examples alone.
pub const EXAMPLES_BYTES_MAX: usize = 8 * MEBIBYTE;

/// Logical keys that are counted for a container; one with more than one part in this many of its charge is certain
/// to be among them.
pub const KEYS_COUNTED: usize = 64;

/// Longest key that is counted.
pub const KEY_BYTES_MAX: usize = 512;

/// Keys of all containers. A container has its first few from the second half, too.
pub const KEYS_BYTES_MAX: usize = MEBIBYTE + MEBIBYTE / 2;

/// Keys and items of a container that may use the last half of what there is for those of all.
pub const FIRST_COUNTED: usize = 8;

/// Writes a second that are compared with what was there.
pub const CHANGES_A_SECOND: i64 = 50;

/// Sorts of items that are told apart in a container; the others are one without a name.
pub const ENTITIES_MAX: usize = 64;

/// Longest name of a sort of items.
pub const ENTITY_BYTES_MAX: usize = 128;

/// Paths that are told of a sort of items.
pub const ENTITY_PATHS_MAX: usize = 256;

/// Longest path.
pub const PATH_BYTES_MAX: usize = 256;

/// How deep two items are compared; what is deeper is one value.
pub const COMPARED_DEPTH_MAX: usize = 128;

/// Parts of an object or an array that are compared; one with more is one value.
pub const COMPARED_PARTS_MAX: usize = 64 * 1024;

/// How many times the length of two items may be read to compare them: what nests deep is read once a level.
pub const COMPARED_TIMES_MAX: usize = 8;

/// Sorts and paths of all containers.
pub const CHANGES_BYTES_MAX: usize = MEBIBYTE;

/// Items that are counted for a container, to find those that are written most often.
pub const ITEMS_COUNTED: usize = 64;

/// Counted items of all containers.
pub const ITEMS_BYTES_MAX: usize = MEBIBYTE / 2;

/// Answers a second that are watched: whether their values come back.
pub const ORIGINS_A_SECOND: i64 = 20;

/// Watched answers that live at once.
pub const ORIGINS_MAX: usize = 64;

/// How long an answer is watched.
pub const ORIGIN_MS: i64 = 1_000;

/// How many requests later an answer is watched no more: where many callers ask at once, what comes then is another's.
pub const ORIGIN_REQUESTS: u64 = 256;

/// Requests of a second after which no answer of it is watched: those that follow are to be written down, too.
pub const ORIGINS_BEFORE: u32 = ALL_A_SECOND / 2;

/// Rows of an answer that are looked at.
pub const ORIGIN_ROWS_MAX: usize = 200;

/// Bytes of an answer that are looked at.
pub const ORIGIN_BYTES_MAX: usize = 512 * 1024;

/// Values of an answer that are watched.
pub const ORIGIN_VALUES_MAX: usize = 4_096;

/// What the values of all answers that live at once take, with their paths.
pub const LIVE_BYTES_MAX: usize = MEBIBYTE;

/// Links by which one answer is followed.
pub const ORIGIN_LINKS_MAX: usize = 64;

/// Paths of an answer.
pub const ORIGIN_PATHS_MAX: usize = 256;

/// Values of a row that are watched, those outside of arrays first.
pub const ROW_VALUES_MAX: usize = 64;

/// Elements of an array that are looked at.
pub const ROW_ELEMENTS_MAX: usize = 64;

/// How many steps the path to a watched value has at most.
pub const ROW_DEPTH_MAX: usize = 8;

/// Fewest characters of a text that is watched: shorter ones are equal by chance.
pub const WATCHED_CHARS_MIN: usize = 3;

/// Least number that is watched: smaller ones are equal by chance.
pub const WATCHED_NUMBER_MIN: i64 = 1_000;

/// Values of a request that are looked for in the answers before it.
pub const REQUEST_VALUES_MAX: usize = 256;

/// Pairs of a path and a slot that a request can follow one answer by.
pub const REQUEST_HITS_MAX: usize = 64;

/// Paths of a shape's answers that ever had a request that followed.
pub const FOLLOWED_PATHS_MAX: usize = 16;

/// Links between shapes.
pub const LINKS_MAX: usize = 2_048;

/// What the links take.
pub const LINKS_BYTES_MAX: usize = MEBIBYTE - MEBIBYTE / 4;

/// Longest line of a log of requests: an item, with what stands around it.
pub const LINE_BYTES_MAX: usize = 4 * MEBIBYTE;
