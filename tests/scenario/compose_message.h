/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_COMPOSE_MESSAGE_H
#define NAILUP_TESTS_SCENARIO_COMPOSE_MESSAGE_H

/* A message that is being composed from the lines of an entry: REPLY words and records. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "dns/header.h"
#include "dns/name.h"

struct compose_message {
    uint16_t id, flags, rcode;
    bool edns, dnssec_ok;
    uint8_t edns_version;
    uint16_t udp_size;
    struct buf options;
    struct buf sections[SECTION_COUNT];
    uint16_t counts[SECTION_COUNT];
    struct buf hex; /* the whole message, if it is given in hexadecimal */
    uint32_t default_ttl;
    uint8_t origin_wire[NAME_WIRE_MAX];
    struct name origin;
};

void compose_message_init(struct compose_message *work);
void compose_message_deinit(struct compose_message *work);

/* Adds a word of a REPLY line: a flag, an rcode, an opcode, or one of nailup's words with '='. */
bool compose_message_word(struct compose_message *work, const char *word);

/* Adds a line of SECTION QUESTION, or a record of another section, $TTL or $ORIGIN. */
bool compose_message_question(struct compose_message *work, const char *line);
bool compose_message_record(struct compose_message *work, enum section section, const char *line);

/* Adds the digits of HEX_ANSWER (into work->hex) or HEX_EDNSDATA (into work->options). */
bool compose_message_hex(struct buf *out, const char *line);

/* Returns the bytes, from malloc(), or NULL if they do not fit a message. */
uint8_t *compose_message_finish(struct compose_message *work, size_t *len);

#endif
