//! What one holder and one that waits for it see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_env::{Clock, Env, SimulatedClock};
use armilla_lease::{Lease, LeaseOptions, Record, Register, RegisterError};
use armilla_testing_objects::{Fate, FaultyObjects, Op};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use tokio::task::JoinHandle;

const LENGTH: Duration = Duration::from_secs(6);

struct World {
    objects: Arc<dyn ObjectStore>,
    env: Env,
    clock: Arc<SimulatedClock>,
}

impl World {
    fn new() -> World {
        let (env, clock) = Env::simulated(1);
        World { objects: Arc::new(InMemory::new()), env, clock }
    }

    fn register(&self) -> Register {
        Register::object(self.objects.clone(), Path::from("owner"))
    }

    fn ask(&self, name: &str) -> JoinHandle<Lease> {
        let (register, env, name) = (self.register(), self.env.clone(), name.to_owned());
        tokio::spawn(async move {
            let options = LeaseOptions { name, length: LENGTH, note: String::new() };
            Lease::take(register, &options, &env, |_| {}).await.unwrap()
        })
    }

    /// Lets time pass, and everything happen that waits for it.
    async fn pass(&self, time: Duration) {
        let end = self.clock.elapsed() + time;
        settle().await;
        while self.clock.elapsed() < end {
            self.clock.advance(Duration::from_millis(100));
            settle().await;
        }
    }
}

async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_holder_keeps_it_and_another_waits_until_it_is_given_up() {
    let world = World::new();
    let first = world.ask("first").await.unwrap();
    let second = world.ask("second");
    world.pass(LENGTH * 10).await;
    assert!(first.tenure().is_valid());
    assert!(!second.is_finished());
    let tenure = first.tenure();
    first.release().await;
    assert!(!tenure.is_valid());
    // It looks from time to time.
    world.pass(LENGTH / 3).await;
    let second = second.await.unwrap();
    assert!(second.tenure().is_valid());
    assert_eq!(second.term(), 2);
}

#[tokio::test]
async fn what_has_died_keeps_others_waiting_for_a_length_and_no_longer() {
    let world = World::new();
    let first = world.ask("first").await.unwrap();
    let tenure = first.tenure();
    // It is gone without a word.
    drop(first);
    let second = world.ask("second");
    world.pass(LENGTH - Duration::from_millis(200)).await;
    assert!(!second.is_finished());
    world.pass(Duration::from_millis(400)).await;
    assert!(!tenure.is_valid(), "it ends before another has it");
    assert!(!second.is_finished());
    world.pass(LENGTH / 2).await;
    assert!(second.await.unwrap().tenure().is_valid());
}

#[tokio::test]
async fn who_lost_it_is_told() {
    let world = World::new();
    let first = world.ask("first").await.unwrap();
    let register = world.register();
    let (bytes, seen) = register.read().await.unwrap().unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    register.replace(Some(&seen), text.replace("first", "second").into()).await.unwrap();
    world.pass(LENGTH / 2).await;
    tokio::time::timeout(Duration::from_secs(5), first.lost()).await.unwrap();
    assert!(!first.tenure().is_valid());
    // There is nothing to give up.
    first.release().await;
    assert!(
        !std::str::from_utf8(&register.read().await.unwrap().unwrap().0).unwrap().contains("released=true")
    );
}

/// Another had found that a holder must have stopped, and marked its record, which still had its name. The holder took that for
/// a write of its own whose answer was lost, and went on.
#[tokio::test]
async fn who_was_found_to_have_ended_does_not_go_on() {
    let world = World::new();
    let lease = world.ask("first").await.unwrap();
    let tenure = lease.tenure();
    world.pass(LENGTH).await;
    let (bytes, version) = world.register().read().await.unwrap().unwrap();
    let ended = Record::decode(&bytes).unwrap().ended();
    world.register().replace(Some(&version), ended.encode()).await.unwrap();
    world.pass(LENGTH).await;
    assert!(!tenure.is_valid());
    lease.lost().await;
    let (bytes, _) = world.register().read().await.unwrap().unwrap();
    assert_eq!(Record::decode(&bytes).unwrap(), ended);
}

/// The answer to its first write was lost, and before it looked again others had found that it must have stopped. It took the
/// lease once more, under the name of which others knew that it had ended.
#[tokio::test]
async fn who_was_found_to_have_ended_does_not_begin() {
    let world = World::new();
    let is_first = AtomicBool::new(true);
    let plan = move |op, _: &Path| match op == Op::Put && is_first.swap(false, Ordering::Relaxed) {
        true => Fate { back: LENGTH, is_answer_lost: true, ..Fate::default() },
        false => Fate::default(),
    };
    let objects = FaultyObjects::new(world.objects.clone(), world.clock.clone(), Arc::new(plan));
    let register = Register::object(Arc::new(objects), Path::from("owner"));
    let env = world.env.clone();
    let taken = tokio::spawn(async move {
        let options = LeaseOptions { name: "first".to_owned(), length: LENGTH, note: String::new() };
        Lease::take(register, &options, &env, |_| {}).await.map(drop)
    });
    world.pass(LENGTH / 2).await;
    let (bytes, version) = world.register().read().await.unwrap().unwrap();
    let ended = Record::decode(&bytes).unwrap().ended();
    world.register().replace(Some(&version), ended.encode()).await.unwrap();
    world.pass(LENGTH).await;
    assert!(matches!(taken.await.unwrap(), Err(RegisterError::Other)));
}

#[tokio::test]
async fn what_a_holder_says_is_written_at_once_and_kept() {
    let world = World::new();
    let lease = world.ask("first").await.unwrap();
    let said = || async {
        let (bytes, _) = world.register().read().await.unwrap().unwrap();
        Record::decode(&bytes).unwrap().note
    };
    assert_eq!(said().await, "");
    lease.set_note("ready".to_owned());
    settle().await;
    assert_eq!(said().await, "ready");
    world.pass(LENGTH * 3).await;
    assert_eq!(said().await, "ready");
    lease.release().await;
    assert_eq!(said().await, "ready");
}

#[tokio::test]
async fn a_damaged_lease_is_not_taken() {
    let world = World::new();
    world.register().replace(None, "hello".into()).await.unwrap();
    let options = LeaseOptions { name: "one".to_owned(), length: LENGTH, note: String::new() };
    let taken = Lease::take(world.register(), &options, &world.env, |_| {}).await;
    assert!(taken.err().unwrap().to_string().contains("damaged"));
}
