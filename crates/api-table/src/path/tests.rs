//! Paths in every form that clients send.

use super::{Address, PathError, entity_link, parse};
use crate::limits::PATH_BYTES_MAX;
use crate::options::Flavour;

fn entity(table: &str, partition_key: &str, row_key: &str) -> Result<Address, PathError> {
    Ok(Address::Entity {
        table: table.to_owned(),
        partition_key: partition_key.to_owned(),
        row_key: row_key.to_owned(),
    })
}

fn entities(table: &str) -> Result<Address, PathError> {
    Ok(Address::Entities(table.to_owned()))
}

#[test]
fn every_form_is_read() {
    for (path, expected) in [
        ("", Ok(Address::Service)),
        ("/", Ok(Address::Service)),
        ("$batch", Ok(Address::Batch)),
        ("%24batch", Ok(Address::Batch)),
        ("Tables", Ok(Address::Tables)),
        ("Tables()", Ok(Address::Tables)),
        ("Tables/", Ok(Address::Tables)),
        ("Tables('t')", Ok(Address::Table("t".into()))),
        ("Tables(%27t%27)", Ok(Address::Table("t".into()))),
        ("Tables('a''b')", Ok(Address::Table("a'b".into()))),
        ("Tables('a'b')", Err(PathError)),
        ("t", entities("t")),
        ("t()", entities("t")),
        ("t%28%29", entities("t")),
        ("gr%C3%B6%C3%9Fe", entities("größe")),
        ("t(PartitionKey='p',RowKey='r')", entity("t", "p", "r")),
        ("t(RowKey='r',PartitionKey='p')", entity("t", "p", "r")),
        ("t(PartitionKey='p', RowKey='r')", entity("t", "p", "r")),
        ("t(PartitionKey=%27p%27,RowKey=%27r%27)", entity("t", "p", "r")),
        ("t(PartitionKey='',RowKey='')", entity("t", "", "")),
        ("t(PartitionKey='A''a%22b',RowKey='A%27%27a%22b')", entity("t", "A'a\"b", "A'a\"b")),
        ("t(PartitionKey='a%2Fb',RowKey='a+b%20c')", entity("t", "a/b", "a+b c")),
        ("t(PartitionKey='p'',RowKey=''q',RowKey='r')", entity("t", "p',RowKey='q", "r")),
        ("t(PartitionKey='x(PartitionKey=''',RowKey='r')", entity("t", "x(PartitionKey='", "r")),
        ("t(x)(PartitionKey='p',RowKey='r')", entity("t(x)", "p", "r")),
        ("t(x)", entities("t(x)")),
        ("t/Tables", Err(PathError)),
        ("t//", Err(PathError)),
        ("%zz", Err(PathError)),
        ("%C3", Err(PathError)),
        ("$metadata", Err(PathError)),
        ("()", Err(PathError)),
        ("(PartitionKey='p',RowKey='r')", Ok(Address::Entities("(PartitionKey='p',RowKey='r')".into()))),
    ] {
        assert_eq!(parse(path, Flavour::Cosmos), expected, "{path}");
    }
}

#[test]
fn flavours_differ_in_names() {
    assert_eq!(parse("tables", Flavour::Cosmos), entities("tables"));
    assert_eq!(parse("tables", Flavour::Storage), Ok(Address::Tables));
    assert_eq!(parse("tables('t')", Flavour::Storage), Ok(Address::Table("t".into())));
    assert_eq!(parse("t(PartitionKey='p')", Flavour::Storage), Err(PathError));
    assert_eq!(parse("t/Tables('x')", Flavour::Storage), Ok(Address::Beyond("t".into())));
}

#[test]
fn paths_are_bounded() {
    assert!(parse(&"t".repeat(PATH_BYTES_MAX), Flavour::Cosmos).is_ok());
    assert_eq!(parse(&"t".repeat(PATH_BYTES_MAX + 1), Flavour::Cosmos), Err(PathError));
}

#[test]
fn links_lead_back() {
    for (partition_key, row_key) in [("p", "r"), ("", ""), ("A'a\"b", "ä b+c/d"), ("''", ",RowKey='")] {
        let link = entity_link("t", partition_key, row_key);
        assert!(link.is_ascii());
        assert_eq!(parse(&link, Flavour::Cosmos), entity("t", partition_key, row_key), "{link}");
    }
    assert_eq!(entity_link("t", "it's", "a b"), "t(PartitionKey='it''s',RowKey='a%20b')");
}
