//! Where partitions go: evenly by their number and by their load, and few of them move.
//!
//! A partition weighs its share of all partitions plus its share of all load, so that a node with a partition that is asked
//! all the time has few others. What no node has goes to the node that weighs least, the heaviest first. Then, while two
//! nodes are too uneven, what evens them most goes from the heavier to the lighter.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::UNEVEN_PERCENT;
use crate::{NodeId, PartitionId};

/// A partition that is to be somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Which it is.
    pub id: PartitionId,
    /// What is asked of it, in request units a second, lately.
    pub load: u64,
}

/// A partition that is to be somewhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Which it is.
    pub partition: PartitionId,
    /// Where it is to be.
    pub to: NodeId,
    /// Where it is, if anywhere.
    pub from: Option<NodeId>,
}

/// What all shares of one kind add up to.
const WHOLE: u64 = 1 << 40;

/// A node while places are chosen.
#[derive(Default)]
struct Fill {
    weight: u64,
    /// What it has, by weight.
    has: BTreeSet<(u64, PartitionId)>,
}

/// Chooses places among `nodes` for the partitions that have none there, and at most `moves_max` others that go elsewhere.
///
/// `place_of` says where a partition is. The same input gives the same places.
pub fn place<'n>(
    nodes: &[NodeId],
    partitions: &[Partition],
    place_of: impl Fn(PartitionId) -> Option<&'n NodeId>,
    moves_max: usize,
) -> Vec<Move> {
    if nodes.is_empty() || partitions.is_empty() {
        return Vec::new();
    }
    let numbers: BTreeMap<&NodeId, usize> = nodes.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let all_load = partitions.iter().fold(0u64, |sum, partition| sum.saturating_add(partition.load)).max(1);
    let share = WHOLE / partitions.len() as u64;
    let weigh = |partition: &Partition| {
        let of_load = u128::from(WHOLE) * u128::from(partition.load) / u128::from(all_load);
        // It is at most the whole.
        share + of_load as u64
    };
    let mut fills: Vec<Fill> = nodes.iter().map(|_| Fill::default()).collect();
    let mut homeless = Vec::new();
    for partition in partitions {
        let weight = weigh(partition);
        match place_of(partition.id).and_then(|node| numbers.get(node)) {
            Some(number) => fills[*number].take(weight, partition.id),
            None => homeless.push((weight, partition.id)),
        }
    }
    let mut order: BTreeSet<(u64, usize)> =
        fills.iter().enumerate().map(|(number, fill)| (fill.weight, number)).collect();
    let mut moves = Vec::new();
    homeless.sort_by_key(|(weight, id)| (std::cmp::Reverse(*weight), *id));
    for (weight, partition) in homeless {
        let Some((_, lightest)) = order.pop_first() else { break };
        fills[lightest].take(weight, partition);
        order.insert((fills[lightest].weight, lightest));
        moves.push(Move { partition, to: nodes[lightest].clone(), from: None });
    }
    let total: u64 = fills.iter().map(|fill| fill.weight).sum();
    let allowed = total / nodes.len() as u64 * UNEVEN_PERCENT / 100;
    let mut moved = BTreeSet::new();
    for _ in 0..moves_max {
        let Some((least, lightest)) = order.first().copied() else { break };
        // One that cannot give anything, because what it has is heavy, does not keep the next one from giving.
        let uneven = order.iter().rev().take_while(|(most, _)| most - least > allowed);
        let mut found = uneven.filter_map(|(most, heavy)| {
            let (weight, partition) = fills[*heavy].what_evens(most - least, &moved)?;
            Some((*most, *heavy, weight, partition))
        });
        let Some((most, heaviest, weight, partition)) = found.next() else { break };
        order.remove(&(least, lightest));
        order.remove(&(most, heaviest));
        fills[heaviest].give(weight, partition);
        fills[lightest].take(weight, partition);
        order.insert((fills[lightest].weight, lightest));
        order.insert((fills[heaviest].weight, heaviest));
        moved.insert(partition);
        let (to, from) = (nodes[lightest].clone(), Some(nodes[heaviest].clone()));
        moves.push(Move { partition, to, from });
    }
    moves
}

impl Fill {
    fn take(&mut self, weight: u64, partition: PartitionId) {
        self.weight += weight;
        self.has.insert((weight, partition));
    }

    fn give(&mut self, weight: u64, partition: PartitionId) {
        self.weight -= weight;
        self.has.remove(&(weight, partition));
    }

    /// Returns the partition that makes two nodes most even which are `gap` apart, if any makes them more even than they are.
    fn what_evens(&self, gap: u64, moved: &BTreeSet<PartitionId>) -> Option<(u64, PartitionId)> {
        let half = gap / 2;
        let is_new = |found: &&(u64, PartitionId)| !moved.contains(&found.1);
        let below = self.has.range(..=(half, PartitionId(u64::MAX))).rev().find(is_new);
        let above = self.has.range((half + 1, PartitionId(0))..(gap, PartitionId(0))).find(is_new);
        // Weights are of the whole cluster, so that differences of one in a billion are rounding.
        let evens = |found: &&(u64, PartitionId)| found.0 < gap && gap - found.0 > WHOLE >> 30;
        let distance = |found: &(u64, PartitionId)| found.0.abs_diff(half);
        [below, above].into_iter().flatten().filter(evens).min_by_key(|found| distance(found)).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(count: usize) -> Vec<NodeId> {
        (0..count).map(|number| NodeId::new(&format!("n{number}"))).collect()
    }

    fn even(count: usize) -> Vec<Partition> {
        (0..count).map(|id| Partition { id: PartitionId(id as u64), load: 0 }).collect()
    }

    /// Does all moves, and returns how many it took.
    fn settle(nodes: &[NodeId], partitions: &[Partition], at: &mut BTreeMap<PartitionId, NodeId>) -> usize {
        let mut count = 0;
        loop {
            let moves = place(nodes, partitions, |id| at.get(&id), 1_000);
            if moves.is_empty() {
                return count;
            }
            count += moves.len();
            assert!(count < 100_000, "it never ends");
            for Move { partition, to, from } in moves {
                // What has a place on a node that is gone has none.
                let before = at.insert(partition, to).filter(|node| nodes.contains(node));
                assert_eq!(before, from);
            }
        }
    }

    fn counts(nodes: &[NodeId], at: &BTreeMap<PartitionId, NodeId>) -> Vec<usize> {
        nodes.iter().map(|node| at.values().filter(|owner| *owner == node).count()).collect()
    }

    #[test]
    fn partitions_are_spread_and_few_move() {
        let (three, partitions, mut at) = (nodes(3), even(90), BTreeMap::new());
        assert_eq!(settle(&three, &partitions, &mut at), 90);
        assert_eq!(counts(&three, &at), [30, 30, 30]);
        // One comes: it gets its part, less what is even enough, and nothing else moves.
        let four = nodes(4);
        let moved = settle(&four, &partitions, &mut at);
        assert!((20..=23).contains(&moved), "{moved}");
        assert!(counts(&four, &at).iter().all(|count| (20..=24).contains(count)), "{:?}", counts(&four, &at));
        // One goes: what it had is spread over the others.
        let gone = counts(&four, &at)[0];
        let left = &four[1..];
        let moved = settle(left, &partitions, &mut at);
        assert!((gone..gone + 4).contains(&moved), "{moved} of {gone}");
        assert!(counts(left, &at).iter().all(|count| (28..=32).contains(count)), "{:?}", counts(left, &at));
    }

    #[test]
    fn what_is_asked_all_the_time_has_its_node_for_itself() {
        let (three, mut at) = (nodes(3), BTreeMap::new());
        let mut partitions = even(31);
        partitions[7].load = 1_000;
        settle(&three, &partitions, &mut at);
        let with = counts(&three, &at)[three.iter().position(|node| *node == at[&PartitionId(7)]).unwrap()];
        assert_eq!(with, 1);
    }

    #[test]
    fn nothing_to_place_or_nowhere_to() {
        assert_eq!(place(&[], &even(3), |_| None, 9), []);
        assert_eq!(place(&nodes(2), &[], |_| None, 9), []);
        // More nodes than partitions: no partition goes to and fro.
        let (five, partitions, mut at) = (nodes(5), even(3), BTreeMap::new());
        assert_eq!(settle(&five, &partitions, &mut at), 3);
        assert_eq!(settle(&five, &partitions, &mut at), 0);
    }

    #[test]
    fn moves_are_bounded_and_what_has_no_place_is_not() {
        let (two, partitions) = (nodes(2), even(100));
        let first = two[0].clone();
        assert_eq!(place(&two, &partitions, |_| Some(&first), 5).len(), 5);
        assert_eq!(place(&two, &partitions, |_| None, 0).len(), 100);
    }

    proptest! {
        /// From any places, any loads: it ends, and no node is further from the lightest than is allowed, or than its own
        /// lightest partition weighs.
        #[test]
        fn it_ends_evenly(
            count in 1usize..8,
            loads in proptest::collection::vec((0u64..1_000, 0usize..12), 1..80),
        ) {
            let (all, nodes) = (nodes(12), nodes(count));
            let partitions: Vec<Partition> = loads
                .iter()
                .enumerate()
                .map(|(id, (load, _))| Partition { id: PartitionId(id as u64), load: *load })
                .collect();
            let mut at: BTreeMap<PartitionId, NodeId> = loads
                .iter()
                .enumerate()
                .map(|(id, (_, node))| (PartitionId(id as u64), all[*node].clone()))
                .collect();
            settle(&nodes, &partitions, &mut at);
            prop_assert!(at.values().all(|node| nodes.contains(node)));
            let load: u64 = loads.iter().map(|(load, _)| load).sum::<u64>().max(1);
            let weight = |id: PartitionId| {
                1.0 / loads.len() as f64 + loads[id.0 as usize].0 as f64 / load as f64
            };
            let fill = |node: &NodeId| -> f64 {
                at.iter().filter(|(_, owner)| *owner == node).map(|(id, _)| weight(*id)).sum()
            };
            let least = nodes.iter().map(fill).fold(f64::MAX, f64::min);
            let allowed = 2.0 / count as f64 * UNEVEN_PERCENT as f64 / 100.0;
            for node in &nodes {
                let own = at.iter().filter(|(_, owner)| *owner == node);
                let lightest = own.map(|(id, _)| weight(*id)).fold(f64::MAX, f64::min);
                let gap = fill(node) - least;
                prop_assert!(gap <= allowed + 1e-6 || lightest >= gap - 1e-6, "{} {} {}", gap, lightest, allowed);
            }
        }
    }
}
