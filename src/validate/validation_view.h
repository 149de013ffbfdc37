/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_VALIDATION_VIEW_H
#define NAILUP_VALIDATE_VALIDATION_VIEW_H

/* The message that a validation judges, the rules, and the memory that it works in. */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/message.h"
#include "dns/question.h"
#include "validate/anchors.h"
#include "validate/canonical.h"
#include "validate/dnskey.h"
#include "validate/rrsets.h"
#include "validate/rrsig.h"

enum {
    VALIDATION_KEYS_MAX = 32, /* keys of a zone that count */
    VALIDATION_DS_MAX = 8,    /* DS records of a zone that count */
};

/* The worker's memory for a validation. Each message reuses it, so a validation that waits loses
 * it. */
struct validation_space {
    uint64_t owner;      /* serial of the validation whose message was read last */
    struct rrsets sets;  /* of that message */
    struct rrsets other; /* of the last answer that an event brought */
    uint16_t key_count;
    uint16_t ds_count;
    uint8_t keys_zone_len; /* 0: no zone's keys are at hand */
    struct dnskey key[VALIDATION_KEYS_MAX];
    struct ds ds[VALIDATION_DS_MAX];
    uint8_t keys_zone[NAME_WIRE_MAX];
    uint8_t keys_bytes[MESSAGE_MAX], ds_bytes[MESSAGE_MAX]; /* key and ds borrow from these */
    uint8_t signed_bytes[CANONICAL_MAX];
};

/* The message to judge, and the rules; borrowed for each call and the same in all calls. The
 * anchors may change between calls: a reload does not wait for validations. */
struct validation_view {
    const struct message *message;   /* as a server sent it; its bytes outlive the validation */
    const struct question *question; /* in lower case */
    enum answer_kind kind;           /* POSITIVE, NODATA or NXDOMAIN */
    bool leads_out;  /* POSITIVE: the alias chain leads to a name that another message is for */
    struct name end; /* the last name of the alias chain; the QNAME without aliases */
    struct name asked_zone;  /* of the servers that answered; a forwarder: its zone's name */
    bool zone_is_configured; /* the operator named the servers of asked_zone, which is not the root
                              */
    bool zone_is_cut;        /* asked_zone is a zone cut, and not merely a forwarded domain */
    bool is_at_qname; /* all data that is needed belongs to the QNAME: no alias leads on within
                         the message */
    bool allow_sha1;
    struct rrsig_clock clock;
    const struct anchors *anchors;
    struct validation_space *space;
    unsigned *units_left;    /* of the client's question */
    unsigned *failures_left; /* wrong signatures of the client's question */
};

#endif
