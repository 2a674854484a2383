//! The published figures of the worked example, and how close ours have to come.
//!
//! Latencies and request units of ten operations in three versions of the data model, from the documentation of the
//! service that this project reimplements.

use crate::items::Version;

/// Physical partitions that the container of posts is taken to have had; with so many the fan-out costs what is
/// published. The number itself is not published (docs/request-units.md).
pub(crate) const PUBLISHED_PARTITIONS: u32 = 67;

/// Posts that the front page shows.
pub(crate) const FEED_POSTS: usize = 100;

/// An operation of the blog platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    C1,
    Q1,
    C2,
    Q2,
    Q3,
    C3,
    Q4,
    C4,
    Q5,
    Q6,
}

impl Operation {
    /// All of them, in the order of the published table.
    pub(crate) const ALL: [Operation; 10] = [
        Operation::C1,
        Operation::Q1,
        Operation::C2,
        Operation::Q2,
        Operation::Q3,
        Operation::C3,
        Operation::Q4,
        Operation::C4,
        Operation::Q5,
        Operation::Q6,
    ];

    /// Returns the short name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::C1 => "C1",
            Operation::Q1 => "Q1",
            Operation::C2 => "C2",
            Operation::Q2 => "Q2",
            Operation::Q3 => "Q3",
            Operation::C3 => "C3",
            Operation::Q4 => "Q4",
            Operation::C4 => "C4",
            Operation::Q5 => "Q5",
            Operation::Q6 => "Q6",
        }
    }

    /// Returns what it does.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Operation::C1 => "create a user",
            Operation::Q1 => "retrieve a user",
            Operation::C2 => "create a post",
            Operation::Q2 => "retrieve a post",
            Operation::Q3 => "list a user's posts",
            Operation::C3 => "create a comment",
            Operation::Q4 => "list a post's comments",
            Operation::C4 => "like a post",
            Operation::Q5 => "list a post's likes",
            Operation::Q6 => "list the 100 newest posts",
        }
    }

    fn row(self) -> usize {
        Operation::ALL.iter().position(|other| *other == self).expect("the list has every operation")
    }
}

/// What is published of an operation in a version.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Published {
    pub(crate) latency_ms: f64,
    pub(crate) charge: f64,
}

const fn published(latency_ms: f64, charge: f64) -> Published {
    Published { latency_ms, charge }
}

/// One row an operation, one column a version.
const TABLE: [[Published; 3]; 10] = [
    [published(7.0, 5.71), published(7.0, 5.71), published(7.0, 5.71)],
    [published(2.0, 1.0), published(2.0, 1.0), published(2.0, 1.0)],
    [published(9.0, 8.76), published(9.0, 8.76), published(9.0, 8.76)],
    [published(9.0, 19.54), published(2.0, 1.0), published(2.0, 1.0)],
    [published(130.0, 619.41), published(28.0, 201.54), published(4.0, 6.46)],
    [published(7.0, 8.57), published(7.0, 15.27), published(7.0, 15.27)],
    [published(23.0, 27.72), published(4.0, 7.72), published(4.0, 7.72)],
    [published(6.0, 7.05), published(7.0, 14.67), published(7.0, 14.67)],
    [published(59.0, 58.92), published(4.0, 8.92), published(4.0, 8.92)],
    [published(306.0, 2_063.54), published(83.0, 532.33), published(9.0, 16.97)],
];

/// Returns what is published of an operation in a version.
pub(crate) fn of(operation: Operation, version: Version) -> Published {
    TABLE[operation.row()][version as usize]
}

/// How close a charge has to come to what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    /// To the published figure, within this share of it.
    Within(f64),
    /// The published table repeats the figure of the first version, though the item has become larger since: to what
    /// the larger item costs by the same rules, within this share of it.
    Grown {
        /// What it costs by the rules.
        charge: f64,
        /// How close.
        within: f64,
    },
    /// The published operation counts by loading what it counts, and ours by the index: it may be cheaper, but not
    /// dearer than this share of the published figure.
    AtMost(f64),
}

/// Commands and the reading of one item.
const CLOSE: f64 = 0.04;

/// Lists.
const LISTS: f64 = 0.10;

/// Returns the bar of an operation in a version.
pub(crate) fn bar(operation: Operation, version: Version) -> Bar {
    use Operation::{C1, C2, C3, C4, Q1, Q2, Q3, Q4, Q5, Q6};
    match (operation, version) {
        // A user of V3 says what it is and whose: 2 leaves more, and a key that is not the id: 35 write units of 4/21.
        (C1, Version::V3) => Bar::Grown { charge: 6.67, within: CLOSE },
        // A post of V2 has a name and two counts more: 52 write units.
        (C2, Version::V2 | Version::V3) => Bar::Grown { charge: 9.90, within: CLOSE },
        (C1 | C2 | C3 | C4 | Q1, _) => Bar::Within(CLOSE),
        (Q2 | Q3 | Q6, Version::V1) => Bar::AtMost(1.0 + LISTS),
        (Q2 | Q3 | Q4 | Q5 | Q6, _) => Bar::Within(LISTS),
    }
}

impl Bar {
    /// Whether a charge keeps to the bar.
    pub(crate) fn is_kept(self, charge: f64, published: f64) -> bool {
        // Charges travel with two decimals.
        const ROUNDING: f64 = 0.0051;
        match self {
            Bar::Within(share) => (charge - published).abs() <= share * published + ROUNDING,
            Bar::Grown { charge: wanted, within } => (charge - wanted).abs() <= within * wanted + ROUNDING,
            Bar::AtMost(share) => charge <= share * published + ROUNDING,
        }
    }
}

/// The latency that is asked for: this share of the published one.
pub(crate) const LATENCY_SHARE: f64 = 0.1;

/// Returns how many items a client asks each physical partition for to find the newest: five times an even share, as
/// the service's own clients do.
pub(crate) fn feed_page_items(partitions: u32) -> usize {
    (FEED_POSTS.div_ceil(partitions.max(1) as usize) * 5).min(FEED_POSTS)
}

/// From so many posts in each physical partition on, the newest of it are found on a walk through the order of dates, as
/// in the published example, which has 41,000; of fewer it is quicker to sort all of them.
pub(crate) const FEED_SHAPE_POSTS_PER_PARTITION: u64 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_at_their_edges() {
        for (bar, charge, is_kept) in [
            (Bar::Within(0.04), 104.0, true),
            (Bar::Within(0.04), 104.01, false),
            (Bar::Within(0.04), 96.0, true),
            (Bar::Within(0.04), 95.99, false),
            (Bar::Grown { charge: 120.0, within: 0.05 }, 126.0, true),
            (Bar::Grown { charge: 120.0, within: 0.05 }, 100.0, false),
            (Bar::AtMost(1.1), 1.0, true),
            (Bar::AtMost(1.1), 110.0, true),
            (Bar::AtMost(1.1), 110.01, false),
        ] {
            assert_eq!(bar.is_kept(charge, 100.0), is_kept, "{bar:?} {charge}");
        }
    }

    #[test]
    fn model_of_charges_keeps_every_bar() {
        // From docs/request-units.md, in the order of the table.
        let model = [
            [5.71, 5.71, 6.67],
            [1.0, 1.0, 1.0],
            [8.76, 9.90, 9.90],
            [19.01, 1.0, 1.0],
            [608.38, 197.84, 6.55],
            [8.57, 15.67, 15.67],
            [27.59, 7.64, 7.64],
            [7.05, 14.14, 14.14],
            [58.80, 8.92, 8.92],
            [2_138.56, 524.65, 16.55],
        ];
        for (operation, charges) in Operation::ALL.into_iter().zip(model) {
            for (version, charge) in Version::ALL.into_iter().zip(charges) {
                let published = of(operation, version);
                assert!(
                    bar(operation, version).is_kept(charge, published.charge),
                    "{operation:?} {version:?}"
                );
            }
        }
    }

    #[test]
    fn pages_of_the_feed() {
        for (partitions, items) in [(0, 100), (1, 100), (4, 100), (20, 25), (67, 10), (100, 5), (1_000, 5)] {
            assert_eq!(feed_page_items(partitions), items, "{partitions}");
        }
    }
}
