"""A store in PostgreSQL alone."""

import pytest

from tests.support.cluster import Cluster


@pytest.fixture
def place(cluster: Cluster) -> str:
    """Where a record is; not there yet."""
    return cluster.emptied()
