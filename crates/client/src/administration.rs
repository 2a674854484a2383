//! What only Armilla has: what its partitions hold and serve, splits and merges.

use anyhow::{Context, Result, anyhow, bail};
use armilla_value::json;
use bytes::Bytes;
use http::{Method, StatusCode};

use crate::client::Client;
use crate::connection::Answer;
use crate::failure::message;
use crate::listing::Listing;
use crate::question::{Question, segment};

/// The type of the resources that only we have, as it is signed.
pub(crate) const RESOURCE_TYPE: &str = "armilla";

impl Client {
    /// Returns what the server's partitions hold and serve, as the JSON it sent.
    pub async fn partitions_text(&self) -> Result<Bytes> {
        let answer = self.ask(Method::GET, "/_armilla/partitions", Bytes::new()).await?;
        if answer.status == StatusCode::NOT_FOUND {
            bail!("the server at {self} has no partitions to show: is it armilla, and new enough?");
        }
        self.expect(answer, StatusCode::OK)
    }

    /// Returns what the server's partitions hold and serve.
    pub async fn partitions(&self) -> Result<Listing> {
        let text = self.partitions_text().await?;
        let value =
            json::parse(&text).map_err(|error| anyhow!("the server at {self} answered no JSON: {error}"))?;
        Listing::read(&value).with_context(|| format!("cannot read the answer of the server at {self}"))
    }

    /// Returns one of the server's metrics that has no labels; nothing if the server has no such metric.
    pub async fn metric(&self, name: &str) -> Result<Option<f64>> {
        let answer = self.ask(Method::GET, "/metrics", Bytes::new()).await?;
        let text = self.expect(answer, StatusCode::OK)?;
        Ok(find_metric(&String::from_utf8_lossy(&text), name))
    }

    /// Asks for a split or merge; returns once it has begun.
    pub async fn reshape(&self, database: &str, container: &str, verb: &str, body: String) -> Result<()> {
        let path = format!("/_armilla/dbs/{}/colls/{}/{verb}", segment(database), segment(container));
        let answer = self.ask(Method::POST, &path, body.into()).await?;
        self.expect(answer, StatusCode::ACCEPTED).map(|_| ())
    }

    /// Returns the server's regions as JSON, after changing one of them if it is said how.
    pub async fn regions(&self, change: Option<(&str, &str)>) -> Result<Bytes> {
        let answer = match change {
            Some((name, body)) => {
                let path = format!("/_armilla/regions/{}", segment(name));
                self.ask(Method::PUT, &path, body.to_owned().into()).await?
            }
            None => self.ask(Method::GET, "/_armilla/regions", Bytes::new()).await?,
        };
        self.expect(answer, StatusCode::OK)
    }

    /// Asks for advice on the data model, and returns it as JSON. It takes seconds.
    pub async fn advice(&self, body: String) -> Result<Bytes> {
        let answer = self.ask(Method::POST, "/_armilla/advice", body.into()).await?;
        if answer.status == StatusCode::NOT_FOUND && message(&answer.body).is_none() {
            bail!("the server at {self} gives no advice: is it armilla, and new enough?");
        }
        self.expect(answer, StatusCode::OK)
    }

    /// Has the server forget what it has recorded of requests.
    pub async fn forget_requests(&self) -> Result<()> {
        let answer = self.ask(Method::DELETE, "/_armilla/requests", Bytes::new()).await?;
        self.expect(answer, StatusCode::OK).map(|_| ())
    }

    /// Returns the nodes that serve the account, as JSON.
    pub async fn nodes(&self) -> Result<Bytes> {
        let answer = self.ask(Method::GET, "/_armilla/nodes", Bytes::new()).await?;
        self.expect(answer, StatusCode::OK)
    }

    /// Asks a node to end once others have taken what it has: the one of a name or an address, or the one that is asked.
    /// Returns its name as JSON, once it has begun.
    pub async fn drain(&self, node: Option<&str>) -> Result<Bytes> {
        let body = match node {
            Some(node) => format!(r#"{{"node":{}}}"#, json::to_string(&node.into())),
            None => String::new(),
        };
        let answer = self.ask(Method::POST, "/_armilla/nodes/drain", body.into()).await?;
        self.expect(answer, StatusCode::ACCEPTED)
    }

    /// Returns the throughput buckets of a container as JSON, after putting others in their place if some are given.
    pub async fn throughput_buckets(
        &self,
        database: &str,
        container: &str,
        others: Option<String>,
    ) -> Result<Bytes> {
        let path =
            format!("/_armilla/dbs/{}/colls/{}/throughputBuckets", segment(database), segment(container));
        let (method, body) = match others {
            Some(others) => (Method::PUT, others.into()),
            None => (Method::GET, Bytes::new()),
        };
        let answer = self.ask(method, &path, body).await?;
        self.expect(answer, StatusCode::OK)
    }

    /// Returns the body of an answer with this status; others become errors that say what to do.
    pub fn expect(&self, answer: Answer, status: StatusCode) -> Result<Bytes> {
        if answer.status == status {
            return Ok(answer.body);
        }
        let said = message(&answer.body).unwrap_or_else(|| answer.status.to_string());
        match answer.status {
            StatusCode::UNAUTHORIZED => bail!(
                "the server at {self} does not take this key: give the account key with --key or ARMILLA_KEY"
            ),
            StatusCode::FORBIDDEN => bail!("the server at {self} does not allow it: {said}"),
            StatusCode::GONE => {
                bail!("the range is gone, `armilla partitions` shows those there are: {said}")
            }
            StatusCode::LOCKED => bail!("something else is changing the partitions, try again later: {said}"),
            status if status.is_client_error() => bail!("{said}"),
            status => bail!("the server at {self} answered {}: {said}", status.as_u16()),
        }
    }

    /// Asks for one of the resources that only we have, over a connection of its own.
    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<Answer> {
        let link = path.trim_start_matches('/').to_owned();
        let question = Question::new(method, RESOURCE_TYPE, path.to_owned(), link).body(body);
        Ok(self.session().ask(&question).await?)
    }
}

fn find_metric(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use armilla_env::Env;
    use http::HeaderMap;

    use super::*;
    use crate::options::ServerOptions;

    #[test]
    fn metrics_are_found_by_their_whole_name() {
        let text = "# HELP a_b Text.\n# TYPE a_b gauge\na_b_total 7\na_b{x=\"1\"} 3\na_b 1.5\n";
        assert_eq!(find_metric(text, "a_b"), Some(1.5));
        assert_eq!(find_metric(text, "a"), None);
    }

    #[test]
    fn answers_say_what_to_do() {
        let client = Client::new(&ServerOptions::default(), Env::system()).unwrap();
        for (status, body, expected) in [
            (401, r#"{"code":"Unauthorized","message":"no"}"#, "--key or ARMILLA_KEY"),
            (403, r#"{"message":"the key is for reading"}"#, "does not allow it: the key is for reading"),
            (404, r#"{"message":"no container c\r\nActivityId: 1"}"#, "no container c"),
            (400, r#"{"message":"Message: {\"Errors\":[\"No \\\"x\\\".\"]}\r\nActivityId: 1"}"#, "No \"x\"."),
            (
                410,
                r#"{"message":"range 7"}"#,
                "the range is gone, `armilla partitions` shows those there are: range 7",
            ),
            (423, r#"{"message":"being split"}"#, "try again later: being split"),
            (500, "<html>", "http://localhost:8081/ answered 500: 500 Internal Server Error"),
            (200, "", "answered 200: 200 OK"),
        ] {
            let answer = Answer {
                status: StatusCode::from_u16(status).unwrap(),
                headers: HeaderMap::new(),
                body: body.into(),
            };
            let error = client.expect(answer, StatusCode::ACCEPTED).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{status}: {error}");
        }
        let answer = Answer { status: StatusCode::ACCEPTED, headers: HeaderMap::new(), body: Bytes::new() };
        assert!(client.expect(answer, StatusCode::ACCEPTED).is_ok());
    }
}
