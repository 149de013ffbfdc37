/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_PCAP_READER_H
#define NAILUP_BENCH_PCAP_READER_H

/*
 * The packets of a capture, one after the other. Two formats: pcap, as tcpdump -w writes it, and
 * pcapng, as dumpcap and Wireshark do (draft-ietf-opsawg-pcapng). A pcapng file may have several
 * sections and interfaces; blocks that hold no packet are skipped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/span.h"
#include "capture.h"

enum {
    PCAP_PACKET_MAX = 262144,                 /* bytes of a packet; tcpdump's own bound */
    PCAP_BLOCK_MAX = PCAP_PACKET_MAX + 65536, /* bytes of a block: a packet and its options */
    PCAP_INTERFACES_MAX = 256,                /* of a section */
};

/* The reason why a file is not read. */
enum pcap_fault {
    PCAP_FINE,
    PCAP_NO_PCAP,    /* it begins with other bytes */
    PCAP_LINK,       /* an unknown link type; in pcapng, and no other one has a query */
    PCAP_CUT,        /* it ends within a packet or a block */
    PCAP_PACKET,     /* a packet claims to be longer than PCAP_PACKET_MAX or than its block */
    PCAP_BLOCK,      /* a block or an option in it is too short or too long, or has two lengths */
    PCAP_INTERFACES, /* a section has more than PCAP_INTERFACES_MAX */
    PCAP_EMPTY,      /* no packet is a query */
    PCAP_FULL,       /* more queries than memory or 4 GiB hold */
};

/* Link types with the numbers that files use. */
enum pcap_link {
    LINK_UNKNOWN = -1, /* packets of this interface are skipped */
    LINK_NULL = 0, /* a protocol family of four bytes, in the order of the machine that wrote it */
    LINK_ETHERNET = 1,
    LINK_RAW_OPENBSD = 12,
    LINK_RAW = 101,
    LINK_LOOP = 108,
    LINK_COOKED = 113,
    LINK_COOKED_2 = 276,
};

struct pcap_packet {
    struct span bytes; /* in the reader's room until the next call */
    enum pcap_link link;
    uint64_t at_ns; /* since 1970; CAPTURE_NO_TIME in a simple block, which has none */
};

struct pcap_interface {
    enum pcap_link link;
    uint8_t resolution; /* a unit of time is 10^-resolution s, or with bit 7 set 2^-resolution s */
    uint64_t offset_s;  /* is added to times, modulo 2^64 */
};

/* The caller sets in and room; the rest is zero at first. */
struct pcap {
    FILE *in;
    uint8_t *room;          /* PCAP_BLOCK_MAX */
    bool is_blocks;         /* pcapng */
    bool is_swapped;        /* the numbers are in little endian */
    bool has_unknown_link;  /* an interface has one */
    size_t interface_count; /* pcap: 1; pcapng: those of the section */
    struct pcap_interface interfaces[PCAP_INTERFACES_MAX];
};

/* Reads the head of the file, which says its format. */
enum pcap_fault pcap_begin(struct pcap *pcap);

/* Reads the next packet. Without one, *is_end. */
enum pcap_fault pcap_next(struct pcap *pcap, struct pcap_packet *packet, bool *is_end);

#endif
