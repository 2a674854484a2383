//! Which account a request is for.

use http::HeaderMap;

use armilla_rest_wire::signature::KeyError;

use super::super::accounts::{Accounts, Address};
use super::headers;

#[test]
fn the_account_is_in_the_path_or_in_the_host_or_in_the_header() {
    // Host, target, who signed; account, secondary, prefix, path.
    for (host, target, signer, account, is_secondary, prefix, path) in [
        ("localhost:8902", "/Tables", "localhost", "localhost", false, "", "/Tables"),
        ("localhost", "/", "localhost", "localhost", false, "", "/"),
        ("localhost", "", "", "localhost", false, "", "/"),
        (
            "127.0.0.1:10002",
            "/devstoreaccount1/Tables",
            "devstoreaccount1",
            "devstoreaccount1",
            false,
            "/devstoreaccount1",
            "/Tables",
        ),
        ("127.0.0.1:10002", "/devstoreaccount1", "", "devstoreaccount1", false, "/devstoreaccount1", "/"),
        ("127.0.0.1:10002", "/devstoreaccount1/", "", "devstoreaccount1", false, "/devstoreaccount1", "/"),
        (
            "127.0.0.1:10002",
            "/devstoreaccount1-secondary/t()",
            "devstoreaccount1",
            "devstoreaccount1",
            true,
            "/devstoreaccount1-secondary",
            "/t()",
        ),
        (
            "127.0.0.1:10002",
            "/devstoreaccount1-secondary/devstoreaccount1/",
            "devstoreaccount1",
            "devstoreaccount1",
            true,
            "/devstoreaccount1-secondary/devstoreaccount1",
            "/",
        ),
        (
            "127.0.0.1:10002",
            "/devstoreaccount1/devstoreaccount1",
            "devstoreaccount1",
            "devstoreaccount1",
            false,
            "/devstoreaccount1",
            "/devstoreaccount1",
        ),
        ("127.0.0.1:10002", "/Tables", "devstoreaccount1", "devstoreaccount1", false, "", "/Tables"),
        ("acct.table.cosmos.localhost:8902", "/Tables", "acct", "acct", false, "", "/Tables"),
        (
            "acct.table.localhost",
            "/t(PartitionKey='a',RowKey='b')",
            "acct",
            "acct",
            false,
            "",
            "/t(PartitionKey='a',RowKey='b')",
        ),
        ("acct-secondary.table.localhost", "/t", "acct", "acct", true, "", "/t"),
        ("acct.TABLE.core.windows.net", "/t", "", "acct", false, "", "/t"),
        // A table at the end of the endpoint is no account, nor is a table with the account's name.
        ("acct.table.localhost", "/mytable/Tables", "acct", "acct", false, "", "/mytable/Tables"),
        ("acct.table.localhost", "/acct/Tables", "acct", "acct", false, "", "/acct/Tables"),
        ("localhost:8902", "/localhost", "localhost", "localhost", false, "", "/localhost"),
        ("localhost:8902", "/mytable/Tables", "localhost", "localhost", false, "", "/mytable/Tables"),
        // A name of one's own at the head of the path, where the credentials say the same.
        ("127.0.0.1:8902", "/myaccount/Tables", "myaccount", "myaccount", false, "/myaccount", "/Tables"),
        ("127.0.0.1:8902", "/localhost/Tables", "localhost", "localhost", false, "/localhost", "/Tables"),
        ("127.0.0.1:8902", "/localhost/Tables", "", "localhost", false, "/localhost", "/Tables"),
        ("127.0.0.1:8902", "/myaccount/Tables", "", "localhost", false, "", "/myaccount/Tables"),
        ("127.0.0.1:8902", "/My.Table/x", "My.Table", "localhost", false, "", "/My.Table/x"),
        ("[::1]:8902", "/t", "", "localhost", false, "", "/t"),
        ("", "/t", "", "localhost", false, "", "/t"),
    ] {
        let headers = match signer {
            "" => HeaderMap::new(),
            signer => headers(&[("authorization", &format!("SharedKey {signer}:c2ln"))]),
        };
        let found = Address::of(Some(host), target, "", &headers);
        assert_eq!(found, Address { account, is_secondary, prefix, path }, "{host} {target} {signer}");
    }
    let none = HeaderMap::new();
    let signed = Address::of(Some("127.0.0.1"), "/myaccount/t", "tn=t&sig=x", &none);
    assert_eq!(
        signed,
        Address { account: "myaccount", is_secondary: false, prefix: "/myaccount", path: "/t" }
    );
    assert_eq!(Address::of(None, "/t", "", &none).account, "localhost");
}

#[test]
fn keys_are_base64_and_not_empty() {
    assert!(Accounts::new(["AAAA"], [], true).is_ok());
    for bad in ["", "?", "AAA"] {
        assert_eq!(Accounts::new([bad], [], false).err(), Some(KeyError), "{bad}");
        assert_eq!(Accounts::new(["AAAA"], [bad], false).err(), Some(KeyError), "{bad}");
    }
}
