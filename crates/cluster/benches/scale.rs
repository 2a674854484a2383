//! What it takes to say where 100,000 partitions are, on 1,000 nodes: time of the coordinator, bytes of what is posted, moves.
//!
//! `cargo bench -p armilla-cluster --bench scale` prints the tables of `docs/cluster-scale.md`; `-- NODES PARTITIONS` are
//! other numbers.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use armilla_cluster::{Assignment, Living, NodeId, Note, Partition, PartitionId, Pins, Place, next};
use armilla_env::Random;

/// The length of a lease in seconds, and what part of it is between two records of a node and between two looks.
const LEASE_SECONDS: f64 = 6.0;
const RENEWALS: f64 = 3.0;
const LOOKS: f64 = 6.0;

/// Rounds after which it must have come to rest.
const ROUNDS_MAX: usize = 10_000;

struct World {
    assignment: Assignment,
    living: BTreeMap<NodeId, Living>,
    partitions: Vec<Partition>,
    made: usize,
}

/// Something that happens to the world, or to so many nodes of it.
type Change = fn(&mut World, usize);

/// What one change of the world took.
#[derive(Default)]
struct Took {
    /// The longest round, in milliseconds.
    round_ms: f64,
    rounds: usize,
    /// Partitions that are somewhere else.
    moved: usize,
    /// The most of which no node had at a time, while all nodes knew of every assignment within one look.
    away: usize,
    /// Bytes of the largest assignment.
    bytes: usize,
}

impl World {
    fn new(nodes: usize, partitions: usize) -> World {
        let mut random = Random::new(24);
        let mut world = World {
            assignment: Assignment::default(),
            living: BTreeMap::new(),
            partitions: (0..partitions)
                .map(|id| {
                    // A few are asked all the time, up to what one can take, most now and then.
                    let rank = random.between(1, partitions as u64);
                    Partition { id: PartitionId(id as u64 * 3), load: (4_000_000 / rank).min(10_000) }
                })
                .collect(),
            made: 0,
        };
        world.join(nodes);
        world
    }

    fn join(&mut self, count: usize) {
        for _ in 0..count {
            let mut random = Random::of_part(7, self.made as u64);
            let id = NodeId::new(&armilla_env::format_guid(random.guid_bytes()));
            let address = format!("node-{}.armilla.internal:8443", self.made);
            let note = Note { address, version: "0.1.0".to_owned(), ..Note::default() };
            self.living.insert(id, Living { note, is_quiet: false });
            self.made += 1;
        }
    }

    fn die(&mut self, count: usize) {
        let gone: Vec<NodeId> = self.living.keys().take(count).cloned().collect();
        for id in gone {
            self.living.remove(&id);
        }
    }

    fn drain(&mut self, count: usize) {
        for node in self.living.values_mut().take(count) {
            node.note.is_leaving = true;
        }
    }

    /// Posts assignments until nothing changes. Every node adopts each before the next.
    #[expect(clippy::disallowed_methods, reason = "the time that it really takes is what is wanted")]
    fn settle(&mut self) -> Took {
        let before = self.assignment.clone();
        let mut took = Took::default();
        loop {
            let start = Instant::now();
            let after = next(&self.assignment, &self.living, &self.partitions, &Pins::new());
            let posted = after.map(|after| (after.encode().len(), after));
            took.round_ms = took.round_ms.max(start.elapsed().as_secs_f64() * 1e3);
            let Some((bytes, after)) = posted else { break };
            took.bytes = took.bytes.max(bytes);
            took.rounds += 1;
            let away = after.places.values().filter(|place| matches!(place, Place::Leaving { .. })).count();
            took.away = took.away.max(away);
            for node in self.living.values_mut() {
                node.note.adopted = after.epoch;
            }
            self.assignment = after;
            assert!(took.rounds < ROUNDS_MAX, "it does not come to rest");
        }
        let has_moved = |(id, place): &(&PartitionId, &Place)| before.places.get(id) != Some(place);
        took.moved = self.assignment.places.iter().filter(has_moved).count();
        took
    }

    /// Returns the least and the most that a node has: partitions, and load in percent of what it would be evenly.
    fn spread(&self) -> (usize, usize, f64, f64) {
        let all: u64 = self.partitions.iter().map(|partition| partition.load).sum();
        let mut of_nodes: BTreeMap<&NodeId, (usize, u64)> =
            self.living.keys().map(|id| (id, (0, 0))).collect();
        for partition in &self.partitions {
            if let Some(of) = self.assignment.owner_of(partition.id).and_then(|node| of_nodes.get_mut(node)) {
                *of = (of.0 + 1, of.1 + partition.load);
            }
        }
        let even = all as f64 / self.living.len() as f64;
        let counts = || of_nodes.values().map(|of| of.0);
        let loads = || of_nodes.values().map(|of| of.1 as f64 / even * 100.0);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        (least, most, loads().fold(f64::MAX, f64::min), loads().fold(0.0, f64::max))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let (nodes, partitions) = match numbers[..] {
        [nodes, partitions] => (nodes, partitions),
        _ => (1_000, 100_000),
    };
    let mut out = io::stdout().lock();
    let mut world = World::new(nodes, partitions);
    writeln!(
        out,
        "| {nodes} nodes, {partitions} partitions | moved | rounds | longest round | at a time without a node |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    let tenth = (nodes / 10).max(1);
    let mut bytes = 0;
    let changes: [(&str, Change); 6] = [
        ("all at once, from nothing", |_, _| {}),
        ("a node dies", |world, _| world.die(1)),
        ("another comes", |world, _| world.join(1)),
        ("a tenth of the nodes die", |world, tenth| world.die(tenth)),
        ("as many come", |world, tenth| world.join(tenth)),
        ("a tenth are drained", |world, tenth| world.drain(tenth)),
    ];
    let mut even = None;
    for (name, change) in changes {
        change(&mut world, tenth);
        let Took { round_ms, rounds, moved, away, bytes: most } = world.settle();
        bytes = bytes.max(most);
        even.get_or_insert_with(|| world.spread());
        writeln!(out, "| {name} | {moved} | {rounds} | {round_ms:.0} ms | {away} |")?;
    }
    let (least, most, lightest, heaviest) = even.unwrap_or_default();
    writeln!(
        out,
        "\nPartitions of a node: {least} to {most}. Load of a node: {lightest:.0} to {heaviest:.0} % of the mean."
    )?;
    let renewals = nodes as f64 * RENEWALS / LEASE_SECONDS;
    let looks = nodes as f64 * LOOKS / LEASE_SECONDS;
    let pages = nodes.div_ceil(1_000) as f64;
    writeln!(out, "\n| what the object store is asked for, a second | |")?;
    writeln!(out, "|---|---|")?;
    writeln!(out, "| records written by nodes | {renewals:.0} |")?;
    writeln!(
        out,
        "| records read by the coordinator, after {:.0} lists | {renewals:.0} |",
        pages * LOOKS / LEASE_SECONDS * 2.0
    )?;
    writeln!(out, "| as many by each of the two that stand by | {renewals:.0} |")?;
    writeln!(out, "| looks at the record of the coordinator | {looks:.0} |")?;
    writeln!(out, "| looks at the assignment that is the same still | {looks:.0} |")?;
    writeln!(out, "| bytes of an assignment | {bytes} |")?;
    writeln!(out, "| bytes that all nodes read of a new one | {} MB |", bytes * nodes / 1_000_000)?;
    Ok(())
}
