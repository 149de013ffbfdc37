# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailupd and nailupctl from the outside: command lines, exit codes, signals, the control socket. Most basic first."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import time

import pytest

from conftest import ROOT, eventually, free_address, program

# The query a.example A, framed for TCP.
QUERY = b"\0\x1b\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\7example\0\0\1\0\1"


def run(*args, timeout=20):
    return subprocess.run([program("nailupd"), *map(str, args)], text=True, capture_output=True,
                          timeout=timeout)


def write(folder, config, name="nailup.yaml"):
    path = folder / name
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return path


# ---- the command line ----


def test_version_and_help_need_no_configuration():
    assert re.fullmatch(r"nailupd \d+\.\d+\.\d+\nwith(out)?: libsystemd\nwith(out)?: dnstap\n",
                        run("-V").stdout)
    assert run("-h").stdout.startswith("usage: nailupd")
    assert run("-V").returncode == run("-h").returncode == 0


@pytest.mark.parametrize("args", [["--nonsense"], ["-c"], ["stray"], ["-t", "stray"]])
def test_wrong_usage_exits_with_2(args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: nailupd" in done.stderr


def test_a_good_file_passes_the_check(tmp_path, make_config):
    done = run("-t", "-c", write(tmp_path, make_config(upstreams=["127.0.0.1"])))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option", [[], ["-t"], ["--print-config"]])
def test_every_error_of_a_file_is_reported_with_its_position(tmp_path, option):
    path = write(tmp_path, "server:\n  workerz: 1\ncache:\n  size: much\n"
                           "forward-zones: [{name: ., upstreams: [127.0.0.1]}]\n")
    done = run("-c", path, *option)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"{path}:2:3: error: server.workerz: ")
    assert lines[1].startswith(f"{path}:4:9: error: cache.size: ")


def test_a_file_that_is_not_there_exits_with_1(tmp_path):
    done = run("-c", tmp_path / "nothing.yaml")
    assert done.returncode == 1
    assert str(tmp_path / "nothing.yaml") in done.stderr


def test_the_printed_configuration_loads_to_the_same(tmp_path, make_config):
    config = make_config({"cache": {"max-ttl": "1h"}}, upstreams=["127.0.0.1@5353"], nailed=True)
    first = run("--print-config", "-c", write(tmp_path, config))
    assert first.returncode == 0
    again = run("--print-config", "-c", write(tmp_path, first.stdout, "printed.yaml"))
    assert (again.returncode, again.stdout) == (0, first.stdout)


# ---- answering ----


def test_answers_over_udp_and_tcp(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream])
    wanted = dig(upstream, "www.example.org").data
    over_udp = dig(daemon, "www.example.org")
    over_tcp = dig(daemon, "www.example.org", "A", "+tcp")
    assert (over_udp.status, over_udp.data) == ("NOERROR", wanted)
    assert (over_tcp.status, over_tcp.data) == ("NOERROR", wanted)
    assert {"qr", "rd", "ra"} <= set(over_udp.flags)


def test_accepts_tcp_within_a_second_of_the_start(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], workers=2)
    with socket.create_connection((daemon.ip, daemon.port), 1):
        assert time.monotonic() - daemon.started < 1


def test_a_second_answer_comes_from_the_cache_of_all_workers(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], workers=4)
    for _ in range(12):
        assert dig(daemon, "one.example").status == "NOERROR"
    assert upstream.stats()["udp_queries"] == 1
    assert daemon.metrics()["cache_hits_total"] == 11


def test_a_client_outside_of_the_access_list_is_refused(nailupd, responder, dig):
    daemon = nailupd({"server": {"access": [{"prefix": "127.0.0.1", "action": "refuse"}]}},
                     upstreams=[responder()])
    assert dig(daemon, "www.example.org").status == "REFUSED"


def test_nothing_is_sent_before_the_first_query(nailupd, responder):
    upstream = responder()
    nailupd(upstreams=[upstream])
    time.sleep(0.3)
    stats = upstream.stats()
    assert (stats["udp_queries"], stats["connections_opened"]) == (0, 0)


# ---- nailing, from the outside ----


def test_a_nailed_connection_is_open_before_the_first_query(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True)
    eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"])
    before = upstream.stats()
    assert (before["connections_open"], before["tcp_queries"], before["udp_queries"]) == (1, 0, 0)
    conn = daemon.connections()[0]
    assert (conn["upstream"], conn["transport"], conn["nailed"]) == (upstream.server, "tcp", True)
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert daemon.metrics()["upstream_cold_queries_total"] == 0
    assert upstream.stats()["connections_opened"] == 1
    assert daemon.connections()[0]["requests"] == 1


def test_each_worker_keeps_its_own_connection(nailupd, responder):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True, workers=3)
    eventually(lambda: sorted(c["worker"] for c in daemon.connections()) == [0, 1, 2])
    eventually(lambda: upstream.stats()["connections_open"] == 3)


def test_the_log_has_a_dead_upstream_once_for_all_workers(nailupd, responder, dig):
    """The workers notice the failure at different times, because their back-offs are random."""
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True, workers=4)

    def are_ready():
        return len([one for one in daemon.connections() if one["state"] == "ready"]) == 4

    def have_failed():
        rows = daemon.upstreams()
        return len(rows) == 4 and all(one["dial_failures"] >= 4 for one in rows)
    eventually(are_ready)
    upstream.tell("tcp", "off")
    eventually(have_failed, within=20)
    assert daemon.log().count("connection rests: dial refused") == 1, daemon.log()
    upstream.tell("tcp", "on")
    eventually(are_ready, within=20)
    for number in range(20):
        assert dig(daemon, f"n{number}.example").status == "NOERROR"
    assert daemon.log().count("connected again") == 1, daemon.log()


def test_recycling_opens_the_new_connection_before_it_closes_the_old_one(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True)
    eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"])
    assert daemon.ask("recycle")["recycled"] == {"connections": 1}
    eventually(lambda: upstream.stats()["connections_closed"] == 1)
    stats = upstream.stats()
    assert (stats["connections_opened"], stats["connections_max_open"]) == (2, 2)
    eventually(lambda: [(c["state"], c["last_close"]) for c in daemon.connections()] ==
               [("ready", "recycled by the operator")])
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert daemon.metrics()["upstream_cold_queries_total"] == 0


def test_recycling_a_prefix_spares_the_others(nailupd, responder):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True)
    eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"])
    assert daemon.ask("recycle", "192.0.2.0/24")["recycled"] == {"connections": 0}
    assert daemon.ask("recycle", upstream.ip + "/24")["recycled"] == {"connections": 1}


# ---- failing starts ----


def test_a_second_instance_exits_with_3_and_says_what_to_do(tmp_path, nailupd, make_config):
    daemon = nailupd(upstreams=["127.0.0.1"])
    config = make_config({"server": {"listen": [daemon.server]}}, upstreams=["127.0.0.1"])
    done = run("-c", write(tmp_path, config))
    assert done.returncode == 3
    assert daemon.server in done.stderr and "server.listen" in done.stderr
    assert daemon.status()["version"]


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/usr/bin/setpriv"),
                    reason="needs root and setpriv to give privileges away")
def test_a_port_without_permission_exits_with_3_and_says_what_to_do(tmp_path, make_config):
    config = make_config({"server": {"listen": ["127.0.0.1@53"]}}, upstreams=["127.0.0.1@5353"])
    path = write(tmp_path, config)
    lowest = int(open("/proc/sys/net/ipv4/ip_unprivileged_port_start").read())
    if lowest <= 53:
        pytest.skip("this system gives low ports to everybody")
    done = subprocess.run(["setpriv", "--bounding-set", "-net_bind_service", "--inh-caps",
                           "-net_bind_service", program("nailupd"), "-c", str(path)],
                          text=True, capture_output=True, timeout=20)
    assert done.returncode == 3
    assert "choose a port above 1023 or grant CAP_NET_BIND_SERVICE" in done.stderr


def test_an_address_of_another_machine_exits_with_3(tmp_path, make_config):
    config = make_config({"server": {"listen": ["192.0.2.1@5353"]}}, upstreams=["127.0.0.1"])
    done = run("-c", write(tmp_path, config))
    assert done.returncode == 3
    assert "192.0.2.1@5353" in done.stderr


def test_one_address_that_the_machine_lacks_is_only_a_warning(nailupd, responder, dig):
    listen = "%s@%d" % free_address()
    daemon = nailupd({"server": {"listen": [listen, "192.0.2.1@5353"]}}, upstreams=[responder()])
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert "192.0.2.1@5353" in daemon.log()
    assert [row["address"] for row in daemon.ask("status")["listening"]] == [listen]


def test_a_control_socket_without_its_directory_exits_with_3(tmp_path, make_config):
    config = make_config({"control": {"socket": str(tmp_path / "no/such/control.sock")}},
                         upstreams=["127.0.0.1"])
    done = run("-c", write(tmp_path, config))
    assert done.returncode == 3
    assert "control.socket" in done.stderr and "create it" in done.stderr


def test_a_file_in_the_place_of_the_control_socket_is_not_removed(tmp_path, make_config):
    precious = tmp_path / "precious"
    precious.write_text("data")
    config = make_config({"control": {"socket": str(precious)}}, upstreams=["127.0.0.1"])
    assert run("-c", write(tmp_path, config)).returncode == 3
    assert precious.read_text() == "data"


def test_the_control_socket_of_a_living_daemon_is_respected(tmp_path, nailupd, make_config):
    daemon = nailupd(upstreams=["127.0.0.1"])
    config = make_config({"control": {"socket": daemon.socket_path}}, upstreams=["127.0.0.1"])
    done = run("-c", write(tmp_path, config))
    assert done.returncode == 3
    assert "another daemon" in done.stderr
    assert daemon.status()["pid"] == daemon.process.pid


def test_the_control_socket_of_a_dead_daemon_is_replaced(nailupd):
    dead = nailupd(upstreams=["127.0.0.1"])
    dead.process.kill()
    dead.process.wait(10)
    assert os.path.exists(dead.socket_path)
    daemon = nailupd({"control": {"socket": dead.socket_path}}, upstreams=["127.0.0.1"])
    assert daemon.status()["pid"] == daemon.process.pid


# ---- signals ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_soon(nailupd, responder, number):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=2)
    assert daemon.stop(number, within=3) == 0
    assert "stopped after" in daemon.log()
    assert not os.path.exists(daemon.socket_path)


def test_idle_clients_and_clients_of_the_control_socket_do_not_delay_the_end(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=2)
    clients = [socket.create_connection((daemon.ip, daemon.port), 5) for _ in range(20)]
    clients[0].sendall(b"\0\x20half")
    control = socket.socket(socket.AF_UNIX)
    control.connect(daemon.socket_path)
    control.sendall(b"stat")
    time.sleep(0.1)
    assert daemon.stop(within=3) == 0
    for client in clients:
        client.close()
    control.close()


def test_a_query_that_waits_is_answered_before_the_end(nailupd, responder):
    daemon = nailupd(upstreams=[responder("--delay", "1000")])
    dig = subprocess.Popen(["dig", f"@{daemon.ip}", "-p", str(daemon.port), "+tries=1",
                            "www.example.org", "A"], stdout=subprocess.PIPE, text=True)
    eventually(lambda: daemon.metrics()["cache_misses_total"] == 1)
    assert daemon.stop(within=4) == 0
    assert "status: NOERROR" in dig.communicate(timeout=5)[0]


def test_a_query_that_is_never_answered_delays_the_end_by_seconds_only(nailupd, responder):
    upstream = responder("--loss", "100")
    daemon = nailupd({"upstream": {"query-timeout": "60s"}}, upstreams=[upstream])
    with socket.create_connection((daemon.ip, daemon.port), 5) as client:
        client.sendall(QUERY)
        eventually(lambda: daemon.status()["in_flight"] >= 1)
        assert daemon.stop(within=20) == 0


def test_a_second_signal_does_not_wait(nailupd, responder):
    upstream = responder("--loss", "100")
    daemon = nailupd({"upstream": {"query-timeout": "60s"}}, upstreams=[upstream])
    with socket.create_connection((daemon.ip, daemon.port), 5) as client:
        client.sendall(QUERY)
        eventually(lambda: daemon.status()["in_flight"] >= 1)
        daemon.send(signal.SIGTERM)
        eventually(lambda: "draining" in daemon.log())
        assert daemon.stop(within=3) == 0


def test_a_check_learns_of_the_drain_and_no_other_command_runs(nailupd, responder):
    upstream = responder("--loss", "100")
    daemon = nailupd({"upstream": {"query-timeout": "60s"}}, upstreams=[upstream])
    assert daemon.ctl("status", "--check").returncode == 0
    with socket.create_connection((daemon.ip, daemon.port), 5) as client:
        client.sendall(QUERY)
        eventually(lambda: daemon.status()["in_flight"] >= 1)
        daemon.send(signal.SIGTERM)
        eventually(lambda: "draining" in daemon.log())
        done = daemon.ctl("status", "--check")
        assert done.returncode == 1 and "draining" in done.stdout, done
        done = daemon.ctl("status")
        assert done.returncode == 1 and "stopping" in done.stderr, done
        assert daemon.stop(within=3) == 0
    assert daemon.ctl("status", "--check").returncode == 3


def test_a_check_tells_that_no_upstream_answers(nailupd):
    ip, port = free_address()
    daemon = nailupd({"upstream": {"fallback": "none"}}, upstreams=[f"{ip}@{port}"], nailed=[ip])
    eventually(lambda: daemon.ask("check")["check"]["reasons"] == "no upstream answers", 20)
    assert daemon.ctl("status", "--check").returncode == 0
    assert daemon.ctl("status", "--check", "--require-upstream").returncode == 1


def test_workers_that_asked_no_upstream_do_not_hide_that_none_answers(nailupd):
    ip, port = free_address()
    daemon = nailupd(upstreams=[f"{ip}@{port}"], workers=2)
    assert daemon.ask("check")["check"]["state"] == "ready"
    with socket.create_connection((daemon.ip, daemon.port), 5) as client:  # only one worker has sent it
        for number in range(6):
            name = bytes([4]) + b"www%d" % number
            client.sendall(b"\0\x1e\0\x07\1\0\0\1\0\0\0\0\0\0" + name + b"\7example\0\0\1\0\1")
            client.recv(512)
    eventually(lambda: daemon.ask("check")["check"]["reasons"] == "no upstream answers", 20)


def test_recursion_is_named_where_a_name_is_resolved_by_it(nailupd, responder):
    upstream = responder()
    forwarder = nailupd({"recursion": {"enabled": True}}, upstreams=[upstream])  # of all names
    assert "recursion: no" in forwarder.log() and not forwarder.ask("zones")["recursion"]["from_the_root"]
    fallback = {"forward-zones": [{"name": ".", "upstreams": upstream.servers, "first": True}],
                "recursion": {"enabled": True}}
    resolver = nailupd(fallback)
    assert "recursion: yes" in resolver.log() and resolver.ask("zones")["recursion"]["from_the_root"]


def test_the_log_names_listeners_and_nailed_addresses(nailupd, responder):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True)
    assert f"listening on {daemon.server}" in daemon.log()
    assert "forward zones: 1" in daemon.log()
    assert f"nailed: {upstream.ip}" in daemon.log()


# ---- nailupctl ----


def test_help_needs_no_daemon():
    done = subprocess.run([program("nailupctl"), "help"], text=True, capture_output=True)
    assert done.returncode == 0
    for verb in ("status", "stats", "connections", "upstreams [PREFIX]", "recycle [PREFIX]", "help"):
        assert f"\n  {verb}\n" in done.stdout
    done = subprocess.run([program("nailupctl"), "--json", "help"], text=True, capture_output=True)
    assert [row["command"] for row in json.loads(done.stdout)["commands"]][0] == "status"


def test_without_a_daemon_it_exits_with_3(tmp_path):
    done = subprocess.run([program("nailupctl"), "-s", str(tmp_path / "none"), "status"],
                          text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert str(tmp_path / "none") in done.stderr


@pytest.mark.parametrize("words", [[], ["nonsense"], ["status", "more"], ["recycle", "a", "b"],
                                   ["recycle", ""], ["recycle", "a\tb"], ["--nonsense"], ["-s"]])
def test_wrong_words_exit_with_2(words):
    done = subprocess.run([program("nailupctl"), *words], text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_a_request_the_daemon_refuses_exits_with_1(nailupd):
    done = nailupd(upstreams=["127.0.0.1"]).ctl("recycle", "nonsense")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nonsense" in done.stderr


@pytest.mark.parametrize("verb", ["status", "stats", "connections", "upstreams", "recycle", "help"])
def test_every_command_prints_text_and_json(nailupd, responder, dig, verb):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=2)
    dig(daemon, "www.example.org")
    text = daemon.ctl(verb)
    assert (text.returncode, text.stderr) == (0, "")
    assert all(line == line.rstrip() for line in text.stdout.splitlines())
    assert daemon.ask(verb)


def test_status_reports_the_state_of_the_daemon(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()], workers=2)
    for _ in range(4):
        dig(daemon, "www.example.org")
    status = daemon.ask("status")
    reported = status["daemon"]
    assert (reported["pid"], reported["workers"]) == (daemon.process.pid, 2)
    assert (reported["queries"], reported["hits"], reported["misses"], reported["hit_ratio"]) == (4, 3, 1, 0.75)
    assert 0 < reported["uptime_seconds"] < 60
    assert reported["config"] == str(daemon.config_path)
    assert status["cache"]["entries"] == 1
    assert status["cache"]["size_bytes"] <= status["cache"]["limit_bytes"]
    assert status["listening"] == [{"address": daemon.server, "protocols": "udp tcp"}]


def test_stats_has_every_row_of_the_table(nailupd):
    daemon = nailupd(upstreams=["127.0.0.1"])
    table = (ROOT / "include/nailup/metrics.def").read_text()
    names = re.findall(r'^METRIC\(\w+, "(\w+)"', table, re.M)
    histograms = re.findall(r'^HISTOGRAM\(\w+, "(\w+)"', table, re.M)
    reported = daemon.ask("stats")
    assert [row["metric"] for row in reported["metrics"]] == ["nailup_" + name for name in names]
    assert [row["metric"] for row in reported["times"]] == ["nailup_" + name for name in histograms]


def test_upstreams_are_shown_with_their_queries_and_health(nailupd, responder, dig):
    upstream = responder("--delay", "3")
    daemon = nailupd(upstreams=[upstream])
    dig(daemon, "www.example.org")
    (row,) = daemon.upstreams()
    assert (row["upstream"], row["transport"], row["nailed"]) == (upstream.server, "udp", False)
    assert (row["queries"], row["answers"], row["health"]) == (1, 1, "good")
    assert row["udp_rtt_seconds"] >= 0.003
    assert row["stream_rtt_seconds"] is None


def test_an_upstream_that_refuses_is_shown_resting(nailupd):
    server = "%s@%d" % free_address()
    daemon = nailupd(upstreams=[server], nailed=True)
    eventually(lambda: daemon.connections() and daemon.connections()[0]["state"] == "resting")
    conn = daemon.connections()[0]
    assert conn["last_close"] == "dial refused"


def test_the_control_socket_is_for_owner_and_group(nailupd):
    daemon = nailupd(upstreams=["127.0.0.1"])
    assert stat.S_IMODE(os.stat(daemon.socket_path).st_mode) == 0o660


def test_hostile_clients_of_the_control_socket_do_no_harm(nailupd):
    daemon = nailupd(upstreams=["127.0.0.1"], workers=2)
    held = []
    for data in [b"", b"status", b"x" * 10000, b"\0\n", b"\n", b"\t\t\n", b"status\tmore\n",
                 b"nonsense\n", b"connections\n", b"stats\nstats\nstats\n"]:
        for leave in ("close", "stay"):
            client = socket.socket(socket.AF_UNIX)
            client.connect(daemon.socket_path)
            client.settimeout(0.5)
            try:
                client.sendall(data)
            except OSError:
                pass
            if leave == "close":
                client.close()
            else:
                held.append(client)
    eventually(lambda: daemon.ctl("status").returncode == 0)
    replies = []
    for client in held:
        try:
            replies.append(client.recv(65536))
        except OSError:
            replies.append(None)
        client.close()
    assert all(reply is None or reply == b"" or reply.startswith((b"ok\n", b"refused\t"))
               for reply in replies)
    assert daemon.status()["pid"] == daemon.process.pid


def test_many_clients_of_the_control_socket_are_served_one_after_the_other(nailupd):
    daemon = nailupd(upstreams=["127.0.0.1"], workers=2)
    asked = [subprocess.Popen([program("nailupctl"), "-s", daemon.socket_path, "upstreams"],
                              stdout=subprocess.DEVNULL) for _ in range(40)]
    assert [one.wait(20) for one in asked] == [0] * 40
