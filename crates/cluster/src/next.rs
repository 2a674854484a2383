//! The next assignment, given what is known of the nodes.
//!
//! Nothing here asks a clock or an object store, and nothing that it is told can become wrong later: that a node has ended,
//! and what it has adopted. So an assignment made from old knowledge is a worse one, and never a wrong one.

use std::collections::{BTreeMap, BTreeSet};

use crate::assignment::{Assignment, Node, Place};
use crate::limits::{EVENING_MAX, MOVING_MAX, MOVING_PERMILLE};
use crate::note::Note;
use crate::placement::{Partition, place};
use crate::{NodeId, PartitionId};

/// A node that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Living {
    /// What it says of itself.
    pub note: Note,
    /// Whether it has said nothing for longer than it should: it keeps what it has, and gets nothing more.
    pub is_quiet: bool,
}

/// Nodes at which partitions are to be, whatever is even: because two of them are about to become one, say.
pub type Pins = BTreeMap<PartitionId, NodeId>;

impl Living {
    fn is_wanted(&self) -> bool {
        !self.is_quiet && !self.note.is_leaving
    }
}

/// Returns the assignment after `current`, if anything has to change.
///
/// `living` has every node that has not ended, as was found out after `current` had been read. `partitions` has every partition
/// that there is; one that is left out by mistake, or too late, is taken from its node as if it were to go elsewhere.
pub fn next(
    current: &Assignment,
    living: &BTreeMap<NodeId, Living>,
    partitions: &[Partition],
    pins: &Pins,
) -> Option<Assignment> {
    let epoch = current.epoch + 1;
    let nodes: BTreeMap<NodeId, Node> = living
        .iter()
        .map(|(id, living)| {
            let Note { address, version, is_leaving, .. } = &living.note;
            let (address, version) = (address.clone(), version.clone());
            (id.clone(), Node { address, version, is_leaving: *is_leaving })
        })
        .collect();
    let wanted: Vec<NodeId> =
        living.iter().filter(|(_, node)| node.is_wanted()).map(|(id, _)| id.clone()).collect();
    let mut places: BTreeMap<PartitionId, Place> = BTreeMap::new();
    let share = partitions.len() * MOVING_PERMILLE / 1_000;
    let moving_max = MOVING_MAX.max(share);
    let is_leaving = |place: &Place| matches!(place, Place::Leaving { .. });
    let mut moving = current.places.values().filter(|place| is_leaving(place)).count();
    let known: BTreeSet<PartitionId> = partitions.iter().map(|partition| partition.id).collect();
    for (id, before) in &current.places {
        let after = match before {
            Place::On(node) => match living.get(node) {
                None => None,
                Some(_) if !known.contains(id) => Some(Place::Leaving { node: node.clone(), since: epoch }),
                // The last node keeps what it has until it ends. What is taken is served by no node for a while.
                Some(owner) if owner.note.is_leaving && !wanted.is_empty() && moving < moving_max => {
                    moving += 1;
                    Some(Place::Leaving { node: node.clone(), since: epoch })
                }
                Some(_) => Some(before.clone()),
            },
            Place::Leaving { node, since } => {
                let has_left = living.get(node).is_none_or(|owner| owner.note.adopted >= *since);
                (!has_left).then(|| before.clone())
            }
        };
        places.extend(after.map(|place| (*id, place)));
    }
    let pinned = |id: &PartitionId| pins.get(id).filter(|node| wanted.contains(node));
    for id in &known {
        let Some(node) = pinned(id) else { continue };
        match places.get(id) {
            None => drop(places.insert(*id, Place::On(node.clone()))),
            Some(Place::On(other)) if other != node => {
                let leaving = Place::Leaving { node: other.clone(), since: epoch };
                places.insert(*id, leaving);
            }
            Some(_) => {}
        }
    }
    // What no other may have yet, and what has to be where it is, weighs nothing. What is on a node that gets nothing more stays there.
    let free: Vec<Partition> = partitions
        .iter()
        .filter(|partition| match places.get(&partition.id) {
            None => true,
            Some(Place::On(node)) => {
                living.get(node).is_some_and(Living::is_wanted) && pinned(&partition.id).is_none()
            }
            Some(Place::Leaving { .. }) => false,
        })
        .copied()
        .collect();
    // One thing after the other: what is under way would be forgotten in what is even. And what no node serves comes first: what
    // is opened now, and what one who says nothing may be about to leave behind.
    let is_unsettled = places.values().any(is_leaving)
        || living.values().any(|node| node.is_quiet)
        || known.iter().any(|id| !places.contains_key(id));
    let moves_max = if is_unsettled { 0 } else { EVENING_MAX.max(share) };
    let place_of = |id: PartitionId| match places.get(&id)? {
        Place::On(node) => Some(node),
        Place::Leaving { .. } => None,
    };
    for moved in place(&wanted, &free, place_of, moves_max) {
        let place = match moved.from {
            // What was given in this very round can be given to another as well.
            Some(node) if current.owner_of(moved.partition) == Some(&node) => {
                Place::Leaving { node, since: epoch }
            }
            _ => Place::On(moved.to),
        };
        places.insert(moved.partition, place);
    }
    let is_same = nodes == current.nodes && places == current.places;
    (!is_same).then_some(Assignment { epoch, nodes, places })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> NodeId {
        NodeId::new(name)
    }

    fn living(nodes: &[(&str, u64)]) -> BTreeMap<NodeId, Living> {
        let one = |adopted| Living { note: Note { adopted, ..Note::default() }, is_quiet: false };
        nodes.iter().map(|(name, adopted)| (id(name), one(*adopted))).collect()
    }

    fn partitions(count: u64) -> Vec<Partition> {
        (0..count).map(|id| Partition { id: PartitionId(id), load: 0 }).collect()
    }

    fn counts(assignment: &Assignment) -> Vec<(String, usize)> {
        let count = |node: &NodeId| (node.to_string(), assignment.of_node(node).count());
        assignment.nodes.keys().map(count).collect()
    }

    fn leaving(assignment: &Assignment) -> usize {
        assignment.places.values().filter(|place| matches!(place, Place::Leaving { .. })).count()
    }

    fn start() -> Assignment {
        next(&Assignment::default(), &living(&[("a", 0), ("b", 0)]), &partitions(20), &Pins::new()).unwrap()
    }

    #[test]
    fn what_no_node_has_is_given_at_once_and_then_nothing_changes() {
        let first = start();
        assert_eq!(first.epoch, 1);
        assert_eq!(counts(&first), [("a".to_owned(), 10), ("b".to_owned(), 10)]);
        assert_eq!(next(&first, &living(&[("a", 1), ("b", 1)]), &partitions(20), &Pins::new()), None);
        assert_eq!(next(&Assignment::default(), &living(&[]), &partitions(20), &Pins::new()), None);
    }

    #[test]
    fn what_a_node_that_lives_has_is_taken_from_it_and_given_once_it_knows() {
        let first = start();
        let taken =
            next(&first, &living(&[("a", 1), ("b", 1), ("c", 0)]), &partitions(20), &Pins::new()).unwrap();
        assert_eq!((taken.epoch, leaving(&taken)), (2, EVENING_MAX));
        assert_eq!(taken.of_node(&id("c")).count(), 0);
        // Nothing happens before they know, and no more is taken meanwhile.
        assert_eq!(
            next(&taken, &living(&[("a", 1), ("b", 1), ("c", 2)]), &partitions(20), &Pins::new()),
            None
        );
        let half =
            next(&taken, &living(&[("a", 2), ("b", 1), ("c", 2)]), &partitions(20), &Pins::new()).unwrap();
        assert_eq!((half.of_node(&id("c")).count(), leaving(&half)), (1, 1));
        let whole =
            next(&half, &living(&[("a", 3), ("b", 3), ("c", 3)]), &partitions(20), &Pins::new()).unwrap();
        assert_eq!((whole.of_node(&id("c")).count(), leaving(&whole)), (2, 0));
    }

    #[test]
    fn a_node_that_comes_gets_its_share_a_few_at_a_time() {
        let (mut all, mut rounds) = (start(), 0);
        loop {
            let epoch = all.epoch;
            let known = living(&[("a", epoch), ("b", epoch), ("c", epoch)]);
            let Some(after) = next(&all, &known, &partitions(20), &Pins::new()) else { break };
            assert!(leaving(&after) <= EVENING_MAX);
            (all, rounds) = (after, rounds + 1);
        }
        assert_eq!(counts(&all), [("a".to_owned(), 7), ("b".to_owned(), 7), ("c".to_owned(), 6)]);
        // One round takes, and the next one gives and can't take: nothing is taken while something is on its way.
        assert_eq!(rounds, 6);
    }

    #[test]
    fn nothing_is_moved_to_have_it_even_while_a_node_says_nothing_or_a_partition_has_no_node() {
        let first = start();
        let mut nodes = living(&[("a", 1), ("b", 1), ("c", 1)]);
        assert_eq!(leaving(&next(&first, &nodes, &partitions(20), &Pins::new()).unwrap()), EVENING_MAX);
        let given = next(&first, &nodes, &partitions(21), &Pins::new()).unwrap();
        assert_eq!((given.of_node(&id("c")).count(), leaving(&given)), (1, 0));
        nodes.get_mut(&id("a")).unwrap().is_quiet = true;
        assert_eq!(leaving(&next(&first, &nodes, &partitions(20), &Pins::new()).unwrap()), 0);
    }

    #[test]
    fn what_a_node_had_that_has_ended_is_given_at_once() {
        let after = next(&start(), &living(&[("b", 1)]), &partitions(20), &Pins::new()).unwrap();
        assert_eq!(counts(&after), [("b".to_owned(), 20)]);
        // Also what it was about to leave.
        let taken =
            next(&start(), &living(&[("a", 1), ("b", 1), ("c", 0)]), &partitions(20), &Pins::new()).unwrap();
        let after = next(&taken, &living(&[("c", 2)]), &partitions(20), &Pins::new()).unwrap();
        assert_eq!(counts(&after), [("c".to_owned(), 20)]);
    }

    #[test]
    fn one_that_is_about_to_end_gives_everything_up_unless_it_is_the_last() {
        let mut nodes = living(&[("a", 1), ("b", 1)]);
        nodes.get_mut(&id("a")).unwrap().note.is_leaving = true;
        let after = next(&start(), &nodes, &partitions(20), &Pins::new()).unwrap();
        assert_eq!((leaving(&after), after.of_node(&id("b")).count()), (10, 10));
        nodes.get_mut(&id("b")).unwrap().note.is_leaving = true;
        let both = next(&start(), &nodes, &partitions(20), &Pins::new()).unwrap();
        assert_eq!(both.places, start().places);
        // Others are told, so that neither waits for the other.
        assert!(both.nodes.values().all(|node| node.is_leaving));
        assert_eq!(next(&both, &nodes, &partitions(20), &Pins::new()), None);
    }

    #[test]
    fn a_node_with_much_is_drained_in_parts() {
        let many = partitions(3 * MOVING_MAX as u64);
        let mut all = next(&Assignment::default(), &living(&[("a", 0)]), &many, &Pins::new()).unwrap();
        let (mut rounds, mut most) = (0, 0);
        while all.of_node(&id("b")).count() < many.len() {
            let mut nodes = living(&[("a", all.epoch), ("b", all.epoch)]);
            nodes.get_mut(&id("a")).unwrap().note.is_leaving = true;
            all = next(&all, &nodes, &many, &Pins::new()).unwrap();
            (rounds, most) = (rounds + 1, most.max(leaving(&all)));
        }
        assert_eq!((rounds, most), (6, MOVING_MAX));
    }

    #[test]
    fn one_that_is_quiet_keeps_what_it_has_and_gets_nothing() {
        let mut nodes = living(&[("a", 1), ("b", 1)]);
        nodes.get_mut(&id("a")).unwrap().is_quiet = true;
        let after = next(&start(), &nodes, &partitions(24), &Pins::new()).unwrap();
        assert_eq!(counts(&after), [("a".to_owned(), 10), ("b".to_owned(), 14)]);
        assert_eq!(leaving(&after), 0);
    }

    #[test]
    fn partitions_come_and_go() {
        let fewer = next(&start(), &living(&[("a", 1), ("b", 1)]), &partitions(5), &Pins::new()).unwrap();
        assert_eq!((fewer.places.len(), leaving(&fewer)), (20, 15));
        // One who had not heard of it yet: what is there again is not given to another before its node knows.
        let again = next(&fewer, &living(&[("a", 1), ("b", 1)]), &partitions(20), &Pins::new());
        assert_eq!(again, None);
        let gone = next(&fewer, &living(&[("a", 2), ("b", 2)]), &partitions(5), &Pins::new()).unwrap();
        assert_eq!((gone.places.len(), leaving(&gone)), (5, 0));
        let more = next(&gone, &living(&[("a", 3), ("b", 3)]), &partitions(6), &Pins::new()).unwrap();
        assert_eq!((more.places.len(), leaving(&more)), (6, 0));
    }

    #[test]
    fn nodes_are_told_with_their_addresses() {
        let mut nodes = living(&[("a", 1), ("b", 1)]);
        nodes.get_mut(&id("a")).unwrap().note.address = "a:1".to_owned();
        let after = next(&start(), &nodes, &partitions(20), &Pins::new()).unwrap();
        assert_eq!((after.epoch, after.nodes[&id("a")].address.as_str()), (2, "a:1"));
    }

    #[test]
    fn what_is_to_be_at_a_node_gets_there_and_stays() {
        let nodes = living(&[("a", 1), ("b", 1)]);
        let first = start();
        let of_a = first.of_node(&id("a")).next().unwrap();
        let pins = Pins::from([(of_a, id("b"))]);
        let taken = next(&first, &nodes, &partitions(20), &pins).unwrap();
        assert_eq!(taken.places[&of_a], Place::Leaving { node: id("a"), since: 2 });
        let nodes = living(&[("a", 2), ("b", 2)]);
        let given = next(&taken, &nodes, &partitions(20), &pins).unwrap();
        assert_eq!(given.owner_of(of_a), Some(&id("b")));
        // It weighs nothing meanwhile, and one that is to be at a node that is not there goes anywhere.
        assert_eq!(next(&given, &living(&[("a", 3), ("b", 3)]), &partitions(20), &pins), None);
        let nowhere = Pins::from([(of_a, id("c"))]);
        assert_eq!(next(&first, &living(&[("a", 1), ("b", 1)]), &partitions(20), &nowhere), None);
        // One that nobody has gets there at once.
        let both: Pins = (0..20).map(|number| (PartitionId(number), id("b"))).collect();
        let all =
            next(&Assignment::default(), &living(&[("a", 0), ("b", 0)]), &partitions(20), &both).unwrap();
        assert_eq!(counts(&all), [("a".to_owned(), 0), ("b".to_owned(), 20)]);
    }
}
