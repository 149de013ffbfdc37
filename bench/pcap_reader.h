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
    PCAP_PACKET_MAX = 262144,                 /* the bound on a packet; tcpdump has the same */
    PCAP_BLOCK_MAX = PCAP_PACKET_MAX + 65536, /* the bound on a block: a packet and its options */
    PCAP_INTERFACES_MAX = 256,                /* the bound on the interfaces of a section */
};

/* Why a file is not read. */
enum pcap_fault {
    PCAP_FINE,
    PCAP_NO_PCAP, /* the file begins with other bytes */
    PCAP_LINK,    /* the link type is unknown; in pcapng: and no other interface has a query */
    PCAP_CUT,     /* the file ends within a packet or a block */
    PCAP_PACKET,  /* a packet claims to be longer than PCAP_PACKET_MAX or than its block */
    PCAP_BLOCK,   /* a block, or an option in it, has a wrong length, or its two lengths differ */
    PCAP_INTERFACES, /* a section has more than PCAP_INTERFACES_MAX interfaces */
    PCAP_EMPTY,      /* no packet is a query */
    PCAP_FULL,       /* the queries exceed memory or 4 GiB */
};

/* Link types, with their numbers in files. */
enum pcap_link {
    LINK_UNKNOWN = -1, /* the reader skips the packets of this interface */
    /* a protocol family of four bytes, in the byte order of the machine that wrote it */
    LINK_NULL = 0,
    LINK_ETHERNET = 1,
    LINK_RAW_OPENBSD = 12,
    LINK_RAW = 101,
    LINK_LOOP = 108,
    LINK_COOKED = 113,
    LINK_COOKED_2 = 276,
};

struct pcap_packet {
    struct span bytes; /* in the reader's room, valid until the next call */
    enum pcap_link link;
    uint64_t at_ns; /* ns since 1970, or CAPTURE_NO_TIME in a simple block */
};

struct pcap_interface {
    enum pcap_link link;
    uint8_t resolution; /* the unit is 10^-resolution s, or with bit 7 set 2^-resolution s */
    uint64_t offset_s;  /* added to times, modulo 2^64 */
};

/* The caller sets `in` and `room`. The rest starts at zero. */
struct pcap {
    FILE *in;
    uint8_t *room;          /* holds PCAP_BLOCK_MAX bytes */
    bool is_blocks;         /* the file is pcapng */
    bool is_swapped;        /* the numbers are little-endian */
    bool has_unknown_link;  /* at least one interface has an unknown type */
    size_t interface_count; /* pcap: 1; pcapng: the interfaces of the section */
    struct pcap_interface interfaces[PCAP_INTERFACES_MAX];
};

/* Reads the head of the file, which tells its format. */
enum pcap_fault pcap_begin(struct pcap *pcap);

/* Reads the next packet. *is_end: there is no further packet. */
enum pcap_fault pcap_next(struct pcap *pcap, struct pcap_packet *packet, bool *is_end);

#endif
