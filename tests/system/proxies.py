# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Proxies in front of nailup: Debian's dnsdist and haproxy. Test files import the fixtures that they use."""

import itertools

import pytest

from conftest import free_address
from peers import Server, need

PROXY = "127.0.77.7"  # proxies send their queries from this address

DNSDIST = """
setLocal("{address}", {{reusePort=false}})
setACL({{"127.0.0.0/8"}})
setSecurityPollSuffix("")
setVerboseHealthChecks(true)
setCacheCleaningDelay(60)
{servers}
{more}
"""

HAPROXY = """
global
  log stderr format raw local0
defaults
  mode tcp
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend clients
  bind {address}
  default_backend resolvers
backend resolvers
{servers}
"""


def dnsdist_server(server, **options):
    """Returns a newServer() line. The values are Lua."""
    options = {"address": f'"{server.ip}:{server.port}"', "useProxyProtocol": "true",
               "source": f'"{PROXY}"', "checkInterval": "1", "maxCheckFailures": "2",
               "checkName": '"health.example."', "mustResolve": "false", **options}
    return "newServer({%s})" % ", ".join(f"{key}={value}" for key, value in options.items())


@pytest.fixture
def dnsdist(tmp_path):
    """dnsdist(["newServer(...)"], more=LUA): starts dnsdist, which serves UDP and TCP at one address."""
    started, count = [], itertools.count()

    def start(servers, more="", wait=True):
        folder = tmp_path / f"dnsdist-{next(count)}"
        folder.mkdir()
        address = free_address()
        path = folder / "dnsdist.conf"
        path.write_text(DNSDIST.format(address="%s:%d" % address, servers="\n".join(servers),
                                       more=more))
        started.append(Server(folder, address, need("dnsdist"), "--supervised",
                              "--disable-syslog", "-C", str(path)))
        if wait:
            started[-1].wait_until_ready()
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def haproxy(tmp_path):
    """haproxy(["server lines"]): starts haproxy, which passes TCP connections on."""
    started, count = [], itertools.count()

    def start(servers):
        folder = tmp_path / f"haproxy-{next(count)}"
        folder.mkdir()
        address = free_address()
        path = folder / "haproxy.cfg"
        lines = "\n".join(f"  server s{i} {line}" for i, line in enumerate(servers))
        path.write_text(HAPROXY.format(address="%s:%d" % address, servers=lines))
        started.append(Server(folder, address, need("haproxy"), "-db", "-f", str(path)))
        return started[-1]

    yield start
    for one in started:
        one.stop()
