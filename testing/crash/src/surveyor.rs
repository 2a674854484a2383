//! The client that has physical partitions split and merged while the others write: by command, by throughput, and by
//! leaving partitions that are too large to the server. It watches how far each is, and says when to kill.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use armilla_crash::http_client::Connection;
use armilla_crash::partitions::{self, ContainerState};
use armilla_crash::requests::{Composer, Target};
use armilla_env::{Env, Random};
use armilla_value::{Value, json};
use tokio::sync::oneshot;

use crate::aim::{Aim, Cause, Fate, Met, Step};
use crate::content::Area;
use crate::setup::{DATABASE, list, unexpected};
use crate::stop::Stop;
use crate::writer::Round;

/// Partitions of a container beyond which they are only merged.
const RANGES_MAX: usize = 6;

/// Request units a second of one physical partition, and those that a container goes back to.
const PARTITION_RU: u64 = 10_000;
const LOW_RU: u64 = 1_000;

/// Longest time that a split or merge may take here, where partitions hold megabytes.
const RESHAPE_TIMEOUT: Duration = Duration::from_secs(60);

/// The surveyor, over all rounds.
pub(crate) struct Surveyor {
    composer: Composer,
    pub(crate) done: Surveyed,
}

/// What it did in one round.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    /// Splits and merges that came to their end.
    pub(crate) finished: u64,
    /// Those that the server did not begin.
    pub(crate) refused: u64,
    /// What it saw last.
    pub(crate) sight: Sight,
    pub(crate) wrong: Option<String>,
}

/// What was seen last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sight {
    step: Step,
    cause: Option<Cause>,
    /// The container whose partitions are being changed.
    area: Option<Area>,
    /// Versions and live ranges of all maps.
    maps: BTreeMap<Area, (u64, BTreeSet<u32>)>,
}

/// Why the surveyor ends.
enum End {
    /// The moment to kill has come.
    Now,
    Stopped(Stop),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Stopped(Stop::Broken(error))
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> End {
        End::Stopped(stop)
    }
}

/// What a round gives the surveyor.
struct AtWork<'r> {
    connection: Connection,
    round: &'r Round,
    random: Random,
    aim: Option<Aim>,
}

/// Something to ask for.
struct Asked {
    cause: Cause,
    request: Vec<u8>,
    /// The status by which the server says that it will.
    accepted: u16,
}

impl Surveyor {
    pub(crate) fn new(env: &Env) -> Surveyor {
        Surveyor { composer: Composer::new(env), done: Surveyed::default() }
    }

    /// Works until the server is gone, or until the moment has come at which it is to be killed, which it says.
    pub(crate) async fn run(
        mut self,
        round: Arc<Round>,
        random: Random,
        aim: Option<Aim>,
        now: oneshot::Sender<()>,
    ) -> Surveyor {
        self.done = Surveyed::default();
        let stop = match Connection::open(round.address).await {
            Ok(connection) => {
                let mut work = AtWork { connection, round: &round, random, aim };
                loop {
                    match self.reshape(&mut work).await {
                        Ok(()) => {}
                        Err(End::Now) => {
                            // Whoever waits for this may have given up waiting.
                            let _ = now.send(());
                            return self;
                        }
                        Err(End::Stopped(stop)) => break stop,
                    }
                }
            }
            Err(error) => Stop::Broken(error),
        };
        self.done.wrong = stop.wrong(&round).map(|wrong| format!("surveyor: {wrong}"));
        self
    }

    /// Compares the maps after a restart with what was seen before; says what the end met.
    pub(crate) async fn restarted(&mut self, connection: &mut Connection) -> Result<Met, Vec<String>> {
        let before = std::mem::take(&mut self.done.sight);
        let states = match self.look(connection).await {
            Ok(states) => states,
            Err(End::Now) => Vec::new(),
            Err(End::Stopped(Stop::Wrong(wrong))) => return Err(vec![wrong]),
            Err(End::Stopped(_)) => {
                return Err(vec!["the server does not say what partitions it has".to_owned()]);
            }
        };
        let mut wrong = Vec::new();
        for (area, (version, _)) in &before.maps {
            let now = states.iter().find(|(own, _)| own == area).map(|(_, state)| state.map_version);
            if now.is_none_or(|now| now < *version) {
                let container = area.container();
                wrong.push(format!("the map of {container} had version {version} and now has {now:?}"));
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        Ok(before.met(&self.done.sight))
    }

    /// Waits until no partition is being split or merged.
    pub(crate) async fn rest(&mut self, connection: &mut Connection, env: &Env) -> Result<(), String> {
        const PERIOD: Duration = Duration::from_millis(20);
        let begin = env.clock.elapsed();
        loop {
            let states = match self.look(connection).await {
                Ok(states) => states,
                Err(End::Stopped(Stop::Wrong(wrong))) => return Err(wrong),
                Err(_) => return Err("the server does not say what partitions it has".to_owned()),
            };
            let Some((area, state)) = states.iter().find(|(_, own)| own.pending || own.is_splitting()) else {
                return Ok(());
            };
            if env.clock.elapsed() - begin > RESHAPE_TIMEOUT {
                return Err(format!("{} does not come to rest: {state:?}", area.container()));
            }
            env.clock.sleep(PERIOD).await;
        }
    }

    /// Sees to one split or merge, or to one change of throughput.
    async fn reshape(&mut self, work: &mut AtWork<'_>) -> Result<(), End> {
        let states = self.look(&mut work.connection).await?;
        self.done.sight.step = Step::Between;
        if let Some((area, state)) = states.iter().find(|(_, own)| own.pending || own.is_splitting()) {
            return self.watch(work, *area, state, Cause::Server).await;
        }
        let area = match work.random.below(10) {
            0..6 => Area::Items,
            6..8 => Area::Banks,
            _ => Area::Unique,
        };
        let Some((_, state)) = states.iter().find(|(own, _)| *own == area) else {
            return Err(Stop::Wrong(format!("nothing is said of {}", area.container())).into());
        };
        if state.throughput.is_some_and(|throughput| throughput > LOW_RU) && work.random.percent(70) {
            let request = self.offer(work, state, LOW_RU).await?;
            let reply = work.connection.exchange(&request).await?;
            return match reply.status {
                200 | 423 => Ok(()),
                _ => Err(Stop::Wrong(unexpected(&request, &reply, "200 or 423").to_string()).into()),
            };
        }
        let asked = self.choose(work, area, state).await?;
        if self.ask(work, area, &asked).await? {
            self.watch(work, area, state, asked.cause).await?;
        }
        Ok(())
    }

    async fn choose(
        &mut self,
        work: &mut AtWork<'_>,
        area: Area,
        state: &ContainerState,
    ) -> Result<Asked, End> {
        let ranges = &state.partitions;
        let merges = match ranges.len() {
            0 | 1 => 0,
            RANGES_MAX.. => 100,
            _ => 40,
        };
        let container = area.container();
        if work.random.percent(merges) {
            let at = work.random.index(ranges.len() - 1);
            let body = format!(r#"{{"ranges":["{}","{}"]}}"#, ranges[at].id, ranges[at + 1].id);
            let target = Target::Merge(DATABASE, container);
            let request = self.composer.compose("POST", target, &[], body.as_bytes());
            return Ok(Asked { cause: Cause::Merge, request, accepted: 202 });
        }
        if work.random.percent(25) {
            let throughput = (ranges.len() as u64 + 1) * PARTITION_RU;
            let request = self.offer(work, state, throughput).await?;
            return Ok(Asked { cause: Cause::Offer, request, accepted: 200 });
        }
        let range = &ranges[work.random.index(ranges.len())];
        let at = cut_inside(&range.min, &range.max, &mut work.random);
        let body = match (work.random.below(3), at) {
            (0, _) => "{}".to_owned(),
            (1, Some(at)) => format!(r#"{{"range":"{}","at":"{at}"}}"#, range.id),
            _ => format!(r#"{{"range":"{}"}}"#, range.id),
        };
        let target = Target::Split(DATABASE, container);
        let request = self.composer.compose("POST", target, &[], body.as_bytes());
        Ok(Asked { cause: Cause::Split, request, accepted: 202 })
    }

    /// Returns the request that gives a container a throughput.
    async fn offer(
        &mut self,
        work: &mut AtWork<'_>,
        state: &ContainerState,
        throughput: u64,
    ) -> Result<Vec<u8>, End> {
        let offers = list(&mut work.connection, &mut self.composer, Target::Offers, "Offers", &[]).await;
        let offers = offers.map_err(|error| match error.downcast_ref::<io::Error>() {
            Some(broken) => End::from(io::Error::new(broken.kind(), error.to_string())),
            None => Stop::Wrong(format!("{error:#}")).into(),
        })?;
        let is_own = |offer: &Value| offer.get("offerResourceId").and_then(Value::as_str) == Some(&state.rid);
        let changed = offers.into_iter().find(is_own).and_then(|offer| {
            let rid = offer.get("_rid").and_then(Value::as_str)?.to_owned();
            let Value::Object(mut offer) = offer else { return None };
            let Some(Value::Object(mut content)) = offer.remove("content") else { return None };
            content.insert("offerThroughput", i64::try_from(throughput).ok()?);
            offer.insert("content", Value::Object(content));
            Some((rid, json::to_string(&Value::Object(offer))))
        });
        match changed {
            Some((rid, body)) => Ok(self.composer.compose("PUT", Target::Offer(&rid), &[], body.as_bytes())),
            None => Err(Stop::Wrong(format!("{} has no offer", state.container)).into()),
        }
    }

    /// Asks for something; returns whether the server does it.
    async fn ask(&mut self, work: &mut AtWork<'_>, area: Area, asked: &Asked) -> Result<bool, End> {
        let sight = &mut self.done.sight;
        (sight.step, sight.cause, sight.area) = (Step::Begun, Some(asked.cause), Some(area));
        let clock = &work.round.env.clock;
        let begin = clock.elapsed();
        let aim = work.aim.filter(|aim| aim.is_met(self.done.finished, Step::Begun, None));
        let exchange = work.connection.exchange(&asked.request);
        let reply = match aim {
            None => exchange.await?,
            // The server may be killed before it has answered.
            Some(aim) => tokio::time::timeout(aim.delay, exchange).await.map_err(|_| End::Now)??,
        };
        match reply.status {
            status if status == asked.accepted => {}
            // Not to be cut, changed since we looked, or busy.
            400 | 409 | 410 | 423 => {
                self.done.refused += 1;
                self.done.sight.step = Step::Between;
                return Ok(false);
            }
            _ => {
                let wrong = unexpected(&asked.request, &reply, &asked.accepted.to_string());
                return Err(Stop::Wrong(wrong.to_string()).into());
            }
        }
        if let Some(aim) = aim {
            clock.sleep(aim.delay.saturating_sub(clock.elapsed() - begin)).await;
            return Err(End::Now);
        }
        Ok(true)
    }

    /// Watches a container until none of its partitions is being split or merged any more.
    async fn watch(
        &mut self,
        work: &mut AtWork<'_>,
        area: Area,
        before: &ContainerState,
        cause: Cause,
    ) -> Result<(), End> {
        let clock = &work.round.env.clock;
        let begin = clock.elapsed();
        let mut version = before.map_version;
        // When the server is to be killed. Until then it is watched on, to know what the kill meets.
        let mut end = None;
        (self.done.sight.cause, self.done.sight.area) = (Some(cause), Some(area));
        loop {
            let states = self.look(&mut work.connection).await?;
            let Some((_, state)) = states.iter().find(|(own, _)| *own == area) else {
                return Err(Stop::Wrong(format!("nothing is said of {} any more", area.container())).into());
            };
            let is_new = state.map_version > version;
            let step = match state.is_splitting() {
                _ if is_new => Step::Flipped,
                true => Step::of_percent(state.percent()),
                false => self.done.sight.step,
            };
            self.done.sight.step = step;
            let passed = self.done.finished;
            let aim = work.aim.filter(|aim| aim.is_met(passed, step, state.percent()));
            end = end.or(aim.map(|aim| clock.elapsed() + aim.delay));
            if end.is_some_and(|end| clock.elapsed() >= end) {
                return Err(End::Now);
            }
            self.done.finished += u64::from(is_new);
            version = state.map_version;
            let is_at_rest = !state.is_splitting() && !state.pending;
            let has_begun = version > before.map_version || matches!(cause, Cause::Server | Cause::Offer);
            if is_at_rest && has_begun && end.is_none() {
                return Ok(());
            }
            if let Some(why) = state.failed.as_ref().filter(|_| is_at_rest && state.failed != before.failed) {
                let wrong = format!("a {cause} of {} was given up: {why}", area.container());
                return Err(Stop::Wrong(wrong).into());
            }
            if clock.elapsed() - begin > RESHAPE_TIMEOUT {
                let wrong = format!("a {cause} of {} does not end: {state:?}", area.container());
                return Err(Stop::Wrong(wrong).into());
            }
        }
    }

    /// Asks for the partitions of the containers that live through all rounds, and notes the maps.
    async fn look(&mut self, connection: &mut Connection) -> Result<Vec<(Area, ContainerState)>, End> {
        let request = self.composer.compose("GET", Target::Partitions, &[], b"");
        let reply = connection.exchange(&request).await?;
        if reply.status != 200 {
            return Err(Stop::Wrong(unexpected(&request, &reply, "200").to_string()).into());
        }
        let states = partitions::parse(reply.body).map_err(Stop::Wrong)?;
        let mut own = Vec::new();
        for state in states.into_iter().filter(|state| state.database == DATABASE) {
            let Some(area) = Area::ALL.into_iter().find(|area| area.container() == state.container) else {
                continue;
            };
            let live = state.partitions.iter().map(|partition| partition.id).collect();
            self.done.sight.maps.insert(area, (state.map_version, live));
            own.push((area, state));
        }
        Ok(own)
    }
}

impl Sight {
    /// Says what the end of the server met, going by what was seen after the restart.
    fn met(&self, after: &Sight) -> Met {
        let ranges = |sight: &Sight| self.area.and_then(|area| sight.maps.get(&area).cloned());
        let fate = match (self.step, ranges(self), ranges(after)) {
            (Step::Between, _, _) | (_, None, _) => None,
            (Step::Flipped, _, _) => Some(Fate::Completed),
            (_, Some((_, before)), Some((_, after))) if before == after => Some(Fate::Gone),
            _ => Some(Fate::Completed),
        };
        Met { step: self.step, cause: self.cause.filter(|_| self.step != Step::Between), fate }
    }
}

/// Returns a hashed key inside an arc, if one can be found.
fn cut_inside(min: &str, max: &str, random: &mut Random) -> Option<String> {
    // The first 32 bits of the ring's end, beyond which no hashed key lies.
    const END: u64 = 0x4000_0000;
    let bits = |text: &str| u64::from_str_radix(text.get(..8)?, 16).ok();
    let from = if min.is_empty() { 0 } else { bits(min)? };
    let to = if max == "FF" { END } else { bits(max)? };
    let inside = to.checked_sub(from + 1).filter(|inside| *inside > 0)?;
    let first = from + 1 + random.below(inside);
    Some(format!("{first:08X}{:016X}{:08X}", random.next_u64(), random.below(1 << 32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_lie_inside() {
        let mut random = Random::new(5);
        for (min, max) in [
            ("", "FF"),
            ("", "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"),
            ("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "FF"),
            ("10000000AAAAAAAAAAAAAAAAAAAAAAAA", "10000002AAAAAAAAAAAAAAAAAAAAAAAA"),
        ] {
            for _ in 0..100 {
                let at = cut_inside(min, max, &mut random).unwrap();
                assert_eq!(at.len(), 32);
                assert!(min < at.as_str() && at.as_str() < max, "{min} {at} {max}");
            }
        }
        for (min, max) in [("10000000AA", "10000001AA"), ("1000", "FF"), ("10000000", "10000000")] {
            assert_eq!(cut_inside(min, max, &mut random), None, "{min} {max}");
        }
    }

    #[test]
    fn fates_follow_from_the_maps() {
        let sight = |step, version, live: &[u32]| Sight {
            step,
            cause: Some(Cause::Split),
            area: Some(Area::Items),
            maps: [(Area::Items, (version, live.iter().copied().collect()))].into(),
        };
        let cases: [(Step, &[u32], Option<Fate>); 5] = [
            (Step::Between, &[0], None),
            (Step::Begun, &[0], Some(Fate::Gone)),
            (Step::Copying, &[0], Some(Fate::Gone)),
            (Step::Closing, &[1, 2], Some(Fate::Completed)),
            (Step::Flipped, &[0], Some(Fate::Completed)),
        ];
        for (step, live, expected) in cases {
            let met = sight(step, 1, &[0]).met(&sight(Step::Between, 2, live));
            assert_eq!((met.step, met.fate), (step, expected));
            assert_eq!(met.cause.is_some(), expected.is_some());
        }
        assert_eq!(Sight::default().met(&Sight::default()).fate, None);
    }
}
