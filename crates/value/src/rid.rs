//! Resource ids: the short byte strings behind `_rid`, in the layout that clients take apart.
//!
//! ```text
//! database    number(4, big-endian, not zero)
//! container   database, number(4, big-endian, top bit set)
//! user        database, number(4, big-endian, top bit clear)
//! item        container, number(8, little-endian) with the kind in its top four bits; likewise scripts,
//!             partition key ranges and conflicts
//! permission  user, number(8, big-endian)
//! offer       number(3, little-endian)
//! ```
//! The text is base64 with `-` in the place of `/`, padding kept.
//!
//! Not here: giving out numbers, and names (`engine`, `container`).

use std::fmt;

use base64::Engine;
use base64::alphabet::Alphabet;
use base64::engine::general_purpose::{GeneralPurpose, PAD};

use crate::limits::{OFFER_NUMBER_MAX, RID_NUMBER_MAX};

const CHARACTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
const ALPHABET: Alphabet = match Alphabet::new(CHARACTERS) {
    Ok(alphabet) => alphabet,
    Err(_) => panic!("64 different characters"),
};
const BASE64: GeneralPurpose = GeneralPurpose::new(&ALPHABET, PAD);

const CONTAINER_BIT: u32 = 1 << 31;
const BYTES_MAX: usize = 16;
const TEXT_MAX: usize = 24;

/// The id of a database; never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatabaseRid(u32);

/// The id of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerRid {
    database: DatabaseRid,
    container: u32,
}

/// The id of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemRid {
    container: ContainerRid,
    number: u64,
}

/// What a container holds beside items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ChildKind {
    /// A conflict.
    Conflict = 0x4,
    /// A partition key range.
    PartitionKeyRange = 0x5,
    /// A user-defined function.
    UserDefinedFunction = 0x6,
    /// A trigger.
    Trigger = 0x7,
    /// A stored procedure.
    StoredProcedure = 0x8,
}

impl ChildKind {
    const ALL: [ChildKind; 5] = [
        ChildKind::Conflict,
        ChildKind::PartitionKeyRange,
        ChildKind::UserDefinedFunction,
        ChildKind::Trigger,
        ChildKind::StoredProcedure,
    ];
}

/// The id of something that a container holds beside items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildRid {
    container: ContainerRid,
    kind: ChildKind,
    number: u64,
}

/// The id of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserRid {
    database: DatabaseRid,
    user: u32,
}

/// The id of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermissionRid {
    user: UserRid,
    number: u64,
}

/// The id of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferRid(u32);

/// Any resource id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceId {
    /// Of a database.
    Database(DatabaseRid),
    /// Of a container.
    Container(ContainerRid),
    /// Of an item.
    Item(ItemRid),
    /// Of something else in a container.
    Child(ChildRid),
    /// Of a user.
    User(UserRid),
    /// Of a permission.
    Permission(PermissionRid),
    /// Of an offer.
    Offer(OfferRid),
}

impl DatabaseRid {
    /// Makes the id of a database; `None` for zero.
    pub const fn new(number: u32) -> Option<DatabaseRid> {
        if number == 0 { None } else { Some(DatabaseRid(number)) }
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl ContainerRid {
    /// Makes the id of a container; the top bit of the number, which marks containers, is set here.
    pub const fn new(database: DatabaseRid, number: u32) -> ContainerRid {
        ContainerRid { database, container: number | CONTAINER_BIT }
    }

    /// Returns the id of its database.
    pub const fn database(self) -> DatabaseRid {
        self.database
    }

    /// Returns the number, top bit set.
    pub const fn number(self) -> u32 {
        self.container
    }

    /// Returns the eight bytes.
    pub fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.database.0) << 32 | u64::from(self.container)).to_be_bytes()
    }

    /// Reads the eight bytes.
    pub fn from_bytes(bytes: [u8; 8]) -> Option<ContainerRid> {
        let word = u64::from_be_bytes(bytes);
        let (database, container) = (DatabaseRid::new((word >> 32) as u32)?, word as u32);
        (container & CONTAINER_BIT != 0).then_some(ContainerRid { database, container })
    }
}

impl ItemRid {
    /// Makes the id of an item; `None` for a number beyond 60 bits.
    pub const fn new(container: ContainerRid, number: u64) -> Option<ItemRid> {
        if number > RID_NUMBER_MAX { None } else { Some(ItemRid { container, number }) }
    }

    /// Returns the id of its container.
    pub const fn container(self) -> ContainerRid {
        self.container
    }

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.number
    }
}

impl ChildRid {
    /// Makes an id; `None` for a number beyond 60 bits.
    pub const fn new(container: ContainerRid, kind: ChildKind, number: u64) -> Option<ChildRid> {
        if number > RID_NUMBER_MAX { None } else { Some(ChildRid { container, kind, number }) }
    }

    /// Returns the id of its container.
    pub const fn container(self) -> ContainerRid {
        self.container
    }

    /// Returns what this is the id of.
    pub const fn kind(self) -> ChildKind {
        self.kind
    }

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.number
    }
}

impl UserRid {
    /// Makes the id of a user; the top bit of the number, which marks containers, is cleared here.
    pub const fn new(database: DatabaseRid, number: u32) -> UserRid {
        UserRid { database, user: number & !CONTAINER_BIT }
    }

    /// Returns the id of its database.
    pub const fn database(self) -> DatabaseRid {
        self.database
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.user
    }
}

impl PermissionRid {
    /// Makes the id of a permission.
    pub const fn new(user: UserRid, number: u64) -> PermissionRid {
        PermissionRid { user, number }
    }

    /// Returns the id of its user.
    pub const fn user(self) -> UserRid {
        self.user
    }

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.number
    }
}

impl OfferRid {
    /// Makes the id of an offer; `None` for a number beyond 24 bits.
    pub const fn new(number: u32) -> Option<OfferRid> {
        if number > OFFER_NUMBER_MAX { None } else { Some(OfferRid(number)) }
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl ResourceId {
    /// Reads the text of any resource id; `None` where it is none.
    pub fn parse(text: &str) -> Option<ResourceId> {
        if text.len() > TEXT_MAX {
            return None;
        }
        let mut buffer = [0; TEXT_MAX];
        let length = BASE64.decode_slice(text, &mut buffer).ok()?;
        ResourceId::from_bytes(&buffer[..length])
    }

    fn from_bytes(bytes: &[u8]) -> Option<ResourceId> {
        if let &[a, b, c] = bytes {
            return OfferRid::new(u32::from_le_bytes([a, b, c, 0])).map(ResourceId::Offer);
        }
        let (database, rest) = bytes.split_first_chunk()?;
        let database = DatabaseRid::new(u32::from_be_bytes(*database))?;
        if rest.is_empty() {
            return Some(ResourceId::Database(database));
        }
        let (number, rest) = rest.split_first_chunk()?;
        let number = u32::from_be_bytes(*number);
        if number & CONTAINER_BIT == 0 {
            let user = UserRid::new(database, number);
            return match *rest {
                [] => Some(ResourceId::User(user)),
                _ => {
                    let number = u64::from_be_bytes(rest.try_into().ok()?);
                    Some(ResourceId::Permission(PermissionRid::new(user, number)))
                }
            };
        }
        let container = ContainerRid::new(database, number);
        if rest.is_empty() {
            return Some(ResourceId::Container(container));
        }
        let word = u64::from_le_bytes(rest.try_into().ok()?);
        let (kind, number) = ((word >> 60) as u8, word & RID_NUMBER_MAX);
        if kind == 0 {
            return Some(ResourceId::Item(ItemRid { container, number }));
        }
        let kind = ChildKind::ALL.into_iter().find(|own| *own as u8 == kind)?;
        Some(ResourceId::Child(ChildRid { container, kind, number }))
    }

    /// Writes the bytes into a buffer and returns how many there are.
    fn to_bytes(self, buffer: &mut [u8; BYTES_MAX]) -> usize {
        let mut put = |at: usize, bytes: &[u8]| buffer[at..at + bytes.len()].copy_from_slice(bytes);
        match self {
            ResourceId::Database(database) => {
                put(0, &database.0.to_be_bytes());
                4
            }
            ResourceId::Container(container) => {
                put(0, &container.to_bytes());
                8
            }
            ResourceId::Item(item) => {
                put(0, &item.container.to_bytes());
                put(8, &item.number.to_le_bytes());
                16
            }
            ResourceId::Child(child) => {
                put(0, &child.container.to_bytes());
                put(8, &(child.number | u64::from(child.kind as u8) << 60).to_le_bytes());
                16
            }
            ResourceId::User(user) => {
                put(0, &user.database.0.to_be_bytes());
                put(4, &user.user.to_be_bytes());
                8
            }
            ResourceId::Permission(permission) => {
                put(0, &permission.user.database.0.to_be_bytes());
                put(4, &permission.user.user.to_be_bytes());
                put(8, &permission.number.to_be_bytes());
                16
            }
            ResourceId::Offer(offer) => {
                put(0, &offer.0.to_le_bytes()[..3]);
                3
            }
        }
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut bytes, mut text) = ([0; BYTES_MAX], [0; TEXT_MAX]);
        let length = self.to_bytes(&mut bytes);
        let length = BASE64.encode_slice(&bytes[..length], &mut text).map_err(|_| fmt::Error)?;
        formatter.write_str(std::str::from_utf8(&text[..length]).map_err(|_| fmt::Error)?)
    }
}

impl ItemRid {
    /// Bytes of the text of every such id.
    pub const TEXT_BYTES: usize = 24;

    /// Returns the text as bytes, without asking for memory: a page of a query has one for each of its items.
    pub fn text(self) -> [u8; ItemRid::TEXT_BYTES] {
        let mut text = [b'='; ItemRid::TEXT_BYTES];
        let container = u128::from(u64::from_be_bytes(self.container.to_bytes()));
        let number = u128::from(self.number.swap_bytes());
        // Six bits for each character; the last one has two of them, and four zeros.
        let bits = container << 64 | number;
        for (at, character) in text[..21].iter_mut().enumerate() {
            *character = CHARACTERS.as_bytes()[(bits >> (122 - 6 * at)) as usize & 63];
        }
        text[21] = CHARACTERS.as_bytes()[(bits << 4) as usize & 63];
        text
    }
}

/// Gives each typed id its text, and the way back.
macro_rules! text_form {
    ($($rid:ident => $variant:ident),* $(,)?) => {$(
        impl $rid {
            /// Reads the text of such an id; `None` where it is something else.
            pub fn parse(text: &str) -> Option<$rid> {
                match ResourceId::parse(text)? {
                    ResourceId::$variant(rid) => Some(rid),
                    _ => None,
                }
            }

            /// Returns the text.
            pub fn encode(self) -> String {
                self.to_string()
            }
        }

        impl fmt::Display for $rid {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                ResourceId::$variant(*self).fmt(formatter)
            }
        }

        impl From<$rid> for ResourceId {
            fn from(rid: $rid) -> ResourceId {
                ResourceId::$variant(rid)
            }
        }
    )*};
}

text_form! {
    DatabaseRid => Database,
    ContainerRid => Container,
    ItemRid => Item,
    ChildRid => Child,
    UserRid => User,
    PermissionRid => Permission,
    OfferRid => Offer,
}

#[cfg(test)]
#[path = "rid_tests.rs"]
mod tests;
