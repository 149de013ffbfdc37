/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RPZ_RPZ_RULES_H
#define NAILUP_RPZ_RPZ_RULES_H

/*
 * The rules of one version of a response policy zone. They are made once from the zone's records,
 * off the workers' threads, and never change. An atomic count of references decides when they are
 * freed, so any thread may read them.
 *
 * A rule about a name costs some twenty bytes and the name beside its record in the zone. The exact
 * and the wildcard rule of one name share this. Local data stays in the zone, which the rules hold.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"
#include "rpz/rpz_owner.h"

struct rpz_rules;
struct zone_data;

/* The actions of rules (draft section 3). */
enum rpz_action {
    RPZ_NONE,     /* no rule */
    RPZ_NXDOMAIN, /* CNAME . */
    RPZ_NODATA,   /* CNAME *. */
    RPZ_PASSTHRU, /* CNAME rpz-passthru. */
    RPZ_DROP,     /* CNAME rpz-drop. */
    RPZ_TCP_ONLY, /* CNAME rpz-tcp-only. */
    RPZ_DATA,     /* the records of the owner, a CNAME included */
    /* Never the action of a rule in a zone; only the operator sets these: */
    RPZ_CNAME,    /* a CNAME to the operator's name */
    RPZ_DISABLED, /* the rule is logged and counted, and has no effect */
    RPZ_ACTIONS,
};

/* Returns "none", "nxdomain", "nodata", "passthru", "drop", "tcp-only", "local-data", "cname" or
 * "disabled". */
const char *rpz_action_name(enum rpz_action action);

/* Returns the action that the target of a rule's CNAME names (in lower case): RPZ_DATA for an
 * ordinary name, RPZ_NONE for a name "rpz-..." without a meaning. */
enum rpz_action rpz_target_action(struct name target);

/* A rule that was found. */
struct rpz_rule {
    enum rpz_trigger trigger;
    enum rpz_action action;
    bool is_wildcard;      /* for names: a wildcard matched */
    uint8_t prefix_length; /* for addresses, in the bits of IPv6: 192.0.2.0/24 has 120 */
    uint8_t owner_len;
    uint8_t owner[NAME_WIRE_MAX]; /* in the zone, in lower case */
};

/*
 * Makes the rules of the zone and holds a reference to it. Records that form no valid rule have no
 * effect; rpz_rules_skipped() counts them: an owner that rpz_owner_read() finds unsound, a CNAME
 * beside other records or another CNAME, an unknown target "rpz-...", a DNAME. DNSSEC records are
 * no rules and are not counted. A rule takes effect as a whole or not at all.
 *
 * max_bytes bounds rpz_rules_bytes(). ERR_LIMIT, ERR_NO_MEMORY; then *out is NULL. A million rules
 * take a second.
 */
MUST_USE enum err rpz_rules_new(struct rpz_rules **out, struct zone_data *data, size_t max_bytes);

struct rpz_rules *rpz_rules_ref(struct rpz_rules *rules);
void rpz_rules_unref(struct rpz_rules *rules); /* NULL is allowed */

/* Returns the number of rules with this trigger. */
size_t rpz_rules_count(const struct rpz_rules *rules, enum rpz_trigger trigger);

/* Returns the number of owners whose records form no valid rule. */
size_t rpz_rules_skipped(const struct rpz_rules *rules);

/* Returns the bytes of memory, without those of the zone. */
size_t rpz_rules_bytes(const struct rpz_rules *rules);

/* Borrowed from the rules. */
const struct zone_data *rpz_rules_zone(const struct rpz_rules *rules);

/* Finds the rule with RPZ_QNAME or RPZ_NSDNAME (MUST) for a name in lower case: the name itself
 * before wildcards, then the wildcard with the most labels. Fills *out unless it returns false. */
bool rpz_rules_find_name(const struct rpz_rules *rules, enum rpz_trigger trigger, struct name name,
                         struct rpz_rule *out);

/* Returns false only if no rule with RPZ_QNAME is about the name (in lower case). Cheaper than a
 * search; true may be wrong. */
bool rpz_rules_may_have_qname(const struct rpz_rules *rules, struct name name);

/* Finds the rule with the longest prefix for an address; any other trigger (MUST). */
bool rpz_rules_find_addr(const struct rpz_rules *rules, enum rpz_trigger trigger,
                         const struct addr *addr, struct rpz_rule *out);

/* Whether rpz_rules_find_addr() finds one. */
bool rpz_rules_have_addr(const struct rpz_rules *rules, enum rpz_trigger trigger,
                         const struct addr *addr);

#endif
