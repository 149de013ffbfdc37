/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RPZ_RPZ_OWNER_H
#define NAILUP_RPZ_RPZ_OWNER_H

/*
 * Reads the owner name of a rule: its trigger (draft-vixie-dnsop-dns-rpz-00 section 4). Pure; any
 * thread.
 *
 *   bad.example                          the QNAME
 *   *.bad.example                        names below it
 *   24.0.2.0.192.rpz-client-ip           the client's address is in 192.0.2.0/24
 *   128.1.zz.db8.2001.rpz-ip             an address of the answer is 2001:db8::1
 *   ns.bad.example.rpz-nsdname           the name of a server of the QNAME's zone
 *   32.1.2.0.192.rpz-nsip                the address of such a server
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prefix.h"
#include "dns/name.h"

/* In the order of their precedence within a zone (section 5.4). */
enum rpz_trigger {
    RPZ_CLIENT_IP,
    RPZ_QNAME,
    RPZ_IP,
    RPZ_NSDNAME,
    RPZ_NSIP,
    RPZ_TRIGGERS,
};

/* Returns "client-ip", "qname", "ip", "nsdname" or "nsip". */
const char *rpz_trigger_name(enum rpz_trigger trigger);

/* Whether the trigger is a name, and not a prefix of addresses. */
static inline bool rpz_trigger_is_name(enum rpz_trigger trigger)
{
    return trigger == RPZ_QNAME || trigger == RPZ_NSDNAME;
}

struct rpz_owner {
    enum rpz_trigger trigger;
    bool is_wildcard;     /* the rule is about names below name */
    struct name name;     /* in lower case, without the zone's name; borrows from wire */
    struct prefix prefix; /* for triggers about addresses */
    uint8_t wire[NAME_WIRE_MAX];
};

enum rpz_owner_kind {
    RPZ_OWNER_RULE,
    RPZ_OWNER_APEX,    /* the zone's own name: its records are not rules */
    RPZ_OWNER_UNSOUND, /* below "rpz-...", and not one of the forms above */
};

/* Reads an owner at or below origin (MUST). Fills *out for RPZ_OWNER_RULE. A prefix with host bits
 * is unsound: its author meant something else. */
enum rpz_owner_kind rpz_owner_read(struct rpz_owner *out, struct name owner, struct name origin);

#endif
