//! What one process asks of another that has a partition.

use std::ops::Bound;
use std::time::Duration;

use armilla_governor::{Claim, OperationKind, RequestUnits};
use armilla_kv::{Direction, Family, Page, Scan};
use armilla_value::{PartitionKey, Value};
use bytes::Bytes;

use super::forms::Form;
use super::wire::{In, Out, unreadable};
use crate::error::{Error, Position, Result};
use crate::item::ETag;
use crate::item::moment::Moment;
use crate::item::patch::{Operation, Patch, Pointer};
use crate::read::session::SessionToken;
use crate::receipt::Receipt;
use crate::throughput::ReadCost;
use crate::write::body::ItemBody;
use crate::write::step::BatchStep;
use crate::write::{Precondition, WriteMode};

/// Makes a struct with the form of its fields, one behind the other.
macro_rules! formed {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl Form for $name {
            fn write(&self, out: &mut Out) {
                $(self.$field.write(out);)*
            }

            fn read(from: &mut In) -> Result<$name> {
                Ok($name { $($field: <$type>::read(from)?,)* })
            }
        }
    };
}

formed!(
    /// To read an item.
    ReadCall {
        partition_key: PartitionKey,
        id: String,
        known: Option<ETag>,
        session: SessionToken,
        cost: ReadCost,
        claim: Claim,
    }
);

formed!(
    /// To write a whole item.
    PutCall {
        partition_key: PartitionKey,
        mode: WriteMode,
        id: Option<String>,
        body: ItemBody,
        precondition: Precondition,
        claim: Claim,
    }
);

formed!(
    /// To delete an item.
    DeleteCall { partition_key: PartitionKey, id: String, precondition: Precondition, claim: Claim }
);

formed!(
    /// To change parts of an item.
    PatchCall {
        partition_key: PartitionKey,
        id: String,
        patch: PatchForm,
        precondition: Precondition,
        claim: Claim,
    }
);

formed!(
    /// To do several steps as one.
    BatchCall {
        partition_key: PartitionKey,
        steps: Vec<StepForm>,
        receipts: Vec<Receipt>,
        cost: ReadCost,
        claim: Claim,
    }
);

formed!(
    /// To commit a transaction.
    CommitCall {
        partition_key: PartitionKey,
        writes: Vec<DraftedForm>,
        lsn: u64,
        is_whole: Flag,
        reads: Vec<ReadForm>,
        lock: Option<u64>,
        now: u64,
        receipts: Vec<Receipt>,
    }
);

formed!(
    /// An item that a transaction read: its key, and the version that was there.
    ReadForm { key: Bytes, version: Option<VersionForm> }
);

formed!(VersionForm { lsn: u64, operation: u64 });

formed!(
    /// To ask whether something may begin.
    AdmitCall { claim: Claim, logical: Option<Bytes> }
);

formed!(
    /// To say what something cost.
    SpendCall {
        kind: OperationKind,
        claim: Claim,
        logical: Option<Bytes>,
        charge: RequestUnits,
        took: Duration,
    }
);

formed!(
    /// To give the items behind one their reservations of unique keys.
    ClaimCall { slots: Bytes, after: Option<Bytes> }
);

formed!(
    /// To lock a logical partition, under a number that the one who asks has made up.
    LockCall { lock: u64, logical: Bytes }
);

formed!(
    /// To read the newest values of keys.
    GetCall { family: Family, keys: Vec<Bytes> }
);

formed!(
    /// To read the values of keys in a snapshot.
    ViewGetCall { view: u64, family: Family, keys: Vec<Bytes> }
);

formed!(
    /// To read a range of a snapshot.
    ViewScanCall { view: u64, scan: Scan }
);

formed!(
    /// What a version gets when it is drafted, and which opening of the partition gave it.
    DraftReply { number: u64, moment: Moment, opening: u64 }
);

formed!(
    /// A snapshot that was taken, with what readers ask for at once.
    OpenReply { view: u64, counters: Option<Bytes>, index: Vec<Option<Bytes>> }
);

/// Whether something is so.
pub(crate) struct Flag(pub(crate) bool);

impl Form for Flag {
    fn write(&self, out: &mut Out) {
        out.bool(self.0);
    }

    fn read(from: &mut In) -> Result<Flag> {
        from.bool().map(Flag)
    }
}

/// A patch, whose condition is text.
pub(crate) struct PatchForm {
    pub(crate) patch: Patch,
    pub(crate) condition: Option<String>,
}

impl Form for PatchForm {
    fn write(&self, out: &mut Out) {
        self.condition.write(out);
        let (operations, bytes, is_text) = self.patch.parts();
        out.count(bytes);
        out.bool(is_text);
        out.list(operations, |out, operation| operation.write(out));
    }

    fn read(from: &mut In) -> Result<PatchForm> {
        let condition = Option::read(from)?;
        let bytes = from.u32()? as usize;
        let is_text = from.bool()?;
        let patch = Patch::new(from.list(Operation::read)?, bytes)?;
        Ok(PatchForm { patch: if is_text { patch.from_text() } else { patch }, condition })
    }
}

impl PatchForm {
    pub(crate) fn of(patch: Patch) -> PatchForm {
        PatchForm { condition: patch.condition_text().map(str::to_owned), patch }
    }
}

impl Form for Pointer {
    fn write(&self, out: &mut Out) {
        out.text(self.text());
    }

    fn read(from: &mut In) -> Result<Pointer> {
        Pointer::parse(&from.text()?)
    }
}

impl Form for Operation {
    fn write(&self, out: &mut Out) {
        let mut valued = |number, path: &Pointer, value: &Value| {
            out.u8(number);
            path.write(out);
            value.write(out);
        };
        match self {
            Operation::Add { path, value } => valued(0, path, value),
            Operation::Set { path, value } => valued(1, path, value),
            Operation::Replace { path, value } => valued(2, path, value),
            Operation::Increment { path, by } => valued(3, path, by),
            Operation::Remove { path } => {
                out.u8(4);
                path.write(out);
            }
            Operation::Move { from, path } => {
                out.u8(5);
                from.write(out);
                path.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<Operation> {
        let number = from.u8()?;
        let first = Pointer::read(from)?;
        Ok(match number {
            0 => Operation::Add { path: first, value: Value::read(from)? },
            1 => Operation::Set { path: first, value: Value::read(from)? },
            2 => Operation::Replace { path: first, value: Value::read(from)? },
            3 => Operation::Increment { path: first, by: Value::read(from)? },
            4 => Operation::Remove { path: first },
            5 => Operation::Move { from: first, path: Pointer::read(from)? },
            _ => return Err(unreadable()),
        })
    }
}

/// A step of a batch, whose condition is text.
pub(crate) enum StepForm {
    Put { mode: WriteMode, id: Option<String>, body: ItemBody, precondition: Precondition },
    Delete { id: String, precondition: Precondition },
    Patch { id: String, patch: PatchForm, precondition: Precondition },
    Read { id: String, known: Option<ETag>, precondition: Precondition },
    Fail(Error),
}

impl StepForm {
    pub(crate) fn of(step: BatchStep) -> StepForm {
        match step {
            BatchStep::Put { mode, id, body, precondition } => StepForm::Put { mode, id, body, precondition },
            BatchStep::Delete { id, precondition } => StepForm::Delete { id, precondition },
            BatchStep::Patch { id, patch, precondition } => {
                StepForm::Patch { id, patch: PatchForm::of(patch), precondition }
            }
            BatchStep::Read { id, known, precondition } => StepForm::Read { id, known, precondition },
            BatchStep::Fail(error) => StepForm::Fail(error),
        }
    }
}

impl Form for StepForm {
    fn write(&self, out: &mut Out) {
        match self {
            StepForm::Put { mode, id, body, precondition } => {
                out.u8(0);
                mode.write(out);
                id.write(out);
                body.write(out);
                precondition.write(out);
            }
            StepForm::Delete { id, precondition } => {
                out.u8(1);
                id.write(out);
                precondition.write(out);
            }
            StepForm::Patch { id, patch, precondition } => {
                out.u8(2);
                id.write(out);
                patch.write(out);
                precondition.write(out);
            }
            StepForm::Read { id, known, precondition } => {
                out.u8(3);
                id.write(out);
                known.write(out);
                precondition.write(out);
            }
            StepForm::Fail(error) => {
                out.u8(4);
                error.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<StepForm> {
        Ok(match from.u8()? {
            0 => StepForm::Put {
                mode: WriteMode::read(from)?,
                id: Option::read(from)?,
                body: ItemBody::read(from)?,
                precondition: Precondition::read(from)?,
            },
            1 => StepForm::Delete { id: from.text()?, precondition: Precondition::read(from)? },
            2 => StepForm::Patch {
                id: from.text()?,
                patch: PatchForm::read(from)?,
                precondition: Precondition::read(from)?,
            },
            3 => StepForm::Read {
                id: from.text()?,
                known: Option::read(from)?,
                precondition: Precondition::read(from)?,
            },
            4 => StepForm::Fail(Error::read(from)?),
            _ => return Err(unreadable()),
        })
    }
}

/// A write of a transaction, as it was drafted.
pub(crate) enum DraftedForm {
    Put {
        mode: WriteMode,
        /// The item in its stored form, without a header.
        content: Bytes,
        /// What its stamp was made of.
        stamp: u64,
        moment: Moment,
        number: Option<u64>,
        opening: u64,
        keeps_types: bool,
        precondition: Precondition,
    },
    Delete {
        id: String,
        precondition: Precondition,
    },
}

impl Form for DraftedForm {
    fn write(&self, out: &mut Out) {
        match self {
            DraftedForm::Put { mode, content, stamp, moment, number, opening, keeps_types, precondition } => {
                out.u8(0);
                mode.write(out);
                content.write(out);
                out.u64(*stamp);
                moment.write(out);
                number.write(out);
                out.u64(*opening);
                out.bool(*keeps_types);
                precondition.write(out);
            }
            DraftedForm::Delete { id, precondition } => {
                out.u8(1);
                id.write(out);
                precondition.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<DraftedForm> {
        Ok(match from.u8()? {
            0 => DraftedForm::Put {
                mode: WriteMode::read(from)?,
                content: from.bytes()?,
                stamp: from.u64()?,
                moment: Moment::read(from)?,
                number: Option::read(from)?,
                opening: from.u64()?,
                keeps_types: from.bool()?,
                precondition: Precondition::read(from)?,
            },
            1 => DraftedForm::Delete { id: from.text()?, precondition: Precondition::read(from)? },
            _ => return Err(unreadable()),
        })
    }
}

impl Form for Bound<Bytes> {
    fn write(&self, out: &mut Out) {
        match self {
            Bound::Unbounded => out.u8(0),
            Bound::Included(key) => {
                out.u8(1);
                out.bytes(key);
            }
            Bound::Excluded(key) => {
                out.u8(2);
                out.bytes(key);
            }
        }
    }

    fn read(from: &mut In) -> Result<Bound<Bytes>> {
        Ok(match from.u8()? {
            0 => Bound::Unbounded,
            1 => Bound::Included(from.bytes()?),
            2 => Bound::Excluded(from.bytes()?),
            _ => return Err(unreadable()),
        })
    }
}

impl Form for Scan {
    fn write(&self, out: &mut Out) {
        self.family.write(out);
        self.lower.write(out);
        self.upper.write(out);
        out.bool(self.direction == Direction::Reverse);
        out.count(self.entries_max);
        out.count(self.bytes_max);
    }

    fn read(from: &mut In) -> Result<Scan> {
        Ok(Scan {
            family: Family::read(from)?,
            lower: Bound::read(from)?,
            upper: Bound::read(from)?,
            direction: if from.bool()? { Direction::Reverse } else { Direction::Forward },
            entries_max: from.u32()? as usize,
            bytes_max: from.u32()? as usize,
        })
    }
}

impl Form for Page {
    fn write(&self, out: &mut Out) {
        out.bool(self.more);
        out.list(&self.entries, |out, (key, value)| {
            out.bytes(key);
            out.bytes(value);
        });
    }

    fn read(from: &mut In) -> Result<Page> {
        Ok(Page { more: from.bool()?, entries: from.list(|from| Ok((from.bytes()?, from.bytes()?)))? })
    }
}

/// A request.
pub(crate) enum Request {
    Read(ReadCall),
    Put(PutCall),
    Delete(DeleteCall),
    Patch(PatchCall),
    Batch(BatchCall),
    Commit(CommitCall),
    Admit(AdmitCall),
    Spend(SpendCall),
    /// Wait until everything has landed that was queued before.
    Barrier,
    Claim(ClaimCall),
    DropReservations(Vec<Bytes>),
    Get(GetCall),
    /// Take a snapshot.
    Open,
    ViewGet(ViewGetCall),
    ViewScan(ViewScanCall),
    /// Let go of a snapshot.
    Close(u64),
    /// Keep all others from writing to a logical partition.
    Lock(LockCall),
    Unlock(u64),
    /// Say when there is a commit behind this one, or after a while.
    Await(u64),
    /// Give a version its number and its moment.
    Draft,
}

impl Form for Request {
    fn write(&self, out: &mut Out) {
        /// Writes the number of a request and what it says.
        fn numbered(out: &mut Out, number: u8, call: &impl Form) {
            out.u8(number);
            call.write(out);
        }
        match self {
            Request::Read(call) => numbered(out, 0, call),
            Request::Put(call) => numbered(out, 1, call),
            Request::Delete(call) => numbered(out, 2, call),
            Request::Patch(call) => numbered(out, 3, call),
            Request::Batch(call) => numbered(out, 4, call),
            Request::Commit(call) => numbered(out, 5, call),
            Request::Admit(call) => numbered(out, 6, call),
            Request::Spend(call) => numbered(out, 7, call),
            Request::Barrier => out.u8(8),
            Request::Claim(call) => numbered(out, 9, call),
            Request::DropReservations(keys) => numbered(out, 10, keys),
            Request::Get(call) => numbered(out, 11, call),
            Request::Open => out.u8(12),
            Request::ViewGet(call) => numbered(out, 13, call),
            Request::ViewScan(call) => numbered(out, 14, call),
            Request::Close(view) => numbered(out, CLOSE, view),
            Request::Lock(call) => numbered(out, 16, call),
            Request::Unlock(lock) => numbered(out, UNLOCK, lock),
            Request::Await(lsn) => numbered(out, 18, lsn),
            Request::Draft => out.u8(19),
        }
    }

    fn read(from: &mut In) -> Result<Request> {
        Ok(match from.u8()? {
            0 => Request::Read(Form::read(from)?),
            1 => Request::Put(Form::read(from)?),
            2 => Request::Delete(Form::read(from)?),
            3 => Request::Patch(Form::read(from)?),
            4 => Request::Batch(Form::read(from)?),
            5 => Request::Commit(Form::read(from)?),
            6 => Request::Admit(Form::read(from)?),
            7 => Request::Spend(Form::read(from)?),
            8 => Request::Barrier,
            9 => Request::Claim(Form::read(from)?),
            10 => Request::DropReservations(Form::read(from)?),
            11 => Request::Get(Form::read(from)?),
            12 => Request::Open,
            13 => Request::ViewGet(Form::read(from)?),
            14 => Request::ViewScan(Form::read(from)?),
            CLOSE => Request::Close(Form::read(from)?),
            16 => Request::Lock(Form::read(from)?),
            UNLOCK => Request::Unlock(Form::read(from)?),
            18 => Request::Await(Form::read(from)?),
            19 => Request::Draft,
            _ => return Err(unreadable()),
        })
    }
}

/// The numbers of requests that only let go of what is kept for who asks.
const CLOSE: u8 = 15;
const UNLOCK: u8 = 17;

/// Returns whether a request to a container, as it stands behind the container's id, closes a snapshot or gives a lock back
/// and does nothing else. Such a one is sent once, so it must not be refused.
pub fn only_lets_go(request: &[u8]) -> bool {
    matches!(request.get(Head::BYTES), Some(&(CLOSE | UNLOCK)))
}

/// What comes before a request, and says whom it is for.
pub(crate) struct Head {
    /// The partition, by its range.
    pub(crate) range_id: u32,
    /// Where it is stored.
    pub(crate) space: u64,
}

impl Head {
    /// How long it is.
    const BYTES: usize = size_of::<u32>() + size_of::<u64>();
}

impl Form for Head {
    fn write(&self, out: &mut Out) {
        out.u32(self.range_id);
        out.u64(self.space);
    }

    fn read(from: &mut In) -> Result<Head> {
        Ok(Head { range_id: from.u32()?, space: from.u64()? })
    }
}

/// What comes of a request.
pub(crate) enum Reply<T> {
    Done(T),
    Failed(Error),
    /// The partition is not here, or what was kept of it for the one who asks is gone. Nothing was done.
    NotHere,
}

impl<T: Form> Form for Reply<T> {
    fn write(&self, out: &mut Out) {
        match self {
            Reply::Done(done) => {
                out.u8(0);
                done.write(out);
            }
            Reply::Failed(error) => {
                out.u8(1);
                error.write(out);
            }
            Reply::NotHere => out.u8(2),
        }
    }

    fn read(from: &mut In) -> Result<Reply<T>> {
        Ok(match from.u8()? {
            0 => Reply::Done(T::read(from)?),
            1 => Reply::Failed(Error::read(from)?),
            2 => Reply::NotHere,
            _ => return Err(unreadable()),
        })
    }
}

impl Form for () {
    fn write(&self, _: &mut Out) {}

    fn read(_: &mut In) -> Result<()> {
        Ok(())
    }
}

/// What a partition may spend in this second, and where it is.
pub(crate) struct AdmitReply {
    pub(crate) left: Option<RequestUnits>,
    pub(crate) position: Position,
}

impl Form for AdmitReply {
    fn write(&self, out: &mut Out) {
        self.left.write(out);
        self.position.write(out);
    }

    fn read(from: &mut In) -> Result<AdmitReply> {
        Ok(AdmitReply { left: Option::read(from)?, position: Position::read(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_lets_go_is_told_by_its_bytes() {
        let written = |request: Request| {
            let mut out = Out::with_capacity(64);
            Head { range_id: u32::MAX, space: u64::MAX }.write(&mut out);
            request.write(&mut out);
            out.finish()
        };
        for (request, expected) in [
            (Request::Close(15), true),
            (Request::Unlock(0), true),
            (Request::Open, false),
            (Request::Await(17), false),
            (Request::Barrier, false),
        ] {
            assert_eq!(only_lets_go(&written(request)), expected);
        }
        assert!(!only_lets_go(&[CLOSE; 12]));
    }
}
