# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The JSON schema of nailup.yaml accepts each file that nailupd loads, and explains every key."""
import json
import re
import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, program

jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "conf/examples").glob("*.yaml"))
CORPUS = sorted((ROOT / "tests/fuzz/corpus/config").glob("*.yaml"))
ROW = re.compile(r'^OPTION\((\w+), "([^"]+)", (\w+),', re.M)

BAD = {
    "an unknown key": "server: {lsiten: []}",
    "an unknown section": "severs: {workers: 1}",
    "a key of another section": "cache: {workers: 1}",
    "a number out of range": "server: {workers: 1025}",
    "a word for a number": "server: {workers: many}",
    "a number without its unit": "upstream: {query-timeout: 2}",
    "a wrong unit": "cache: {size: 10MB}",
    "a word of another kind": "upstream: {transport: sctp}",
    "a mapping for a word": "control: {socket: {a: b}}",
    "a list for a section": "cache: [size]",
    "a word for a list": "server: {listen: 127.0.0.1}",
    "a name for an address": "server: {listen: [localhost]}",
    "brackets around an address": 'server: {listen: ["[::1]:53"]}',
    "a port with a prefix": "tcp-upstream-keepalive: [10.0.0.1@53]",
    "a zone without servers": "forward-zones: [{name: .}]",
    "a zone without a name": "forward-zones: [{upstreams: [192.0.2.1]}]",
    "no servers at all": "forward-zones: [{name: ., upstreams: []}]",
    "a key of the process in a zone": "forward-zones: [{name: ., upstreams: [192.0.2.1], max-nailed: 1}]",
    "trust-ad in a stub zone": "stub-zones: [{name: a.example, upstreams: [192.0.2.1], trust-ad: yes}]",
    "a server without an address": "forward-zones: [{name: ., transport: tls, upstreams: [{auth-name: a.example}]}]",
    "access without an action": "server: {access: [{prefix: 10.0.0.0/8}]}",
}


@pytest.fixture(scope="module")
def schema():
    made = json.loads((BUILD / "schema/nailup.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(made)
    return made


def faults(schema, text):
    """Returns the faults that the schema finds in a text, or None if this reader does not accept it as YAML."""
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}"
            for fault in jsonschema.Draft7Validator(schema).iter_errors(tree)]


def loads(text, tmp_path):
    path = tmp_path / "nailup.yaml"
    path.write_text(text)
    return subprocess.run([program("nailupd"), "-t", "-c", path], capture_output=True, timeout=60).returncode == 0


@pytest.mark.parametrize("source", EXAMPLES, ids=lambda path: path.stem)
def test_the_schema_accepts_the_examples(schema, source):
    assert faults(schema, source.read_text()) == []


@pytest.mark.parametrize("source", CORPUS, ids=lambda path: path.stem)
def test_the_schema_accepts_all_that_nailupd_loads(schema, source, tmp_path):
    text = source.read_text()
    if loads(text, tmp_path):
        assert faults(schema, text) == []
    elif faults(schema, text) == []:
        # A schema cannot detect contradictions, but it detects unknown keys.
        assert "is unknown" not in subprocess.run(
            [program("nailupd"), "-t", "-c", tmp_path / "nailup.yaml"], capture_output=True, text=True,
            timeout=60).stderr


@pytest.mark.parametrize("text", BAD.values(), ids=lambda text: text[:40])
def test_both_refuse_a_bad_file(schema, text, tmp_path):
    assert faults(schema, text + "\n")
    assert not loads(text + "\n", tmp_path)


@pytest.mark.parametrize("text", [
    "server: {minimal-responses: true}", "server: {minimal-responses: True}", "dnssec: {aggressive: FALSE}",
    "server: {minimal-responses: no}", "server: {minimal-responses: 'false'}",
    "server:", "", "recursion: {prefer-ip: 4}", "server: {identity: 7}", "control: {mode: 0660}",
    "forward-zones: [{name: ., transport: tls, upstreams: [192.0.2.1, {address: 192.0.2.2, auth-name: a.example}]}]",
    "dnssec: {validate: true}", "tcp-upstream-keepalive: 10.1.1.1", "server: {workers: '2'}"])
def test_both_accept_each_way_to_write_a_value(schema, text, tmp_path):
    assert loads(text + "\n", tmp_path)
    assert faults(schema, text + "\n") == []


def test_an_editor_finds_each_key_with_its_description(schema):
    for owner, path, _ in ROW.findall((ROOT / "include/nailup/options.def").read_text()):
        places = [path]
        if owner == "upstream_options" and path.startswith("upstream."):
            rest = path.removeprefix("upstream.")
            places += [f"forward-zones[].{rest}", f"stub-zones[].{rest}", f"tcp-upstream-keepalive[].{rest}"]
        for place in places:
            node = schema
            for step in place.split("."):
                node = node["properties"][step.removesuffix("[]")]
                if step.endswith("[]"):
                    node = node["items"]
                    node = node["oneOf"][-1] if "oneOf" in node else node
            assert node["description"], place


def test_an_editor_shows_the_words_of_a_value(schema):
    transport = schema["properties"]["upstream"]["properties"]["transport"]
    assert transport["enum"] == ["udp", "tcp", "tls"]
