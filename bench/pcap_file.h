/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_PCAP_FILE_H
#define NAILUP_BENCH_PCAP_FILE_H

/*
 * The DNS queries of a pcap or pcapng file (bench/pcap_reader.h): packets over UDP to port 53 that
 * hold one question of class IN, with their times and source addresses.
 *
 * Skipped: all other packets, fragments, and queries over TCP. Link types: Ethernet with VLAN tags,
 * Linux cooked captures (both versions), raw IP and loopback.
 */

#include <stddef.h>
#include <stdio.h>

#include "capture.h"
#include "pcap_reader.h"

/* Reads all of `in`. *packets is the number of packets read: after PCAP_CUT and PCAP_PACKET, the
 * next one has the fault. After a fault the capture is empty. */
enum pcap_fault pcap_file_load(struct capture *capture, FILE *in, size_t *packets);

/* Returns a static sentence that says what is wrong and what to do. */
const char *pcap_fault_text(enum pcap_fault fault);

#endif
