/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_DNS_SAMPLE_H
#define NAILUP_TESTS_DNS_SAMPLE_H

/* Names and messages that several tests of dns use. Include cmocka first. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/span.h"
#include "dns/message.h"
#include "dns/name.h"

/* Makes a name from sound text. Each call has its own static bytes. */
#define NAME(text) sample_name((uint8_t[NAME_WIRE_MAX]){0}, text)

static inline struct name sample_name(uint8_t *wire, const char *text)
{
    struct name name;
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

#define BYTES(literal) span_of(literal, sizeof(literal) - 1)

/* The answer to www.example.com A: a CNAME to host.example.com, its address, and an OPT record. */
static const char sample_answer_bytes[] =
    "\x12\x34\x81\x80\x00\x01\x00\x02\x00\x00\x00\x01"
    "\x03www\x07"
    "example\x03"
    "com\x00\x00\x01\x00\x01"
    "\xc0\x0c\x00\x05\x00\x01\x00\x00\x0e\x10\x00\x07\x04host\xc0\x10"
    "\xc0\x2d\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x01"
    "\x00\x00\x29\x04\xd0\x00\x00\x80\x00\x00\x00";

#define SAMPLE_ANSWER BYTES(sample_answer_bytes)

static inline struct message sample_parse(struct span bytes)
{
    struct message message;
    assert_int_equal(message_parse(&message, bytes), MESSAGE_OK);
    return message;
}

#endif
