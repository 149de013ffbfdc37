# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Fixtures for tests against other DNS servers: the eight servers, and the fixtures of tests/system.

The whole run enters its own network namespace before anything starts, so the servers have the well-known ports of
their own addresses, and nothing here reaches any other machine. `--real` asks for the full form of each test."""

import importlib.util
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = HERE.parent / "system"
sys.path[:0] = [str(SYSTEM), str(HERE.parents[1] / "bench" / "compare")]

# Modules of tests/system say `from conftest import ...`. This file has the same names, so either conftest serves them.
spec = importlib.util.spec_from_file_location("system_conftest", SYSTEM / "conftest.py")
shared = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shared)
globals().update({name: value for name, value in vars(shared).items() if not name.startswith("__")})

import sandbox  # noqa: E402 (the path is set above)

entered = False


def pytest_addoption(parser):
    parser.addoption("--real", action="store_true", help="run the full form, which takes longer, sends more queries and prints a table of times")


def pytest_sessionstart(session):
    """Runs before the first thread, because a process with several threads cannot enter a user namespace."""
    global entered
    if session.config.option.collectonly:
        return
    entered = sandbox.enter_namespace()


@pytest.fixture(scope="session")
def is_full(pytestconfig):
    return pytestconfig.getoption("--real")


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    from servers import Servers  # servers needs the names above
    if not entered:
        pytest.skip("no network namespaces here")
    with Servers(tmp_path_factory.mktemp("servers")) as running:
        yield running


@pytest.fixture(scope="session")
def servers(running):
    """Yields {name: RealServer} with all servers running. A test that ends a server starts it again."""
    return running.by_name


@pytest.fixture(scope="session")
def authority(running):
    """Yields the authority that signed the servers' certificates."""
    return running.authority


reports = []


@pytest.fixture(scope="session")
def report(is_full):
    """report(title, header, rows): prints a table at the end of a full run."""
    def add(title, header, rows):
        if is_full:
            reports.append((title, header, rows))
    return add


def pytest_terminal_summary(terminalreporter):
    shared.pytest_terminal_summary(terminalreporter)
    for title, header, rows in reports:
        lines = [[str(cell) for cell in row] for row in (header, *rows)]
        widths = [max(map(len, column)) for column in zip(*lines)]
        terminalreporter.write_line("")
        terminalreporter.write_line(f"== {title}")
        for line in lines:
            terminalreporter.write_line("  " + "  ".join(
                cell.ljust(width) if at < 2 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths))))
