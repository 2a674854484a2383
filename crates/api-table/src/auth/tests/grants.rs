//! What is permitted.

use http::StatusCode;
use proptest::prelude::*;

use super::super::error::{AuthError, AuthErrorKind};
use super::super::grant::{KeyBound, KeyRange, Operation, Permit, Principal, SasGrant, Scope};
use crate::Flavour;

const OPERATIONS: [Operation; 15] = [
    Operation::ListTables,
    Operation::ReadTable,
    Operation::CreateTable,
    Operation::DeleteTable,
    Operation::ReadEntity,
    Operation::QueryEntities,
    Operation::InsertEntity,
    Operation::UpdateEntity,
    Operation::UpsertEntity,
    Operation::DeleteEntity,
    Operation::ReadPolicies,
    Operation::WritePolicies,
    Operation::ReadProperties,
    Operation::WriteProperties,
    Operation::ReadStats,
];

fn permit(principal: Principal) -> Permit {
    Permit { principal, is_secondary: false }
}

fn sas(scope: Scope, permissions: &str) -> Permit {
    permit(Principal::Sas(SasGrant { scope, permissions: permissions.to_owned(), is_read_only: false }))
}

fn table_sas(permissions: &str, range: KeyRange) -> Permit {
    sas(Scope::Table { table: "People".to_owned(), range }, permissions)
}

fn account_sas(resource_types: &str, permissions: &str) -> Permit {
    sas(Scope::Account { resource_types: resource_types.to_owned() }, permissions)
}

fn allowed(permit: &Permit) -> Vec<Operation> {
    let is_allowed =
        |operation: &Operation| permit.allows(*operation, Some("people"), Some(("p", "r"))).is_ok();
    OPERATIONS.into_iter().filter(is_allowed).collect()
}

#[test]
fn keys_permit_everything_or_reading() {
    assert_eq!(allowed(&permit(Principal::Full)), OPERATIONS);
    let reads: Vec<_> = OPERATIONS.into_iter().filter(|operation| operation.is_read()).collect();
    assert_eq!(reads.len(), 7);
    assert_eq!(allowed(&permit(Principal::ReadOnly)), reads);
    let secondary = Permit { principal: Principal::Full, is_secondary: true };
    assert_eq!(allowed(&secondary), reads);
    let error = secondary.allows(Operation::CreateTable, Some("t"), None).unwrap_err();
    assert_eq!(error.message(Flavour::Storage), "Write operations are not allowed.");
}

#[test]
fn a_tables_signature_permits_entities_of_the_table() {
    use Operation::{DeleteEntity, InsertEntity, QueryEntities, ReadEntity, UpdateEntity, UpsertEntity};
    for (permissions, expected) in [
        ("", &[][..]),
        ("r", &[ReadEntity, QueryEntities]),
        ("a", &[InsertEntity]),
        ("u", &[UpdateEntity]),
        ("d", &[DeleteEntity]),
        ("ua", &[InsertEntity, UpdateEntity, UpsertEntity]),
        ("raud", &[ReadEntity, QueryEntities, InsertEntity, UpdateEntity, UpsertEntity, DeleteEntity]),
        ("wlcp", &[]),
    ] {
        assert_eq!(allowed(&table_sas(permissions, KeyRange::default())), expected, "{permissions}");
    }
    let permit = table_sas("raud", KeyRange::default());
    for (operation, table, expected) in [
        (Operation::QueryEntities, Some("PEOPLE"), Ok(())),
        (Operation::QueryEntities, Some("other"), Err(AuthErrorKind::NotGranted)),
        (Operation::QueryEntities, None, Err(AuthErrorKind::NotGranted)),
        (Operation::ListTables, None, Err(AuthErrorKind::NotGranted)),
        (Operation::DeleteTable, Some("People"), Err(AuthErrorKind::NotGranted)),
    ] {
        let answer = permit.allows(operation, table, None).map_err(|error| error.kind);
        assert_eq!(answer, expected, "{operation:?} {table:?}");
    }
    let refused = table_sas("r", KeyRange::default()).allows(InsertEntity, Some("People"), None).unwrap_err();
    assert_eq!(refused.kind, AuthErrorKind::Permission);
}

#[test]
fn an_accounts_signature_permits_by_kind_of_resource() {
    use Operation::{
        CreateTable, DeleteEntity, DeleteTable, InsertEntity, ListTables, QueryEntities, ReadEntity,
        ReadProperties, ReadStats, ReadTable, UpdateEntity, UpsertEntity, WriteProperties,
    };
    for (resource_types, permissions, expected) in [
        ("s", "rwdlacup", &[ReadProperties, WriteProperties, ReadStats][..]),
        ("s", "r", &[ReadProperties, ReadStats]),
        ("c", "l", &[ListTables, ReadTable]),
        ("c", "c", &[CreateTable]),
        ("c", "w", &[CreateTable]),
        ("c", "d", &[DeleteTable]),
        ("o", "r", &[ReadEntity, QueryEntities]),
        ("c", "r", &[ReadEntity, QueryEntities]),
        ("o", "a", &[InsertEntity]),
        ("o", "u", &[UpdateEntity]),
        ("o", "au", &[InsertEntity, UpdateEntity, UpsertEntity]),
        ("o", "d", &[DeleteEntity]),
        ("o", "wlcp", &[]),
        ("", "rwdlacup", &[]),
    ] {
        assert_eq!(
            allowed(&account_sas(resource_types, permissions)),
            expected,
            "{resource_types} {permissions}"
        );
    }
    // Nothing but a key gets at stored access policies: they would make signatures out of signatures.
    let everything = allowed(&account_sas("sco", "rwdlacup"));
    assert_eq!(everything.len(), OPERATIONS.len() - 2);
    let kind = |permit: Permit, operation| permit.allows(operation, Some("t"), None).unwrap_err().kind;
    assert_eq!(kind(account_sas("sco", "rwdlacup"), Operation::WritePolicies), AuthErrorKind::NotGranted);
    assert_eq!(kind(account_sas("o", "l"), Operation::ListTables), AuthErrorKind::ResourceType);
    assert_eq!(kind(account_sas("c", "r"), Operation::ListTables), AuthErrorKind::Permission);
}

fn bound(partition_key: &str, row_key: Option<&str>) -> Option<KeyBound> {
    Some(KeyBound { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) })
}

#[test]
fn ranges_include_their_ends() {
    let range = KeyRange { start: bound("b", Some("5")), end: bound("d", Some("3")) };
    for (partition_key, row_key, expected) in [
        ("a", "9", false),
        ("b", "4", false),
        ("b", "5", true),
        ("b", "9", true),
        ("c", "", true),
        ("d", "", true),
        ("d", "3", true),
        ("d", "30", false),
        ("d", "4", false),
        ("e", "", false),
    ] {
        assert_eq!(range.contains(partition_key, row_key), expected, "{partition_key} {row_key}");
        let permit = table_sas("a", range.clone());
        let answer = permit.allows(Operation::InsertEntity, Some("People"), Some((partition_key, row_key)));
        assert_eq!(answer.is_ok(), expected);
    }
    let partitions = KeyRange { start: bound("b", None), end: bound("d", None) };
    for (partition_key, expected) in [("a", false), ("b", true), ("c", true), ("d", true), ("da", false)] {
        assert_eq!(partitions.contains(partition_key, "zzz"), expected, "{partition_key}");
        assert_eq!(partitions.contains(partition_key, ""), expected, "{partition_key}");
    }
    assert!(KeyRange::default().contains("", ""));
}

#[test]
fn ranges_are_filters_of_queries() {
    for (start, end, expected) in [
        (None, None, None),
        (bound("a", None), None, Some("PartitionKey ge 'a'")),
        (None, bound("it's", None), Some("PartitionKey le 'it''s'")),
        (bound("a", None), bound("b", None), Some("PartitionKey ge 'a' and PartitionKey le 'b'")),
        (
            bound("a", Some("1")),
            None,
            Some("(PartitionKey gt 'a' or (PartitionKey eq 'a' and RowKey ge '1'))"),
        ),
        (
            bound("a", None),
            bound("b", Some("2")),
            Some("PartitionKey ge 'a' and (PartitionKey lt 'b' or (PartitionKey eq 'b' and RowKey le '2'))"),
        ),
        (bound("a", None), bound("a", None), Some("PartitionKey eq 'a'")),
        (bound("a", Some("1")), bound("a", None), Some("PartitionKey eq 'a' and RowKey ge '1'")),
        (bound("a", None), bound("a", Some("2")), Some("PartitionKey eq 'a' and RowKey le '2'")),
        (
            bound("a", Some("1")),
            bound("a", Some("2")),
            Some("PartitionKey eq 'a' and RowKey ge '1' and RowKey le '2'"),
        ),
        (bound("a", Some("1")), bound("a", Some("1")), Some("PartitionKey eq 'a' and RowKey eq '1'")),
    ] {
        let permit = table_sas("r", KeyRange { start, end });
        assert_eq!(permit.range_filter().as_deref(), expected);
    }
    assert_eq!(permit(Principal::Full).range_filter(), None);
    assert_eq!(account_sas("o", "r").range_filter(), None);
}

#[test]
fn errors_are_told_in_the_words_of_each_service() {
    let tell = |kind, flavour| {
        let error = AuthError::new(kind, "");
        let words = error.message(flavour);
        (error.status(flavour), error.code(flavour), words.split('.').next().unwrap().to_owned())
    };
    for (kind, flavour, status, code, words) in [
        (
            AuthErrorKind::NotAuthentic,
            Flavour::Storage,
            403,
            "AuthenticationFailed",
            "Server failed to authenticate the request",
        ),
        (
            AuthErrorKind::NotAuthentic,
            Flavour::Cosmos,
            401,
            "Unauthorized",
            "The input authorization token can't serve the request",
        ),
        (
            AuthErrorKind::OutOfTime,
            Flavour::Storage,
            403,
            "AuthenticationFailed",
            "Server failed to authenticate the request",
        ),
        (
            AuthErrorKind::NoCredentials,
            Flavour::Storage,
            401,
            "NoAuthenticationInformation",
            "Server failed to authenticate the request",
        ),
        (
            AuthErrorKind::BearerToken,
            Flavour::Storage,
            401,
            "InvalidAuthenticationInfo",
            "Server failed to authenticate the request",
        ),
        (
            AuthErrorKind::BearerToken,
            Flavour::Cosmos,
            401,
            "Unauthorized",
            "The input authorization token can't serve the request",
        ),
        (
            AuthErrorKind::ReadOnlyKey,
            Flavour::Cosmos,
            403,
            "Forbidden",
            "This request is not authorized to perform this operation",
        ),
        (
            AuthErrorKind::NotGranted,
            Flavour::Cosmos,
            403,
            "AuthorizationFailure",
            "This request is not authorized to perform this operation",
        ),
    ] {
        let expected = (StatusCode::from_u16(status).unwrap(), code, words.to_owned());
        assert_eq!(tell(kind, flavour), expected);
    }
    let error = AuthError::new(AuthErrorKind::Permission, "sp=r");
    assert_eq!(
        error.message(Flavour::Storage),
        "This request is not authorized to perform this operation using this permission. (sp=r)"
    );
    assert_eq!(error.challenge(Flavour::Storage), None);
    assert_eq!(AuthError::new(AuthErrorKind::BearerToken, "").challenge(Flavour::Cosmos), None);
    // One client takes the value apart at its first space.
    let challenge = AuthError::new(AuthErrorKind::NoCredentials, "").challenge(Flavour::Cosmos).unwrap();
    assert!(challenge.contains(' '));
}

proptest! {
    #[test]
    fn a_range_is_what_its_two_ends_say(
        start in proptest::option::of(("[a-c]{1,2}", proptest::option::of("[a-c]{1,2}"))),
        end in proptest::option::of(("[a-c]{1,2}", proptest::option::of("[a-c]{1,2}"))),
        partition_key in "[a-c]{1,2}",
        row_key in "[a-c]{0,2}",
    ) {
        let to_bound = |(partition_key, row_key): (String, Option<String>)| KeyBound { partition_key, row_key };
        let range = KeyRange { start: start.clone().map(to_bound), end: end.clone().map(to_bound) };
        let is_after = start.is_none_or(|(partition, row)| {
            partition_key > partition || (partition_key == partition && row.is_none_or(|row| row_key >= row))
        });
        let is_before = end.is_none_or(|(partition, row)| {
            partition_key < partition || (partition_key == partition && row.is_none_or(|row| row_key <= row))
        });
        prop_assert_eq!(range.contains(&partition_key, &row_key), is_after && is_before);
    }
}
