# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Changes to a running daemon: another configuration, servers of zones set at run time, and its end by command. Most
basic first."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading

import pytest

from conftest import eventually, free_address, merge, program


def config_of(daemon):
    return json.loads(daemon.config_path.read_text())


def write(daemon, more):
    """Changes the daemon's file by `more`. The value None removes a key."""
    config = merge(config_of(daemon), more)
    daemon.config_path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def reload(daemon):
    """Runs nailupctl reload, which must succeed. Returns (record, {key: change})."""
    answer = daemon.ask("reload")
    return answer["reload"], {change["key"]: change for change in answer["changes"]}


def refused(daemon, *words):
    """Runs a command that the daemon must refuse. Returns the message of nailupctl."""
    done = daemon.ctl(*words)
    assert done.returncode == 1, done.stdout
    return done.stderr


class At:
    """An address to which dig sends queries."""

    def __init__(self, server):
        self.ip, _, port = server.rpartition("@")
        self.port = int(port)


def zone(name, *upstreams, **more):
    servers = [server for up in upstreams for server in getattr(up, "servers", [up])]
    return {"name": name, "upstreams": servers} | more


class Load:
    """Runs nailup-bench load beside another action."""

    def __init__(self, server, *options, rate=500, duration=2):
        self.process = subprocess.Popen(
            [program("nailup-bench"), "load", "--server", server, "--rate", str(rate), "--duration",
             str(duration), "--timeout", "8000", "--json", *options], stdout=subprocess.PIPE,
            text=True)

    def report(self):
        return json.loads(self.process.communicate(timeout=60)[0])


# ---- a file ----


def test_a_reload_without_a_change_changes_nothing(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=2)
    assert dig(daemon, "www.example.org").status == "NOERROR"
    before = daemon.connections()
    done, changes = reload(daemon)
    assert changes == {} and done["changed"] == 0 and done["forward_zones"] == 1
    assert done["config"] == str(daemon.config_path)
    after = daemon.connections()
    assert [c["requests"] for c in after] == [c["requests"] for c in before]
    assert all(c["last_close"] == "" for c in after)
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert daemon.metrics()["cache_hits_total"] == 1


def test_a_reload_of_an_empty_file_changes_nothing(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    text = daemon.config_path.read_text()
    for nothing in ("", "# only a comment\n", "---\n"):
        daemon.config_path.write_text(nothing)
        assert "1:1: error: file: has no option" in refused(daemon, "reload"), nothing
        assert dig(daemon, "www.example.org").status == "NOERROR"
    daemon.config_path.write_text(text)
    done, changes = reload(daemon)
    assert changes == {} and done["changed"] == 0


def blocks_sighup(process):
    """True if the process waits for SIGHUP itself, instead of ending with it."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"^SigBlk:\t(\w+)$", status, re.M)[1], 16) >> signal.SIGHUP - 1 & 1


def test_sighup_during_the_start_reloads_after_it(make_config, tmp_path):
    names, path, log = tmp_path / "names", tmp_path / "nailup.yaml", tmp_path / "log"
    names.write_text("".join(f"n{i}.example\n" for i in range(500000)))  # nailupd reads this for a while
    path.write_text(json.dumps(make_config({"block-lists": [{"file": str(names)}]})))
    with open(log, "w") as errors:
        process = subprocess.Popen([program("nailupd"), "-c", str(path)], stderr=errors, stdin=subprocess.DEVNULL)
    eventually(lambda: blocks_sighup(process))
    process.send_signal(signal.SIGHUP)
    try:
        eventually(lambda: "is in effect after" in log.read_text())
    finally:
        process.terminate()
    assert process.wait(60) == 0


def test_sighup_reloads_too(nailupd, responder):
    daemon = nailupd(upstreams=[responder()])
    write(daemon, {"log": {"level": "debug"}})
    daemon.send(signal.SIGHUP)
    eventually(lambda: "is in effect after" in daemon.log())
    assert f"SIGHUP: reading {daemon.config_path}" in daemon.log()
    assert "changed keys: 1: log.level" in daemon.log()
    metrics = daemon.metrics()
    assert metrics['reloads_total{result="ok"}'] == 1
    assert metrics['reloads_total{result="failed"}'] == 0
    assert metrics["config_last_reload_successful"] == 1
    assert (metrics["config_last_reload_success_timestamp_seconds"] >=
            metrics["start_time_seconds"])


def test_zones_and_upstreams_change_and_the_cache_stays(nailupd, responder, dig):
    first, second = responder(), responder()
    daemon = nailupd(upstreams=[first], workers=2)
    assert dig(daemon, "www.example.org").status == "NOERROR"
    write(daemon, {"forward-zones": [zone(".", second), zone("corp.example", first)]})
    changes = reload(daemon)[1]
    assert list(changes) == ["forward-zones"]
    assert changes["forward-zones"]["after"] == "2 zones"
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert (first.stats()["udp_queries"], second.stats()["udp_queries"]) == (1, 0)
    for _ in range(4):
        dig(daemon, "a.example.org")
        dig(daemon, "a.corp.example")
    assert (first.stats()["udp_queries"], second.stats()["udp_queries"]) == (2, 1)


def test_names_that_are_answered_here_now_are_so_at_once(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()], workers=2)
    assert dig(daemon, "www.example.org").data and dig(daemon, "www.example.net").data
    write(daemon, {"local-zones": [{"name": "example.org", "action": "nxdomain"}]})
    assert reload(daemon)[0]["forgotten_answers"] == 1
    for _ in range(4):
        assert dig(daemon, "www.example.org").status == "NXDOMAIN"
    assert dig(daemon, "www.example.net").status == "NOERROR"
    write(daemon, {"local-zones": None})
    reload(daemon)
    assert dig(daemon, "www.example.org").status == "NOERROR"


def test_other_files_are_read_again(nailupd, responder, dig, tmp_path):
    block, hosts = tmp_path / "block", tmp_path / "hosts"
    block.write_text("bad.example\n")
    hosts.write_text("192.0.2.1 nas.example\n")
    daemon = nailupd({"block-lists": [{"file": str(block)}], "hosts-file": str(hosts)},
                     upstreams=[responder()])
    assert dig(daemon, "bad.example").status == "NXDOMAIN"
    assert dig(daemon, "worse.example").status == "NOERROR"
    block.write_text("worse.example\nwhat is this\n")
    hosts.write_text("192.0.2.2 nas.example\n")
    assert reload(daemon)[0]["changed"] == 0
    assert dig(daemon, "bad.example").status == "NOERROR"
    assert dig(daemon, "worse.example").status == "NXDOMAIN"
    assert dig(daemon, "nas.example").data == ["192.0.2.2"]
    assert f"{block}:2:" in daemon.log()


def test_changes_that_need_a_restart_are_reported_and_the_rest_applied(nailupd, responder, tmp_path):
    daemon = nailupd(upstreams=[responder()])
    write(daemon, {"server": {"workers": 3}, "cache": {"size": "7MiB", "max-ttl": "1h"},
                   "control": {"socket": str(tmp_path / "elsewhere.sock")}})
    for _ in range(2):  # the next reload reports them again
        done, changes = reload(daemon)
        assert done["needing_restart"] == 3
        assert changes["server.workers"] == {"key": "server.workers", "effect": "needs a restart",
                                             "before": "1", "after": "3"}
        assert changes["cache.size"]["before"] == "128MiB"
        assert changes["control.socket"]["before"] == f'"{daemon.socket_path}"'
    assert daemon.log().count("server.workers needs a restart: it stays 1 until then; the file says 3") == 2
    assert daemon.ask("status")["cache"]["limit_bytes"] == 128 << 20
    assert daemon.status()["workers"] == 1


@pytest.mark.parametrize("by_signal", [True, False])
def test_a_file_with_errors_changes_nothing_and_all_errors_are_reported(nailupd, responder, dig, by_signal):
    daemon = nailupd(upstreams=[responder()])
    good = daemon.config_path.read_text()
    daemon.config_path.write_text("server: {max-clients: none}\nnonsense: 1\nlog: {level: loud}\n")
    if by_signal:
        daemon.send(signal.SIGHUP)
        eventually(lambda: "reload failed" in daemon.log())
        said = daemon.log()
    else:
        said = refused(daemon, "reload")
        assert f"errors in {daemon.config_path}: 3" in said
    for place in ("1:23: error: server.max-clients", "2:1: error: nonsense", "3:14: error: log.level"):
        assert f"{daemon.config_path}:{place}" in said, said
        assert f"{daemon.config_path}:{place}" in daemon.log()
    status = daemon.status()
    assert status["reload_error"].startswith(f"{daemon.config_path}:1:23: error:")
    assert daemon.metrics()["config_last_reload_successful"] == 0
    assert dig(daemon, "www.example.org").status == "NOERROR"
    daemon.config_path.write_text(good)
    assert reload(daemon)[0]["changed"] == 0
    status = daemon.status()
    assert status["reload_error"] == "" and status["config_age_seconds"] < status["uptime_seconds"]
    assert daemon.metrics()['reloads_total{result="failed"}'] == 1


def test_a_missing_file_is_reported(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    daemon.config_path.unlink()
    assert "cannot be read: No such file or directory" in refused(daemon, "reload")
    assert dig(daemon, "www.example.org").status == "NOERROR"


def test_a_new_address_that_another_has_changes_nothing(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
        other.bind((daemon.ip, 0))
        other.listen()
        taken = f"{daemon.ip}@{other.getsockname()[1]}"
        write(daemon, {"server": {"listen": [daemon.server, taken]}, "log": {"level": "error"}})
        said = refused(daemon, "reload")
        assert f"nothing was changed: cannot listen on {taken}: " in said
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert list(reload(daemon)[1]) == ["server.listen", "log.level"]
    assert dig(At(taken), "www.example.org").status == "NOERROR"


def test_options_of_clients_hold_for_the_next_query(nailupd, responder, dig):
    daemon = nailupd({"server": {"identity": "one"}}, upstreams=[responder()], workers=2)
    assert dig(daemon, "www.example.org").status == "NOERROR"
    write(daemon, {"server": {"identity": "two", "access": [{"prefix": "127.0.0.0/8",
                                                             "action": "refuse"}]}})
    assert set(reload(daemon)[1]) == {"server.access", "server.identity"}
    for _ in range(4):
        assert dig(daemon, "www.example.org").status == "REFUSED"
    write(daemon, {"server": {"access": [{"prefix": "127.0.0.0/8", "action": "allow"}]}})
    reload(daemon)
    for _ in range(4):
        assert dig(daemon, "id.server", "TXT", "-c", "CH").data == ['"two"']


def test_addresses_come_and_go(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()], workers=2)
    more = At("%s@%d" % free_address(daemon.ip))
    text = f"{more.ip}@{more.port}"
    write(daemon, {"server": {"listen": [daemon.server, text]}})
    assert reload(daemon)[1]["server.listen"]["after"] == f"[{daemon.server}, {text}]"
    assert dig(more, "a.example.org").status == "NOERROR"
    assert dig(more, "a.example.org", "A", "+tcp").status == "NOERROR"
    assert [row["address"] for row in daemon.ask("status")["listening"]] == [daemon.server, text]
    write(daemon, {"server": {"listen": [text]}})
    reload(daemon)
    assert [row["address"] for row in daemon.ask("status")["listening"]] == [text]
    assert dig(more, "b.example.org").status == "NOERROR"
    eventually(lambda: dig(daemon, "b.example.org").status is None)
    write(daemon, {"server": {"listen": [daemon.server, text]}})
    reload(daemon)
    assert dig(daemon, "b.example.org").status == "NOERROR"


def test_no_query_is_lost_and_the_unchanged_upstream_keeps_its_connections(nailupd, responder):
    kept, changed = responder(), responder()
    daemon = nailupd({"forward-zones": [zone("kept.example", kept), zone(".", changed)],
                      "tcp-upstream-keepalive": [kept.ip, changed.ip]}, workers=2)
    eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"] * 4)
    dialled = kept.stats()["connections_opened"]
    loads = [Load(daemon.server, "--suffix", "kept.example"), Load(daemon.server),
             Load(daemon.server, "--transport", "tcp", "--suffix", "kept.example", rate=200),
             Load(daemon.server, "--zipf", "1", "--names", "20", rate=200)]
    more = "%s@%d" % free_address(daemon.ip)
    for turn in range(6):
        write(daemon, {
            "server": {"listen": [daemon.server] + [more] * (turn % 2)},
            "tcp-upstream-keepalive": [
                kept.ip, {"prefix": changed.ip, "max-in-flight": 100 + turn}],
            "forward-zones": [zone("kept.example", kept), zone(".", changed)] +
                             [zone("more.example", changed)] * (turn % 2)})
        reload(daemon)
    for load in loads:
        report = load.report()
        assert report["answered"] == report["sent"] > 0, report
        assert list(report["rcodes"]) == ["NOERROR"]
    assert kept.stats()["connections_opened"] == dialled
    assert changed.stats()["connections_opened"] > 2
    assert daemon.metrics()["cache_hits_total"] > 0
    assert {c["max_requests"] for c in daemon.connections()} == {10000}


def test_a_hundred_signals_in_a_row_are_a_few_reloads(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()], workers=2)
    for _ in range(100):
        daemon.send(signal.SIGHUP)
    assert reload(daemon)[0]["changed"] == 0
    assert 1 <= daemon.metrics()['reloads_total{result="ok"}'] <= 101
    assert dig(daemon, "www.example.org").status == "NOERROR"


def test_commands_at_the_same_time_are_all_answered(nailupd, responder):
    daemon = nailupd(upstreams=[responder()])
    done = []
    threads = [threading.Thread(target=lambda: done.append(daemon.ctl("reload").returncode))
               for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [0] * 12
    assert daemon.metrics()['reloads_total{result="ok"}'] <= 12


def ask_tcp(daemon, name):
    """Starts a dig over TCP that waits. Returns the Popen."""
    return subprocess.Popen(["dig", f"@{daemon.ip}", "-p", str(daemon.port), "+tcp", "+tries=1",
                             "+timeout=15", name, "A"], stdout=subprocess.PIPE, text=True)


def test_a_waiting_question_is_answered_by_the_old_configuration(nailupd, responder, dig):
    slow, quick = responder("--delay", "1500"), responder()
    daemon = nailupd(upstreams=[slow])
    waiting = ask_tcp(daemon, "www.example.org")
    eventually(lambda: daemon.metrics()["cache_misses_total"] == 1)
    for turn in range(8):  # more reloads than there may be configurations at once
        write(daemon, {"forward-zones": [zone(".", quick)], "cache": {"min-ttl": f"{turn}s"}})
        reload(daemon)
    assert dig(daemon, "b.example.org").status == "NOERROR"
    assert "status: NOERROR" in waiting.communicate(timeout=20)[0]
    assert slow.stats()["udp_queries"] + slow.stats()["tcp_queries"] >= 1


def test_an_upstream_that_hangs_does_not_hold_up_a_reload(nailupd, responder, dig):
    hanging, good = responder("--loss", "100", "--tcp-silent"), responder()
    daemon = nailupd({"upstream": {"query-timeout": "30s"}}, upstreams=[hanging], nailed=True)
    waiting = ask_tcp(daemon, "www.example.org")
    eventually(lambda: daemon.status()["in_flight"] >= 1)
    write(daemon, {"forward-zones": [zone(".", good)], "tcp-upstream-keepalive": None})
    reload(daemon)
    assert dig(daemon, "www.example.org").status == "NOERROR"
    waiting.kill()
    waiting.communicate()


# ---- servers of zones ----


def forwards(daemon):
    return [(row["zone"], row["server"], row["transport"])
            for row in daemon.ask("forward")["forwards"]]


def test_a_zone_gets_other_servers_and_loses_them_again(nailupd, responder, dig):
    normal, vpn = responder(), responder()
    daemon = nailupd(upstreams=[normal], workers=2)
    assert dig(daemon, "nx.corp.example").status == "NXDOMAIN"
    assert daemon.ask("forward", "corp.example", vpn.server)["forward"] == {
        "zone": "corp.example.", "servers": 1, "changed": True}
    assert forwards(daemon) == [("corp.example.", vpn.server, "udp")]
    for _ in range(4):  # each worker answers, and its cache has nothing from before
        assert dig(daemon, "nx.corp.example").status == "NXDOMAIN"
    assert dig(daemon, "www.example.org").status == "NOERROR"
    assert (normal.stats()["udp_queries"], vpn.stats()["udp_queries"]) == (2, 1)
    assert not daemon.ask("forward", "Corp.Example.", vpn.server)["forward"]["changed"]
    reload(daemon)
    assert forwards(daemon) == [("corp.example.", vpn.server, "udp")]
    assert dig(daemon, "b.corp.example").status == "NOERROR"
    assert (normal.stats()["udp_queries"], vpn.stats()["udp_queries"]) == (2, 2)
    assert daemon.ask("forward", "corp.example", "off")["forward"]["changed"]
    assert not daemon.ask("forward", "corp.example", "off")["forward"]["changed"]
    assert forwards(daemon) == []
    assert dig(daemon, "b.corp.example").status == "NOERROR"
    assert (normal.stats()["udp_queries"], vpn.stats()["udp_queries"]) == (3, 2)


@pytest.mark.parametrize("name", ["home.arpa", "10.in-addr.arpa", "168.192.in-addr.arpa", "local"])
def test_names_of_special_use_make_way_for_a_zone_that_is_set(nailupd, responder, dig, name):
    normal, vpn = responder(), responder()
    daemon = nailupd({"server": {"default-local-zones": "yes"},
                      "local-data": [f"mine.{name} A 192.0.2.9"]}, upstreams=[normal], workers=2)
    assert dig(daemon, f"a.{name}").status == "NXDOMAIN"
    assert daemon.ask("forward", name, vpn.server)["forward"]["changed"]
    for number in range(4):  # each worker answers
        assert dig(daemon, f"a{number}.{name}").status == "NOERROR"
    assert vpn.stats()["udp_queries"] == 4
    assert "192.0.2.9" in dig(daemon, f"mine.{name}").data
    write(daemon, {"cache": {"min-ttl": "1s"}})
    reload(daemon)
    assert dig(daemon, f"a0.{name}").status == "NOERROR"
    assert vpn.stats()["udp_queries"] == 4  # the answer is still in the cache
    assert daemon.ask("forward", name, "off")["forward"]["changed"]
    for _ in range(4):
        assert dig(daemon, f"a0.{name}").status == "NXDOMAIN"
    assert (normal.stats()["udp_queries"], vpn.stats()["udp_queries"]) == (0, 4)


def test_local_data_of_the_operator_makes_no_path(nailupd, responder, dig, tmp_path):
    (tmp_path / "blocked").write_text("ads.home.arpa\n")
    daemon = nailupd({"server": {"default-local-zones": "yes"},
                      "local-zones": [{"name": "mine.home.arpa", "action": "nxdomain"}],
                      "block-lists": [{"file": str(tmp_path / "blocked"), "action": "nxdomain"}]},
                     upstreams=[responder()])
    for name in ("mine.home.arpa", "x.mine.home.arpa", "ads.home.arpa"):
        assert "is answered by local-zones" in refused(daemon, "forward", name, "192.0.2.1")
    daemon.ask("forward", "home.arpa", "192.0.2.1")
    assert dig(daemon, "x.mine.home.arpa").status == "NXDOMAIN"
    assert dig(daemon, "ads.home.arpa").status == "NXDOMAIN"


def test_all_names_get_other_servers_and_the_cache_stays(nailupd, responder, dig):
    first, second = responder(), responder()
    daemon = nailupd(upstreams=[first])
    dig(daemon, "a.example")
    assert daemon.ask("forward", ".", second.server)["forward"]["changed"]
    dig(daemon, "a.example")
    dig(daemon, "b.example")
    assert (first.stats()["udp_queries"], second.stats()["udp_queries"]) == (1, 1)


@pytest.mark.parametrize("words, sentence", [
    (["a..b", "192.0.2.1"], "is not a zone name"), (["corp.example", "nonsense"], "is not a server address"),
    (["corp.example"], "name the servers of corp.example, or off"),
    (["corp.example", "192.0.2.1#dns.example"], "would be asked over udp"),
    (["corp.example", "192.0.2.1", "192.0.2.1"], "is given twice"),
    (["corp.example", "192.0.2.1", "off"], "'off' is not a server address")])
def test_unusable_servers_are_refused(nailupd, responder, words, sentence):
    daemon = nailupd(upstreams=[responder()])
    assert sentence in refused(daemon, "forward", *words)
    assert forwards(daemon) == []


def test_strict_tls_is_not_weakened(nailupd, responder):
    upstream = responder(transport="tls")
    daemon = nailupd({"forward-zones": [zone("corp.example", upstream), zone(".", "192.0.2.53")],
                      "tcp-upstream-keepalive": [{"prefix": upstream.ip, "transport": "tls"}]})
    said = refused(daemon, "forward", "corp.example", "192.0.2.1")
    assert "corp.example. is asked over strict TLS, but 192.0.2.1@53 would not be" in said


def test_a_file_revokes_zones_that_it_does_not_allow(nailupd, responder):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream])
    daemon.ask("forward", "corp.example", upstream.server)
    daemon.ask("forward", "home.example", upstream.server)
    write(daemon, {"local-zones": [{"name": "corp.example", "action": "refuse"}]})
    reload(daemon)
    assert [row[0] for row in forwards(daemon)] == ["home.example."]
    assert "the servers that were set for corp.example. are removed" in daemon.log()


def test_a_hook_that_sets_many_zones_is_served_quickly(nailupd, responder, dig):
    slow, quick = responder("--delay", "1500"), responder()
    daemon = nailupd(upstreams=[slow])
    waiting = ask_tcp(daemon, "www.example.org")
    eventually(lambda: daemon.metrics()["cache_misses_total"] == 1)
    for number in range(20):
        daemon.ask("forward", f"z{number}.example", quick.server)
    assert len(forwards(daemon)) == 20
    assert dig(daemon, "www.z19.example").status == "NOERROR"
    assert "status: NOERROR" in waiting.communicate(timeout=20)[0]


# ---- the end ----


def test_drain_ends_the_daemon_after_waiting_queries_are_answered(nailupd, responder):
    daemon = nailupd(upstreams=[responder("--delay", "1000")], workers=2)
    waiting = ask_tcp(daemon, "www.example.org")
    eventually(lambda: daemon.metrics()["cache_misses_total"] == 1)
    assert daemon.ask("drain")["drain"]["pid"] == daemon.process.pid
    assert daemon.process.wait(20) == 0
    assert "status: NOERROR" in waiting.communicate(timeout=20)[0]
    assert "nailupctl drain: draining, then stopping" in daemon.log()


def test_a_signal_after_drain_does_not_wait(nailupd, responder):
    daemon = nailupd({"upstream": {"query-timeout": "60s"}},
                     upstreams=[responder("--loss", "100", "--tcp-silent")])
    waiting = ask_tcp(daemon, "www.example.org")
    eventually(lambda: daemon.metrics()["cache_misses_total"] == 1)
    daemon.ask("drain")
    daemon.send(signal.SIGHUP)
    eventually(lambda: "SIGHUP: not reloading, because the daemon is stopping" in daemon.log())
    assert daemon.stop(within=20) == 0
    assert "SIGTERM again: stopping at once" in daemon.log()
    waiting.communicate(timeout=20)


def test_a_stop_wins_over_a_reload(nailupd, responder, tmp_path):
    block = tmp_path / "block"
    block.write_text("bad.example\n")
    daemon = nailupd({"block-lists": [{"file": str(block)}]}, upstreams=[responder()])
    block.write_text("".join(f"n{number}.example\n" for number in range(200000)))
    command = subprocess.Popen([program("nailupctl"), "-s", daemon.socket_path, "reload"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    eventually(lambda: re.search("reload", daemon_threads(daemon)) or command.poll() is not None)
    assert daemon.stop() == 0
    out, err = command.communicate(timeout=20)
    assert (command.returncode, "nailupd is stopping" in err) in [(1, True), (0, False)], err


def daemon_threads(daemon):
    """Returns the names of the running threads."""
    done = subprocess.run(["ps", "-L", "-o", "comm=", "-p", str(daemon.process.pid)], text=True,
                          capture_output=True)
    return done.stdout


# ---- the captive portal ----


def test_a_portal_is_asked_in_plain_text_until_its_end_and_nothing_of_it_remains(nailupd, responder, dig):
    router = responder()
    ip, port = free_address()  # the captive network hides the strict server
    strict = {"forward-zones": [{"name": ".", "upstreams": [f"{ip}@{port}#dns.example"], "transport": "tls"}],
              "cache": {"failure-ttl": "1s"}}
    daemon = nailupd(strict)
    assert daemon.ctl("forward", ".", f"{router.ip}@{router.port}").returncode == 0
    assert dig(daemon, "forwarded.example").status == "SERVFAIL"  # the profile is strict, and the router has no TLS
    assert daemon.ctl("forward", ".", "off").returncode == 0
    assert daemon.ctl("portal", "on", f"{router.ip}@{router.port}").returncode == 0
    assert dig(daemon, "www.portal.example").status == "NOERROR"
    shown = daemon.ask("portal")["portals"]
    assert shown[0]["server"] == f"{router.ip}@{router.port}" and \
        590 < shown[0]["ends_in_seconds"] <= 600
    assert "in plain text" in daemon.log()
    assert "a portal is on" in daemon.ask("status")["daemon"]["problems"]
    cached = daemon.ctl("dump-cache").stdout
    assert "portal.example" not in cached, cached
    assert daemon.ctl("reload").returncode == 0
    assert dig(daemon, "www.portal.example").status == "NOERROR"  # the portal survives a reload
    assert daemon.ctl("portal", "off").returncode == 0
    assert dig(daemon, "www.portal.example").status == "SERVFAIL"
    assert daemon.ask("portal")["portals"] == []
    assert daemon.ask("status")["daemon"]["problems"] == ""
    assert daemon.ctl("portal", "on", router.ip).returncode == 0
    assert daemon.ask("portal")["portals"][0]["server"] == router.ip  # the default port is not shown


@pytest.mark.parametrize("dnssec", [{"validate": "no"}, {"validate": "yes", "negative-trust-anchors": ["example"]}])
def test_a_portal_has_a_separate_cache(nailupd, responder, dig, dnssec):
    home, router = responder(), responder()
    daemon = nailupd({"forward-zones": [{"name": ".", "upstreams": [f"{home.ip}@{home.port}"]}], "dnssec": dnssec})

    def asked(name):
        """Returns how many queries the two servers get when a client asks this."""
        before = home.stats()["udp_queries"], router.stats()["udp_queries"]
        assert dig(daemon, name).status == "NOERROR"
        return home.stats()["udp_queries"] - before[0], router.stats()["udp_queries"] - before[1]

    assert asked("www.known.example") == (1, 0)
    assert daemon.ctl("portal", "on", f"{router.ip}@{router.port}").returncode == 0
    assert asked("www.known.example") == (0, 1)  # an answer from before does not hide the portal
    assert asked("www.known.example") == (0, 0)
    assert asked("www.new.example") == (0, 1)
    assert daemon.ctl("portal", "off").returncode == 0
    assert asked("www.known.example") == (0, 0)  # the answer from before is still there
    assert asked("www.new.example") == (1, 0)
    assert daemon.ctl("portal", "on", f"{router.ip}@{router.port}").returncode == 0
    assert asked("www.new.example") == (0, 1)  # nothing of the former portal is left


def test_a_portal_ends_by_itself_and_bad_words_set_none(nailupd, responder, dig):
    router = responder()
    ip, port = free_address()
    daemon = nailupd({"forward-zones": [{"name": ".", "upstreams": [f"{ip}@{port}#dns.example"],
                                         "transport": "tls"}]})
    for words in (["on"], ["on", "router"], ["off", "192.0.2.1"], ["on", "192.0.2.1", "11m"],
                  ["on", "192.0.2.1#dns.example"], ["on", daemon.server]):
        done = daemon.ctl("portal", *words)
        assert done.returncode == 1 and done.stderr, words
    assert daemon.ask("portal")["portals"] == []
    assert daemon.ctl("portal", "on", f"{router.ip}@{router.port}", "1s").returncode == 0
    eventually(lambda: "portal: it has ended" in daemon.log(), 10)
    eventually(lambda: daemon.ask("portal")["portals"] == [], 10)
    assert dig(daemon, "www.late.example").status == "SERVFAIL"
