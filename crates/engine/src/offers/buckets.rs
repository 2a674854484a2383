//! Throughput buckets: how much of a container's throughput the requests may use that name one of them.
//!
//! They belong to the offer of a container. One that shares its database's throughput has none, as with the service.

use armilla_governor::BucketShares;

use super::Offer;
use crate::access::{Action, Caller};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::tree::Change;

impl Engine {
    /// Returns the shares of a container's throughput buckets.
    pub fn throughput_buckets(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
    ) -> Result<BucketShares> {
        caller.access.check_account(Action::Read)?;
        Ok(self.offer_of_container(database, container)?.buckets)
    }

    /// Gives a container's throughput buckets other shares, all of them, from the running second on.
    pub async fn set_throughput_buckets(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        buckets: BucketShares,
    ) -> Result<()> {
        caller.access.check_account(Action::Write)?;
        let mut writer = self.writer().await?;
        let mut offer = self.offer_of_container(database, container)?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        offer.buckets = buckets;
        offer.version = change.version;
        change.put(Offer::key(offer.number), offer.encode());
        change.commit().await?;
        let mut tree = self.tree_mut();
        tree.supply(&offer, self.limits(), self.env().clock.now_ms());
        tree.offers.insert(offer.number, offer);
        Ok(())
    }

    fn offer_of_container(&self, database: &str, container: &str) -> Result<Offer> {
        let found = self.container(database, container)?.container;
        self.tree().offer_of(&found.rid().to_string()).cloned().ok_or_else(|| {
            Error::invalid(
                "throughput buckets divide throughput of a container's own; this container shares its database's",
            )
        })
    }
}
