//! What is XML: properties of the service, statistics, access policies, and browsers.

use http::Method;

use super::client::{Client, KEY, authorization};
use crate::Flavour;

const PROPERTIES: &str = "/?restype=service&comp=properties";
const STATS: &str = "/?restype=service&comp=stats";

#[tokio::test]
async fn properties_are_kept_in_storage_accounts() {
    let client = Client::new(Flavour::Storage).await;
    let read = client.get(PROPERTIES).await.expect(200);
    assert!(read.text.starts_with('\u{feff}'), "{}", read.text);
    assert!(read.text.contains("<StorageServiceProperties>"));
    let body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Cors><CorsRule>\
        <AllowedOrigins>http://a.example</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>\
        <AllowedHeaders>*</AllowedHeaders><ExposedHeaders>etag</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds>\
        </CorsRule></Cors></StorageServiceProperties>";
    client.send(Method::PUT, PROPERTIES, &[], body).await.expect(202);
    let read = client.get(PROPERTIES).await.expect(200);
    assert!(read.text.contains("<AllowedOrigins>http://a.example</AllowedOrigins>"), "{}", read.text);
    let wrong = client.send(Method::PUT, PROPERTIES, &[], "<x").await.expect(400);
    assert!(wrong.text.contains("<m:code>InvalidXmlDocument</m:code>"), "{}", wrong.text);
    assert_eq!(wrong.header("content-type"), Some("application/xml"));

    // Browsers ask first.
    let asks = |origin| {
        [
            ("origin", origin),
            ("access-control-request-method", "PUT"),
            ("access-control-request-headers", "x-ms-date"),
        ]
    };
    let allowed =
        client.send_as("", Method::OPTIONS, "/t12", &asks("http://a.example"), "").await.expect(200);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("http://a.example"));
    assert_eq!(allowed.header("access-control-max-age"), Some("60"));
    let refused = client.send_as("", Method::OPTIONS, "/t12", &asks("http://b.example"), "").await;
    refused.expect_code(403, "CorsPreflightFailure");
    let answered =
        client.send(Method::GET, "/Tables", &[("origin", "http://a.example")], "").await.expect(200);
    assert_eq!(answered.header("access-control-allow-origin"), Some("http://a.example"));
}

#[tokio::test]
async fn statistics_are_those_of_storage_accounts() {
    let client = Client::new(Flavour::Storage).await;
    let read = client.get(STATS).await.expect(200);
    assert!(
        read.text.contains("<Status>live</Status><LastSyncTime>Tue, 14 Nov 2023 22:13:20 GMT</LastSyncTime>")
    );
    for target in [
        "/devstoreaccount1-secondary/?restype=service&comp=stats",
        "/localhost-secondary/?restype=service&comp=stats",
    ] {
        let account = target[1..].split("-secondary").next().unwrap();
        let signed = authorization(KEY, account, &Method::GET, target, "");
        client.send_as(&signed, Method::GET, target, &[], "").await.expect(200);
    }
}

#[tokio::test]
async fn the_other_flavour_has_neither() {
    let client = Client::new(Flavour::Cosmos).await;
    for (method, target) in [(Method::GET, PROPERTIES), (Method::PUT, PROPERTIES), (Method::GET, STATS)] {
        let answer = client.send(method, target, &[], "").await.expect_code(501, "NotImplemented");
        assert!(answer.text.contains("The requested operation is not supported."), "{}", answer.text);
    }
}

#[tokio::test]
async fn policies_are_kept_with_their_table() {
    for flavour in super::client::FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        let body = "<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Start>2023-01-01</Start>\
            <Expiry>2030-01-01T00:00:00Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier>\
            </SignedIdentifiers>";
        client.send(Method::PUT, "/t12?comp=acl", &[], body).await.expect(204);
        let read = client.get("/t12?comp=acl").await.expect(200);
        assert!(
            read.text.contains("<Id>one</Id><AccessPolicy><Start>2023-01-01T00:00:00.0000000Z</Start>"),
            "{}",
            read.text
        );
        assert!(read.text.contains("<Permission>raud</Permission>"));
        // The other listener knows of them at once.
        for other in super::client::FLAVOURS {
            assert!(
                client.of_flavour(other).get("/t12?comp=acl").await.expect(200).text.contains("<Id>one</Id>")
            );
        }
        let six = "<SignedIdentifier><Id>i</Id></SignedIdentifier>".repeat(6);
        let six = format!("<SignedIdentifiers>{six}</SignedIdentifiers>");
        client.send(Method::PUT, "/t12?comp=acl", &[], six).await.expect_code(400, "InvalidXmlDocument");
        client.get("/nosuch?comp=acl").await.expect(404);
        client.send(Method::DELETE, "/Tables('t12')", &[], "").await.expect(204);
        client.create_table("t12").await;
        let read = client.get("/t12?comp=acl").await.expect(200);
        assert!(!read.text.contains("<Id>"), "{}", read.text);
    }
}
