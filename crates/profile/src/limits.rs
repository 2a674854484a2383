//! Every bound of this crate, with the reason for its size.

/// Bytes of items that are kept until it is known what tells their sorts apart. The items after those are looked at as
/// they come, and sorted by what was found until then.
pub const KEPT_BYTES_MAX: usize = 64 << 20;

/// What an item takes beside its text while it is kept.
pub(crate) const KEPT_ITEM_BYTES: usize = 64;

/// Sorts of items with a name; the rest is under the empty one.
pub const ENTITIES_MAX: usize = 64;

/// Paths of one sort of items that are told; the others are counted.
pub const ENTITY_PATHS_MAX: usize = 512;

/// Paths that are told of all sorts together: at the lowest level of detail they fit into the memory there is.
pub const PATHS_MAX: usize = 8_192;

/// Longest path that is told, as text.
pub const PATH_BYTES_MAX: usize = 512;

/// Paths without room that are counted exactly, in each sort of items.
pub const BEYOND_EXACT_MAX: usize = 1_024;

/// Different values of a path, and different partition keys, that are counted exactly. It is halved as often as the
/// paths of a container together need it to stay within [`PATH_SKETCH_BYTES_MAX`].
pub const DISTINCT_EXACT_MAX: usize = 4_096;

/// Values that are counted to find the most frequent one of a path: one with more than one part in this many of all is
/// certain to be among them. It is halved together with [`DISTINCT_EXACT_MAX`].
pub const MOST_COUNTED: usize = 32;

/// Longest value, as JSON, that can be told to be the most frequent one.
pub const MOST_VALUE_BYTES_MAX: usize = 128;

/// Different lengths of the arrays at a path that are told apart; beyond, they are rounded down.
pub const LENGTHS_MAX: usize = 256;

/// Different sizes of items that are told apart; beyond, they are rounded down.
pub const SIZES_MAX: usize = 2_048;

/// What is kept of all paths of a container to count different values, the most frequent ones and lengths.
pub const PATH_SKETCH_BYTES_MAX: usize = 22 << 20;

/// How often the detail of paths is halved at most.
pub(crate) const LEVEL_MAX: u32 = 7;

/// Items of which small members are kept, to compare copies with them: those whose ids have the lowest hashes.
pub const CARDS_MAX: usize = 4_096;

/// Small members that are kept of such an item.
pub const CARD_MEMBERS_MAX: usize = 32;

/// Longest value of a small member, as text.
pub const CARD_VALUE_BYTES_MAX: usize = 128;

/// Objects that are kept of a path, to find copies among them. It is halved as often as all of a container together
/// need it to stay within [`OBJECTS_BYTES_MAX`].
pub const OBJECTS_MAX: usize = 512;

/// Small members that are kept of such an object.
pub const OBJECT_MEMBERS_MAX: usize = 16;

/// What the objects take that are kept.
pub const OBJECTS_BYTES_MAX: usize = 6 << 20;

/// What one of them takes at most.
pub(crate) const OBJECT_BYTES: usize = 64 + 16 * OBJECT_MEMBERS_MAX;

/// Names of members whose values are kept to be compared; members with others are not.
pub const NAMES_MAX: usize = 4_096;

/// Longest such name.
pub const NAME_BYTES_MAX: usize = 128;

/// Ids that are told as examples of a sort of items.
pub const EXAMPLES_MAX: usize = 5;

/// Longest id that is told as an example. Service limit.
pub const EXAMPLE_BYTES_MAX: usize = 1_023;

/// Logical partitions that are told as the largest.
pub const LARGEST_MAX: usize = 16;

/// Logical partitions that are counted to find the largest where there are too many to count them all.
pub const LARGEST_COUNTED: usize = 64;

/// How much of a partition key is told.
pub const KEY_TEXT_BYTES_MAX: usize = 512;

/// Bytes of a key that the first version of the hash looks at: keys that begin with the same are placed together.
pub const KEY_PREFIX_BYTES: usize = 100;

/// Items of which key and time of writing are compared.
pub const ORDER_MAX: usize = 2_048;

/// How much of a key is compared.
pub const ORDER_KEY_BYTES_MAX: usize = 128;

/// Fewer items than these have no order worth telling.
pub const ORDER_MIN: usize = 3;

/// Members of an item that are looked at to tell sorts of items apart.
pub const SHAPE_MEMBERS_MAX: usize = 512;

/// Different sets of members that are told apart.
pub const SHAPES_MAX: usize = 512;

/// How many kinds of sets are counted.
pub const SORTS_MAX: usize = 64;

/// Members that are looked at as what may say the sort of an item.
pub const FIELDS_MAX: usize = 4_096;

/// Longest value that may say it.
pub const FIELD_VALUE_BYTES_MAX: usize = 128;

/// Members that are compared with the sets of members: those with the fewest values.
pub const FIELDS_COMPARED: usize = 16;

/// Different values that a reference must have: fewer are found in anything.
pub const REFERENCE_VALUES_MIN: usize = 5;

/// Part of a path's different values that must be found at another for a reference.
pub const REFERENCE_SHARE_MIN: f64 = 0.5;

/// Targets that are told of a path.
pub const REFERENCE_TARGETS_MAX: usize = 4;

/// Unique paths of a sort of items, beside the id, that are looked at as what others may refer to.
pub const UNIQUE_PATHS_MAX: usize = 16;

/// Hashes of values that are looked at as what others may refer to, of all containers.
pub const TARGET_HASHES_MAX: usize = 4 << 20;

/// Copies that are compared with their source for each member that may refer to it.
pub const COMPARED_MAX: usize = 512;

/// Comparisons that a copy must have.
pub const COMPARED_MIN: usize = 5;

/// Everything a sampler keeps, the texts of items included, but for the item that it is given.
pub const MEMORY_BYTES_MAX: usize = KEPT_BYTES_MAX + (48 << 20);
