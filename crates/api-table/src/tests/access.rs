//! Who may do what: keys, shared access signatures, stored policies, secondary addresses.

use http::Method;

use super::client::{Client, DATE, FLAVOURS, KEY, READ_ONLY_KEY, authorization, sign};
use crate::Flavour;

const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn encoded(text: &str) -> String {
    text.replace('%', "%25").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D").replace(':', "%3A")
}

#[tokio::test]
async fn keys_open_everything() {
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        let send = async |authorization: &str, method: Method, target: &str| {
            client.send_as(authorization, method, target, &[], r#"{"PartitionKey":"p","RowKey":"r"}"#).await
        };
        let lite = format!("SharedKeyLite localhost:{}", sign(KEY, &format!("{DATE}\n/localhost/t12()")));
        send(&lite, Method::GET, "/t12()").await.expect(200);
        let target = "/devstoreaccount1/t12()";
        for key in [KEY, EMULATOR_KEY] {
            let signed = authorization(key, "devstoreaccount1", &Method::GET, target, "");
            send(&signed, Method::GET, target).await.expect(200);
        }
        let signed = authorization(READ_ONLY_KEY, "localhost", &Method::GET, "/t12()", "");
        send(&signed, Method::GET, "/t12()").await.expect(200);
        let signed = authorization(READ_ONLY_KEY, "localhost", &Method::POST, "/t12", "");
        send(&signed, Method::POST, "/t12").await.expect(403);
        let (status, code) = match flavour {
            Flavour::Cosmos => (401, "Unauthorized"),
            Flavour::Storage => (403, "AuthenticationFailed"),
        };
        let wrong = authorization("d3Jvbmc=", "localhost", &Method::GET, "/t12()", "");
        send(&wrong, Method::GET, "/t12()").await.expect_code(status, code);
        send("", Method::GET, "/t12()").await.expect(401);
        send("Bearer x", Method::GET, "/t12()").await.expect(401);
        // Strangers are not told which addresses there are.
        send("", Method::GET, "/no/such").await.expect(401);
    }
    let open = Client::with_options(Flavour::Cosmos, |options| options.require_auth = false).await;
    open.send_as("", Method::GET, "/Tables", &[], "").await.expect(200);
}

#[tokio::test]
async fn addresses_with_the_account_are_answered_in_kind() {
    let client = Client::with_table(Flavour::Storage, "t12").await;
    let target = "/devstoreaccount1/t12";
    let signed = authorization(KEY, "devstoreaccount1", &Method::POST, target, "");
    let made =
        client.send_as(&signed, Method::POST, target, &[], r#"{"PartitionKey":"p","RowKey":"r"}"#).await;
    let location = "http://localhost:8902/devstoreaccount1/t12(PartitionKey='p',RowKey='r')";
    assert_eq!(made.expect(201).header("location"), Some(location));
    let target = "/devstoreaccount1/$batch";
    let body = "--b\r\nContent-Type: application/http\r\n\r\n\
        GET http://x/devstoreaccount1/t12(PartitionKey='p',RowKey='r') HTTP/1.1\r\n\r\n--b--";
    let kind = "multipart/mixed; boundary=b";
    let signed = authorization(KEY, "devstoreaccount1", &Method::POST, target, kind);
    let answer = client.send_as(&signed, Method::POST, target, &[("content-type", kind)], body).await;
    assert_eq!(answer.parts()[0].0, 200, "{answer:?}");
}

#[tokio::test]
async fn secondary_addresses_only_read() {
    let client = Client::with_table(Flavour::Storage, "t12").await;
    let target = "/devstoreaccount1-secondary/t12";
    let signed = authorization(KEY, "devstoreaccount1", &Method::GET, target, "");
    client.send_as(&signed, Method::GET, target, &[], "").await.expect(200);
    let signed = authorization(KEY, "devstoreaccount1", &Method::POST, target, "");
    let refused =
        client.send_as(&signed, Method::POST, target, &[], r#"{"PartitionKey":"p","RowKey":"r"}"#).await;
    refused.expect(403);
}

/// A signature for a table.
fn table_sas(permissions: &str, policy: &str, keys: [&str; 4]) -> String {
    let expiry = if policy.is_empty() { "2030-01-01T00:00:00Z" } else { "" };
    let version = "2019-02-02";
    let [spk, srk, epk, erk] = keys;
    let text = format!(
        "{permissions}\n\n{expiry}\n/table/localhost/t12\n{policy}\n\n\n{version}\n{spk}\n{srk}\n{epk}\n{erk}"
    );
    let mut query = format!("sv={version}&tn=t12&sig={}", encoded(&sign(KEY, &text)));
    for (name, value) in [
        ("sp", permissions),
        ("se", expiry),
        ("si", policy),
        ("spk", spk),
        ("srk", srk),
        ("epk", epk),
        ("erk", erk),
    ] {
        if !value.is_empty() {
            query.push_str(&format!("&{name}={}", encoded(value)));
        }
    }
    query
}

#[tokio::test]
async fn signatures_permit_what_they_say() {
    let client = Client::with_table(Flavour::Storage, "t12").await;
    for key in ["a", "b", "c"] {
        client.insert("t12", &format!(r#"{{"PartitionKey":"{key}","RowKey":"r"}}"#)).await.expect(204);
    }
    let send = async |method: Method, target: &str, query: &str, body: &str| {
        client.send_as("", method, &format!("{target}?{query}"), &[("if-match", "*")], body).await
    };
    let reads = table_sas("r", "", [""; 4]);
    assert_eq!(send(Method::GET, "/t12()", &reads, "").await.expect(200).all("RowKey").len(), 3);
    let entity = r#"{"PartitionKey":"d","RowKey":"r"}"#;
    send(Method::POST, "/t12", &reads, entity).await.expect_code(403, "AuthorizationPermissionMismatch");
    send(Method::GET, "/Tables", &reads, "").await.expect(403);
    let adds = table_sas("a", "", [""; 4]);
    send(Method::POST, "/t12", &adds, entity).await.expect(201);
    send(Method::GET, "/t12()", &adds, "").await.expect(403);
    send(Method::DELETE, "/t12(PartitionKey='d',RowKey='r')", &adds, "").await.expect(403);
    // Part of a table: the rest is not there to see.
    let part = table_sas("r", "", ["b", "", "c", ""]);
    let seen = send(Method::GET, "/t12()", &part, "").await.expect(200);
    assert_eq!(seen.all("PartitionKey"), ["b", "c"]);
    let asked = format!("$filter=PartitionKey%20eq%20'a'%20or%20PartitionKey%20eq%20'b'&{part}");
    assert_eq!(send(Method::GET, "/t12()", &asked, "").await.expect(200).all("PartitionKey"), ["b"]);
    send(Method::GET, "/t12(PartitionKey='b',RowKey='r')", &part, "").await.expect(200);
    send(Method::GET, "/t12(PartitionKey='a',RowKey='r')", &part, "")
        .await
        .expect_code(403, "AuthorizationFailure");
    send(Method::GET, "/t12()", &reads.replace("sp=r", "sp=raud"), "").await.expect(403);
}

#[tokio::test]
async fn signatures_may_leave_it_to_a_policy() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let query = table_sas("", "one", [""; 4]);
    let read = async || client.send_as("", Method::GET, &format!("/t12()?{query}"), &[], "").await;
    read().await.expect(401);
    let policy = |permission: &str| {
        format!(
            "<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Expiry>2030-01-01T00:00:00Z</Expiry>\
             <Permission>{permission}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
        )
    };
    client.send(Method::PUT, "/t12?comp=acl", &[], policy("r")).await.expect(204);
    read().await.expect(200);
    client.send(Method::PUT, "/t12?comp=acl", &[], policy("a")).await.expect(204);
    read().await.expect(403);
    client.send(Method::PUT, "/t12?comp=acl", &[], "<SignedIdentifiers/>").await.expect(204);
    read().await.expect(401);
}

#[tokio::test]
async fn operations_of_a_batch_are_permitted_one_by_one() {
    let client = Client::with_table(Flavour::Storage, "t12").await;
    let query = table_sas("a", "", [""; 4]);
    let operation = |verb: &str, target: &str, headers: &str, body: &str| {
        format!(
            "--c\r\nContent-Type: application/http\r\n\r\n{verb} http://localhost/{target}?tn=t12 HTTP/1.1\r\n\
             Content-Type: application/json\r\n{headers}\r\n{body}\r\n"
        )
    };
    let batch = |operations: String| {
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{operations}--c--\r\n--b--\r\n")
    };
    let insert =
        operation("POST", "t12", "Prefer: return-no-content\r\n", r#"{"PartitionKey":"p","RowKey":"r"}"#);
    let delete = operation("DELETE", "t12(PartitionKey='p',RowKey='x')", "If-Match: *\r\n", "");
    let send = async |body: String| {
        let kind = [("content-type", "multipart/mixed; boundary=b")];
        client.send_as("", Method::POST, &format!("/$batch?{query}"), &kind, body).await
    };
    let refused = send(batch(insert.clone() + &delete)).await.parts();
    assert_eq!((refused.len(), refused[0].0), (1, 403));
    assert!(refused[0].2.contains("\"value\":\"1:"), "{refused:?}");
    assert_eq!(send(batch(insert)).await.parts()[0].0, 204);
}

/// A token of the emulators' Entra ID shows the key of the account.
#[tokio::test]
async fn bearer_tokens_of_the_emulators_are_taken() {
    for flavour in [Flavour::Cosmos, Flavour::Storage] {
        let client = Client::with_table(flavour, "t12").await;
        for (key, status) in [(KEY, 200), ("d3Jvbmc=", 401)] {
            let header = r#"{"typ":"JWT","kid":"CosmosEmulatorPrimaryMaster"}"#;
            let parts = [header, r#"{"exp":9000000000}"#, key];
            let encode =
                |part| base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, part);
            let token = format!("Bearer {}", parts.map(encode).join("."));
            client.send_as(&token, Method::GET, "/t12()", &[], "").await.expect(status);
        }
    }
}
