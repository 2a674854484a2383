"""Every public operation of `azure-data-tables` is called by a test; what a newer release adds is named here first."""

import inspect
import re
from pathlib import Path

import pytest
from azure.data import tables
from azure.data.tables import aio

SERVICE = {
    "create_table",
    "create_table_if_not_exists",
    "delete_table",
    "from_connection_string",
    "get_service_properties",
    "get_service_stats",
    "get_table_client",
    "list_tables",
    "query_tables",
    "set_service_properties",
}
TABLE = {
    "create_entity",
    "create_table",
    "delete_entity",
    "delete_table",
    "from_connection_string",
    "from_table_url",
    "get_entity",
    "get_table_access_policy",
    "list_entities",
    "query_entities",
    "set_table_access_policy",
    "submit_transaction",
    "update_entity",
    "upsert_entity",
}
# Of both clients: how they are closed and what they say of themselves.
COMMON = {"account_name", "api_version", "close", "credential", "scheme", "table_name", "url"}
MODULE = {
    "AccountSasPermissions",
    "EdmType",
    "EntityMetadata",
    "EntityProperty",
    "RequestTooLargeError",
    "ResourceTypes",
    "SASProtocol",
    "TableAccessPolicy",
    "TableAnalyticsLogging",
    "TableClient",
    "TableCorsRule",
    "TableEntity",
    "TableErrorCode",
    "TableItem",
    "TableMetrics",
    "TableRetentionPolicy",
    "TableSasPermissions",
    "TableServiceClient",
    "TableTransactionError",
    "TransactionOperation",
    "UpdateMode",
    "generate_account_sas",
    "generate_table_sas",
}
# A name for the type of `TableEntity.metadata`, which every test of metadata reads.
NOT_CALLED = {"EntityMetadata", "close", "credential", "scheme"}


def _public(subject: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(subject) if not name.startswith("_")}


@pytest.mark.parametrize("module", [tables, aio], ids=["sync", "async"])
@pytest.mark.parametrize(("name", "covered"), [("TableServiceClient", SERVICE), ("TableClient", TABLE)])
def test_every_operation_of_the_clients_is_known(module, name, covered):
    assert _public(getattr(module, name)) - COMMON == covered


def test_every_name_of_the_package_is_known():
    assert set(tables.__all__) == MODULE
    assert set(aio.__all__) == {"TableClient", "TableServiceClient"}


def test_every_name_is_used_by_a_test():
    folder = Path(__file__).parent
    text = "".join(file.read_text() for file in folder.glob("test_table_*.py") if file.name != Path(__file__).name)
    text += (folder / "tables.py").read_text()
    unused = {name for name in SERVICE | TABLE | COMMON | MODULE if not re.search(rf"\b{name}\b", text)} - NOT_CALLED
    assert unused == set()
