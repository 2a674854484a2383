"""Whether the tests run against the cloud."""


def is_live() -> bool:
    """The tests put their answer into an attribute of this function."""
    return False
