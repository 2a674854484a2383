"""What the SDK does not send or does not show: verbs, headers, metadata, the shape of errors, change sets by hand."""

import json
import re
import uuid
import xml.etree.ElementTree as ElementTree

import pytest
from azure.data.tables import TableCorsRule

from table_wire import send
from tables import DOORS, entity, rows

BOTH = [DOORS[1], DOORS[2]]

pytestmark = pytest.mark.parametrize("door", BOTH, indirect=True, ids=[door.name for door in BOTH])
KEYS = "(PartitionKey='p',RowKey='r')"


def _code(answer) -> str:
    assert answer.headers["x-ms-error-code"] == answer.json["odata.error"]["code"]
    return answer.json["odata.error"]["code"]


@pytest.mark.parametrize("is_lite", [False, True], ids=["SharedKey", "SharedKeyLite"])
def test_both_kinds_of_signature(server, door, table, is_lite):
    body = json.dumps(entity("it's", n=1))
    assert send(door, server, "POST", f"/{table.table_name}", body, is_lite=is_lite).status == 201
    for quote in ("''", "%27%27"):
        target = f"/{table.table_name}(PartitionKey='p',RowKey='it{quote}s')"
        assert send(door, server, "GET", target, is_lite=is_lite).status == 200, quote
    encoded = f"/{table.table_name}(PartitionKey=%27p%27,RowKey=%27it%27%27s%27)"
    assert send(door, server, "GET", encoded, is_lite=is_lite).status == 200
    assert send(door, server, "GET", f"/{table.table_name}?comp=acl", is_lite=is_lite).status == 200


@pytest.mark.parametrize(
    "authorization", ["", "SharedKey", "SharedKey a:b", "Bearer x", "type=master&ver=1.0&sig=x", "Basic eDp5"]
)
def test_signatures_that_are_none(server, door, authorization):
    answer = send(door, server, "GET", "/Tables", headers={"Authorization": authorization})
    assert answer.status in (401, 403)
    assert "odata.error" in answer.json


@pytest.mark.parametrize(
    ("verb", "headers"),
    [("PATCH", {}), ("MERGE", {}), ("POST", {"X-HTTP-Method": "MERGE"}), ("POST", {"x-http-method": "PATCH"})],
)
def test_every_way_to_merge(server, door, table, verb, headers):
    table.create_entity(entity("r", n=1))
    target = f"/{table.table_name}{KEYS}"
    answer = send(door, server, verb, target, '{"m":2}', {**headers, "If-Match": "*"})
    assert answer.status == 204, answer
    assert answer.headers["etag"] == table.get_entity("p", "r").metadata["etag"]
    assert send(door, server, verb, target, '{"k":3}', headers).status == 204
    assert table.get_entity("p", "r") == entity("r", n=1, m=2, k=3)


@pytest.mark.parametrize(
    ("headers", "status"), [({}, 201), ({"Prefer": "return-no-content"}, 204), ({"Prefer": "return-content"}, 201)]
)
def test_the_answer_to_an_insert(server, door, table, headers, status):
    answer = send(door, server, "POST", f"/{table.table_name}()", json.dumps(entity("r r", n=1)), headers)
    assert answer.status == status
    assert answer.headers.get("preference-applied") == headers.get("Prefer")
    assert answer.headers["location"].endswith(f"/{table.table_name}(PartitionKey='p',RowKey='r%20r')")
    assert answer.headers["etag"].startswith("W/\"datetime'")
    uuid.UUID(answer.headers["x-ms-request-id"])
    assert float(answer.headers["x-ms-request-charge"]) > 0
    if status == 201:
        assert answer.json["n"] == 1
        assert answer.json["odata.etag"] == answer.headers["etag"]
    else:
        assert answer.text == ""


@pytest.mark.parametrize("level", ["no", "minimal", "full"])
def test_metadata_of_an_entity_and_of_a_list(server, door, table, level):
    table.create_entity(entity("r", n=1, x=3.0, uid=uuid.UUID(int=1)))
    headers = {"Accept": f"application/json;odata={level}metadata"}
    name = table.table_name
    single = send(door, server, "GET", f"/{name}{KEYS}", headers=headers)
    listed = send(door, server, "GET", f"/{name}()", headers=headers)
    assert f"odata={level}metadata" in single.headers["content-type"]
    assert '"x":3.0' in single.text
    whole, (one,) = listed.json, listed.json["value"]
    root = re.escape(f"http://{door.host}:")
    for body in (single.json, one):
        assert ("odata.etag" in body) == (level != "no")
        assert ("uid@odata.type" in body) == (level != "no")
        assert ("odata.type" in body) == ("odata.id" in body) == ("odata.editLink" in body) == (level == "full")
        assert ("Timestamp@odata.type" in body) == (level == "full")
    if level == "no":
        assert "odata.metadata" not in single.json
        assert list(whole) == ["value"]
        return
    assert "odata.metadata" not in one
    assert re.match(root + rf".*\$metadata#{name}(/@Element)?$", single.json["odata.metadata"])
    assert re.match(root + rf".*\$metadata#{name}$", whole["odata.metadata"])
    if level == "full":
        assert re.match(root + rf"\d+(/{door.account})?/{name}\(PartitionKey='p',RowKey='r'\)$", one["odata.id"])
        assert one["odata.editLink"] == f"{name}{KEYS}"
        assert one["odata.type"] == f"{door.account}.{name}"


def test_one_table(server, door, table):
    answer = send(door, server, "GET", f"/Tables('{table.table_name}')")
    assert answer.status == 200
    assert answer.json["TableName"] == table.table_name
    assert send(door, server, "GET", "/Tables('nowhere')").status == 404


def test_deletes_need_a_condition(server, door, table):
    table.create_entity(entity("r"))
    answer = send(door, server, "DELETE", f"/{table.table_name}{KEYS}")
    assert answer.status == 400
    assert _code(answer) == "MissingRequiredHeader"
    assert send(door, server, "DELETE", f"/{table.table_name}{KEYS}", headers={"If-Match": "*"}).status == 204


@pytest.mark.parametrize(
    ("verb", "target", "body", "status"),
    [
        ("POST", "/{t}", "{", 400),
        ("POST", "/{t}", "[]", 400),
        ("POST", "/{t}", '{"PartitionKey":"p","RowKey":5}', 400),
        ("POST", "/{t}", '{"PartitionKey":"p","RowKey":"r","v":{"a":1}}', 400),
        ("POST", "/{t}", '{"PartitionKey":"p","RowKey":"r","v":[1]}', 400),
        ("POST", "/{t}", '{"PartitionKey":"p","RowKey":"r","v@odata.type":"Edm.Nothing","v":1}', 400),
        ("POST", "/{t}", '{"PartitionKey":"p","RowKey":"r","v@odata.type":"Edm.Int32","v":"x"}', 400),
        ("POST", "/{t}", '{"PartitionKey":"p","RowKey":"r","v":1,"v":2}', 400),
        ("POST", "/Tables", "{}", 400),
        ("POST", "/Tables", '{"TableName":""}', 400),
        ("GET", "/{t}/Tables", None, 400),
        ("GET", "/{t}(PartitionKey='p')", None, 400),
        ("GET", "/{t}(PartitionKey='p',RowKey=5)", None, 400),
        ("GET", "/{t}(PartitionKey='p',RowKey='r", None, 400),
        ("GET", "/{t}()?$filter=a%20eq", None, 400),
        ("GET", "/{t}()?$top=x", None, 400),
        ("PUT", "/Tables", "{}", 405),
        ("DELETE", "/{t}", None, 405),
        ("GET", "/$batch", None, 405),
    ],
)
def test_requests_that_are_wrong(server, door, table, verb, target, body, status):
    answer = send(door, server, verb, target.format(t=table.table_name), body)
    # Names of tables may hold parentheses and quotes in Cosmos DB, so malformed keys name a table that is not there.
    is_name = not door.is_storage and "(PartitionKey" in target
    assert answer.status == (404 if is_name else status), answer
    error = answer.json["odata.error"]
    assert _code(answer)
    assert set(error) == {"code", "message"}
    assert set(error["message"]) == {"lang", "value"}
    assert re.search(r"\nRequestI[dD]:[0-9a-f-]{36}\n", error["message"]["value"])
    assert list(table.list_entities()) == []


def test_errors_are_xml_where_bodies_are(server, door):
    answer = send(door, server, "GET", "/nowhere?comp=acl", headers={"Accept": "application/xml"})
    assert answer.status == 404
    tree = ElementTree.fromstring(answer.text)
    name = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}"
    assert tree.tag == f"{name}error"
    assert tree.find(f"{name}code").text == answer.headers["x-ms-error-code"]
    assert tree.find(f"{name}message").text


def test_headers_of_every_answer(server, door, table):
    echoed = str(uuid.uuid4())
    for target in (f"/{table.table_name}()", "/Tables", f"/{table.table_name}{KEYS}", "/nowhere()"):
        answer = send(door, server, "GET", target, headers={"x-ms-client-request-id": echoed})
        assert uuid.UUID(answer.headers["x-ms-request-id"])
        assert answer.headers["x-ms-client-request-id"] == echoed
        assert "date" in answer.headers
        assert ("x-ms-version" in answer.headers) == door.is_storage


def _multipart(door, server, table, operations: list[str], newline: str = "\r\n") -> tuple[str, dict[str, str]]:
    parts = []
    for operation in operations:
        parts += ["--changeset_1", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "", operation]
    lines = ["--batch_1", "Content-Type: multipart/mixed; boundary=changeset_1", "", *parts, "--changeset_1--", ""]
    text = newline.join([*lines, "--batch_1--", ""])
    return text.replace("\r\n", "\n").replace("\n", newline), {"Content-Type": "multipart/mixed; boundary=batch_1"}


def _insert(door, server, table, row: str) -> str:
    body = json.dumps(entity(row))
    url = f"{door.endpoint(server)}/{table.table_name}"
    head = f"POST {url} HTTP/1.1\nContent-Type: application/json\nPrefer: return-no-content\n"
    return f"{head}Content-Length: {len(body)}\n\n{body}"


@pytest.mark.parametrize("newline", ["\r\n", "\n"], ids=["crlf", "lf"])
def test_a_change_set_by_hand(server, door, table, newline):
    operations = [_insert(door, server, table, row) for row in "ab"]
    text, headers = _multipart(door, server, table, operations, newline)
    answer = send(door, server, "POST", "/$batch", text, headers)
    assert answer.status == 202
    assert re.match(r"multipart/mixed; boundary=\"?batchresponse_", answer.headers["content-type"])
    assert answer.text.count("HTTP/1.1 204") == 2
    assert answer.text.count("--changesetresponse_") == 3
    assert len(re.findall(r"^ETag: W/", answer.text, re.MULTILINE)) == 2
    assert len(re.findall(r"^Location: http.*RowKey='[ab]'\)", answer.text, re.MULTILINE)) == 2
    assert "{" not in answer.text
    assert rows(table.list_entities()) == ["a", "b"]


def test_a_failing_change_set_by_hand(server, door, table):
    table.create_entity(entity("b"))
    operations = [_insert(door, server, table, row) for row in "abc"]
    text, headers = _multipart(door, server, table, operations)
    answer = send(door, server, "POST", "/$batch", text, headers)
    assert answer.status == 202
    assert answer.text.count("HTTP/1.1 ") == answer.text.count("HTTP/1.1 409") == 1
    body = json.loads(re.search(r"^\{.*\}\r?$", answer.text, re.MULTILINE).group())
    assert body["odata.error"]["code"] == "EntityAlreadyExists"
    assert body["odata.error"]["message"]["value"].startswith("1:")
    assert rows(table.list_entities()) == ["b"]


def test_partitions_and_tables_are_not_mixed(server, door, table, make_table):
    other = _insert(door, server, make_table(), "b")
    text, headers = _multipart(door, server, table, [_insert(door, server, table, "a"), other])
    answer = send(door, server, "POST", "/$batch", text, headers)
    assert "HTTP/1.1 400" in answer.text or answer.status == 400
    mixed = _insert(door, server, table, "b").replace('"PartitionKey": "p"', '"PartitionKey": "q"')
    text, headers = _multipart(door, server, table, [_insert(door, server, table, "a"), mixed])
    answer = send(door, server, "POST", "/$batch", text, headers)
    assert "CommandsInBatchActOnDifferentPartitions" in answer.text
    assert list(table.list_entities()) == []


@pytest.mark.parametrize("body", ["", "no multipart at all", "--batch_1--", "--batch_1\r\n\r\n--batch_1--"])
def test_bodies_that_are_no_change_set(server, door, body):
    answer = send(door, server, "POST", "/$batch", body, {"Content-Type": "multipart/mixed; boundary=batch_1"})
    assert answer.status == 400
    assert _code(answer)


def test_a_query_in_a_batch(server, door, table):
    table.create_entity(entity("r", n=1))
    url = f"{door.endpoint(server)}/{table.table_name}{KEYS}"
    lines = [
        "--batch_1",
        "Content-Type: application/http",
        "Content-Transfer-Encoding: binary",
        "",
        f"GET {url} HTTP/1.1",
        "Accept: application/json;odata=nometadata",
        "",
        "",
        "--batch_1--",
        "",
    ]
    headers = {"Content-Type": "multipart/mixed; boundary=batch_1"}
    answer = send(door, server, "POST", "/$batch", "\r\n".join(lines), headers)
    assert answer.status == 202
    assert "HTTP/1.1 200" in answer.text
    assert json.loads(re.search(r"^\{.*\}\r?$", answer.text, re.MULTILINE).group())["n"] == 1


def test_requests_from_other_origins(server, door, table_service):
    asking = {"Origin": "http://app.example", "Access-Control-Request-Method": "GET", "Authorization": ""}
    if not door.is_storage:
        assert send(door, server, "OPTIONS", "/any", headers=asking).status >= 400
        return
    rule = TableCorsRule(["http://app.example"], ["GET"], max_age_in_seconds=60, exposed_headers=["x-ms-request-id"])
    table_service.set_service_properties(cors=[rule])
    try:
        allowed = send(door, server, "OPTIONS", "/any", headers=asking)
        assert allowed.status == 200
        assert allowed.headers["access-control-allow-origin"] == "http://app.example"
        assert allowed.headers["access-control-max-age"] == "60"
        refused = send(door, server, "OPTIONS", "/any", headers={**asking, "Origin": "http://other.example"})
        assert refused.status == 403
        answer = send(door, server, "GET", "/Tables", headers={"Origin": "http://app.example"})
        assert answer.headers["access-control-allow-origin"] == "http://app.example"
        assert "x-ms-request-id" in answer.headers["access-control-expose-headers"]
    finally:
        table_service.set_service_properties(cors=[])
