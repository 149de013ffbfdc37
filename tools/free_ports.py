# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Finds free ports for servers of measurements, tests and the demonstration."""

import random
import socket

RANGE = range(20000, 32000)  # below the ports that Linux gives to clients
DRAWS = 1000


def is_free(port, ip="0.0.0.0"):
    """Returns whether the port of that address is free now, over UDP and TCP."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            with socket.socket(family, kind) as probe:
                probe.bind((ip, port))
    except OSError:
        return False
    return True


def free_port(ip="0.0.0.0", ports=RANGE):
    """Returns a random port that is free now over UDP and TCP, on every IPv4 address unless ip names one."""
    for _ in range(DRAWS):
        port = random.choice(ports)
        if is_free(port, ip):
            return port
    raise RuntimeError(f"no free port on {ip}")
