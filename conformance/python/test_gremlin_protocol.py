"""The Gremlin protocol: formats, bytecode, WebSocket and HTTP, with and without TLS."""

import asyncio
import base64
import json

import pytest
import requests
from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
from gremlin_python.driver.serializer import (
    GraphBinarySerializersV1,
    GraphSONSerializersV2d0,
    GraphSONSerializersV3d0,
)
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import __
from gremlin_python.process.traversal import P, T
from gremlin_python.structure.graph import Vertex

from gremlin import connect, converse, refused, run, url
from server import KEY

FORMATS = [GraphSONSerializersV2d0, GraphSONSerializersV3d0, GraphBinarySerializersV1]


@pytest.mark.parametrize("path", ["/", "/gremlin", "/any/where?else=1"])
def test_any_path(server, graph, path):
    client = connect(server, graph, url=url(server, "wss", path))
    assert run(client, "g.inject(1)") == [1]
    client.close()


def test_tls_and_plain_share_the_port(server, graph):
    for scheme in ("ws", "wss"):
        client = connect(server, graph, url=url(server, scheme))
        assert run(client, "g.inject(1)") == [1]
        client.close()


@pytest.mark.parametrize("serializer", [None, *FORMATS])
def test_every_format_of_the_driver(server, graph, serializer):
    """Without one: the driver's own default, which is GraphBinary."""
    client = connect(server, graph, message_serializer=serializer and serializer())
    run(client, "g.addV('x').property('pk','p').property('id','1').property('n',5)")
    assert run(client, "g.V('1').values('n')") == [5]
    assert run(client, "g.V('1').id()") == ["1"]
    assert run(client, "g.V('1').valueMap('n')") == [{"n": [5]}]
    assert run(client, "g.V().count()") == [1]
    assert run(client, "g.V(x).id()", {"x": "1"}) == ["1"]
    found = run(client, "g.V('1')")
    if serializer in (None, GraphSONSerializersV3d0, GraphBinarySerializersV1):
        assert isinstance(found[0], Vertex)
        assert (found[0].id, found[0].label) == ("1", "x")
    with refused(597, 400, "Unable to find any method 'dance'"):
        run(client, "g.V().dance()")
    client.close()


def test_typed_graphson2(start_server, make_graph_at):
    server = start_server("--gremlin-graphson2", "typed")
    graph = make_graph_at(server)
    client = connect(server, graph)
    run(client, "g.addV('x').property('pk','p').property('id','1')")
    assert isinstance(run(client, "g.V('1')")[0], Vertex)
    client.close()


@pytest.mark.parametrize("serializer", [GraphSONSerializersV3d0, GraphBinarySerializersV1])
def test_traversals_as_bytecode(server, graph, serializer):
    connection = DriverRemoteConnection(
        url(server, "ws"), "g", username=graph, password=KEY, message_serializer=serializer()
    )
    g = traversal().with_remote(connection)
    g.add_v("person").property(T.id, "1").property("pk", "p").property("age", 29).iterate()
    g.add_v("person").property(T.id, "2").property("pk", "p").property("age", 31).iterate()
    g.V("1").add_e("knows").to(__.V("2")).iterate()
    assert g.V().has("age", P.gt(30)).id_().to_list() == ["2"]
    assert g.V("1").out("knows").id_().to_list() == ["2"]
    assert g.V().count().next() == 2
    assert sorted(g.V().values("age").to_list()) == [29, 31]
    connection.close()


def test_requests_overtake_each_other(server, graph):
    """A request that takes long does not hold up those behind it, and answers name theirs."""

    async def exchange():
        session, socket = await converse(server)
        first = "00000000-0000-4000-8000-000000000001"
        await socket.send_str(request(first, "g.inject(0)"))
        assert json.loads((await socket.receive()).data)["status"]["code"] == 407
        await socket.send_str(login(first, graph))
        assert json.loads((await socket.receive()).data)["status"]["code"] == 200
        ids = [f"00000000-0000-4000-8000-0000000001{number:02x}" for number in range(20)]
        for place, identity in enumerate(ids):
            await socket.send_str(request(identity, f"g.inject({place})"))
        seen = {}
        while len(seen) < len(ids):
            answer = json.loads((await socket.receive()).data)
            seen[answer["requestId"]] = answer["result"]["data"]
        assert seen == {identity: [place] for place, identity in enumerate(ids)}
        await socket.close()
        await session.close()

    asyncio.run(exchange())


def test_scripts_over_http(server, graph):
    address = url(server, "http", "/gremlin")
    body = {"gremlin": "g.inject(x)", "bindings": {"x": 7}}
    answer = requests.post(address, json=body, auth=(graph, KEY), timeout=10)
    assert answer.status_code == 200, answer.text
    assert answer.json()["result"]["data"] == [7]
    assert requests.post(address, json=body, timeout=10).status_code == 401
    assert requests.post(address, json={"gremlin": "g.V().dance()"}, auth=(graph, KEY), timeout=10).status_code == 400
    assert requests.post(address, data=b"{", auth=(graph, KEY), timeout=10).status_code == 400
    page = requests.get(address, timeout=10)
    assert page.status_code == 405
    assert "WebSocket" in page.text


def request(identity: str, script: str) -> str:
    arguments = {"gremlin": script, "language": "gremlin-groovy"}
    return json.dumps({"requestId": identity, "op": "eval", "processor": "", "args": arguments})


def login(identity: str, graph: str) -> str:
    sasl = base64.b64encode(f"\0{graph}\0{KEY}".encode()).decode()
    return json.dumps({"requestId": identity, "op": "authentication", "processor": "traversal", "args": {"sasl": sasl}})
