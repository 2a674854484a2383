//! The account document: the answer to `GET /`, which every client reads first.
//!
//! All clients send their data requests to the endpoint named in it, not to the address they were
//! given, so it must be the address by which *this* client reached the server.
//!
//! Two things are left out on purpose: thin-client locations (clients would switch to a binary
//! protocol), and `localhost` as account id (the JavaScript client would read the document twice
//! before every request).

use std::borrow::Cow;

use armilla_engine::Consistency;
use armilla_rest_wire::regions::Regions;
use http::{HeaderMap, Uri};

use crate::json_text::push_string;
use crate::reply::failure::Failure;

/// What clients with their own query planner may rely upon: JSON inside a string.
const QUERY_ENGINE_CONFIGURATION: &str = concat!(
    r#"{"maxSqlQueryInputLength":262144,"maxJoinsPerSqlQuery":5,"maxLogicalAndPerSqlQuery":500,"#,
    r#""maxLogicalOrPerSqlQuery":500,"maxUdfRefPerSqlQuery":10,"maxInExpressionItemsCount":16000,"#,
    r#""queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,"#,
    r#""sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":true,"#,
    r#""sqlAllowScalarSubQuery":true,"allowNewKeywords":true,"sqlAllowLike":true,"#,
    r#""sqlAllowGroupByClause":true,"maxSpatialQueryCells":12,"spatialMaxGeometryPointCount":256,"#,
    r#""sqlDisableOptimizationFlags":0,"sqlAllowTop":true,"enableSpatialIndexing":true}"#
);

/// What does not change between requests.
pub(crate) struct Account<'a> {
    /// The id of the account.
    pub(crate) id: &'a str,
    /// Its regions.
    pub(crate) regions: &'a Regions,
    /// The account's consistency level.
    pub(crate) consistency: Consistency,
}

impl Account<'_> {
    /// Writes the document for a client that reached the server at an endpoint.
    pub(crate) fn document(&self, endpoint: &str) -> Vec<u8> {
        let mut text = Vec::with_capacity(2_048);
        let mut push = |part: &str| text.extend_from_slice(part.as_bytes());
        push("{\"_self\":\"\",\"id\":");
        push_string(&mut text, self.id);
        text.extend_from_slice(b",\"_rid\":");
        push_string(&mut text, &format!("{}.sql.cosmos.azure.com", self.id));
        text.extend_from_slice(b",\"media\":\"//media/\",\"addresses\":\"//addresses/\",\"_dbs\":\"//dbs/\"");
        for (name, is_for_writes) in [("writableLocations", true), ("readableLocations", false)] {
            text.extend_from_slice(b",\"");
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\":[");
            let regions = self.regions.iter().filter(|region| region.is_writable || !is_for_writes);
            for (place, region) in regions.enumerate() {
                text.extend_from_slice(if place > 0 { b",{\"name\":" } else { b"{\"name\":" });
                push_string(&mut text, region.name);
                text.extend_from_slice(b",\"databaseAccountEndpoint\":");
                push_string(&mut text, &at_port(endpoint, region.port));
                text.push(b'}');
            }
            text.push(b']');
        }
        text.extend_from_slice(b",\"enableMultipleWriteLocations\":");
        text.extend_from_slice(if self.regions.is_multi_write() { b"true" } else { b"false" });
        text.extend_from_slice(
            concat!(
                r#","continuousBackupEnabled":false"#,
                r#","enableNRegionSynchronousCommit":false,"enablePerPartitionFailoverBehavior":false"#,
                r#","disableCrossRegionalHedging":false"#,
                r#","userReplicationPolicy":{"asyncReplication":false,"minReplicaSetSize":1,"maxReplicasetSize":4}"#,
                r#","userConsistencyPolicy":{"defaultConsistencyLevel":""#,
            )
            .as_bytes(),
        );
        text.extend_from_slice(self.consistency.name().as_bytes());
        text.extend_from_slice(
            concat!(
                r#""},"systemReplicationPolicy":{"minReplicaSetSize":1,"maxReplicasetSize":4}"#,
                r#","readPolicy":{"primaryReadCoefficient":1,"secondaryReadCoefficient":1}"#,
                r#","queryEngineConfiguration":"#,
            )
            .as_bytes(),
        );
        push_string(&mut text, QUERY_ENGINE_CONFIGURATION);
        text.push(b'}');
        text
    }
}

/// Returns an endpoint at another port of the same host.
fn at_port(endpoint: &str, port: Option<u16>) -> Cow<'_, str> {
    let (Some(port), Ok(uri)) = (port, endpoint.parse::<Uri>()) else { return Cow::Borrowed(endpoint) };
    let (scheme, host) = (uri.scheme_str().unwrap_or("https"), uri.host().unwrap_or_default());
    Cow::Owned(format!("{scheme}://{host}:{port}/"))
}

/// Returns the address by which a client reached the server, with a slash at the end.
pub(crate) fn endpoint(
    scheme: &str,
    uri: &Uri,
    headers: &HeaderMap,
    advertised: Option<&str>,
) -> Result<String, Failure> {
    if let Some(advertised) = advertised {
        return Ok(format!("{}/", advertised.trim_end_matches('/')));
    }
    // HTTP/2 has the host in the request line, HTTP/1.1 in a header.
    let authority = match uri.authority() {
        Some(authority) => authority.clone(),
        None => {
            let host = headers.get(http::header::HOST).ok_or_else(|| {
                Failure::bad_request("the header host is missing: the server cannot tell clients where it is")
            })?;
            http::uri::Authority::try_from(host.as_bytes())
                .map_err(|_| Failure::bad_request("the header host is not a host and a port"))?
        }
    };
    // Whatever stands before an @ is not part of an address.
    let host = authority.as_str().rsplit('@').next().unwrap_or_default();
    Ok(format!("{scheme}://{host}/"))
}

#[cfg(test)]
mod tests {
    use armilla_engine::Consistency;
    use armilla_rest_wire::regions::Regions;
    use expect_test::expect;
    use http::{HeaderMap, HeaderValue, Uri};

    use super::{Account, endpoint};

    #[test]
    fn document_text() {
        let regions = Regions::new("South Central US", Vec::new(), false);
        let account = Account { id: "armilla", regions: &regions, consistency: Consistency::Session };
        let text = String::from_utf8(account.document("https://localhost:8081/")).unwrap();
        expect![[r#"{"_self":"","id":"armilla","_rid":"armilla.sql.cosmos.azure.com","media":"//media/","addresses":"//addresses/","_dbs":"//dbs/","writableLocations":[{"name":"South Central US","databaseAccountEndpoint":"https://localhost:8081/"}],"readableLocations":[{"name":"South Central US","databaseAccountEndpoint":"https://localhost:8081/"}],"enableMultipleWriteLocations":false,"continuousBackupEnabled":false,"enableNRegionSynchronousCommit":false,"enablePerPartitionFailoverBehavior":false,"disableCrossRegionalHedging":false,"userReplicationPolicy":{"asyncReplication":false,"minReplicaSetSize":1,"maxReplicasetSize":4},"userConsistencyPolicy":{"defaultConsistencyLevel":"Session"},"systemReplicationPolicy":{"minReplicaSetSize":1,"maxReplicasetSize":4},"readPolicy":{"primaryReadCoefficient":1,"secondaryReadCoefficient":1},"queryEngineConfiguration":"{\"maxSqlQueryInputLength\":262144,\"maxJoinsPerSqlQuery\":5,\"maxLogicalAndPerSqlQuery\":500,\"maxLogicalOrPerSqlQuery\":500,\"maxUdfRefPerSqlQuery\":10,\"maxInExpressionItemsCount\":16000,\"queryMaxInMemorySortDocumentCount\":500,\"maxQueryRequestTimeoutFraction\":0.9,\"sqlAllowNonFiniteNumbers\":false,\"sqlAllowAggregateFunctions\":true,\"sqlAllowSubQuery\":true,\"sqlAllowScalarSubQuery\":true,\"allowNewKeywords\":true,\"sqlAllowLike\":true,\"sqlAllowGroupByClause\":true,\"maxSpatialQueryCells\":12,\"spatialMaxGeometryPointCount\":256,\"sqlDisableOptimizationFlags\":0,\"sqlAllowTop\":true,\"enableSpatialIndexing\":true}"}"#]].assert_eq(&text);
        assert!(!text.contains("thinClient"));
    }

    #[test]
    fn regions_have_addresses_of_their_own() {
        let others = || vec![("East US".to_owned(), 8_082)];
        let document = |regions: &Regions, endpoint: &str| {
            let account = Account { id: "armilla", regions, consistency: Consistency::Session };
            String::from_utf8(account.document(endpoint)).unwrap()
        };
        let west = |at: &str| format!(r#"{{"name":"West US","databaseAccountEndpoint":"{at}"}}"#);
        let east = |at: &str| format!(r#"{{"name":"East US","databaseAccountEndpoint":"{at}"}}"#);
        for (endpoint, of_east) in [
            ("https://localhost:8081/", "https://localhost:8082/"),
            ("http://[::1]:8081/", "http://[::1]:8082/"),
            ("https://db/", "https://db:8082/"),
        ] {
            let (west, east) = (west(endpoint), east(of_east));
            let one = document(&Regions::new("West US", others(), false), endpoint);
            let expected = format!(r#""writableLocations":[{west}],"readableLocations":[{west},{east}]"#);
            assert!(
                one.contains(&expected) && one.contains(r#""enableMultipleWriteLocations":false"#),
                "{one}"
            );
            let all = document(&Regions::new("West US", others(), true), endpoint);
            let expected =
                format!(r#""writableLocations":[{west},{east}],"readableLocations":[{west},{east}]"#);
            assert!(
                all.contains(&expected) && all.contains(r#""enableMultipleWriteLocations":true"#),
                "{all}"
            );
        }
    }

    #[test]
    fn names_are_escaped() {
        let regions = Regions::new("x\\y", Vec::new(), false);
        let account = Account { id: "a\"b", regions: &regions, consistency: Consistency::Strong };
        let text = String::from_utf8(account.document("http://h/")).unwrap();
        assert!(text.contains(r#""id":"a\"b""#) && text.contains(r#""name":"x\\y""#), "{text}");
        assert!(text.contains(r#""defaultConsistencyLevel":"Strong""#));
    }

    #[test]
    fn endpoints() {
        let found = |scheme, uri: &str, host: Option<&str>, advertised| {
            let mut headers = HeaderMap::new();
            if let Some(host) = host {
                headers.insert(http::header::HOST, HeaderValue::from_str(host).unwrap());
            }
            let uri: Uri = uri.parse().unwrap();
            endpoint(scheme, &uri, &headers, advertised).map_err(|failure| failure.status.http.as_u16())
        };
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(found("https", "/", Some("localhost:8081"), None), ok("https://localhost:8081/"));
        assert_eq!(found("http", "/", Some("127.0.0.1:5000"), None), ok("http://127.0.0.1:5000/"));
        assert_eq!(found("http", "/", Some("[::1]:5000"), None), ok("http://[::1]:5000/"));
        assert_eq!(found("http", "/", Some("db"), None), ok("http://db/"));
        assert_eq!(found("https", "https://two:1/", None, None), ok("https://two:1/"));
        assert_eq!(found("https", "https://two:1/", Some("one"), None), ok("https://two:1/"));
        assert_eq!(found("http", "http://user@two:1/", None, None), ok("http://two:1/"));
        assert_eq!(found("http", "/", None, Some("https://db.example")), ok("https://db.example/"));
        assert_eq!(found("http", "/", Some("x"), Some("https://db.example/")), ok("https://db.example/"));
        assert_eq!(found("http", "/", None, None), Err(400));
        assert_eq!(found("http", "/", Some("a b"), None), Err(400));
        assert_eq!(found("http", "/", Some("a/b"), None), Err(400));
    }
}
