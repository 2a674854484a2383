"""Stored procedures for tests: the scripts of conformance/scripts, short ones written in place, and running them."""

import itertools

from server import REPOSITORY

SCRIPTS = REPOSITORY / "conformance" / "scripts"

_numbers = itertools.count(1)


def script(name: str) -> str:
    """Returns the text of one of the scripts both suites use."""
    return (SCRIPTS / f"{name}.js").read_text()


def procedure(statements: str, parameters: str = "") -> str:
    """Returns a procedure of these statements, with short names for what most of them need."""
    return f"""function ({parameters}) {{
        const collection = getContext().getCollection();
        const link = collection.getSelfLink();
        const answer = (value) => getContext().getResponse().setBody(value);
        {statements}
    }}"""


def register(container, body: str) -> str:
    """Creates a stored procedure under a name of its own and returns the name."""
    name = f"procedure-{next(_numbers)}"
    container.scripts.create_stored_procedure({"id": name, "body": body})
    return name


def call(container, name: str, *arguments, key="Oslo", **options):
    """Executes a stored procedure and returns what it set as the body."""
    return container.scripts.execute_stored_procedure(name, partition_key=key, params=list(arguments), **options)


def run(container, body: str, *arguments, key="Oslo", **options):
    """Creates a stored procedure and executes it once."""
    return call(container, register(container, body), *arguments, key=key, **options)
