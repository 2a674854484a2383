//! Room for what clients send and for what they have not taken yet.
//!
//! Whoever needs room that is not there waits a while, and meanwhile those give way who hold some and let the others
//! wait. Nobody waits without an end: then the client is asked to come again.

pub(crate) mod clients;
pub(crate) mod crowd;
pub(crate) mod descriptors;
pub(crate) mod flow;
pub(crate) mod gathered_body;
pub(crate) mod memory;
pub(crate) mod room;

use std::sync::Arc;

use armilla_env::{Clock, Env};
use bytes::Bytes;
use parking_lot::Mutex;

use crate::limits::{
    ANSWERS_BYTES_MAX, ANSWERS_SHARE_BYTES_MAX, BODIES_BYTES_MAX, BODIES_SHARE_BYTES_MAX,
    CONNECTION_ANSWERS_BYTES_ENOUGH, CONNECTION_ANSWERS_BYTES_MAX, ROOM_LOOK_PERIOD, ROOM_PATIENCE,
};
use crate::listening::activity::Activity;
use crate::rooms::clients::Clients;
use crate::rooms::crowd::{Crowd, Short};
use crate::rooms::room::{Full, Held, Room};

/// What there is room for, and who is there.
pub(crate) struct Rooms {
    bodies: Arc<Room>,
    answers: Arc<Room>,
    /// All connections.
    pub(crate) crowd: Arc<Crowd>,
    /// All clients.
    pub(crate) clients: Clients,
    clock: Arc<dyn Clock>,
}

/// There was no room for long enough.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Rooms {
    /// Makes the rooms of a server.
    pub(crate) fn new(env: &Env) -> Arc<Rooms> {
        Arc::new(Rooms {
            bodies: Room::new(BODIES_BYTES_MAX, BODIES_SHARE_BYTES_MAX),
            answers: Room::new(ANSWERS_BYTES_MAX, ANSWERS_SHARE_BYTES_MAX),
            crowd: Arc::default(),
            clients: Clients::default(),
            clock: env.clock.clone(),
        })
    }

    /// Returns the bytes of bodies and of answers that are held.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.bodies.held(), self.answers.held())
    }

    /// Begins with a body, of which nothing has come yet.
    pub(crate) fn body(&self, activity: &Activity) -> Held {
        let seat = activity.bodies_seat.get_or_init(|| self.bodies.seat(&activity.client.bodies));
        Held::nothing(seat.clone())
    }

    /// Takes room for more of a body. The time that this takes is not the client's.
    pub(crate) async fn grow_body(
        &self,
        activity: &Arc<Activity>,
        held: &Mutex<Held>,
        bytes: usize,
    ) -> Result<(), NoRoom> {
        let try_grow = || held.lock().try_grow(bytes);
        if try_grow().is_ok() {
            return Ok(());
        }
        let _paused = Paused::new(activity);
        self.wait(activity, Short::Bodies, try_grow).await
    }

    /// Waits until the answer to a request can be held, as far as its length can be told before. Returns a guard to be
    /// kept until it is there.
    pub(crate) async fn before_answer(
        &self,
        activity: &Arc<Activity>,
        bytes: usize,
    ) -> Result<Expected, NoRoom> {
        let expected = Expected::new(activity, bytes).await;
        let try_begin = || self.answers.is_crowded(&activity.client.answers);
        if try_begin().is_err() {
            self.wait(activity, Short::Answers, try_begin).await?;
        }
        Ok(expected)
    }

    /// Counts an answer until it has been sent. One that can be asked for again is given up where there is no room.
    pub(crate) fn hold_answer(
        &self,
        activity: &Arc<Activity>,
        bytes: Bytes,
        can_be_repeated: bool,
    ) -> Result<Bytes, NoRoom> {
        let length = bytes.len();
        let seat = activity.answers_seat.get_or_init(|| self.answers.seat(&activity.client.answers));
        let mut held = Held::nothing(seat.clone());
        let is_too_much = activity.answers.held() + length > CONNECTION_ANSWERS_BYTES_MAX;
        if can_be_repeated && is_too_much {
            return Err(NoRoom);
        }
        match held.try_grow(length) {
            Ok(()) => {}
            Err(full) => {
                self.make_room(activity, Short::Answers, full);
                if can_be_repeated {
                    return Err(NoRoom);
                }
                held.grow(length);
            }
        }
        activity.answers.hold(length, activity.now_ms());
        Ok(Bytes::from_owner(HeldAnswer { bytes, activity: activity.clone(), _held: held }))
    }

    async fn wait(
        &self,
        activity: &Arc<Activity>,
        short: Short,
        mut attempt: impl FnMut() -> Result<(), Full>,
    ) -> Result<(), NoRoom> {
        let end = self.clock.elapsed() + ROOM_PATIENCE;
        let room = match short {
            Short::Bodies => &self.bodies,
            Short::Answers => &self.answers,
        };
        let _waiting = room.wait();
        loop {
            // Before the attempt: what is given back in between is not missed.
            let freed = room.freed().notified();
            let Err(full) = attempt() else { return Ok(()) };
            if self.clock.elapsed() >= end {
                return Err(NoRoom);
            }
            self.make_room(activity, short, full);
            tokio::select! {
                () = freed => {}
                () = self.clock.sleep(ROOM_LOOK_PERIOD) => {}
            }
        }
    }

    fn make_room(&self, activity: &Arc<Activity>, short: Short, full: Full) {
        let client = match full {
            Full::Share => Some(&activity.client),
            Full::Room => None,
        };
        if self.crowd.close_slowest(short, client) {
            tracing::debug!(?short, ?full, "a connection gives way to others");
        }
    }
}

/// A body that waits for room.
struct Paused<'a>(&'a Activity);

impl Paused<'_> {
    fn new(activity: &Activity) -> Paused<'_> {
        activity.bodies.pause();
        Paused(activity)
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.bodies.resume(self.0.now_ms());
    }
}

/// An answer that is being made.
pub(crate) struct Expected {
    activity: Arc<Activity>,
    bytes: usize,
}

impl Expected {
    /// Waits until the connection has little enough that was not sent. The first is always made.
    async fn new(activity: &Arc<Activity>, bytes: usize) -> Expected {
        loop {
            let gone = activity.answer_gone.notified();
            let before = activity.expect(bytes);
            let all = before + activity.answers.held();
            // Made before it is known whether it is wanted: it gives back what it took.
            let expected = Expected { activity: activity.clone(), bytes };
            if all == 0 || all + bytes <= CONNECTION_ANSWERS_BYTES_ENOUGH {
                return expected;
            }
            expected.give_back_quietly();
            gone.await;
        }
    }

    fn give_back_quietly(mut self) {
        self.activity.expect_no_longer(self.bytes);
        self.bytes = 0;
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.activity.expect_no_longer(self.bytes);
            self.activity.answer_gone.notify_waiters();
        }
    }
}

/// An answer that has not been sent, or not all of it.
struct HeldAnswer {
    bytes: Bytes,
    activity: Arc<Activity>,
    _held: Held,
}

impl AsRef<[u8]> for HeldAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        self.activity.answers.release(self.bytes.len());
        self.activity.answer_gone.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armilla_env::SimulatedClock;

    use super::*;
    use crate::limits::{GIVES_WAY_AFTER, SMALL_BYTES_MAX, SMALL_PART};

    fn activity(rooms: &Rooms, env: &Env, address: &str) -> Arc<Activity> {
        let client = rooms.clients.at(address.parse().unwrap());
        Arc::new(Activity::new(env.clock.clone(), client))
    }

    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    async fn pass(clock: &SimulatedClock, time: Duration) {
        let steps = time.as_millis() / ROOM_LOOK_PERIOD.as_millis();
        for _ in 0..steps {
            settle().await;
            clock.advance(ROOM_LOOK_PERIOD);
        }
        settle().await;
    }

    #[tokio::test]
    async fn a_body_that_stands_still_gives_way() {
        let (env, clock) = Env::simulated(1);
        let rooms = Rooms::new(&env);
        let slow = activity(&rooms, &env, "192.0.2.1");
        let _guest = rooms.crowd.enter(slow.clone());
        let slow_held = Mutex::new(rooms.body(&slow));
        // As many bytes as a large body may take.
        let most = |bytes_max: usize| bytes_max - bytes_max / SMALL_PART;
        rooms.grow_body(&slow, &slow_held, most(BODIES_SHARE_BYTES_MAX)).await.unwrap();
        slow.bodies.hold(most(BODIES_SHARE_BYTES_MAX), slow.now_ms());

        // Another client has its own share.
        let other = activity(&rooms, &env, "192.0.2.2");
        let other_held = Mutex::new(rooms.body(&other));
        rooms
            .grow_body(&other, &other_held, most(BODIES_BYTES_MAX) - most(BODIES_SHARE_BYTES_MAX))
            .await
            .unwrap();
        assert!(!slow.is_to_close());

        // The same one waits for its own.
        let same = activity(&rooms, &env, "192.0.2.1");
        let (rooms_of_task, same_of_task) = (rooms.clone(), same.clone());
        let waiting = tokio::spawn(async move {
            let held = Mutex::new(rooms_of_task.body(&same_of_task));
            rooms_of_task.grow_body(&same_of_task, &held, SMALL_BYTES_MAX + 1).await
        });
        pass(&clock, GIVES_WAY_AFTER / 2).await;
        assert!(!slow.is_to_close() && !waiting.is_finished());
        pass(&clock, GIVES_WAY_AFTER).await;
        assert!(slow.is_to_close() && !waiting.is_finished());
        drop((slow_held, other_held));
        assert_eq!(waiting.await.unwrap(), Ok(()));
        assert_eq!(rooms.held(), (0, 0));
    }

    #[tokio::test]
    async fn nobody_waits_without_an_end() {
        let (env, clock) = Env::simulated(1);
        let rooms = Rooms::new(&env);
        let one = activity(&rooms, &env, "192.0.2.1");
        let held = Mutex::new(rooms.body(&one));
        held.lock().grow(BODIES_SHARE_BYTES_MAX);
        let (rooms_of_task, one_of_task) = (rooms.clone(), one.clone());
        let waiting = tokio::spawn(async move {
            let held = Mutex::new(rooms_of_task.body(&one_of_task));
            rooms_of_task.grow_body(&one_of_task, &held, 1).await
        });
        pass(&clock, ROOM_PATIENCE - ROOM_LOOK_PERIOD).await;
        assert!(!waiting.is_finished());
        pass(&clock, 2 * ROOM_LOOK_PERIOD).await;
        assert_eq!(waiting.await.unwrap(), Err(NoRoom));
    }

    #[tokio::test]
    async fn answers_are_counted_until_they_are_gone() {
        let (env, _clock) = Env::simulated(1);
        let rooms = Rooms::new(&env);
        let one = activity(&rooms, &env, "192.0.2.1");
        let answer = rooms.hold_answer(&one, Bytes::from(vec![0; 1_000]), true).unwrap();
        let part = answer.slice(10..20);
        drop(answer);
        assert_eq!((rooms.held().1, one.answers.held()), (1_000, 1_000));
        drop(part);
        assert_eq!((rooms.held().1, one.answers.held()), (0, 0));
    }

    /// What can be asked for again is given up beyond the bound of a connection; what was written is told.
    #[tokio::test]
    async fn answers_of_one_connection_are_bounded() {
        let (env, _clock) = Env::simulated(1);
        let rooms = Rooms::new(&env);
        let one = activity(&rooms, &env, "192.0.2.1");
        let _most =
            rooms.hold_answer(&one, Bytes::from(vec![0; CONNECTION_ANSWERS_BYTES_MAX]), true).unwrap();
        assert!(rooms.hold_answer(&one, Bytes::from_static(b"x"), true).is_err());
        assert!(rooms.hold_answer(&one, Bytes::from_static(b"x"), false).is_ok());
        let other = activity(&rooms, &env, "192.0.2.1");
        assert!(rooms.hold_answer(&other, Bytes::from_static(b"x"), true).is_ok());
    }

    /// Requests of a connection begin only while little of it is unsent.
    #[tokio::test]
    async fn requests_wait_for_their_connection() {
        let (env, _clock) = Env::simulated(1);
        let rooms = Rooms::new(&env);
        let one = activity(&rooms, &env, "192.0.2.1");
        let enough = Bytes::from(vec![0; CONNECTION_ANSWERS_BYTES_ENOUGH]);
        let held = rooms.hold_answer(&one, enough, true).unwrap();
        let (rooms_of_task, one_of_task) = (rooms.clone(), one.clone());
        let waiting = tokio::spawn(async move { rooms_of_task.before_answer(&one_of_task, 1).await.is_ok() });
        settle().await;
        assert!(!waiting.is_finished());
        drop(held);
        assert!(waiting.await.unwrap());
        // One that is larger than all of it is made alone.
        let alone = rooms.before_answer(&one, 2 * CONNECTION_ANSWERS_BYTES_ENOUGH).await.unwrap();
        let (rooms_of_task, one_of_task) = (rooms.clone(), one.clone());
        let waiting = tokio::spawn(async move { rooms_of_task.before_answer(&one_of_task, 1).await.is_ok() });
        settle().await;
        assert!(!waiting.is_finished());
        drop(alone);
        assert!(waiting.await.unwrap());
    }
}
