//! Names of users go into the posts, comments and likes that have another.

use anyhow::{Context as _, Result, bail};
use armilla_client::{Query, Scope, Session};
use armilla_value::{Value, json};

use super::{Shared, Tally};
use crate::fan::{Doing, Fan};
use crate::limits::{ATTEMPTS_MAX, PAGE_ROWS_MAX};
use crate::model::{self, POSTS_V2, scripts};
use crate::rows::{Rows, members, string};

/// Where somebody has items with another name. Only these logical partitions are written to.
const OTHER_NAMES: &str =
    "SELECT DISTINCT VALUE c.postId FROM c WHERE c.userId = @user AND c.userUsername != @name";

/// A name to write into what a user has in one logical partition.
pub(super) struct Naming {
    pub(super) post: String,
    pub(super) user: String,
    pub(super) name: String,
}

/// Spreads the names of all users among the rows; copies of posts are none of them.
pub(super) async fn spread(
    shared: &Shared,
    session: &mut Session,
    fan: &mut Fan,
    rows: &[&[u8]],
) -> Result<()> {
    for row in rows {
        if let Some((user, name)) = user_of(row)? {
            // Before anything is looked for: `cache` says why.
            shared.names.forget(&user);
            let _alone = shared.spreading.lock().await;
            let mut namings = Vec::new();
            for post in posts_with_another_name(session, &user, &name).await? {
                namings.push(Naming { post, user: user.clone(), name: name.clone() });
            }
            Tally::add(&shared.tally.writes, write_all(fan, namings).await?);
        }
    }
    Ok(())
}

/// Writes names, and returns how many items were changed.
pub(super) async fn write_all(fan: &mut Fan, namings: Vec<Naming>) -> Result<usize> {
    let changed = fan.each(namings, write_name).await?;
    Ok(changed.into_iter().sum())
}

/// Returns the id and the name of a user; nothing for another kind of item.
fn user_of(row: &[u8]) -> Result<Option<(String, String)>> {
    let (mut id, mut name) = (None, None);
    for member in members(row)? {
        let member = member?;
        match member.spelled_name() {
            b"id" => id = Some(string(member.value)?.into_owned()),
            b"username" => name = Some(string(member.value)?.into_owned()),
            b"type" if member.value != b"\"user\"" => return Ok(None),
            _ => {}
        }
    }
    Ok(Some((id.context("a user has no id")?, name.context("a user has no username")?)))
}

async fn posts_with_another_name(session: &mut Session, user: &str, name: &str) -> Result<Vec<String>> {
    let mut parameters = b"[".to_vec();
    for (index, (parameter, value)) in [("@user", user), ("@name", name)].into_iter().enumerate() {
        parameters.extend_from_slice(if index == 0 { b"{\"name\":\"" } else { b",{\"name\":\"" });
        parameters.extend_from_slice(parameter.as_bytes());
        parameters.extend_from_slice(b"\",\"value\":");
        json::write_string(value, &mut parameters);
        parameters.push(b'}');
    }
    parameters.push(b']');
    let parameters = String::from_utf8(parameters).context("a name is not UTF-8")?;
    let mut posts = Vec::new();
    let mut continuation: Option<String> = None;
    loop {
        let query = Query {
            text: OTHER_NAMES,
            parameters: &parameters,
            scope: Scope::All,
            items_max: Some(PAGE_ROWS_MAX),
            continuation: continuation.as_deref(),
            explain: None,
        };
        let page = session.query(POSTS_V2.database, POSTS_V2.container, &query).await?;
        for row in Rows::of(&page.body)? {
            posts.push(string(row?)?.into_owned());
        }
        match page.continuation {
            Some(token) => continuation = Some(token),
            None => return Ok(posts),
        }
    }
}

/// Runs the procedure until it has nothing left to do.
fn write_name<'a>(session: &'a mut Session, naming: &'a Naming) -> Doing<'a, usize> {
    Box::pin(async move {
        let mut arguments = b"[".to_vec();
        json::write_string(&naming.user, &mut arguments);
        arguments.push(b',');
        json::write_string(&naming.name, &mut arguments);
        arguments.push(b']');
        let arguments = bytes::Bytes::from(arguments);
        let key = model::key(&naming.post);
        let mut total = 0;
        for _ in 0..ATTEMPTS_MAX {
            let (database, container) = (POSTS_V2.database, POSTS_V2.container);
            let procedure = scripts::UPDATE_USERNAMES;
            let done = session.execute(database, container, procedure, &key, arguments.clone()).await?;
            let answer = json::parse(&done.body).context("a procedure answered no JSON")?;
            let changed = answer.get("changed").and_then(Value::as_i64).context("no count of changes")?;
            total += usize::try_from(changed).unwrap_or(0);
            if answer.get("more").and_then(Value::as_bool) != Some(true) {
                return Ok(total);
            }
        }
        bail!("names of one user in one post came to no end")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_posts_are_no_users() {
        let user = |text: &str| user_of(text.as_bytes()).unwrap();
        let expected = Some(("1".to_owned(), "ada".to_owned()));
        assert_eq!(user(r#"{"id":"1","username":"ada","_ts":1}"#), expected);
        assert_eq!(user(r#"{"id":"1","type":"user","userId":"1","username":"ada"}"#), expected);
        assert_eq!(user(r#"{"id":"1","type":"post","userId":"1","userUsername":"ada"}"#), None);
        assert!(user_of(br#"{"id":"1"}"#).is_err());
    }
}
