//! One that wants the account for itself looks whether nodes serve it.

use std::sync::Arc;
use std::time::Duration;

use armilla_cluster::{Board, Member, MemberOptions};
use armilla_env::{Env, SimulatedClock};
use tokio::runtime::{Builder, Runtime};

const LENGTH: Duration = Duration::from_secs(6);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn joins(runtime: &Runtime, board: &Board, env: &Env) -> Member {
    let address = "127.0.0.1:7000".to_owned();
    let options = MemberOptions { address, version: "1".to_owned(), length: LENGTH };
    runtime.block_on(Member::join(board.clone(), options, env)).unwrap()
}

/// Looks who serves, while time passes; `meanwhile` is what others do then.
fn living(board: &Board, env: &Env, clock: &Arc<SimulatedClock>, meanwhile: impl Fn()) -> Vec<String> {
    runtime().block_on(async {
        let mut looked = std::pin::pin!(board.living(env));
        loop {
            tokio::select! {
                biased;
                found = &mut looked => return found.unwrap().into_iter().map(|note| note.address).collect(),
                () = tokio::task::yield_now() => {
                    clock.advance(Duration::from_millis(100));
                    meanwhile();
                }
            }
        }
    })
}

#[test]
fn a_node_that_was_paused_is_ended_before_another_has_the_account_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let board = Board::folder(folder.path()).unwrap();
    let (env, clock) = Env::simulated(1);
    // What nothing drives is a process that is paused.
    let paused = runtime();
    let member = joins(&paused, &board, &env);
    assert_eq!(living(&board, &env, &clock, || {}), Vec::<String>::new());
    // It wakes, and finds that it has ended: without that, its renewals went on, and two served the account.
    let lost = member.ownership().tenure();
    assert!(!lost.is_valid());
    paused.block_on(async {
        for _ in 0..100 {
            clock.advance(Duration::from_millis(100));
            tokio::task::yield_now().await;
        }
    });
    assert!(!lost.is_valid());
}

/// Gives what the runtime does time to reach the disk: the clock is simulated, and the disk is not.
async fn reach_the_disk() {
    tokio::task::yield_now().await;
    // The disk takes real time.
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(5))).await.unwrap();
    tokio::task::yield_now().await;
}

#[test]
fn a_node_that_keeps_its_record_up_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let board = Board::folder(folder.path()).unwrap();
    let (env, clock) = Env::simulated(1);
    let serving = runtime();
    let member = joins(&serving, &board, &env);
    let drive = || {
        std::thread::scope(|scope| {
            scope.spawn(|| serving.block_on(reach_the_disk()));
        });
    };
    assert_eq!(living(&board, &env, &clock, drive), ["127.0.0.1:7000"]);
    assert!(member.ownership().tenure().is_valid());
}
