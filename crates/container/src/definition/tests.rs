//! Tables of definitions: what comes back, why they are refused, and what may be replaced by what.

use armilla_value::json;
use expect_test::{Expect, expect};

use super::*;

fn parse(definition: &str) -> Result<ContainerDefinition, DefinitionError> {
    ContainerDefinition::from_value(&json::parse(definition.as_bytes()).unwrap())
}

fn shown(outcome: Result<ContainerDefinition, DefinitionError>) -> String {
    match outcome {
        Ok(definition) => {
            let written = definition.to_value();
            assert_eq!(ContainerDefinition::from_value(&written).unwrap(), definition);
            json::to_string(&written)
        }
        Err(error) => format!("refused at {}: {}", error.path, error.message),
    }
}

/// A definition with a partition key and the default policy, which is cut out of what is shown.
fn with(members: &str) -> String {
    format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},{members}}}"#)
}

const COMMON: &str = r#"{"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}"#;

/// Shows what each of the rows becomes when it is added to a minimal definition.
#[track_caller]
fn check(rows: &[&str], expect: Expect) {
    let row = |members: &&str| {
        let shown = shown(parse(&with(members)));
        let added = shown.strip_prefix(COMMON).and_then(|rest| rest.strip_suffix('}'));
        let short = match added {
            Some("") => "nothing is kept",
            Some(added) => added.trim_start_matches(','),
            None => &shown,
        };
        format!("{members}\n  {short}\n")
    };
    expect.assert_eq(&rows.iter().map(row).collect::<String>());
}

#[track_caller]
fn check_whole(rows: &[&str], expect: Expect) {
    let row = |definition: &&str| format!("{definition}\n  {}\n", shown(parse(definition)));
    expect.assert_eq(&rows.iter().map(row).collect::<String>());
}

#[test]
fn whole_definitions() {
    check_whole(
        &[
            r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#,
            r#"{"partitionKey":{"paths":["/pk"]},"id":"c","_rid":"x","_ts":1,"_self":"s","_etag":"e","_docs":"docs/","unknown":1,"defaultTtl":null}"#,
            r#"{"id":"c","changeFeedPolicy":{"retentionDuration":10},"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/text","language":"en-US"}]},
  "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]},
  "computedProperties":[{"name":"lowerName","query":"SELECT VALUE LOWER(c.name) FROM c"}],"analyticalStorageTtl":-1,"defaultTtl":-1,"geospatialConfig":{"type":"Geography"},
  "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},
  "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email","/name"]}]},"partitionKey":{"paths":["/tenant","/user"],"kind":"MultiHash","version":2},
  "indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"},{"path":"/v/*"}],
  "compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}]],"spatialIndexes":[{"path":"/loc/*","types":["Point","LineString","Polygon","MultiPolygon"]}],
  "vectorIndexes":[{"path":"/v","type":"flat"}],"fullTextIndexes":[{"path":"/text"}]}}"#,
            r#"[]"#,
            r#"{}"#,
            r#"{"id":"c"}"#,
            r#"{"id":7,"partitionKey":{"paths":["/pk"]}}"#,
            r#"{"id":"a/b","partitionKey":{"paths":["/pk"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"excludedPaths":[{"path":"/a"}]}}"#,
        ],
        expect![[r#"
            {"id":"c","partitionKey":{"paths":["/pk"]}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"partitionKey":{"paths":["/pk"]},"id":"c","_rid":"x","_ts":1,"_self":"s","_etag":"e","_docs":"docs/","unknown":1,"defaultTtl":null}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","changeFeedPolicy":{"retentionDuration":10},"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/text","language":"en-US"}]},
              "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]},
              "computedProperties":[{"name":"lowerName","query":"SELECT VALUE LOWER(c.name) FROM c"}],"analyticalStorageTtl":-1,"defaultTtl":-1,"geospatialConfig":{"type":"Geography"},
              "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},
              "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email","/name"]}]},"partitionKey":{"paths":["/tenant","/user"],"kind":"MultiHash","version":2},
              "indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"},{"path":"/v/*"}],
              "compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}]],"spatialIndexes":[{"path":"/loc/*","types":["Point","LineString","Polygon","MultiPolygon"]}],
              "vectorIndexes":[{"path":"/v","type":"flat"}],"fullTextIndexes":[{"path":"/text"}]}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"},{"path":"/v/*"}],"compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}]],"spatialIndexes":[{"path":"/loc/*","types":["Point","LineString","Polygon","MultiPolygon"]}],"vectorIndexes":[{"path":"/v","type":"flat"}],"fullTextIndexes":[{"path":"/text"}]},"partitionKey":{"paths":["/tenant","/user"],"kind":"MultiHash","version":2},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email","/name"]}]},"conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"},"defaultTtl":-1,"analyticalStorageTtl":-1,"computedProperties":[{"name":"lowerName","query":"SELECT VALUE LOWER(c.name) FROM c"}],"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]},"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/text","language":"en-US"}]},"changeFeedPolicy":{"retentionDuration":10}}
            []
              refused at : a container's definition must be a JSON object
            {}
              refused at id: The input content is invalid because the required properties - 'id; ' - are missing
            {"id":"c"}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","version":2,"systemKey":true},"geospatialConfig":{"type":"Geography"}}
            {"id":7,"partitionKey":{"paths":["/pk"]}}
              refused at id: 'id' must be a string
            {"id":"a/b","partitionKey":{"paths":["/pk"]}}
              refused at id: the id 'a/b' contains the illegal character '/'
            {"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"excludedPaths":[{"path":"/a"}]}}
              refused at indexingPolicy.excludedPaths[0].path: The indexing path '/a' could not be accepted, failed near position '2'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
        "#]],
    );
}

#[test]
fn partition_keys() {
    check_whole(
        &[
            r#"{"id":"c","partitionKey":{}}"#,
            r#"{"id":"c","partitionKey":"/pk"}"#,
            r#"{"id":"c","partitionKey":{"paths":[]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/_partitionKey"],"systemKey":true}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"hash","version":1}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":3}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Range"}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Tree"}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a","/b"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a"],"kind":"MultiHash"}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a","/b","/c"],"kind":"MultiHash","version":2}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a","/b","/c","/d"],"kind":"MultiHash","version":2}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":1}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a","/\"a\""],"kind":"MultiHash"}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/\"level' 1*()\"/\"le/vel2\""]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/'level\" 1*()'/'le/vel2'"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a/b-c/$v"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["pk"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":[""]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk/"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/pk/?"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/*"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/a/[]/b"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/asdwqr31 @x"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/\"a"]}}"#,
            r#"{"id":"c","partitionKey":{"paths":["/\"\""]}}"#,
            r#"{"id":"c","partitionKey":{"paths":[7]}}"#,
        ],
        expect![[r#"
            {"id":"c","partitionKey":{}}
              refused at partitionKey.paths: partition key must be specified: 'partitionKey.paths' is missing
            {"id":"c","partitionKey":"/pk"}
              refused at partitionKey: 'partitionKey' must be an object
            {"id":"c","partitionKey":{"paths":[]}}
              refused at partitionKey.paths: a partition key of kind 'Hash' has exactly one path, but 0 are given
            {"id":"c","partitionKey":{"paths":["/_partitionKey"],"systemKey":true}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","version":2,"systemKey":true},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["/pk"],"kind":"hash","version":1}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":1},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":3}}
              refused at partitionKey.version: the partition key version 3 is not 1 or 2
            {"id":"c","partitionKey":{"paths":["/pk"],"kind":"Range"}}
              refused at partitionKey.kind: the partition key kind 'Range' is no longer supported; use 'Hash'
            {"id":"c","partitionKey":{"paths":["/pk"],"kind":"Tree"}}
              refused at partitionKey.kind: the partition key kind 'Tree' is neither 'Hash' nor 'MultiHash'
            {"id":"c","partitionKey":{"paths":["/a","/b"]}}
              refused at partitionKey.paths: a partition key of kind 'Hash' has exactly one path, but 2 are given
            {"id":"c","partitionKey":{"paths":["/a"],"kind":"MultiHash"}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/a"],"kind":"MultiHash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["/a","/b","/c"],"kind":"MultiHash","version":2}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/a","/b","/c"],"kind":"MultiHash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["/a","/b","/c","/d"],"kind":"MultiHash","version":2}}
              refused at partitionKey.paths: a partition key of kind 'MultiHash' has one to three paths, but 4 are given
            {"id":"c","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":1}}
              refused at partitionKey.version: the partition key version 1 is not 2, which the kind 'MultiHash' needs
            {"id":"c","partitionKey":{"paths":["/a","/\"a\""],"kind":"MultiHash"}}
              refused at partitionKey.paths[1]: the partition key path '/"a"' is given more than once
            {"id":"c","partitionKey":{"paths":["/\"level' 1*()\"/\"le/vel2\""]}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/\"level' 1*()\"/\"le/vel2\""],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["/'level\" 1*()'/'le/vel2'"]}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/'level\" 1*()'/'le/vel2'"],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["/a/b-c/$v"]}}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/a/b-c/$v"],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"}}
            {"id":"c","partitionKey":{"paths":["pk"]}}
              refused at partitionKey.paths[0]: The partition key component definition path 'pk' could not be accepted, failed near position '0'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":[""]}}
              refused at partitionKey.paths[0]: The partition key component definition path '' could not be accepted, failed near position '0'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/pk/"]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/pk/' could not be accepted, failed near position '4'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/pk/?"]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/pk/?' could not be accepted, failed near position '4'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/*"]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/*' could not be accepted, failed near position '1'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/a/[]/b"]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/a/[]/b' could not be accepted, failed near position '3'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/asdwqr31 @x"]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/asdwqr31 @x' could not be accepted, failed near position '9'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/\"a"]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/"a' could not be accepted, failed near position '3'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":["/\"\""]}}
              refused at partitionKey.paths[0]: The partition key component definition path '/""' could not be accepted, failed near position '2'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.
            {"id":"c","partitionKey":{"paths":[7]}}
              refused at partitionKey.paths[0]: 'partitionKey.paths[0]' must be a string
        "#]],
    );
    let quoted = parse(r#"{"id":"c","partitionKey":{"paths":["/'level\" 1*()'/'le/vel2'"]}}"#).unwrap();
    assert_eq!(quoted.partition_key.paths[0].names(), [r#"level" 1*()"#, "le/vel2"]);
}

#[test]
fn unique_keys() {
    check(
        &[
            r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/a/b","/\"c d\""]}]}"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[]}"#,
            r#""uniqueKeyPolicy":{}"#,
            r#""uniqueKeyPolicy":[]"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[{}]}"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["email"]}]}"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/tags/*"]}]}"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/a"]}]}"#,
            r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b"]},{"paths":["/b","/a"]}]}"#,
        ],
        expect![[r#"
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/a/b","/\"c d\""]}]}
              "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/a/b","/\"c d\""]}]},"geospatialConfig":{"type":"Geography"}
            "uniqueKeyPolicy":{"uniqueKeys":[]}
              "geospatialConfig":{"type":"Geography"}
            "uniqueKeyPolicy":{}
              "geospatialConfig":{"type":"Geography"}
            "uniqueKeyPolicy":[]
              refused at uniqueKeyPolicy: 'uniqueKeyPolicy' must be an object
            "uniqueKeyPolicy":{"uniqueKeys":[{}]}
              refused at uniqueKeyPolicy.uniqueKeys[0].paths: 'uniqueKeyPolicy.uniqueKeys[0].paths' is missing
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}
              refused at uniqueKeyPolicy.uniqueKeys[0].paths: the unique key at 'uniqueKeyPolicy.uniqueKeys[0]' has 0 paths; it must have 1 to 16
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["email"]}]}
              refused at uniqueKeyPolicy.uniqueKeys[0].paths[0]: the unique key path 'email' could not be accepted, failed near position '0'; it must name a property, without wildcards
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/tags/*"]}]}
              refused at uniqueKeyPolicy.uniqueKeys[0].paths[0]: the unique key path '/tags/*' could not be accepted, failed near position '6'; it must name a property, without wildcards
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/a"]}]}
              refused at uniqueKeyPolicy.uniqueKeys[0].paths[1]: the unique key path '/a' is given more than once in one key
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b"]},{"paths":["/b","/a"]}]}
              refused at uniqueKeyPolicy.uniqueKeys[1]: the unique key at 'uniqueKeyPolicy.uniqueKeys[1]' is given more than once
        "#]],
    );
    let keys = |keys: usize, paths: usize| {
        let key = |key: usize| {
            let paths: Vec<String> = (0..paths).map(|path| format!(r#""/k{key}/p{path}""#)).collect();
            format!(r#"{{"paths":[{}]}}"#, paths.join(","))
        };
        let keys: Vec<String> = (0..keys).map(key).collect();
        parse(&with(&format!(r#""uniqueKeyPolicy":{{"uniqueKeys":[{}]}}"#, keys.join(","))))
    };
    assert!(keys(limits::UNIQUE_KEYS_MAX, limits::UNIQUE_KEY_PATHS_MAX).is_ok());
    assert!(keys(limits::UNIQUE_KEYS_MAX + 1, 1).is_err());
    assert!(keys(1, limits::UNIQUE_KEY_PATHS_MAX + 1).is_err());
}

#[test]
fn conflict_policies() {
    check(
        &[
            r#""conflictResolutionPolicy":{}"#,
            r#""conflictResolutionPolicy":{"mode":"lastWriterWins","conflictResolutionPath":""}"#,
            r#""conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a"}"#,
            r#""conflictResolutionPolicy":{"mode":"Custom"}"#,
            r#""conflictResolutionPolicy":{"mode":"Custom","conflictResolutionProcedure":"dbs/d/colls/c/sprocs/p"}"#,
            r#""conflictResolutionPolicy":{"mode":"FirstWriterWins"}"#,
            r#""conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a/b"}"#,
            r#""conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"someText"}"#,
            r#""conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionProcedure":"p"}"#,
            r#""conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"/a"}"#,
        ],
        expect![[r#"
            "conflictResolutionPolicy":{}
              "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}
            "conflictResolutionPolicy":{"mode":"lastWriterWins","conflictResolutionPath":""}
              "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}
            "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a"}
              "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}
            "conflictResolutionPolicy":{"mode":"Custom"}
              "conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}
            "conflictResolutionPolicy":{"mode":"Custom","conflictResolutionProcedure":"dbs/d/colls/c/sprocs/p"}
              "conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"","conflictResolutionProcedure":"dbs/d/colls/c/sprocs/p"},"geospatialConfig":{"type":"Geography"}
            "conflictResolutionPolicy":{"mode":"FirstWriterWins"}
              refused at conflictResolutionPolicy.mode: the conflict resolution mode 'FirstWriterWins' at 'conflictResolutionPolicy.mode' is none of LastWriterWins, Custom
            "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a/b"}
              refused at conflictResolutionPolicy.conflictResolutionPath: Invalid path '/a/b' for last writer wins conflict resolution
            "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"someText"}
              refused at conflictResolutionPolicy.conflictResolutionPath: Invalid path 'someText' for last writer wins conflict resolution
            "conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionProcedure":"p"}
              refused at conflictResolutionPolicy.conflictResolutionProcedure: LastWriterWins conflict resolution mode should not have conflict resolution procedure set.
            "conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"/a"}
              refused at conflictResolutionPolicy.conflictResolutionPath: Custom conflict resolution mode should not have conflict resolution path set.
        "#]],
    );
}

#[test]
fn spans_of_time() {
    check(
        &[
            r#""defaultTtl":1"#,
            r#""defaultTtl":-1"#,
            r#""defaultTtl":2147483647"#,
            r#""defaultTtl":10.0"#,
            r#""defaultTtl":0"#,
            r#""defaultTtl":-2"#,
            r#""defaultTtl":2147483648"#,
            r#""defaultTtl":1.5"#,
            r#""defaultTtl":"10""#,
            r#""analyticalStorageTtl":0"#,
            r#""analyticalStorageTtl":-1"#,
            r#""analyticalStorageTtl":-2"#,
            r#""analyticalStorageTtl":true"#,
            r#""changeFeedPolicy":{"retentionDuration":0}"#,
            r#""changeFeedPolicy":{"retentionDuration":43200}"#,
            r#""changeFeedPolicy":{"retentionDuration":43201}"#,
            r#""changeFeedPolicy":{"retentionDuration":-1}"#,
            r#""changeFeedPolicy":{}"#,
            r#""changeFeedPolicy":10"#,
            r#""changeFeedPolicy":{"retentionDuration":5,"previousImages":true}"#,
            r#""changeFeedPolicy":{"previousImages":true}"#,
            r#""changeFeedPolicy":{"retentionDuration":5,"previousImages":false}"#,
            r#""changeFeedPolicy":{"previousImages":1}"#,
            r#""extendedTypes":true"#,
            r#""extendedTypes":"true""#,
            r#""defaultTtl":10,"indexingPolicy":{"indexingMode":"none"}"#,
            r#""indexingPolicy":{"indexingMode":"none"}"#,
        ],
        expect![[r#"
            "defaultTtl":1
              "geospatialConfig":{"type":"Geography"},"defaultTtl":1
            "defaultTtl":-1
              "geospatialConfig":{"type":"Geography"},"defaultTtl":-1
            "defaultTtl":2147483647
              "geospatialConfig":{"type":"Geography"},"defaultTtl":2147483647
            "defaultTtl":10.0
              "geospatialConfig":{"type":"Geography"},"defaultTtl":10
            "defaultTtl":0
              refused at defaultTtl: The input defaultTtl '0' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or -1, which means never expire.
            "defaultTtl":-2
              refused at defaultTtl: The input defaultTtl '-2' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or -1, which means never expire.
            "defaultTtl":2147483648
              refused at defaultTtl: The input defaultTtl '2147483648' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or -1, which means never expire.
            "defaultTtl":1.5
              refused at defaultTtl: The input defaultTtl '1.5' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or -1, which means never expire.
            "defaultTtl":"10"
              refused at defaultTtl: The input defaultTtl '"10"' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or -1, which means never expire.
            "analyticalStorageTtl":0
              "geospatialConfig":{"type":"Geography"},"analyticalStorageTtl":0
            "analyticalStorageTtl":-1
              "geospatialConfig":{"type":"Geography"},"analyticalStorageTtl":-1
            "analyticalStorageTtl":-2
              refused at analyticalStorageTtl: The input analyticalStorageTtl '-2' is invalid. Ensure to provide a nonnegative integer less than or equal to '2147483647', or -1, which means never expire.
            "analyticalStorageTtl":true
              refused at analyticalStorageTtl: The input analyticalStorageTtl 'true' is invalid. Ensure to provide a nonnegative integer less than or equal to '2147483647', or -1, which means never expire.
            "changeFeedPolicy":{"retentionDuration":0}
              "geospatialConfig":{"type":"Geography"},"changeFeedPolicy":{"retentionDuration":0}
            "changeFeedPolicy":{"retentionDuration":43200}
              "geospatialConfig":{"type":"Geography"},"changeFeedPolicy":{"retentionDuration":43200}
            "changeFeedPolicy":{"retentionDuration":43201}
              refused at changeFeedPolicy.retentionDuration: 'changeFeedPolicy.retentionDuration' is 43201; it must be 0 to 43200 minutes
            "changeFeedPolicy":{"retentionDuration":-1}
              refused at changeFeedPolicy.retentionDuration: 'changeFeedPolicy.retentionDuration' is -1; it must be 0 to 43200 minutes
            "changeFeedPolicy":{}
              "geospatialConfig":{"type":"Geography"}
            "changeFeedPolicy":10
              refused at changeFeedPolicy: 'changeFeedPolicy' must be an object
            "changeFeedPolicy":{"retentionDuration":5,"previousImages":true}
              "geospatialConfig":{"type":"Geography"},"changeFeedPolicy":{"retentionDuration":5,"previousImages":true}
            "changeFeedPolicy":{"previousImages":true}
              "geospatialConfig":{"type":"Geography"},"changeFeedPolicy":{"previousImages":true}
            "changeFeedPolicy":{"retentionDuration":5,"previousImages":false}
              "geospatialConfig":{"type":"Geography"},"changeFeedPolicy":{"retentionDuration":5}
            "changeFeedPolicy":{"previousImages":1}
              refused at changeFeedPolicy.previousImages: 'changeFeedPolicy.previousImages' must be true or false
            "extendedTypes":true
              "geospatialConfig":{"type":"Geography"},"extendedTypes":true
            "extendedTypes":"true"
              refused at extendedTypes: 'extendedTypes' must be true or false
            "defaultTtl":10,"indexingPolicy":{"indexingMode":"none"}
              refused at defaultTtl: 'defaultTtl' needs an index: it cannot be combined with the indexing mode 'none'; to index nothing else, exclude '/*' under the mode 'consistent'
            "indexingPolicy":{"indexingMode":"none"}
              {"id":"c","indexingPolicy":{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"}}
        "#]],
    );
}

#[test]
fn computed_properties() {
    check(
        &[
            r#""computedProperties":[]"#,
            r#""computedProperties":[{"name":"lower","query":"select  value LOWER(c.name)\nFROM c"},{"name":"x","query":"SELECT VALUE c.a FROM root c"}]"#,
            r#""computedProperties":[{"name":"lower","query":"SELECT VALUE(c.a)FROM c"}],"indexingPolicy":{"includedPaths":[{"path":"/lower/*"},{"path":"/*"}]}"#,
            r#""computedProperties":{}"#,
            r#""computedProperties":[{"query":"SELECT VALUE c.a FROM c"}]"#,
            r#""computedProperties":[{"name":"","query":"SELECT VALUE c.a FROM c"}]"#,
            r#""computedProperties":[{"name":"id","query":"SELECT VALUE c.a FROM c"}]"#,
            r#""computedProperties":[{"name":"_ts","query":"SELECT VALUE c.a FROM c"}]"#,
            r#""computedProperties":[{"name":"pk","query":"SELECT VALUE c.a FROM c"}]"#,
            r#""computedProperties":[{"name":"a","query":"SELECT VALUE c.a FROM c"},{"name":"a","query":"SELECT VALUE c.b FROM c"}]"#,
            r#""computedProperties":[{"name":"a"}]"#,
            r#""computedProperties":[{"name":"a","query":7}]"#,
            r#""computedProperties":[{"name":"a","query":""}]"#,
            r#""computedProperties":[{"name":"a","query":"SELECT c.a FROM c"}]"#,
            r#""computedProperties":[{"name":"a","query":"(SELECT VALUE c.a FROM c)"}]"#,
            r#""computedProperties":[{"name":"a","query":"SELECT VALUE 1"}]"#,
            r#""computedProperties":[{"name":"loc","query":"SELECT VALUE c.a FROM c"}],"indexingPolicy":{"spatialIndexes":[{"path":"/loc/*"}]}"#,
        ],
        expect![[r#"
            "computedProperties":[]
              "geospatialConfig":{"type":"Geography"},"computedProperties":[]
            "computedProperties":[{"name":"lower","query":"select  value LOWER(c.name)\nFROM c"},{"name":"x","query":"SELECT VALUE c.a FROM root c"}]
              "geospatialConfig":{"type":"Geography"},"computedProperties":[{"name":"lower","query":"select  value LOWER(c.name)\nFROM c"},{"name":"x","query":"SELECT VALUE c.a FROM root c"}]
            "computedProperties":[{"name":"lower","query":"SELECT VALUE(c.a)FROM c"}],"indexingPolicy":{"includedPaths":[{"path":"/lower/*"},{"path":"/*"}]}
              {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/lower/*"},{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"geospatialConfig":{"type":"Geography"},"computedProperties":[{"name":"lower","query":"SELECT VALUE(c.a)FROM c"}]}
            "computedProperties":{}
              refused at computedProperties: One of the specified inputs is invalid. 'computedProperties' must be an array
            "computedProperties":[{"query":"SELECT VALUE c.a FROM c"}]
              refused at computedProperties[0].name: 'computedProperties[0].name' is missing
            "computedProperties":[{"name":"","query":"SELECT VALUE c.a FROM c"}]
              refused at computedProperties[0].name: the computed property name at 'computedProperties[0].name' is empty
            "computedProperties":[{"name":"id","query":"SELECT VALUE c.a FROM c"}]
              refused at computedProperties[0].name: the computed property name 'id' belongs to the system
            "computedProperties":[{"name":"_ts","query":"SELECT VALUE c.a FROM c"}]
              refused at computedProperties[0].name: the computed property name '_ts' belongs to the system
            "computedProperties":[{"name":"pk","query":"SELECT VALUE c.a FROM c"}]
              refused at computedProperties[0].name: the computed property 'pk' has the name of a partition key property
            "computedProperties":[{"name":"a","query":"SELECT VALUE c.a FROM c"},{"name":"a","query":"SELECT VALUE c.b FROM c"}]
              refused at computedProperties[1].name: the computed property 'a' is defined more than once
            "computedProperties":[{"name":"a"}]
              refused at computedProperties[0].query: 'computedProperties[0].query' is missing
            "computedProperties":[{"name":"a","query":7}]
              refused at computedProperties[0].query: 'computedProperties[0].query' must be a string
            "computedProperties":[{"name":"a","query":""}]
              refused at computedProperties[0].query: the query of the computed property 'a' must be SELECT VALUE <expression> FROM <root>
            "computedProperties":[{"name":"a","query":"SELECT c.a FROM c"}]
              refused at computedProperties[0].query: the query of the computed property 'a' must be SELECT VALUE <expression> FROM <root>
            "computedProperties":[{"name":"a","query":"(SELECT VALUE c.a FROM c)"}]
              refused at computedProperties[0].query: the query of the computed property 'a' must be SELECT VALUE <expression> FROM <root>
            "computedProperties":[{"name":"a","query":"SELECT VALUE 1"}]
              refused at computedProperties[0].query: the query of the computed property 'a' must be SELECT VALUE <expression> FROM <root>
            "computedProperties":[{"name":"loc","query":"SELECT VALUE c.a FROM c"}],"indexingPolicy":{"spatialIndexes":[{"path":"/loc/*"}]}
              refused at indexingPolicy.spatialIndexes: the computed property 'loc' cannot have the spatial index '/loc/*'
        "#]],
    );
    let count = |count: usize| {
        let property = |n: usize| format!(r#"{{"name":"p{n}","query":"SELECT VALUE c.a FROM c"}}"#);
        let properties: Vec<String> = (0..count).map(property).collect();
        parse(&with(&format!(r#""computedProperties":[{}]"#, properties.join(","))))
    };
    assert!(count(limits::COMPUTED_PROPERTIES_MAX).is_ok());
    assert!(count(limits::COMPUTED_PROPERTIES_MAX + 1).is_err());
    let long = |bytes: usize| {
        let query = format!("SELECT VALUE c.{} FROM c", "a".repeat(bytes - "SELECT VALUE c. FROM c".len()));
        parse(&with(&format!(r#""computedProperties":[{{"name":"a","query":"{query}"}}]"#)))
    };
    assert!(long(limits::COMPUTED_QUERY_BYTES_MAX).is_ok());
    assert!(long(limits::COMPUTED_QUERY_BYTES_MAX + 1).is_err());
}

#[test]
fn vectors() {
    check(
        &[
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"Float16","dimensions":4096,"distanceFunction":"dotProduct"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[]}"#,
            r#""vectorEmbeddingPolicy":{}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v/","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float33","dimensions":3,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":8000,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":4097,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":99999999999,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":0,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":-1,"distanceFunction":"cosine"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"handMeasured"}]}"#,
            r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":3,"distanceFunction":"cosine"},{"path":"/v","dataType":"int8","dimensions":3,"distanceFunction":"cosine"}]}"#,
            r#""indexingPolicy":{"vectorIndexes":[{"path":"/vector1","type":"flat"}]}"#,
            r#""indexingPolicy":{"vectorIndexes":[{"path":"/vector2","type":"flat"}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/vector1","dataType":"int8","dimensions":3,"distanceFunction":"cosine"}]}"#,
            r#""indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"flat"}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":506,"distanceFunction":"cosine"}]}"#,
            r#""indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"quantizedFlat","quantizationByteSize":0}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":256,"distanceFunction":"cosine"}]}"#,
        ],
        expect![[r#"
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"Float16","dimensions":4096,"distanceFunction":"dotProduct"}]}
              "geospatialConfig":{"type":"Geography"},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float16","dimensions":4096,"distanceFunction":"dotproduct"}]}
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[]}
              "geospatialConfig":{"type":"Geography"},"vectorEmbeddingPolicy":{"vectorEmbeddings":[]}
            "vectorEmbeddingPolicy":{}
              refused at vectorEmbeddingPolicy.vectorEmbeddings: 'vectorEmbeddingPolicy.vectorEmbeddings' is missing
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v/","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].path: The Vector Embedding Policy has an invalid Path:/v/. Specify the correct path for vector properties of your documents.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float33","dimensions":3,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].dataType: The Vector Embedding Policy has an invalid DataType:float33. It must be one of float16, float32, int8 and uint8.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":8000,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].dimensions: The Vector Embedding Policy has Dimensions:8000 which is more than the maximum supported value 4096.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":4097,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].dimensions: The Vector Embedding Policy has Dimensions:4097 which is more than the maximum supported value 4096.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":99999999999,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].dimensions: The Vector Embedding Policy has Dimensions:99999999999 which is more than the maximum supported value 4096.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":0,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].dimensions: The Vector Embedding Policy has Dimensions:0 which is not a positive integer.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":-1,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].dimensions: The Vector Embedding Policy has Dimensions:-1 which is not a positive integer.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"handMeasured"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[0].distanceFunction: The Vector Embedding Policy has an invalid DistanceFunction:handMeasured. It must be one of cosine, dotproduct and euclidean.
            "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":3,"distanceFunction":"cosine"},{"path":"/v","dataType":"int8","dimensions":3,"distanceFunction":"cosine"}]}
              refused at vectorEmbeddingPolicy.vectorEmbeddings[1]: The Vector Embedding Policy has the Path:/v twice.
            "indexingPolicy":{"vectorIndexes":[{"path":"/vector1","type":"flat"}]}
              refused at indexingPolicy.vectorIndexes[0].path: The Vector Indexing Policy's path::/vector1 not matching in Embedding's path.
            "indexingPolicy":{"vectorIndexes":[{"path":"/vector2","type":"flat"}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/vector1","dataType":"int8","dimensions":3,"distanceFunction":"cosine"}]}
              refused at indexingPolicy.vectorIndexes[0].path: The Vector Indexing Policy's path::/vector2 not matching in Embedding's path.
            "indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"flat"}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":506,"distanceFunction":"cosine"}]}
              refused at indexingPolicy.vectorIndexes[0].type: The Vector Indexing Policy's path::/v has Dimensions:506 which is more than the maximum supported value 505 of Index Type::flat.
            "indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"quantizedFlat","quantizationByteSize":0}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":256,"distanceFunction":"cosine"}]}
              refused at indexingPolicy.vectorIndexes[0].quantizationByteSize: The Vector Indexing Policy parameter QuantizationByteSize value :: 0 is out of range. The allowed range is between 1 and 256.
        "#]],
    );
}

#[test]
fn texts_and_shapes() {
    check(
        &[
            r#""fullTextPolicy":{"defaultLanguage":"en-US"}"#,
            r#""fullTextPolicy":{"defaultLanguage":"de-de","fullTextPaths":[{"path":"/abstract"}]}"#,
            r#""fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"abstract","language":"en-US"}]}"#,
            r#""fullTextPolicy":{"defaultLanguage":"spa-SPA"}"#,
            r#""fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/abstract","language":"spa-SPA"}]}"#,
            r#""fullTextPolicy":{"fullTextPaths":[{"path":"/a"},{"path":"/a"}]}"#,
            r#""fullTextPolicy":{"fullTextPaths":[{"path":"/a/[]"}]}"#,
            r#""indexingPolicy":{"fullTextIndexes":[{"path":"/path"}]}"#,
            r#""indexingPolicy":{"fullTextIndexes":[{"path":"/path"}]},"fullTextPolicy":{"fullTextPaths":[{"path":"/other"}]}"#,
            r#""geospatialConfig":{"type":"geometry"}"#,
            r#""geospatialConfig":{}"#,
            r#""geospatialConfig":{"type":"Sphere"}"#,
            r#""geospatialConfig":{"type":"Geometry"},"indexingPolicy":{"spatialIndexes":[{"path":"/location/?"}]}"#,
            r#""indexingPolicy":{"spatialIndexes":[{"path":"/location/?","boundingBox":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}]}"#,
            r#""clientEncryptionPolicy":{"includedPaths":[{"path":"/ssn","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}],"policyFormatVersion":2}"#,
            r#""clientEncryptionPolicy":{"includedPaths":[{"path":"/a/b","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"A"}]}"#,
            r#""clientEncryptionPolicy":{"includedPaths":[{"path":"/ssn"}]}"#,
            r#""clientEncryptionPolicy":{}"#,
        ],
        expect![[r#"
            "fullTextPolicy":{"defaultLanguage":"en-US"}
              "geospatialConfig":{"type":"Geography"},"fullTextPolicy":{"defaultLanguage":"en-US"}
            "fullTextPolicy":{"defaultLanguage":"de-de","fullTextPaths":[{"path":"/abstract"}]}
              "geospatialConfig":{"type":"Geography"},"fullTextPolicy":{"defaultLanguage":"de-DE","fullTextPaths":[{"path":"/abstract"}]}
            "fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"abstract","language":"en-US"}]}
              refused at fullTextPolicy.fullTextPaths[0].path: The Full Text Policy contains an invalid Path: abstract
            "fullTextPolicy":{"defaultLanguage":"spa-SPA"}
              refused at fullTextPolicy.defaultLanguage: The Full Text Policy contains an unsupported language spa-SPA. Supported languages are: en-US, de-DE, es-ES, fr-FR, it-IT, pt-BR, pt-PT
            "fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/abstract","language":"spa-SPA"}]}
              refused at fullTextPolicy.fullTextPaths[0].language: The Full Text Policy contains an unsupported language spa-SPA. Supported languages are: en-US, de-DE, es-ES, fr-FR, it-IT, pt-BR, pt-PT
            "fullTextPolicy":{"fullTextPaths":[{"path":"/a"},{"path":"/a"}]}
              refused at fullTextPolicy.fullTextPaths[1].path: The Full Text Policy contains the Path: /a more than once
            "fullTextPolicy":{"fullTextPaths":[{"path":"/a/[]"}]}
              refused at fullTextPolicy.fullTextPaths[0].path: The Full Text Policy contains an invalid Path: /a/[]
            "indexingPolicy":{"fullTextIndexes":[{"path":"/path"}]}
              refused at indexingPolicy.fullTextIndexes[0].path: The path of the Full Text Index /path does not match the path specified in the Full Text Policy
            "indexingPolicy":{"fullTextIndexes":[{"path":"/path"}]},"fullTextPolicy":{"fullTextPaths":[{"path":"/other"}]}
              refused at indexingPolicy.fullTextIndexes[0].path: The path of the Full Text Index /path does not match the path specified in the Full Text Policy
            "geospatialConfig":{"type":"geometry"}
              "geospatialConfig":{"type":"Geometry"}
            "geospatialConfig":{}
              "geospatialConfig":{"type":"Geography"}
            "geospatialConfig":{"type":"Sphere"}
              refused at geospatialConfig.type: the geospatial type 'Sphere' at 'geospatialConfig.type' is none of Geography, Geometry
            "geospatialConfig":{"type":"Geometry"},"indexingPolicy":{"spatialIndexes":[{"path":"/location/?"}]}
              refused at indexingPolicy.spatialIndexes[0].boundingBox: Required parameter 'boundingBox' for 'Geometry' collection is missing in spatial path '/location/?'
            "indexingPolicy":{"spatialIndexes":[{"path":"/location/?","boundingBox":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}]}
              refused at indexingPolicy.spatialIndexes[0].boundingBox: Incorrect parameter 'boundingBox' specified for 'Geography' collection in spatial path '/location/?'
            "clientEncryptionPolicy":{"includedPaths":[{"path":"/ssn","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}],"policyFormatVersion":2}
              "geospatialConfig":{"type":"Geography"},"clientEncryptionPolicy":{"includedPaths":[{"path":"/ssn","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}],"policyFormatVersion":2}
            "clientEncryptionPolicy":{"includedPaths":[{"path":"/a/b","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"A"}]}
              refused at clientEncryptionPolicy.includedPaths[0].path: the client encryption path '/a/b' must name a property of the root
            "clientEncryptionPolicy":{"includedPaths":[{"path":"/ssn"}]}
              refused at clientEncryptionPolicy.includedPaths[0].clientEncryptionKeyId: 'clientEncryptionPolicy.includedPaths[0].clientEncryptionKeyId' is missing
            "clientEncryptionPolicy":{}
              refused at clientEncryptionPolicy.includedPaths: 'clientEncryptionPolicy.includedPaths' is missing
        "#]],
    );
}

#[test]
fn resource_ids() {
    let longest = "ä".repeat(limits::RESOURCE_ID_CHARACTERS_MAX);
    for id in ["c", "sample 中文 container", "a.b-c_d", "%41", longest.as_str()] {
        assert_eq!(validate_resource_id(id), Ok(()), "{id}");
    }
    let too_long = longest.clone() + "ä";
    let mut shown = String::new();
    for id in ["", "a/b", "a\\b", "a?b", "a#b", "a ", "a\n", "a\r", " ", too_long.as_str()] {
        shown.push_str(&format!("{}\n", validate_resource_id(id).unwrap_err()));
    }
    expect![[r#"
        the id is empty
        the id 'a/b' contains the illegal character '/'
        the id 'a\b' contains the illegal character '\'
        the id 'a?b' contains the illegal character '?'
        the id 'a#b' contains the illegal character '#'
        the id 'a ' ends with a space or newline
        the id 'a\n' ends with a space or newline
        the id 'a\r' ends with a space or newline
        the id ' ' ends with a space or newline
        the id has 256 characters, more than the 255 allowed
    "#]]
    .assert_eq(&shown);
}

#[test]
fn replacing() {
    let vector = |dimensions: u32| {
        format!(
            r#""vectorEmbeddingPolicy":{{"vectorEmbeddings":[{{"path":"/v","dataType":"float32","dimensions":{dimensions},"distanceFunction":"cosine"}}]}}"#
        )
    };
    let indexed = |kind: &str| {
        format!(r#""indexingPolicy":{{"vectorIndexes":[{{"path":"/v","type":"{kind}"}}]}},{}"#, vector(256))
    };
    let with_second = r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":256,"distanceFunction":"cosine"},{"path":"/w","dataType":"int8","dimensions":2,"distanceFunction":"euclidean"}]}"#;
    let unique = r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]}"#;
    let custom = r#""conflictResolutionPolicy":{"mode":"Custom"}"#;
    let last = r#""conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a"}"#;
    let multiple = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"MultiHash"}}"#;
    let rows: [(&str, String, String); 20] = [
        ("nothing", with(r#""defaultTtl":5"#), with(r#""defaultTtl":5"#)),
        (
            "what may change goes when left out",
            with(r#""defaultTtl":5,"computedProperties":[]"#),
            with(r#""x":1"#),
        ),
        (
            "feed retention",
            with(r#""changeFeedPolicy":{"retentionDuration":5}"#),
            with(r#""changeFeedPolicy":{"retentionDuration":10}"#),
        ),
        ("id", with(r#""x":1"#), r#"{"id":"d","partitionKey":{"paths":["/pk"]}}"#.into()),
        ("key path", with(r#""x":1"#), r#"{"id":"c","partitionKey":{"paths":["/other"]}}"#.into()),
        ("key kind", with(r#""x":1"#), multiple.into()),
        (
            "key version left out",
            r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":1}}"#.into(),
            with(r#""x":1"#),
        ),
        ("unique keys left out", with(unique), with(r#""x":1"#)),
        ("unique keys added", with(r#""x":1"#), with(unique)),
        ("conflict path", with(r#""conflictResolutionPolicy":{}"#), with(last)),
        ("conflict mode", with(r#""x":1"#), with(custom)),
        ("conflict left out", with(custom), with(r#""x":1"#)),
        ("vector left out", with(&vector(256)), with(r#""x":1"#)),
        ("vector changed", with(&vector(256)), with(&vector(384))),
        ("vector added", with(&vector(256)), with(with_second)),
        ("vector taken away", with(with_second), with(&vector(256))),
        ("vector index changed", with(&indexed("flat")), with(&indexed("quantizedFlat"))),
        ("vector index dropped", with(&indexed("flat")), with(&vector(256))),
        ("types left out", with(r#""extendedTypes":true"#), with(r#""x":1"#)),
        ("encryption added", with(r#""x":1"#), with(r#""clientEncryptionPolicy":{"includedPaths":[]}"#)),
    ];
    let mut all = String::new();
    for (what, old, new) in rows {
        let outcome = parse(&old).unwrap().replace(&parse(&new).unwrap());
        let outcome = shown(outcome);
        let short = outcome.strip_prefix(COMMON).unwrap_or(&outcome);
        all.push_str(&format!("{what}: {short}\n"));
    }
    expect![[r#"
        nothing: ,"geospatialConfig":{"type":"Geography"},"defaultTtl":5}
        what may change goes when left out: ,"geospatialConfig":{"type":"Geography"}}
        feed retention: ,"geospatialConfig":{"type":"Geography"},"changeFeedPolicy":{"retentionDuration":10}}
        id: refused at id: the id of the container 'c' cannot be changed to 'd'
        key path: refused at partitionKey: Document collection partition key cannot be changed.
        key kind: refused at partitionKey: Document collection partition key cannot be changed.
        key version left out: {"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":1},"geospatialConfig":{"type":"Geography"}}
        unique keys left out: ,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]},"geospatialConfig":{"type":"Geography"}}
        unique keys added: refused at uniqueKeyPolicy: the unique keys of a container cannot be changed
        conflict path: ,"conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/a","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}}
        conflict mode: refused at conflictResolutionPolicy.mode: the conflict resolution mode cannot be changed from 'LastWriterWins' to 'Custom'
        conflict left out: ,"conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}}
        vector left out: ,"geospatialConfig":{"type":"Geography"},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":256,"distanceFunction":"cosine"}]}}
        vector changed: refused at vectorEmbeddingPolicy: Paths in existing embedding policy cannot be modified in Collection Replace. They can only be added.
        vector added: ,"geospatialConfig":{"type":"Geography"},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":256,"distanceFunction":"cosine"},{"path":"/w","dataType":"int8","dimensions":2,"distanceFunction":"euclidean"}]}}
        vector taken away: refused at vectorEmbeddingPolicy: Paths in existing embedding policy cannot be modified in Collection Replace. They can only be added.
        vector index changed: refused at indexingPolicy.vectorIndexes[0]: Paths in existing vector indexing policy cannot be modified in Collection Replace. They can only be added or removed.
        vector index dropped: ,"geospatialConfig":{"type":"Geography"},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":256,"distanceFunction":"cosine"}]}}
        types left out: ,"geospatialConfig":{"type":"Geography"},"extendedTypes":true}
        encryption added: refused at clientEncryptionPolicy: the client encryption policy of a container cannot be changed
    "#]].assert_eq(&all);
}

#[test]
fn turning_the_index_off_under_a_time_to_live_is_refused_either_way() {
    let off = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"indexingMode":"none"}}"#;
    let both = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"indexingMode":"none"},"defaultTtl":-1}"#;
    assert!(parse(off).is_ok());
    assert_eq!(parse(both).unwrap_err().path, "defaultTtl");
}

#[test]
fn types_are_turned_off_by_saying_so() {
    let read = |member: &str| {
        let text = format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}}{member}}}"#);
        ContainerDefinition::from_value(&armilla_value::json::parse(text.as_bytes()).unwrap()).unwrap()
    };
    let (plain, on, off) = (read(""), read(r#","extendedTypes":true"#), read(r#","extendedTypes":false"#));
    assert!(on.has_extended_types() && !off.has_extended_types() && !plain.has_extended_types());
    assert_eq!(off.to_value(), plain.to_value());
    assert_eq!(on.replace(&plain).unwrap(), on);
    assert_eq!(on.replace(&off).unwrap(), plain);
    assert_eq!(plain.replace(&on).unwrap(), on);
}

#[test]
fn unique_keys_may_be_sparse() {
    let read = |keys: &str| {
        let text = format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"uniqueKeyPolicy":{{"uniqueKeys":[{keys}]}}}}"#
        );
        ContainerDefinition::from_value(&armilla_value::json::parse(text.as_bytes()).unwrap())
    };
    let whole = read(r#"{"paths":["/a"]}"#).unwrap();
    let sparse = read(r#"{"paths":["/a"],"sparse":true}"#).unwrap();
    assert_eq!(read(r#"{"paths":["/a"],"sparse":false}"#).unwrap(), whole);
    assert!(sparse.unique_keys[0].is_sparse && !whole.unique_keys[0].is_sparse);
    assert_eq!(ContainerDefinition::from_value(&sparse.to_value()).unwrap(), sparse);
    assert!(!armilla_value::json::to_string(&whole.to_value()).contains("sparse"));
    let error = read(r#"{"paths":["/a"],"sparse":1}"#).unwrap_err();
    assert_eq!(error.path, "uniqueKeyPolicy.uniqueKeys[0].sparse");
    assert!(read(r#"{"paths":["/a"]},{"paths":["/a"],"sparse":true}"#).is_err());
    assert!(whole.replace(&sparse).is_err() && sparse.replace(&whole).is_err());
}
