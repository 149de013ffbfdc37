/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any text as a response policy zone, looks up names and addresses of its rules, and writes
 * the replies. It also reads each owner separately.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/compose.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "rpz/rpz_owner.h"
#include "rpz/rpz_policy.h"
#include "rpz/rpz_reply.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"
#include "zone/zone_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 20 };

static const uint8_t origin_wire[] = "\3rpz";
static const char head[] = "@ 60 SOA a b 1 2 3 4 5\n";

static char empty[] = "";
static struct rpz_zone_options options = {.wire = "\3rpz", .name_len = 5, .log_name = empty};

static void check_reply(const struct question *question, const struct rpz_decision *decision)
{
    static struct compose_space space;
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    struct answer answer;
    struct message message;
    if (!rpz_action_writes(decision->action))
        return;
    (void)rpz_reply_write(&answer, &space, question, decision, NULL, 0, wire, &target);
    MUST(message_parse(&message, answer.message) == MESSAGE_OK);
    MUST(message_check_rdata(&message));
}

/* Each rule that was read must be found by its own trigger. */
static void check_owner(const struct rpz_policy *policy, const struct rpz_owner *owner,
                        bool is_sound)
{
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_CNAME, RRTYPE_ANY, RRTYPE_TXT};
    struct addr client = {.in = {.sin_family = AF_INET}};
    struct question question = {.name = name_root(), .type = RRTYPE_A, .cls = RRCLASS_IN};
    if (owner->trigger == RPZ_QNAME && !owner->is_wildcard)
        question.name = owner->name;
    if (owner->trigger == RPZ_CLIENT_IP)
        client = owner->prefix.addr;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct rpz_decision decision;
        struct rpz_query query = {.client = &client, .question = &question, .is_look = true};
        question.type = types[i];
        enum rpz_step step = rpz_policy_ask(policy, &query, &decision);
        bool must_match = is_sound && question.name.len > 1 && rpz_trigger_is_name(owner->trigger);
        MUST(!must_match || step != RPZ_CLEAR);
        if (step == RPZ_DECIDED)
            check_reply(&question, &decision);
    }
}

static void check_zone(struct zone_data *zone, struct rpz_rules *rules)
{
    const struct rpz_policy_entry entry = {&options, rules};
    struct rpz_policy *policy = rpz_policy_new(&entry, 1, false);
    struct zone_iter iter;
    struct zone_record record;
    MUST(policy);
    zone_iter_init(&iter, zone);
    bool is_sound = rpz_rules_skipped(rules) == 0;
    while (zone_iter_next(&iter, &record)) {
        struct rpz_owner owner;
        bool is_rule =
            rpz_owner_read(&owner, record.owner, zone_data_origin(zone)) == RPZ_OWNER_RULE;
        bool counts = record.type == RRTYPE_CNAME || record.type == RRTYPE_A;
        if (is_rule)
            check_owner(policy, &owner, is_sound && counts);
    }
    rpz_policy_unref(policy);
}

static struct zone_data *read_text(const uint8_t *data, size_t size)
{
    struct name origin = {origin_wire, sizeof(origin_wire)};
    struct zone_builder *builder = zone_builder_new(origin, BYTES_MAX);
    struct zone_file_fault fault;
    struct zone_data *zone = NULL;
    MUST(builder);
    MUST(zone_file_read(builder, span_of(head, sizeof(head) - 1), &fault) == ERR_OK);
    /* The records before a fault stay, so that more inputs reach the code below. */
    if (zone_file_read(builder, span_of(data, size), &fault))
        MUST(fault.sentence);
    if (zone_builder_finish(&builder, &zone))
        MUST(!zone);
    return zone;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rpz_rules *rules;
    log_set_level(LOG_ERROR);
    struct zone_data *zone = read_text(data, size);
    if (!zone)
        return 0;
    if (rpz_rules_new(&rules, zone, BYTES_MAX) == ERR_OK) {
        check_zone(zone, rules);
        rpz_rules_unref(rules);
    }
    zone_data_unref(zone);
    return 0;
}
