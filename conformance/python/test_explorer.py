"""The explorer beneath its page: sessions, and the way from them to each API."""

import struct

import bson
import pytest
import requests

from conftest import fresh
from server import KEY

CSRF = "x-armilla-csrf"


class Session:
    """What a browser does for the page."""

    def __init__(self, server, **body):
        self.root = f"{server.http.rstrip('/')}/_explorer"
        self.http = requests.Session()
        self.http.trust_env = False
        self.signed_in = self.http.post(f"{self.root}/session", json=body)
        self.csrf = self.signed_in.json().get("csrf")

    def ask(self, method: str, path: str, **options) -> requests.Response:
        headers = {CSRF: self.csrf, **options.pop("headers", {})}
        return self.http.request(method, f"{self.root}/{path}", headers=headers, **options)

    def mongo(self, database: str, **command) -> dict:
        body = struct.pack("<IB", 0, 0) + bson.encode({**command, "$db": database})
        message = struct.pack("<IIII", 16 + len(body), 1, 0, 2013) + body
        answer = self.ask("POST", "mongo", data=message)
        assert answer.status_code == 200, answer.text
        return bson.decode(answer.content[21:])


@pytest.fixture
def session(server) -> Session:
    return Session(server)


def test_here_it_is_open_with_the_well_known_key(server, session):
    told = session.signed_in.json()
    assert told["state"] == "signed-in" and told["access"] == "full"
    assert told["apis"] == {"sql": True, "mongo": True, "gremlin": True, "table": True}
    cookie = session.signed_in.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and KEY not in cookie
    listed = session.ask("GET", "rest/dbs")
    assert listed.status_code == 200 and "Databases" in listed.json()


def test_nothing_is_answered_without_a_session_or_its_proof(server, session):
    for path in ("rest/dbs", "rest/_armilla/partitions", "table/Tables"):
        assert requests.get(f"{session.root}/{path}").status_code == 401
        assert requests.get(f"{session.root}/{path}", headers={CSRF: session.csrf}).status_code == 401
        assert session.http.get(f"{session.root}/{path}").status_code == 403
    for path in ("mongo", "gremlin"):
        assert requests.post(f"{session.root}/{path}", data=b"{}").status_code == 401


def test_pages_of_other_origins_are_refused_whoever_may_ask_the_rest(start_server):
    open_to_all = start_server("--allowed-origins", "*")
    session = Session(open_to_all)
    foreign = {"Origin": "http://localhost:3000"}
    assert session.http.get(f"{session.root}/session", headers=foreign).status_code == 403
    assert session.ask("GET", "rest/dbs", headers=foreign).status_code == 403
    own = {"Origin": open_to_all.http.rstrip("/")}
    assert session.ask("GET", "rest/dbs", headers=own).status_code == 200
    assert requests.get(f"{open_to_all.http}health", headers=foreign).status_code == 200
    other_name = {"Host": "rebound.example.com"}
    assert requests.get(f"{session.root}/", headers=other_name).status_code == 403


def test_a_key_of_its_own_has_to_be_shown(start_server):
    own_key = "bm90IHRoZSB3ZWxsLWtub3duIGtleSwgYnV0IG9uZSBvZiBvdXIgb3du"
    closed = start_server("--key", own_key, "--read-only-key", "cmVhZHMgb25seSBhbmQgaXMgbG9uZyBlbm91Z2ggZm9yIGl0")
    assert Session(closed).signed_in.status_code == 401
    assert Session(closed, key=KEY).signed_in.status_code == 401
    assert Session(closed, key=own_key).ask("POST", "rest/dbs", json={"id": "d"}).status_code == 201
    reader = Session(closed, key="cmVhZHMgb25seSBhbmQgaXMgbG9uZyBlbm91Z2ggZm9yIGl0")
    assert reader.signed_in.json()["access"] == "read-only"
    assert reader.ask("GET", "rest/dbs").status_code == 200
    assert reader.ask("POST", "rest/dbs", json={"id": "e"}).status_code == 403
    assert reader.mongo("d", insert="c", documents=[{"_id": 1}])["code"] == 13
    assert reader.ask("POST", "table/Tables", json={"TableName": "t"}).status_code == 403


def test_the_four_apis_have_the_same_data(session, database, make_container):
    container = make_container("/city")
    container.create_item({"id": "1", "city": "Oslo", "label": "town"})
    found = session.mongo(database.id, find=container.id, filter={"city": "Oslo"})
    assert [document["label"] for document in found["cursor"]["firstBatch"]] == ["town"]
    assert found["ok"] == 1
    wrong = session.mongo(database.id, find=container.id, filter={"$what": 1})
    assert wrong["ok"] == 0 and "$what" in wrong["errmsg"]

    graph = make_container("/pk")
    headers = {"x-armilla-graph": f"/dbs/{database.id}/colls/{graph.id}", "accept": "application/json"}
    script = "g.addV('person').property('id', 'ä').property('pk', 'p')"
    assert session.ask("POST", "gremlin", headers=headers, json={"gremlin": script}).status_code == 200
    names = session.ask("POST", "gremlin", headers=headers, json={"gremlin": "g.V().id()"}).json()
    assert names["result"]["data"] == ["ä"]
    unnamed = session.ask("POST", "gremlin", json={"gremlin": "g.V()"})
    assert unnamed.status_code == 400 and "x-armilla-graph" in unnamed.text

    table = fresh("table").replace("-", "")
    plain = {"accept": "application/json;odata=nometadata"}
    assert session.ask("POST", "table/Tables", headers=plain, json={"TableName": table}).status_code == 201
    entity = {"PartitionKey": "p", "RowKey": "r", "n": 7}
    assert session.ask("POST", f"table/{table}", headers=plain, json=entity).status_code == 201
    listed = session.ask("GET", f"table/{table}()?$filter=n%20gt%205", headers=plain).json()["value"]
    assert [row["n"] for row in listed] == [7]
    assert session.ask("DELETE", f"table/Tables('{table}')", headers=plain).status_code == 204


@pytest.mark.parametrize("body", [b"", b"{}", struct.pack("<IIII", 16, 1, 0, 2013), struct.pack("<IIII", 999, 1, 0, 2013)])
def test_what_is_no_message_is_refused(session, body):
    assert session.ask("POST", "mongo", data=body).status_code == 400


def test_an_api_that_is_off_says_so(start_server):
    small = Session(start_server("--mongo-port", "off", "--gremlin-port", "off", "--table-port", "off"))
    assert small.signed_in.json()["apis"] == {"sql": True, "mongo": False, "gremlin": False, "table": False}
    for method, path in (("POST", "mongo"), ("POST", "gremlin"), ("GET", "table/Tables")):
        refused = small.ask(method, path)
        assert refused.status_code == 404 and "API" in refused.json()["message"]


def test_signing_out_ends_it(session):
    assert session.ask("DELETE", "session").status_code == 204
    assert session.ask("GET", "rest/dbs").status_code == 401


def test_the_ready_line_tells_the_address(server):
    page = requests.get(f"{server.http}_explorer/")
    assert page.status_code == 200 and "default-src 'none'" in page.headers["content-security-policy"]
    assert requests.get(f"{server.http}_explorer", allow_redirects=False).status_code == 308
