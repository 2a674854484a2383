//! Shared access signatures.

use std::net::IpAddr;

use proptest::prelude::*;

use super::super::error::AuthErrorKind;
use super::super::grant::{Operation, Permit, Principal};
use super::super::limits::{POLICY_ID_CHARACTERS_MAX, SAS_VALUE_BYTES_MAX};
use super::super::{AccessPolicy, Authenticated, NeedsPolicy};
use super::recorded::{ACCOUNT_SAS, ACCOUNT_SAS_FROM_ADDRESSES, POLICY_SAS, RANGE_SAS, TABLE_SAS};
use super::{KEY, Knock, NOW_MS, READ_ONLY_KEY, SECONDARY_KEY, accounts, sign};
use crate::utc_time::UtcTime;

/// Returns the host and the head of the path by which an account is addressed.
fn place(account: &str) -> (String, String) {
    match account {
        "devstoreaccount1" => ("127.0.0.1:10002".to_owned(), "/devstoreaccount1".to_owned()),
        "localhost" => ("localhost:8902".to_owned(), String::new()),
        account => (format!("{account}.table.localhost"), String::new()),
    }
}

#[test]
fn recorded_signatures_are_authentic() {
    for [account, query] in ACCOUNT_SAS.iter().chain(TABLE_SAS).chain(RANGE_SAS) {
        let (host, prefix) = place(account);
        let target = format!("{prefix}/People()?$filter=a%20eq%201&{query}");
        let permit = Knock::get(&host, &target).permit().unwrap_or_else(|error| panic!("{query}: {error:?}"));
        assert!(matches!(permit.principal, Principal::Sas(_)));
        assert_eq!(permit.allows(Operation::QueryEntities, Some("people"), None), Ok(()), "{query}");

        for (from, to) in [("sp=r", "sp=ra"), ("se=2099", "se=2098"), ("sv=20", "sv=21"), ("sig=", "sig=A")] {
            let target = target.replace(from, to);
            let error = Knock::get(&host, &target).permit().unwrap_err();
            assert_eq!(error.kind, AuthErrorKind::NotAuthentic, "{target}");
        }
    }
}

#[test]
fn a_signature_for_addresses_is_for_those_and_its_protocol() {
    let target = format!("/Tables?{ACCOUNT_SAS_FROM_ADDRESSES}");
    for (address, scheme, expected) in [
        ("168.1.5.60", "https", Ok(())),
        ("168.1.5.65", "https", Ok(())),
        ("168.1.5.70", "https", Ok(())),
        ("::ffff:168.1.5.65", "https", Ok(())),
        ("168.1.5.59", "https", Err(AuthErrorKind::SourceAddress)),
        ("168.1.5.71", "https", Err(AuthErrorKind::SourceAddress)),
        ("::1", "https", Err(AuthErrorKind::SourceAddress)),
        ("168.1.5.60", "http", Err(AuthErrorKind::Protocol)),
    ] {
        let mut knock = Knock::get("localhost", &target);
        knock.peer.address = address.parse::<IpAddr>().unwrap();
        knock.peer.scheme = scheme;
        assert_eq!(knock.permit().map(|_| ()).map_err(|error| error.kind), expected, "{address} {scheme}");
    }
}

/// The parameters of an account's signature, signed as they are.
fn account_query(key: &str, parameters: &[(&str, &str)]) -> String {
    let value = |name: &str| parameters.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| *value);
    let lines = ["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"].map(value);
    let mut text = format!("localhost\n{}\n", lines.join("\n"));
    if parameters.iter().any(|(name, _)| *name == "ses") {
        text.push_str(value("ses"));
        text.push('\n');
    }
    query(parameters, &sign(key, &text))
}

/// The parameters of a table's signature, signed as they are.
fn table_query(key: &str, parameters: &[(&str, &str)]) -> String {
    let value = |name: &str| parameters.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| *value);
    let table = format!("/table/localhost/{}", value("tn").to_lowercase());
    let mut lines = vec![value("sp"), value("st"), value("se"), &table];
    lines.extend(["si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"].map(value));
    query(parameters, &sign(key, &lines.join("\n")))
}

fn query(parameters: &[(&str, &str)], signature: &str) -> String {
    let encode = |text: &str| {
        text.bytes().fold(String::new(), |encoded, byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => encoded + &char::from(byte).to_string(),
            byte => encoded + &format!("%{byte:02x}"),
        })
    };
    let pairs = parameters.iter().copied().chain([("sig", signature)]);
    pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("&")
}

fn knock(query: &str) -> Result<Permit, AuthErrorKind> {
    let target = format!("/People()?{query}");
    Knock::get("localhost", &target).permit().map_err(|error| error.kind)
}

const EXPIRY: (&str, &str) = ("se", "2099-01-01");
const VERSION: (&str, &str) = ("sv", "2019-02-02");

#[test]
fn an_accounts_signature_must_be_whole_and_in_time() {
    let base = [("ss", "t"), ("srt", "sco"), ("sp", "r"), EXPIRY, VERSION];
    let changed = |name: &'static str, value: Option<&'static str>| {
        let mut parameters: Vec<_> = base.iter().copied().filter(|(own, _)| *own != name).collect();
        parameters.extend(value.map(|value| (name, value)));
        knock(&account_query(KEY, &parameters)).map(|_| ())
    };
    let refused = Err(AuthErrorKind::NotAuthentic);
    for (name, value, expected) in [
        ("ss", Some("t"), Ok(())),
        ("ss", Some("bqtf"), Ok(())),
        ("ss", Some("bqf"), Err(AuthErrorKind::Service)),
        ("ss", None, refused),
        ("srt", None, refused),
        ("sp", None, refused),
        ("se", None, refused),
        ("sv", None, refused),
        ("se", Some("2026-11-15T18:19:06Z"), Ok(())),
        ("se", Some("2026-11-15T18:19:05.9999999Z"), Err(AuthErrorKind::OutOfTime)),
        ("se", Some("soon"), refused),
        ("st", Some("2026-11-15T18:19:06Z"), Ok(())),
        ("st", Some("2026-11-15T18:19:06.0000001Z"), Err(AuthErrorKind::OutOfTime)),
        ("st", Some("soon"), refused),
        ("spr", Some("https,http"), Ok(())),
        ("spr", Some("http"), Ok(())),
        ("spr", Some("https"), Err(AuthErrorKind::Protocol)),
        ("spr", Some("gopher"), refused),
        ("sip", Some("127.0.0.1"), Ok(())),
        ("sip", Some("127.0.0.0-127.0.0.255"), Ok(())),
        ("sip", Some("127.0.0.2"), Err(AuthErrorKind::SourceAddress)),
        ("sip", Some("::1"), Err(AuthErrorKind::SourceAddress)),
        ("sip", Some("here"), refused),
        ("ses", Some(""), Ok(())),
        ("ses", Some("scope"), Ok(())),
        ("tn", Some("People"), refused),
        ("sp", Some("r\n"), refused),
        ("zz", Some("whatever"), Ok(())),
    ] {
        assert_eq!(changed(name, value), expected, "{name} {value:?}");
    }
    let twice = format!("{}&sp=r", account_query(KEY, &base));
    assert_eq!(knock(&twice).unwrap_err(), AuthErrorKind::NotAuthentic);
    for broken in ["sig=%zz", "sig=%", "sig=%ff&tn=t", "sig="] {
        assert_eq!(knock(broken).unwrap_err(), AuthErrorKind::NotAuthentic, "{broken}");
    }
}

#[test]
fn line_breaks_do_not_let_values_change_places() {
    // Signed is `sp=r`, `ss=t`, `srt=o`, and a scope on a line of its own.
    let signed = account_query(KEY, &[("sp", "r"), ("ss", "t"), ("srt", "o"), EXPIRY, VERSION, ("ses", "")]);
    let signature = signed.split("sig=").nth(1).unwrap();
    let shifted = format!("sp=r%0At&ss=o&srt=&st=2099-01-01&se=&sip=&spr=2019-02-02&sv=&sig={signature}");
    assert_eq!(knock(&shifted).unwrap_err(), AuthErrorKind::NotAuthentic);
    let shifted = format!("sp=r&ss=t&srt=o&se=2099-01-01&sv=2019-02-02%0A&sig={signature}");
    assert_eq!(knock(&shifted).unwrap_err(), AuthErrorKind::NotAuthentic);
}

#[test]
fn keys_that_read_sign_for_reading() {
    let parameters = [("tn", "People"), ("sp", "raud"), EXPIRY, VERSION];
    for (key, expected) in
        [(KEY, Ok(())), (SECONDARY_KEY, Ok(())), (READ_ONLY_KEY, Err(AuthErrorKind::ReadOnlyKey))]
    {
        let permit = knock(&table_query(key, &parameters)).unwrap();
        assert_eq!(permit.allows(Operation::QueryEntities, Some("People"), None), Ok(()));
        let written = permit.allows(Operation::InsertEntity, Some("People"), Some(("p", "r")));
        assert_eq!(written.map_err(|error| error.kind), expected);
    }
    assert_eq!(knock(&table_query("c3RyYW5nZXI=", &parameters)).unwrap_err(), AuthErrorKind::NotAuthentic);
}

#[test]
fn a_range_needs_its_partition_key() {
    let base = [("tn", "People"), ("sp", "r"), EXPIRY, VERSION];
    for (range, is_good) in [
        (&[("spk", "a")][..], true),
        (&[("epk", "a")], true),
        (&[("spk", "a"), ("srk", "b")], true),
        (&[("epk", "a"), ("erk", "b")], true),
        (&[("spk", ""), ("srk", "")], true),
        (&[("srk", "b")], false),
        (&[("erk", "b")], false),
        (&[("spk", "a"), ("erk", "b")], false),
    ] {
        let parameters: Vec<_> = base.iter().chain(range).copied().collect();
        assert_eq!(knock(&table_query(KEY, &parameters)).is_ok(), is_good, "{range:?}");
    }
}

#[test]
fn values_have_bounds() {
    for (bytes, is_good) in [(SAS_VALUE_BYTES_MAX, true), (SAS_VALUE_BYTES_MAX + 1, false)] {
        let key = "k".repeat(bytes);
        let parameters = [("tn", "People"), ("sp", "r"), EXPIRY, VERSION, ("spk", key.as_str())];
        assert_eq!(knock(&table_query(KEY, &parameters)).is_ok(), is_good, "{bytes}");
    }
    for (characters, is_good) in [(POLICY_ID_CHARACTERS_MAX, true), (POLICY_ID_CHARACTERS_MAX + 1, false)] {
        let id = "é".repeat(characters);
        let parameters = [("tn", "People"), VERSION, ("si", id.as_str())];
        let target = format!("/People?{}", table_query(KEY, &parameters));
        assert_eq!(Knock::get("localhost", &target).answer(&accounts()).is_ok(), is_good, "{characters}");
    }
}

fn needs_policy(host: &str, target: &str) -> NeedsPolicy {
    match Knock::get(host, target).answer(&accounts()).unwrap() {
        Authenticated::NeedsPolicy(needs) => needs,
        Authenticated::Permit(permit) => panic!("{permit:?} without a policy"),
    }
}

fn policy(start: &str, expiry: &str, permission: &str) -> AccessPolicy {
    AccessPolicy {
        start: UtcTime::parse(start),
        expiry: UtcTime::parse(expiry),
        permission: (!permission.is_empty()).then(|| permission.to_owned()),
    }
}

#[test]
fn policies_complete_recorded_signatures() {
    for [account, query] in POLICY_SAS {
        let (host, prefix) = place(account);
        let needs = needs_policy(&host, &format!("{prefix}/people?{query}"));
        assert_eq!((needs.pending.table.as_str(), needs.pending.policy_id.as_str()), ("People", "my policy"));
        let permit = needs.clone().settle(Some(&policy("", "2099-01-01", "ra")), NOW_MS).unwrap();
        assert_eq!(permit.allows(Operation::InsertEntity, Some("people"), Some(("p", "r"))), Ok(()));
        assert!(permit.allows(Operation::DeleteEntity, Some("people"), Some(("p", "r"))).is_err());
        let kind = |policy: Option<&AccessPolicy>| needs.clone().settle(policy, NOW_MS).unwrap_err().kind;
        assert_eq!(kind(None), AuthErrorKind::NotAuthentic);
        assert_eq!(kind(Some(&policy("", "", "ra"))), AuthErrorKind::NotAuthentic);
        assert_eq!(kind(Some(&policy("", "2099-01-01", ""))), AuthErrorKind::NotAuthentic);
        assert_eq!(kind(Some(&policy("", "2020-01-01", "r"))), AuthErrorKind::OutOfTime);
        assert_eq!(kind(Some(&policy("2098-01-01", "2099-01-01", "r"))), AuthErrorKind::OutOfTime);
    }
}

#[test]
fn what_is_said_twice_is_refused() {
    let full = policy("2020-01-01", "2099-01-01", "r");
    for (given, rest) in [
        (&[][..], full.clone()),
        (&[("sp", "r")], policy("2020-01-01", "2099-01-01", "")),
        (&[("se", "2099-01-01")], policy("2020-01-01", "", "r")),
        (&[("st", "2020-01-01")], policy("", "2099-01-01", "r")),
        (&[("sp", "r"), ("st", "2020-01-01"), ("se", "2099-01-01")], AccessPolicy::default()),
    ] {
        let base = [("tn", "People"), VERSION, ("si", "p")];
        let parameters: Vec<_> = base.iter().chain(given).copied().collect();
        let needs = needs_policy("localhost", &format!("/People?{}", table_query(KEY, &parameters)));
        assert!(needs.clone().settle(Some(&rest), NOW_MS).is_ok(), "{given:?}");
        assert_eq!(needs.settle(Some(&full), NOW_MS).is_ok(), given.is_empty(), "{given:?}");
    }
}

proptest! {
    #[test]
    fn no_query_string_panics(query in "((sig|sv|sp|se|ss|srt|tn|si|sip|spr|spk|erk)=[a-zA-Z0-9%+.:é-]{0,12}&){0,8}") {
        let target = format!("/t?{query}");
        prop_assert!(Knock::get("localhost", &target).answer(&accounts()).is_err());
    }
}
