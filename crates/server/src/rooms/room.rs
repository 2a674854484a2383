//! Memory that clients make the server hold, counted byte by byte and bounded: over all of them, and for each.
//!
//! Not here: who gives way when there is none left (`crowd`), and waiting for it (`rooms`).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::limits::{SMALL_BYTES_MAX, SMALL_PART};

/// Room for so many bytes.
#[derive(Debug)]
pub(crate) struct Room {
    held: AtomicUsize,
    bytes_max: usize,
    /// What one client may hold of it.
    share_max: usize,
    freed: Notify,
    /// How many wait for it. Telling nobody would take a lock that all requests share.
    waiting: AtomicUsize,
}

/// The place of one connection in a room. What it holds refers to this, so that connections do not all count the
/// references to the same two things.
#[derive(Debug)]
pub(crate) struct Seat {
    room: Arc<Room>,
    share: Arc<Share>,
}

/// Somebody who waits for room.
pub(crate) struct Waiting<'r>(&'r Room);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one client holds of a room.
#[derive(Debug, Default)]
pub(crate) struct Share {
    held: AtomicUsize,
}

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// All of it is taken.
    Room,
    /// The client has its share.
    Share,
}

impl Room {
    /// Makes room.
    pub(crate) fn new(bytes_max: usize, share_max: usize) -> Arc<Room> {
        let (held, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Room { held, bytes_max, share_max, freed: Notify::new(), waiting })
    }

    /// Makes the place of a connection of a client.
    pub(crate) fn seat(self: &Arc<Room>, share: &Arc<Share>) -> Arc<Seat> {
        Arc::new(Seat { room: self.clone(), share: share.clone() })
    }

    /// Notes that somebody waits until some is given back. A look now and then makes up for what is missed.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(self)
    }

    /// Returns what is held of it.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Tells whether nothing is to begin that will need some: half of it is left for what has begun.
    pub(crate) fn is_crowded(&self, share: &Share) -> Result<(), Full> {
        if share.held.load(Ordering::Relaxed) >= self.share_max / 2 {
            return Err(Full::Share);
        }
        if self.held() >= self.bytes_max / 2 { Err(Full::Room) } else { Ok(()) }
    }

    /// Is told whenever some is given back and somebody waits.
    pub(crate) fn freed(&self) -> &Notify {
        &self.freed
    }
}

/// Bytes of a room that are taken, until they are dropped.
#[derive(Debug)]
pub(crate) struct Held {
    seat: Arc<Seat>,
    bytes: usize,
}

impl Held {
    /// Begins with nothing.
    pub(crate) fn nothing(seat: Arc<Seat>) -> Held {
        Held { seat, bytes: 0 }
    }

    /// Takes so many more, if they are there.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> Result<(), Full> {
        let Seat { room: whole, share: part } = &*self.seat;
        let share = part.held.fetch_add(bytes, Ordering::Relaxed);
        let room = whole.held.fetch_add(bytes, Ordering::Relaxed);
        // Small ones find room beside large ones that have taken all that they may.
        let is_small = self.bytes + bytes <= SMALL_BYTES_MAX;
        let most = |bytes_max: usize| if is_small { bytes_max } else { bytes_max - bytes_max / SMALL_PART };
        let full = if share + bytes > most(whole.share_max) {
            Full::Share
        } else if room + bytes > most(whole.bytes_max) {
            Full::Room
        } else {
            self.bytes += bytes;
            return Ok(());
        };
        part.held.fetch_sub(bytes, Ordering::Relaxed);
        whole.held.fetch_sub(bytes, Ordering::Relaxed);
        Err(full)
    }

    /// Takes so many more, be they there or not: for what is held already and cannot be given up.
    pub(crate) fn grow(&mut self, bytes: usize) {
        self.seat.share.held.fetch_add(bytes, Ordering::Relaxed);
        self.seat.room.held.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let Seat { room, share } = &*self.seat;
            share.held.fetch_sub(self.bytes, Ordering::Relaxed);
            room.held.fetch_sub(self.bytes, Ordering::Relaxed);
            if room.waiting.load(Ordering::Relaxed) > 0 {
                room.freed.notify_waiters();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part is left for the small where the large have taken theirs.
    #[test]
    fn small_ones_find_room() {
        let (large, part) = (4 * SMALL_BYTES_MAX * SMALL_PART, 4 * SMALL_BYTES_MAX);
        let room = Room::new(large, large);
        let share: Arc<Share> = Arc::default();
        let held = || Held::nothing(room.seat(&share));
        let (mut first, mut second, mut third) = (held(), held(), held());
        assert_eq!(first.try_grow(large - part + 1), Err(Full::Share));
        assert_eq!(first.try_grow(large - part), Ok(()));
        assert_eq!(second.try_grow(SMALL_BYTES_MAX + 1), Err(Full::Share));
        assert_eq!(second.try_grow(SMALL_BYTES_MAX), Ok(()));
        assert_eq!(second.try_grow(1), Err(Full::Share), "it is no longer small");
        assert_eq!(third.try_grow(SMALL_BYTES_MAX), Ok(()));
    }

    #[test]
    fn bounds_of_all_and_of_each() {
        let room = Room::new(100, 60);
        let shares: Vec<Arc<Share>> = (0..3).map(|_| Arc::default()).collect();
        let held = |share: usize| Held::nothing(room.seat(&shares[share]));
        let (mut first, mut second, mut third) = (held(0), held(1), held(2));
        assert_eq!(first.try_grow(29), Ok(()));
        assert_eq!(room.is_crowded(&shares[0]), Ok(()));
        assert_eq!(first.try_grow(1), Ok(()));
        assert_eq!(room.is_crowded(&shares[0]), Err(Full::Share));
        assert_eq!(first.try_grow(30), Ok(()));
        assert_eq!(first.try_grow(1), Err(Full::Share));
        assert_eq!(second.try_grow(41), Err(Full::Room));
        assert_eq!(room.is_crowded(&shares[1]), Err(Full::Room));
        assert_eq!(second.try_grow(40), Ok(()));
        assert_eq!(third.try_grow(1), Err(Full::Room));
        // What cannot be given up is counted beyond the bound.
        third.grow(10);
        assert_eq!((room.held(), third.bytes), (110, 10));
        drop(first);
        assert_eq!((room.held(), third.try_grow(50)), (50, Ok(())));
        drop((second, third));
        assert_eq!(room.held(), 0);
    }
}
