use std::pin::pin;
use std::sync::atomic::AtomicI64;
use std::task::{Context, Poll, Waker};

use armilla_value::{HashVersion, PartitionKey, hashed_key};

use super::*;

fn logical(text: &str) -> LogicalKey {
    let key = PartitionKey::from_json(text.as_bytes()).unwrap();
    LogicalKey::new(&key, &hashed_key(&key, HashVersion::V2), HashVersion::V2)
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[test]
fn first_come_first_served() {
    let locks = Arc::new(LogicalLocks::default());
    let (a, b) = (logical(r#"["a"]"#), logical(r#"["b"]"#));
    assert!(!locks.is_locked(&a));
    let first = poll(pin!(locks.join(&a, PassKind::Lock))).expect("the line is empty");
    assert!(locks.is_locked(&a) && !locks.is_locked(&b));
    let elsewhere = poll(pin!(locks.join(&b, PassKind::Lock))).expect("the line is empty");
    let (mut write_1, mut write_2) =
        (pin!(locks.join(&a, PassKind::Write)), pin!(locks.join(&a, PassKind::Write)));
    let mut hold_3 = pin!(locks.join(&a, PassKind::Lock));
    let mut write_4 = pin!(locks.join(&a, PassKind::Write));
    assert!(poll(write_1.as_mut()).is_none() && poll(write_2.as_mut()).is_none());
    assert!(poll(hold_3.as_mut()).is_none() && poll(write_4.as_mut()).is_none());
    drop(first);
    // Writers pass in company; the next holder waits for all of them, and those behind it for it.
    let (pass_1, pass_2) = (poll(write_1.as_mut()).unwrap(), poll(write_2.as_mut()).unwrap());
    assert!(poll(hold_3.as_mut()).is_none() && poll(write_4.as_mut()).is_none());
    assert!(locks.is_locked(&a), "a newcomer has to wait behind the one who waits");
    drop(pass_1);
    assert!(poll(hold_3.as_mut()).is_none());
    drop(pass_2);
    let pass_3 = poll(hold_3.as_mut()).unwrap();
    assert!(poll(write_4.as_mut()).is_none());
    drop(pass_3);
    let pass_4 = poll(write_4.as_mut()).unwrap();
    assert!(!locks.is_locked(&a), "writers do not keep others out");
    drop((pass_4, elsewhere));
    assert!(locks.lock().is_empty());
    assert_eq!(locks.count.load(Ordering::Relaxed), 0);
}

#[test]
fn a_task_that_goes_away_is_not_waited_for() {
    for kind in [PassKind::Write, PassKind::Lock] {
        for told in [false, true] {
            let locks = Arc::new(LogicalLocks::default());
            let a = logical(r#"["a"]"#);
            let first = poll(pin!(locks.join(&a, PassKind::Lock))).unwrap();
            let mut goes = Box::pin(locks.join(&a, kind));
            assert!(poll(goes.as_mut()).is_none());
            let mut stays = pin!(locks.join(&a, PassKind::Lock));
            assert!(poll(stays.as_mut()).is_none());
            if told {
                // It was let in, and goes before it hears of it.
                drop(first);
                assert!(poll(stays.as_mut()).is_none());
                drop(goes);
            } else {
                drop(goes);
                assert!(poll(stays.as_mut()).is_none());
                drop(first);
            }
            let pass = poll(stays.as_mut()).expect("no task is before it");
            drop(pass);
            assert!(locks.lock().is_empty(), "{kind:?}, told {told}");
        }
    }
}

/// Many who hold, write and give up at random: a holder is alone, and no task waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_holder_is_alone() {
    let locks = Arc::new(LogicalLocks::default());
    // What is inside: writers count up, a holder counts far down.
    let inside = Arc::new([const { AtomicI64::new(0) }; 2]);
    let mut tasks = Vec::new();
    for task in 0..16_u64 {
        let (locks, inside) = (locks.clone(), inside.clone());
        tasks.push(tokio::spawn(async move {
            let mut random = task + 1;
            for _ in 0..2_000 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = (random >> 33) as usize % 2;
                let key = logical(["[\"a\"]", "[\"b\"]"][place]);
                let (kind, weight) =
                    if random >> 60 < 4 { (PassKind::Lock, -1_000_000) } else { (PassKind::Write, 1) };
                let waiting = locks.join(&key, kind);
                let pass = if random >> 40 & 7 == 0 {
                    // Polled a few times, then given up.
                    tokio::select! {
                        biased;
                        pass = waiting => pass,
                        () = tokio::task::yield_now() => continue,
                    }
                } else {
                    waiting.await
                };
                let before = inside[place].fetch_add(weight, Ordering::SeqCst);
                match kind {
                    PassKind::Lock => assert_eq!(before, 0),
                    PassKind::Write => assert!(before >= 0),
                }
                if random >> 50 & 3 == 0 {
                    tokio::task::yield_now().await;
                }
                inside[place].fetch_sub(weight, Ordering::SeqCst);
                drop(pass);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(locks.lock().is_empty());
}
