//! Bodies through pipes in memory, on a simulated clock.

use armilla_env::{Env, SimulatedClock};
use http_body_util::BodyExt as _;
use tokio::sync::mpsc;

use super::*;
use crate::limits::{BODIES_SHARE_BYTES_MAX, ROOM_LOOK_PERIOD, ROOM_PATIENCE};

/// A body that comes by a channel, maybe with a length that was announced.
struct Channel {
    pieces: mpsc::Receiver<Bytes>,
    announced: Option<u64>,
}

impl Body for Channel {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let polled = self.pieces.poll_recv(cx);
        if let (Poll::Ready(Some(piece)), Some(announced)) = (&polled, &mut self.announced) {
            *announced -= piece.len() as u64;
        }
        polled.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.announced == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.announced.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

const TIMES: BodyTimes = BodyTimes { piece: Duration::from_secs(30), total: Duration::from_secs(100) };

struct World {
    env: Env,
    clock: Arc<SimulatedClock>,
    rooms: Arc<Rooms>,
    activity: Arc<Activity>,
}

impl World {
    fn new() -> World {
        let (env, clock) = Env::simulated(1);
        let rooms = Rooms::new(&env);
        let activity = Arc::new(Activity::new(env.clock.clone(), Arc::default()));
        World { env, clock, rooms, activity }
    }

    fn body(&self, announced: Option<u64>) -> (mpsc::Sender<Bytes>, GatheredBody<Channel>, Arc<BodyWatch>) {
        let (sender, pieces) = mpsc::channel(1);
        let inside = Channel { pieces, announced };
        let (body, watch) =
            GatheredBody::new(inside, TIMES, self.env.clock.clone(), &self.rooms, &self.activity);
        (sender, body, watch)
    }
}

/// Reads a body to which a piece of so many bytes comes after each of these waits; the last wait brings its end.
async fn read(waits_ms: &[u64], piece_bytes: usize) -> (Result<usize, String>, Option<GivenUp>) {
    let world = World::new();
    let (sender, body, watch) = world.body(None);
    let reading = tokio::spawn(async move {
        body.collect().await.map(|all| all.to_bytes().len()).map_err(|error| error.to_string())
    });
    let feed = async || {
        for (index, wait_ms) in waits_ms.iter().enumerate() {
            settle().await;
            world.clock.advance(Duration::from_millis(*wait_ms));
            settle().await;
            let piece = Bytes::from(vec![b'x'; piece_bytes]);
            if index + 1 < waits_ms.len() && sender.send(piece).await.is_err() {
                return;
            }
        }
    };
    feed().await;
    drop(sender);
    (reading.await.unwrap(), watch.given_up())
}

async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn times_are_kept() {
    let stopped = (Err("the request body stopped arriving".to_string()), Some(GivenUp::Stalled));
    let enough = PROGRESS_BYTES;
    assert_eq!(read(&[0, 0, 0], 1).await, (Ok(2), None));
    assert_eq!(read(&[29_999, 29_999, 29_999], enough).await, (Ok(2 * enough), None));
    assert_eq!(read(&[29_999, 30_000, 0], enough).await, stopped);
    assert_eq!(read(&[25_000, 25_000, 25_000, 24_999], enough).await, (Ok(3 * enough), None));
    assert_eq!(read(&[25_000, 25_000, 25_000, 25_000], enough).await, stopped);
}

/// A byte each ten seconds is as good as none.
#[tokio::test]
async fn there_is_a_least_rate() {
    let stopped = (Err("the request body stopped arriving".to_string()), Some(GivenUp::Stalled));
    assert_eq!(read(&[10_000, 10_000, 9_999, 0], 1).await, (Ok(3), None));
    assert_eq!(read(&[10_000, 10_000, 10_000, 0], 1).await, stopped);
    assert_eq!(read(&[29_999, 29_999], PROGRESS_BYTES - 1).await, stopped);
}

#[tokio::test]
async fn whole_bodies_are_not_copied() {
    let world = World::new();
    let (sender, mut body, _watch) = world.body(Some(5));
    let piece = Bytes::from_static(b"whole");
    sender.send(piece.clone()).await.unwrap();
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap().as_ptr(), piece.as_ptr());
    assert_eq!(world.rooms.held().0, 5);
}

/// Room is taken for what has come, not for what was announced, and given back with the request.
#[tokio::test]
async fn room_for_what_has_come() {
    let world = World::new();
    let (sender, mut body, watch) = world.body(Some(2_000_000));
    let reading = tokio::spawn(async move { body.frame().await.unwrap().unwrap().into_data().unwrap() });
    settle().await;
    assert_eq!(world.rooms.held().0, 0);
    sender.send(Bytes::from_static(b"x")).await.unwrap();
    settle().await;
    assert_eq!(world.rooms.held().0, BODY_GATHERED_BYTES_MIN);
    for _ in 0..1_999 {
        sender.send(Bytes::from(vec![b'x'; 1_000])).await.unwrap();
        settle().await;
        assert!(world.rooms.held().0 <= 2_000_000);
    }
    sender.send(Bytes::from(vec![b'x'; 999])).await.unwrap();
    assert_eq!(reading.await.unwrap().len(), 2_000_000);
    assert_eq!((world.rooms.held().0, world.activity.bodies.held()), (2_000_000, 0));
    drop(watch);
    assert_eq!(world.rooms.held().0, 0);
}

/// However it is cut, a body is one buffer of at most twice its length.
#[tokio::test]
async fn pieces_of_one_byte_cost_no_more() {
    let world = World::new();
    let (sender, body, _watch) = world.body(None);
    let reading = tokio::spawn(async move { body.collect().await.unwrap().to_bytes().len() });
    for count in 1..=10_000_usize {
        sender.send(Bytes::from_static(b"x")).await.unwrap();
        if count % 1_000 == 0 {
            settle().await;
            assert!(world.rooms.held().0 <= 2 * count, "{count}: {}", world.rooms.held().0);
        }
    }
    drop(sender);
    assert_eq!(reading.await.unwrap(), 10_000);
}

/// What is longer than any API takes is passed on in parts, for the API to refuse.
#[tokio::test]
async fn long_bodies_come_in_parts() {
    let world = World::new();
    let (sender, mut body, _watch) = world.body(None);
    let reading = tokio::spawn(async move {
        let mut lengths = Vec::new();
        while let Some(frame) = body.frame().await {
            lengths.push(frame.unwrap().into_data().unwrap().len());
        }
        lengths
    });
    for _ in 0..9 {
        sender.send(Bytes::from(vec![b'x'; BODY_GATHERED_BYTES_MAX / 4])).await.unwrap();
    }
    drop(sender);
    let lengths = reading.await.unwrap();
    assert_eq!(lengths, [BODY_GATHERED_BYTES_MAX, BODY_GATHERED_BYTES_MAX, BODY_GATHERED_BYTES_MAX / 4]);
}

/// A request that is dropped in the middle gives back what it holds.
#[tokio::test]
async fn dropped_bodies_hold_nothing() {
    let world = World::new();
    let (sender, mut body, watch) = world.body(None);
    let reading = tokio::spawn(async move { body.frame().await.is_some() });
    sender.send(Bytes::from(vec![b'x'; 5_000])).await.unwrap();
    settle().await;
    assert!(world.activity.bodies.held() >= 5_000);
    reading.abort();
    assert!(reading.await.is_err());
    assert_eq!(world.activity.bodies.held(), 0);
    drop(watch);
    assert_eq!(world.rooms.held().0, 0);
}

#[tokio::test]
async fn without_room_the_client_is_asked_to_come_again() {
    let world = World::new();
    let mut full = world.rooms.body(&world.activity);
    full.grow(BODIES_SHARE_BYTES_MAX);
    let (sender, body, watch) = world.body(Some(1));
    sender.send(Bytes::from_static(b"x")).await.unwrap();
    let reading = tokio::spawn(async move { body.collect().await.is_err() });
    let mut passed = Duration::ZERO;
    while passed <= ROOM_PATIENCE {
        assert!(!reading.is_finished());
        settle().await;
        world.clock.advance(ROOM_LOOK_PERIOD);
        passed += ROOM_LOOK_PERIOD;
    }
    assert!(reading.await.unwrap());
    assert_eq!(watch.given_up(), Some(GivenUp::NoRoom));
}
