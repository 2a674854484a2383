"""Stands in for the package of the SDK's repository that its tests import; it is not published.

Against an emulator the tests take nothing from it but these two names.
"""
