//! What the process does that has a partition, asked by one that has not: splitting and merging it, telling of it.

use std::time::Duration;

use armilla_container::wire::{In, Out, unreadable, wait};
use armilla_container::{PartitionFigures, Peer, PeerError, Whereabouts};
use armilla_kv::SpaceId;
use armilla_value::HashedKey;
use armilla_value::rid::ContainerRid;

use super::messages::{FIGURES, RESHAPE, done, read_answer};
use super::{Among, request, unavailable};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{FAR_FIGURES_PATIENCE, MOVE_PERIOD, RESHAPE_ASK_PATIENCE};
use crate::neighbours::{FarAccount, FarFigures, Wish};

impl Wish {
    fn write(&self, out: &mut Out) {
        out.u64(u64::from_be_bytes(self.container.to_bytes()));
        out.list(&self.parents, |out, id| out.u32(*id));
        out.option(self.cut.as_ref(), |out, cut| out.text(&cut.to_hex()));
    }

    fn read(from: &mut In) -> Result<Wish> {
        let container = ContainerRid::from_bytes(from.u64()?.to_be_bytes()).ok_or_else(unreadable)?;
        let parents = from.list(In::u32)?;
        let cut = from.option(In::text)?;
        let cut = cut.map(|cut| HashedKey::from_hex(&cut).ok_or_else(unreadable)).transpose()?;
        Ok(Wish { container, parents, cut })
    }
}

impl Among {
    /// Has partitions split or merged by the process that has them, if that is another one; where several have them, they
    /// are brought together before. Returns false where it is this one.
    pub(super) async fn send_wish(&self, spaces: &[SpaceId], wish: &Wish) -> Result<bool> {
        let began = self.env.clock.elapsed();
        let mut target: Option<String> = None;
        loop {
            let found: Vec<Whereabouts> = spaces.iter().map(|space| self.nodes.find(*space)).collect();
            let name = |place: &Whereabouts| match place {
                Whereabouts::Here { .. } => Some(self.nodes.name()),
                Whereabouts::At(peer) => Some(peer.name().to_owned()),
                Whereabouts::Nowhere => None,
            };
            let names: Vec<Option<String>> = found.iter().map(name).collect();
            if let Some(Some(first)) = names.first()
                && names.iter().all(|name| name.as_ref() == Some(first))
            {
                // They stay there until it is over; who does it says so again meanwhile.
                self.nodes.bring(spaces, first);
                match found.into_iter().next() {
                    Some(Whereabouts::At(peer)) => {
                        return self.ask_to_reshape(peer.as_ref(), wish).await.map(|()| true);
                    }
                    _ => return Ok(false),
                }
            }
            let tried = self.env.clock.elapsed().saturating_sub(began);
            if tried > RESHAPE_ASK_PATIENCE {
                return Err(unavailable_partitions());
            }
            if target.is_none() {
                target = names.into_iter().flatten().next();
            }
            if let Some(target) = &target {
                self.nodes.bring(spaces, target);
            }
            tokio::select! {
                () = self.nodes.changed() => {}
                () = self.env.clock.sleep(MOVE_PERIOD) => {}
            }
        }
    }

    /// Has new spaces given to this process, which is about to make partitions of them.
    pub(super) async fn gather(&self, spaces: &[SpaceId]) -> Result<()> {
        let began = self.env.clock.elapsed();
        loop {
            self.nodes.bring(spaces, &self.nodes.name());
            let is_here = |space: &SpaceId| matches!(self.nodes.find(*space), Whereabouts::Here { .. });
            if spaces.iter().all(is_here) {
                return Ok(());
            }
            if self.env.clock.elapsed().saturating_sub(began) > RESHAPE_ASK_PATIENCE {
                return Err(unavailable_partitions());
            }
            tokio::select! {
                () = self.nodes.changed() => {}
                () = self.env.clock.sleep(MOVE_PERIOD) => {}
            }
        }
    }

    async fn ask_to_reshape(&self, peer: &dyn Peer, wish: &Wish) -> Result<()> {
        let mut out = request(RESHAPE);
        wish.write(&mut out);
        let answer = peer.call(out.finish(), RESHAPE_ASK_PATIENCE).await.map_err(|error| match error {
            PeerError::NotSent(why) => unavailable(&why),
            PeerError::Unknown(why) => Error::new(ErrorKind::OutcomeUnknown, why),
        })?;
        Ok(read_answer(answer)?.end()?)
    }

    pub(super) fn serve_reshape(&self, mut from: In) -> Result<Out> {
        let wish = Wish::read(&mut from)?;
        from.end()?;
        let engine = self.engine().ok_or_else(|| unavailable("it is starting"))?;
        engine.reshape_here(wish)?;
        Ok(done())
    }

    /// Asks all other processes what their partitions do and hold. One that does not answer is left out.
    pub(super) async fn ask_for_figures(&self) -> FarAccount {
        let own = self.nodes.name();
        let others = self.nodes.table().into_iter().filter(|node| node.name != own);
        let peers = others.filter_map(|node| self.nodes.peer(&node.name));
        let asked: Vec<_> = peers
            .map(|peer| tokio::spawn(async move { figures_of(peer.as_ref(), FAR_FIGURES_PATIENCE).await }))
            .collect();
        let mut all = FarAccount::new();
        for answer in asked {
            match answer.await {
                Ok(Ok(told)) => {
                    for (rid, more) in told {
                        let known = all.entry(rid).or_default();
                        known.figures.extend(more.figures);
                        known.busy.extend(more.busy);
                        known.failed = known.failed.take().or(more.failed);
                    }
                }
                Ok(Err(error)) => tracing::info!(%error, "a node did not tell of its partitions"),
                Err(error) => tracing::error!(%error, "a node could not be asked"),
            }
        }
        all
    }

    pub(super) fn serve_figures(&self) -> Result<Out> {
        let engine = self.engine().ok_or_else(|| unavailable("it is starting"))?;
        let containers = engine.all_containers();
        let mut out = done();
        out.list(&containers, |out, container| {
            out.u64(u64::from_be_bytes(container.rid().to_bytes()));
            out.list(&container.container().figures(), |out, figures| figures.write(out));
            out.list(&container.reshaping().busy(), |out, id| out.u32(*id));
            out.option(container.reshaping().failed(), |out, failed| out.text(&failed));
        });
        Ok(out)
    }
}

async fn figures_of(peer: &dyn Peer, patience: Duration) -> Result<Vec<(ContainerRid, FarFigures)>> {
    let answer = peer.call(request(FIGURES).finish(), patience).await;
    let mut from = read_answer(answer.map_err(|error| unavailable(&error.to_string()))?)?;
    let told = from.list(|from| {
        let rid = ContainerRid::from_bytes(from.u64()?.to_be_bytes()).ok_or_else(unreadable)?;
        let figures = from.list(PartitionFigures::read)?;
        let busy = from.list(In::u32)?;
        Ok((rid, FarFigures { figures, busy, failed: from.option(In::text)? }))
    })?;
    from.end()?;
    Ok(told)
}

fn unavailable_partitions() -> Error {
    Error::new(ErrorKind::Unavailable, "the partitions could not be brought to one node in time: try again")
}

impl Engine {
    /// Returns what all other processes tell, on a thread that may wait.
    pub(crate) fn far_figures_now(&self) -> FarAccount {
        self.among().map(|among| wait(among.clone().far_figures())).unwrap_or_default()
    }

    /// Begins a split or merge of partitions of this process that another one was asked for.
    fn reshape_here(&self, wish: Wish) -> Result<()> {
        let Wish { container, parents, cut } = wish;
        let found = self.container_by_rid(container).ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, "the node does not know the container yet: try again")
        })?;
        found.reshape_by_command(parents, cut)
    }
}
