/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RPZ_MAKE_H
#define NAILUP_TESTS_RPZ_MAKE_H

/* Makes rules and policies from text, for tests. */

#include "unit/zone/zone_make.h"

#include "rpz/rpz_policy.h"
#include "rpz/rpz_rules.h"

#define RPZ_HEAD                                                                                   \
    "$TTL 300\n"                                                                                   \
    "@ SOA ns host 7 3600 900 86400 60\n"                                                          \
    "@ NS ns.example.\n"

/* Makes the rules of a zone whose text lacks SOA and NS. */
static inline struct rpz_rules *rules_make(const char *origin, const char *text)
{
    char whole[8192];
    struct rpz_rules *rules;
    snprintf(whole, sizeof(whole), "%s%s", RPZ_HEAD, text);
    struct zone_data *data = zone_make(origin, whole);
    assert_int_equal(rpz_rules_new(&rules, data, 1 << 20), ERR_OK);
    zone_data_unref(data);
    return rules;
}

static inline struct addr addr_make(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 0), ERR_OK);
    return addr;
}

/* Returns a rule as "OWNER ACTION", or "none". */
static inline const char *rule_show(bool has_found, const struct rpz_rule *rule)
{
    static char text[NAME_TEXT_MAX + 64];
    char owner[NAME_TEXT_MAX];
    struct name name = {rule->owner, rule->owner_len};
    if (!has_found)
        return "none";
    snprintf(text, sizeof(text), "%s %s", name_format(name, owner), rpz_action_name(rule->action));
    return text;
}

static inline const char *find_name(const struct rpz_rules *rules, enum rpz_trigger trigger,
                                    const char *name)
{
    struct rpz_rule rule;
    bool has_found = rpz_rules_find_name(rules, trigger, zone_make_name(name), &rule);
    return rule_show(has_found, &rule);
}

static inline const char *find_addr(const struct rpz_rules *rules, enum rpz_trigger trigger,
                                    const char *text)
{
    struct rpz_rule rule;
    struct addr addr = addr_make(text);
    bool has_found = rpz_rules_find_addr(rules, trigger, &addr, &rule);
    return rule_show(has_found, &rule);
}

#endif
