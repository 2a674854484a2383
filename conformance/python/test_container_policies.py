"""Every policy a container can be created with, and the malformed ones that are refused."""

import pytest
from azure.cosmos import PartitionKey

from conftest import fresh
from sdk import refused

EXCLUDED_ETAG = {"path": '/"_etag"/?'}
EVERYTHING = {"indexingMode": "consistent", "automatic": True, "includedPaths": [{"path": "/*"}]}

GOOD = {
    "ranges": {
        "indexing_policy": {
            "indexingMode": "consistent",
            "automatic": True,
            "includedPaths": [{"path": "/*"}, {"path": '/address/"postal code"/?'}, {"path": "/tags/[]/name/?"}],
            "excludedPaths": [{"path": "/notes/*"}, EXCLUDED_ETAG],
        }
    },
    "nothing but some": {
        "indexing_policy": {
            "indexingMode": "consistent",
            "automatic": True,
            "includedPaths": [{"path": "/name/?"}],
            "excludedPaths": [{"path": "/*"}, EXCLUDED_ETAG],
        }
    },
    "composite": {
        "indexing_policy": {
            **EVERYTHING,
            "excludedPaths": [EXCLUDED_ETAG],
            "compositeIndexes": [
                [{"path": "/name", "order": "ascending"}, {"path": "/age", "order": "descending"}],
                [
                    {"path": "/a", "order": "ascending"},
                    {"path": "/b", "order": "ascending"},
                    {"path": "/c", "order": "ascending"},
                ],
            ],
        }
    },
    "spatial": {
        "indexing_policy": {
            **EVERYTHING,
            "excludedPaths": [EXCLUDED_ETAG],
            "spatialIndexes": [{"path": "/place/*", "types": ["Point", "LineString", "Polygon", "MultiPolygon"]}],
        }
    },
    "none": {"indexing_policy": {"indexingMode": "none", "automatic": False}},
    "unique keys": {
        "unique_key_policy": {"uniqueKeys": [{"paths": ["/email"]}, {"paths": ["/name/first", "/name/last"]}]}
    },
    "time to live without a default": {"default_ttl": -1},
    "time to live": {"default_ttl": 2_147_483_647},
    "last writer wins": {
        "conflict_resolution_policy": {"mode": "LastWriterWins", "conflictResolutionPath": "/version"}
    },
    "custom conflicts": {"conflict_resolution_policy": {"mode": "Custom"}},
    "computed properties": {
        "computed_properties": [
            {"name": "lowerName", "query": "SELECT VALUE LOWER(c.name) FROM c"},
            {"name": "total", "query": "SELECT VALUE c.price * c.count FROM c"},
        ]
    },
    "vectors": {
        "vector_embedding_policy": {
            "vectorEmbeddings": [
                {"path": "/flat", "dataType": "float32", "dimensions": 505, "distanceFunction": "cosine"},
                {"path": "/large", "dataType": "int8", "dimensions": 4096, "distanceFunction": "dotproduct"},
            ]
        },
        "indexing_policy": {
            **EVERYTHING,
            "excludedPaths": [{"path": "/flat/*"}, {"path": "/large/*"}, EXCLUDED_ETAG],
            "vectorIndexes": [{"path": "/flat", "type": "flat"}, {"path": "/large", "type": "diskANN"}],
        },
    },
    "full text": {
        "full_text_policy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text", "language": "en-US"}]},
        "indexing_policy": {
            **EVERYTHING,
            "excludedPaths": [EXCLUDED_ETAG],
            "fullTextIndexes": [{"path": "/text"}],
        },
    },
    "change feed retention": {"change_feed_policy": {"retentionDuration": 10}},
}

WIRE_NAMES = {
    "indexing_policy": "indexingPolicy",
    "unique_key_policy": "uniqueKeyPolicy",
    "default_ttl": "defaultTtl",
    "conflict_resolution_policy": "conflictResolutionPolicy",
    "computed_properties": "computedProperties",
    "vector_embedding_policy": "vectorEmbeddingPolicy",
    "full_text_policy": "fullTextPolicy",
    "change_feed_policy": "changeFeedPolicy",
}

VECTOR = {"path": "/v", "dataType": "float32", "dimensions": 3, "distanceFunction": "cosine"}


def _vector(**changes):
    return {"vector_embedding_policy": {"vectorEmbeddings": [{**VECTOR, **changes}]}}


def _vector_index(index: dict, **changes):
    policy = {**EVERYTHING, "excludedPaths": [{"path": "/v/*"}, EXCLUDED_ETAG], "vectorIndexes": [index]}
    return {**_vector(**changes), "indexing_policy": policy}


def _indexing(**changes):
    return {"indexing_policy": {**EVERYTHING, "excludedPaths": [EXCLUDED_ETAG], **changes}}


BAD = {
    "indexing mode": _indexing(indexingMode="sometimes"),
    "included path without a slash": _indexing(includedPaths=[{"path": "*"}]),
    "included path without an ending": _indexing(includedPaths=[{"path": "/*"}, {"path": "/a"}]),
    "root path nowhere": _indexing(includedPaths=[{"path": "/a/?"}]),
    "root path twice": _indexing(excludedPaths=[{"path": "/*"}]),
    "included path is a number": _indexing(includedPaths=[{"path": 5}]),
    "composite of one path": _indexing(compositeIndexes=[[{"path": "/a", "order": "ascending"}]]),
    "composite of nine paths": _indexing(
        compositeIndexes=[[{"path": f"/p{n}", "order": "ascending"} for n in range(9)]]
    ),
    "composite order": _indexing(
        compositeIndexes=[[{"path": "/a", "order": "upwards"}, {"path": "/b", "order": "ascending"}]]
    ),
    "spatial type": _indexing(spatialIndexes=[{"path": "/place/*", "types": ["Circle"]}]),
    "time to live zero": {"default_ttl": 0},
    "time to live negative": {"default_ttl": -2},
    "time to live without an index": {
        "default_ttl": 60,
        "indexing_policy": {"indexingMode": "none", "automatic": False},
    },
    "unique keys without paths": {"unique_key_policy": {"uniqueKeys": [{"paths": []}]}},
    "unique key path without a slash": {"unique_key_policy": {"uniqueKeys": [{"paths": ["email"]}]}},
    "eleven unique keys": {"unique_key_policy": {"uniqueKeys": [{"paths": [f"/p{n}"]} for n in range(11)]}},
    "conflict mode": {"conflict_resolution_policy": {"mode": "Fight"}},
    "computed property with a system name": {
        "computed_properties": [{"name": "id", "query": "SELECT VALUE c.name FROM c"}]
    },
    "computed property twice": {"computed_properties": [{"name": "n", "query": "SELECT VALUE c.a FROM c"}] * 2},
    "twenty-one computed properties": {
        "computed_properties": [{"name": f"n{n}", "query": "SELECT VALUE c.a FROM c"} for n in range(21)]
    },
    "vector data type": _vector(dataType="float8"),
    "vector distance function": _vector(distanceFunction="manhattan"),
    "vector of no dimensions": _vector(dimensions=0),
    "vector index of an unknown type": _vector_index({"path": "/v", "type": "tree"}),
    "flat vector index of 506 dimensions": _vector_index({"path": "/v", "type": "flat"}, dimensions=506),
    "vector index of 4097 dimensions": _vector_index({"path": "/v", "type": "diskANN"}, dimensions=4097),
    "vector index without an embedding": _vector_index({"path": "/other", "type": "flat"}),
    "full text index without a policy": _indexing(fullTextIndexes=[{"path": "/text"}]),
}

BAD_KEYS = {
    "no leading slash": {"paths": ["city"], "kind": "Hash", "version": 2},
    "no paths": {"paths": [], "kind": "Hash", "version": 2},
    "array element": {"paths": ["/a/[]/b"], "kind": "Hash", "version": 2},
    "wildcard": {"paths": ["/a/*"], "kind": "Hash", "version": 2},
    "kind": {"paths": ["/city"], "kind": "Sorted", "version": 2},
    "version": {"paths": ["/city"], "kind": "Hash", "version": 3},
    "four levels": {"paths": ["/a", "/b", "/c", "/d"], "kind": "MultiHash", "version": 2},
    "hierarchical version 1": {"paths": ["/a", "/b"], "kind": "MultiHash", "version": 1},
}


@pytest.mark.parametrize("options", GOOD.values(), ids=GOOD.keys())
def test_policy_is_kept_as_given(make_container, options):
    container = make_container(**options)
    read = container.read()
    for name, sent in options.items():
        assert _holds(read[WIRE_NAMES[name]], sent), f"{name}: sent {sent}, read {read[WIRE_NAMES[name]]}"


@pytest.mark.parametrize("options", BAD.values(), ids=BAD.keys())
def test_malformed_policy_is_refused(database, options):
    name = fresh("container")
    with refused(400):
        database.create_container(name, PartitionKey("/city"), **options)
    assert name not in {listed["id"] for listed in database.list_containers()}


@pytest.mark.parametrize("definition", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_malformed_partition_key_is_refused(database, definition):
    with refused(400):
        database.create_container(fresh("container"), definition)


@pytest.mark.parametrize(
    ("path", "version", "kind"),
    [
        ("/city", 2, "Hash"),
        ("/city", 1, "Hash"),
        ("/address/city", 2, "Hash"),
        ('/"first name"', 2, "Hash"),
        (["/tenant"], 2, "MultiHash"),
        (["/tenant", "/user", "/session"], 2, "MultiHash"),
    ],
)
def test_partition_key_is_kept_as_given(make_container, path, version, kind):
    container = make_container(path, version=version)
    paths = [path] if isinstance(path, str) else path
    assert container.read()["partitionKey"] == {"paths": paths, "kind": kind, "version": version}


def test_malformed_replacement_changes_nothing(database, container):
    before = container.read()
    with refused(400):
        database.replace_container(container, PartitionKey("/city"), **BAD["root path nowhere"])
    assert container.read() == before


def _holds(read, sent) -> bool:
    """Whether `read` says everything `sent` says; the server may add members of its own to objects."""
    if isinstance(sent, dict):
        return isinstance(read, dict) and all(
            name in read and _holds(read[name], value) for name, value in sent.items()
        )
    if isinstance(sent, list):
        return isinstance(read, list) and len(read) == len(sent) and all(map(_holds, read, sent))
    return read == sent
