# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Shared by tls_memory.py and tls_handshake.py: a responder over TLS, and a nailupd that queries it."""

import stage_common as stage
from stage_common import free_port  # noqa: F401 (instructions.py)

NAME = "upstream.test"


class Responder(stage.Responder):
    """A responder that also answers over TLS, on `tls_port` of each of the addresses."""

    def __init__(self, bench, folder, addresses, *options):
        self.tls_port = free_port()
        self.ca = f"{folder}/ca-{self.tls_port}.pem"
        listens = [word for ip in addresses for word in ("--listen-tls", f"{ip}@{self.tls_port}")]
        super().__init__(bench, folder, addresses, *listens, "--tls-ca-file", self.ca, "--tls-name", NAME,
                         *options)
        self.process.stdout.readline()


def upstream_config(responder, addresses, transport, **keys):
    """Returns the configuration of a nailed upstream over TLS or TCP. keys belong to the section `upstream`."""
    is_tls = transport == "tls"
    port = responder.tls_port if is_tls else responder.port
    upstream = {"ca-bundle": responder.ca, "auth-name": NAME} if is_tls else {}
    return {
        "tcp-upstream-keepalive": list(addresses),
        "upstream": {**upstream, **keys},
        "forward-zones": [{"name": ".", "transport": transport,
                           "upstreams": [f"{ip}@{port}" for ip in addresses]}],
    }
