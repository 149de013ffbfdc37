# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The recipes of conf/fleet: manifests, proxies, the address of the service, and restarts of a fleet under load."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
import yaml

from conftest import BUILD, ROOT, eventually, free_address, program
from peers import Load, Server, need, query, rcode_of, udp_ask
from proxies import PROXY, dnsdist, dnsdist_server  # noqa: F401
from test_restart import Activated

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

FLEET = ROOT / "conf/fleet"
MANIFESTS = sorted((FLEET / "kubernetes").glob("*.yaml"))


# ---- Kubernetes ----


def objects(path):
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


def every(kind):
    return [one for path in MANIFESTS for one in objects(path) if one["kind"] == kind]


def pods():
    """Returns the templates of pods by name."""
    return {one["metadata"]["name"]: one["spec"]["template"]
            for one in every("Deployment") + every("DaemonSet")}


def test_manifests_are_objects_with_known_versions():
    versions = {"Namespace": "v1", "ConfigMap": "v1", "Service": "v1", "Deployment": "apps/v1",
                "DaemonSet": "apps/v1", "PodDisruptionBudget": "policy/v1",
                "NetworkPolicy": "networking.k8s.io/v1"}
    found = [one for path in MANIFESTS for one in objects(path)]
    assert {one["kind"] for one in found} == set(versions)
    for one in found:
        assert one["apiVersion"] == versions[one["kind"]] and one["metadata"]["name"]
        assert one["kind"] == "Namespace" or one["metadata"]["namespace"] == "nailup"


def test_selectors_find_pods():
    labels = [pod["metadata"]["labels"] for pod in pods().values()]
    for one in every("Deployment") + every("DaemonSet"):
        assert one["spec"]["selector"]["matchLabels"] == one["spec"]["template"]["metadata"]["labels"]
    for one in every("Service"):
        assert one["spec"]["selector"] in labels
    for one in every("PodDisruptionBudget"):
        assert one["spec"]["selector"]["matchLabels"] in labels
    for one in every("NetworkPolicy"):
        assert one["spec"]["podSelector"]["matchLabels"] in labels


def test_ports_of_services_and_policies_are_those_of_the_container():
    container = pods()["nailup"]["spec"]["containers"][0]
    by_name = {port["name"]: (port["containerPort"], port["protocol"]) for port in container["ports"]}
    for port in every("Service")[0]["spec"]["ports"]:
        assert by_name[port["targetPort"]][1] == port["protocol"]
    allowed = {(port["port"], port["protocol"]) for rule in every("NetworkPolicy")[0]["spec"]["ingress"]
               for port in rule["ports"]}
    assert allowed == set(by_name.values())


def test_volumes_exist():
    maps = {one["metadata"]["name"] for one in every("ConfigMap")}
    for pod in pods().values():
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        for volume in pod["spec"]["volumes"]:
            assert volume.get("configMap", {"name": next(iter(maps))})["name"] in maps
        for container in pod["spec"]["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_probes_ask_about_the_daemon_and_never_about_the_internet():
    for pod in pods().values():
        container = pod["spec"]["containers"][0]
        assert container["readinessProbe"]["exec"]["command"][-2:] == ["status", "--check"]
        assert container["livenessProbe"]["exec"]["command"][-1] == "status"
        assert all("--require-upstream" not in str(probe) for probe in container.values())


@pytest.mark.parametrize("name", ["nailup", "nailup-node"])
def test_config_maps_are_configurations(name, tmp_path):
    text = next(one["data"]["nailup.yaml"] for one in every("ConfigMap") if one["metadata"]["name"] == name)
    values = yaml.safe_load(text)
    values["server"].pop("user", None)  # this machine may not have the user
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(values))
    done = subprocess.run([program("nailupd"), "-t", "-c", str(path)], text=True, capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr
    probe = pods()[name]["spec"]["containers"][0]["readinessProbe"]["exec"]["command"]
    assert values["control"]["socket"] in probe


@pytest.mark.skipif(shutil.which("kubernetes-validate") is None, reason="kubernetes-validate (PyPI) is not installed")
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_manifests_fit_the_schemas_of_kubernetes(path):
    done = subprocess.run(["kubernetes-validate", "--strict", str(path)], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# Plays a container in a pod with fsGroup: that group owns the mount of /run/nailup, and the processes are its members.
POD = """
set -e
config=$1 group=$2 added=$3 nailupd=$4 nailupctl=$5 folder=$6
for file in passwd group; do
    sed '/^nailup:/d' /etc/$file > $folder/$file
done
echo "nailup:x:$group:$group::/nonexistent:/bin/false" >> $folder/passwd
echo "nailup:x:$group:" >> $folder/group
for file in passwd group; do mount --bind $folder/$file /etc/$file; done
mount -t tmpfs tmpfs /run  # private to this namespace
mkdir /run/nailup
mount -t tmpfs -o mode=2777,gid=$group tmpfs /run/nailup
ip link set lo up
ip address add 169.254.20.53/32 dev lo
inside="setpriv --groups $group --bounding-set=-all$added --inh-caps=-all --no-new-privs"
$inside "$nailupd" -c "$config" & daemon=$!
for try in $(seq 100); do $inside "$nailupctl" -s /run/nailup/control.sock status && break; sleep 0.1; done
$inside "$nailupctl" -s /run/nailup/control.sock status --check
dig +short +tries=1 +time=5 @169.254.20.53 localhost
kill $daemon
wait $daemon
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="capabilities of a container need root")
def test_the_node_cache_starts_with_the_capabilities_of_its_manifest(tmp_path):
    pod = pods()["nailup-node"]["spec"]
    rights = pod["containers"][0]["securityContext"]
    assert rights["runAsUser"] == 0 and rights["capabilities"]["drop"] == ["ALL"]
    path = tmp_path / "nailup.yaml"
    path.write_text(next(one["data"]["nailup.yaml"] for one in every("ConfigMap") if one["metadata"]["name"] == "nailup-node"))
    added = "".join(f",+{word.lower()}" for word in rights["capabilities"]["add"])
    done = subprocess.run(["unshare", "-mn", "sh", "-c", POD, "pod", path, str(pod["securityContext"]["fsGroup"]), added,
                           program("nailupd"), program("nailupctl"), tmp_path], text=True, capture_output=True, timeout=60,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    if "unshare failed" in done.stderr:
        pytest.skip("no namespaces")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "127.0.0.1"


def test_the_instance_is_a_configuration():
    done = subprocess.run([program("nailupd"), "-t", "-c", str(FLEET / "instance.yaml")], text=True,
                          capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr


# ---- proxies ----


def test_dnsdist_takes_its_configuration():
    done = subprocess.run([need("dnsdist"), "--check-config", "-C", str(FLEET / "dnsdist-1.7.conf")], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and "OK" in done.stdout + done.stderr, done.stdout + done.stderr


def test_the_configuration_for_dnsdist_2_is_lua():
    """Debian 12 has no dnsdist 2, and version 1.7 ignores keys that it does not know."""
    done = subprocess.run([need("dnsdist"), "--check-config", "-C", str(FLEET / "dnsdist-2.conf")], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def dnsdist_version():
    shown = subprocess.run([need("dnsdist"), "--version"], text=True, capture_output=True, timeout=20).stdout
    return int(re.search(r"dnsdist (\d+)", shown).group(1))


@pytest.fixture
def recipe(tmp_path):
    """recipe(name, instances): starts dnsdist with a file of conf/fleet, in which the test's addresses replace those
    of the recipe."""
    started = []

    def start(name, instances):
        text = (FLEET / name).read_text()
        listed = re.search(r"ipairs\({(.*?)}\)", text).group(1)
        text = text.replace(listed, ", ".join(f'"{one.ip}:{one.port}"' for one in instances))
        text = text.replace('address .. ":53"', "address")
        address = free_address("127.0.0.1")
        text = text.replace("0.0.0.0:53", "%s:%d" % address)
        lines = [line for line in text.splitlines() if not line.startswith(("addLocal", "controlSocket"))]
        (tmp_path / name).write_text("\n".join(lines))
        started.append(Server(tmp_path, address, need("dnsdist"), "--supervised", "--disable-syslog", "-C",
                              str(tmp_path / name)))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.mark.parametrize("name", ["dnsdist-1.7.conf", "dnsdist-2.conf"])
def test_the_recipe_moves_the_names_of_a_dead_instance_and_moves_them_back(nailupd, responder, dig, recipe, name):
    if dnsdist_version() < 2 <= float(name[8:-5]):
        pytest.skip("this dnsdist is older than the recipe")
    upstream = responder()
    own = {"server": {"proxy-from": ["127.0.0.1"], "default-local-zones": "yes"}}  # the health check queries localhost
    instances = [nailupd(own, upstreams=[upstream]) for _ in range(4)]
    proxy = recipe(name, instances)

    def counts(protocol="udp"):
        return [one.metrics()[f'queries_total{{protocol="{protocol}"}}'] if one.process.poll() is None else 0
                for one in instances]

    def owner():
        before = counts()
        answers = [udp_ask(proxy, query("www.fleet.org", number), timeout=0.5) for number in range(20)]
        grown = [now - was for was, now in zip(before, counts())]
        is_answered = all(answer and rcode_of(answer) == 0 for answer in answers)
        return instances[grown.index(max(grown))] if is_answered and max(grown) >= 20 else None

    first = owner()
    assert first
    assert dig(proxy, "www.fleet.org", "A", "+tcp").status == "NOERROR" and counts("tcp")[instances.index(first)] >= 1
    first.process.kill()
    first.process.wait()
    eventually(lambda: owner() not in (None, first), 60)
    again = nailupd(own | {"server": own["server"] | {"listen": [f"{first.ip}@{first.port}"]}}, upstreams=[upstream])
    instances[instances.index(first)] = again
    eventually(lambda: owner() is again, 60)


def test_haproxy_takes_its_configuration():
    done = subprocess.run([need("haproxy"), "-c", "-f", str(FLEET / "haproxy.cfg")], text=True,
                          capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr


# ---- the address of the service ----


@pytest.fixture
def anycast(tmp_path):
    """anycast(verdicts): plays exit codes of `status --check` one by one. Returns the events of the address."""

    def run(verdicts):
        (tmp_path / "verdicts").write_text("".join(f"{one}\n" for one in verdicts))
        ctl, ip = tmp_path / "nailupctl", tmp_path / "ip"
        ctl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nread -r code < {tmp_path}/verdicts\n'
                       f'sed -i 1d {tmp_path}/verdicts\nexit "$code"\n')
        ip.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/changes\n')
        ctl.chmod(0o755)
        ip.chmod(0o755)
        subprocess.run([FLEET / "nailup-anycast", "198.51.100.53/32"], check=True, timeout=30, capture_output=True,
                       env={"PATH": "/usr/bin:/bin", "NAILUPCTL": str(ctl), "IP": str(ip), "INTERVAL": "0.01",
                            "COUNT": str(len(verdicts))})
        assert set((tmp_path / "asked").read_text().splitlines()) == {"status --check"}
        changes = [line.split() for line in (tmp_path / "changes").read_text().splitlines()]
        return [words[1] for words in changes if words[0] == "address"]

    return run


def test_the_address_comes_with_the_daemon_and_leaves_with_the_script(anycast):
    assert anycast([1, 1, 0, 0]) == ["add", "del"]


def test_one_missed_check_keeps_the_address(anycast):
    assert anycast([0, 1, 0, 1, 0]) == ["add", "del"]


def test_a_draining_daemon_loses_the_address_and_gets_it_back(anycast):
    assert anycast([0, 1, 1, 1, 0, 0]) == ["add", "del", "add", "del"]


def test_a_daemon_that_never_serves_has_no_address(anycast):
    assert anycast([1, 1, 1]) == []


# ---- four instances under load ----

RATE, LOAD_S = 400, 8


class Fleet:
    """Four instances with sockets from a service manager, behind dnsdist."""

    def __init__(self, folder, make_config, upstream, dnsdist):
        options = {"server": {"proxy-from": [PROXY],
                              "access": [{"prefix": "127.0.0.0/8", "action": "allow"}]}}
        self.instances = []
        for number in range(4):
            own = folder / f"instance-{number}"
            own.mkdir()
            self.instances.append(Activated(own, make_config(options, upstreams=[upstream])))
            self.instances[-1].start()
        for one in self.instances:
            self.wait(one)
        self.proxy = dnsdist([dnsdist_server(one, maxCheckFailures="3") for one in self.instances],
                             more="setServerPolicy(chashed)")

    def ctl(self, instance, *words):
        path = instance.folder / f"control-{len(instance.daemons) - 1}"
        return subprocess.run([program("nailupctl"), "-s", str(path), *words], text=True, capture_output=True,
                              timeout=20)

    def wait(self, instance):
        eventually(lambda: self.ctl(instance, "status", "--check").returncode == 0, 20)

    def restart(self, instance):
        instance.daemons[-1].terminate()
        assert instance.daemons[-1].wait(30) == 0
        instance.start()
        self.wait(instance)

    def queries(self, instance):
        done = json.loads(self.ctl(instance, "--json", "stats").stdout)
        return sum(row["value"] for row in done["metrics"] if row["metric"] == "nailup_queries_total")

    def close(self):
        for one in self.instances:
            one.close()


@pytest.fixture
def fleet(tmp_path, make_config, responder, dnsdist):
    made = Fleet(tmp_path, make_config, responder("--delay", 5), dnsdist)
    yield made
    made.close()


def judge(one):
    report = one.end(check=False)
    assert report["lost"] == 0 and set(report["rcodes"]) == {"NOERROR"}, report
    assert report["sent"] >= 0.9 * RATE * LOAD_S, report


def test_a_rolling_restart_loses_no_query(fleet):
    load = Load(fleet.proxy, "--rate", RATE, "--duration", LOAD_S, "--unique-share", 20, "--names", 500)
    time.sleep(0.5)
    for one in fleet.instances:
        fleet.restart(one)
        time.sleep(0.2)
    assert load.process.poll() is None, "the load ended before the last restart"
    judge(load)


def test_a_rolling_reload_loses_no_query(fleet):
    load = Load(fleet.proxy, "--rate", RATE, "--duration", LOAD_S, "--unique-share", 20, "--names", 500)
    time.sleep(0.5)
    for one in fleet.instances:
        path = one.folder / "nailup-0.yaml"
        config = json.loads(path.read_text())
        config["cache"] = {"max-ttl": "1h"}
        path.write_text(json.dumps(config))
        done = fleet.ctl(one, "reload")
        assert done.returncode == 0 and "cache.max-ttl" in done.stdout, done.stderr
    judge(load)


def test_a_name_goes_to_one_instance(fleet):
    before = [fleet.queries(one) for one in fleet.instances]
    for number in range(40):
        assert rcode_of(udp_ask(fleet.proxy, query("always.example", number))) == 0
    grown = [fleet.queries(one) - was for one, was in zip(fleet.instances, before)]
    assert sorted(grown)[-1] >= 40 and sum(count >= 40 for count in grown) == 1


# ---- the script ----


@pytest.fixture
def rolling(tmp_path):
    def run(*words, broken="none"):
        tool = tmp_path / "run"
        tool.write_text(f'#!/bin/sh\necho "$1: $2" >> {tmp_path}/did\n[ "$1" != {broken} ]\n')
        tool.chmod(0o755)
        done = subprocess.run([FLEET / "rolling", *words], text=True, capture_output=True, timeout=30,
                              env={"PATH": "/usr/bin:/bin", "RUN": str(tool), "WAIT": "1"})
        did = tmp_path / "did"
        return done, did.read_text().splitlines() if did.exists() else []

    return run


def test_instances_follow_each_other(rolling):
    done, did = rolling("restart", "a", "b")
    check, act = "nailupctl status --check", "systemctl restart nailupd"
    assert done.returncode == 0
    assert did == [f"a: {check}", f"a: {act}", f"a: {check}", f"b: {check}", f"b: {act}", f"b: {check}"]


def test_a_broken_instance_stops_the_others(rolling):
    done, did = rolling("reload", "a", "b", "c", broken="b")
    assert done.returncode == 1 and "b is not ready" in done.stderr
    assert not any(line.startswith("c:") or line == "b: systemctl reload nailupd" for line in did)


def test_other_words_are_refused(rolling):
    done, did = rolling("stop", "a")
    assert done.returncode == 2 and did == []


# ---- the measurement ----


@pytest.fixture
def curve(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench/fleet")
    return importlib.import_module("curve")


@pytest.mark.parametrize("by_name", [False, True], ids=["by-client", "by-name"])
def test_the_computed_curve_is_that_of_the_simulation(curve, by_name):
    shares = curve.weights(2000, 0.9)
    for size in (1, 4, 16):
        computed = curve.misses(shares, 500, 20, size, by_name)
        simulated = curve.simulate(shares, 500, 20, size, by_name, 60)
        assert abs(computed - simulated) < 0.04 * computed, (size, computed, simulated)


def test_names_add_the_caches_up_and_clients_do_not(curve):
    rows = curve.table(5000, 0.9, 1000, 300)
    assert len({row[2] for row in rows}) == 1
    assert all(later[1] < row[1] for row, later in zip(rows, rows[1:]))


def test_the_bench_measures_a_small_fleet():
    need("dnsdist")
    done = subprocess.run([sys.executable, ROOT / "bench/fleet/run", "--build", str(BUILD), "--instances", "2",
                           "--duration", "3", "--rate", "200"], text=True, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("| 2 ")]
    assert [row[1].strip() for row in rows[:2]] == ["name", "client"]
    assert all(0 < float(row[2].strip(" %")) < 100 for row in rows[:2]), done.stdout
