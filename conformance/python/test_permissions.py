"""Users, permissions, and clients that hold nothing but a resource token."""

import time

import pytest
from azure.cosmos import CosmosClient, PermissionMode
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from conftest import fresh
from sdk import refused

EXPIRY_SECONDS = 10


@pytest.fixture
def user(database):
    made = database.create_user({"id": fresh("user")})
    yield made
    database.delete_user(made.id)


def _grant(user, container, mode, **options):
    body = {"id": fresh("permission"), "permissionMode": mode, "resource": container.container_link}
    return user.create_permission(body, **options)


def _token(permission) -> str:
    return permission.properties["_token"]


@pytest.fixture
def with_token(server, database):
    """Opens clients that have resource tokens instead of the account key."""
    opened = []

    def connect(permission, container):
        client = CosmosClient(server.https, credential={permission.resource_link: _token(permission)})
        opened.append(client)
        return client.get_database_client(database.id).get_container_client(container.id)

    yield connect
    for client in opened:
        client.close()


def test_user_lives_through_every_verb(database):
    name = fresh("user")
    created = database.create_user({"id": name}).read()
    assert created["id"] == name
    assert created["_permissions"] == "permissions/"
    assert created["_self"] == f"{database.read()['_self']}users/{created['_rid']}/"
    with pytest.raises(CosmosResourceExistsError):
        database.create_user({"id": name})
    assert name in {user["id"] for user in database.list_users()}
    renamed = fresh("user")
    database.replace_user(name, {"id": renamed})
    assert database.get_user_client(renamed).read()["_rid"] == created["_rid"]
    assert database.upsert_user({"id": renamed}).read()["_rid"] == created["_rid"]
    database.delete_user(renamed)
    with pytest.raises(CosmosResourceNotFoundError):
        database.get_user_client(renamed).read()
    with pytest.raises(CosmosResourceNotFoundError):
        database.delete_user(renamed)


def test_permission_lives_through_every_verb(user, container, make_container):
    permission = _grant(user, container, PermissionMode.Read)
    properties = permission.properties
    assert properties["permissionMode"] == PermissionMode.Read, "as it was sent"
    assert properties["resource"] == container.container_link
    assert properties["_token"].startswith("type=resource&ver=1")
    assert [listed["id"] for listed in user.list_permissions()] == [permission.id]
    assert user.get_permission(permission.id).properties["_rid"] == properties["_rid"]

    other = make_container()
    body = {"id": permission.id, "permissionMode": "All", "resource": other.container_link}
    replaced = user.replace_permission(permission.id, body)
    assert (replaced.permission_mode, replaced.resource_link) == ("All", other.container_link)
    assert user.upsert_permission({**body, "permissionMode": "Read"}).permission_mode == "Read"
    user.delete_permission(permission.id)
    assert list(user.list_permissions()) == []
    with pytest.raises(CosmosResourceNotFoundError):
        user.get_permission(permission.id)


def test_one_permission_for_each_resource(user, container):
    permission = _grant(user, container, PermissionMode.Read)
    with pytest.raises(CosmosResourceExistsError):
        _grant(user, container, PermissionMode.All)
    with pytest.raises(CosmosResourceExistsError):
        user.create_permission({**permission.properties, "id": permission.id})


@pytest.mark.parametrize(
    "change",
    [{"permissionMode": "Write"}, {"permissionMode": None}, {"resource": None}, {"resource": "dbs"}, {"id": ""}],
    ids=["mode", "no mode", "no resource", "resource", "id"],
)
def test_malformed_permission_is_refused(user, container, change):
    body = {"id": fresh("permission"), "permissionMode": "Read", "resource": container.container_link, **change}
    with refused(400):
        user.create_permission(body)


def test_every_read_mints_a_working_token(user, container, with_token):
    container.create_item({"id": "1", "city": "Oslo"})
    permission = _grant(user, container, PermissionMode.Read)
    again = user.get_permission(permission.id)
    for held in (permission, again):
        assert with_token(held, container).read_item("1", "Oslo")["id"] == "1"


def test_read_token_reads_and_nothing_else(user, container, with_token):
    item = container.create_item({"id": "1", "city": "Oslo"})
    holder = with_token(_grant(user, container, PermissionMode.Read), container)
    assert holder.read_item("1", "Oslo") == item
    assert [found["id"] for found in holder.read_all_items()] == ["1"]
    assert holder.read()["id"] == container.id
    for write in (
        lambda: holder.create_item({"id": "2", "city": "Oslo"}),
        lambda: holder.upsert_item({"id": "1", "city": "Oslo"}),
        lambda: holder.replace_item("1", {"id": "1", "city": "Oslo"}),
        lambda: holder.patch_item("1", "Oslo", [{"op": "set", "path": "/n", "value": 1}]),
        lambda: holder.delete_item("1", "Oslo"),
    ):
        with refused(403):
            write()
    assert list(container.read_all_items()) == [item]


def test_full_token_writes(user, container, with_token):
    holder = with_token(_grant(user, container, PermissionMode.All), container)
    holder.create_item({"id": "1", "city": "Oslo"})
    holder.upsert_item({"id": "1", "city": "Oslo", "n": 1})
    assert container.read_item("1", "Oslo")["n"] == 1
    holder.delete_item("1", "Oslo")
    assert list(container.read_all_items()) == []


def test_token_opens_no_other_container(user, container, make_container, with_token):
    other = make_container()
    other.create_item({"id": "1", "city": "Oslo"})
    holder = with_token(_grant(user, container, PermissionMode.All), other)
    with refused(403):
        holder.read()
    with refused(403):
        holder.read_item("1", "Oslo")


def test_token_opens_no_database(server, user, database, container):
    permission = _grant(user, container, PermissionMode.All)
    with CosmosClient(server.https, credential={database.database_link: _token(permission)}) as holder:
        with refused(403):
            holder.get_database_client(database.id).read()
        with refused(403):
            holder.get_database_client(database.id).delete_container(container.id)


def test_token_of_one_item_opens_that_item(server, user, database, container):
    container.create_item({"id": "mine", "city": "Oslo"})
    container.create_item({"id": "other", "city": "Oslo"})
    link = f"{container.container_link}/docs/mine"
    body = {"id": fresh("permission"), "permissionMode": "Read", "resource": link, "resourcePartitionKey": ["Oslo"]}
    token = _token(user.create_permission(body))
    # The SDK reads the container before its items, which this token does not cover: borrow what the owner knows.
    with CosmosClient(server.https, credential={link: token, container.container_link: token}) as holder:
        connection = holder.client_connection
        connection._set_container_properties_cache(
            container.container_link, container.client_connection._container_properties_cache[container.container_link]
        )
        limited = holder.get_database_client(database.id).get_container_client(container.id)
        assert limited.read_item("mine", "Oslo")["id"] == "mine"
        with refused(403):
            limited.read_item("other", "Oslo")
        with refused(403):
            limited.delete_item("mine", "Oslo")


def test_token_is_bound_to_its_partition_key(user, container, with_token):
    container.create_item({"id": "1", "city": "Oslo"})
    container.create_item({"id": "1", "city": "Bergen"})
    body = {
        "id": fresh("permission"),
        "permissionMode": "All",
        "resource": container.container_link,
        "resourcePartitionKey": ["Oslo"],
    }
    holder = with_token(user.create_permission(body), container)
    assert holder.read_item("1", "Oslo")["city"] == "Oslo"
    with refused(403):
        holder.read_item("1", "Bergen")
    with refused(403):
        holder.create_item({"id": "2", "city": "Bergen"})


def test_tampered_token_is_refused(server, user, database, container):
    token = _token(_grant(user, container, PermissionMode.Read))
    middle = len(token) // 2
    tampered = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
    with refused(401):
        CosmosClient(server.https, credential={container.container_link: tampered})


def test_token_expires(server, user, database, container):
    container.create_item({"id": "1", "city": "Oslo"})
    permission = _grant(user, container, PermissionMode.Read, resource_token_expiry_seconds=EXPIRY_SECONDS)
    granted = time.monotonic()
    with CosmosClient(server.https, credential={container.container_link: _token(permission)}) as client:
        holder = client.get_database_client(database.id).get_container_client(container.id)
        assert holder.read_item("1", "Oslo")["id"] == "1"
        time.sleep(EXPIRY_SECONDS + 1 - (time.monotonic() - granted))
        with refused(403):
            holder.read_item("1", "Oslo")


@pytest.mark.parametrize("seconds", [9, 86_401])
def test_expiry_has_bounds(user, container, seconds):
    with refused(400):
        _grant(user, container, PermissionMode.Read, resource_token_expiry_seconds=seconds)
