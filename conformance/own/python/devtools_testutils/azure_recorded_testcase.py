"""The credential of live tests."""


def get_credential(**_options):
    """Never called where the account is the emulator's."""
    raise NotImplementedError("the tests run against an emulator")
