"""Graphs as applications of the service use them: GraphSON 2.0, answers as plain maps."""

import pytest

from gremlin import connect, refused, run


@pytest.fixture
def gremlin_client(server, graph):
    """A client with a graph of its own."""
    connected = connect(server, graph)
    yield connected
    connected.close()


def load(client) -> None:
    """Two people, a town, and who lives and knows where."""
    for script in (
        "g.addV('person').property('id','thomas').property('pk','p1').property('name','Thomas').property('age',44)",
        "g.addV('person').property('id','mary').property('pk','p2').property('name','Mary').property('age',39)",
        "g.addV('town').property('id','oslo').property('pk','p3').property('name','Oslo')",
        "g.V('thomas').addE('knows').property('since',1997).to(g.V('mary'))",
        "g.V('thomas').addE('lives').to(g.V('oslo'))",
        "g.V('mary').addE('lives').to(g.V('oslo'))",
    ):
        run(client, script)


def test_a_vertex_as_applications_read_it(gremlin_client):
    load(gremlin_client)
    vertex = run(gremlin_client, "g.V('thomas')")[0]
    assert (vertex["id"], vertex["label"], vertex["type"]) == ("thomas", "person", "vertex")
    assert vertex["properties"]["name"][0]["value"] == "Thomas"
    assert vertex["properties"]["pk"] == [{"id": "thomas|pk", "value": "p1"}]
    edge = run(gremlin_client, "g.V('thomas').outE('knows')")[0]
    assert (edge["outV"], edge["inV"], edge["type"]) == ("thomas", "mary", "edge")
    assert edge["properties"] == {"since": 1997}


def test_questions_of_the_documentation(gremlin_client):
    load(gremlin_client)
    assert run(gremlin_client, "g.V().count()") == [3]
    assert run(gremlin_client, "g.V().hasLabel('person').has('age', gt(40)).values('name')") == ["Thomas"]
    assert run(gremlin_client, "g.V('thomas').out('knows').hasLabel('person').values('name')") == ["Mary"]
    assert sorted(run(gremlin_client, "g.V('oslo').in('lives').values('name')")) == ["Mary", "Thomas"]
    assert run(gremlin_client, "g.V('thomas').outE('knows').inV().outE('lives').inV().values('name')") == ["Oslo"]
    path = run(gremlin_client, "g.V('thomas').repeat(out()).until(has('id','oslo')).path().by('name')")
    assert sorted([entry["objects"] for entry in path]) == [["Thomas", "Mary", "Oslo"], ["Thomas", "Oslo"]]
    assert run(gremlin_client, "g.V().groupCount().by(label)") == [{"person": 2, "town": 1}]
    run(gremlin_client, "g.V('thomas').property('age', 45)")
    assert run(gremlin_client, "g.V(['p1','thomas']).values('age')") == [45]
    run(gremlin_client, "g.V('oslo').drop()")
    assert run(gremlin_client, "g.E().count()") == [1]


def test_bindings(gremlin_client):
    load(gremlin_client)
    bindings = {"who": "thomas", "age": 40, "label": "person"}
    bindings.pop("label")
    assert run(gremlin_client, "g.V(who).has('age', gt(age)).values('name')", bindings) == ["Thomas"]


def test_costs_are_told(gremlin_client):
    load(gremlin_client)
    results = gremlin_client.submit("g.V().has('name','Mary')")
    results.all().result()
    attributes = results.status_attributes
    assert attributes["x-ms-status-code"] == 200
    assert attributes["x-ms-total-request-charge"] >= attributes["x-ms-request-charge"] > 0
    assert attributes["x-ms-total-server-time-ms"] > 0
    assert len(attributes["x-ms-activity-id"]) == 36


def test_the_same_items_through_sql(gremlin_client, graph_container):
    load(gremlin_client)
    names = graph_container.query_items(
        "SELECT VALUE c.name[0]._value FROM c WHERE NOT IS_DEFINED(c._isEdge)", enable_cross_partition_query=True
    )
    assert sorted(names) == ["Mary", "Oslo", "Thomas"]
    edge = next(
        iter(graph_container.query_items("SELECT * FROM c WHERE c.label = 'knows'", enable_cross_partition_query=True))
    )
    assert {name: edge[name] for name in ("_isEdge", "_vertexId", "_sink", "_sinkPartition", "pk", "since")} == {
        "_isEdge": True,
        "_vertexId": "thomas",
        "_sink": "mary",
        "_sinkPartition": "p2",
        "pk": "p1",
        "since": 1997,
    }
    graph_container.upsert_item({"id": "anna", "label": "person", "pk": "p1", "name": "Anna"})
    assert run(gremlin_client, "g.V().has('name','Anna').id()") == ["anna"]


def test_conflicts(gremlin_client):
    load(gremlin_client)
    with refused(500, 409, "Conflicting request to resource has been attempted."):
        run(gremlin_client, "g.addV('person').property('id','thomas').property('pk','p1')")
    with refused(597, 400):
        run(gremlin_client, "g.addV('person').property('id','nowhere')")
