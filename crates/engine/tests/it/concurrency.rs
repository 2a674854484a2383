//! Many callers at once.

use std::sync::Arc;

use armilla_engine::{ErrorKind, ResourceKind, ResourcePrecondition, check};

use crate::support::Fixture;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_name_is_given_once() {
    let fixture = Arc::new(Fixture::new().await);
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let fixture = fixture.clone();
        tasks.push(tokio::spawn(
            async move { fixture.engine.create_database(&fixture.caller, "d", None).await },
        ));
    }
    let mut created = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => created += 1,
            Err(error) => assert_eq!(error.kind, ErrorKind::AlreadyExists(ResourceKind::Database)),
        }
    }
    assert_eq!(created, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_while_containers_come_and_go() {
    let fixture = Arc::new(Fixture::with_container().await);
    let mut tasks = Vec::new();
    for writer in 0..8 {
        let fixture = fixture.clone();
        tasks.push(tokio::spawn(async move {
            for number in 0..100 {
                fixture.create_item(&fixture.caller, "c", &format!("{writer}-{number}"), "a").await.unwrap();
                // What happens in the container that comes and goes is either done or refused as gone.
                match fixture.create_item(&fixture.caller, "flash", &format!("{writer}-{number}"), "a").await
                {
                    Ok(_) => {}
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::OwnerNotFound(ResourceKind::Container), "{error}")
                    }
                }
            }
        }));
    }
    for _ in 0..20 {
        fixture.create_container("flash").await.unwrap();
        tokio::task::yield_now().await;
        let none = ResourcePrecondition::None;
        fixture.engine.delete_container(&fixture.caller, "d", "flash", none).await.unwrap();
    }
    for task in tasks {
        task.await.unwrap();
    }
    let report = check(&fixture.engine, &mut |_, _| {}).unwrap();
    assert_eq!((report.items, report.problems), (800, vec![]));
}
