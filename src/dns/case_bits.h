/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_CASE_BITS_H
#define NAILUP_DNS_CASE_BITS_H

/*
 * Random case in the name of a query ("0x20"): an answer that echoes it was made by someone who saw
 * the query, since a blind forger has to guess a bit for each letter.
 */

#include <stdint.h>

#include "dns/name.h"

enum { CASE_BITS_MAX = (NAME_WIRE_MAX + 7) / 8 }; /* random bytes enough for every name */

/* Gives each letter of the name in wire the case of its bit: bit i%8 of bits[i/8] set is upper
 * case. bits are unpredictable and hold at least (len + 7) / 8 bytes. */
void case_randomise(uint8_t *wire, uint8_t len, const uint8_t *bits);

/* Letters in the name: the bits a forger has to guess. */
unsigned case_letters(struct name name);

#endif
