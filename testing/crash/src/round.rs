//! One round: write, kill, check, restart, read everything back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::map::Map;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::{CheckOutcome, Launch, ServerProcess};
use armilla_env::{Env, Random};
use tokio::time::timeout;

use crate::aim::{Aim, Step};
use crate::ballast::Ballast;
use crate::banking::Banking;
use crate::content::Area;
use crate::folder;
use crate::ledger::{Commit, Ledger};
use crate::outcome::Report;
use crate::setup::{self, DATABASE};
use crate::splitting::Splitting;
use crate::tree::Gardener;
use crate::verify::{self, Counter};
use crate::writer::{HOT_KEY, Round, Writer};

/// Longest time that clients may take to notice that the server is gone.
const WRITERS_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time that a round waits for the step of a split at which the server is to be killed.
const AIM_TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes that a folder takes in the end of a run with splits, whose items come to a few megabytes: the journals and
/// buffers of the store, but not what every split left behind.
const FOLDER_BYTES_MAX: u64 = 320 * 1024 * 1024;

/// How often a map is asked for again that changes while it is compared.
const MAP_TRIES_MAX: usize = 100;

/// What happens in a round.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) round: u64,
    /// How long the writers write; at least, where a step of a split is waited for.
    pub(crate) write_ms: u64,
    /// At which moment of a split or merge the server is ended, where there are any.
    pub(crate) aim: Option<Aim>,
    /// Whether the server is asked to end rather than killed.
    pub(crate) graceful: bool,
    /// How long after its start it is killed once more, if it is.
    pub(crate) kill_while_starting_ms: Option<u64>,
    /// Whether the check runs on the folder itself before the restart, rather than on a copy of it.
    pub(crate) check_in_place: bool,
}

/// How many clients there are of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clients {
    /// Those that write single items.
    pub(crate) writers: usize,
    /// Those that write by transactions.
    pub(crate) tellers: usize,
    /// Items that nobody changes, where partitions are split and merged.
    pub(crate) ballast: Option<usize>,
}

/// Everything that lives through all rounds.
pub(crate) struct World {
    launch: Launch,
    env: Env,
    seed: u64,
    server: Option<ServerProcess>,
    composer: Composer,
    writers: Vec<Writer>,
    gardener: Option<Gardener>,
    banking: Banking,
    counters: Vec<Counter>,
    ledger: Ledger,
    /// The maps as clients know them since the last restart.
    maps: BTreeMap<Area, Map>,
    splitting: Option<Splitting>,
}

impl World {
    /// Starts a server on an empty folder and makes what the writers need.
    pub(crate) async fn new(launch: Launch, env: Env, seed: u64, clients: Clients) -> Result<World> {
        let mut composer = Composer::new(&env);
        let server = launch.start(&env).await?;
        let mut connection = Connection::open(server.address).await?;
        setup::create(&mut connection, &mut composer).await.context("cannot make the containers")?;
        let (mut ledger, mut maps) = (Ledger::default(), BTreeMap::new());
        for area in Area::ALL {
            let map = setup::map(&mut connection, &mut composer, area, None).await?;
            let map = map.context("there is no partition map")?;
            if let Some(wrong) = ledger.restarted(area, &map.ranges, 0).first() {
                bail!("a new container: {wrong}");
            }
            maps.insert(area, map);
        }
        let (banking, mut commits) = Banking::open(&mut connection, &mut composer, &env, clients.tellers)
            .await
            .context("cannot open the banks")?;
        let mut splitting = None;
        if let Some(ballast) = clients.ballast {
            let (opened, loaded) = Splitting::open(server.address, &composer, &env, ballast, seed).await?;
            commits.extend(loaded);
            splitting = Some(opened);
        }
        if let Some(wrong) = ledger.acknowledge(&commits).first() {
            bail!("the first items cannot be put in: {wrong}");
        }
        Ok(World {
            writers: (0..clients.writers).map(|number| Writer::new(number, &env)).collect(),
            gardener: Some(Gardener::new(&env)),
            counters: Vec::new(),
            ledger,
            maps,
            splitting,
            banking,
            server: Some(server),
            composer,
            launch,
            env,
            seed,
        })
    }

    /// Plays one round.
    pub(crate) async fn play(&mut self, plan: &Plan) -> Result<Report> {
        let mut server = self.server.take().context("no server is running")?;
        let log_start = self.launch.log_bytes();
        let mut differences = Vec::new();
        let round = Arc::new(Round {
            address: server.address,
            ending: AtomicBool::new(false),
            counter_id: format!("counter-{}", plan.round),
            env: self.env.clone(),
        });
        let mut commits = vec![self.create_counter(&round).await?];

        let part = |index: usize| Random::of_part(self.seed, (plan.round << 16) | (index as u64 + 1));
        let writing: Vec<_> = std::mem::take(&mut self.writers)
            .into_iter()
            .enumerate()
            .map(|(index, writer)| tokio::spawn(writer.run(round.clone(), part(index))))
            .collect();
        let gardener = self.gardener.take().context("no gardener is there")?;
        let gardening = tokio::spawn(gardener.run(round.clone(), part(writing.len())));
        let first_teller = writing.len() + 1;
        let banking = self.banking.start(&round, |index| part(first_teller + index));
        let first_surveyor = first_teller + banking.len();
        let randoms = [part(first_surveyor), part(first_surveyor + 1)];
        let splitting =
            self.splitting.as_mut().map(|own| own.start(&round, randoms, plan.aim)).transpose()?;

        let mut write_time = Duration::from_millis(plan.write_ms);
        let splitting = match (splitting, plan.aim.filter(|aim| aim.step != Step::Between)) {
            (Some(mut at_work), Some(_)) => {
                let begin = self.env.clock.elapsed();
                // Whether the moment came or not, the server is ended now.
                let _ = timeout(AIM_TIMEOUT, &mut at_work.now).await;
                write_time = self.env.clock.elapsed() - begin;
                Some(at_work)
            }
            (splitting, _) => {
                self.env.clock.sleep(write_time).await;
                splitting
            }
        };
        if let Some(status) = server.has_ended()? {
            differences.push(format!("the server ended by itself with {status}"));
        }
        round.ending.store(true, Ordering::Release);
        if plan.graceful {
            let status = server.terminate().await?;
            if !status.success() {
                differences.push(format!("the server ended with {status} after SIGTERM"));
            }
        } else {
            server.kill().await?;
        }
        for writer in writing {
            let writer = timeout(WRITERS_TIMEOUT, writer).await.context("a writer hangs")??;
            differences.extend(writer.done.wrong.clone());
            commits.extend_from_slice(&writer.done.commits);
            self.writers.push(writer);
        }
        let mut gardener = timeout(WRITERS_TIMEOUT, gardening).await.context("the gardener hangs")??;
        differences.extend(gardener.wrong.clone());
        let banked = self.banking.finish(banking, WRITERS_TIMEOUT).await?;
        differences.extend(banked.wrong);
        commits.extend_from_slice(&banked.commits);
        if let (Some(own), Some(at_work)) = (&mut self.splitting, splitting) {
            differences.extend(own.finish(at_work, WRITERS_TIMEOUT).await?);
        }
        self.note_counter(&round);
        let in_flight = self.in_flight() + banked.in_flight;
        differences.extend(self.ledger.acknowledge(&commits));

        if let Some(after_ms) = plan.kill_while_starting_ms {
            let starting = self.launch.spawn()?;
            self.env.clock.sleep(Duration::from_millis(after_ms)).await;
            drop(starting);
        }
        let check = if plan.check_in_place || self.launch.store.is_some() {
            self.launch.check(&self.env, &self.launch.data_dir).await?
        } else {
            self.check_copy().await?
        };
        differences.extend(check.failure());
        let server = self.launch.start(&self.env).await?;

        let begin = self.env.clock.elapsed();
        let mut connection = Connection::open(server.address).await?;
        let mut splits = None;
        if let Some(own) = &mut self.splitting {
            let mut random = Random::of_part(self.seed, plan.round << 16 | 0xFFFF);
            let (found, wrong) = own.restarted(&mut connection, &mut random).await?;
            differences.extend(wrong);
            splits = Some(found);
        }
        let findings = self.verify(&mut connection, plan.round).await?;
        differences.extend(findings.differences);
        let tree_changes = gardener.changes;
        let (tree_in_flight, tree_kept) = match gardener.verify(&mut connection).await {
            Ok(seen) => seen,
            Err(wrong) => {
                differences.extend(wrong);
                (false, false)
            }
        };
        self.gardener = Some(gardener);
        let kept = findings.kept.values().sum::<u64>() + u64::from(tree_kept);
        if plan.graceful && kept > 0 {
            differences.push(format!(
                "the server ended in peace and left {kept} writes that it had made unanswered"
            ));
        }
        differences.extend(self.launch.log_complaints(log_start)?);
        let report = Report {
            round: plan.round,
            ended: if plan.graceful { "ended " } else { "killed" },
            write_ms: u64::try_from(write_time.as_millis()).unwrap_or(u64::MAX),
            acknowledged: commits.len() as u64,
            in_flight: in_flight + u64::from(tree_in_flight),
            kept,
            transactions: banked.acts,
            refused: banked.refused,
            tree_changes,
            splits,
            killed_while_starting: plan.kill_while_starting_ms.is_some(),
            check: check.took,
            ready: server.ready_after,
            items: findings.items,
            verify: self.env.clock.elapsed() - begin,
            differences,
        };
        self.server = Some(server);
        Ok(report)
    }

    /// Ends the last server as one ends a server; where there were splits, reads everything once more when the last one
    /// is over, and looks at what the folder takes. Returns what is wrong.
    pub(crate) async fn finish(&mut self, rounds: u64) -> Result<Vec<String>> {
        let Some(server) = self.server.take() else { return Ok(Vec::new()) };
        let mut differences = Vec::new();
        if let Some(splitting) = &mut self.splitting {
            let mut connection = Connection::open(server.address).await?;
            splitting.rest(&mut connection, &self.env).await?;
            differences.extend(self.verify(&mut connection, rounds).await?.differences);
        }
        let status = server.terminate().await?;
        if !status.success() {
            bail!("the server ended with {status} after SIGTERM");
        }
        if self.splitting.is_some() {
            let check = self.launch.check(&self.env, &self.launch.data_dir).await?;
            differences.extend(check.failure());
            let bytes = folder::bytes(&self.launch.data_dir)?;
            if bytes > FOLDER_BYTES_MAX {
                differences
                    .push(format!("the folder takes {bytes} bytes, expected are at most {FOLDER_BYTES_MAX}"));
            }
            let verdict = check.output.lines().find(|line| line.starts_with("check:")).unwrap_or("no check");
            println!("{verdict}; the folder takes {} MB", bytes >> 20);
        }
        Ok(differences)
    }

    async fn create_counter(&mut self, round: &Round) -> Result<Commit> {
        let mut connection = Connection::open(round.address).await?;
        let body = format!(r#"{{"id":"{}","pk":"{HOT_KEY}","a":0,"b":0}}"#, round.counter_id);
        let key = partition_key(HOT_KEY);
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let target = Target::Items(DATABASE, Area::Items.container());
        let request = self.composer.compose("POST", target, &headers, body.as_bytes());
        let reply = setup::ask(&mut connection, &request, 201).await?;
        let token = reply.header("x-ms-session-token").context("no session token")?;
        Commit::parse(Area::Items, token).with_context(|| format!("the session token {token} is unknown"))
    }

    /// Notes what the shared item of the round may show.
    fn note_counter(&mut self, round: &Round) {
        let least = self.writers.iter().map(|writer| writer.done.counter_acknowledged).sum();
        let in_flight = self.writers.iter().filter(|writer| writer.done.counter_in_flight).count();
        let most = least + in_flight as i64;
        self.counters.push(Counter { id: round.counter_id.clone(), least, most });
    }

    fn in_flight(&self) -> u64 {
        let items = self.writers.iter().flat_map(|writer| &writer.slots);
        let counters = self.writers.iter().filter(|writer| writer.done.counter_in_flight).count();
        (items.filter(|slot| slot.in_flight.is_some()).count() + counters) as u64
    }

    async fn verify(&mut self, connection: &mut Connection, round: u64) -> Result<verify::Findings> {
        let mut random = Random::of_part(self.seed, round << 16);
        let slots = self.writers.iter_mut().flat_map(|writer| &mut writer.slots);
        let (composer, counters) = (&mut self.composer, &mut self.counters);
        let mut findings =
            verify::read_items(connection, composer, slots, counters, &self.ledger, &mut random).await?;
        let slots: Vec<_> = self.writers.iter().flat_map(|writer| &writer.slots).collect();
        let none = Ballast::default();
        let ballast = self.splitting.as_ref().map_or(&none, |splitting| &*splitting.ballast);
        verify::read_feeds(connection, composer, &slots, counters, ballast, &mut findings).await?;
        let banks = self.banking.verify(connection, composer).await?;
        findings.differences.extend(banks.differences);
        findings.items += banks.items;
        *findings.kept.entry(Area::Banks).or_default() += banks.kept;
        for area in Area::ALL {
            let (map, wrong) = self.map(connection, area).await?;
            findings.differences.extend(wrong);
            let kept = findings.kept.get(&area).copied().unwrap_or_default();
            findings.differences.extend(self.ledger.restarted(area, &map.ranges, kept));
            self.maps.insert(area, map);
        }
        Ok(findings)
    }

    /// Reads a map, and compares it with what a client has that is told what came since the last restart.
    async fn map(&mut self, connection: &mut Connection, area: Area) -> Result<(Map, Vec<String>)> {
        let known = self.maps.get(&area).context("a map was never read")?;
        for _ in 0..MAP_TRIES_MAX {
            let news = setup::map(connection, &mut self.composer, area, Some(known)).await?;
            let whole = setup::map(connection, &mut self.composer, area, None).await?;
            let whole = whole.context("there is no partition map")?;
            let (etag, told) = match &news {
                None => (&known.etag, known.ranges.clone()),
                Some(news) => (&news.etag, known.told(news)),
            };
            if *etag != whole.etag {
                // It has changed between the two.
                continue;
            }
            let mut wrong = whole.faults();
            if !whole.has_the_ranges(&told) {
                wrong.push(format!(
                    "a client that is told what came has {told:?}, the map is {:?}",
                    whole.ranges
                ));
            }
            let container = area.container();
            return Ok((whole, wrong.iter().map(|wrong| format!("map of {container}: {wrong}")).collect()));
        }
        bail!("the map of {} changes all the time", area.container())
    }

    /// Checks a copy of the folder, so that the server itself finds it as the crash left it.
    async fn check_copy(&self) -> Result<CheckOutcome> {
        let copy = self.launch.data_dir.with_extension("copy");
        folder::copy(&self.launch.data_dir, &copy).context("cannot copy the data folder")?;
        let outcome = self.launch.check(&self.env, &copy).await?;
        if outcome.status.success() {
            std::fs::remove_dir_all(&copy).context("cannot remove the copy of the data folder")?;
        }
        Ok(outcome)
    }
}
