//! Tables of policies: what comes back, or why they are refused.

use armilla_value::json;
use expect_test::{Expect, expect};

use super::*;

/// Reads each policy; shows what comes back, which must read as the same policy again, or the refusal.
fn answer(policy: &str) -> String {
    let value = json::parse(policy.as_bytes()).unwrap();
    match IndexingPolicy::from_value(&value) {
        Ok(policy) => {
            let written = policy.to_value();
            assert_eq!(IndexingPolicy::from_value(&written).unwrap(), policy);
            json::to_string(&written)
        }
        Err(error) => format!("refused at {}: {}", error.path, error.message),
    }
}

#[track_caller]
fn check(policies: &[&str], expect: Expect) {
    let rows: Vec<String> =
        policies.iter().map(|policy| format!("{policy}\n  {}\n", answer(policy))).collect();
    expect.assert_eq(&rows.concat());
}

#[test]
fn default_is_what_an_empty_policy_means() {
    let empty = json::parse(b"{}").unwrap();
    assert_eq!(IndexingPolicy::from_value(&empty).unwrap(), IndexingPolicy::default());
}

#[test]
fn accepted_modes_and_paths() {
    check(
        &[
            r#"{}"#,
            r#"{"indexingMode":"Consistent","automatic":false}"#,
            r#"{"indexingMode":"lazy"}"#,
            r#"{"indexingMode":"none"}"#,
            r#"{"indexingMode":"none","automatic":true,"includedPaths":[],"excludedPaths":[]}"#,
            r#"{"includedPaths":[],"excludedPaths":[]}"#,
            r#"{"includedPaths":null,"excludedPaths":[{"path":"/*"}]}"#,
            r#"{"includedPaths":[{"path":"/"}],"excludedPaths":[{"path":"/\"systemMetadata\"/*"}]}"#,
            r#"{"includedPaths":[{"path":"/*","indexes":[{"kind":"Hash","dataType":"String"},{"kind":"Range","dataType":"Number","precision":-1}]}]}"#,
            r#"{"includedPaths":[{"path":"/a/?"},{"path":"/a/[]/b/?"},{"path":"/\"a b\"/*"}],"excludedPaths":[{"path":"/*"},{"path":"/_etag/?"}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/_etag/?"}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/a/?"},{"path":"/\"a\"/?"}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/tags/[]/{category, \"the type\"/x}/?"}]}"#,
            r#"{"indexingMode":"consistent","unknown":{"x":1},"includedPaths":[{"path":"/*","other":2}]}"#,
        ],
        expect![[r#"
            {}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"indexingMode":"Consistent","automatic":false}
              {"indexingMode":"consistent","automatic":false,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"indexingMode":"lazy"}
              {"indexingMode":"lazy","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"indexingMode":"none"}
              {"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}
            {"indexingMode":"none","automatic":true,"includedPaths":[],"excludedPaths":[]}
              {"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}
            {"includedPaths":[],"excludedPaths":[]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"includedPaths":null,"excludedPaths":[{"path":"/*"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[],"excludedPaths":[{"path":"/*"},{"path":"/\"_etag\"/?"}]}
            {"includedPaths":[{"path":"/"}],"excludedPaths":[{"path":"/\"systemMetadata\"/*"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"systemMetadata\"/*"},{"path":"/\"_etag\"/?"}]}
            {"includedPaths":[{"path":"/*","indexes":[{"kind":"Hash","dataType":"String"},{"kind":"Range","dataType":"Number","precision":-1}]}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"includedPaths":[{"path":"/a/?"},{"path":"/a/[]/b/?"},{"path":"/\"a b\"/*"}],"excludedPaths":[{"path":"/*"},{"path":"/_etag/?"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/a/?"},{"path":"/a/[]/b/?"},{"path":"/\"a b\"/*"}],"excludedPaths":[{"path":"/*"},{"path":"/_etag/?"}]}
            {"includedPaths":[{"path":"/*"},{"path":"/_etag/?"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"},{"path":"/_etag/?"}],"excludedPaths":[]}
            {"includedPaths":[{"path":"/*"},{"path":"/a/?"},{"path":"/\"a\"/?"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"includedPaths":[{"path":"/*"},{"path":"/tags/[]/{category, \"the type\"/x}/?"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"},{"path":"/tags/[]/{category, \"the type\"/x}/?"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
            {"indexingMode":"consistent","unknown":{"x":1},"includedPaths":[{"path":"/*","other":2}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}
        "#]],
    );
}

#[test]
fn accepted_special_indexes() {
    check(
        &[
            r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"Descending"}],[{"path":"/x/[]/y"},{"path":"/\"z z\"","order":"ascending"}]]}"#,
            r#"{"compositeIndexes":[],"spatialIndexes":[],"vectorIndexes":[],"fullTextIndexes":[]}"#,
            r#"{"spatialIndexes":[{"path":"/loc/*","types":["point","Polygon","Point"]},{"path":"/b/?"}]}"#,
            r#"{"spatialIndexes":[{"path":"/loc/?","types":[],"boundingBox":{"xmin":-1.5,"ymin":0,"xmax":10,"ymax":2.0}}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"flat"},{"path":"/w/x","type":"diskann","quantizerType":"product","quantizationByteSize":96,"indexingSearchListSize":100,"vectorIndexShardKey":["/t"]}]}"#,
            r#"{"fullTextIndexes":[{"path":"/text"},{"path":"/a/\"b c\""}]}"#,
        ],
        expect![[r#"
            {"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"Descending"}],[{"path":"/x/[]/y"},{"path":"/\"z z\"","order":"ascending"}]]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}],[{"path":"/x/[]/y","order":"ascending"},{"path":"/\"z z\"","order":"ascending"}]]}
            {"compositeIndexes":[],"spatialIndexes":[],"vectorIndexes":[],"fullTextIndexes":[]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"compositeIndexes":[],"spatialIndexes":[],"vectorIndexes":[],"fullTextIndexes":[]}
            {"spatialIndexes":[{"path":"/loc/*","types":["point","Polygon","Point"]},{"path":"/b/?"}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"spatialIndexes":[{"path":"/loc/*","types":["Point","Polygon"]},{"path":"/b/?","types":["Point","LineString","Polygon","MultiPolygon"]}]}
            {"spatialIndexes":[{"path":"/loc/?","types":[],"boundingBox":{"xmin":-1.5,"ymin":0,"xmax":10,"ymax":2.0}}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"spatialIndexes":[{"path":"/loc/?","types":["Point","LineString","Polygon","MultiPolygon"],"boundingBox":{"xmin":-1.5,"ymin":0,"xmax":10,"ymax":2}}]}
            {"vectorIndexes":[{"path":"/v","type":"flat"},{"path":"/w/x","type":"diskann","quantizerType":"product","quantizationByteSize":96,"indexingSearchListSize":100,"vectorIndexShardKey":["/t"]}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"vectorIndexes":[{"path":"/v","type":"flat"},{"path":"/w/x","type":"diskANN","quantizerType":"product","quantizationByteSize":96,"indexingSearchListSize":100,"vectorIndexShardKey":["/t"]}]}
            {"fullTextIndexes":[{"path":"/text"},{"path":"/a/\"b c\""}]}
              {"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"fullTextIndexes":[{"path":"/text"},{"path":"/a/\"b c\""}]}
        "#]],
    );
}

#[test]
fn refused_modes_and_paths() {
    check(
        &[
            r#"[]"#,
            r#"{"indexingMode":"sometimes"}"#,
            r#"{"indexingMode":1}"#,
            r#"{"automatic":"yes"}"#,
            r#"{"includedPaths":{}}"#,
            r#"{"includedPaths":["/*"]}"#,
            r#"{"includedPaths":[{}]}"#,
            r#"{"includedPaths":[{"path":7}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/a"}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/first-name/?"}]}"#,
            r#"{"includedPaths":[{"path":"/*","indexes":[{"kind":"Tree"}]}]}"#,
            r#"{"includedPaths":[{"path":"/*","indexes":[{"kind":"Range","dataType":"Date"}]}]}"#,
            r#"{"includedPaths":[{"path":"/*","indexes":[{"precision":"x"}]}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/tags/{a, b}/?"}]}"#,
            r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/tags/[]/{a, b}/?"}]}"#,
            r#"{"includedPaths":[{"path":"/a/?"}]}"#,
            r#"{"excludedPaths":[{"path":"/a/?"}]}"#,
            r#"{"indexingMode":"lazy","excludedPaths":[{"path":"/a/?"}]}"#,
            r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/*"}]}"#,
            r#"{"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[{"path":"/\"a\"/?"}]}"#,
            r#"{"indexingMode":"none","includedPaths":[{"path":"/*"}]}"#,
            r#"{"indexingMode":"none","excludedPaths":[{"path":"/*"}]}"#,
            r#"{"indexingMode":"none","compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}"#,
            r#"{"indexingMode":"none","fullTextIndexes":[{"path":"/a"}]}"#,
        ],
        expect![[r#"
            []
              refused at indexingPolicy: 'indexingPolicy' must be an object
            {"indexingMode":"sometimes"}
              refused at indexingPolicy.indexingMode: the indexing mode 'sometimes' is none of 'consistent', 'lazy' and 'none'
            {"indexingMode":1}
              refused at indexingPolicy.indexingMode: 'indexingPolicy.indexingMode' must be a string
            {"automatic":"yes"}
              refused at indexingPolicy.automatic: 'indexingPolicy.automatic' must be true or false
            {"includedPaths":{}}
              refused at indexingPolicy.includedPaths: 'indexingPolicy.includedPaths' must be an array
            {"includedPaths":["/*"]}
              refused at indexingPolicy.includedPaths[0]: 'indexingPolicy.includedPaths[0]' must be an object
            {"includedPaths":[{}]}
              refused at indexingPolicy.includedPaths[0].path: 'indexingPolicy.includedPaths[0].path' is missing
            {"includedPaths":[{"path":7}]}
              refused at indexingPolicy.includedPaths[0].path: 'indexingPolicy.includedPaths[0].path' must be a string
            {"includedPaths":[{"path":"/*"},{"path":"/a"}]}
              refused at indexingPolicy.includedPaths[1].path: The indexing path '/a' could not be accepted, failed near position '2'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"includedPaths":[{"path":"/*"},{"path":"/first-name/?"}]}
              refused at indexingPolicy.includedPaths[1].path: The indexing path '/first-name/?' could not be accepted, failed near position '6'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"includedPaths":[{"path":"/*","indexes":[{"kind":"Tree"}]}]}
              refused at indexingPolicy.includedPaths[0].indexes[0].kind: the index kind 'Tree' at 'indexingPolicy.includedPaths[0].indexes[0].kind' is none of Hash, Range, Spatial
            {"includedPaths":[{"path":"/*","indexes":[{"kind":"Range","dataType":"Date"}]}]}
              refused at indexingPolicy.includedPaths[0].indexes[0].dataType: the index data type 'Date' at 'indexingPolicy.includedPaths[0].indexes[0].dataType' is none of Number, String, Point, LineString, Polygon, MultiPolygon
            {"includedPaths":[{"path":"/*","indexes":[{"precision":"x"}]}]}
              refused at indexingPolicy.includedPaths[0].indexes[0].precision: 'indexingPolicy.includedPaths[0].indexes[0].precision' must be a whole number
            {"includedPaths":[{"path":"/*"},{"path":"/tags/{a, b}/?"}]}
              refused at indexingPolicy.includedPaths[1].path: The indexing path '/tags/{a, b}/?' could not be accepted, failed near position '1'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/tags/[]/{a, b}/?"}]}
              refused at indexingPolicy.excludedPaths[0].path: The indexing path '/tags/[]/{a, b}/?' could not be accepted, failed near position '9'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"includedPaths":[{"path":"/a/?"}]}
              refused at indexingPolicy: The special mandatory indexing path "/" is not provided in any of the path type sets. Please provide this path in one of the sets.
            {"excludedPaths":[{"path":"/a/?"}]}
              refused at indexingPolicy: The special mandatory indexing path "/" is not provided in any of the path type sets. Please provide this path in one of the sets.
            {"indexingMode":"lazy","excludedPaths":[{"path":"/a/?"}]}
              refused at indexingPolicy: The special mandatory indexing path "/" is not provided in any of the path type sets. Please provide this path in one of the sets.
            {"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/*"}]}
              refused at indexingPolicy.excludedPaths: the indexing path '/*' is both included and excluded
            {"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[{"path":"/\"a\"/?"}]}
              refused at indexingPolicy.excludedPaths: the indexing path '/"a"/?' is both included and excluded
            {"indexingMode":"none","includedPaths":[{"path":"/*"}]}
              refused at indexingPolicy.includedPaths: 'indexingPolicy.includedPaths' must be empty when the indexing mode is 'none'
            {"indexingMode":"none","excludedPaths":[{"path":"/*"}]}
              refused at indexingPolicy.excludedPaths: 'indexingPolicy.excludedPaths' must be empty when the indexing mode is 'none'
            {"indexingMode":"none","compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}
              refused at indexingPolicy.compositeIndexes: 'indexingPolicy.compositeIndexes' must be empty when the indexing mode is 'none'
            {"indexingMode":"none","fullTextIndexes":[{"path":"/a"}]}
              refused at indexingPolicy.fullTextIndexes: 'indexingPolicy.fullTextIndexes' must be empty when the indexing mode is 'none'
        "#]],
    );
}

#[test]
fn refused_special_indexes() {
    check(
        &[
            r#"{"compositeIndexes":[{"path":"/a"}]}"#,
            r#"{"compositeIndexes":[[{"path":"/a"}]]}"#,
            r#"{"compositeIndexes":[[{"path":"/a"},{"order":"ascending"}]]}"#,
            r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"upwards"}]]}"#,
            r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b/?"}]]}"#,
            r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b/*"}]]}"#,
            r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/\"a\"","order":"descending"}]]}"#,
            r#"{"spatialIndexes":[{"path":"/loc"}]}"#,
            r#"{"spatialIndexes":[{"path":"/loc/*","types":["Circle"]}]}"#,
            r#"{"spatialIndexes":[{"path":"/loc/*"},{"path":"/loc/*"}]}"#,
            r#"{"spatialIndexes":[{"path":"/loc/*","boundingBox":{"xmin":0,"ymin":0,"xmax":1}}]}"#,
            r#"{"spatialIndexes":[{"path":"/loc/*","boundingBox":{"xmin":0,"ymin":3,"xmax":1,"ymax":3}}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"notFlat"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v/*","type":"flat"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v/[]","type":"flat"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"flat"},{"path":"/\"v\"","type":"diskANN"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"diskANN","quantizerType":"cubic"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"diskANN","quantizationByteSize":"8"}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"diskANN","indexingSearchListSize":5}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"diskANN","vectorIndexShardKey":["country"]}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"diskANN","vectorIndexShardKey":["/country","/city","/zipcode"]}]}"#,
            r#"{"vectorIndexes":[{"path":"/v","type":"diskANN","vectorIndexShardKey":"/country"}]}"#,
            r#"{"fullTextIndexes":[{"path":"abstract"}]}"#,
            r#"{"fullTextIndexes":[{"not_path":"abstract"}]}"#,
            r#"{"fullTextIndexes":[{"path":"/a/[]"}]}"#,
            r#"{"fullTextIndexes":[{"path":"/a"},{"path":"/a"}]}"#,
        ],
        expect![[r#"
            {"compositeIndexes":[{"path":"/a"}]}
              refused at indexingPolicy.compositeIndexes[0]: 'indexingPolicy.compositeIndexes[0]' must be an array
            {"compositeIndexes":[[{"path":"/a"}]]}
              refused at indexingPolicy.compositeIndexes[0]: the composite index 'indexingPolicy.compositeIndexes[0]' has 1 properties, fewer than the 2 it needs
            {"compositeIndexes":[[{"path":"/a"},{"order":"ascending"}]]}
              refused at indexingPolicy.compositeIndexes[0][1].path: 'indexingPolicy.compositeIndexes[0][1].path' is missing
            {"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"upwards"}]]}
              refused at indexingPolicy.compositeIndexes[0][1].order: the order 'upwards' at 'indexingPolicy.compositeIndexes[0][1].order' is none of ascending, descending
            {"compositeIndexes":[[{"path":"/a"},{"path":"/b/?"}]]}
              refused at indexingPolicy.compositeIndexes[0][1].path: The indexing path '/b/?' could not be accepted, failed near position '3'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"compositeIndexes":[[{"path":"/a"},{"path":"/b/*"}]]}
              refused at indexingPolicy.compositeIndexes[0][1].path: The indexing path '/b/*' could not be accepted, failed near position '3'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"compositeIndexes":[[{"path":"/a"},{"path":"/\"a\"","order":"descending"}]]}
              refused at indexingPolicy.compositeIndexes[0][1].path: the path '/"a"' stands more than once in the composite index 'indexingPolicy.compositeIndexes[0]'
            {"spatialIndexes":[{"path":"/loc"}]}
              refused at indexingPolicy.spatialIndexes[0].path: The indexing path '/loc' could not be accepted, failed near position '4'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.
            {"spatialIndexes":[{"path":"/loc/*","types":["Circle"]}]}
              refused at indexingPolicy.spatialIndexes[0].types[0]: the spatial type 'Circle' at 'indexingPolicy.spatialIndexes[0].types[0]' is none of Point, LineString, Polygon, MultiPolygon
            {"spatialIndexes":[{"path":"/loc/*"},{"path":"/loc/*"}]}
              refused at indexingPolicy.spatialIndexes[1].path: the spatial path '/loc/*' is given more than once
            {"spatialIndexes":[{"path":"/loc/*","boundingBox":{"xmin":0,"ymin":0,"xmax":1}}]}
              refused at indexingPolicy.spatialIndexes[0].boundingBox.ymax: 'indexingPolicy.spatialIndexes[0].boundingBox.ymax' is missing
            {"spatialIndexes":[{"path":"/loc/*","boundingBox":{"xmin":0,"ymin":3,"xmax":1,"ymax":3}}]}
              refused at indexingPolicy.spatialIndexes[0].boundingBox: the bounding box at 'indexingPolicy.spatialIndexes[0].boundingBox' is empty: xmin must be below xmax, and ymin below ymax
            {"vectorIndexes":[{"path":"/v","type":"notFlat"}]}
              refused at indexingPolicy.vectorIndexes[0].type: The Vector Indexing Policy's Index Type::notFlat is invalid. It must be one of flat, quantizedFlat and diskANN.
            {"vectorIndexes":[{"path":"/v"}]}
              refused at indexingPolicy.vectorIndexes[0].type: 'indexingPolicy.vectorIndexes[0].type' is missing
            {"vectorIndexes":[{"path":"/v/*","type":"flat"}]}
              refused at indexingPolicy.vectorIndexes[0].path: The Vector Indexing Policy has an invalid Path:/v/*. Specify the correct path for vector properties of your documents.
            {"vectorIndexes":[{"path":"/v/[]","type":"flat"}]}
              refused at indexingPolicy.vectorIndexes[0].path: The Vector Indexing Policy has an invalid Path:/v/[]. Specify the correct path for vector properties of your documents.
            {"vectorIndexes":[{"path":"/v","type":"flat"},{"path":"/\"v\"","type":"diskANN"}]}
              refused at indexingPolicy.vectorIndexes[1]: the vector path '/"v"' is indexed more than once
            {"vectorIndexes":[{"path":"/v","type":"diskANN","quantizerType":"cubic"}]}
              refused at indexingPolicy.vectorIndexes[0].quantizerType: the quantizer type 'cubic' at 'indexingPolicy.vectorIndexes[0].quantizerType' is none of product, spherical
            {"vectorIndexes":[{"path":"/v","type":"diskANN","quantizationByteSize":"8"}]}
              refused at indexingPolicy.vectorIndexes[0].quantizationByteSize: 'indexingPolicy.vectorIndexes[0].quantizationByteSize' must be a whole number
            {"vectorIndexes":[{"path":"/v","type":"diskANN","indexingSearchListSize":5}]}
              refused at indexingPolicy.vectorIndexes[0].indexingSearchListSize: The Vector Indexing Policy parameter IndexingSearchListSize value :: 5 is out of range. The allowed range is between 25 and 500.
            {"vectorIndexes":[{"path":"/v","type":"diskANN","vectorIndexShardKey":["country"]}]}
              refused at indexingPolicy.vectorIndexes[0].vectorIndexShardKey[0]: The Vector Indexing Policy has an invalid Shard Path: country.
            {"vectorIndexes":[{"path":"/v","type":"diskANN","vectorIndexShardKey":["/country","/city","/zipcode"]}]}
              refused at indexingPolicy.vectorIndexes[0].vectorIndexShardKey: The number of shard paths defined in the Vector Indexing Policy: 3 exceeds the maximum: 1.
            {"vectorIndexes":[{"path":"/v","type":"diskANN","vectorIndexShardKey":"/country"}]}
              refused at indexingPolicy.vectorIndexes[0].vectorIndexShardKey: One of the specified inputs is invalid: 'indexingPolicy.vectorIndexes[0].vectorIndexShardKey' must be an array of paths
            {"fullTextIndexes":[{"path":"abstract"}]}
              refused at indexingPolicy.fullTextIndexes[0].path: Full-text index specification at index (0) contains invalid path 'abstract'
            {"fullTextIndexes":[{"not_path":"abstract"}]}
              refused at indexingPolicy.fullTextIndexes[0]: Missing path in full-text index specification at index (0)
            {"fullTextIndexes":[{"path":"/a/[]"}]}
              refused at indexingPolicy.fullTextIndexes[0].path: Full-text index specification at index (0) contains invalid path '/a/[]'
            {"fullTextIndexes":[{"path":"/a"},{"path":"/a"}]}
              refused at indexingPolicy.fullTextIndexes[1].path: the full-text path '/a' is indexed more than once
        "#]],
    );
}

/// Makes a policy with `count` entries in one list, each made by `entry`.
fn with_list(list: &str, count: usize, first: &str, entry: impl Fn(usize) -> String) -> String {
    let entries: Vec<String> = (1..count).map(entry).collect();
    format!(
        r#"{{"{list}":[{first}{}]}}"#,
        entries.iter().map(|entry| format!(",{entry}")).collect::<String>()
    )
}

#[test]
fn limits_at_the_bound_and_one_past() {
    let root = r#"{"path":"/*"}"#;
    let path = |n: usize| format!(r#"{{"path":"/p{n}/?"}}"#);
    let composite = |n: usize, properties: usize| {
        let paths: Vec<String> = (0..properties).map(|p| format!(r#"{{"path":"/i{n}/p{p}"}}"#)).collect();
        format!("[{}]", paths.join(","))
    };
    let rows: [(&str, String, bool); 12] = [
        ("1500 included", with_list("includedPaths", 1_500, root, path), true),
        ("1501 included", with_list("includedPaths", 1_501, root, path), false),
        ("1500 excluded", with_list("excludedPaths", 1_500, root, path), true),
        ("1501 excluded", with_list("excludedPaths", 1_501, root, path), false),
        ("8 properties", with_list("compositeIndexes", 1, &composite(0, 8), |_| unreachable!()), true),
        ("9 properties", with_list("compositeIndexes", 1, &composite(0, 9), |_| unreachable!()), false),
        ("100 paths", with_list("compositeIndexes", 50, &composite(0, 2), |n| composite(n, 2)), true),
        ("101 paths", with_list("compositeIndexes", 50, &composite(0, 3), |n| composite(n, 2)), false),
        ("search list 25", vector_with("indexingSearchListSize", 25), true),
        ("search list 24", vector_with("indexingSearchListSize", 24), false),
        ("search list 500", vector_with("indexingSearchListSize", 500), true),
        ("search list 501", vector_with("indexingSearchListSize", 501), false),
    ];
    for (what, policy, accepted) in rows {
        let answer = answer(&policy);
        assert_eq!(!answer.starts_with("refused"), accepted, "{what}: {answer}");
    }
}

fn vector_with(name: &str, number: i64) -> String {
    format!(r#"{{"vectorIndexes":[{{"path":"/v","type":"diskANN","{name}":{number}}}]}}"#)
}

#[test]
fn vectors_are_checked_against_their_dimensions() {
    let rows = [
        (vector_with("quantizationByteSize", 1), Some(256)),
        (vector_with("quantizationByteSize", 0), Some(256)),
        (vector_with("quantizationByteSize", 256), Some(256)),
        (vector_with("quantizationByteSize", 257), Some(256)),
        (vector_with("quantizationByteSize", 512), Some(550)),
        (vector_with("quantizationByteSize", 513), Some(550)),
        (vector_with("quantizationByteSize", -3), None),
        (r#"{"vectorIndexes":[{"path":"/v","type":"flat"}]}"#.to_owned(), None),
        (r#"{"vectorIndexes":[{"path":"/v","type":"flat"}]}"#.to_owned(), Some(505)),
        (r#"{"vectorIndexes":[{"path":"/v","type":"flat"}]}"#.to_owned(), Some(506)),
        (r#"{"vectorIndexes":[{"path":"/v","type":"quantizedFlat"}]}"#.to_owned(), Some(4_096)),
    ];
    let mut shown = String::new();
    for (policy, dimensions) in rows {
        let policy = IndexingPolicy::from_value(&json::parse(policy.as_bytes()).unwrap()).unwrap();
        let index = json::to_string(&policy.to_value().get("vectorIndexes").unwrap().as_array().unwrap()[0]);
        let outcome = match policy.check_vectors(|_| dimensions) {
            Ok(()) => "fits".to_owned(),
            Err(error) => format!("refused at {}: {}", error.path, error.message),
        };
        shown.push_str(&format!("{index} {dimensions:?}\n  {outcome}\n"));
    }
    expect![[r#"
        {"path":"/v","type":"diskANN","quantizationByteSize":1} Some(256)
          fits
        {"path":"/v","type":"diskANN","quantizationByteSize":0} Some(256)
          refused at indexingPolicy.vectorIndexes[0].quantizationByteSize: The Vector Indexing Policy parameter QuantizationByteSize value :: 0 is out of range. The allowed range is between 1 and 256.
        {"path":"/v","type":"diskANN","quantizationByteSize":256} Some(256)
          fits
        {"path":"/v","type":"diskANN","quantizationByteSize":257} Some(256)
          refused at indexingPolicy.vectorIndexes[0].quantizationByteSize: The Vector Indexing Policy parameter QuantizationByteSize value :: 257 is out of range. The allowed range is between 1 and 256.
        {"path":"/v","type":"diskANN","quantizationByteSize":512} Some(550)
          fits
        {"path":"/v","type":"diskANN","quantizationByteSize":513} Some(550)
          refused at indexingPolicy.vectorIndexes[0].quantizationByteSize: The Vector Indexing Policy parameter QuantizationByteSize value :: 513 is out of range. The allowed range is between 1 and 512.
        {"path":"/v","type":"diskANN","quantizationByteSize":-3} None
          refused at indexingPolicy.vectorIndexes[0].quantizationByteSize: The Vector Indexing Policy parameter QuantizationByteSize value :: -3 is out of range. The allowed range is between 1 and 512.
        {"path":"/v","type":"flat"} None
          refused at indexingPolicy.vectorIndexes[0].path: The Vector Indexing Policy's path::/v not matching in Embedding's path.
        {"path":"/v","type":"flat"} Some(505)
          fits
        {"path":"/v","type":"flat"} Some(506)
          refused at indexingPolicy.vectorIndexes[0].type: The Vector Indexing Policy's path::/v has Dimensions:506 which is more than the maximum supported value 505 of Index Type::flat.
        {"path":"/v","type":"quantizedFlat"} Some(4096)
          fits
    "#]].assert_eq(&shown);
}
