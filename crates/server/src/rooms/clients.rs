//! The clients that are connected, each with its shares of what there is for all.
//!
//! A client is an address: that is what can be told before anything was read. An IPv6 client has a whole network of
//! addresses to send from, so there it is the network.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::rooms::room::Share;

/// One client.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// What it holds of the room for request bodies.
    pub(crate) bodies: Arc<Share>,
    /// What it holds of the room for answers.
    pub(crate) answers: Arc<Share>,
}

/// All clients with an open connection.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    clients: HashMap<IpAddr, Weak<Client>>,
    /// Those that are gone are forgotten when there are as many.
    forget_at: usize,
}

/// The least number of clients at which it is worth while to look for those that are gone.
const FORGET_AT_LEAST: usize = 64;

impl Clients {
    /// Returns the client at an address.
    pub(crate) fn at(&self, address: IpAddr) -> Arc<Client> {
        let mut known = self.known.lock();
        let key = network(address);
        if let Some(client) = known.clients.get(&key).and_then(Weak::upgrade) {
            return client;
        }
        if known.clients.len() >= known.forget_at.max(FORGET_AT_LEAST) {
            known.clients.retain(|_, client| client.strong_count() > 0);
            known.forget_at = 2 * known.clients.len();
        }
        let client = Arc::new(Client::default());
        known.clients.insert(key, Arc::downgrade(&client));
        client
    }
}

/// Returns the address of an IPv4 client, the first half of that of an IPv6 one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_for_each_address() {
        let clients = Clients::default();
        let at = |text: &str| clients.at(text.parse().unwrap());
        for (one, other, is_same) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8::1", "2001:db8::ffff", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
        ] {
            let (one, other) = (at(one), at(other));
            assert_eq!(Arc::ptr_eq(&one, &other), is_same);
        }
    }

    #[test]
    fn those_that_are_gone_are_forgotten() {
        let clients = Clients::default();
        let stays = clients.at("192.0.2.1".parse().unwrap());
        for number in 0..10_000_u32 {
            clients.at(IpAddr::V4(number.into()));
        }
        let known = clients.known.lock();
        assert!(known.clients.len() <= FORGET_AT_LEAST + 1, "{}", known.clients.len());
        drop(known);
        assert!(Arc::ptr_eq(&stays, &clients.at("192.0.2.1".parse().unwrap())));
    }
}
