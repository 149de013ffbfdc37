/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_CASE_BITS_H
#define NAILUP_DNS_CASE_BITS_H

/*
 * Random case in the QNAME ("0x20"). An answer that echoes the case comes from a host that saw the
 * query: an off-path attacker has to guess one bit for each letter.
 */

#include <stdint.h>

#include "dns/name.h"

enum { CASE_BITS_MAX = (NAME_WIRE_MAX + 7) / 8 }; /* enough random bytes for every name */

/* Sets the case of each letter: bit i%8 of bits[i/8] makes byte i of wire upper case. bits are
 * unpredictable and have at least (len + 7) / 8 bytes. */
void case_randomise(uint8_t *wire, uint8_t len, const uint8_t *bits);

/* Returns the number of letters in the name: the bits that a forger has to guess. */
unsigned case_letters(struct name name);

#endif
