/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides what each answer of an authoritative server means for the descent: pure. The exchange
 * chooses among addresses; classify, scrub and delegation say which parts of a message are
 * believed.
 *
 * Invariants: a cut entered after a referral is strictly below the previous cut. The task goes back
 * above a cut once at most. Everything that costs a message or a task is drawn from the budget
 * first. A function that may append STEP_FAIL appends it last.
 */
#include "resolve/strategy_iterate.h"

#include <string.h>

#include "dns/edns.h"
#include "dns/rrtype.h"

static struct iterate_memory *descent_memory(const struct strategy_view *view)
{
    return &view->memory->iterate;
}

/* Draws one unit of this kind from the budget. */
static bool descent_draw(const struct strategy_view *view, enum budget_kind kind)
{
    return budget_take(view->budget, kind, view->now);
}

/* ---- ends without an answer ---- */

static void descent_fail(struct steps *out, uint16_t rcode, uint16_t ede)
{
    struct failure *failure = &steps_add(out, STEP_FAIL)->failure;
    *failure = failure_servfail();
    failure->rcode = rcode;
    failure_add_ede(failure, ede);
}

/* Returns a reason for which there is no EDE code. A server's own reason says more. */
static enum err descent_reason(const struct iterate_memory *memory)
{
    const struct exchange_failure *failed = &memory->failed;
    if (failed->full || failed->any_network || failed->is_late || memory->lookup_lacked_room ||
        memory->ede != EDE_NONE)
        return ERR_OK;
    if (failed->any_answer)
        return ERR_NO_USE;
    return memory->addrs_asked ? ERR_NOT_TO_ASK : ERR_NO_ADDRESS;
}

/* Fails with the reasons of the last exchange (RFC 8914: 22, 23). The failure is not remembered
 * where other tasks used up a subtask's budget or where a look-up had no room: such a failure says
 * nothing about the question, and a costly question could make others fail. It is remembered
 * briefly where servers were left unasked: the next question may find a good one, and the questions
 * of many clients do not ask the useless ones each time. */
static void descent_fail_unreachable(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    bool is_drained = budget_is_drained(view->budget, view->now);
    struct failure *failure = &steps_add(out, is_drained ? STEP_FAIL : STEP_ABOVE)->failure;
    *failure = failure_of_exchange(&memory->failed, memory->ede);
    if (failure->error == ERR_OK && !is_drained)
        failure->error = descent_reason(memory);
    failure->is_brief = memory->failed.left_some;
    if (memory->lookup_lacked_room || (view->is_sub && is_drained))
        failure->cache = false;
}

/* The question costs more than it may. */
static void descent_fail_exhausted(const struct strategy_view *view, struct steps *out)
{
    descent_memory(view)->failed.any_answer = false;
    descent_fail_unreachable(view, out);
}

/* ---- asking the servers of the cut ---- */

static void choose_question(const struct strategy_view *view)
{
    struct iterate_memory *memory = descent_memory(view);
    struct name zone = delegation_zone(&memory->cut);
    if (memory->cut.origin == DELEGATION_HELD) { /* nothing is shown to a server */
        memory->asked = *view->question;
        return;
    }
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

/* Whether the zone can be asked although the cut has no addresses. */
static bool descent_needs_no_addr(const struct iterate_memory *memory)
{
    return descent_is_configured(memory) || memory->cut.origin == DELEGATION_HELD;
}

/* Asks the addresses, beginning with this one. */
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
            .recursion_desired = memory->is_last_hope && memory->saw_recursive,
            .question = memory->asked,
        };
    else
        steps_add(out, STEP_ASK_CUT)->ask_cut = (struct step_ask_cut){
            .cut = &memory->cut,
            .first = first,
            .recursion_desired = memory->is_last_hope && memory->saw_recursive,
            .question = memory->asked};
}

/* Sends the same servers the question that follows from their last answer. */
static void descent_ask_on(const struct strategy_view *view, struct steps *out)
{
    choose_question(view);
    descent_ask_cut(view, 0, out);
}

/* ---- missing addresses ---- */

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

/* Whether the server has an address of an IP version that is used. */
static bool has_useful_addr(const struct strategy_view *view, unsigned server)
{
    const struct delegation *cut = &descent_memory(view)->cut;
    for (unsigned i = 0; i < cut->addr_count; i++)
        if (cut->addrs[i].server == server &&
            (cut->addrs[i].len == 4 ? view->rules->ipv4 : view->rules->ipv6))
            return true;
    return false;
}

/* A server inside its own zone cannot be found without glue: a look-up leads back here. */
static bool may_be_looked_up(const struct strategy_view *view, unsigned server)
{
    const struct iterate_memory *memory = descent_memory(view);
    return !has_useful_addr(view, server) && !(memory->looked_up >> server & 1) &&
           !delegation_needs_glue(&memory->cut, server);
}

/* The addresses that are looked up first. */
static uint16_t first_type(const struct strategy_view *view)
{
    return view->rules->ipv4 ? RRTYPE_A : RRTYPE_AAAA;
}

/* Looks up the server's IPv6 addresses after or beside its IPv4 addresses. */
static void look_up_twice(const struct strategy_view *view, unsigned server, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    unsigned done = memory->looked_up_twice | memory->without_any;
    if (!view->rules->ipv4 || !view->rules->ipv6 || done >> server & 1)
        return;
    memory->looked_up_twice |= (uint16_t)(1u << server);
    add_lookup(view, server, RRTYPE_AAAA, out);
}

static void go_back(const struct strategy_view *view, struct steps *out);

/* After bogus answers no other server of the cut is left. */
static void ask_bogus_again(const struct strategy_view *view, struct steps *out)
{
    descent_memory(view)->retry = BOGUS_RETRY_SAME;
    descent_ask_cut(view, 0, out);
}

/* All servers of the cut have failed. Some may have given a doubtful answer: an empty one, or one
 * from a server that recurses itself. They are asked again, the latter with RD, and believed,
 * because there is nothing better. Before that, the glue of zones above is tried. */
static void last_hope(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (!memory->took_glue && !descent_needs_no_addr(memory)) {
        memory->took_glue = true;
        steps_add(out, STEP_GLUE)->cut = &memory->cut;
        return;
    }
    if (memory->retry != BOGUS_RETRY_NONE) {
        ask_bogus_again(view, out);
        return;
    }
    if (memory->is_last_hope || !(memory->saw_recursive || memory->saw_empty)) {
        go_back(view, out);
        return;
    }
    memory->is_last_hope = true;
    descent_ask_cut(view, 0, out);
}

/* Looks up servers that were not looked up yet: few at a time, and few that do not exist. */
static void look_up_new(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    unsigned count = 0, before = (unsigned)__builtin_popcount(memory->looked_up);
    bool is_doubtful = view->is_lookup && view->budget->absent_count > 0;
    unsigned at_once = is_doubtful ? 1 : DESCENT_LOOKUPS_AT_ONCE;
    if ((view->is_lookup || before) && !budget_has_absent_left(view->budget)) {
        for (unsigned i = 0; i < memory->cut.server_count; i++)
            memory->lookup_lacked_room |= may_be_looked_up(view, i);
        return;
    }
    for (unsigned i = 0; i < memory->cut.server_count; i++) {
        if (!may_be_looked_up(view, i) || count == at_once ||
            before + count == DESCENT_LOOKUPS_MAX ||
            memory->absent_servers + count == DESCENT_ABSENT_MAX)
            continue;
        memory->looked_up |= (uint16_t)(1u << i);
        add_lookup(view, i, first_type(view), out);
        if (before + count == 0 && !view->is_lookup)
            look_up_twice(view, i, out);
        count++;
    }
}

/* Looks up the other addresses of servers whose known ones did not help. */
static void look_up_again(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    for (unsigned i = 0; i < memory->cut.server_count; i++)
        if (memory->looked_up >> i & 1 && memory->pending < DESCENT_LOOKUPS_AT_ONCE)
            look_up_twice(view, i, out);
}

/* Looks up a few servers at a time, and not all of a long list: a referral to many names would turn
 * one question into many for other zones' servers (NXNSAttack). A name that does not exist has no
 * addresses of the other IP version either. So only the first server is looked up for both versions
 * at once, and the others for the second one if the first one does not help. A look-up that another
 * look-up needs tries one server after the other when a server without addresses was found, because
 * such look-ups multiply. */
static void look_up(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    look_up_new(view, out);
    if (!memory->pending)
        look_up_again(view, out);
    if (!memory->pending)
        last_hope(view, out);
}

/* ---- entering a cut ---- */

static void descent_begin(const struct strategy_view *view, const struct delegation *cut,
                          struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (memory->pending)
        steps_add(out, STEP_LEAVE);
    memory->cut = *cut;
    memory->pending = memory->addrs_asked = memory->absent_labels = memory->refusals = 0;
    memory->looked_up = memory->looked_up_twice = memory->without_some = memory->without_any = 0;
    memory->absent_servers = 0;
    memory->asking = false;
    memory->saw_recursive = memory->saw_empty = memory->is_last_hope = memory->took_glue = false;
    memory->lookup_lacked_room = false;
    memory->retry = BOGUS_RETRY_NONE;
    choose_question(view);
}

/* Goes on with the servers of this cut. */
static void descent_enter(const struct strategy_view *view, const struct delegation *cut,
                          struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    descent_begin(view, cut, out);
    if (descent_needs_no_addr(memory) || memory->cut.addr_count)
        descent_ask_cut(view, 0, out);
    else
        look_up(view, out);
}

/* Returns a mark that identifies a cut by its zone and addresses. */
static uint64_t descent_mark(const struct delegation *cut)
{
    return delegation_addrs_mark(cut) ^ name_hash(delegation_zone(cut), 0);
}

/* ---- asking the parent for missing glue ---- */

static bool is_searching(const struct strategy_view *view)
{
    return descent_memory(view)->parent.state == PARENT_SEARCH_ASKS;
}

static struct name parent_server(const struct parent_search *search, unsigned server)
{
    return (struct name){search->servers[server], search->server_lens[server]};
}

/* Ends the search, and the question, as if there had been no search. A zone without any address is
 * remembered now and not before: other tasks would fail while this one searches. */
static void parent_give_up(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    struct parent_search *search = &memory->parent;
    search->state = PARENT_SEARCH_OVER;
    delegation_init(&memory->cut, name_suffix(view->question->name, search->zone_labels),
                    DELEGATION_PARENT, search->ends_at);
    for (unsigned i = 0; i < search->server_count; i++)
        (void)delegation_add(&memory->cut, parent_server(search, i));
    memory->addrs_asked = search->addrs_asked;
    if (!search->was_reachable)
        steps_add(out, STEP_LOST)->cut = &memory->cut;
    descent_fail_unreachable(view, out);
}

/* Asks for the IPv4 addresses of all servers first, and then for the IPv6 addresses. */
static void parent_ask_next(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    struct parent_search *search = &memory->parent;
    unsigned asked = search->asked + (view->rules->ipv4 ? 0u : search->server_count);
    unsigned end = search->server_count * (view->rules->ipv6 ? 2u : 1u);
    if (asked >= end || !descent_draw(view, BUDGET_LOOKUPS)) {
        parent_give_up(view, out);
        return;
    }
    search->asked++;
    unsigned server = asked % search->server_count;
    memory->asked = (struct question){
        .name = parent_server(search, server),
        .type = asked < search->server_count ? RRTYPE_A : RRTYPE_AAAA,
        .cls = RRCLASS_IN,
    };
    descent_ask_cut(view, 0, out);
}

/* Notes the servers of the cut that only its parent can know. */
static void parent_note_servers(const struct strategy_view *view)
{
    const struct delegation *cut = &descent_memory(view)->cut;
    struct parent_search *search = &descent_memory(view)->parent;
    search->server_count = 0;
    for (unsigned i = 0; i < cut->server_count; i++) {
        if (search->server_count == PARENT_SEARCH_SERVERS_MAX || cut->servers[i].addr_count ||
            cut->servers[i].shares_addr || !delegation_needs_glue(cut, i))
            continue;
        struct name server = delegation_server(cut, i);
        memcpy(search->servers[search->server_count], server.wire, server.len);
        search->server_lens[search->server_count++] = server.len;
    }
}

/* A parent may leave glue out of a referral and still know it: the message was too large, or its
 * own zone has the addresses. Only a fresh referral starts the search, so a zone without any
 * address costs its parent no query while the cut is in the cache. */
static bool parent_search_begin(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    struct parent_search *search = &memory->parent;
    if (search->state != PARENT_SEARCH_UNUSED || memory->from_cache ||
        memory->cut.origin != DELEGATION_PARENT)
        return false;
    parent_note_servers(view);
    if (!search->server_count)
        return false;
    search->state = PARENT_SEARCH_ASKS;
    search->asked = 0;
    search->addrs_asked = memory->addrs_asked;
    search->was_reachable = delegation_is_reachable(&memory->cut);
    search->ends_at = memory->cut.ends_at;
    search->zone_labels = (uint8_t)name_label_count(delegation_zone(&memory->cut));
    steps_add(out, STEP_CUT)->name =
        name_parent(name_suffix(view->question->name, search->zone_labels));
    return true;
}

/* Asks the servers of this cut, which is above the zone. */
static void parent_on_cut(const struct strategy_view *view, const struct delegation *cut,
                          struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (!cut) {
        parent_give_up(view, out);
        return;
    }
    memory->cut = *cut;
    if (descent_needs_no_addr(memory) || memory->cut.addr_count)
        parent_ask_next(view, out);
    else
        parent_give_up(view, out);
}

/* All servers of the cut failed. When the cut came from the cache, the parent may know newer
 * servers. It is asked again once, and only if some address could be asked: otherwise zones that
 * need each other would send every client's question to their parents again (TsuNAME). */
static void go_back(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    struct name zone = delegation_zone(&memory->cut);
    bool is_root = name_is_root(zone); /* above it are the hints */
    bool may_help = memory->from_cache && memory->cut.addr_count && !memory->revisited &&
                    (is_root || zone.len > view->zone->name.len);
    if (!may_help && parent_search_begin(view, out))
        return;
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

/* Finds the cut where the descent starts. A DS record is in the zone above (RFC 4035 section
 * 3.1.4.1). */
static void descent_find_cut(const struct strategy_view *view, struct steps *out)
{
    struct name name = view->question->name;
    bool is_above = view->question->type == RRTYPE_DS && name.len > view->zone->name.len;
    steps_add(out, STEP_CUT)->name = is_above ? name_parent(name) : name;
}

/* Asks addresses that came while others were asked, or waits for look-ups under way, or looks up
 * more. */
static void descent_try_more(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    if (memory->cut.addr_count > memory->addrs_asked)
        descent_ask_cut(view, memory->addrs_asked, out);
    else if (!memory->pending)
        look_up(view, out);
}

/* Zones above a server may know an address that its own zone no longer gives, or cannot give. Such
 * an address is better than none. */
static void descent_take_glue(const struct strategy_view *view, const struct delegation *cut,
                              struct steps *out)
{
    delegation_inherit(&descent_memory(view)->cut, cut);
    descent_try_more(view, out);
}

/* Like descent_enter(), for a cut whose known addresses have been asked. */
static void descent_enter_asked(const struct strategy_view *view, const struct delegation *cut,
                                struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    descent_begin(view, cut, out);
    memory->addrs_asked = memory->cut.addr_count;
    descent_try_more(view, out);
}

/* ---- the start ---- */

/* Clears what a failure may tell: the memory may have been that of a task for another question. */
static void descent_reset(const struct strategy_view *view)
{
    struct iterate_memory *memory = descent_memory(view);
    memory->pending = memory->absent_labels = memory->addrs_asked = 0;
    memory->ede = EDE_NONE;
    memory->failed = (struct exchange_failure){0};
    memory->asking = memory->from_cache = memory->primed = memory->revisited = false;
    memory->saw_recursive = memory->saw_empty = memory->is_last_hope = memory->lookup_lacked_room =
        false;
    memory->retry = BOGUS_RETRY_NONE;
    memory->parent.state = PARENT_SEARCH_UNUSED;
    delegation_init(&memory->cut, view->zone->name, DELEGATION_HINTS, 0);
}

static void iterate_on_started(const struct strategy_view *view, struct steps *out)
{
    descent_reset(view);
    qname_min_init(&descent_memory(view)->min, view->rules->minimise);
    if (view->question->cls != RRCLASS_IN)
        descent_fail(out, RCODE_REFUSED, EDE_NOT_SUPPORTED);
    else
        descent_find_cut(view, out);
}

/* The alias came from the cache, and nothing else has happened yet. */
static void iterate_on_alias(const struct strategy_view *view, struct name target,
                             struct steps *out)
{
    descent_reset(view);
    if (descent_draw(view, BUDGET_ALIASES))
        steps_follow(out, view, target);
    else
        descent_fail_exhausted(view, out);
}

static bool is_priming(const struct question *question)
{
    return name_is_root(question->name) && question->type == RRTYPE_NS;
}

/* Asks for the root's servers, which is the only use of hints (RFC 9609). */
static void prime(const struct strategy_view *view, struct steps *out)
{
    descent_memory(view)->primed = true;
    struct step *step = steps_add(out, STEP_SUBTASK);
    step->tag = ITERATE_TAG_PRIMING;
    step->question = (struct question){.name = name_root(), .type = RRTYPE_NS, .cls = RRCLASS_IN};
}

static void on_cut(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct delegation *cut = event->delegation;
    if (is_searching(view)) {
        parent_on_cut(view, cut, out);
        return;
    }
    if (!cut) {
        if (event->answer)
            steps_add(out, STEP_DONE);
        else
            descent_fail_unreachable(view, out);
        return;
    }
    if (cut->origin == DELEGATION_HINTS && view->rules->priming && !memory->primed &&
        !is_priming(view->question)) {
        prime(view, out);
        return;
    }
    memory->min.passed = event->passed;
    memory->from_cache = cut->origin == DELEGATION_PARENT || cut->origin == DELEGATION_CHILD;
    descent_enter(view, cut, out);
}

/* ---- answers ---- */

static void learn(const struct event *event, struct steps *out)
{
    if (event->delegation)
        steps_add(out, STEP_LEARN);
}

static void on_referral(const struct strategy_view *view, const struct event *event,
                        struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct delegation *cut = event->delegation;
    if (!cut) { /* none of its servers is believed */
        steps_add(out, STEP_ANOTHER);
        return;
    }
    if (!descent_draw(view, BUDGET_REFERRALS)) {
        descent_fail_exhausted(view, out);
        return;
    }
    if (delegation_is_reachable(cut)) /* otherwise the parent is asked for glue first */
        steps_add(out, STEP_LEARN);
    memory->from_cache = false;
    if (memory->revisited &&
        descent_mark(cut) == memory->failed_mark) { /* has the same addresses */
        descent_enter_asked(view, cut, out);
        return;
    }
    memory->failed = (struct exchange_failure){0}; /* belonged to another zone */
    descent_enter(view, cut, out);
}

static void iterate_follow(const struct strategy_view *view, const struct event *event,
                           struct steps *out)
{
    if (!descent_draw(view, BUDGET_ALIASES)) {
        descent_fail_exhausted(view, out);
        return;
    }
    learn(event, out);
    if (descent_memory(view)->pending)
        steps_add(out, STEP_LEAVE);
    descent_memory(view)->pending = 0;
    steps_follow(out, view, event->response->chain.name);
}

/*
 * Handles the response to a minimised QNAME. A name that exists lets more labels be shown. Anything
 * else needs the whole QNAME: an alias, whose target depends on it, and NXDOMAIN, which servers
 * without a notion of empty non-terminals give (RFC 9156 section 4). A name is believed to be
 * absent when the responses to both questions deny it.
 */
static void on_minimised(const struct strategy_view *view, const struct event *event,
                         struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct response *response = event->response;
    learn(event, out);
    if (response->kind == RESPONSE_ANSWER || response->kind == RESPONSE_NODATA) {
        qname_min_passed(&memory->min, &memory->asked);
        steps_add(out, STEP_PASSED)->name = memory->asked.name;
    } else {
        if (response->kind == RESPONSE_NXDOMAIN && !response->chain.hops)
            memory->absent_labels = (uint8_t)name_label_count(memory->asked.name);
        qname_min_stop(&memory->min);
    }
    descent_ask_on(view, out);
}

static void on_whole(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct response *response = event->response;
    if (response->is_empty && !memory->is_last_hope) {
        memory->saw_empty = true;
        steps_add(out, STEP_ANOTHER);
        return;
    }
    struct name name = view->question->name;
    learn(event, out);
    if (memory->absent_labels && !response->chain.hops) {
        if (response->kind == RESPONSE_NXDOMAIN)
            steps_add(out, STEP_ABSENT)->name = name_suffix(name, memory->absent_labels);
        else if (response->kind != RESPONSE_YXDOMAIN) /* the denied name exists after all */
            steps_add(out, STEP_PASSED)->name = name_parent(name);
    }
    steps_add(out, STEP_DONE);
}

/* After a few refusals of a minimised QNAME, the strategy sends the whole QNAME, so that it does
 * not ask every server twice. */
static void on_useless(const struct strategy_view *view, const struct response *response,
                       struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (response->ede != EDE_NONE)
        memory->ede = response->ede;
    memory->saw_recursive |= response->is_recursive;
    if (qname_min_is_whole(view->question, &memory->asked) ||
        ++memory->refusals < ITERATE_REFUSALS_MAX) {
        steps_add(out, STEP_ANOTHER);
        return;
    }
    qname_min_stop(&memory->min);
    descent_ask_on(view, out);
}

/* Whether the cut has an address that came from a look-up, and not only known addresses. */
static bool parent_found(const struct parent_search *search, const struct delegation *cut)
{
    for (unsigned i = 0; i < search->server_count; i++) {
        int server =
            delegation_find(cut, (struct name){search->servers[i], search->server_lens[i]});
        if (server != DELEGATION_NONE && cut->servers[server].addr_count)
            return true;
    }
    return false;
}

/* The delegation has the glue that was missing, whether it came in a referral or as an answer.
 * Between the known parent and the zone another cut may have appeared. */
static void parent_on_answered(const struct strategy_view *view, const struct event *event,
                               struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    struct parent_search *search = &memory->parent;
    const struct delegation *cut = event->delegation;
    enum response_kind kind = event->response->kind;
    unsigned labels = cut ? name_label_count(delegation_zone(cut)) : 0;
    if (cut && labels == search->zone_labels && parent_found(search, cut)) {
        search->state = PARENT_SEARCH_OVER;
        on_referral(view, event, out);
    } else if (cut && labels < search->zone_labels && kind == RESPONSE_REFERRAL &&
               descent_draw(view, BUDGET_REFERRALS)) {
        steps_add(out, STEP_LEARN);
        search->asked = 0;
        parent_on_cut(view, cut, out);
    } else if (kind == RESPONSE_REFERRAL || response_is_useful(kind)) {
        parent_ask_next(view, out);
    } else {
        steps_add(out, STEP_ANOTHER);
    }
}

static void iterate_on_answered(const struct strategy_view *view, const struct event *event,
                                struct steps *out)
{
    const struct response *response = event->response;
    if (is_searching(view)) {
        parent_on_answered(view, event, out);
        return;
    }
    bool is_whole = qname_min_is_whole(view->question, &descent_memory(view)->asked);
    switch (response->kind) {
    case RESPONSE_ANSWER:
    case RESPONSE_NODATA:
    case RESPONSE_NXDOMAIN:
    case RESPONSE_YXDOMAIN:
        if (is_whole)
            on_whole(view, event, out);
        else
            on_minimised(view, event, out);
        break;
    case RESPONSE_ALIAS:
        if (is_whole)
            iterate_follow(view, event, out);
        else
            on_minimised(view, event, out);
        break;
    case RESPONSE_LOOP: /* the data is at fault, and other servers have the same */
        if (is_whole)
            descent_fail(out, RCODE_SERVFAIL, EDE_INVALID_DATA);
        else
            on_minimised(view, event, out);
        break;
    case RESPONSE_REFERRAL:
        on_referral(view, event, out);
        break;
    case RESPONSE_SERVFAIL:
    case RESPONSE_REFUSED:
    case RESPONSE_NOTIMP:
    case RESPONSE_FORMERR:
    case RESPONSE_OTHER:
    case RESPONSE_TRUNCATED:
    case RESPONSE_UNSOUND:
    case RESPONSE_LAME:
        on_useless(view, response, out);
        break;
    }
}

/* ---- failures and results of subtasks ---- */

/* One server of a zone may have old or forged data. So servers of the cut that were not asked come
 * first, even where their addresses must be looked up. The task bounds the number of retries. */
static void iterate_on_bogus(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    memory->asking = false;
    if (descent_is_configured(memory) || memory->retry == BOGUS_RETRY_SAME) {
        ask_bogus_again(view, out);
        return;
    }
    memory->retry = BOGUS_RETRY_MORE;
    descent_try_more(view, out);
}

/* Servers that stay silent or give useless answers may be unable to handle a minimised QNAME. */
static void iterate_on_failed(const struct strategy_view *view,
                              const struct exchange_failure *exchange, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    bool is_whole = qname_min_is_whole(view->question, &memory->asked);
    memory->asking = false;
    if (is_searching(view)) {
        parent_ask_next(view, out);
        return;
    }
    memory->failed = *exchange;
    if (exchange->full || memory->retry == BOGUS_RETRY_SAME) {
        descent_fail_unreachable(view, out);
    } else if (!is_whole &&
               (exchange->any_answer || qname_min_may_be_dropped(delegation_zone(&memory->cut)))) {
        qname_min_stop(&memory->min);
        descent_ask_on(view, out);
    } else {
        descent_try_more(view, out);
    }
}

/* Returns whether the server has an address, which may be known under another name. */
static bool take_addrs(struct iterate_memory *memory, unsigned server, const struct answer *answer)
{
    struct message message;
    if (server >= memory->cut.server_count || answer->kind != ANSWER_POSITIVE ||
        message_parse(&message, answer->message) != MESSAGE_OK)
        return false;
    delegation_add_answer(&memory->cut, server, &message);
    return true;
}

/* The server has no address of an IP version, or no name. */
static void on_no_address(const struct strategy_view *view, unsigned server, bool is_denied,
                          struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    uint16_t bit = (uint16_t)(1u << server);
    bool has_other = view->rules->ipv4 && view->rules->ipv6 && !(memory->without_some & bit);
    memory->without_some |= bit;
    if ((is_denied || !has_other) && !(memory->without_any & bit)) {
        memory->without_any |= bit;
        memory->absent_servers++;
        if (view->is_lookup)
            budget_note_absent(view->budget, delegation_server(&memory->cut, server));
    } else if (!memory->asking) {
        look_up_twice(view, server, out);
    }
}

static void on_address(const struct strategy_view *view, unsigned server, const struct event *event,
                       struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    memory->pending--;
    if (event->kind == EVENT_SUB_FAILED) {
        memory->lookup_lacked_room |= !event->failure->cache;
        memory->without_any |= (uint16_t)(1u << server);
    } else if (!take_addrs(memory, server, event->answer)) {
        on_no_address(view, server, event->answer->kind == ANSWER_NXDOMAIN, out);
    }
    if (!memory->asking)
        descent_try_more(view, out);
}

/* The cut that failed is still in the cache, so a question that came back from it starts above. */
static void on_primed(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    if (memory->revisited)
        steps_add(out, STEP_CUT)->name = name_parent(delegation_zone(&memory->cut));
    else
        descent_find_cut(view, out);
}

static void on_sub(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    bool is_done = event->kind == EVENT_SUB_DONE;
    if (event->tag >= DESCENT_TAG_ADDRESS)
        on_address(view, (event->tag - DESCENT_TAG_ADDRESS) / 2u, event, out);
    else if (event->tag == ITERATE_TAG_PRIMING) /* without an answer the hints stay in use */
        on_primed(view, out);
    else if (is_done)
        steps_add(out, STEP_DONE);
    else
        steps_add(out, STEP_FAIL)->failure = *event->failure;
}

static void iterate_next(const struct strategy_view *view, const struct event *event,
                         struct steps *out)
{
    switch (event->kind) {
    case EVENT_STARTED:
        iterate_on_started(view, out);
        break;
    case EVENT_CUT:
        on_cut(view, event, out);
        break;
    case EVENT_GLUE:
        descent_take_glue(view, event->delegation, out);
        break;
    case EVENT_ANSWERED:
        iterate_on_answered(view, event, out);
        break;
    case EVENT_FAILED:
        iterate_on_failed(view, event->exchange, out);
        break;
    case EVENT_BOGUS:
        iterate_on_bogus(view, out);
        break;
    case EVENT_SUB_DONE:
    case EVENT_SUB_FAILED:
        on_sub(view, event, out);
        break;
    case EVENT_ALIAS:
        iterate_on_alias(view, event->target, out);
        break;
    case EVENT_FOLLOWED: /* what the leader learned is in the cache */
        if (is_searching(view))
            descent_memory(view)->parent.state = PARENT_SEARCH_UNUSED;
        descent_find_cut(view, out);
        break;
    }
}

const struct strategy iterate_strategy = {.name = "iterate", .next = iterate_next};
const struct strategy stub_strategy = {.name = "stub", .next = iterate_next};
