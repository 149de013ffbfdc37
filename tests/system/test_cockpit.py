# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailupctl as a cockpit: look-ups and zones, watching, JSON of every command, and completion in shells."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading

import pytest

import conftest
from conftest import eventually, program

HERE = pathlib.Path(__file__).parent
TABLES = HERE.parents[1] / "include/nailup"
COMMANDS = re.findall(r'^COMMAND\("([^"]+)", "([^"]*)"', (TABLES / "commands.def").read_text(), re.M)
VERBS = [verb for verb, _ in COMMANDS]
OPTIONS = re.findall(r'^PROGRAM_OPTION\("([^"]+)", "([^"]*)", "([^"]+)"',
                     (TABLES / "programs.def").read_text(), re.M)
BENCH_COMMANDS = re.findall(r'^PROGRAM_COMMAND\("nailup-bench", "([^"]+)"',
                            (TABLES / "programs.def").read_text(), re.M)
WATCHED = re.findall(r'"([^"]+)"', re.search(r"#define CONTROL_WATCHED (.*)",
                                             (TABLES / "control.h").read_text()).group(1))


@pytest.fixture
def cockpit(nailupd, responder, tmp_path):
    """Yields a daemon that uses many features, and its two upstreams."""
    up, other = responder(), responder()
    blocked = tmp_path / "blocked"
    blocked.write_text("bad.example\n*.worse.example\n")
    daemon = nailupd({"forward-zones": [
                          {"name": ".", "upstreams": [up.server, other.server]},
                          {"name": "corp.example", "upstreams": [up.server], "transport": "tcp"}],
                      "local-zones": [{"name": "ads.example", "action": "nodata"}],
                      "local-data": ["nas.lan. A 192.0.2.7", "out.lan. CNAME www.corp.example."],
                      "block-lists": [{"file": str(blocked), "action": "nxdomain"}]}, workers=2)
    daemon.up, daemon.other = up, other
    return daemon


def queries(daemon):
    return sum(one.stats()["udp_queries"] + one.stats()["tcp_queries"]
               for one in (daemon.up, daemon.other))


# ---- lookup, zones, log-level ----

def test_lookup_predicts_the_answer_without_asking_a_server(cockpit, dig):
    def reported(name, kind="A"):
        return cockpit.ask("lookup", name, kind)["lookup"]

    before = queries(cockpit)
    for name, how in (("www.example", "by upstreams"), ("x.ads.example", "here"),
                      ("x.worse.example", "here"), ("nas.lan", "here"),
                      ("out.lan", "by upstreams")):
        assert reported(name)["answered"] == how, name
    assert reported("a.corp.example")["zone"] == "corp.example."
    assert reported("out.lan")["alias_to"] == "www.corp.example."
    bad = reported("x.bad.example", "MX")
    assert (bad["rcode"], bad["local_zone"], bad["local_action"], bad["local_origin"]) == (
        "NXDOMAIN", "bad.example.", "nxdomain", "block-lists")
    assert queries(cockpit) == before
    for name in ("www.example", "x.bad.example", "nas.lan"):
        answer = dig(cockpit, name)
        assert reported(name)["rcode"] == answer.status
    assert reported("www.example")["answered"] == "from the cache"


def test_lookup_tells_the_cache_and_the_order_of_upstreams(cockpit, dig):
    dig(cockpit, "ttl100.example")
    all_reported = cockpit.ask("lookup", "TTL100.example")
    cached, = all_reported["cached_answers"]
    assert cached["state"] == "fresh" and cached["kind"] == "positive"
    assert 0 < cached["ttl_seconds"] <= 100 and cached["size_bytes"] > 12
    rows = all_reported["upstreams"]
    assert {row["worker"] for row in rows} == {0, 1} and len(rows) == 4
    assert {row["upstream"] for row in rows} == {cockpit.up.server, cockpit.other.server}
    assert all(row["order"] in (1, 2) and row["health"] == "good" for row in rows)
    cockpit.ask("flush", "ttl100.example")
    assert cockpit.ask("lookup", "ttl100.example")["cached_answers"] == []


def test_lookup_tells_how_an_answer_grows_old(cockpit, dig):
    def cached():
        return cockpit.ask("lookup", "ttl2.example")["cached_answers"][0]

    dig(cockpit, "ttl2.example")
    # the answer may be in its last tenth already
    assert cached()["prefetch"] in ("in its last tenth, if queried before", "no")
    eventually(lambda: cached()["state"] == "expired, may be served stale", 30)
    assert cached()["ttl_seconds"] == 0 and cached()["prefetch"] == "no"
    assert cockpit.ask("lookup", "ttl2.example")["lookup"]["answered"] == "by upstreams"
    dig(cockpit, "ttl3000.example")
    dig(cockpit, "ttl3000.example")
    assert cockpit.ask("lookup", "ttl3000.example")["cached_answers"][0]["prefetch"] == (
        "in its last tenth")


def test_zones_lists_healthy_servers_and_local_data(cockpit):
    reported = cockpit.ask("zones")
    assert [(zone["zone"], zone["transport"], zone["upstreams"], zone["good"])
            for zone in reported["zones"]] == [(".", "udp", 2, 2), ("corp.example.", "tcp", 1, 1)]
    assert reported["zones"][0]["addresses"].split() == [cockpit.up.server, cockpit.other.server]
    assert reported["local_zones"] == [{"zone": "ads.example.", "action": "nodata"}]
    assert [(one["action"], one["names"]) for one in reported["block_lists"]] == [("nxdomain", 2)]


def test_the_log_level_changes_at_once(cockpit):
    assert cockpit.ask("log-level")["log"]["level"] == "info"
    reported = cockpit.ask("log-level", "debug")["log"]
    assert reported == {"level": "debug", "configured": "info",
                    "lasts": "until the next reload or restart"}
    eventually(lambda: "the log level is debug" in cockpit.log())
    assert cockpit.ctl("log-level", "loud").returncode == 1
    assert cockpit.ask("log-level", "info")["log"]["lasts"] == ""


# ---- JSON and exit codes ----

# The words that each command takes here. None: another test covers it, because it ends or changes the daemon.
WORDS = {"lookup": ["www.example", "AAAA"], "trace": ["nas.lan"], "flush": ["www.example"], "flush-zone": ["example"],
         "log-level": ["info"], "drain": None, "forward": None, "nta": ["list"], "reload": None}
UNITS = ("_seconds", "_bytes", "_per_second")


def plain(name):
    for unit in UNITS:
        name = name.removesuffix(unit)
    return name.replace("_", " ")


def check_value(name, value):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
    assert value is None or isinstance(value, (str, int, float, bool)), name
    if name.endswith(UNITS):
        assert value is None or isinstance(value, (int, float)) and value >= 0, name
    if isinstance(value, str):
        assert not re.search(r"[\x00-\x1f\x7f]", value), name


def check_document(document):
    """Checks a document: a record is an object, a table is a list of objects with the same names, and values are
    plain."""
    assert document
    for name, table in document.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        rows = [table] if isinstance(table, dict) else table
        for row in rows:
            assert row.keys() == rows[0].keys()
            for key, value in row.items():
                check_value(key, value)


def check_text(document, text):
    """Checks that the text has the same tables with the same names. It may omit columns."""
    blocks = text.rstrip("\n").split("\n\n")
    assert len(blocks) == len(document)
    for (name, table), block in zip(document.items(), blocks):
        lines = block.split("\n")
        if len(document) > 1:
            assert lines.pop(0) == plain(name)
        if not table:
            assert lines == [f"no {plain(name)}"]
        elif isinstance(table, dict):
            names = {plain(key) for key in table}
            assert len(lines) == len(names)
            assert all(any(line.startswith(one + " ") for one in names) for line in lines)
        else:
            titles = re.split(r"  +", lines[0].strip())
            assert set(titles) <= {plain(key) for key in table[0]}
            assert len(lines) == len(table) + 1


def check_command(daemon, verb, words):
    def ask(*options):
        return subprocess.run([program("nailupctl"), "-s", daemon.socket_path, *options, verb, *words],
                              input="; a comment\n" if verb == "load-cache" else "", text=True,
                              capture_output=True, timeout=20)
    done = ask("--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    if document.keys() == {"text"}:
        assert all(isinstance(line, str) for line in document["text"])
        return
    check_document(document)
    if verb != "help":  # the text of help is free prose
        workers = ("--worker", "all") if verb in ("upstreams", "connections") else ()
        check_text(document, ask(*workers).stdout)


def test_each_command_is_one_document_with_the_names_of_the_text(cockpit, dig):
    dig(cockpit, "www.example", "AAAA")
    for verb in VERBS:
        words = WORDS.get(verb, [])
        if words is not None:
            print(verb)  # pytest shows the last one if the test fails
            check_command(cockpit, verb, words)


def exits(*words):
    done = subprocess.run([program("nailupctl"), *map(str, words)], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=20)
    return done.returncode, done.stderr


def test_exit_codes_name_the_kind_of_failure(cockpit, tmp_path):
    here = ("-s", cockpit.socket_path)
    assert exits(*here, "lookup", "www.example")[0] == 0
    assert exits(*here, "lookup", "a..b")[0] == 1
    assert exits(*here, "log-level", "loud")[0] == 1
    assert exits(*here, "--watch", "lookup", "a..b")[0] == 1
    for words in (["lookup"], ["lookup", "a", "A", "127.0.0.1", "view", "b"], ["lookup", "a\tb"], ["zones", "x"],
                  ["lookup", "\x1b[2J"], ["--watch=x", "status"], ["--watch", "flush", "x"], []):
        assert exits(*here, *words)[0] == 2, words
    assert exits("-s", tmp_path / "none", "zones")[0] == 3
    code, error = exits(*here, "conections")
    assert code == 2 and "did you mean 'connections'?" in error
    assert "did you mean" not in exits(*here, "xylophone")[1]


def test_foreign_names_do_not_control_the_terminal(cockpit):
    done = cockpit.ctl("lookup", r"a\027[2J\155b.\007example")
    assert done.returncode == 0 and r"a\027[2j\155b.\007example." in done.stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.stdout)


def test_malformed_requests_do_no_harm(cockpit):
    def reported(line):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(cockpit.socket_path)
            try:
                client.sendall(line)
                return client.recv(65536)
            except (BrokenPipeError, ConnectionResetError):
                return b""
    for line in (b"lookup\t" + b"a" * 65536 + b"\n", b"lookup\t" + b"\\" * 4000 + b"\n",
                 b"lookup\t\x1b\n", b"zones\t" * 600 + b"\n", b"lookup\ta\tA\tA\n"):
        assert not reported(line).startswith(b"ok")
    assert b"\\255\\254." in reported(b"lookup\t\xff\xfe\n")  # a name may contain these bytes
    for _ in range(20):  # clients that send a command and leave
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(cockpit.socket_path)
            client.sendall(b"zones\n")
    assert cockpit.ctl("zones").returncode == 0


def test_upstreams_are_those_of_a_prefix_if_one_is_named(cockpit):
    one = cockpit.up.server.partition("@")[0]
    shown = cockpit.ask("upstreams", one)["upstreams"]
    assert shown and {row["upstream"].partition("@")[0] for row in shown} == {one}
    assert len(cockpit.ask("upstreams")["upstreams"]) > len(shown)
    assert cockpit.ask("upstreams", "2001:db8::/32")["upstreams"] == []
    assert cockpit.ctl("upstreams", one + "@53").returncode == 1


def test_traces_of_silent_servers_are_bounded_and_end_with_the_daemon(nailupd, responder):
    daemon = nailupd({}, upstreams=[responder("--loss", "100")], workers=1)

    def trace(number):
        client = socket.socket(socket.AF_UNIX)
        client.connect(daemon.socket_path)
        client.sendall(b"trace\tn%d.example\n" % number)
        return client

    running = [trace(number) for number in range(8)]
    with trace(8) as one_more:
        one_more.settimeout(20)
        assert one_more.recv(4096).startswith(b"refused\ttoo many traces")
    for client in running[:4]:  # some clients leave before their answer
        client.close()
    assert daemon.ctl("reload").returncode == 0
    assert daemon.ask("status")["daemon"]["queries"] == 0
    assert daemon.stop() == 0  # traces are still under way
    daemon.check_clean()
    for client in running:
        client.close()


# ---- watching, without a terminal ----

def watching(daemon, *words, **more):
    return subprocess.Popen([program("nailupctl"), "-s", daemon.socket_path, *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL, **more)


def test_each_watch_is_a_document_a_line(cockpit):
    for verb in WATCHED:
        words = ["www.example"] if verb == "lookup" else []
        with watching(cockpit, "--json", "--watch", "0.1", verb, *words) as one:
            documents = [json.loads(one.stdout.readline()) for _ in range(2)]
            one.terminate()
        for document in documents:
            check_document(document)
        assert documents[0].keys() == documents[1].keys()


def test_a_watch_tells_rates_from_the_second_block_on(cockpit, dig):
    with watching(cockpit, "--json", "--watch=0.2", "status") as one:
        first = json.loads(one.stdout.readline())["daemon"]
        assert first["queries_per_second"] is None
        dig(cockpit, "www.example")

        def has_rate():
            return (json.loads(one.stdout.readline())["daemon"]["queries_per_second"] or 0) > 0
        eventually(has_rate)
        one.terminate()


def test_watch_waits_for_a_daemon_that_restarts(nailupd):
    daemon = nailupd(upstreams=["127.0.0.1@9"])
    with watching(daemon, "--watch", "0.1", "status") as one:
        assert one.stdout.readline() == "daemon\n"
        assert daemon.stop() == 0
        assert "trying again every 0.1s" in one.stderr.readline()
        assert "trying again every 0.1s" in one.stderr.readline()
        assert one.poll() is None
        one.terminate()


def test_a_truncated_reply_is_reported_and_retried(tmp_path):
    path = str(tmp_path / "liar.sock")
    with socket.socket(socket.AF_UNIX) as liar:
        liar.bind(path)
        liar.listen()

        def lie():
            for reply in (b"ok\nrecord\tr\ncol", b"", b"\x1b[2J\n", b"ok\nrecord\tr\ncolumns\ta:text\n"
                          b"row\t\x1b]0;owned\x07\nend\n"):
                client, _ = liar.accept()
                client.recv(4096)
                client.sendall(reply)
                client.close()
        thread = threading.Thread(target=lie, daemon=True)
        thread.start()
        with subprocess.Popen([program("nailupctl"), "-s", path, "--watch", "0.1", "status"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as one:
            for _ in range(3):
                assert "trying again" in one.stderr.readline()
            assert one.stdout.readline() == "a  ?]0;owned?\n"
            one.terminate()
        thread.join(60)


def test_watchers_that_vanish_do_no_harm(cockpit):
    for _ in range(5):
        with watching(cockpit, "--watch", "0.1", "upstreams") as one:
            one.stdout.readline()
            one.kill()
    assert cockpit.ctl("status").returncode == 0


# ---- watching, on a terminal ----

ENTER, LEAVE = b"\x1b[?1049h\x1b[?25l", b"\x1b[?25h\x1b[?1049l"


class Terminal:
    """A nailupctl with its own terminal."""

    def __init__(self, daemon, *words, lines=24, columns=80):
        self.output = b""
        args = [program("nailupctl"), "-s", daemon.socket_path, *words]
        go, begin = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(go, 1)  # the parent has read the settings of the terminal
            os.execve(args[0], args, os.environ | {"TERM": "xterm"})
        self.status = None
        self.resize(lines, columns)
        self.settings = termios.tcgetattr(self.fd)
        os.write(begin, b".")
        os.close(go)
        os.close(begin)

    def resize(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def send(self, keys):
        os.write(self.fd, keys)

    def read(self):
        while select.select([self.fd], [], [], 0.02)[0]:
            try:
                self.output += os.read(self.fd, 65536)
            except OSError:
                break
        return self.output

    def frames(self):
        """Returns the lines of each complete picture."""
        return [re.sub(rb"\x1b\[K|\r", b"", frame).decode().split("\n")
                for frame in re.findall(rb"\x1b\[H(.*?)\x1b\[J", self.read(), re.S)]

    def last(self):
        return (self.frames() or [[]])[-1]

    def state(self, flags=0):
        """Returns the exit status of the process, or None while it runs."""
        self.read()
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG | flags)
            if pid and not os.WIFSTOPPED(status):
                self.status = status
            return status if pid else None
        return self.status

    def has_ended(self):
        """Returns whether it ended with 0 and restored the terminal."""
        if self.state() is None:
            return False
        assert self.status == 0
        assert self.output.endswith(LEAVE) and self.output.count(ENTER) == self.output.count(LEAVE)
        return True

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def terminal():
    opened = []

    def start(*words, **more):
        opened.append(Terminal(*words, **more))
        return opened[-1]
    yield start
    for one in opened:
        one.close()


def test_a_watch_ends_and_leaves_the_terminal_as_it_was(cockpit, terminal):
    for end in (b"q", b"Q", b"\x03", signal.SIGTERM, signal.SIGHUP):
        one = terminal(cockpit, "upstreams", "--watch", "0.1")
        eventually(lambda: len(one.frames()) > 1)
        assert not termios.tcgetattr(one.fd)[3] & termios.ECHO
        if isinstance(end, bytes):
            one.send(end)
        else:
            os.kill(one.pid, end)
        eventually(one.has_ended)
        assert one.output.startswith(ENTER)
        assert termios.tcgetattr(one.fd) == one.settings


def test_a_watch_fits_its_window(cockpit, terminal):
    one = terminal(cockpit, "status", "--watch", "60", lines=12, columns=30)
    frame = eventually(one.last)
    assert len(frame) == 12 and frame[-1].endswith("more lines)")
    assert all(len(line) < 30 for line in frame)
    one.resize(5, 20)
    eventually(lambda: len(one.last()) == 5)
    assert all(len(line) < 20 for line in one.last())
    one.resize(60, 100)
    eventually(lambda: 12 < len(one.last()) < 60)
    one.resize(1, 1)
    eventually(lambda: len(one.last()) == 1)
    one.send(b"q")
    eventually(one.has_ended)


def test_a_watch_can_be_suspended(cockpit, terminal):
    one = terminal(cockpit, "status", "--watch", "60")
    eventually(one.frames)
    one.send(b"\x1a")
    stopped = eventually(lambda: one.state(os.WUNTRACED))
    assert os.WIFSTOPPED(stopped)
    assert one.read().endswith(LEAVE) and termios.tcgetattr(one.fd) == one.settings
    before = len(one.frames())
    os.kill(one.pid, signal.SIGCONT)
    eventually(lambda: len(one.frames()) > before)
    one.send(b"q")
    eventually(one.has_ended)


def test_people_see_the_sum_of_the_workers_and_programs_each(nailupd, responder):
    daemon = nailupd(upstreams=[responder(), responder()], nailed=True, workers=2)
    eventually(lambda: all(row["ready"] for row in daemon.upstreams()))
    assert len(daemon.upstreams()) == 4
    lines = daemon.ctl("upstreams").stdout.splitlines()
    assert lines[0].split()[0] == "workers" and [line.split()[0] for line in lines[1:]] == ["2", "2"]
    assert len(daemon.ctl("upstreams", "--worker", "all").stdout.splitlines()) == 5
    assert len(daemon.ctl("upstreams", "--worker", "1").stdout.splitlines()) == 3
    lines = daemon.ctl("connections").stdout.splitlines()
    assert lines[0].split()[0] == "connections" and len(lines) == 3
    for words in (("upstreams",), ("connections",), ("upstreams", "--json"), ("upstreams", "--watch")):
        wrong = daemon.ctl(*words, "--worker", "2")
        assert wrong.returncode == 2 and not wrong.stdout, words
        assert wrong.stderr == "nailupctl: there is no worker 2; the last one is 1\n"
    wrong = daemon.ctl("upstreams", "--sort", "weight")
    assert wrong.returncode == 2 and "the columns are workers upstream" in wrong.stderr


def test_lists_fit_the_width_and_rates_come_in_a_second(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=1)
    eventually(lambda: all(row["ready"] for row in daemon.upstreams()))
    for width in (60, 80, 120):
        for command in ("upstreams", "connections"):
            lines = daemon.ctl(command, "--width", str(width)).stdout.splitlines()
            assert max(map(len, lines)) <= width
            assert width > 60 or "(hidden:" in "".join(lines)
    assert "queries/s" in daemon.ctl("upstreams", "--rates").stdout.replace("queries  ", "")
    assert "\033[32mgood\033[0m" in daemon.ctl("upstreams", "--color", "always").stdout
    assert "\033" not in daemon.ctl("upstreams").stdout


def test_a_terminal_gets_lists_of_its_width(nailupd, responder, terminal):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=2)
    one = terminal(daemon, "upstreams", "--watch", "0.1", columns=70)
    eventually(lambda: any("(hidden:" in line for line in one.last()))
    assert any("health" in line for line in one.last())
    one.send(b"q")
    eventually(one.has_ended)


def test_a_watch_says_that_its_daemon_is_away(nailupd, terminal):
    daemon = nailupd(upstreams=["127.0.0.1@9"])
    one = terminal(daemon, "status", "--watch", "0.1")
    eventually(lambda: "daemon" in one.last())
    assert daemon.stop() == 0
    eventually(lambda: len(one.last()) == 2 and "nailupctl:" in one.last()[1])
    one.send(b"q")
    eventually(one.has_ended)


def test_a_refused_watch_leaves_the_terminal_and_says_why(cockpit, terminal):
    one = terminal(cockpit, "lookup", "a..b", "--watch")
    status = eventually(lambda: one.state() is not None and one.status or None)
    assert os.WEXITSTATUS(status) == 1
    assert b"refused" in one.read().rpartition(LEAVE)[2]


# ---- completion ----

# Each script takes a folder and lines. It prints a line for each match, and "--" after the matches of each line.

def bash(folder, *lines):
    return ["bash", "--norc", "-c", """
        folder=$1; shift
        for line; do
            name=${line%% *}; name=${name##*/}
            source "$folder/$name.bash"
            COMP_LINE=$line COMP_POINT=${#line}
            "_${name//-/_}"
            printf "%s\\n" "${COMPREPLY[@]}" --
        done""", "bash", folder, *lines]


def zsh(folder, *lines):
    return ["zsh", "-f", str(HERE / "complete.zsh"), folder, *lines]


def fish(folder, *lines):
    return ["fish", "--no-config", "-c", """
        for program in nailupd nailupctl nailup-bench
            source "$argv[1]/$program.fish"
        end
        for line in $argv[2..]
            complete -C "$line"
            echo -- --
        end""", folder, *lines]


@pytest.fixture(params=[bash, zsh, fish], ids=lambda shell: shell.__name__)
def offered(request, tmp_path):
    """offered(line, ...): returns a list with the set of completions that the shell offers for each line. It uses the
    built files."""
    shell = request.param
    if not shutil.which(shell.__name__):
        pytest.skip(f"{shell.__name__} is not installed")
    program("nailupctl")
    folder = str(conftest.BUILD / "completion")

    def ask(*lines):
        env = os.environ | {"HOME": str(tmp_path), "TERM": "xterm"}
        done = subprocess.run(shell(folder, *lines), text=True, capture_output=True, timeout=120,
                              cwd=tmp_path, env=env, stdin=subprocess.DEVNULL)
        found = [set()]
        for text in done.stdout.splitlines():
            if text == "--":
                found.append(set())
            elif text:  # fish adds a description after a tab, and prints --x=y where others print y
                found[-1].add(re.sub(r"^--[a-z-]+=(?=.)", "", text.split("\t")[0].strip()))
        assert len(found) == len(lines) + 1, done
        return found[:-1]
    return ask


def test_shells_complete_every_command_and_its_arguments(offered, tmp_path):
    (tmp_path / "a.yaml").touch()
    cases = {
        "nailupctl ": set(VERBS),
        "nailupctl -s /x fl": {"flush", "flush-zone"},
        "nailupctl --json look": {"lookup"},
        "nailupctl trace example AAAA fr": {"fresh"},
        "nailupctl --watch=2 conn": {"connections"},
        "nailupctl connections --js": {"--json"},
        "nailupctl lookup example AA": {"AAAA"},
        "nailupctl log-level ": {"error", "warning", "notice", "info", "debug"},
        "nailup-bench ": set(BENCH_COMMANDS),
        "nailup-bench load --transport ": {"udp", "tcp", "tls"},
        "nailup-bench responder --tls-version=1": {"1.2", "1.3"},
        "nailupd -c a": {"a.yaml"},
        "nailupd --print": {"--print-config"},
    }
    for (line, expected), found in zip(cases.items(), offered(*cases)):
        assert found == expected, line


def test_shells_know_the_upstreams_of_the_daemon(offered, nailupd, responder):
    up = responder()
    daemon = nailupd(upstreams=[up], nailed=True)
    eventually(daemon.connections)
    ctl = program("nailupctl")
    assert offered(f"{ctl} -s {daemon.socket_path} recycle ", f"{ctl} -s /nowhere recycle ") == [
        {up.ip}, set()]


@pytest.mark.parametrize("name", ["nailupd", "nailupctl", "nailup-bench"])
def test_the_table_of_options_matches_the_programs_help(name):
    commands = ["", *(BENCH_COMMANDS if name == "nailup-bench" else [])]
    for command in commands:
        done = subprocess.run([program(name), *([command] if command else []), "--help"], text=True,
                              capture_output=True, timeout=20)
        said = set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", done.stdout)) | {"help"}
        rows = {option for of, behind, option in OPTIONS if (of, behind) == (name, command)}
        if (name, command) == ("nailup-bench", ""):
            said |= {"version"}
        if command == "control":  # the option --control is the responder's
            said = {"help"}
        assert rows == said, f"programs.def and {name} {command} --help differ"
