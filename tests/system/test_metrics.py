# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Metrics over HTTP for curl, Python and Prometheus itself, and logs as JSON. Most basic first."""

import contextlib
import datetime
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest

from conftest import ROOT, Daemon, eventually, free_address, program
from harness import Clock
from peers import Load, load

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"),
                                    reason="promtool (package prometheus) is not installed")
needs_prometheus = pytest.mark.skipif(not shutil.which("prometheus"),
                                      reason="prometheus is not installed")
RULES = ROOT / "conf/prometheus/nailup.rules.yml"
SCRAPE = b"GET /metrics HTTP/1.0\r\n\r\n"
SCRAPES_MAX = 16  # the same as EXPORTER_SCRAPES_MAX
CLOSING_MAX = 2 * 32  # two turns of the loop: each accepts ACCEPTS_PER_TURN, and closes at its end
DASHBOARD = ROOT / "conf/grafana/nailup.json"


class Watched:
    """A daemon that serves metrics."""

    def __init__(self, nailupd, ip="127.0.0.1", config=None, **more):
        self.ip, self.port = free_address(ip)
        self.address = f"[{ip}]:{self.port}" if ":" in ip else f"{ip}:{self.port}"
        self.daemon = nailupd({"metrics": {"listen": f"{self.ip}@{self.port}"}} | (config or {}),
                              **more)

    def ask(self, method="GET", path="/metrics", **more):
        connection = http.client.HTTPConnection(self.ip, self.port, timeout=20)
        connection.request(method, path, **more)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def page(self):
        answer, text = self.ask()
        assert answer.status == 200
        return text

    def numbers(self):
        """Returns the metrics as {'nailup_queries_total{protocol="udp"}': 1.0, ...}."""
        rows = [line.rsplit(" ", 1) for line in self.page().splitlines() if line[0] != "#"]
        return {name: float(value) for name, value in rows}

    def raw(self, sent, source=""):
        """Sends these bytes. Returns everything that comes back."""
        with socket.create_connection((self.ip, self.port), 20, (source, 0)) as client:
            client.sendall(sent)
            return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.fixture
def watched(nailupd):
    return lambda *args, **more: Watched(nailupd, *args, **more)


# ---- what is served ----


def test_the_page_has_the_numbers_of_nailupctl(watched, responder, dig):
    one = watched(upstreams=[responder()], workers=2)
    for _ in range(3):
        dig(one.daemon, "www.example.org")
    answer, text = one.ask()
    assert answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert int(answer.getheader("Content-Length")) == len(text)
    numbers = one.numbers()
    for name, value in one.daemon.metrics().items():
        assert numbers["nailup_" + name] == value, name
    assert numbers['nailup_queries_total{protocol="udp"}'] == 3
    assert numbers["nailup_answer_latency_seconds_count"] == 1  # a hit does not wait, so it does not count
    assert numbers["nailup_workers"] == 2


def test_each_upstream_has_its_numbers(watched, responder, dig):
    upstreams = [responder(), responder()]
    one = watched(upstreams=upstreams, nailed=True, workers=2)
    for name in "abcdefgh":
        assert dig(one.daemon, f"{name}.example").status == "NOERROR"
    asked = 0
    for upstream in upstreams:
        labels = f'{{upstream="{upstream.server}",transport="tcp"}}'
        numbers = eventually(lambda: (found := one.numbers()).get(
            f"nailup_per_upstream_ready_connections{labels}") == 2 and found)
        assert numbers[f"nailup_per_upstream_nailed{labels}"] == 2
        asked += numbers[f"nailup_per_upstream_queries_total{labels}"]
    assert asked == 8
    assert numbers["nailup_per_upstream_left_out"] == 0


def test_curl_and_ipv6(watched, responder):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    one = watched(ip="::1", upstreams=[responder()])
    url = f"http://{one.address}/metrics"
    text = subprocess.run(["curl", "-sSfg", url], text=True, capture_output=True, check=True).stdout
    assert "\nnailup_workers 1\n" in text
    head = subprocess.run(["curl", "-sSg", "-I", url], text=True, capture_output=True,
                          check=True).stdout
    assert head.startswith("HTTP/1.1 200 OK\n")


@pytest.mark.parametrize("method, path, status", [
    ("HEAD", "/metrics", 200), ("GET", "/metrics?a=b", 200), ("GET", "/", 200), ("GET", "/x", 404),
    ("HEAD", "/x", 404), ("POST", "/metrics", 405), ("DELETE", "/metrics", 405)])
def test_only_metrics_by_get_and_head(watched, responder, method, path, status):
    answer, text = watched(upstreams=[responder()]).ask(method, path)
    assert answer.status == status
    assert (text == "") == (method == "HEAD")
    assert answer.getheader("Connection") == "close"
    assert answer.getheader("Allow") == ("GET, HEAD" if status == 405 else None)


@pytest.mark.parametrize("sent, status", [
    (b"\x16\x03\x01\x02\0\x01\n\n", 400), (b"GET /metrics HTTP/1.1\r\n\r\n", 400),
    (b"GET /metrics HTTP/1.1\r\nHost: a\r\nx: " + b"y" * 9000, 431),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)])
def test_malformed_requests_get_an_error(watched, responder, sent, status):
    assert watched(upstreams=[responder()]).raw(sent).startswith(b"HTTP/1.1 %d " % status)


# ---- when, and when not ----


def test_an_address_in_use_exits_with_3(tmp_path, nailupd, make_config):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        config = make_config({"metrics": {"listen": f"127.0.0.1@{port}"}}, upstreams=["127.0.0.1"])
        path = tmp_path / "nailup.yaml"
        path.write_text(json.dumps(config))
        done = subprocess.run([program("nailupd"), "-c", str(path)], text=True,
                              capture_output=True, timeout=20)
    assert done.returncode == 3
    assert f"127.0.0.1@{port}" in done.stderr and "(metrics.listen)" in done.stderr


def test_a_second_daemon_does_not_share_the_address(tmp_path, watched, make_config):
    one = watched(upstreams=["127.0.0.1"])
    config = make_config({"metrics": {"listen": f"{one.ip}@{one.port}"}}, upstreams=["127.0.0.1"])
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(config))
    done = subprocess.run([program("nailupd"), "-c", str(path)], text=True, capture_output=True,
                          timeout=20)
    assert done.returncode == 3 and "in use" in done.stderr


def test_the_log_and_the_status_say_where(watched):
    one = watched(upstreams=["127.0.0.1"])
    assert f"metrics at {one.ip}@{one.port}" in one.daemon.log()
    assert one.daemon.ask("status")["listening"][-1] == {"address": f"{one.ip}@{one.port}",
                                                         "protocols": "http"}


def test_hostile_scrapers_do_not_block_others_or_delay_the_end(watched, responder, dig):
    one = watched(upstreams=[responder()])
    held = [socket.create_connection((one.ip, one.port), 5) for _ in range(100)]
    for client in held[::2]:
        client.sendall(b"GET /met")
    assert one.numbers()["nailup_workers"] == 1
    assert dig(one.daemon, "www.example.org").status == "NOERROR"
    assert one.daemon.stop(within=3) == 0
    for client in held:
        client.close()


class Crowd:
    """Runs bad scrapers while the block lasts: some never read, some never finish a request, some scrape without
    end."""

    def __init__(self, one):
        self.one, self.is_over, self.opened = one, threading.Event(), 0
        self.threads = [threading.Thread(target=self.play, args=[step]) for step in
                        (self.never_reads, self.half_asks, self.dribbles, self.scrapes, self.floods)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *why):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def play(self, step):
        held = []
        while not self.is_over.is_set():
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.settimeout(5)
            with contextlib.suppress(OSError):  # the daemon may close the oldest connection
                client.connect((self.one.ip, self.one.port))
                self.opened += 1
                step(client)
            held.append(client)
            if len(held) > 40:
                held.pop(0).close()
        for client in held:
            client.close()

    def never_reads(self, client):
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def half_asks(self, client):
        client.sendall(b"GET /met")

    def dribbles(self, client):
        for byte in b"GET /metrics HTTP/1.0\r\nX: " + b"y" * 50:
            client.sendall(bytes([byte]))

    def scrapes(self, client):
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        while client.recv(65536):
            pass

    def floods(self, client):
        client.sendall(b"z" * 100000)


def test_a_crowd_of_bad_scrapers_is_bounded_and_costs_clients_nothing(watched, responder):
    one, hits = watched(upstreams=[responder()]), ["--rate", 500, "--zipf", 1, "--names", 10]
    files = f"/proc/{one.daemon.process.pid}/fd"
    load(one.daemon, *hits, "--duration", 1)
    before, most = len(os.listdir(files)), 0
    with Crowd(one) as crowd:
        clients = Load(one.daemon, *hits, "--duration", 3)
        while clients.process.poll() is None:
            most = max(most, len(os.listdir(files)))
        clients.end()  # every query has been answered
        assert b"nailup_workers 1" in one.raw(SCRAPE, source="127.0.0.2")  # a scraper on another host gets the page
    assert crowd.opened > 1000
    assert before < most <= before + SCRAPES_MAX + CLOSING_MAX
    assert "more than 16 scrapers at once; the oldest of the busiest host" in one.daemon.log()
    eventually(lambda: len(os.listdir(files)) <= before + 2, 20)
    assert one.numbers()["nailup_workers"] == 1


def test_many_scrapes_at_once_all_get_the_page(watched, responder):
    one = watched(upstreams=[responder()])
    clients = [socket.create_connection((one.ip, one.port), 20) for _ in range(12)]
    for client in clients:
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
    for client in clients:
        text = b"".join(iter(lambda: client.recv(65536), b""))
        assert text.startswith(b"HTTP/1.1 200") and text.endswith(b"\n")
        client.close()


# ---- Prometheus ----


@needs_promtool
def test_promtool_finds_no_fault_in_the_page(watched, responder, dig):
    one = watched(upstreams=[responder()], nailed=True)
    dig(one.daemon, "www.example.org")
    done = subprocess.run(["promtool", "check", "metrics"], input=one.page(), text=True,
                          capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_promtool
def test_promtool_finds_no_fault_in_the_rules():
    for words in (["check", "rules", RULES], ["check", "config", RULES.parent / "prometheus.yml"]):
        done = subprocess.run(["promtool", *map(str, words)], text=True, capture_output=True,
                              timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_alerts_come_when_they_should_and_not_before():
    done = subprocess.run(["promtool", "test", "rules", "tests/system/nailup_rules_test.yml"],
                          cwd=ROOT, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_description_and_a_test():
    text = RULES.read_text()
    alerts = re.findall(r"- alert: (\w+)", text)
    tested = (ROOT / "tests/system/nailup_rules_test.yml").read_text()
    assert len(alerts) == len(re.findall(r"^ +meaning: ", text, re.M)) > 10
    assert len(alerts) == len(re.findall(r"^ +look: ", text, re.M))
    for name in alerts:
        assert tested.count(f'alertname="{name}",alertstate="firing"') == 3, name


class Prometheus:
    def __init__(self, folder, target):
        self.address = "%s:%d" % free_address()
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "nailup", "static_configs": [{"targets": [target]}]}]}))
        self.log = open(folder / "prometheus.log", "w+")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}",
             f"--web.listen-address={self.address}"], stderr=self.log, stdout=self.log)

    def get(self, path, **words):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]
        except OSError:
            assert self.process.poll() is None, "prometheus ended"
            return None

    def query(self, text):
        found = self.get("query", query=text)
        return found["result"] if found else []

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


def dashboard_queries():
    """Returns (title, expr) of every query of the dashboard. Its variables are filled in."""
    board = json.loads(DASHBOARD.read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], (target["expr"].replace("$job", "nailup")
                                   .replace("$instance", ".*").replace("$__rate_interval", "30s"))


def test_the_dashboard_shows_every_family():
    rows = (ROOT / "include/nailup/metrics.def").read_text()
    families = {"nailup_" + name for name in re.findall(
        r'^(?:METRIC|HISTOGRAM|PER_UPSTREAM)\(\w+, "([a-z_0-9]+)"', rows, re.M)}
    families |= {f"process_{name}" for name in (
        "cpu_seconds_total", "resident_memory_bytes", "virtual_memory_bytes", "open_fds", "max_fds",
        "start_time_seconds")} | {"nailup_per_upstream_left_out"}
    shown = {re.sub("_(bucket|sum|count)$", "", name)
             for _, query in dashboard_queries()
             for name in re.findall(r"\b(?:nailup|process)_[a-z_0-9]+", query)}
    assert len(families) > 70 and not families - shown, families - shown


@needs_prometheus
def test_prometheus_gets_data_for_every_query_of_the_dashboard_and_the_rules(
        tmp_path, watched, responder, dig):
    plain, nailed, secret = responder(), responder(), responder(transport="tls")
    zones = [{"name": ".", "upstreams": [nailed.server]},
             {"name": "plain.example", "upstreams": [plain.server]},
             {"name": "secret.example", "upstreams": [secret.server + "#responder.test"],
              "transport": "tls", "ca-bundle": str(secret.ca_file)}]
    policy = tmp_path / "policy.zone"
    policy.write_text("$TTL 60\n@ SOA . . 1 60 60 60 60\n@ NS .\nlisted.example CNAME .\n")
    held = tmp_path / "held.zone"
    held.write_text("$TTL 60\n@ SOA . . 1 60 60 60 60\n@ NS .\n")
    one = watched(config={"forward-zones": zones, "tcp-upstream-keepalive": [nailed.ip],
                          "auth-zones": [{"name": "held.example", "file": str(held)},
                                         {"name": "absent.example", "primaries": ["127.0.0.1@9"]}],
                          "views": [{"name": "lab", "clients": ["127.0.0.0/8"]}],
                          "rpz": [{"name": "policy.example", "file": str(policy)},
                                  {"name": "feed.example", "primaries": ["127.0.0.1@9"]}]}, workers=2)
    prometheus = Prometheus(tmp_path, one.address)
    try:
        eventually(lambda: prometheus.query('up{job="nailup"} == 1'), 60)
        asked = iter(range(1000000))

        def traffic():
            for zone in ("example.org", "plain.example", "secret.example"):
                assert dig(one.daemon, f"n{next(asked)}.{zone}").status == "NOERROR"
            dig(one.daemon, "n0.example.org", "A", "+tcp")
            return prometheus.query("rate(nailup_upstream_writes_total[30s]) > 0")

        eventually(traffic, 60)
        queries = list(dashboard_queries())
        assert len(queries) > 40
        for title, text in queries:
            eventually(lambda: traffic() and prometheus.query(text), 30)
        for name in re.findall(r"record: (\S+)", RULES.read_text()):
            eventually(lambda: prometheus.query(name), 60)
        groups = prometheus.get("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        assert len(rules) > 25 and {rule["health"] for rule in rules} == {"ok"}
        assert prometheus.query('nailup_per_upstream_ready_connections{transport="tls"}')
        assert prometheus.query("nailup:hits:ratio_rate5m > 0")
    finally:
        prometheus.stop()


# ---- logs ----


def test_a_clock_that_is_certainly_wrong_is_a_figure(tmp_path, make_config):
    for moved_s, is_wrong in ((0, 0), (-20 * 365 * 86400, 1)):
        clock = Clock(tmp_path, monotonic=False)
        clock.move(moved_s)
        daemon = Daemon(tmp_path, make_config(), inside=["env", *(f"{k}={v}" for k, v in clock.environment.items())])
        try:
            daemon.wait_until_ready()
            assert daemon.metrics()["clock_wrong"] == is_wrong
            checked = daemon.ctl("status", "--check").stdout
            assert ("the clock is wrong" in checked) == bool(is_wrong), checked
        finally:
            daemon.stop()


def test_the_process_has_its_usual_figures(nailupd):
    numbers = Watched(nailupd).numbers()
    assert numbers["process_cpu_seconds_total"] > 0
    assert 1 << 20 < numbers["process_resident_memory_bytes"] < numbers["process_virtual_memory_bytes"]
    assert 5 < numbers["process_open_fds"] < numbers["process_max_fds"]
    assert abs(numbers["process_start_time_seconds"] - numbers["nailup_start_time_seconds"]) <= 1


# ---- the live page ----


def test_the_live_page_shows_nails_to_browsers_at_addresses_only(nailupd, responder, dig):
    watched = Watched(nailupd, upstreams=[responder()], nailed=True, workers=2)
    dig(watched.daemon, "www.example.org")
    for path, kind in {"/": "text/html", "/board.js": "text/javascript", "/board.css": "text/css",
                       "/board.json": "application/json"}.items():
        answer, text = watched.ask(path=path)
        assert answer.status == 200 and answer.getheader("Content-Type").startswith(kind)
        assert "default-src 'none'" in answer.getheader("Content-Security-Policy")
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text
        assert watched.ask(path=path, headers={"Host": "rebound.example"})[0].status == 421
        assert watched.ask("POST", path)[0].status == 405

    def figures():
        figures = json.loads(watched.ask(path="/board.json")[1])
        ready = [one for one in figures["connections"] if one["state"] == "ready"]
        return len(ready) == 2 and figures

    shown = eventually(figures)
    assert {one["worker"] for one in shown["connections"]} == {0, 1}
    assert shown["misses"] == 1 and shown["upstreams"][0]["ready_connections"] == 2


def test_a_browser_draws_the_board(nailupd, responder, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        pytest.skip("chromium is not installed")
    watched = Watched(nailupd, upstreams=[responder()], nailed=True)
    shot = tmp_path / "board.png"
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
                           "--virtual-time-budget=4000", f"--screenshot={shot}", "--window-size=1280,900",
                           "--enable-logging=stderr", "--dump-dom", f"http://{watched.address}/"],
                          text=True, capture_output=True, timeout=120)
    assert 'class="live"' in done.stdout and 'class="nail ready' in done.stdout, done.stdout + done.stderr[-3000:]
    assert "Content Security Policy" not in done.stderr, done.stderr


def test_a_log_in_json_has_an_object_a_line(nailupd, responder, dig):
    daemon = nailupd({"log": {"format": "json", "level": "debug"}}, upstreams=[responder()])
    dig(daemon, "www.example.org")
    assert daemon.stop() == 0
    lines = [json.loads(line) for line in daemon.log().splitlines()]
    assert {tuple(line) for line in lines} == {
        ("time", "level", "module", "message"), ("time", "level", "module", "worker", "message")}
    assert {line["level"] for line in lines} <= {"error", "warning", "notice", "info", "debug"}
    assert any(line["message"].startswith("listening on") for line in lines)
    for line in lines:
        assert line["time"].endswith("Z")
        then = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
        now = datetime.datetime.now(datetime.timezone.utc)
        assert abs((now - then).total_seconds()) < 3600


def test_the_reason_of_a_failed_start_is_json_too(tmp_path, make_config):
    config = make_config({"log": {"format": "json"}, "server": {"listen": ["192.0.2.1@5353"]}},
                         upstreams=["127.0.0.1"])
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(config))
    done = subprocess.run([program("nailupd"), "-c", str(path)], text=True, capture_output=True,
                          timeout=20)
    assert done.returncode == 3
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines[-1]["level"] == "error"
    assert lines[-1]["message"].startswith("cannot listen on 192.0.2.1@5353")
