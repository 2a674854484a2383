//! The marker bytes.

// Integers up to 31 are their own marker.
pub(super) const SMALL_INTEGER_LAST: u8 = 0x1F;

// Strings.
pub(super) const SYSTEM_STRING_FIRST: u8 = 0x20;
pub(super) const SYSTEM_STRING_LAST: u8 = 0x3F;
pub(super) const USER_STRING_FIRST: u8 = 0x40;
pub(super) const USER_STRING_LAST: u8 = 0x67;
pub(super) const BASE64_L1: u8 = 0x71;
pub(super) const BASE64_L2: u8 = 0x72;
pub(super) const BASE64_URL_L1: u8 = 0x73;
pub(super) const BASE64_URL_L2: u8 = 0x74;
pub(super) const GUID_LOWER: u8 = 0x75;
pub(super) const GUID_UPPER: u8 = 0x76;
pub(super) const GUID_QUOTED: u8 = 0x77;
pub(super) const HEX_LOWER: u8 = 0x78;
pub(super) const HEX_UPPER: u8 = 0x79;
pub(super) const DATE_TIME: u8 = 0x7A;
pub(super) const PACKED_4: u8 = 0x7B;
pub(super) const PACKED_5: u8 = 0x7C;
pub(super) const PACKED_6: u8 = 0x7D;
pub(super) const PACKED_7_L1: u8 = 0x7E;
pub(super) const PACKED_7_L2: u8 = 0x7F;
pub(super) const SHORT_STRING_FIRST: u8 = 0x80;
pub(super) const SHORT_STRING_LAST: u8 = 0xBF;
pub(super) const STRING_L1: u8 = 0xC0;
pub(super) const STRING_L2: u8 = 0xC1;
pub(super) const STRING_L4: u8 = 0xC2;
pub(super) const REFERENCE_1: u8 = 0xC3;
pub(super) const REFERENCE_2: u8 = 0xC4;
pub(super) const REFERENCE_3: u8 = 0xC5;
pub(super) const REFERENCE_4: u8 = 0xC6;

// Numbers as JSON has them.
pub(super) const NUMBER_U64: u8 = 0xC7;
pub(super) const NUMBER_U8: u8 = 0xC8;
pub(super) const NUMBER_I16: u8 = 0xC9;
pub(super) const NUMBER_I32: u8 = 0xCA;
pub(super) const NUMBER_I64: u8 = 0xCB;
pub(super) const NUMBER_DOUBLE: u8 = 0xCC;

// Numbers of a fixed type; only these stand in uniform arrays.
pub(super) const FLOAT_32: u8 = 0xCD;
pub(super) const FLOAT_64: u8 = 0xCE;
pub(super) const FLOAT_16: u8 = 0xCF;
pub(super) const U8: u8 = 0xD7;
pub(super) const I8: u8 = 0xD8;
pub(super) const I16: u8 = 0xD9;
pub(super) const I32: u8 = 0xDA;
pub(super) const I64: u8 = 0xDB;
pub(super) const U32: u8 = 0xDC;

// Other scalars.
pub(super) const NULL: u8 = 0xD0;
pub(super) const FALSE: u8 = 0xD1;
pub(super) const TRUE: u8 = 0xD2;
pub(super) const GUID: u8 = 0xD3;
pub(super) const BINARY_L1: u8 = 0xDD;
pub(super) const BINARY_L2: u8 = 0xDE;
pub(super) const BINARY_L4: u8 = 0xDF;

// Arrays and objects: empty, of one, with a byte length, with a byte length and a count.
pub(super) const ARRAY_0: u8 = 0xE0;
pub(super) const ARRAY_1: u8 = 0xE1;
pub(super) const ARRAY_L1: u8 = 0xE2;
pub(super) const ARRAY_L2: u8 = 0xE3;
pub(super) const ARRAY_L4: u8 = 0xE4;
pub(super) const ARRAY_LC1: u8 = 0xE5;
pub(super) const ARRAY_LC2: u8 = 0xE6;
pub(super) const ARRAY_LC4: u8 = 0xE7;
pub(super) const OBJECT_0: u8 = 0xE8;
pub(super) const OBJECT_1: u8 = 0xE9;
pub(super) const OBJECT_L1: u8 = 0xEA;
pub(super) const OBJECT_L2: u8 = 0xEB;
pub(super) const OBJECT_L4: u8 = 0xEC;
pub(super) const OBJECT_LC1: u8 = 0xED;
pub(super) const OBJECT_LC2: u8 = 0xEE;
pub(super) const OBJECT_LC4: u8 = 0xEF;

// Arrays whose numbers share one type, and arrays of such arrays.
pub(super) const UNIFORM_C1: u8 = 0xF0;
pub(super) const UNIFORM_C2: u8 = 0xF1;
pub(super) const UNIFORM_NESTED_C1: u8 = 0xF2;
pub(super) const UNIFORM_NESTED_C2: u8 = 0xF3;

/// The strings that markers `20` to `3F` stand for.
pub(super) const SYSTEM_STRINGS: [&str; 32] = [
    "$s",
    "$t",
    "$v",
    "_attachments",
    "_etag",
    "_rid",
    "_self",
    "_ts",
    "attachments/",
    "coordinates",
    "geometry",
    "GeometryCollection",
    "id",
    "url",
    "Value",
    "label",
    "LineString",
    "link",
    "MultiLineString",
    "MultiPoint",
    "MultiPolygon",
    "name",
    "Name",
    "Type",
    "Point",
    "Polygon",
    "properties",
    "type",
    "value",
    "Feature",
    "FeatureCollection",
    "_id",
];
