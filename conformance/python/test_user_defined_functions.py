"""User-defined functions: resources of a container, and queries that call them."""

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceExistsError, CosmosResourceNotFoundError

TAX = "function (income) { return income < 1000 ? income * 0.1 : income * 0.4; }"
ITEMS = [{"id": str(n), "city": ("Oslo", "Rome")[n % 2], "income": n * 500} for n in range(4)]


@pytest.fixture
def filled(container):
    for item in ITEMS:
        container.create_item(item)
    return container


def run(container, query):
    return list(container.query_items(query, enable_cross_partition_query=True))


def test_function_lives_through_every_verb(container):
    scripts = container.scripts
    created = scripts.create_user_defined_function({"id": "tax", "body": TAX})
    assert created["body"] == TAX
    assert created["_self"].endswith(f"/udfs/{created['_rid']}/")
    with pytest.raises(CosmosResourceExistsError):
        scripts.create_user_defined_function({"id": "tax", "body": TAX})
    assert scripts.get_user_defined_function("tax") == created
    assert list(scripts.list_user_defined_functions()) == [created]
    query = "SELECT * FROM root r WHERE r.id = @id"
    assert list(scripts.query_user_defined_functions(query, parameters=[{"name": "@id", "value": "tax"}])) == [created]
    replaced = scripts.replace_user_defined_function("tax", {"id": "tax", "body": "function () { return 0; }"})
    assert replaced["_rid"] == created["_rid"]
    assert replaced["_etag"] != created["_etag"]
    scripts.delete_user_defined_function("tax")
    with pytest.raises(CosmosResourceNotFoundError):
        scripts.get_user_defined_function("tax")


def test_queries_call_functions(filled):
    filled.scripts.create_user_defined_function({"id": "tax", "body": TAX})
    assert sorted(run(filled, "SELECT VALUE udf.tax(c.income) FROM c")) == [0, 50, 400, 600]
    assert run(filled, "SELECT VALUE c.id FROM c WHERE udf.tax(c.income) > 500") == ["3"]
    assert run(filled, "SELECT VALUE SUM(udf.tax(c.income)) FROM c") == [1050]


def test_failing_function_fails_the_query(filled):
    filled.scripts.create_user_defined_function({"id": "sad", "body": "function () { throw new Error('tears'); }"})
    with pytest.raises(CosmosHttpResponseError, match="'sad' failed: exception: tears") as refused:
        run(filled, "SELECT VALUE udf.sad() FROM c")
    assert refused.value.status_code == 400


def test_text_that_is_no_function_fails_where_it_is_called(container):
    container.scripts.create_user_defined_function({"id": "f", "body": "function ("})
    container.create_item({"id": "1", "city": "Oslo"})
    with pytest.raises(CosmosHttpResponseError, match="not a JavaScript function") as refused:
        list(container.query_items("SELECT VALUE udf.f() FROM c", partition_key="Oslo"))
    assert refused.value.status_code == 400
