//! A register is replaced by those who have seen what is in it, and by no other.

use std::sync::Arc;

use armilla_lease::{Register, RegisterError, Registers};
use object_store::memory::InMemory;
use object_store::path::Path;

async fn behaves(register: Register) {
    assert!(register.read().await.unwrap().is_none());
    let first = register.replace(None, "a".into()).await.unwrap();
    assert!(matches!(register.replace(None, "b".into()).await, Err(RegisterError::Other)));
    let (bytes, seen) = register.read().await.unwrap().unwrap();
    assert_eq!(bytes, "a");
    let second = register.replace(Some(&seen), "b".into()).await.unwrap();
    for old in [&first, &seen] {
        assert!(matches!(register.replace(Some(old), "c".into()).await, Err(RegisterError::Other)));
    }
    assert!(register.read_unless(&second).await.unwrap().is_none());
    let third = register.replace(Some(&second), "c".into()).await.unwrap();
    assert_eq!(register.read().await.unwrap().unwrap().0, "c");
    assert_eq!(register.read_unless(&second).await.unwrap().unwrap(), ("c".into(), third));
}

/// Several side by side, one of which is removed.
async fn are_listed(registers: Registers) {
    assert_eq!(registers.list().await.unwrap(), []);
    let (one, two) = (registers.register("one"), registers.register("two"));
    let first = one.replace(None, "a".into()).await.unwrap();
    two.replace(None, "b".into()).await.unwrap();
    let before = registers.list().await.unwrap();
    assert_eq!(before.iter().map(|listed| listed.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(registers.list().await.unwrap(), before);
    let second = one.replace(Some(&first), "c".into()).await.unwrap();
    let after = registers.list().await.unwrap();
    assert_ne!(after[0].mark, before[0].mark);
    assert_eq!(after[1], before[1]);
    registers.remove("one").await.unwrap();
    registers.remove("one").await.unwrap();
    assert_eq!(registers.list().await.unwrap(), before[1..]);
    assert!(one.read().await.unwrap().is_none());
    // What was removed is not what was seen.
    assert!(matches!(one.replace(Some(&second), "d".into()).await, Err(RegisterError::Other)));
}

/// Many count up at once; each number is written once.
async fn counts(register: Register) {
    let count = |register: Register| async move {
        let mut written = 0;
        while written < 20 {
            let found = register.read().await.unwrap();
            let number: u64 =
                found.as_ref().map_or(0, |(bytes, _)| std::str::from_utf8(bytes).unwrap().parse().unwrap());
            let next = (number + 1).to_string();
            match register.replace(found.as_ref().map(|(_, version)| version), next.into()).await {
                Ok(_) => written += 1,
                Err(RegisterError::Other) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    let counters: Vec<_> = (0..4).map(|_| tokio::spawn(count(register.clone()))).collect();
    for counter in counters {
        counter.await.unwrap();
    }
    assert_eq!(register.read().await.unwrap().unwrap().0, "80");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_memory() {
    let register = || Register::object(Arc::new(InMemory::new()), Path::from("deep/register"));
    behaves(register()).await;
    counts(register()).await;
    are_listed(Registers::objects(Arc::new(InMemory::new()), Path::from("deep"))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    behaves(Register::file(folder.path().join("first"))).await;
    counts(Register::file(folder.path().join("second"))).await;
    let many = folder.path().join("many");
    std::fs::create_dir(&many).unwrap();
    are_listed(Registers::folder(many)).await;
}
