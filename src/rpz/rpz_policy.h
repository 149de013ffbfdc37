/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RPZ_RPZ_POLICY_H
#define NAILUP_RPZ_RPZ_POLICY_H

/*
 * Response policy: the zones in their order, and the decision about a query. It is immutable except
 * for its counters, which are atomic, so all workers share it.
 *
 * The first rule that matches decides (draft-vixie-dnsop-dns-rpz-00 section 5), in this order:
 *   1. the QNAME before the target of its alias, and each target before the next one
 *   2. the zones in the order of the configuration
 *   3. the triggers in the order of enum rpz_trigger
 *   4. for names: a rule about the name itself before wildcards, then the wildcard with the most
 *      labels; of several servers that are still equal, the one whose name (not the rule's) comes
 *      last in canonical order (RFC 4034 section 6.1)
 *      for addresses: the longest prefix, then the smallest address
 *
 * rpz_policy_ask() decides before any look-up, so no server is asked about a listed name. With
 * wait_recurse, a rule waits for the answer where an earlier zone has rules about answers or
 * servers. rpz_policy_judge() decides with the answer.
 *
 * A client that asks for signatures (DO) gets signed answers as they are, unless the zone has
 * break_dnssec. So a rule about the QNAME waits for the answer to such a query.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "dns/message.h"
#include "dns/question.h"
#include "rpz/rpz_options.h"
#include "rpz/rpz_rules.h"

struct rpz_policy;
struct rpz_policy_zone;

enum {
    RPZ_ALIASES_MAX = 12,   /* targets of aliases that are judged */
    RPZ_ADDRESSES_MAX = 256 /* listed addresses of an answer that are compared */
};

struct rpz_policy_entry {
    const struct rpz_zone_options *options;
    struct rpz_rules *rules; /* NULL: not loaded, the zone has no effect */
};

/* Makes the policy of count zones (at most RPZ_ZONES_MAX, MUST). Copies the options and takes
 * references to the rules. Returns one reference, or NULL when out of memory. */
struct rpz_policy *rpz_policy_new(const struct rpz_policy_entry *entries, size_t count,
                                  bool wait_recurse);

/* Continues the counters of zones that have the same name in both. Call it before other threads
 * have the new policy. */
void rpz_policy_take_counters(struct rpz_policy *policy, const struct rpz_policy *before);

struct rpz_policy *rpz_policy_ref(struct rpz_policy *policy);
void rpz_policy_unref(struct rpz_policy *policy); /* NULL is allowed */

/* ---- deciding ---- */

/* Zones that do not apply to a client are a mask: bit i is the zone rpz_policy_at(policy, i). 0:
 * all zones apply. rpz_choice.h makes such masks. */

struct rpz_query {
    const struct addr *client;
    const struct question *question; /* its name is in lower case */
    uint32_t except;                 /* the zones that do not apply */
    bool dnssec_ok;
    bool is_stream;
    bool is_look; /* nothing is counted or logged */
};

struct rpz_decision {
    const struct rpz_policy_zone *zone; /* NULL: no rule decides */
    enum rpz_action action;             /* with the operator's override */
    struct rpz_rule rule;
    struct name name; /* the QNAME or the target that the rule is about; borrows from wire */
    uint8_t wire[NAME_WIRE_MAX];
};

enum rpz_step {
    RPZ_DECIDED, /* *out says what the client gets */
    RPZ_EXEMPT,  /* PASSTHRU: *out has the rule, and the answer is not judged */
    RPZ_CLEAR,   /* no rule about client or QNAME: only the rest of the answer is judged */
    RPZ_WAIT,    /* judge the answer as a whole */
};

struct answer;

/* Whether a rule about the client matches. */
bool rpz_policy_lists_client(const struct rpz_policy *policy, uint32_t except,
                             const struct addr *client);

/* Returns whether a rule of an applied zone is about this QNAME (lower case). Where none is, and
 * none is about the client, rpz_policy_ask() returns RPZ_CLEAR. Most queries match none and pay
 * only for this look. */
bool rpz_policy_may_ask(const struct rpz_policy *policy, uint32_t except, struct name name);

/* Returns false only if no rule matches this answer to a question for this name. Then
 * rpz_policy_judge() with is_clear need not be called. True may be wrong. The name is in lower
 * case. */
bool rpz_policy_may_judge(const struct rpz_policy *policy, uint32_t except, struct name name,
                          const struct answer *answer);

/* Decides before the look-up. TCP-only over a stream is RPZ_EXEMPT. */
enum rpz_step rpz_policy_ask(const struct rpz_policy *policy, const struct rpz_query *query,
                             struct rpz_decision *out);

/* The servers of a name's zone and of the zones above it. */
struct rpz_servers {
    const struct name *names; /* in lower case */
    size_t name_count;
    const struct addr *addrs;
    size_t addr_count;
};

struct rpz_answer {
    struct span message; /* in the form of cache/answer.h */
    bool is_signed;
    bool is_local; /* the operator's own data: triggers about answers and servers do not apply */
    /* Finds the servers for a name of the alias chain; valid until the next call. is_last: the
     * chain ends there. NULL: they are not known. Called once for each name, in their order, before
     * the rules about the name are searched; not called after a name for which a rule decides. */
    const struct rpz_servers *(*servers)(void *context, struct name name, bool is_last);
    void *context;
};

/* Decides with the answer: RPZ_DECIDED, RPZ_EXEMPT or RPZ_CLEAR. is_clear: rpz_policy_ask() has
 * returned RPZ_CLEAR. */
enum rpz_step rpz_policy_judge(const struct rpz_policy *policy, const struct rpz_query *query,
                               const struct rpz_answer *answer, bool is_clear,
                               struct rpz_decision *out);

/* Whether the targets of aliases are judged for this question. */
bool rpz_policy_follows(const struct question *question);

/* Finds the next name of the alias chain. *target borrows wire. False: the name has no alias. */
bool rpz_policy_find_target(const struct message *message, struct name name,
                            uint8_t wire[NAME_WIRE_MAX], struct name *target);

/* Whether a zone outside this mask has rules about servers. */
bool rpz_policy_needs_servers(const struct rpz_policy *policy, uint32_t except);

/* Whether a zone outside this mask has rules about addresses of servers. */
bool rpz_policy_needs_server_addrs(const struct rpz_policy *policy, uint32_t except);

/* ---- zones ---- */

size_t rpz_policy_count(const struct rpz_policy *policy);
const struct rpz_policy_zone *rpz_policy_at(const struct rpz_policy *policy, size_t at);
const struct rpz_zone_options *rpz_policy_zone_options(const struct rpz_policy_zone *zone);
struct rpz_rules *rpz_policy_zone_rules(const struct rpz_policy_zone *zone); /* NULL: none */
bool rpz_policy_waits(const struct rpz_policy *policy); /* as given to rpz_policy_new() */

/* How often rules of the zone decided with this action. RPZ_NONE: how often a rule matched, and the
 * answer was left alone because it is signed. Any thread. */
uint64_t rpz_policy_zone_hits(const struct rpz_policy_zone *zone, enum rpz_action action);

#endif
