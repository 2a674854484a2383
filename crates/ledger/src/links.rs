//! Values of answers that come back in later requests: the sign of data that is put together by the caller.
//!
//! Some answers are watched for a moment (origins). A request that has a value of theirs follows them: from the path at
//! which the value was to where it stands in the request. A link counts its origins from the first that was followed on:
//! paths that never are cost nothing.
//!
//! Not here: which answers are watched (`gate`), and the values in them (`answer`).

use std::collections::{HashMap, VecDeque};

use crate::answer::{Answer, Entity};
use crate::limits::{
    FOLLOWED_PATHS_MAX, FULL_PAUSE_MS, IDLE_MS, LINKS_BYTES_MAX, LINKS_MAX, LIVE_BYTES_MAX, ORIGIN_LINKS_MAX,
    ORIGIN_MS, ORIGIN_REQUESTS, ORIGINS_MAX, REQUEST_HITS_MAX,
};
use crate::report::{Link, Slot};
use crate::sizes::{heap, table_entry};
use crate::weight::Weight;

/// A shape of a container's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ShapeRef {
    pub(crate) container: u64,
    pub(crate) shape: u32,
}

/// Where in a request a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Spot {
    Id,
    Key,
    /// The parameter at this place, from 0.
    Parameter(u16),
}

impl Spot {
    fn slot(self) -> Slot {
        match self {
            Spot::Id => Slot::Id,
            Spot::Key => Slot::Key,
            Spot::Parameter(at) => Slot::Parameter(format!("@{}", u32::from(at) + 1)),
        }
    }

    fn of(slot: &Slot) -> Option<Spot> {
        Some(match slot {
            Slot::Id => Spot::Id,
            Slot::Key => Spot::Key,
            Slot::Parameter(name) => {
                Spot::Parameter(name.strip_prefix('@')?.parse::<u16>().ok()?.checked_sub(1)?)
            }
        })
    }
}

/// A request that may follow answers.
#[derive(Debug)]
pub(crate) struct Follower<'f> {
    pub(crate) shape: ShapeRef,
    pub(crate) values: &'f [(Spot, u64)],
    pub(crate) weight: Weight,
    pub(crate) charge: u64,
    pub(crate) micros: u64,
    /// Whether it is a page after the first, which follows nothing that the first did not.
    pub(crate) is_continued: bool,
}

/// The links of a ledger, and the answers that are watched.
#[derive(Debug, Default)]
pub(crate) struct Links {
    origins: VecDeque<Origin>,
    /// Requests that came while answers were watched.
    requests: u64,
    /// What the answers take that are watched.
    live_bytes: usize,
    links: HashMap<LinkName, Counts>,
    /// Paths with links, by their numbers; and those of each shape, at most [`FOLLOWED_PATHS_MAX`].
    paths: HashMap<u32, FollowedPath>,
    of_shapes: HashMap<ShapeRef, Vec<u32>>,
    next_path: u32,
    /// What links and paths take.
    bytes: usize,
    full_until_ms: Option<i64>,
}

/// An answer that is watched.
#[derive(Debug)]
struct Origin {
    shape: ShapeRef,
    from_ms: i64,
    /// How many requests had come.
    from_request: u64,
    answer: Answer,
    /// What its own request was about: a request of the same shape that has it again follows nothing.
    own: Vec<(Spot, u64)>,
    /// The links by which it was followed.
    followed: Vec<LinkName>,
}

/// A path of a shape's answers, from which there is a link.
#[derive(Debug)]
struct FollowedPath {
    shape: ShapeRef,
    path: Box<str>,
    entity: Entity,
    origins: u64,
    rows: u64,
    links: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LinkName {
    path: u32,
    to: ShapeRef,
    spot: Spot,
}

#[derive(Debug, Default)]
struct Counts {
    followed: u64,
    follows: u64,
    charge: u64,
    micros: u64,
    last_ms: i64,
}

/// What an answer takes that is watched, without its values.
#[cfg(test)]
pub(crate) const ORIGIN_BYTES: usize = 2 * size_of::<Origin>()
    + 3 * ORIGIN_LINKS_MAX * size_of::<LinkName>()
    + 2 * crate::limits::REQUEST_VALUES_MAX * size_of::<(Spot, u64)>();

const LINK_BYTES: usize = table_entry(size_of::<(LinkName, Counts)>());

fn path_bytes(path: &str) -> usize {
    let of_shape = table_entry(size_of::<(ShapeRef, Vec<u32>)>()) + 4 * FOLLOWED_PATHS_MAX;
    table_entry(size_of::<(u32, FollowedPath)>()) + heap(path.len()) + of_shape
}

impl Links {
    /// Watches an answer; tells whether there was a place for it.
    pub(crate) fn watch(
        &mut self,
        now_ms: i64,
        shape: ShapeRef,
        own: Vec<(Spot, u64)>,
        answer: Answer,
    ) -> bool {
        self.expire(now_ms);
        let bytes = answer.bytes();
        let is_full = self.origins.len() >= ORIGINS_MAX || self.live_bytes + bytes > LIVE_BYTES_MAX;
        if answer.is_empty() || is_full {
            return false;
        }
        for number in self.of_shapes.get(&shape).into_iter().flatten() {
            let Some(path) = self.paths.get_mut(number) else { continue };
            path.count(&answer);
        }
        self.live_bytes += bytes;
        let (from_ms, from_request) = (now_ms, self.requests);
        self.origins.push_back(Origin { shape, from_ms, from_request, answer, own, followed: Vec::new() });
        true
    }

    /// Counts a request that may follow some of the answers.
    pub(crate) fn follow(&mut self, now_ms: i64, follower: &Follower<'_>) {
        self.requests = self.requests.wrapping_add(1);
        self.expire(now_ms);
        if !follower.is_continued {
            self.end_repeated(follower);
        }
        let mut hits: Vec<(u16, Spot)> = Vec::new();
        for at in 0..self.origins.len() {
            let origin = &self.origins[at];
            if now_ms < origin.from_ms {
                continue;
            }
            hits.clear();
            let is_alike = origin.shape == follower.shape;
            for (spot, hash) in follower.values {
                if is_alike && origin.own.iter().any(|(_, own)| own == hash) {
                    continue;
                }
                for path in origin.answer.paths_of(*hash) {
                    if hits.len() < REQUEST_HITS_MAX && !hits.contains(&(path, *spot)) {
                        hits.push((path, *spot));
                    }
                }
            }
            for (path, spot) in &hits {
                self.count(now_ms, at, usize::from(*path), *spot, follower);
            }
        }
    }

    fn count(&mut self, now_ms: i64, at: usize, path: usize, spot: Spot, follower: &Follower<'_>) {
        let origin = &self.origins[at];
        let number = self.number(origin.shape, &origin.answer.paths[path].path);
        let known = number.map(|path| LinkName { path, to: follower.shape, spot });
        let is_followed = known.is_some_and(|name| origin.followed.contains(&name));
        let is_full = origin.followed.len() >= ORIGIN_LINKS_MAX;
        if !is_followed && (follower.is_continued || is_full) {
            return;
        }
        let known = known.filter(|name| self.links.contains_key(name));
        let Some(name) = known.or_else(|| self.add(now_ms, at, path, spot, follower.shape)) else { return };
        let Some(counts) = self.links.get_mut(&name) else { return };
        counts.last_ms = counts.last_ms.max(now_ms);
        counts.charge = counts.charge.saturating_add(follower.weight.times(follower.charge));
        counts.micros = counts.micros.saturating_add(follower.weight.times(follower.micros));
        if !follower.is_continued {
            counts.follows = counts.follows.saturating_add(follower.weight.count());
        }
        let origin = &mut self.origins[at];
        if !origin.followed.contains(&name) {
            origin.followed.push(name);
            counts.followed = counts.followed.saturating_add(1);
        }
    }

    /// Adds a link, and its path if there is none from it yet.
    fn add(&mut self, now_ms: i64, at: usize, path: usize, spot: Spot, to: ShapeRef) -> Option<LinkName> {
        let shape = self.origins[at].shape;
        let path: Box<str> = self.origins[at].answer.paths[path].path.clone();
        while self.links.len() >= LINKS_MAX || self.bytes + LINK_BYTES + path_bytes(&path) > LINKS_BYTES_MAX {
            self.push_out(now_ms)?;
        }
        let number = match self.number(shape, &path) {
            Some(number) => number,
            None => {
                let number = self.add_path(shape, path, Entity::Unsaid)?;
                let Links { origins, paths, .. } = self;
                let path = paths.get_mut(&number)?;
                // Those that are watched already count as well.
                let others = origins.iter().filter(|origin| origin.shape == shape);
                others.for_each(|origin| path.count(&origin.answer));
                number
            }
        };
        Some(
            self.add_link(
                LinkName { path: number, to, spot },
                Counts { last_ms: now_ms, ..Counts::default() },
            ),
        )
    }

    fn add_link(&mut self, name: LinkName, counts: Counts) -> LinkName {
        if let Some(path) = self.paths.get_mut(&name.path) {
            path.links += 1;
        }
        self.bytes += LINK_BYTES;
        self.links.insert(name, counts);
        name
    }

    fn add_path(&mut self, shape: ShapeRef, path: Box<str>, entity: Entity) -> Option<u32> {
        let numbers = self.of_shapes.entry(shape).or_default();
        if numbers.len() >= FOLLOWED_PATHS_MAX {
            return None;
        }
        let number = self.next_path;
        self.next_path = self.next_path.wrapping_add(1);
        numbers.push(number);
        self.bytes += path_bytes(&path);
        self.paths.insert(number, FollowedPath { shape, path, entity, origins: 0, rows: 0, links: 0 });
        Some(number)
    }

    fn number(&self, shape: ShapeRef, path: &str) -> Option<u32> {
        let numbers = self.of_shapes.get(&shape)?;
        let is_it = |number: &&u32| self.paths.get(*number).is_some_and(|own| *own.path == *path);
        numbers.iter().find(is_it).copied()
    }

    /// Pushes out the link with the least charge of those that were not followed for an hour.
    fn push_out(&mut self, now_ms: i64) -> Option<()> {
        let pause = |until_ms: i64| until_ms.saturating_sub(FULL_PAUSE_MS)..until_ms;
        if self.full_until_ms.is_some_and(|until_ms| pause(until_ms).contains(&now_ms)) {
            return None;
        }
        let is_idle = |counts: &Counts| now_ms.saturating_sub(counts.last_ms) > IDLE_MS;
        let idle = self.links.iter().filter(|(_, counts)| is_idle(counts));
        match idle.map(|(name, counts)| (counts.charge, *name)).min() {
            Some((_, name)) => {
                self.remove(&name);
                Some(())
            }
            None => {
                self.full_until_ms = Some(now_ms.saturating_add(FULL_PAUSE_MS));
                None
            }
        }
    }

    fn remove(&mut self, name: &LinkName) {
        if self.links.remove(name).is_none() {
            return;
        }
        self.bytes -= LINK_BYTES;
        let Some(path) = self.paths.get_mut(&name.path) else { return };
        path.links -= 1;
        if path.links > 0 {
            return;
        }
        let shape = path.shape;
        self.bytes -= path_bytes(&path.path);
        self.paths.remove(&name.path);
        if let Some(numbers) = self.of_shapes.get_mut(&shape) {
            numbers.retain(|number| *number != name.path);
            if numbers.is_empty() {
                self.of_shapes.remove(&shape);
            }
        }
    }

    /// Ends answers whose request is made once more: what follows now follows that one.
    fn end_repeated(&mut self, follower: &Follower<'_>) {
        let is_repeated = |origin: &Origin| {
            origin.shape == follower.shape && !origin.own.is_empty() && origin.own == follower.values
        };
        if self.origins.iter().any(is_repeated) {
            self.origins.retain(|origin| !is_repeated(origin));
            self.count_live_bytes();
        }
    }

    fn expire(&mut self, now_ms: i64) {
        // A clock that was set far back ends them, too.
        let requests = self.requests;
        let lives = |origin: &Origin| {
            now_ms.abs_diff(origin.from_ms) < ORIGIN_MS.unsigned_abs()
                && requests.wrapping_sub(origin.from_request) <= ORIGIN_REQUESTS
        };
        if self.origins.iter().all(lives) {
            return;
        }
        self.origins.retain(lives);
        self.count_live_bytes();
    }

    /// Returns the links between shapes that are known, those that were followed most first.
    pub(crate) fn told(&self, is_known: impl Fn(ShapeRef) -> bool) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for (name, counts) in &self.links {
            let Some(path) = self.paths.get(&name.path) else { continue };
            if !is_known(path.shape) || !is_known(name.to) {
                continue;
            }
            links.push(Link {
                from_container: path.shape.container,
                from_shape: path.shape.shape,
                entity: path.entity.name().map(str::to_owned),
                path: path.path.to_string(),
                to_container: name.to.container,
                to_shape: name.to.shape,
                slot: name.spot.slot(),
                origins: path.origins,
                rows: path.rows,
                followed: counts.followed,
                follows: counts.follows,
                charge: counts.charge,
                micros: counts.micros,
            });
        }
        let from = |link: &Link| (link.from_container, link.from_shape, link.path.clone());
        let to = |link: &Link| (link.to_container, link.to_shape, link.slot.clone());
        links.sort_by_cached_key(|link| (std::cmp::Reverse(link.follows), from(link), to(link)));
        links
    }

    /// Adds what an earlier report says, of shapes that may be named otherwise now.
    pub(crate) fn restore(
        &mut self,
        now_ms: i64,
        told: &[Link],
        shape_of: impl Fn(ShapeRef) -> Option<ShapeRef>,
    ) {
        // The same path of several links was counted once.
        let mut counted: Vec<u32> = Vec::new();
        for link in told {
            let from = ShapeRef { container: link.from_container, shape: link.from_shape };
            let to = ShapeRef { container: link.to_container, shape: link.to_shape };
            let (Some(from), Some(to)) = (shape_of(from), shape_of(to)) else { continue };
            let Some(spot) = Spot::of(&link.slot) else { continue };
            let bytes = LINK_BYTES + path_bytes(&link.path);
            if self.links.len() >= LINKS_MAX || self.bytes + bytes > LINKS_BYTES_MAX {
                break;
            }
            let entity = link.entity.as_deref().map_or(Entity::Unsaid, |entity| Entity::Said(entity.into()));
            let known = self.number(from, &link.path);
            let Some(number) =
                known.or_else(|| self.add_path(from, link.path.as_str().into(), entity.clone()))
            else {
                continue;
            };
            if let Some(path) = self.paths.get_mut(&number)
                && !counted.contains(&number)
            {
                counted.push(number);
                path.origins = path.origins.saturating_add(link.origins);
                path.rows = path.rows.saturating_add(link.rows);
                path.entity.merge(&entity);
            }
            let name = LinkName { path: number, to, spot };
            if !self.links.contains_key(&name) {
                self.add_link(name, Counts { last_ms: now_ms, ..Counts::default() });
            }
            let Some(counts) = self.links.get_mut(&name) else { continue };
            counts.followed = counts.followed.saturating_add(link.followed);
            counts.follows = counts.follows.saturating_add(link.follows);
            counts.charge = counts.charge.saturating_add(link.charge);
            counts.micros = counts.micros.saturating_add(link.micros);
        }
    }

    pub(crate) fn forget_container(&mut self, container: u64) {
        let is_of = |name: &LinkName| {
            let from = self.paths.get(&name.path).map(|path| path.shape.container);
            name.to.container == container || from == Some(container)
        };
        let gone: Vec<LinkName> = self.links.keys().filter(|name| is_of(name)).copied().collect();
        gone.iter().for_each(|name| self.remove(name));
        self.origins.retain(|origin| origin.shape.container != container);
        self.count_live_bytes();
    }

    fn count_live_bytes(&mut self) {
        self.live_bytes = self.origins.iter().map(|origin| origin.answer.bytes()).sum();
    }

    /// Returns what all of it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let origins = self.origins.iter().map(|origin| {
            let own = heap(size_of::<(Spot, u64)>() * origin.own.capacity());
            2 * size_of::<Origin>() + own + heap(size_of::<LinkName>() * origin.followed.capacity())
        });
        self.bytes + self.live_bytes + origins.sum::<usize>()
    }
}

impl FollowedPath {
    /// Counts an answer if it has the path.
    fn count(&mut self, answer: &Answer) {
        let Some(path) = answer.paths.iter().find(|path| path.path == self.path) else { return };
        self.origins = self.origins.saturating_add(1);
        self.rows = self.rows.saturating_add(path.rows);
        self.entity.merge(&answer.entity);
    }
}
