//! How what processes tell each other about items is written: keys, conditions, items, refusals.

use std::time::Duration;

use armilla_governor::{Bucket, Claim, OperationKind, Priority, RequestUnits};
use armilla_kv::Family;
use armilla_value::{Object, PartitionKey, Value, stored};
use bytes::Bytes;

use super::wire::{In, Out, unreadable};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::feed::ChangeKind;
use crate::item::moment::Moment;
use crate::item::{ETag, Item};
use crate::read::session::SessionToken;
use crate::receipt::Receipt;
use crate::throughput::ReadCost;
use crate::write::body::ItemBody;
use crate::write::outcome::{BatchDone, BatchFailed, ReadItem, StepDone, Written};
use crate::write::{Precondition, WriteMode};

/// What can be written so that another process reads the same.
pub(crate) trait Form: Sized {
    fn write(&self, out: &mut Out);
    fn read(from: &mut In) -> Result<Self>;
}

/// Makes a form of the values of an enumeration, by their places in a list that is only ever added to.
macro_rules! listed {
    ($kind:ty, [$($value:path),* $(,)?]) => {
        impl Form for $kind {
            fn write(&self, out: &mut Out) {
                const ALL: &[$kind] = &[$($value),*];
                let place = ALL.iter().position(|value| value == self);
                out.u8(u8::try_from(place.expect("all values are in the list")).expect("lists are short"));
            }

            fn read(from: &mut In) -> Result<$kind> {
                const ALL: &[$kind] = &[$($value),*];
                ALL.get(usize::from(from.u8()?)).copied().ok_or_else(unreadable)
            }
        }
    };
}

listed!(WriteMode, [WriteMode::Create, WriteMode::Upsert, WriteMode::Replace, WriteMode::Update]);
listed!(ReadCost, [ReadCost::Single, ReadCost::Double]);
listed!(Priority, [Priority::High, Priority::Low]);
listed!(
    OperationKind,
    [OperationKind::Read, OperationKind::Write, OperationKind::Query, OperationKind::Script]
);
listed!(
    ChangeKind,
    [ChangeKind::Create, ChangeKind::Replace, ChangeKind::Update, ChangeKind::Delete, ChangeKind::Expire]
);
listed!(Family, [Family::Meta, Family::Item, Family::Number, Family::Index, Family::Feed]);
listed!(
    ErrorKind,
    [
        ErrorKind::ItemNotFound,
        ErrorKind::ItemExists,
        ErrorKind::UniqueKeyTaken,
        ErrorKind::PreconditionFailed,
        ErrorKind::NotModified,
        ErrorKind::LogicalPartitionFull,
        ErrorKind::ItemTooLarge,
        ErrorKind::PartitionKeyMismatch,
        ErrorKind::Invalid,
        ErrorKind::RangeGone,
        ErrorKind::FeedExpired,
        ErrorKind::SessionNotAvailable,
        ErrorKind::Conflict,
        ErrorKind::Throttled,
        ErrorKind::OutcomeUnknown,
        ErrorKind::Unavailable,
        ErrorKind::Corrupt,
        ErrorKind::Internal,
        ErrorKind::Moved,
    ]
);

impl Form for String {
    fn write(&self, out: &mut Out) {
        out.text(self);
    }

    fn read(from: &mut In) -> Result<String> {
        from.text()
    }
}

impl Form for Bytes {
    fn write(&self, out: &mut Out) {
        out.bytes(self);
    }

    fn read(from: &mut In) -> Result<Bytes> {
        from.bytes()
    }
}

impl Form for u64 {
    fn write(&self, out: &mut Out) {
        out.u64(*self);
    }

    fn read(from: &mut In) -> Result<u64> {
        from.u64()
    }
}

impl<T: Form> Form for Option<T> {
    fn write(&self, out: &mut Out) {
        out.option(self.as_ref(), |out, value| value.write(out));
    }

    fn read(from: &mut In) -> Result<Option<T>> {
        from.option(T::read)
    }
}

impl<T: Form> Form for Vec<T> {
    fn write(&self, out: &mut Out) {
        out.list(self, |out, value| value.write(out));
    }

    fn read(from: &mut In) -> Result<Vec<T>> {
        from.list(T::read)
    }
}

impl Form for RequestUnits {
    fn write(&self, out: &mut Out) {
        out.u64(self.hundredths());
    }

    fn read(from: &mut In) -> Result<RequestUnits> {
        Ok(RequestUnits::from_hundredths(from.u64()?))
    }
}

impl Form for Duration {
    fn write(&self, out: &mut Out) {
        out.u64(u64::try_from(self.as_micros()).unwrap_or(u64::MAX));
    }

    fn read(from: &mut In) -> Result<Duration> {
        Ok(Duration::from_micros(from.u64()?))
    }
}

impl Form for Claim {
    fn write(&self, out: &mut Out) {
        self.priority.write(out);
        out.u8(self.bucket.map_or(0, Bucket::number));
    }

    fn read(from: &mut In) -> Result<Claim> {
        let priority = Priority::read(from)?;
        let bucket = match from.u8()? {
            0 => None,
            number => Some(Bucket::new(number).ok_or_else(unreadable)?),
        };
        Ok(Claim { priority, bucket })
    }
}

impl Form for PartitionKey {
    fn write(&self, out: &mut Out) {
        let mut bytes = Vec::with_capacity(self.bytes_len() + 16);
        self.key_bytes(&mut bytes);
        out.bytes(&bytes);
    }

    fn read(from: &mut In) -> Result<PartitionKey> {
        let bytes = from.bytes()?;
        let (key, length) = PartitionKey::from_key_bytes(&bytes).map_err(|_| unreadable())?;
        if length == bytes.len() { Ok(key) } else { Err(unreadable()) }
    }
}

impl Form for SessionToken {
    fn write(&self, out: &mut Out) {
        out.text(&self.to_string());
    }

    fn read(from: &mut In) -> Result<SessionToken> {
        match &*from.text()? {
            "" => Ok(SessionToken::default()),
            text => SessionToken::parse(text),
        }
    }
}

impl Form for ETag {
    fn write(&self, out: &mut Out) {
        out.bytes(&self.text());
    }

    fn read(from: &mut In) -> Result<ETag> {
        ETag::parse(&from.text()?).ok_or_else(unreadable)
    }
}

impl Form for Position {
    fn write(&self, out: &mut Out) {
        out.u32(self.range_id);
        out.u64(self.lsn);
    }

    fn read(from: &mut In) -> Result<Position> {
        Ok(Position { range_id: from.u32()?, lsn: from.u64()? })
    }
}

impl Form for Moment {
    fn write(&self, out: &mut Out) {
        out.u64(self.ticks());
    }

    fn read(from: &mut In) -> Result<Moment> {
        Ok(Moment::from_ticks(from.u64()?))
    }
}

impl Form for Precondition {
    fn write(&self, out: &mut Out) {
        match self {
            Precondition::None => out.u8(0),
            Precondition::Exists => out.u8(1),
            Precondition::Missing => out.u8(2),
            Precondition::Version(etag) => {
                out.u8(3);
                etag.write(out);
            }
            Precondition::WrittenAt(moment) => {
                out.u8(4);
                moment.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<Precondition> {
        Ok(match from.u8()? {
            0 => Precondition::None,
            1 => Precondition::Exists,
            2 => Precondition::Missing,
            3 => Precondition::Version(Option::read(from)?),
            4 => Precondition::WrittenAt(Moment::read(from)?),
            _ => return Err(unreadable()),
        })
    }
}

impl Form for Value {
    fn write(&self, out: &mut Out) {
        let mut around = Object::default();
        around.insert("v", self.clone());
        // What is nested too deeply, or cannot be stored for another reason, is refused by who reads it, as it would be here.
        out.bytes(&stored::encode_value(&Value::Object(around), &[]).unwrap_or_default());
    }

    fn read(from: &mut In) -> Result<Value> {
        let bytes = from.bytes()?;
        let refused = || Error::invalid("the value cannot be stored: it may be nested too deeply");
        let around = stored::Stored::open(&bytes).map_err(|_| refused())?;
        Ok(around.root().get("v").ok_or_else(refused)?.to_value())
    }
}

impl Form for ItemBody {
    fn write(&self, out: &mut Out) {
        match self {
            ItemBody::Json(text) => {
                out.u8(0);
                out.bytes(text);
            }
            ItemBody::Value(value) => {
                out.u8(1);
                value.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<ItemBody> {
        Ok(match from.u8()? {
            0 => ItemBody::Json(from.bytes()?),
            1 => ItemBody::Value(Box::new(Value::read(from)?)),
            _ => return Err(unreadable()),
        })
    }
}

impl Form for Receipt {
    fn write(&self, out: &mut Out) {
        out.bytes(self.key());
        out.bytes(self.outcome());
    }

    fn read(from: &mut In) -> Result<Receipt> {
        let (key, outcome) = (from.bytes()?, from.bytes()?);
        Receipt::new(key, outcome)
    }
}

impl Form for Item {
    fn write(&self, out: &mut Out) {
        out.bytes(self.bytes());
    }

    fn read(from: &mut In) -> Result<Item> {
        Item::open(from.bytes()?)
    }
}

impl Form for ReadItem {
    fn write(&self, out: &mut Out) {
        self.item.write(out);
        self.charge.write(out);
        self.position.write(out);
    }

    fn read(from: &mut In) -> Result<ReadItem> {
        Ok(ReadItem {
            item: Item::read(from)?,
            charge: RequestUnits::read(from)?,
            position: Position::read(from)?,
        })
    }
}

impl Form for Written {
    fn write(&self, out: &mut Out) {
        self.kind.write(out);
        self.item.write(out);
        self.charge.write(out);
        self.position.write(out);
    }

    fn read(from: &mut In) -> Result<Written> {
        Ok(Written {
            kind: ChangeKind::read(from)?,
            item: Item::read(from)?,
            charge: RequestUnits::read(from)?,
            position: Position::read(from)?,
        })
    }
}

impl Form for StepDone {
    fn write(&self, out: &mut Out) {
        match self {
            StepDone::Written(written) => {
                out.u8(0);
                written.write(out);
            }
            StepDone::Read(read) => {
                out.u8(1);
                read.write(out);
            }
            StepDone::NotModified { etag, charge } => {
                out.u8(2);
                etag.write(out);
                charge.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<StepDone> {
        Ok(match from.u8()? {
            0 => StepDone::Written(Written::read(from)?),
            1 => StepDone::Read(ReadItem::read(from)?),
            2 => StepDone::NotModified { etag: ETag::read(from)?, charge: RequestUnits::read(from)? },
            _ => return Err(unreadable()),
        })
    }
}

impl Form for std::result::Result<BatchDone, BatchFailed> {
    fn write(&self, out: &mut Out) {
        match self {
            Ok(BatchDone { steps, charge, position }) => {
                out.bool(true);
                steps.write(out);
                charge.write(out);
                position.write(out);
            }
            Err(BatchFailed { step, error, charge, position }) => {
                out.bool(false);
                out.count(*step);
                error.write(out);
                charge.write(out);
                position.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<Self> {
        Ok(match from.bool()? {
            true => Ok(BatchDone {
                steps: Vec::read(from)?,
                charge: RequestUnits::read(from)?,
                position: Position::read(from)?,
            }),
            false => Err(BatchFailed {
                step: from.u32()? as usize,
                error: Error::read(from)?,
                charge: RequestUnits::read(from)?,
                position: Position::read(from)?,
            }),
        })
    }
}

impl Form for Error {
    fn write(&self, out: &mut Out) {
        self.kind.write(out);
        out.text(&self.message);
        self.charge.write(out);
        self.position.write(out);
        self.retry_after.write(out);
    }

    fn read(from: &mut In) -> Result<Error> {
        Ok(Error {
            kind: ErrorKind::read(from)?,
            message: from.text()?,
            charge: RequestUnits::read(from)?,
            position: Option::read(from)?,
            retry_after: Option::read(from)?,
        })
    }
}
