# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The package and its hooks in a Debian that boots with systemd, with the real NetworkManager, OpenVPN, systemd-networkd
and networkd-dispatcher, in the roots of tools/debian_roots.sh, which NAILUP_ROOTS names."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

# Boots a copy of a root in separate mount namespaces. The copy runs /trial.sh and ends.
BOOT = r"""
set -eu
work=$1 lower=$2 package=$3 trial=$4
mount --make-rprivate /
mount -t tmpfs none "$work" && mkdir "$work/upper" "$work/work" "$work/root"
root=$work/root
mount -t overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/work" none "$root" || { echo "== no overlay over the root"; exit 0; }
cp "$package" "$root/nailup.deb"
cp "$trial" "$root/trial.sh"
rm -f "$root/usr/sbin/policy-rc.d"
etc=$root/etc/systemd/system
mkdir -p "$etc/multi-user.target.wants"
printf '%s\n' '[Unit]' After=dbus.service '[Service]' Type=oneshot StandardOutput=file:/trial.out StandardError=file:/trial.out \
    'ExecStart=/bin/sh /trial.sh' 'ExecStopPost=/bin/systemctl --force --force --no-block poweroff' >"$etc/trial.service"
ln -s ../trial.service "$etc/multi-user.target.wants/trial.service"
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout 500 systemd-nspawn --boot --register=no --keep-unit --private-network \
    --console=passive --machine="nailup-trial-$$" -D "$root" </dev/null >"$work/console" 2>&1 || true
if [ -e "$root/trial.out" ]; then cat "$root/trial.out"; else cat "$work/console"; echo "== no systemd that boots"; fi
"""

# The stage: a network with a gateway. The gateway is a namespace with DNS servers and the server of a VPN.
STAGE = r"""
say() { echo "== $*"; }
export LC_ALL=C.UTF-8
systemctl stop NetworkManager systemd-networkd.socket systemd-networkd networkd-dispatcher 2>/dev/null
dpkg --no-triggers -i /nailup.deb
say installed "$(systemctl is-active nailupd)"
systemd-analyze verify --man=no nailupd.service nailupd.socket >/verified 2>&1
cat /verified
say verified "$(grep -c nailup /verified)"
say exposed "$(systemd-analyze security --no-pager nailupd | sed -n 's/.*exposure level for nailupd.service: \([0-9.]*\).*/\1/p')"

# The steps of docs/host.md.
cd /usr/share/doc/nailup/examples
install -D -m 0644 host/networkmanager/nailup.conf /etc/NetworkManager/conf.d/nailup.conf
install -D -m 0755 host/networkmanager/90-nailup /etc/NetworkManager/dispatcher.d/90-nailup
for state in routable configured degraded carrier no-carrier off linger; do
    install -D -m 0755 host/networkd/nailup /etc/networkd-dispatcher/$state.d/nailup
done
install -D -m 0755 host/nailup-host /usr/local/sbin/nailup-host
install -D -m 0644 host/systemd/nailup-host.conf /etc/systemd/system/nailupd.service.d/nailup-host.conf
systemctl daemon-reload && systemctl restart nailupd
cd /

ip netns add far
ip link add up0 type veth peer name up1 netns far
ip -n far addr add 192.0.2.1/24 dev up1
ip -n far link set up1 up
ip -n far link set lo up
ip -n far addr add 10.8.0.1/32 dev lo
ip -n far addr add 10.9.0.1/32 dev lo
ip netns exec far nailup-bench responder --listen 192.0.2.1@53 --listen 10.9.0.1@53 >/dev/null &

zones() { sleep 1; nailupctl forward --json | tr -d ' \n' | grep -o '"zone":"[^"]*","server":"[^"]*"' | sed 's/"zone":"//; s/","server":"/=/; s/"//' | sort | tr '\n' ' '; }
# The hooks run beside this script: waits until there are such zones.
expect() {
    for _ in $(seq 60); do now=$(zones); [ "$now" = "$1" ] && break; sleep 0.3; done
    say "$2" "$now"
}
ask() { dig @127.0.0.1 "$1" A +short +tries=1 +timeout=10; }
"""

NETWORK_MANAGER = STAGE + r"""
mkdir /vpn && cd /vpn
{
    key() { openssl req "$@" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes; }
    key -x509 -keyout ca.key -out ca.crt -subj /CN=ca -days 30
    for end in server client; do
        key -keyout $end.key -out $end.csr -subj /CN=$end
        printf 'extendedKeyUsage=%sAuth\nkeyUsage=digitalSignature,keyAgreement\n' $end >extensions
        openssl x509 -req -in $end.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out $end.crt -days 30 -extfile extensions
    done
} 2>/dev/null
printf '%s\n' 'dev tun' 'local 192.0.2.1' 'server 10.8.0.0 255.255.255.0' 'ca ca.crt' 'cert server.crt' 'key server.key' \
    'dh none' 'topology subnet' 'push "dhcp-option DNS 10.8.0.1"' 'push "dhcp-option DOMAIN corp.example"' \
    'push "dhcp-option DOMAIN-SEARCH lab.example"' 'push "dhcp-option DOMAIN-SEARCH com"' \
    'push "dhcp-option DOMAIN ."' >server.conf
ip -n far addr del 10.8.0.1/32 dev lo
ip netns exec far openvpn --config server.conf >/vpn/log &
for _ in $(seq 100); do grep -q Completed /vpn/log && break; sleep 0.1; done
ip netns exec far nailup-bench responder --listen 10.8.0.1@53 >/dev/null &

systemctl start NetworkManager
say manager "$(NetworkManager --version)"
nmcli connection add type ethernet ifname up0 con-name office ipv4.method manual ipv4.addresses 192.0.2.10/24 \
    ipv4.gateway 192.0.2.1 ipv4.dns 192.0.2.1 ipv4.dns-search 'office.example,~bank.example,~.,com' ipv6.method disabled
nmcli connection up office
sleep 2
expect '' strange
nmcli connection add type vpn vpn-type openvpn con-name vpn ifname '*' ipv4.never-default yes vpn.data \
    'connection-type=tls,remote=192.0.2.1,ca=/vpn/ca.crt,cert=/vpn/client.crt,key=/vpn/client.key,cert-pass-flags=4,dev-type=tun'
nmcli connection modify vpn ipv4.dns-search '~ops.example,~.,~net'
say before "$(ask www.corp.example)"
nmcli connection up vpn
expect 'corp.example.=10.8.0.1@53 lab.example.=10.8.0.1@53 ops.example.=10.8.0.1@53 ' vpn
sleep 3 # the interface of the VPN comes up as a connection of others
expect 'corp.example.=10.8.0.1@53 lab.example.=10.8.0.1@53 ops.example.=10.8.0.1@53 ' kept
say answer "$(ask www.corp.example)"
systemctl restart nailupd
expect 'corp.example.=10.8.0.1@53 lab.example.=10.8.0.1@53 ops.example.=10.8.0.1@53 ' restarted
nmcli connection down vpn
expect '' down

sed -i 's/^NETWORK_ZONES=.*/NETWORK_ZONES="office.example corp.example"/' /etc/NetworkManager/dispatcher.d/90-nailup
nmcli connection up office
expect 'office.example.=192.0.2.1@53 ' office
nmcli connection modify office ipv4.dns 10.9.0.1 ipv4.dns-search 'office.example,corp.example'
nmcli device reapply up0
expect 'corp.example.=10.9.0.1@53 office.example.=10.9.0.1@53 ' reapplied
nmcli connection up vpn
expect 'corp.example.=10.8.0.1@53 lab.example.=10.8.0.1@53 office.example.=10.9.0.1@53 ops.example.=10.8.0.1@53 ' both
nmcli connection down vpn
expect 'corp.example.=10.9.0.1@53 office.example.=10.9.0.1@53 ' returned
nmcli connection down office
expect '' gone

# A profile of an interface that is a VPN because of its name.
ip link add wg0 type veth peer name wg1
ip link set wg1 up
nmcli connection add type ethernet ifname wg0 con-name wg ipv4.method manual ipv4.addresses 10.9.0.2/24 ipv4.dns 10.9.0.1 \
    ipv4.dns-search '~plant.example,~com' ipv6.method disabled
nmcli connection up wg
expect 'plant.example.=10.9.0.1@53 ' wg
ip link del wg0
expect '' deleted
say left_out "$(journalctl -t nailup-host -o cat --no-pager | sed -n 's/: left out.*//p' | sort -u | tr '\n' ' ')"
journalctl --no-pager -u NetworkManager-dispatcher -u nailupd -t nailup-host | tail -n 60
"""

NETWORKD = STAGE + r"""
ip addr add 192.0.2.10/24 dev up0
ip link set up0 up
ip route add default via 192.0.2.1
settings() {
    printf '%s\n' '[Match]' "Name=$1" '[Network]' Address=10.9.0.2/24 "DNS=$2" \
        "Domains=corp.example ~lab.example ~. com ~net in-addr.arpa" "$3" >/etc/systemd/network/$1.network
}
settings wg0 10.9.0.1
settings lan0 10.9.0.1
systemctl restart systemd-networkd networkd-dispatcher
say networkd "$(networkctl --version | head -n 1)"
link() { ip link add "$1" type veth peer name "$1-far"; ip link set "$1-far" up; }
link lan0
for _ in $(seq 100); do networkctl status lan0 2>/dev/null | grep -q routable && break; sleep 0.1; done
sleep 2
expect '' strange
link wg0
expect 'corp.example.=10.9.0.1@53 lab.example.=10.9.0.1@53 ' vpn
say routed "$(ip route replace 10.9.0.1 via 192.0.2.1 && ask www.corp.example)"
ip link set wg0-far down
expect '' carrier
ip link set wg0-far up
expect 'corp.example.=10.9.0.1@53 lab.example.=10.9.0.1@53 ' again
settings wg0 '10.9.0.3:5353 fe80::1 10.9.0.4#dns.corp.example'
networkctl reload
networkctl reconfigure wg0
expect 'corp.example.=10.9.0.3@5353 corp.example.=fe80::1%wg0@53 lab.example.=10.9.0.3@5353 lab.example.=fe80::1%wg0@53 ' changed
networkctl down wg0
expect '' off
networkctl up wg0
expect 'corp.example.=10.9.0.3@5353 corp.example.=fe80::1%wg0@53 lab.example.=10.9.0.3@5353 lab.example.=fe80::1%wg0@53 ' on
# Other settings while the addresses stay.
settings wg0 10.9.0.5 KeepConfiguration=yes
networkctl reload
networkctl reconfigure wg0
expect 'corp.example.=10.9.0.5@53 lab.example.=10.9.0.5@53 ' kept
ip link del wg0
expect '' deleted
say left_out "$(journalctl -t nailup-host -o cat --no-pager | sed -n 's/: left out.*//p' | sort -u | tr '\n' ' ')"
say tls "$(journalctl -t nailup-host -o cat --no-pager | grep -c '10.9.0.4#dns.corp.example is left out')"
journalctl --no-pager -u networkd-dispatcher -u nailupd -t nailup-host | tail -n 60
"""


def booted_roots():
    folder = pathlib.Path(os.environ.get("NAILUP_ROOTS", "/nonexistent"))
    return [pytest.param(path, id=path.stem) for path in sorted(folder.glob("*.booted"))] or [
        pytest.param(None, marks=pytest.mark.skip(reason="NAILUP_ROOTS names no folder of tools/debian_roots.sh"))]


def boot(root, trial, folder):
    """Boots the copy of a root. Returns the values of the trial, and all of its output."""
    for tool in ("systemd-nspawn", "unshare"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    if os.geteuid() != 0:
        pytest.skip("needs root")
    (folder / "work").mkdir()
    (folder / "trial.sh").write_text(trial)
    done = subprocess.run(["unshare", "-m", "sh", "-c", BOOT, "sh", folder / "work", root, root.with_suffix(".deb"),
                           folder / "trial.sh"], text=True, capture_output=True, timeout=600)
    everything = done.stdout + done.stderr
    said = dict(line[3:].partition(" ")[::2] for line in done.stdout.splitlines() if line.startswith("== "))
    if "no" in said:
        pytest.skip(f"this kernel or container has no {said['no']}: {everything[-2000:]}")
    assert said.get("installed") == "active", everything
    assert said["verified"] == "0", everything
    assert float(said["exposed"]) <= 2.0, everything
    return said, everything


def servers(**zones):
    """Returns the zones as the trial prints them: the label below .example, and the zone's servers."""
    return " ".join(sorted(f"{zone}.example.={server}" for zone, several in zones.items() for server in several.split())) + " "


@pytest.mark.parametrize("root", booted_roots())
def test_networkmanager_brings_and_takes_the_zones_of_a_vpn(root, tmp_path):
    said, everything = boot(root, NETWORK_MANAGER, tmp_path)
    vpn = {name: "10.8.0.1@53" for name in ("corp", "lab", "ops")}
    expected = {"strange": "", "vpn": servers(**vpn), "kept": servers(**vpn), "restarted": servers(**vpn), "down": "",
                "office": servers(office="192.0.2.1@53"), "reapplied": servers(office="10.9.0.1@53", corp="10.9.0.1@53"),
                "both": servers(**vpn, office="10.9.0.1@53"), "returned": servers(office="10.9.0.1@53", corp="10.9.0.1@53"),
                "gone": "", "wg": servers(plant="10.9.0.1@53"), "deleted": ""}
    assert {name: said.get(name) for name in expected} == expected, everything
    assert re.fullmatch(r"[\d.]+", said["answer"]) and not re.fullmatch(r"[\d.]+", said["before"]), everything
    assert "com" in said["left_out"].split() and "net" in said["left_out"].split(), everything


@pytest.mark.parametrize("root", booted_roots())
def test_networkd_brings_and_takes_the_zones_of_a_vpn(root, tmp_path):
    said, everything = boot(root, NETWORKD, tmp_path)
    first, second = (servers(corp=each, lab=each) for each in ("10.9.0.1@53", "10.9.0.3@5353 fe80::1%wg0@53"))
    third = servers(corp="10.9.0.5@53", lab="10.9.0.5@53")
    expected = {"strange": "", "vpn": first, "carrier": "", "again": first, "changed": second, "off": "", "on": second,
                "kept": third, "deleted": ""}
    assert {name: said.get(name) for name in expected} == expected, everything
    assert re.fullmatch(r"[\d.]+", said["routed"]), everything
    assert set(". com in-addr.arpa net".split()) <= set(said["left_out"].split()), everything
    assert int(said["tls"]) > 0, everything
