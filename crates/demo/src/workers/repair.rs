//! Puts right what was written with a name that is not the user's any more.
//!
//! `cache` says why this and the spreading of names together miss nothing.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use armilla_client::Session;

use super::change::Change;
use super::names::{self, Naming};
use super::{Shared, Tally};
use crate::fan::{Doing, Fan};
use crate::model::{self, USERS_V3};
use crate::rows::string_member;

/// Compares the names in changed items with those of their users.
pub(super) async fn names(shared: &Shared, fan: &mut Fan, changes: &[Change<'_>]) -> Result<()> {
    let mut doubtful: Vec<&Change<'_>> = Vec::new();
    let pairs = changes.iter().map(|change| (&*change.user, &*change.name));
    let era = shared.names.compare(pairs, |index, known| {
        if known != Some(true) {
            doubtful.push(&changes[index]);
        }
    });
    if doubtful.is_empty() {
        return Ok(());
    }
    let users: HashSet<&str> = doubtful.iter().map(|change| &*change.user).collect();
    let users: Vec<UserId> = users.into_iter().map(|user| UserId(user.to_owned())).collect();
    let found = fan.each(users, read_name).await?;
    let found: HashMap<String, String> = found.into_iter().flatten().collect();
    for (user, name) in &found {
        shared.names.remember(era, user, name);
    }
    let mut wrong: HashMap<(&str, &str), &str> = HashMap::new();
    for change in doubtful {
        // Who is not there yet gets a name everywhere when the feed of users tells of it.
        if let Some(name) = found.get(&*change.user).filter(|name| ***name != *change.name) {
            wrong.insert((&change.post, &change.user), name);
        }
    }
    let namings = wrong.into_iter().map(|((post, user), name)| Naming {
        post: post.to_owned(),
        user: user.to_owned(),
        name: name.to_owned(),
    });
    let repaired = names::write_all(fan, namings.collect()).await?;
    Tally::add(&shared.tally.repairs, repaired);
    Ok(())
}

/// A user whose name is asked for.
struct UserId(String);

/// Reads the name of a user: the id, and the name if there is such a user.
fn read_name<'a>(session: &'a mut Session, UserId(user): &'a UserId) -> Doing<'a, Option<(String, String)>> {
    Box::pin(async move {
        let key = model::key(user);
        match session.read_item(USERS_V3.database, USERS_V3.container, &key, user).await {
            Ok(done) => {
                let name = string_member(&done.body, "username")?.into_owned();
                Ok(Some((user.clone(), name)))
            }
            Err(failure) if failure.is(404) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    })
}
