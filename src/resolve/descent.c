/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Down from one zone cut: pure. Which of the addresses is asked, and how, is the exchange's to
 * choose; what answers mean is for iterate.
 *
 * Invariants: a cut is begun anew from above once at most. Everything that costs a message or a
 * task is drawn from the budget first.
 */
#include "resolve/descent.h"

#include "dns/edns.h"
#include "dns/rrtype.h"

struct iterate_memory *descent_memory(const struct strategy_view *view)
{
    return &view->memory->iterate;
}

bool descent_draw(const struct strategy_view *view, enum budget_kind kind)
{
    return budget_take(view->budget, kind, view->now);
}

/* ---- ends without an answer ---- */

void descent_fail(struct steps *out, uint16_t rcode, uint16_t ede)
{
    struct failure *failure = &steps_add(out, STEP_FAIL)->failure;
    *failure = failure_servfail();
    failure->rcode = rcode;
    failure_add_ede(failure, ede);
}

/* What the codes do not say by themselves, if that is known. A server's own reason says more. */
static enum err descent_reason(const struct iterate_memory *memory)
{
    const struct exchange_failure *failed = &memory->failed;
    if (failed->full || failed->any_network || failed->is_late || memory->lacked ||
        memory->ede != EDE_NONE)
        return ERR_OK;
    if (failed->any_answer)
        return ERR_NO_USE;
    return memory->addrs_asked ? ERR_NOT_TO_ASK : ERR_NO_ADDRESS;
}

/* A subtask that fails because others have used up the budget says nothing of its question, nor
 * does who fails because a look-up had no room, or fell with the budget of others: were it
 * remembered, a question that costs too much could make others fail. */
void descent_fail_unreachable(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    bool is_drained = budget_is_drained(view->budget, view->now);
    struct failure *failure = &steps_add(out, is_drained ? STEP_FAIL : STEP_ABOVE)->failure;
    *failure = failure_of_exchange(&memory->failed, memory->ede);
    if (failure->error == ERR_OK && !is_drained)
        failure->error = descent_reason(memory);
    if (memory->lacked || (view->is_sub && is_drained))
        failure->cache = false;
}

void descent_fail_exhausted(const struct strategy_view *view, struct steps *out)
{
    descent_memory(view)->failed.any_answer = false;
    descent_fail_unreachable(view, out);
}

/* ---- asking the servers of the cut ---- */

static void choose_question(const struct strategy_view *view)
{
    struct iterate_memory *memory = descent_memory(view);
    struct name zone = delegation_zone(&memory->cut);
    qname_min_next(&memory->min, view->question, zone, &memory->asked);
    if (qname_min_is_whole(view->question, &memory->asked) || budget_take_minimised(view->budget))
        return;
    qname_min_stop(&memory->min);
    qname_min_next(&memory->min, view->question, zone, &memory->asked);
}

static bool descent_is_configured(const struct iterate_memory *memory)
{
    return memory->cut.origin == DELEGATION_CONFIGURED;
}

/* Asks the addresses from the first on. */
static void descent_ask_cut(const struct strategy_view *view, uint8_t first, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (!descent_draw(view, BUDGET_QUERIES)) {
        descent_fail_exhausted(view, out);
        return;
    }
    memory->asking = true;
    memory->addrs_asked = memory->cut.addr_count;
    if (descent_is_configured(memory))
        steps_add(out, STEP_ASK)->ask = (struct step_ask){
            .group = view->zone->group,
            .group_len = view->zone->group_len,
            .recursion_desired = memory->is_last_hope && memory->met_recursive,
            .question = memory->asked,
        };
    else
        steps_add(out, STEP_ASK_CUT)->ask_cut = (struct step_ask_cut){
            .cut = &memory->cut,
            .first = first,
            .recursion_desired = memory->is_last_hope && memory->met_recursive,
            .question = memory->asked};
}

/* The question for the same servers after what they said of the one before. */
void descent_ask_on(const struct strategy_view *view, struct steps *out)
{
    choose_question(view);
    descent_ask_cut(view, 0, out);
}

/* ---- addresses that are missing ---- */

static void add_lookup(const struct strategy_view *view, unsigned server, uint16_t type,
                       struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (!descent_draw(view, BUDGET_LOOKUPS))
        return;
    memory->pending++;
    struct step *step = steps_add(out, STEP_SUBTASK);
    step->tag = (uint16_t)(DESCENT_TAG_ADDRESS + server * 2 + (type == RRTYPE_AAAA));
    step->question = (struct question){
        .name = delegation_server(&memory->cut, server), .type = type, .cls = RRCLASS_IN};
}

/* A server inside of its own zone cannot be found without glue: looking it up leads back here. */
static bool is_to_be_found(const struct iterate_memory *memory, unsigned server)
{
    return !memory->cut.servers[server].addr_count && !(memory->looked_up >> server & 1) &&
           !delegation_needs_glue(&memory->cut, server);
}

static void go_back(const struct strategy_view *view, struct steps *out);

/* All servers of the cut had their chance. Some may have given an answer that is no good sign: with
 * nothing in it, where others might have had more, or from who asks others itself. They are asked
 * once more, the latter with RD, and believed: this is all that can be had. */
static void last_hope(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (!memory->took_glue && !descent_is_configured(memory)) {
        memory->took_glue = true;
        steps_add(out, STEP_GLUE)->cut = &memory->cut;
        return;
    }
    if (memory->is_last_hope || !(memory->met_recursive || memory->met_empty)) {
        go_back(view, out);
        return;
    }
    memory->is_last_hope = true;
    descent_ask_cut(view, 0, out);
}

/* A few servers at a time, and not all of a long list: a referral to many names would make one
 * question into many for somebody else's servers (NXNSAttack). */
static void look_up(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    unsigned count = 0, before = (unsigned)__builtin_popcount(memory->looked_up);
    for (unsigned i = 0; i < memory->cut.server_count; i++) {
        if (!is_to_be_found(memory, i) || count == DESCENT_LOOKUPS_AT_ONCE ||
            before + count == DESCENT_LOOKUPS_MAX)
            continue;
        count++;
        memory->looked_up |= (uint16_t)(1u << i);
        if (view->rules->ipv4)
            add_lookup(view, i, RRTYPE_A, out);
        if (view->rules->ipv6)
            add_lookup(view, i, RRTYPE_AAAA, out);
    }
    if (!memory->pending)
        last_hope(view, out);
}

/* ---- cuts ---- */

static void descent_begin(const struct strategy_view *view, const struct delegation *cut,
                          struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (memory->pending)
        steps_add(out, STEP_LEAVE);
    memory->cut = *cut;
    memory->pending = memory->addrs_asked = memory->absent_labels = memory->refusals = 0;
    memory->looked_up = 0;
    memory->asking = false;
    memory->met_recursive = memory->met_empty = memory->is_last_hope = memory->took_glue = false;
    memory->lacked = false;
    choose_question(view);
}

void descent_enter(const struct strategy_view *view, const struct delegation *cut,
                   struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    descent_begin(view, cut, out);
    if (descent_is_configured(memory) || memory->cut.addr_count)
        descent_ask_cut(view, 0, out);
    else
        look_up(view, out);
}

uint64_t descent_mark(const struct delegation *cut)
{
    return delegation_addrs_mark(cut) ^ name_hash(delegation_zone(cut), 0);
}

/* Zones above a server may know it by an address that it does not give itself any more, or cannot
 * be asked for: better than nothing. */
void descent_take_glue(const struct strategy_view *view, const struct delegation *cut,
                       struct steps *out)
{
    delegation_inherit(&descent_memory(view)->cut, cut);
    descent_try_more(view, out);
}

void descent_enter_asked(const struct strategy_view *view, const struct delegation *cut,
                         struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    descent_begin(view, cut, out);
    memory->addrs_asked = memory->cut.addr_count;
    descent_try_more(view, out);
}

/* All servers of the cut failed. When it was known before, the parent may know of others by now;
 * once, and not when nobody could be asked: zones that need each other would send everyone who asks
 * for them to their parents again (TsuNAME). */
static void go_back(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    struct name zone = delegation_zone(&memory->cut);
    bool is_root = name_is_root(zone); /* above it are the hints */
    bool may_help = memory->from_cache && memory->cut.addr_count && !memory->revisited &&
                    (is_root || zone.len > view->zone->name.len);
    if (!may_help || !descent_draw(view, BUDGET_RESTARTS)) {
        descent_fail_unreachable(view, out);
        return;
    }
    memory->revisited = true;
    memory->failed_mark = descent_mark(&memory->cut);
    qname_min_init(&memory->min, memory->min.on);
    if (is_root) {
        memory->primed = true;
        steps_add(out, STEP_HINTS);
    } else {
        steps_add(out, STEP_CUT)->name = name_parent(zone);
    }
}

/* Where the way down begins: a DS record is in the zone above (RFC 4035 section 3.1.4.1). */
void descent_find_cut(const struct strategy_view *view, struct steps *out)
{
    struct name name = view->question->name;
    bool is_above = view->question->type == RRTYPE_DS && name.len > view->zone->name.len;
    steps_add(out, STEP_CUT)->name = is_above ? name_parent(name) : name;
}

/* Goes on with addresses that came while others were asked, or waits for those that are looked up,
 * or looks up more. */
void descent_try_more(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    if (memory->cut.addr_count > memory->addrs_asked)
        descent_ask_cut(view, memory->addrs_asked, out);
    else if (!memory->pending)
        look_up(view, out);
}
