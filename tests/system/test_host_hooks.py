# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The hooks of conf/host with what NetworkManager and dhclient give them, and a nailupctl that only
writes down what it was told."""
import shutil
import subprocess
from pathlib import Path

import pytest

HOST = Path(__file__).parents[2] / "conf/host"
DISPATCHER = HOST / "networkmanager/90-nailup"
DHCLIENT = HOST / "dhclient/zz-nailup"

SCRIPT = """set -e
make_resolv_conf() { echo "the file was written"; }
reason=$1
. "$2"
case $reason in BOUND | RENEW) make_resolv_conf ;; esac
"""


@pytest.fixture
def told(tmp_path):
    """told(command, *words, **environment): what nailupctl was told, line by line."""
    ctl, log = tmp_path / "nailupctl", tmp_path / "log"
    ctl.write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    ctl.chmod(0o755)

    def run(command, *words, **environment):
        log.write_text("")
        done = subprocess.run([*command, *words], text=True, capture_output=True, timeout=30,
                              cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "NAILUPCTL": str(ctl),
                                                 "STATE": str(tmp_path / "state"), **environment})
        assert done.returncode == 0 and done.stderr == "" and done.stdout == "", done
        return log.read_text().splitlines()

    return run


def dispatcher(told, *words, **environment):
    return told(["sh", str(DISPATCHER)], *words, **environment)


def dhclient(told, reason, **environment):
    return told(["sh", "-c", SCRIPT, "sh", reason, str(DHCLIENT)], **environment)


def test_a_vpn_has_its_zones_as_long_as_it_is_there(told):
    vpn = {"VPN_IP_IFACE": "tun0", "VPN_IP4_DOMAINS": "corp.example ~lab.example",
           "VPN_IP4_NAMESERVERS": "10.8.0.1 10.8.0.2", "VPN_IP6_NAMESERVERS": "fd00::1"}
    assert dispatcher(told, "wlan0", "vpn-up", **vpn) == [
        "forward corp.example 10.8.0.1 10.8.0.2 fd00::1",
        "forward lab.example 10.8.0.1 10.8.0.2 fd00::1"]
    assert dispatcher(told, "wlan0", "vpn-down", VPN_IP_IFACE="tun0") == [
        "forward corp.example off", "forward lab.example off"]
    assert dispatcher(told, "wlan0", "vpn-down", VPN_IP_IFACE="tun0") == []


def test_a_network_claims_only_what_it_was_allowed(told):
    network = {"IP4_DOMAINS": "bank.example office.example", "IP4_NAMESERVERS": "192.168.1.1"}
    assert dispatcher(told, "eth0", "up", **network) == []
    assert dispatcher(told, "eth0", "up", NETWORK_ZONES="office.example", **network) == [
        "forward office.example 192.168.1.1"]
    assert dispatcher(told, "eth0", "dhcp4-change", NETWORK_ZONES=".", **network) == [
        "forward office.example off", "forward . 192.168.1.1"]
    assert dispatcher(told, "eth0", "down") == ["forward . off"]


def test_what_is_no_zone_and_no_address_is_left_out(told):
    assert dispatcher(told, "x", "vpn-up", VPN_IP_IFACE="tun0",
                      VPN_IP4_DOMAINS="-s $(id) `id` a;b * ok.example",
                      VPN_IP4_NAMESERVERS="1.2.3.4;id --json * $(id) 10.0.0.1") == [
        "forward ok.example 10.0.0.1"]
    assert dispatcher(told, "../../etc/x", "vpn-up", VPN_IP4_DOMAINS="a.example",
                      VPN_IP4_NAMESERVERS="10.0.0.1") == []
    assert dispatcher(told, "eth0", "up", NETWORK_ZONES=".") == []
    assert dispatcher(told, "", "connectivity-change") == []


def test_dhclient_writes_no_file_and_asks_the_network_for_allowed_zones(told):
    lease = {"new_domain_name_servers": "192.168.1.1 192.168.1.2;id"}
    assert dhclient(told, "BOUND", **lease) == []
    assert dhclient(told, "BOUND", NETWORK_ZONES="office.example .", **lease) == [
        "forward office.example 192.168.1.1", "forward . 192.168.1.1"]
    assert dhclient(told, "RENEW", NETWORK_ZONES=".") == []
    assert dhclient(told, "RELEASE", NETWORK_ZONES="office.example") == [
        "forward office.example off"]


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_the_hooks_are_clean(told):
    assert told([shutil.which("shellcheck"), "-s", "sh", str(DISPATCHER), str(DHCLIENT)]) == []
