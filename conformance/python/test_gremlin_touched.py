"""What a traversal reads: three hops over vertices with a hundred neighbours each touch every edge once, as
`executionProfile()` counts them."""

import pytest

from gremlin import connect, run

WIDTH = 100
LAYERS = 3
# Items of a batch of the SQL API.
BATCH = 100


def vertex(layer: int, place: int) -> dict:
    """Returns a vertex as items have it."""
    return {"id": f"v-{layer}-{place}", "pk": f"layer-{layer}", "label": "thing"}


def edge(layer: int, source: int, target: int) -> dict:
    """Returns an edge from a layer to the next."""
    return {
        "id": f"e-{layer}-{source}-{target}",
        "pk": f"layer-{layer}",
        "label": "to",
        "_isEdge": True,
        "_vertexId": f"v-{layer}-{source}",
        "_vertexLabel": "thing",
        "_sink": f"v-{layer + 1}-{target}",
        "_sinkLabel": "thing",
        "_sinkPartition": f"layer-{layer + 1}",
    }


@pytest.fixture
def layered(free_server, free_container, free_graph):
    """A client of a graph in layers: one vertex, and three times a hundred; each leads to all of the next layer."""
    items = [vertex(0, 0)] + [vertex(layer, place) for layer in range(1, LAYERS + 1) for place in range(WIDTH)]
    for layer in range(LAYERS):
        sources = range(1 if layer == 0 else WIDTH)
        items += [edge(layer, source, target) for source in sources for target in range(WIDTH)]
    by_key: dict[str, list[dict]] = {}
    for item in items:
        by_key.setdefault(item["pk"], []).append(item)
    for key, all_of_key in by_key.items():
        for first in range(0, len(all_of_key), BATCH):
            operations = [("create", (item,)) for item in all_of_key[first : first + BATCH]]
            free_container.execute_item_batch(operations, partition_key=key)
    client = connect(free_server, free_graph)
    yield client
    client.close()


def touched(client, traversal: str) -> int:
    """Returns how many items a traversal reads."""
    (profile,) = run(client, f"{traversal}.executionProfile()")
    return sum(operation["count"] for metric in profile["metrics"] for operation in metric.get("storeOps", []))


@pytest.mark.parametrize("hops", range(1, LAYERS + 1))
def test_hops_touch_each_edge_once(layered, hops):
    start = "g.V(['layer-0', 'v-0-0'])"
    out = ".out('to')" * hops
    assert run(layered, f"{start}{out}.count()") == [WIDTH**hops]
    assert run(layered, f"{start}{out}.dedup().count()") == [WIDTH]
    edges = WIDTH + (hops - 1) * WIDTH * WIDTH
    for traversal in (f"{start}{out}.count()", f"{start}{out}.dedup().count()"):
        # The first vertex, and the edges; what is at their ends is known by them.
        assert touched(layered, traversal) <= 1 + edges
