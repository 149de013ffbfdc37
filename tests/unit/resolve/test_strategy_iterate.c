/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/sample.h"

#include "dns/edns.h"
#include "resolve/strategy_iterate.h"

/*
 * The strategy alone: events in, steps out, as text. "ask example.com. A @com. 0-2" asks the known
 * addresses 0 and 1 of com's servers.
 */
static union strategy_memory memory;
static struct steps steps;
static struct zone zone;
static struct question question;
static struct response response;
static struct delegation cut;
static const struct delegation *glue; /* the glue of known cuts; NULL: none */
static struct iterate_rules rules;
static struct budget budget;
static const struct strategy *strategy;
static bool is_sub;
static char text[8192];

/* ---- steps as text ---- */

PRINTF_LIKE(1, 2) static void put(const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + len, sizeof(text) - len, format, args);
    va_end(args);
}

#define UNKNOWN "no address of the zone's servers is known"

static struct budget fresh_budget(uint64_t now)
{
    struct budget *made = budget_new(now);
    assert_non_null(made);
    struct budget fresh = *made;
    budget_unref(made);
    return fresh;
}

static void put_question(const char *word, const struct question *asked)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    put("%s %s %s", word, name_format(asked->name, name), rrtype_name(asked->type, type));
}

static void put_failure(const struct failure *failure)
{
    put("fail %u:", failure->rcode);
    for (unsigned i = 0; i < failure->ede_count; i++)
        put(" %u", failure->ede[i]);
    if (failure->error)
        put(" %s", err_str(failure->error));
    if (!failure->cache)
        put(" once");
}

static void put_step(const struct step *step)
{
    char name[NAME_TEXT_MAX];
    switch (step->kind) {
    case STEP_ASK:
        assert_false(step->ask.recursion_desired);
        put_question("ask", &step->ask.question);
        break;
    case STEP_ASK_CUT:
        put_question("ask", &step->ask_cut.question);
        put(" @%s %u-%u%s", name_format(delegation_zone(step->ask_cut.cut), name),
            step->ask_cut.first, step->ask_cut.cut->addr_count,
            step->ask_cut.recursion_desired ? " RD" : "");
        break;
    case STEP_SUBTASK:
        put_question("sub", &step->question);
        if (step->tag)
            put(" #%x", step->tag);
        break;
    case STEP_HINTS:
        put("hints");
        break;
    case STEP_CUT:
        put("cut %s", name_format(step->name, name));
        break;
    case STEP_ABSENT:
        put("absent %s", name_format(step->name, name));
        break;
    case STEP_GLUE: /* in feed() */
        break;
    case STEP_PASSED:
        put("passed %s", name_format(step->name, name));
        break;
    case STEP_FAIL:
    case STEP_ABOVE:
        put_failure(&step->failure);
        break;
    case STEP_LEARN:
        put("learn");
        break;
    case STEP_LOST:
        assert_false(delegation_is_reachable(step->cut));
        put("lost");
        break;
    case STEP_LEAVE:
        put("leave");
        break;
    case STEP_KEEP:
        put("keep");
        break;
    case STEP_DONE:
        put("done");
        break;
    case STEP_ANOTHER:
        put("another");
        break;
    }
}

static const char *feed(struct event event)
{
    struct strategy_view view = {.question = &question,
                                 .zone = &zone,
                                 .memory = &memory,
                                 .rules = &rules,
                                 .budget = &budget,
                                 .is_sub = is_sub,
                                 .now = 1};
    text[0] = 0;
    for (bool again = true; again;) {
        steps.count = 0;
        strategy->next(&view, &event, &steps);
        again = steps.count > 0 && steps.at[steps.count - 1].kind == STEP_GLUE;
        for (size_t i = 0; i < steps.count - again; i++) {
            put(text[0] ? "; " : "");
            put_step(&steps.at[i]);
        }
        if (again)
            event = (struct event){.kind = EVENT_GLUE,
                                   .delegation = glue ? glue : steps.at[steps.count - 1].cut};
    }
    return text;
}

/* ---- events ---- */

static const char *start(struct question asked)
{
    static uint8_t wire[NAME_WIRE_MAX];
    question = asked;
    question.name = name_copy(asked.name, wire);
    return feed((struct event){.kind = EVENT_STARTED});
}

/* Makes a cut. Servers are written as "ns.example.com 192.0.2.1 2001:db8::1", and NULL ends the
 * list. */
static const struct delegation *make_cut(enum delegation_origin origin, const char *name,
                                         const char *const *servers)
{
    delegation_init(&cut, NAME(name), origin, UINT64_MAX);
    for (size_t i = 0; servers[i]; i++) {
        char words[256], *rest = words;
        snprintf(words, sizeof(words), "%s", servers[i]);
        int server = delegation_add(&cut, NAME(strsep(&rest, " ")));
        assert_int_not_equal(server, DELEGATION_NONE);
        for (char *word; (word = strsep(&rest, " "));) {
            struct addr addr;
            size_t len;
            assert_int_equal(addr_parse(&addr, word, 53), ERR_OK);
            const uint8_t *bytes = addr_bytes(&addr, &len);
            assert_true(delegation_add_addr(&cut, (unsigned)server, span_of(bytes, len)));
        }
    }
    return &cut;
}

#define CUT(origin, name, ...)                                                                     \
    make_cut(DELEGATION_##origin, name, (const char *const[]){__VA_ARGS__, NULL})

static const char *found(const struct delegation *delegation)
{
    return feed((struct event){.kind = EVENT_CUT, .delegation = delegation});
}

static const char *answered(enum response_kind kind, const struct delegation *delegation)
{
    response.kind = kind;
    return feed(
        (struct event){.kind = EVENT_ANSWERED, .response = &response, .delegation = delegation});
}

static const char *referred(const struct delegation *delegation)
{
    return answered(RESPONSE_REFERRAL, delegation);
}

static const char *failed(struct exchange_failure exchange)
{
    return feed((struct event){.kind = EVENT_FAILED, .exchange = &exchange});
}

static const char *silent(void)
{
    return failed((struct exchange_failure){.any_network = true});
}

static const char *were_bogus(void)
{
    return feed((struct event){.kind = EVENT_BOGUS});
}

static const char *sub_failed(unsigned tag)
{
    struct failure failure = failure_servfail();
    return feed(
        (struct event){.kind = EVENT_SUB_FAILED, .tag = (uint16_t)tag, .failure = &failure});
}

static const char *sub_had_no_room(unsigned tag)
{
    struct failure failure = {.rcode = RCODE_SERVFAIL};
    return feed(
        (struct event){.kind = EVENT_SUB_FAILED, .tag = (uint16_t)tag, .failure = &failure});
}

/* Gives the strategy the address of a name server that a look-up has found. */
static const char *found_addr(unsigned tag, struct question asked, const char *record)
{
    static struct response_text sent;
    response_make(&sent, 0, &asked, &(struct sections){.answer = {record}});
    struct answer answer = {.kind = ANSWER_POSITIVE, .message = span_of(sent.bytes, sent.len)};
    return feed((struct event){.kind = EVENT_SUB_DONE, .tag = (uint16_t)tag, .answer = &answer});
}

enum { FIRST_A = DESCENT_TAG_ADDRESS, FIRST_AAAA, SECOND_A, SECOND_AAAA };

static int set_up(void **state)
{
    (void)state;
    static struct upstream *group[1];
    strategy = &iterate_strategy;
    is_sub = false;
    glue = NULL;
    memset(&memory, 0xa5, sizeof(memory)); /* remains of another task */
    zone =
        (struct zone){.name = name_root(), .group = group, .cache = true, .is_authoritative = true};
    rules = (struct iterate_rules){.priming = false, .minimise = true, .ipv4 = true, .ipv6 = true};
    response = (struct response){.ede = EDE_NONE};
    budget = fresh_budget(0);
    return 0;
}

#define WWW QUESTION("www.example.com", MX)
#define ROOT CUT(HINTS, ".", "a.root 192.0.2.1", "b.root 192.0.2.2")
#define COM CUT(PARENT, "com", "a.com 192.0.2.3")
#define EXAMPLE CUT(PARENT, "example.com", "ns.example.com 192.0.2.4 2001:db8::4")

/* ---- down ---- */

static void test_from_the_hints_down_to_the_answer_each_server_sees_one_label_more(void **state)
{
    (void)state;
    assert_string_equal(start(WWW), "cut www.example.com.");
    assert_string_equal(found(ROOT), "ask com. A @. 0-2");
    assert_string_equal(referred(COM), "learn; ask example.com. A @com. 0-1");
    assert_string_equal(referred(EXAMPLE), "learn; ask www.example.com. MX @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_ANSWER, NULL), "done");
    assert_int_equal(budget.used[BUDGET_QUERIES], 3);
    assert_int_equal(budget.used[BUDGET_REFERRALS], 2);
}

static void test_it_begins_at_the_closest_cut(void **state)
{
    (void)state;
    start(WWW);
    assert_string_equal(found(EXAMPLE), "ask www.example.com. MX @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_NODATA, NULL), "done");
}

static void test_without_minimisation_the_whole_question_goes_down(void **state)
{
    (void)state;
    rules.minimise = false;
    start(WWW);
    assert_string_equal(found(ROOT), "ask www.example.com. MX @. 0-2");
    assert_string_equal(referred(EXAMPLE), "learn; ask www.example.com. MX @example.com. 0-2");
}

static void test_a_name_within_the_zone_is_passed(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", TXT));
    assert_string_equal(found(EXAMPLE), "ask b.example.com. A @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_NODATA, NULL),
                        "passed b.example.com.; ask a.b.example.com. TXT @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_ANSWER, NULL), "done");
}

static void test_a_name_known_to_exist_is_not_asked_for(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", TXT));
    assert_string_equal(feed((struct event){.kind = EVENT_CUT, .delegation = EXAMPLE, .passed = 3}),
                        "ask a.b.example.com. TXT @example.com. 0-2");
}

static void test_a_zones_statement_about_itself_is_learned(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", TXT));
    found(EXAMPLE);
    const struct delegation *child = CUT(CHILD, "example.com", "new.example.com 192.0.2.9");
    assert_string_equal(answered(RESPONSE_NODATA, child),
                        "learn; passed b.example.com.; ask a.b.example.com. TXT @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_ANSWER, child), "learn; done");
}

static void test_a_ds_record_is_asked_of_the_zone_above(void **state)
{
    (void)state;
    assert_string_equal(start(QUESTION("example.com", DS)), "cut com.");
    assert_string_equal(found(COM), "ask example.com. DS @com. 0-1");
    assert_string_equal(start(QUESTION(".", DS)), "cut .");
}

static void test_the_root_is_asked_for_its_servers_first(void **state)
{
    (void)state;
    rules.priming = true;
    start(WWW);
    assert_string_equal(found(ROOT), "sub . NS #1");
    const struct answer answer = {.kind = ANSWER_POSITIVE};
    assert_string_equal(feed((struct event){.kind = EVENT_SUB_DONE, .tag = 1, .answer = &answer}),
                        "cut www.example.com.");
    assert_string_equal(found(CUT(CHILD, ".", "x.root 192.0.2.8")), "ask com. A @. 0-1");
}

static void test_the_hints_serve_when_priming_fails(void **state)
{
    (void)state;
    rules.priming = true;
    start(WWW);
    found(ROOT);
    assert_string_equal(sub_failed(ITERATE_TAG_PRIMING), "cut www.example.com.");
    assert_string_equal(found(ROOT), "ask com. A @. 0-2");
    start(QUESTION(".", NS));
    assert_string_equal(found(ROOT), "ask . NS @. 0-2");
}

static void test_when_the_servers_of_the_root_fail_the_hints_are_asked_once(void **state)
{
    (void)state;
    rules.priming = true;
    start(WWW);
    found(CUT(CHILD, ".", "x.root 192.0.2.8"));
    assert_string_equal(silent(), "hints");
    assert_string_equal(found(ROOT), "ask com. A @. 0-2");
    assert_string_equal(silent(), "fail 2: 22 23");
}

static void test_a_stub_zone_begins_at_its_own_servers(void **state)
{
    (void)state;
    strategy = &stub_strategy;
    zone.name = NAME("example.com");
    zone.group_len = 1;
    assert_string_equal(start(QUESTION("a.sub.example.com", A)), "cut a.sub.example.com.");
    assert_string_equal(found(CUT(CONFIGURED, "example.com", NULL)), "ask sub.example.com. A");
    assert_string_equal(referred(CUT(PARENT, "sub.example.com", "ns.sub.example.com 192.0.2.7")),
                        "learn; ask a.sub.example.com. A @sub.example.com. 0-1");
    assert_string_equal(answered(RESPONSE_ANSWER, NULL), "done");
    assert_string_equal(start(QUESTION("example.com", DS)), "cut example.com.");
}

static void test_other_classes_than_in_are_refused(void **state)
{
    (void)state;
    assert_string_equal(start((struct question){NAME("version.bind"), RRTYPE_TXT, RRCLASS_CH}),
                        "fail 5: 21");
}

/* ---- answers to minimised questions ---- */

static void test_a_name_denied_minimised_and_whole_does_not_exist_with_all_below(void **state)
{
    (void)state;
    start(QUESTION("a.b.c.example.com", A));
    found(EXAMPLE);
    assert_string_equal(answered(RESPONSE_NXDOMAIN, NULL),
                        "ask a.b.c.example.com. A @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_NXDOMAIN, NULL), "absent c.example.com.; done");
}

static void test_a_server_that_denies_an_empty_non_terminal_is_asked_for_the_whole(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", A));
    found(EXAMPLE);
    answered(RESPONSE_NXDOMAIN, NULL);
    assert_string_equal(answered(RESPONSE_ANSWER, NULL), "passed b.example.com.; done");
}

static void test_nothing_is_known_below_a_name_whose_alias_leads_nowhere(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", A));
    found(EXAMPLE);
    response.chain.hops = 1;
    answered(RESPONSE_NXDOMAIN, NULL);
    assert_string_equal(answered(RESPONSE_NXDOMAIN, NULL), "done");
}

static void test_a_known_absence_ends_it(void **state)
{
    (void)state;
    start(WWW);
    const struct answer answer = {.kind = ANSWER_NXDOMAIN};
    assert_string_equal(feed((struct event){.kind = EVENT_CUT, .answer = &answer}), "done");
}

static void test_an_alias_of_a_minimised_name_is_asked_for_with_the_whole_name(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", A));
    found(EXAMPLE);
    response.chain.name = NAME("elsewhere.net");
    assert_string_equal(answered(RESPONSE_ALIAS, NULL), "ask a.b.example.com. A @example.com. 0-2");
    response.chain.name = NAME("a.elsewhere.net"); /* through a DNAME */
    assert_string_equal(answered(RESPONSE_ALIAS, NULL), "keep; sub a.elsewhere.net. A");
}

static void test_servers_silent_about_minimised_names_get_the_whole_name(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", TXT));
    found(EXAMPLE);
    assert_string_equal(silent(), "ask a.b.example.com. TXT @example.com. 0-2");
    assert_string_equal(silent(), "cut com.");
    start(QUESTION("a.b.example.com", TXT));
    found(COM); /* the servers of top-level domains handle minimised names */
    assert_string_equal(silent(), "cut .");
}

static void test_servers_that_refuse_minimised_names_get_the_whole_name(void **state)
{
    (void)state;
    start(QUESTION("a.b.example.com", A));
    found(EXAMPLE);
    assert_string_equal(answered(RESPONSE_REFUSED, NULL), "another");
    assert_string_equal(
        failed((struct exchange_failure){.any_answer = true, .rcode = RCODE_REFUSED}),
        "ask a.b.example.com. A @example.com. 0-2");
    assert_string_equal(
        failed((struct exchange_failure){.any_answer = true, .rcode = RCODE_REFUSED}), "cut com.");
}

/* ---- addresses ---- */

static void test_missing_addresses_are_looked_up_and_the_first_that_comes_is_asked(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.one.net", "ns.two.net")),
                        "learn; sub ns.one.net. A #100; sub ns.one.net. AAAA #101; "
                        "sub ns.two.net. A #102; sub ns.two.net. AAAA #103");
    assert_string_equal(sub_failed(FIRST_AAAA), "");
    assert_string_equal(found_addr(SECOND_A, QUESTION("ns.two.net", A), "ns.two.net. A 192.0.2.20"),
                        "ask www.example.com. MX @example.com. 0-1");
    assert_string_equal(found_addr(FIRST_A, QUESTION("ns.one.net", A), "ns.one.net. A 192.0.2.10"),
                        "");
    assert_string_equal(silent(), "ask www.example.com. MX @example.com. 1-2");
    assert_string_equal(answered(RESPONSE_ANSWER, NULL), "done");
}

static void test_a_host_of_one_version_looks_up_addresses_of_that_one(void **state)
{
    (void)state;
    rules.ipv6 = false;
    start(WWW);
    found(COM);
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.one.net")),
                        "learn; sub ns.one.net. A #100");
}

static void test_known_addresses_come_first_and_others_when_they_fail(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    assert_string_equal(
        referred(CUT(PARENT, "example.com", "ns.one.net", "ns.example.com 192.0.2.4")),
        "learn; ask www.example.com. MX @example.com. 0-1");
    assert_string_equal(silent(), "sub ns.one.net. A #100; sub ns.one.net. AAAA #101");
    assert_string_equal(found_addr(FIRST_A, QUESTION("ns.one.net", A), "ns.one.net. A 192.0.2.10"),
                        "ask www.example.com. MX @example.com. 1-2");
}

static void test_a_lookup_without_addresses_finds_no_server(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(CUT(PARENT, "example.com", "ns.one.net"));
    sub_failed(FIRST_AAAA);
    assert_string_equal(found_addr(FIRST_A, QUESTION("ns.one.net", A), "ns.one.net. CNAME a.net."),
                        "fail 2: 22 " UNKNOWN);
}

static void test_a_server_whose_name_is_an_alias_is_asked(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(CUT(PARENT, "example.com", "ns.one.net"));
    assert_string_equal(found_addr(FIRST_A, QUESTION("ns.one.net", A), "a.net. A 192.0.2.10"),
                        "ask www.example.com. MX @example.com. 0-1");
}

static void test_an_absence_in_one_zone_says_nothing_about_another(void **state)
{
    (void)state;
    start(QUESTION("a.example.com", A));
    found(COM);
    answered(RESPONSE_NXDOMAIN, NULL); /* example.com exists after all */
    assert_string_equal(referred(EXAMPLE), "learn; ask a.example.com. A @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_NXDOMAIN, NULL), "done");
}

static void test_leaving_a_cut_drops_its_lookups(void **state)
{
    (void)state;
    start(QUESTION("a.sub.example.com", A));
    found(COM);
    referred(CUT(PARENT, "example.com", "ns.one.net", "ns.two.net"));
    found_addr(FIRST_A, QUESTION("ns.one.net", A), "ns.one.net. A 192.0.2.10");
    assert_string_equal(referred(CUT(PARENT, "sub.example.com", "ns.sub.example.com 192.0.2.7")),
                        "learn; leave; ask a.sub.example.com. A @sub.example.com. 0-1");
}

/* ---- useless servers ---- */

static void test_lame_and_refusing_servers_make_it_ask_another(void **state)
{
    (void)state;
    static const enum response_kind kinds[] = {
        RESPONSE_LAME,    RESPONSE_SERVFAIL, RESPONSE_REFUSED,   RESPONSE_NOTIMP,
        RESPONSE_FORMERR, RESPONSE_OTHER,    RESPONSE_TRUNCATED, RESPONSE_UNSOUND};
    start(WWW);
    found(EXAMPLE);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        assert_string_equal(answered(kinds[i], NULL), "another");
    assert_string_equal(referred(NULL), "another"); /* none of the referral is trusted */
}

static void test_recursive_servers_are_asked_with_rd_when_there_are_no_better(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    memory.iterate.asked = question;
    response.is_recursive = true;
    assert_string_equal(answered(RESPONSE_LAME, NULL), "another");
    assert_string_equal(silent(), "ask www.example.com. MX @example.com. 0-2 RD");
    assert_string_equal(silent(), "fail 2: 22 23"); /* each server is tried with RD once */
}

static void test_an_empty_answer_is_accepted_when_no_server_has_another(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    memory.iterate.asked = question;
    response.is_empty = true;
    assert_string_equal(answered(RESPONSE_NODATA, NULL), "another");
    assert_string_equal(silent(), "ask www.example.com. MX @example.com. 0-2");
    assert_string_equal(answered(RESPONSE_NODATA, NULL), "done");
}

static void test_a_failing_cut_that_was_just_given_fails_with_its_reasons(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    assert_string_equal(silent(), "fail 2: 22 23");
}

static void test_the_failure_reports_refusals_by_all_and_a_servers_own_reason(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    response.ede = EDE_NOT_AUTHORITATIVE;
    answered(RESPONSE_REFUSED, NULL);
    assert_string_equal(
        failed((struct exchange_failure){.any_answer = true, .rcode = RCODE_REFUSED}),
        "fail 2: 20 22");
}

static void test_the_failure_says_why_no_server_is_reachable(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    assert_string_equal(failed((struct exchange_failure){0}),
                        "fail 2: 22 no address of the zone's servers may be asked");
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    assert_string_equal(
        failed((struct exchange_failure){.any_answer = true, .rcode = RCODE_SERVFAIL}),
        "fail 2: 22 no server of the zone gave a useful answer");
    start(WWW);
    found(COM);
    referred(EXAMPLE);
    assert_string_equal(failed((struct exchange_failure){.is_late = true}), "fail 2: 22");
}

static void test_our_own_lack_of_room_is_not_remembered(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    assert_string_equal(failed((struct exchange_failure){.full = true}), "fail 2: 0 once");
}

static void test_the_parent_is_asked_again_when_a_known_cut_fails(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    assert_string_equal(silent(), "cut com.");
    assert_string_equal(found(COM), "ask example.com. A @com. 0-1");
    assert_string_equal(referred(CUT(PARENT, "example.com", "new.example.com 192.0.2.44")),
                        "learn; ask www.example.com. MX @example.com. 0-1");
    assert_string_equal(silent(), "fail 2: 22 23");
}

static void test_a_parent_with_the_same_servers_ends_it(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    silent();
    found(COM);
    assert_string_equal(referred(EXAMPLE), "learn; fail 2: 22 23");
}

static void test_a_parent_with_the_same_addresses_leads_to_more_lookups(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    silent();
    found(COM);
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.example.com 192.0.2.4 2001:db8::4",
                                     "ns.example.net")),
                        "learn; sub ns.example.net. A #102; sub ns.example.net. AAAA #103");
}

static void test_a_zone_above_a_server_may_have_its_glue(void **state)
{
    (void)state;
    static struct delegation known;
    start(WWW);
    found(COM);
    known = *CUT(PARENT, "example.com", "ns.example.net 192.0.2.77");
    glue = &known;
    referred(CUT(PARENT, "example.com", "ns.example.net"));
    sub_failed(FIRST_A);
    assert_string_equal(sub_failed(FIRST_AAAA), "ask www.example.com. MX @example.com. 0-1");
    assert_string_equal(silent(), "fail 2: 22 23"); /* the zone above is tried once */
}

static void test_after_bogus_answers_other_servers_come_first_and_then_all_again(void **state)
{
    (void)state;
    start(WWW);
    assert_string_equal(
        found(CUT(PARENT, "example.com", "ns.example.com 192.0.2.4", "ns.example.net")),
        "ask www.example.com. MX @example.com. 0-1");
    assert_string_equal(were_bogus(), "sub ns.example.net. A #102; sub ns.example.net. AAAA #103");
    assert_string_equal(
        found_addr(SECOND_A, QUESTION("ns.example.net", A), "ns.example.net. 60 A 192.0.2.9"),
        "ask www.example.com. MX @example.com. 1-2");
    assert_string_equal(were_bogus(), ""); /* a look-up is under way */
    assert_string_equal(sub_failed(SECOND_AAAA), "ask www.example.com. MX @example.com. 0-2");
    assert_string_equal(were_bogus(), "ask www.example.com. MX @example.com. 0-2");
    assert_string_equal(silent(), "fail 2: 22 23"); /* the zone above gets no query */
}

static void test_servers_of_a_stub_zone_are_asked_again_after_bogus_answers(void **state)
{
    (void)state;
    strategy = &stub_strategy;
    zone.name = NAME("example.com");
    rules.minimise = false;
    start(WWW);
    assert_string_equal(found(CUT(CONFIGURED, "example.com", NULL)), "ask www.example.com. MX");
    assert_string_equal(were_bogus(), "ask www.example.com. MX");
}

static void test_the_parent_is_asked_again_once(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    assert_string_equal(silent(), "cut com.");
    found(COM);
    assert_string_equal(silent(), "fail 2: 22 23");
}

static void test_the_zone_above_a_stub_zone_is_never_asked(void **state)
{
    (void)state;
    strategy = &stub_strategy;
    zone.name = NAME("example.com");
    start(WWW);
    found(CUT(CHILD, "example.com", "ns.example.com 192.0.2.4"));
    assert_string_equal(silent(), "fail 2: 22 23");
}

/* ---- aliases ---- */

static void test_an_alias_out_of_the_zone_is_resolved_from_its_own(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    response.chain.name = NAME("www.cdn.net");
    assert_string_equal(answered(RESPONSE_ALIAS, NULL), "keep; sub www.cdn.net. MX");
    const struct answer answer = {.kind = ANSWER_POSITIVE};
    assert_string_equal(feed((struct event){.kind = EVENT_SUB_DONE, .answer = &answer}), "done");
    assert_string_equal(sub_failed(ITERATE_TAG_ALIAS), "fail 2:");
}

static void test_an_alias_loop_fails(void **state)
{
    (void)state;
    start(WWW);
    found(EXAMPLE);
    assert_string_equal(answered(RESPONSE_LOOP, NULL), "fail 2: 24");
}

static void test_aliases_from_zone_to_zone_end_with_the_budget(void **state)
{
    (void)state;
    response.chain.name = NAME("next.net");
    for (unsigned i = 0; i < BUDGET_ALIASES_MAX; i++) {
        start(WWW); /* each alias is a separate task, and all share one budget */
        found(EXAMPLE);
        assert_string_equal(answered(RESPONSE_ALIAS, NULL), "keep; sub next.net. MX");
    }
    start(WWW);
    found(EXAMPLE);
    assert_string_equal(answered(RESPONSE_ALIAS, NULL), "fail 2: 22");
}

/* ---- attacks ---- */

/* NXNSAttack: a referral names many servers that do not exist. */
static void test_a_referral_to_many_names_costs_few_lookups(void **state)
{
    (void)state;
    static const char *const names[] = {"a.victim.net",
                                        "b.victim.net",
                                        "c.victim.net",
                                        "d.victim.net",
                                        "e.victim.net",
                                        "f.victim.net",
                                        "g.victim.net",
                                        "h.victim.net",
                                        "i.victim.net",
                                        "j.victim.net",
                                        NULL};
    start(WWW);
    found(COM);
    const char *now = referred(make_cut(DELEGATION_PARENT, "example.com", names));
    unsigned lookups = 0;
    while (!strstr(now, "fail")) {
        unsigned count = 0, tags[STEPS_MAX];
        for (size_t i = 0; i < steps.count; i++)
            if (steps.at[i].kind == STEP_SUBTASK)
                tags[count++] = steps.at[i].tag;
        assert_true(count > 0 && count <= 2 * DESCENT_LOOKUPS_AT_ONCE);
        lookups += count;
        for (unsigned i = 0; i < count; i++)
            now = sub_failed(tags[i]);
    }
    assert_int_equal(lookups, 2 * DESCENT_LOOKUPS_MAX);
    assert_string_equal(now, "fail 2: 22 " UNKNOWN);
}

static void test_lookups_of_all_tasks_of_a_question_are_bounded(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BUDGET_LOOKUPS_MAX / 2; i++) {
        start(WWW);
        found(COM);
        referred(CUT(PARENT, "example.com", "ns.one.net"));
    }
    start(WWW);
    found(COM);
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.one.net")), "learn; fail 2: 22");
}

static void lose_glue(void)
{
    start(WWW);
    found(COM);
    assert_string_equal(
        referred(CUT(PARENT, "example.com", "ns.example.com", "a.b.example.com", "example.com")),
        "cut com."); /* other tasks do not see the look-up yet */
}

static void test_the_parent_is_asked_for_missing_glue_and_refers_with_it(void **state)
{
    (void)state;
    lose_glue();
    assert_string_equal(found(COM), "ask ns.example.com. A @com. 0-1");
    assert_string_equal(referred(EXAMPLE), "learn; ask www.example.com. MX @example.com. 0-2");
    assert_string_equal(silent(), "fail 2: 22 23"); /* the parent is tried once */
}

static void test_glue_of_other_servers_is_not_what_was_missing(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(CUT(PARENT, "example.com", "ns1.example.com 192.0.2.4", "ns2.example.com"));
    assert_string_equal(silent(), "cut com.");
    assert_string_equal(found(COM), "ask ns2.example.com. A @com. 0-1");
    assert_string_equal(
        referred(CUT(PARENT, "example.com", "ns1.example.com 192.0.2.4", "ns2.example.com")),
        "ask ns2.example.com. AAAA @com. 0-1");
    assert_string_equal(
        answered(RESPONSE_ANSWER, CUT(PARENT, "example.com", "ns2.example.com 2001:db8::5")),
        "learn; ask www.example.com. MX @example.com. 0-1");
}

static void test_missing_glue_may_come_as_an_answer(void **state)
{
    (void)state;
    lose_glue();
    found(COM);
    assert_string_equal(answered(RESPONSE_ANSWER, EXAMPLE),
                        "learn; ask www.example.com. MX @example.com. 0-2");
}

static void test_servers_without_any_address_cost_the_parent_four_questions(void **state)
{
    (void)state;
    lose_glue();
    assert_string_equal(found(COM), "ask ns.example.com. A @com. 0-1");
    assert_string_equal(answered(RESPONSE_LAME, NULL), "another");
    assert_string_equal(silent(), "ask a.b.example.com. A @com. 0-1");
    assert_string_equal(answered(RESPONSE_NXDOMAIN, NULL), "ask ns.example.com. AAAA @com. 0-1");
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.example.com")),
                        "ask a.b.example.com. AAAA @com. 0-1");
    assert_string_equal(answered(RESPONSE_NODATA, NULL), "lost; fail 2: 22 " UNKNOWN);
    assert_int_equal(budget.used[BUDGET_LOOKUPS], 4);
}

static void test_missing_glue_is_asked_for_in_ip_versions_that_are_used(void **state)
{
    (void)state;
    rules.ipv4 = false;
    lose_glue();
    assert_string_equal(found(COM), "ask ns.example.com. AAAA @com. 0-1");
    assert_string_equal(silent(), "ask a.b.example.com. AAAA @com. 0-1");
    assert_string_equal(silent(), "lost; fail 2: 22 " UNKNOWN);
}

static void test_a_known_cut_without_glue_costs_its_parent_nothing(void **state)
{
    (void)state;
    start(WWW);
    assert_string_equal(found(CUT(PARENT, "example.com", "ns.example.com")), "fail 2: 22 " UNKNOWN);
}

static void test_the_search_for_glue_follows_a_new_cut_above_the_zone(void **state)
{
    (void)state;
    start(QUESTION("www.sub.example.com", MX));
    found(EXAMPLE);
    assert_string_equal(referred(CUT(PARENT, "sub.example.com", "ns.sub.example.com")),
                        "cut example.com.");
    assert_string_equal(found(COM), "ask ns.sub.example.com. A @com. 0-1");
    assert_string_equal(referred(EXAMPLE), "learn; ask ns.sub.example.com. A @example.com. 0-2");
    assert_string_equal(referred(CUT(PARENT, "sub.example.com", "ns.sub.example.com 192.0.2.7")),
                        "learn; ask www.sub.example.com. MX @sub.example.com. 0-1");
}

static void test_a_search_for_glue_ends_where_the_parent_has_no_address(void **state)
{
    (void)state;
    lose_glue();
    assert_string_equal(found(CUT(PARENT, "com", "ns.one.net")), "lost; fail 2: 22 " UNKNOWN);
    lose_glue();
    assert_string_equal(found(NULL), "lost; fail 2: 22 " UNKNOWN);
}

static void test_a_search_for_glue_ends_with_the_budget(void **state)
{
    (void)state;
    lose_glue();
    while (budget_take(&budget, BUDGET_LOOKUPS, 1))
        ;
    assert_string_equal(found(COM), "lost; fail 2: 22");
}

static void test_an_endless_descent_ends_with_the_budget(void **state)
{
    (void)state;
    char name[2 * NAME_LABELS_MAX + 1] = "";
    for (unsigned i = 0; i < NAME_LABELS_MAX; i++)
        strcat(name, "a.");
    start(QUESTION(name, A));
    found(ROOT);
    unsigned referrals = 0;
    const char *now;
    do {
        struct name below = name_suffix(question.name, ++referrals);
        make_cut(DELEGATION_PARENT, "com", (const char *const[]){"ns.com 192.0.2.1", NULL});
        delegation_init(&cut, below, DELEGATION_PARENT, 0);
        delegation_add(&cut, NAME("ns.com"));
        delegation_add_addr(&cut, 0, span_of("\300\0\2\1", 4));
        now = referred(&cut);
    } while (!strstr(now, "fail"));
    assert_int_equal(referrals, BUDGET_REFERRALS_MAX + 1);
    assert_string_equal(now, "fail 2: 22");
}

static void test_questions_of_all_tasks_are_bounded_and_so_is_the_time(void **state)
{
    (void)state;
    while (budget_take(&budget, BUDGET_QUERIES, 1))
        ;
    start(WWW);
    assert_string_equal(found(EXAMPLE), "fail 2: 22");
    budget = fresh_budget(0);
    budget.ends_at = 1;
    start(WWW);
    assert_string_equal(found(EXAMPLE), "fail 2: 22");
}

static void test_a_failure_by_anothers_budget_is_not_remembered(void **state)
{
    (void)state;
    while (budget_take(&budget, BUDGET_LOOKUPS, 1))
        ;
    is_sub = true;
    start(WWW);
    found(COM);
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.one.net")),
                        "learn; fail 2: 22 once");
    budget = fresh_budget(0);
    start(WWW);
    found(COM);
    assert_string_equal(referred(CUT(PARENT, "example.com", "ns.example.com")), "cut com.");
    assert_string_equal(found(NULL), "lost; fail 2: 22 " UNKNOWN);
}

static void test_a_failed_lookup_for_lack_of_room_is_not_remembered(void **state)
{
    (void)state;
    start(WWW);
    found(COM);
    referred(CUT(PARENT, "example.com", "ns.one.net"));
    sub_had_no_room(FIRST_A);
    assert_string_equal(sub_failed(FIRST_AAAA), "fail 2: 22 once");
}

static void test_without_any_cut_no_server_is_reachable(void **state)
{
    (void)state;
    start(WWW);
    assert_string_equal(found(NULL), "fail 2: 22 " UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(
            test_from_the_hints_down_to_the_answer_each_server_sees_one_label_more, set_up),
        cmocka_unit_test_setup(test_it_begins_at_the_closest_cut, set_up),
        cmocka_unit_test_setup(test_without_minimisation_the_whole_question_goes_down, set_up),
        cmocka_unit_test_setup(test_a_name_within_the_zone_is_passed, set_up),
        cmocka_unit_test_setup(test_a_name_known_to_exist_is_not_asked_for, set_up),
        cmocka_unit_test_setup(test_a_zones_statement_about_itself_is_learned, set_up),
        cmocka_unit_test_setup(test_a_ds_record_is_asked_of_the_zone_above, set_up),
        cmocka_unit_test_setup(test_the_root_is_asked_for_its_servers_first, set_up),
        cmocka_unit_test_setup(test_the_hints_serve_when_priming_fails, set_up),
        cmocka_unit_test_setup(test_when_the_servers_of_the_root_fail_the_hints_are_asked_once,
                               set_up),
        cmocka_unit_test_setup(test_a_stub_zone_begins_at_its_own_servers, set_up),
        cmocka_unit_test_setup(test_other_classes_than_in_are_refused, set_up),
        cmocka_unit_test_setup(test_a_name_denied_minimised_and_whole_does_not_exist_with_all_below,
                               set_up),
        cmocka_unit_test_setup(
            test_a_server_that_denies_an_empty_non_terminal_is_asked_for_the_whole, set_up),
        cmocka_unit_test_setup(test_nothing_is_known_below_a_name_whose_alias_leads_nowhere,
                               set_up),
        cmocka_unit_test_setup(test_a_known_absence_ends_it, set_up),
        cmocka_unit_test_setup(test_an_alias_of_a_minimised_name_is_asked_for_with_the_whole_name,
                               set_up),
        cmocka_unit_test_setup(test_servers_silent_about_minimised_names_get_the_whole_name,
                               set_up),
        cmocka_unit_test_setup(test_servers_that_refuse_minimised_names_get_the_whole_name, set_up),
        cmocka_unit_test_setup(
            test_missing_addresses_are_looked_up_and_the_first_that_comes_is_asked, set_up),
        cmocka_unit_test_setup(test_a_host_of_one_version_looks_up_addresses_of_that_one, set_up),
        cmocka_unit_test_setup(test_known_addresses_come_first_and_others_when_they_fail, set_up),
        cmocka_unit_test_setup(test_a_lookup_without_addresses_finds_no_server, set_up),
        cmocka_unit_test_setup(test_a_server_whose_name_is_an_alias_is_asked, set_up),
        cmocka_unit_test_setup(test_an_absence_in_one_zone_says_nothing_about_another, set_up),
        cmocka_unit_test_setup(test_leaving_a_cut_drops_its_lookups, set_up),
        cmocka_unit_test_setup(test_lame_and_refusing_servers_make_it_ask_another, set_up),
        cmocka_unit_test_setup(test_recursive_servers_are_asked_with_rd_when_there_are_no_better,
                               set_up),
        cmocka_unit_test_setup(test_an_empty_answer_is_accepted_when_no_server_has_another, set_up),
        cmocka_unit_test_setup(test_a_failing_cut_that_was_just_given_fails_with_its_reasons,
                               set_up),
        cmocka_unit_test_setup(test_the_failure_reports_refusals_by_all_and_a_servers_own_reason,
                               set_up),
        cmocka_unit_test_setup(test_the_failure_says_why_no_server_is_reachable, set_up),
        cmocka_unit_test_setup(test_our_own_lack_of_room_is_not_remembered, set_up),
        cmocka_unit_test_setup(test_the_parent_is_asked_again_when_a_known_cut_fails, set_up),
        cmocka_unit_test_setup(test_a_parent_with_the_same_servers_ends_it, set_up),
        cmocka_unit_test_setup(test_a_parent_with_the_same_addresses_leads_to_more_lookups, set_up),
        cmocka_unit_test_setup(test_a_zone_above_a_server_may_have_its_glue, set_up),
        cmocka_unit_test_setup(test_after_bogus_answers_other_servers_come_first_and_then_all_again,
                               set_up),
        cmocka_unit_test_setup(test_servers_of_a_stub_zone_are_asked_again_after_bogus_answers,
                               set_up),
        cmocka_unit_test_setup(test_the_parent_is_asked_again_once, set_up),
        cmocka_unit_test_setup(test_the_zone_above_a_stub_zone_is_never_asked, set_up),
        cmocka_unit_test_setup(test_an_alias_out_of_the_zone_is_resolved_from_its_own, set_up),
        cmocka_unit_test_setup(test_an_alias_loop_fails, set_up),
        cmocka_unit_test_setup(test_aliases_from_zone_to_zone_end_with_the_budget, set_up),
        cmocka_unit_test_setup(test_a_referral_to_many_names_costs_few_lookups, set_up),
        cmocka_unit_test_setup(test_lookups_of_all_tasks_of_a_question_are_bounded, set_up),
        cmocka_unit_test_setup(test_the_parent_is_asked_for_missing_glue_and_refers_with_it,
                               set_up),
        cmocka_unit_test_setup(test_glue_of_other_servers_is_not_what_was_missing, set_up),
        cmocka_unit_test_setup(test_missing_glue_may_come_as_an_answer, set_up),
        cmocka_unit_test_setup(test_servers_without_any_address_cost_the_parent_four_questions,
                               set_up),
        cmocka_unit_test_setup(test_missing_glue_is_asked_for_in_ip_versions_that_are_used, set_up),
        cmocka_unit_test_setup(test_a_known_cut_without_glue_costs_its_parent_nothing, set_up),
        cmocka_unit_test_setup(test_the_search_for_glue_follows_a_new_cut_above_the_zone, set_up),
        cmocka_unit_test_setup(test_a_search_for_glue_ends_where_the_parent_has_no_address, set_up),
        cmocka_unit_test_setup(test_a_search_for_glue_ends_with_the_budget, set_up),
        cmocka_unit_test_setup(test_an_endless_descent_ends_with_the_budget, set_up),
        cmocka_unit_test_setup(test_questions_of_all_tasks_are_bounded_and_so_is_the_time, set_up),
        cmocka_unit_test_setup(test_a_failure_by_anothers_budget_is_not_remembered, set_up),
        cmocka_unit_test_setup(test_a_failed_lookup_for_lack_of_room_is_not_remembered, set_up),
        cmocka_unit_test_setup(test_without_any_cut_no_server_is_reachable, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
