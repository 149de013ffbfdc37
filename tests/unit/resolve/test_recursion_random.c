/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/recursion.h"

/*
 * Servers that say anything: referrals in all directions, with and without glue, to each other and
 * to themselves; aliases, data, denials, refusals, silence. Every question ends once and within its
 * budget, and leaves nothing under way.
 */
enum { ROUNDS = 4000, SERVERS = 12 };

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

/* Draws one of 85 names with up to three labels. */
static const char *draw_name(char out[16])
{
    static const char *const labels[] = {"a.", "b.", "c.", "_d."};
    unsigned count = draw(4);
    out[0] = 0;
    for (unsigned i = 0; i < count; i++)
        strcat(out, labels[draw(4)]);
    return count ? out : strcpy(out, ".");
}

static const char *name_text(struct name name)
{
    static char out[NAME_TEXT_MAX];
    return name_format(name, out);
}

/* Draws a zone, mostly one above the QNAME, as an honest server would name. */
static const char *draw_zone(char out[16], const struct question *question)
{
    if (draw(4) == 0)
        return draw_name(out);
    unsigned labels = draw(name_label_count(question->name) + 1);
    snprintf(out, 16, "%s", name_text(name_suffix(question->name, labels)));
    return out;
}

static void add(struct response_text *to, enum section section, const char *owner, const char *rest)
{
    char line[128];
    snprintf(line, sizeof(line), "%.40s %.70s", owner, rest);
    response_add(to, section, line);
}

static void add_addr(struct response_text *to, enum section section, const char *owner)
{
    char rest[64];
    snprintf(rest, sizeof(rest), "%u A 192.0.0.%u", draw(90), 1 + draw(SERVERS));
    add(to, section, owner, rest);
}

static void refer(struct response_text *to, const struct question *question)
{
    char zone[16], hosts[8][16], rest[64];
    unsigned count = 1 + draw(8);
    draw_zone(zone, question);
    for (unsigned i = 0; i < count; i++) {
        snprintf(rest, sizeof(rest), "%u NS %s", draw(900), draw_name(hosts[i]));
        add(to, SECTION_AUTHORITY, zone, rest);
    }
    for (unsigned i = 0; i < count; i++)
        if (draw(2))
            add_addr(to, SECTION_ADDITIONAL, hosts[i]);
}

static void add_alias(struct response_text *to, const struct question *question)
{
    char target[16], rest[64];
    snprintf(rest, sizeof(rest), "60 %s %s", draw(4) ? "CNAME" : "DNAME", draw_name(target));
    add(to, SECTION_ANSWER, draw(4) ? name_text(question->name) : draw_name((char[16]){0}), rest);
}

static void deny(struct response_text *to, const struct question *question)
{
    char zone[16];
    if (draw(3))
        add(to, SECTION_AUTHORITY, draw_zone(zone, question), "60 SOA a. b. 1 2 3 4 30");
}

static bool respond(struct response_text *to, unsigned server, const struct question *question)
{
    static const uint16_t rcodes[] = {RCODE_NOERROR,  RCODE_NOERROR, RCODE_NOERROR,
                                      RCODE_NXDOMAIN, RCODE_REFUSED, RCODE_SERVFAIL};
    unsigned what = draw(10);
    (void)server;
    if (what == 0)
        return false;
    response_begin(to, (uint16_t)((draw(2) ? HEADER_AA : 0) | rcodes[draw(ARRAY_LEN(rcodes))]),
                   question);
    if (what < 3)
        add_addr(to, SECTION_ANSWER, name_text(question->name));
    else if (what < 5)
        add_alias(to, question);
    if (what > 6)
        refer(to, question);
    else if (what > 4)
        deny(to, question);
    return true;
}

static void test_every_question_ends_within_its_budget_whatever_servers_say(void **state)
{
    (void)state;
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_NS, RRTYPE_DS, RRTYPE_CNAME, RRTYPE_TXT};
    unsigned most = 0, answered = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char name[16];
        world.rules.priming = draw(2);
        world.rules.minimise = draw(4);
        world.rules.ipv6 = draw(2);
        resolve_with(draw_name(name), types[draw(ARRAY_LEN(types))], draw(4) ? 0 : CACHE_KEY_DO);
        assert_true(asked_count <= BUDGET_QUERIES_MAX);
        most = asked_count > most ? asked_count : most;
        answered += rcode != RCODE_SERVFAIL;
        fake_loop_advance(loop, draw(20) * US_PER_S);
    }
    print_message("at most %u exchanges for a question; %u of %u answered\n", most, answered,
                  ROUNDS);
    assert_true(answered > ROUNDS / 10);
}

static int set_up_random(void **state)
{
    random_state = 4711;
    return set_up(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_every_question_ends_within_its_budget_whatever_servers_say, set_up_random,
            tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
