//! Nodes, of a server that serves the account alone.

use super::client::Client;

#[tokio::test]
async fn a_server_that_is_alone_has_no_nodes_and_cannot_be_drained() {
    let client = Client::with_container().await;
    let answer = client.get("/_armilla/nodes").await.expect(200);
    assert_eq!(answer.text, r#"{"nodes":[]}"#);
    let refused = client.post("/_armilla/nodes/drain", "").await.expect(400);
    assert!(refused.text.contains("not one of several nodes"), "{}", refused.text);
    for (body, message) in [
        (r#"{"node":1}"#, "is no text"),
        (r#"{"other":"x"}"#, "other"),
        ("[]", "a request to drain a node"),
        (r#"{"node":"x"}"#, "not one of several nodes"),
    ] {
        let refused = client.post("/_armilla/nodes/drain", body).await.expect(400);
        assert!(refused.text.contains(message), "{body}: {}", refused.text);
    }
}
