# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The hooks of conf/host with the environment of NetworkManager and dhclient: first with a nailupctl that only
records its arguments, then with a daemon."""
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import program

HOST = Path(__file__).parents[2] / "conf/host"
SHARED = HOST / "nailup-host"
DISPATCHER = HOST / "networkmanager/90-nailup"
NETWORKD = HOST / "networkd/nailup"
DHCLIENT = HOST / "dhclient/zz-nailup"

SCRIPT = """set -e
make_resolv_conf() { echo "the file was written"; }
reason=$1
. "$2"
case $reason in BOUND* | RENEW*) make_resolv_conf ;; esac
"""


CTL = """#!/bin/sh
echo "$@" >>{log}
[ -z "$DOWN" ] || exit 3
case "$* " in *" ${{REFUSED-none}} "*) echo "$REFUSED is refused" >&2; exit 1 ;; esac
"""


class Host:
    """Runs hooks with a nailupctl of the test, or with that of a daemon."""

    def __init__(self, folder, ctl):
        self.folder, self.ctl, self.log, self.logged = folder, ctl, folder / "log", folder / "logged"
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        self.log.touch()
        logger = bin_folder / "logger"
        logger.write_text(f'#!/bin/sh\nshift 3\necho "$*" >>{self.logged}\n')
        logger.chmod(0o755)

    def __call__(self, command, *words, **environment):
        """Runs a hook. Returns the arguments of nailupctl, line by line."""
        self.log.write_text("")
        self.logged.write_text("")
        done = subprocess.run([*command, *words], text=True, capture_output=True, timeout=60,
                              cwd=self.folder, env={
                                  "PATH": f"{self.folder}/bin:/usr/bin:/bin",
                                  "NAILUPCTL": str(self.ctl), "NAILUP_HOST": str(SHARED),
                                  "STATE": str(self.folder / "state"), **environment})
        assert done.returncode == 0 and done.stderr == "" and done.stdout == "", done
        return self.log.read_text().splitlines()


@pytest.fixture
def hooks(tmp_path):
    """hooks(command, *words, **environment): the arguments of nailupctl, line by line."""
    ctl = tmp_path / "nailupctl"
    ctl.write_text(CTL.format(log=tmp_path / "log"))
    ctl.chmod(0o755)
    return Host(tmp_path, ctl)


def dispatcher(hooks, *words, **environment):
    return hooks(["sh", str(DISPATCHER)], *words, **environment)


def dhclient(hooks, reason, **environment):
    return hooks(["sh", "-c", SCRIPT, "sh", reason, str(DHCLIENT)],
                **{"interface": "eth0"} | environment)


def networkd(hooks, interface, state, lines=None, **environment):
    """Runs the hook of networkd-dispatcher, which also sets a variable STATE. lines: the state file of the
    interface."""
    links, devices = hooks.folder / "links", hooks.folder / "devices"
    if "/" not in interface and interface:
        (devices / interface).mkdir(parents=True, exist_ok=True)
        (devices / interface / "ifindex").write_text("7\n")
    links.mkdir(exist_ok=True)
    if lines is not None:
        (links / "7").write_text("".join(f"{line}\n" for line in lines))
    host = hooks.folder / "host"
    host.write_text(f'#!/bin/sh\nSTATE={hooks.folder}/state exec {SHARED} "$@"\n')
    host.chmod(0o755)
    return hooks(["sh", str(NETWORKD)], IFACE=interface, LINKS=str(links), DEVICES=str(devices),
                **environment | {"NAILUP_HOST": str(host), "STATE": state})


def replay(hooks, **environment):
    return hooks([str(SHARED)], "replay", **environment)


VPN = {"VPN_IP_IFACE": "tun0", "VPN_IP4_DOMAINS": "corp.example", "VPN_IP4_NAMESERVERS": "10.8.0.1"}


def test_a_vpn_has_its_zones_while_it_is_up(hooks):
    vpn = {"VPN_IP_IFACE": "tun0", "VPN_IP4_DOMAINS": "corp.example ~lab.example",
           "VPN_IP4_NAMESERVERS": "10.8.0.1 10.8.0.2", "VPN_IP6_NAMESERVERS": "fd00::1"}
    assert dispatcher(hooks, "wlan0", "vpn-up", **vpn) == [
        "forward corp.example 10.8.0.1 10.8.0.2 fd00::1",
        "forward lab.example 10.8.0.1 10.8.0.2 fd00::1"]
    assert dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun0") == [
        "forward corp.example off", "forward lab.example off"]
    assert dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun0") == []


def test_a_network_claims_only_allowed_zones(hooks):
    network = {"IP4_DOMAINS": "bank.example office.example", "IP4_NAMESERVERS": "192.168.1.1"}
    assert dispatcher(hooks, "eth0", "up", **network) == []
    assert dispatcher(hooks, "eth0", "up", NETWORK_ZONES="office.example", **network) == [
        "forward office.example 192.168.1.1"]
    assert dispatcher(hooks, "eth0", "dhcp4-change", NETWORK_ZONES=".", **network) == [
        "forward . 192.168.1.1", "forward office.example off"]
    assert dispatcher(hooks, "eth0", "down") == ["forward . off"]


NMCLI = """#!/bin/sh
[ "$*" = "-e no -g $4 connection show uuid the-profile" ] || exit 10
case $4 in IP4.DNS*) printf '%s' "$NM_SERVERS" ;; *) printf '%s' "$NM_ZONES" ;; esac
"""


@pytest.fixture
def managed(hooks):
    """Yields the environment of a connection that nmcli knows."""
    nmcli = hooks.folder / "nmcli"
    nmcli.write_text(NMCLI)
    nmcli.chmod(0o755)
    return {"NMCLI": str(nmcli), "CONNECTION_UUID": "the-profile"}


def test_zones_and_servers_of_the_profile_count_too(hooks, managed):
    """NetworkManager's variables lack the search domains of the profile. After a change they also lack the new
    servers."""
    now = {"NM_ZONES": "corp.example | lab.example\n~ops.example | ~\n\n", "NM_SERVERS": "10.8.0.2 | 10.8.0.3\nfd00::1"}
    servers = "10.8.0.2 10.8.0.3 fd00::1"
    assert dispatcher(hooks, "tun0", "vpn-up", **VPN, **managed, **now) == [
        f"forward {zone}.example {servers}" for zone in ("corp", "lab", "ops")]
    assert dispatcher(hooks, "tun0", "vpn-down", VPN_IP_IFACE="tun0", **managed) == [
        f"forward {zone}.example off" for zone in ("corp", "lab", "ops")]
    network = {"IP4_DOMAINS": "old.example", "IP4_NAMESERVERS": "192.0.2.1", "NETWORK_ZONES": "old.example ops.example"}
    assert dispatcher(hooks, "eth0", "up", **network) == ["forward old.example 192.0.2.1"]
    assert dispatcher(hooks, "eth0", "reapply", **network, **managed, **now) == [
        f"forward ops.example {servers}", "forward old.example off"]
    # A connection without servers has no zones. If nmcli does not know the connection, the zones come from the
    # variables.
    assert dispatcher(hooks, "eth0", "reapply", **network, **managed, NM_ZONES="ops.example") == ["forward ops.example off"]
    assert dispatcher(hooks, "eth0", "up", **network, **managed | {"CONNECTION_UUID": "another"}, **now) == [
        "forward old.example 192.0.2.1"]


def test_the_interface_of_a_vpn_keeps_the_zones_of_the_vpn(hooks):
    """NetworkManager reports the interface of a plugin a second time, as an external connection."""
    vpn = VPN | {"CONNECTION_UUID": "a"}
    assert dispatcher(hooks, "tun0", "vpn-up", **vpn) != []
    assert dispatcher(hooks, "tun0", "up", CONNECTION_UUID="b", CONNECTION_EXTERNAL="1", IP4_DOMAINS="x.example",
                      IP4_NAMESERVERS="10.8.0.1") == []
    assert dispatcher(hooks, "tun0", "down", CONNECTION_UUID="b", CONNECTION_EXTERNAL="1") == []
    assert dispatcher(hooks, "tun0", "vpn-down", **vpn) == ["forward corp.example off"]


def test_a_vpn_without_an_interface_shares_that_of_its_network(hooks):
    network = {"NETWORK_ZONES": "office.example", "IP4_DOMAINS": "office.example", "IP4_NAMESERVERS": "192.0.2.1"}
    dispatcher(hooks, "eth0", "up", **network, CONNECTION_UUID="a")
    vpn = VPN | {"VPN_IP_IFACE": "eth0", "CONNECTION_UUID": "b"}
    assert dispatcher(hooks, "eth0", "vpn-up", **vpn) == ["forward corp.example 10.8.0.1"]
    assert dispatcher(hooks, "eth0", "dhcp4-change", **network, CONNECTION_UUID="a") == [
        "forward office.example 192.0.2.1"]
    assert dispatcher(hooks, "eth0", "vpn-down", **vpn) == ["forward corp.example off"]
    assert dispatcher(hooks, "eth0", "down", CONNECTION_UUID="a") == ["forward office.example off"]


HUGE = ". ~. com ~com. COM in-addr.arpa ip6.arpa. x"


def test_no_network_gets_all_names_or_a_top_level_domain(hooks):
    vpn = {"VPN_IP_IFACE": "tun0", "VPN_IP4_DOMAINS": f"{HUGE} corp.example 10.in-addr.arpa",
           "VPN_IP4_NAMESERVERS": "10.8.0.1"}
    good = ["forward corp.example 10.8.0.1", "forward 10.in-addr.arpa 10.8.0.1"]
    assert dispatcher(hooks, "wlan0", "vpn-up", **vpn) == good
    said = hooks.logged.read_text()
    assert ".: left out" in said and "com: left out" in said and "in-addr.arpa: left out" in said
    assert dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun0") != []
    assert dispatcher(hooks, "eth0", "up", IP4_DOMAINS=f"{HUGE}", IP4_NAMESERVERS="10.8.0.1") == []
    assert networkd(hooks, "wg0", "routable",
                    [f"ROUTE_DOMAINS={HUGE} corp.example", "DNS=10.8.0.1"]) == good[:1]
    assert hooks([str(SHARED)], "set", "x", "x", HUGE, "10.8.0.1") == []


def test_the_operator_may_name_a_large_zone(hooks):
    vpn = {"VPN_IP_IFACE": "tun0", "VPN_IP4_DOMAINS": "corp ~. com", "VPN_IP4_NAMESERVERS": "10.8.0.1"}
    assert dispatcher(hooks, "wlan0", "vpn-up", NETWORK_ZONES="corp", **vpn) == ["forward corp 10.8.0.1"]


def test_networkd_has_the_zones_of_a_vpn_while_it_is_routable(hooks):
    lines = ["ADMIN_STATE=configured", "DNS=10.8.0.1 fe80::1", "DOMAINS=corp.example",
             "ROUTE_DOMAINS=lab.example"]
    assert networkd(hooks, "wg0", "routable", lines) == [
        "forward lab.example 10.8.0.1 fe80::1%wg0", "forward corp.example 10.8.0.1 fe80::1%wg0"]
    assert networkd(hooks, "wg0", "configuring", lines) == []
    off = ["forward lab.example off", "forward corp.example off"]
    for state in ("degraded", "carrier", "no-carrier", "off", "linger"):
        assert networkd(hooks, "wg0", state, lines) == off, state
        assert networkd(hooks, "wg0", "routable", lines) != []


def test_a_change_of_settings_reaches_a_routable_interface(hooks):
    networkd(hooks, "wg0", "routable", ["DNS=10.8.0.1", "DOMAINS=corp.example"])
    lines = ["DNS=10.8.0.2", "DOMAINS=corp.example"]
    for state in ("", "degraded", "no-carrier"):
        said = networkd(hooks, "wg0", "configured", lines, OperationalState=state)
        assert said == (["forward corp.example off"] if state == "degraded" else []), state
    assert networkd(hooks, "wg0", "configured", lines, OperationalState="routable") == [
        "forward corp.example 10.8.0.2"]


def test_networkd_writes_ports_and_names_in_its_own_way(hooks):
    lines = ["DOMAINS=corp.example", "DNS=10.8.0.1:5353 10.8.0.2#dns.corp.example [fd00::1]:5353 "
             "[fe80::1]:53%eth1#dns.corp.example fd00::2#a 10.8.0.3:5353#b 10.8.0.4:x 10.8.0.5: [fd00::3]: "
             "10.8.0.6#;id 10.8.0.7#$(id) []:53 :53"]
    assert networkd(hooks, "wg0", "routable", lines) == [
        "forward corp.example 10.8.0.1@5353 10.8.0.2#dns.corp.example fd00::1@5353 "
        "fe80::1%eth1@53#dns.corp.example fd00::2#a 10.8.0.3@5353#b"]


def test_networkmanager_writes_transports_in_its_own_way(hooks):
    """A server over TLS keeps the name of its certificate, so that nailupd refuses it where it would send plain
    text."""
    servers = ("dns+tls://10.8.0.1#a.example dns+udp://10.8.0.2 dns+tls://[fd00::1]:8853#a.example dns+tls://10.8.0.3 "
               "dns+udp://[fe80::1%eth1] dns+udp://[fd00::2]:5353 https://10.8.0.4/#a dns+quic://10.8.0.5 "
               "10.8.0.6:53%eth1 [fd00::3]x [fe80::1%a]:53%b dns+tls://$(id)#x dns+udp://dns+tls://10.8.0.7")
    vpn = VPN | {"VPN_IP4_NAMESERVERS": servers}
    assert dispatcher(hooks, "eth0", "vpn-up", **vpn) == [
        "forward corp.example 10.8.0.1#a.example 10.8.0.2 fd00::1@8853#a.example fe80::1%eth1 fd00::2@5353 10.8.0.6%eth1@53"]
    said = hooks.logged.read_text()
    assert "dns+tls://10.8.0.3: left out" in said and "dns+quic://10.8.0.5: left out" in said


def wireguard(hooks, interface):
    folder = hooks.folder / "devices" / interface
    folder.mkdir(parents=True)
    (folder / "uevent").write_text(f"DEVTYPE=wireguard\nINTERFACE={interface}\n")


def test_an_interface_of_wireguard_is_a_vpn_whatever_its_name(hooks):
    lines = ["DNS=10.8.0.1", "DOMAINS=corp.example com"]
    assert networkd(hooks, "corp", "routable", lines) == []
    wireguard(hooks, "office")
    assert networkd(hooks, "office", "routable", lines) == ["forward corp.example 10.8.0.1"]
    devices = {"DEVICES": str(hooks.folder / "devices")}
    network = {"IP4_DOMAINS": "lab.example com", "IP4_NAMESERVERS": "10.9.0.1"}
    assert dispatcher(hooks, "corp", "up", **network, **devices) == []
    assert dispatcher(hooks, "office", "up", **network, **devices) == [
        "forward lab.example 10.9.0.1", "forward corp.example off"]
    assert dispatcher(hooks, "wg7", "up", **network) == ["forward lab.example 10.9.0.1"]
    assert dispatcher(hooks, "wg7", "up", **network, VPN_INTERFACES="") == [
        "forward lab.example 10.9.0.1"]  # the servers of the office
    assert dispatcher(hooks, "office", "down") == ["forward lab.example off"]


def test_networkd_gives_other_networks_only_allowed_zones(hooks):
    lines = ["DNS=192.168.1.1", "DOMAINS=bank.example office.example"]
    assert networkd(hooks, "eth0", "routable", lines) == []
    assert networkd(hooks, "eth0", "routable", lines, NETWORK_ZONES="office.example") == [
        "forward office.example 192.168.1.1"]
    assert networkd(hooks, "eth0", "routable", lines, VPN_INTERFACES="eth*") == [
        "forward bank.example 192.168.1.1", "forward office.example 192.168.1.1"]


def test_hostile_state_of_networkd_runs_nothing(hooks):
    lines = ["DNS=$(id) `id` 10.8.0.1;id 10.8.0.1", "DOMAINS=$(touch ran) `id` a;b * -s ok.example",
             "DOMAINS=second.example"]
    assert networkd(hooks, "wg0", "routable", lines) == ["forward ok.example 10.8.0.1"]
    assert not (hooks.folder / "ran").exists()
    for interface in ("", ".", "..", "../wg0", "a/b"):
        assert networkd(hooks, interface, "routable", lines) == []
    assert networkd(hooks, "wg0", "off") == ["forward ok.example off"]
    (hooks.folder / "links" / "7").unlink()
    assert networkd(hooks, "wg0", "routable") == []


def test_the_scripts_are_clean_for_shellcheck():
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    scripts = [SHARED, DISPATCHER, NETWORKD, DHCLIENT]
    done = subprocess.run(["shellcheck", *map(str, scripts)], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_invalid_zones_and_addresses_are_left_out(hooks):
    assert dispatcher(hooks, "x", "vpn-up", VPN_IP_IFACE="tun0",
                      VPN_IP4_DOMAINS="-s $(id) `id` a;b * ok.example",
                      VPN_IP4_NAMESERVERS="1.2.3.4;id --json * $(id) 10.0.0.1") == [
        "forward ok.example 10.0.0.1"]
    assert dispatcher(hooks, "x", "vpn-up", VPN_IP_IFACE="tun0",
                      VPN_IP4_DOMAINS="LocalHost a.localhost. onion 127.in-addr.arpa x.notlocalhost",
                      VPN_IP4_NAMESERVERS="10.0.0.1") == [
        "forward x.notlocalhost 10.0.0.1", "forward ok.example off"]
    assert dispatcher(hooks, "../../etc/x", "vpn-up", VPN_IP4_DOMAINS="a.example",
                      VPN_IP4_NAMESERVERS="10.0.0.1") == []
    assert dispatcher(hooks, "eth0", "up", NETWORK_ZONES=".") == []
    assert dispatcher(hooks, "", "connectivity-change") == []


def test_dhclient_writes_no_file_and_asks_the_network_for_allowed_zones(hooks):
    lease = {"new_domain_name_servers": "192.168.1.1 192.168.1.2;id"}
    assert dhclient(hooks, "BOUND", **lease) == []
    assert dhclient(hooks, "BOUND", NETWORK_ZONES="office.example .", **lease) == [
        "forward office.example 192.168.1.1", "forward . 192.168.1.1"]
    assert dhclient(hooks, "RENEW", NETWORK_ZONES=".") == []
    assert dhclient(hooks, "RELEASE", NETWORK_ZONES="office.example") == [
        "forward office.example off", "forward . off"]
    assert dhclient(hooks, "RELEASE", NETWORK_ZONES="office.example") == []


def test_an_address_of_the_link_gets_its_interface(hooks):
    assert dispatcher(hooks, "wlan0", "vpn-up", **VPN, VPN_IP6_NAMESERVERS="fe80::1 FEB0::2%br-1") == [
        "forward corp.example 10.8.0.1 fe80::1%tun0 FEB0::2%br-1"]
    assert dispatcher(hooks, "eth0", "up", NETWORK_ZONES=".", IP6_NAMESERVERS="fe80::1 fec0::1") == [
        "forward . fe80::1%eth0 fec0::1"]
    assert dhclient(hooks, "BOUND6", NETWORK_ZONES=".", new_dhcp6_name_servers="fe80::1") == [
        "forward . fe80::1%eth0"]
    assert dispatcher(hooks, "e;id", "up", NETWORK_ZONES=".", IP6_NAMESERVERS="fe80::1 ::1%") == []
    assert dispatcher(hooks, "eth1", "up", NETWORK_ZONES=".",
                      IP6_NAMESERVERS="%eth1 fe80::1%$(id) fe80::1%a/b ::1%") == []


def test_one_bad_server_is_left_out_and_reported(hooks):
    network = {"IP4_DOMAINS": "a.example", "NETWORK_ZONES": "a.example",
               "IP4_NAMESERVERS": "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.1"}
    assert dispatcher(hooks, "eth0", "up", **network, REFUSED="192.0.2.2") == [
        "forward a.example 192.0.2.1 192.0.2.2 192.0.2.3", "forward a.example 192.0.2.1",
        "forward a.example 192.0.2.2", "forward a.example 192.0.2.3",
        "forward a.example 192.0.2.1 192.0.2.3"]
    assert hooks.logged.read_text() == ("a.example: 192.0.2.2 is left out: 192.0.2.2 is refused\n")
    # When no server is left, the zone loses its earlier servers.
    network["IP4_NAMESERVERS"] = "192.0.2.9"
    assert dispatcher(hooks, "eth0", "dhcp4-change", **network, REFUSED="192.0.2.9") == [
        "forward a.example 192.0.2.9", "forward a.example off"]
    assert "192.0.2.9 is left out" in hooks.logged.read_text()


def test_more_servers_than_nailupctl_takes_are_not_given(hooks):
    many = " ".join(f"192.0.2.{number}" for number in range(1, 30))
    said = dispatcher(hooks, "eth0", "up", NETWORK_ZONES=".", IP4_NAMESERVERS=many)
    assert said == ["forward . " + " ".join(many.split()[:14])]


def test_a_zone_of_two_networks_stays_until_both_have_left(hooks):
    dispatcher(hooks, "wlan0", "vpn-up", **VPN)
    other = {"VPN_IP_IFACE": "tun1", "VPN_IP4_DOMAINS": "Corp.Example. lab.example",
             "VPN_IP4_NAMESERVERS": "10.9.0.1"}
    dispatcher(hooks, "wlan0", "vpn-up", **other)
    assert dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun1") == [
        "forward corp.example 10.8.0.1", "forward lab.example off"]
    dispatcher(hooks, "wlan0", "vpn-up", **other)
    assert dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun0") == [
        "forward corp.example 10.9.0.1"]
    assert dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun1") == [
        "forward corp.example off", "forward lab.example off"]


def test_a_zone_of_both_families_stays_until_both_leases_end(hooks):
    zones = {"NETWORK_ZONES": "office.example"}
    dhclient(hooks, "BOUND", **zones, new_domain_name_servers="192.168.1.1")
    dhclient(hooks, "BOUND6", **zones, new_dhcp6_name_servers="fd00::1")
    assert dhclient(hooks, "EXPIRE6", **zones) == ["forward office.example 192.168.1.1"]
    assert dhclient(hooks, "STOP", **zones) == ["forward office.example off"]


def test_servers_set_at_run_time_are_set_again_after_a_restart(hooks):
    assert replay(hooks) == []
    dispatcher(hooks, "wlan0", "vpn-up", **VPN)
    dispatcher(hooks, "eth0", "up", NETWORK_ZONES=".", IP4_NAMESERVERS="192.0.2.1", DOWN="yes")
    assert ". is set when nailupd starts" in hooks.logged.read_text()
    assert replay(hooks) == ["forward corp.example 10.8.0.1", "forward . 192.0.2.1"]
    dispatcher(hooks, "wlan0", "vpn-down", VPN_IP_IFACE="tun0", DOWN="yes")
    assert replay(hooks) == ["forward . 192.0.2.1"]


# ---- with a daemon ----


@pytest.fixture
def daemon_told(tmp_path, nailupd, responder):
    """Yields (a daemon, hooks() that reaches it)."""
    daemon = nailupd({"server": {"default-local-zones": "yes"}}, upstreams=[responder()])
    ctl = tmp_path / "nailupctl"
    ctl.write_text(f'#!/bin/sh\nexec {program("nailupctl")} -s {daemon.socket_path} "$@"\n')
    ctl.chmod(0o755)
    return daemon, Host(tmp_path, ctl)


def forwards(daemon):
    return [(row["zone"], row["server"]) for row in daemon.ask("forward")["forwards"]]


def test_the_dispatcher_tells_a_daemon(daemon_told):
    daemon, hooks = daemon_told
    network = {"NETWORK_ZONES": "home.arpa", "IP4_DOMAINS": "home.arpa",
               "IP4_NAMESERVERS": "192.0.2.1 0.0.0.0", "IP6_NAMESERVERS": "fe80::1"}
    dispatcher(hooks, "lo", "up", **network)
    assert forwards(daemon) == [("home.arpa.", "192.0.2.1@53"), ("home.arpa.", "fe80::1%lo@53")]
    assert "home.arpa: 0.0.0.0 is left out: " in hooks.logged.read_text()
    daemon.ask("forward", "home.arpa", "off")
    replay(hooks)
    assert len(forwards(daemon)) == 2
    dispatcher(hooks, "lo", "down")
    assert forwards(daemon) == []


def test_dhclient_tells_a_daemon(daemon_told):
    daemon, hooks = daemon_told
    lease = {"NETWORK_ZONES": "home.arpa", "interface": "lo"}
    dhclient(hooks, "BOUND", **lease, new_domain_name_servers="192.0.2.1")
    dhclient(hooks, "BOUND6", **lease, new_dhcp6_name_servers="fe80::1 224.0.0.1")
    assert forwards(daemon) == [("home.arpa.", "fe80::1%lo@53")]
    dhclient(hooks, "RELEASE6", **lease)
    assert forwards(daemon) == [("home.arpa.", "192.0.2.1@53")]
    dhclient(hooks, "EXPIRE", **lease)
    assert forwards(daemon) == []


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_the_hooks_are_clean(hooks):
    assert hooks([shutil.which("shellcheck"), "-s", "sh", str(SHARED), str(DISPATCHER),
                 str(DHCLIENT)]) == []
