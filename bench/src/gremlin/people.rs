//! The graph that all sides hold: people who know each other, with few of them known by many, made from a seed.
//!
//! How many an edge leaves and how many it enters both follow a power law, each by an order of its own, so that those who
//! are known by many know as many as others do.

use std::collections::HashSet;
use std::io::Write;

use anyhow::{Result, ensure};
use armilla_env::Random;

/// Values of the partition key.
const PARTITIONS: usize = 1_000;

/// Vertices at least.
const VERTICES_MIN: usize = 100;

/// The seed of the graph; what is asked of it is drawn from another.
const SEED: u64 = 11;

/// The graph, with what every vertex leads to.
#[derive(Debug)]
pub(super) struct People {
    /// The neighbours of each, by where they begin in `known`.
    begins: Vec<u32>,
    known: Vec<u32>,
}

impl People {
    /// Makes a graph of some vertices and five times as many edges.
    pub(super) fn new(vertices: usize) -> Result<People> {
        ensure!(
            vertices >= VERTICES_MIN && u32::try_from(vertices.saturating_mul(5)).is_ok(),
            "there are at least {VERTICES_MIN} vertices, and fewer edges than 4 billion"
        );
        let mut random = Random::new(SEED);
        let mut edges: Vec<(u32, u32)> = (0..vertices * 5)
            .map(|_| {
                let from = skewed(&mut random, vertices);
                let to = (skewed(&mut random, vertices) + vertices / 2) % vertices;
                // Neighbours in number are not to be neighbours in the order of the load.
                (scattered(from, vertices) as u32, scattered(to, vertices) as u32)
            })
            .collect();
        edges.sort_unstable();
        let mut begins = vec![0_u32; vertices + 1];
        for (from, _) in &edges {
            begins[*from as usize + 1] += 1;
        }
        for index in 0..vertices {
            begins[index + 1] += begins[index];
        }
        Ok(People { begins, known: edges.into_iter().map(|(_, to)| to).collect() })
    }

    pub(super) fn vertices(&self) -> usize {
        self.begins.len() - 1
    }

    pub(super) fn edges(&self) -> usize {
        self.known.len()
    }

    /// Returns whom one knows.
    fn known_by(&self, index: usize) -> &[u32] {
        &self.known[self.begins[index] as usize..self.begins[index + 1] as usize]
    }

    /// Counts the different vertices that are so many steps away.
    pub(super) fn reached(&self, from: usize, hops: usize) -> u64 {
        let mut reached = HashSet::from([from as u32]);
        for _ in 0..hops {
            reached = reached.iter().flat_map(|index| self.known_by(*index as usize)).copied().collect();
        }
        reached.len() as u64
    }

    /// Writes every element as the item of a container, a line each.
    pub(super) fn write_items(&self, out: &mut impl Write) -> Result<()> {
        for index in 0..self.vertices() {
            let (id, pk, age) = (id(index), partition(index), age(index));
            writeln!(
                out,
                r#"{{"id":"{id}","label":"person","pk":"{pk}","name":[{{"id":"{id}|name","_value":"{}"}}],"age":[{{"id":"{id}|age","_value":{age}}}]}}"#,
                name(index),
            )?;
            for (place, to) in self.known_by(index).iter().enumerate() {
                let to = *to as usize;
                writeln!(
                    out,
                    r#"{{"id":"{id}-{place}","label":"knows","pk":"{pk}","_isEdge":true,"_vertexId":"{id}","_vertexLabel":"person","_sink":"{}","_sinkLabel":"person","_sinkPartition":"{}","weight":{}}}"#,
                    self::id(to),
                    partition(to),
                    weight(place),
                )?;
            }
        }
        Ok(())
    }

    /// Writes vertices and edges as lines of words, which the peer reads as it starts.
    pub(super) fn write_words(&self, vertices: &mut impl Write, edges: &mut impl Write) -> Result<()> {
        for index in 0..self.vertices() {
            writeln!(vertices, "{} {} {} {}", id(index), partition(index), name(index), age(index))?;
            for (place, to) in self.known_by(index).iter().enumerate() {
                let to = id(*to as usize);
                writeln!(edges, "{}-{place} {} {to} {}", id(index), id(index), weight(place))?;
            }
        }
        Ok(())
    }
}

/// Draws an index, low ones more often: the first vertex of n about as often as the square root of n of those at the end.
fn skewed(random: &mut Random, length: usize) -> usize {
    let even = random.index(1 << 30) as f64 / f64::from(1 << 30);
    ((even * even * length as f64) as usize).min(length - 1)
}

/// Puts indexes into another order.
fn scattered(index: usize, length: usize) -> usize {
    // A step without a common divisor with the length reaches every index once.
    let mut step = (length as f64 * 0.618) as usize | 1;
    while gcd(step, length) != 1 {
        step += 2;
    }
    index.wrapping_mul(step) % length
}

fn gcd(left: usize, right: usize) -> usize {
    if right == 0 { left } else { gcd(right, left % right) }
}

/// Returns the id of a loaded vertex.
pub(super) fn id(index: usize) -> String {
    format!("v{index:07}")
}

/// Returns the partition of a vertex.
pub(super) fn partition(index: usize) -> String {
    format!("p{:04}", index % PARTITIONS)
}

/// Returns the name of a vertex, which no other has.
pub(super) fn name(index: usize) -> String {
    format!("name-{:07}", (index * 7) % 10_000_000)
}

pub(super) fn age(index: usize) -> i32 {
    18 + (index % 60) as i32
}

fn weight(place: usize) -> f64 {
    (1 + place % 9) as f64 / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_known_by_many() {
        let people = People::new(5_000).unwrap();
        assert_eq!((people.vertices(), people.edges()), (5_000, 25_000));
        let mut degrees: Vec<usize> = (0..5_000).map(|index| people.known_by(index).len()).collect();
        degrees.sort_unstable();
        assert!(degrees[4_999] > 100, "{}", degrees[4_999]);
        assert!((1..5).contains(&degrees[2_500]), "{}", degrees[2_500]);
        let entered: HashSet<u32> = people.known.iter().copied().collect();
        assert!(entered.len() > 4_000);
        assert!(People::new(7).is_err());
    }

    #[test]
    fn all_forms_have_everything() {
        let people = People::new(200).unwrap();
        let (mut items, mut vertices, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        people.write_items(&mut items).unwrap();
        people.write_words(&mut vertices, &mut edges).unwrap();
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!((lines(&items), lines(&vertices), lines(&edges)), (1_200, 200, 1_000));
        for line in String::from_utf8(items).unwrap().lines() {
            armilla_value::json::parse(line.as_bytes()).unwrap();
        }
        let one = people.known_by(3).iter().collect::<HashSet<_>>().len() as u64;
        assert_eq!(people.reached(3, 1), one);
        assert!(people.reached(3, 2) >= one);
    }
}
