# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Few file descriptors: clients cannot take the descriptors of upstreams, the control socket and the listeners, and
many queries share few sockets. The limit is for the daemon alone, so that this process has enough for its
clients."""

import pathlib
import resource
import socket
import subprocess

import pytest

from conftest import BUILD, Daemon, eventually
from peers import Stream, load, query, rcode_of, udp_ask

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")


@pytest.fixture
def limited(tmp_path, make_config):
    """limited(1024, config, ...): starts nailupd with this hard limit of open files."""
    started = []

    def start(files, config=None, **more):
        inside = ["prlimit", f"--nofile={files}:{files}"]
        started.append(Daemon(tmp_path, make_config(config, **more), inside))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for daemon in started:
        code = daemon.stop()
        daemon.check_clean()
        assert code == 0, daemon.log()


@pytest.fixture
def crowd():
    """crowd(daemon, count): opens idle TCP clients, which stay. Some may be turned away."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2200:
        pytest.skip(f"no more than {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2200), hard))
    clients = []

    def gather(daemon, count):
        for number in range(count):
            source = f"127.1.{number // 250}.{1 + number % 250}"
            clients.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            clients[-1].bind((source, 0))
            clients[-1].connect((daemon.ip, daemon.port))

    yield gather
    for one in clients:
        one.close()


def turned_away(daemon, reason):
    """Returns how many new clients were refused, and how many idle ones made room."""
    reported = daemon.metrics()
    return reported[f'clients_refused_total{{reason="{reason}"}}'] + reported["clients_displaced_total"]


TCP_ONLY = {"upstream": {"transport": "tcp", "fallback": "none"}}


@pytest.mark.parametrize("files, clients", [(1024, 1100), (64, 100)])
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_idle_clients_leave_upstreams_their_files(limited, responder, crowd, files, clients, transport):
    """Every query is answered, the control socket still works, and the refusals are counted."""
    upstream = responder("--delay", 2)
    daemon = limited(files, TCP_ONLY if transport == "tcp" else None, upstreams=[upstream], workers=2)
    crowd(daemon, clients)
    eventually(lambda: turned_away(daemon, "files") > 0)
    report = load(daemon, "--rate", 700, "--duration", 2, "--unique")
    assert report["sent"] >= 1300
    held = daemon.metrics()["stream_clients"]
    assert 4 <= held < clients
    assert held + turned_away(daemon, "files") == clients
    assert daemon.metrics()['clients_refused_total{reason="full"}'] == 0
    assert f"may open {files} files" in daemon.log()


def test_admitted_clients_are_served_and_places_become_free(limited, responder):
    daemon = limited(64, upstreams=[responder()], workers=1)
    held = []
    while not daemon.metrics()['clients_refused_total{reason="files"}']:
        # each look at the metrics takes time, in which idle clients may be closed
        held += [Stream(daemon) for _ in range(8)]
        assert len(held) <= 64
    served = 0
    for number, client in enumerate(held):
        try:
            client.send(query("a.example", number))
            served += client.read() is not None
        except ConnectionError:
            pass
    assert served == daemon.metrics()["stream_clients"] >= 5
    for client in held:
        client.socket.close()
    eventually(lambda: daemon.metrics()["stream_clients"] == 0)
    with Stream(daemon) as client:
        client.send(query("b.example", 1))
        assert rcode_of(client.read()) == 0


def test_many_queries_at_once_share_few_sockets(limited, responder):
    """All queries go over UDP. Hundreds come at once, but the limit of files leaves about five sockets, so they queue."""
    daemon = limited(64, upstreams=[responder("--delay", 1)], workers=2)
    report = load(daemon, "--rate", 500, "--duration", 2, "--unique")
    assert report["sent"] >= 900
    clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(200)]
    for number, client in enumerate(clients):
        client.settimeout(10)
        client.connect((daemon.ip, daemon.port))
        client.send(query(f"burst{number}.example", number))
    rcodes = []
    for client in clients:
        with client:
            rcodes.append(rcode_of(client.recv(512)))
    assert rcodes == [0] * 200


def test_a_reload_cannot_allow_more_clients_than_there_are_files(limited, responder, crowd):
    daemon = limited(64, {"server": {"max-clients": 4}}, upstreams=[responder()], workers=1)
    crowd(daemon, 20)
    eventually(lambda: turned_away(daemon, "full") == 16)
    text = daemon.config_path.read_text()
    daemon.config_path.write_text(text.replace('"max-clients": 4', '"max-clients": 5000'))
    assert daemon.ctl("reload").returncode == 0
    crowd(daemon, 60)
    eventually(lambda: daemon.metrics()['clients_refused_total{reason="files"}'] > 0)
    assert 4 < daemon.metrics()["stream_clients"] < 50
    assert rcode_of(udp_ask(daemon, query("still.example"))) == 0


def test_fewer_workers_start_if_files_are_scarce(limited, responder):
    daemon = limited(64, upstreams=[responder()], workers=30)
    assert " of 30 workers start" in daemon.log()
    assert rcode_of(udp_ask(daemon, query())) == 0


def test_a_soft_limit_is_raised(responder, tmp_path, make_config):
    daemon = Daemon(tmp_path, make_config(upstreams=[responder()]),
                    ["prlimit", "--nofile=64:2048"])
    daemon.wait_until_ready()
    done = subprocess.run(["prlimit", "--nofile", "--output=SOFT", "--noheadings",
                           f"--pid={daemon.process.pid}"], capture_output=True, text=True)
    assert done.stdout.split() == ["2048"]
    assert daemon.stop() == 0


@pytest.mark.parametrize("files, table", [(1024, 1024), (20000, 16384)])
def test_the_kernels_table_of_files_is_large_from_the_start(limited, responder, files, table):
    """Otherwise a worker would wait in socket() whenever the kernel doubles the table."""
    daemon = limited(files, upstreams=[responder()], workers=2)
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text(encoding="ascii")
    assert f"\nFDSize:\t{table}\n" in status
