/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_ENTRY_H
#define NAILUP_TESTS_SCENARIO_ENTRY_H

/* From ENTRY_BEGIN to ENTRY_END: a message, the parts that must match, and how it is sent. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "scenario/reader.h"

struct script;

enum entry_match {
    MATCH_OPCODE = 1 << 0,
    MATCH_QTYPE = 1 << 1,
    MATCH_QNAME = 1 << 2,
    MATCH_QCLASS = 1 << 3,
    MATCH_SUBDOMAIN = 1 << 4,
    MATCH_ALL = 1 << 5,
    MATCH_TTL = 1 << 6,
    MATCH_ANSWER = 1 << 7,
    MATCH_RCODE = 1 << 8,
    MATCH_QUESTION = 1 << 9,
    MATCH_SERIAL = 1 << 10,
    MATCH_DO = 1 << 11,
    MATCH_NOEDNS = 1 << 12,
    MATCH_EDNS = 1 << 13,
    MATCH_EDNSDATA = 1 << 14,
    MATCH_UDP = 1 << 15,
    MATCH_TCP = 1 << 16,
    MATCH_RD = 1 << 17,
    MATCH_EDE = 1 << 18,
    MATCH_CASE = 1 << 19,
    MATCH_FLAGS = 1 << 20,
    MATCH_KEEPALIVE = 1 << 21,
    MATCH_NOKEEPALIVE = 1 << 22,
    MATCH_SIZE = 1 << 23,
    MATCH_ID = 1 << 24,
    MATCH_SAYS = 1 << 25,
    MATCH_COOKIE = 1 << 26,
    MATCH_OFFERS = 1 << 27,
    MATCH_APART_AD = 1 << 28,     /* all flags except AD */
    MATCH_APART_POLICY = 1 << 29, /* all flags except AA, and no additional section */
};

enum entry_adjust {
    ADJUST_COPY_ID = 1 << 0,
    ADJUST_COPY_QUERY = 1 << 1,
    ADJUST_WRONG_ID = 1 << 2,
    ADJUST_FLIP_CASE = 1 << 3,
    ADJUST_CLOSE = 1 << 4,
    ADJUST_RESET = 1 << 5,
    ADJUST_SILENT = 1 << 6,
    ADJUST_COOKIE = 1 << 7,
    ADJUST_SPOOF = 1 << 8,
    ADJUST_ICMP = 1 << 9,
    ADJUST_WRONG_COOKIE = 1 << 10,
};

/* MATCH cookie=none|client|server: the cookie of a query. server: with the server's part. */
enum entry_cookie { COOKIE_NONE, COOKIE_CLIENT, COOKIE_SERVER };

enum {
    EDE_ANY = -1,
    EDE_ABSENT = -2,
    ENTRY_EDE_MAX = 4,
    ENTRY_SAYS_MAX = 64,
    ENTRY_MINTS_MAX = 15,
};

/* A message of an entry. Most entries have one. */
struct entry_packet {
    struct entry_packet *next;
    struct span bytes; /* uncompressed, unless given in hexadecimal; the OPT record is the last */
};

struct entry {
    struct entry *next;
    int line;
    uint32_t match, adjust;
    int ede[ENTRY_EDE_MAX]; /* the message must have all of these extended errors */
    unsigned ede_count;
    char says[ENTRY_SAYS_MAX]; /* text that the extended error must contain: MATCH says=a_b */
    size_t size_max;           /* MATCH size=N: the largest size of the message */
    uint16_t offers_max;       /* MATCH offers=N: the largest datagram size in the OPT record */
    enum entry_cookie cookie;  /* MATCH cookie=... */
    uint16_t id;               /* REPLY id=N */
    uint64_t sleep_us, gap_us;
    unsigned copies, piece_bytes;
    unsigned mints; /* ADJUST mints=N */
    unsigned addrs; /* ADJUST answer_a[=N] */
    struct entry_packet *packets;
};

/* Reads up to ENTRY_END, beginning after ENTRY_BEGIN. The script owns the memory. Returns NULL and
 * sets the script's error or needs. */
struct entry *entry_read(struct script *script, struct reader *reader);

#endif
