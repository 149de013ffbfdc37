/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_BURST_H
#define NAILUP_SERVE_BURST_H

/*
 * Bounds the bytes of answers that leave for one client at once, after its queries have waited
 * together. An attacker holds back the answers to many queries with a forged address and releases
 * them within milliseconds (DNSBomb, CVE-2024-33655). When more than BURST_WAITING queries of a
 * client wait, its answers have BURST_BYTES in each BURST_WINDOW_US. Beyond that, a larger answer
 * is truncated to the size of its query, so an honest client asks again over TCP.
 *
 * A table of fixed size: clients that share a place and burst at the same time displace each other,
 * and then each gets more. The hash has a secret seed, so an attacker cannot choose such clients.
 *
 * Pure: time is an argument. One per worker.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BURST_WAITING = 32, /* more than a household asks at once */
    BURST_BYTES = 16 * 1024,
    BURST_WINDOW_US = 100 * 1000,
    BURST_SMALL = 2, /* an answer of at most this many times the truncated one is always whole */
    BURST_PLACES = 1024,
};

struct burst {
    uint64_t client;
    uint64_t began_at; /* 0: none yet */
    size_t bytes;      /* of the window */
};

struct bursts {
    struct burst places[BURST_PLACES];
};

/* Whether an answer of len bytes leaves whole; truncated_len is its length with TC. client is the
 * hash of the client (server_quota_client()), and waiting is the number of its waiting queries. */
bool bursts_allow(struct bursts *bursts, uint64_t client, uint32_t waiting, size_t len,
                  size_t truncated_len, uint64_t now);

#endif
