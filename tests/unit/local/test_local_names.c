/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/local/local_sample.h"

#include "dns/edns.h"
#include "local/local_answer.h"
#include "local/local_special.h"

/* Builds tables of local data and looks up questions in them. */

static struct local_build *build;
static struct local_names *names;

static int set_up(void **state)
{
    (void)state;
    build = local_build_new();
    return !build;
}

static int tear_down(void **state)
{
    (void)state;
    local_build_free(build);
    local_names_free(names);
    build = NULL;
    names = NULL;
    return 0;
}

static void done(void)
{
    names = build_end(build);
    build = NULL;
}

/* Returns "RCODE EDE?
 * " and the records; "not" or "elsewhere NAME" for the other verdicts. */
static const char *asked(const char *name, uint16_t type)
{
    static char text[70000];
    static struct compose_space space;
    struct question question = {NAME(name), type, RRCLASS_IN};
    struct local_result result;
    struct answer answer;
    char rcode[RRTYPE_TEXT_MAX], target[NAME_TEXT_MAX];
    enum local_verdict verdict = local_names_find(names, &question, &result);
    if (verdict == LOCAL_NOT)
        return "not";
    assert_true(local_names_has(names, question.name, question.type));
    if (verdict == LOCAL_DROPPED)
        return "dropped";
    local_answer(&answer, &space, &question, &result, 5);
    assert_int_equal(answer.ttl_s, 0);
    assert_int_equal(answer.stored_at, 5);
    assert_true(header_flags(answer.message.data) & HEADER_AA);
    if (verdict == LOCAL_ELSEWHERE)
        snprintf(text, sizeof(text), "elsewhere %s\n%s", name_format(result.target, target),
                 answer_show(&answer));
    else if (answer.ede_count)
        snprintf(text, sizeof(text), "%s %u\n%s",
                 rrtype_rcode_name(header_rcode(answer.message.data), rcode), answer.ede[0],
                 answer_show(&answer));
    else
        snprintf(text, sizeof(text), "%s\n%s",
                 rrtype_rcode_name(header_rcode(answer.message.data), rcode), answer_show(&answer));
    return text;
}

#define ASKED(name, type) asked(name, RRTYPE_##type)

/* ---- records ---- */

static void test_a_name_with_a_record_has_it_and_nothing_else(void **state)
{
    (void)state;
    record(build, "NAS.example. 60 IN A 192.0.2.1");
    record(build, "nas.example. 90 IN A 192.0.2.2");
    record(build, "nas.example. 60 IN A 192.0.2.1"); /* the same record again */
    record(build, "nas.example. IN TXT hello");
    done();
    assert_string_equal(ASKED("nas.example", A), "NOERROR\nan nas.example. 60 A 192.0.2.1\n"
                                                 "an nas.example. 60 A 192.0.2.2\n");
    assert_string_equal(ASKED("nas.example", TXT), "NOERROR\nan nas.example. 3600 TXT\n");
    assert_string_equal(ASKED("nas.example", AAAA),
                        "NOERROR\nns nas.example. 300 SOA nas.example.\n");
    assert_string_equal(ASKED("example", A), "not");
    assert_string_equal(ASKED("x.nas.example", A), "not");
    assert_string_equal(ASKED("as.example", A), "not");
    assert_string_equal(ASKED(".", NS), "not");
    assert_false(local_names_has(names, NAME("example"), RRTYPE_A));
    assert_false(local_names_has(names, NAME("www.nas.example"), RRTYPE_A));
}

static void test_any_is_answered_with_one_rrset(void **state)
{
    (void)state;
    record(build, "a.example. IN A 192.0.2.1");
    record(build, "a.example. IN MX 1 a.example.");
    done();
    struct local_result result;
    struct question question = {NAME("a.example"), RRTYPE_ANY, RRCLASS_IN};
    assert_int_equal(local_names_find(names, &question, &result), LOCAL_ANSWERED);
    assert_int_equal(result.hops, 1);
}

static void test_any_of_other_names_is_one_hinfo(void **state)
{
    (void)state;
    static struct compose_space space;
    struct answer answer;
    struct question question = {NAME("www.example"), RRTYPE_ANY, RRCLASS_IN};
    local_answer_any(&answer, &space, &question, 5);
    assert_string_equal(answer_show(&answer), "an www.example. 3789 HINFO\n");
    assert_false(header_flags(answer.message.data) & HEADER_AA);
    assert_int_equal(answer.ttl_s, 0);
}

static void test_names_above_records_exist_in_a_zone(void **state)
{
    (void)state;
    zone(build, "lan", LOCAL_NXDOMAIN);
    record(build, "a.b.lan. IN A 192.0.2.1");
    done();
    assert_string_equal(ASKED("b.lan", A), "NOERROR\nns lan. 300 SOA lan.\n");
    assert_string_equal(ASKED("lan", A), "NOERROR\nns lan. 300 SOA lan.\n");
    assert_string_equal(ASKED("c.lan", A), "NXDOMAIN\nns lan. 300 SOA lan.\n");
    assert_string_equal(ASKED("c.b.lan", A), "NXDOMAIN\nns lan. 300 SOA lan.\n");
    assert_string_equal(ASKED("x.a.b.lan", A), "NXDOMAIN\nns lan. 300 SOA lan.\n");
    assert_string_equal(ASKED("a.b.lan", MX), "NOERROR\nns lan. 300 SOA lan.\n");
}

static void test_a_zones_own_soa_is_used(void **state)
{
    (void)state;
    zone(build, "lan", LOCAL_NXDOMAIN);
    record(build, "lan. 7200 IN SOA ns.lan. me.lan. 1 2 3 4 100");
    done();
    assert_string_equal(ASKED("x.lan", A), "NXDOMAIN\nns lan. 100 SOA ns.lan.\n");
    assert_string_equal(ASKED("lan", SOA), "NOERROR\nan lan. 7200 SOA ns.lan.\n");
    assert_string_equal(ASKED("lan", A), "NOERROR\nns lan. 100 SOA ns.lan.\n");
}

/* RFC 4592: a wildcard applies to names that do not exist, below the closest encloser. */
static void test_a_wildcard_answers_for_names_that_do_not_exist(void **state)
{
    (void)state;
    record(build, "*.w.example. IN A 192.0.2.1");
    record(build, "a.w.example. IN A 192.0.2.2");
    record(build, "x.deep.w.example. IN A 192.0.2.3");
    done();
    assert_string_equal(ASKED("b.w.example", A), "NOERROR\nan b.w.example. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("c.b.w.example", A), "NOERROR\nan c.b.w.example. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("b.w.example", AAAA),
                        "NOERROR\nns b.w.example. 300 SOA b.w.example.\n");
    assert_string_equal(ASKED("a.w.example", A), "NOERROR\nan a.w.example. 3600 A 192.0.2.2\n");
    assert_string_equal(ASKED("*.w.example", A), "NOERROR\nan *.w.example. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("y.deep.w.example", A), "not");
    assert_string_equal(ASKED("w.example", A), "not");
}

/* The name that the wildcard would have is too long. */
static void test_a_name_too_long_for_a_wildcard_has_none(void **state)
{
    (void)state;
    char text[NAME_TEXT_MAX] = "";
    for (int i = 0; i < 63; i++)
        strcat(text, "aaa.");
    record(build, "*.aaa. IN A 192.0.2.1");
    done();
    assert_string_equal(ASKED("x.aaa", A), "NOERROR\nan x.aaa. 3600 A 192.0.2.1\n");
    assert_non_null(strstr(asked(text, RRTYPE_A), "192.0.2.1"));
}

/* ---- aliases ---- */

static void test_aliases_are_followed_in_local_data(void **state)
{
    (void)state;
    zone(build, "lan", LOCAL_NXDOMAIN);
    record(build, "a.lan. IN CNAME B.lan.");
    record(build, "b.lan. IN CNAME c.lan.");
    record(build, "c.lan. IN A 192.0.2.1");
    record(build, "gone.lan. IN CNAME nobody.lan.");
    done();
    assert_string_equal(ASKED("a.lan", A), "NOERROR\nan a.lan. 3600 CNAME B.lan.\n"
                                           "an B.lan. 3600 CNAME c.lan.\n"
                                           "an c.lan. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("a.lan", CNAME), "NOERROR\nan a.lan. 3600 CNAME B.lan.\n");
    assert_string_equal(ASKED("a.lan", AAAA),
                        "NOERROR\nan a.lan. 3600 CNAME B.lan.\n"
                        "an B.lan. 3600 CNAME c.lan.\nns lan. 300 SOA lan.\n");
    assert_string_equal(ASKED("gone.lan", A),
                        "NXDOMAIN\nan gone.lan. 3600 CNAME nobody.lan.\nns lan. 300 SOA lan.\n");
}

static void test_an_alias_may_lead_out_of_local_data(void **state)
{
    (void)state;
    record(build, "out.lan. IN CNAME www.Example.com.");
    done();
    assert_string_equal(ASKED("out.lan", A), "elsewhere www.Example.com.\n"
                                             "an out.lan. 3600 CNAME www.Example.com.\n");
}

static void test_a_loop_of_aliases_ends_in_a_failure(void **state)
{
    (void)state;
    record(build, "a.lan. IN CNAME b.lan.");
    record(build, "b.lan. IN CNAME a.lan.");
    record(build, "*.me.lan. IN CNAME x.me.lan.");
    done();
    assert_string_equal(ASKED("a.lan", A), "SERVFAIL 24\n");
    assert_string_equal(ASKED("y.me.lan", A), "SERVFAIL 24\n");
}

static void test_an_alias_allows_no_other_records(void **state)
{
    (void)state;
    const char *why;
    record(build, "a.lan. IN CNAME b.lan.");
    record(build, "a.lan. IN CNAME b.lan.");
    assert_int_equal(try_record(build, "a.lan. IN CNAME c.lan.", &why), ERR_INVALID);
    assert_int_equal(try_record(build, "A.lan. IN A 192.0.2.1", &why), ERR_INVALID);
    record(build, "b.lan. IN A 192.0.2.1");
    assert_int_equal(try_record(build, "b.lan. IN CNAME c.lan.", &why), ERR_INVALID);
    struct addr addr = ip("192.0.2.9");
    assert_int_equal(local_build_host(build, NAME("a.lan"), &addr, true), ERR_OK);
    done();
    assert_string_equal(ASKED("a.lan", AAAA),
                        "NOERROR\nan a.lan. 3600 CNAME b.lan.\nns b.lan. 300 SOA b.lan.\n");
}

/* ---- refused records ---- */

static void test_unusable_records_are_refused(void **state)
{
    (void)state;
    const char *why = NULL;
    assert_int_equal(try_record(build, "a.lan. CH TXT hello", &why), ERR_INVALID);
    assert_string_equal(why, "its class is not IN");
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"", 0},
        {"\1a\0", 3},
        {"\1a\0\0\1\0\1\0\0\0\1\0\3abc", 16},      /* an A record of three bytes */
        {"\1a\0\0\1\0\1\0\0\0\1\0\4abc", 16},      /* truncated */
        {"\1a\0\0\5\0\1\0\0\0\1\0\2\xc0\x0c", 15}, /* CNAME with a pointer to its owner */
        {"\1a\0\0\5\0\1\0\0\0\1\0\2\xc0\x17", 15}, /* to itself */
        {"\xc0\x0c\0\1\0\1\0\0\0\1\0\4abcd", 16},  /* owner a pointer */
        {"\1a\0\0\xff\0\1\0\0\0\1\0\0", 13},       /* ANY */
        {"\0\0\x29\0\1\0\0\0\1\0\0", 11},          /* OPT */
        {"\1a\0\0\xfa\0\1\0\0\0\1\0\0", 13},       /* TSIG */
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        why = NULL;
        assert_int_equal(local_build_record(build, span_of(bad[i].bytes, bad[i].len), &why),
                         ERR_INVALID);
        assert_non_null(why);
    }
}

static void test_an_rrset_has_a_bound(void **state)
{
    (void)state;
    struct addr addr;
    char text[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "10.0.%d.%d", i / 250, i % 250 + 1);
        addr = ip(text);
        assert_int_equal(local_build_host(build, NAME("many.lan"), &addr, false), ERR_OK);
    }
    addr = ip("10.9.9.9");
    assert_int_equal(local_build_host(build, NAME("many.lan"), &addr, false), ERR_LIMIT);
    assert_false(local_build_is_full(build));
    done();
    struct local_result result;
    struct question question = {NAME("many.lan"), RRTYPE_A, RRCLASS_IN};
    static struct compose_space space;
    struct answer answer;
    assert_int_equal(local_names_find(names, &question, &result), LOCAL_ANSWERED);
    local_answer(&answer, &space, &question, &result, 0);
    assert_int_equal(answer.ttl_count, 1000);
}

/* ---- zones ---- */

static void test_each_action_has_its_own_answer(void **state)
{
    (void)state;
    zone(build, "refuse", LOCAL_REFUSE);
    zone(build, "nxdomain", LOCAL_NXDOMAIN);
    zone(build, "nodata", LOCAL_NODATA);
    zone(build, "redirect", LOCAL_REDIRECT);
    zone(build, "transparent", LOCAL_TRANSPARENT);
    record(build, "redirect. IN A 192.0.2.1");
    record(build, "redirect. IN NS redirect.");
    record(build, "own.redirect. IN A 192.0.2.2");
    record(build, "own.refuse. IN A 192.0.2.3");
    record(build, "own.transparent. IN A 192.0.2.4");
    done();
    assert_string_equal(ASKED("x.refuse", A), "REFUSED 15\n");
    assert_string_equal(ASKED("refuse", A), "REFUSED 15\n");
    assert_string_equal(ASKED("own.refuse", A), "NOERROR\nan own.refuse. 3600 A 192.0.2.3\n");
    assert_string_equal(ASKED("nxdomain", A), "NXDOMAIN\nns nxdomain. 300 SOA nxdomain.\n");
    assert_string_equal(ASKED("y.x.nodata", A), "NOERROR\nns nodata. 300 SOA nodata.\n");
    assert_string_equal(ASKED("y.x.redirect", A), "NOERROR\nan y.x.redirect. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("x.redirect", AAAA), "NOERROR\nns redirect. 300 SOA redirect.\n");
    assert_string_equal(ASKED("x.redirect", NS), "NOERROR\nns redirect. 300 SOA redirect.\n");
    assert_string_equal(ASKED("redirect", NS), "NOERROR\nan redirect. 3600 NS redirect.\n");
    assert_string_equal(ASKED("own.redirect", A), "NOERROR\nan own.redirect. 3600 A 192.0.2.2\n");
    assert_string_equal(ASKED("x.own.redirect", A),
                        "NOERROR\nan x.own.redirect. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("x.transparent", A), "not");
    assert_string_equal(ASKED("own.transparent", A),
                        "NOERROR\nan own.transparent. 3600 A 192.0.2.4\n");
}

static void test_a_zone_that_drops_answers_from_records_only(void **state)
{
    (void)state;
    zone(build, "drop", LOCAL_DROP);
    zone(build, "fine.drop", LOCAL_TRANSPARENT);
    record(build, "own.drop. IN A 192.0.2.1");
    record(build, "alias. IN CNAME x.drop.");
    done();
    assert_string_equal(ASKED("drop", A), "dropped");
    assert_string_equal(ASKED("y.x.drop", ANY), "dropped");
    assert_string_equal(ASKED("own.drop", A), "NOERROR\nan own.drop. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("own.drop", AAAA), "dropped");
    assert_string_equal(ASKED("alias", A), "dropped");
    assert_string_equal(ASKED("x.fine.drop", A), "not");
    assert_string_equal(ASKED("alias", CNAME), "NOERROR\nan alias. 3600 CNAME x.drop.\n");
}

static void test_a_zone_can_be_added_once_and_may_be_the_root(void **state)
{
    (void)state;
    zone(build, ".", LOCAL_NXDOMAIN);
    zone(build, "example", LOCAL_TRANSPARENT);
    assert_int_equal(local_build_zone(build, NAME("example"), LOCAL_REFUSE), ERR_INVALID);
    done();
    assert_string_equal(ASKED("www.other", A), "NXDOMAIN\nns . 300 SOA .\n");
    assert_string_equal(ASKED(".", A), "NXDOMAIN\nns . 300 SOA .\n");
    assert_string_equal(ASKED("www.example", A), "not");
}

static void test_types_without_records_are_left_to_upstreams(void **state)
{
    (void)state;
    zone(build, "example", LOCAL_TYPETRANSPARENT);
    zone(build, "closed.example", LOCAL_NXDOMAIN);
    record(build, "www.example. IN A 192.0.2.1");
    record(build, "alias.example. IN CNAME www.example.");
    record(build, "*.wild.example. IN A 192.0.2.2");
    record(build, "own.wild.example. IN TXT own");
    record(build, "www.closed.example. IN A 192.0.2.3");
    done();
    assert_string_equal(ASKED("www.example", A), "NOERROR\nan www.example. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("www.example", AAAA), "not");
    assert_string_equal(ASKED("www.example", DS), "not");
    assert_string_equal(ASKED("www.example", CNAME), "not");
    assert_string_equal(ASKED("www.example", ANY), "NOERROR\nan www.example. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("below.www.example", A), "not");
    assert_string_equal(ASKED("example", SOA), "not");
    assert_memory_equal(ASKED("alias.example", AAAA), "elsewhere www.example.\n", 23);
    assert_string_equal(ASKED("x.wild.example", A),
                        "NOERROR\nan x.wild.example. 3600 A 192.0.2.2\n");
    assert_string_equal(ASKED("x.wild.example", AAAA), "not");
    assert_string_equal(ASKED("own.wild.example", A), "not");
    assert_string_equal(ASKED("www.closed.example", AAAA),
                        "NOERROR\nns closed.example. 300 SOA closed.example.\n");
}

static void test_cached_answers_of_types_without_records_stay(void **state)
{
    (void)state;
    zone(build, "example", LOCAL_TYPETRANSPARENT);
    record(build, "www.example. IN A 192.0.2.1");
    record(build, "alias.example. IN CNAME www.example.");
    record(build, "www.other. IN A 192.0.2.2");
    done();
    assert_true(local_names_has(names, NAME("www.example"), RRTYPE_A));
    assert_false(local_names_has(names, NAME("www.example"), RRTYPE_AAAA));
    assert_false(local_names_has(names, NAME("x.example"), RRTYPE_A));
    assert_true(local_names_has(names, NAME("alias.example"), RRTYPE_AAAA));
    assert_true(local_names_has(names, NAME("www.other"), RRTYPE_AAAA));
    assert_true(local_names_has_over(names, NAME("www.example")));
    assert_false(local_names_has_over(names, NAME("x.example")));
    assert_true(local_names_has_own(names, NAME("www.example")));
    assert_false(local_names_has_own(names, NAME("x.example")));
}

/* ---- lists ---- */

static void listed(uint32_t list, const char *name)
{
    assert_int_equal(local_build_listed(build, list, NAME(name)), ERR_OK);
}

static void test_listed_names_and_names_below_are_blocked_with_an_ede(void **state)
{
    (void)state;
    uint32_t nx, redirected;
    struct addr addrs[2] = {ip("0.0.0.0"), ip("::")};
    zone(build, "good.ads.example", LOCAL_TRANSPARENT);
    record(build, "mine.ads.example. IN A 192.0.2.1");
    assert_int_equal(local_build_list(build, LOCAL_NXDOMAIN, NULL, 0, &nx), ERR_OK);
    assert_int_equal(local_build_list(build, LOCAL_REDIRECT, addrs, 2, &redirected), ERR_OK);
    listed(nx, "ads.example");
    listed(nx, "good.ads.example");
    listed(redirected, "ads.example");
    listed(redirected, "track.example");
    done();
    assert_string_equal(ASKED("ads.example", MX),
                        "NOERROR 15\nns ads.example. 300 SOA ads.example.\n");
    assert_string_equal(ASKED("x.ads.example", A),
                        "NXDOMAIN 15\nns ads.example. 300 SOA ads.example.\n");
    assert_string_equal(ASKED("mine.ads.example", A),
                        "NOERROR\nan mine.ads.example. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("x.good.ads.example", A), "not");
    assert_string_equal(ASKED("x.track.example", A),
                        "NOERROR 4\nan x.track.example. 300 A 0.0.0.0\n");
    assert_string_equal(ASKED("track.example", AAAA), "NOERROR 4\nan track.example. 300 AAAA\n");
    assert_string_equal(ASKED("track.example", MX),
                        "NOERROR 4\nns track.example. 300 SOA track.example.\n");
    assert_string_equal(ASKED("example", A), "not");
}

static const char *viewed(const char *name_text)
{
    struct name name = NAME(name_text); /* view.zone borrows this name */
    static char text[NAME_TEXT_MAX + 64];
    char zone_text[NAME_TEXT_MAX] = "-";
    struct local_view view;
    if (!local_names_view(names, name, &view))
        return "nothing";
    if (*view.origin)
        name_format(view.zone, zone_text);
    snprintf(text, sizeof(text), "%s %s %s%s", zone_text, local_action_name(view.action),
             view.origin, view.has_records ? " records" : "");
    return text;
}

static void test_a_view_names_the_source_of_the_rule(void **state)
{
    (void)state;
    uint32_t list, other;
    zone(build, "lan", LOCAL_NODATA);
    record(build, "nas.lan. IN A 192.0.2.1");
    record(build, "lone.example. IN A 192.0.2.1");
    assert_int_equal(local_build_list(build, LOCAL_NXDOMAIN, NULL, 0, &list), ERR_OK);
    assert_int_equal(local_build_list(build, LOCAL_REFUSE, NULL, 0, &other), ERR_OK);
    listed(list, "ads.example");
    listed(list, "ads.example");
    listed(list, "lan");
    listed(list, "lone.example");
    listed(other, "ads.example");
    listed(other, "b.example");
    assert_int_equal(local_build_exempt(build, NAME("corp.example")), ERR_OK);
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    assert_string_equal(viewed("x.lan"), "lan. nodata local-zones");
    assert_string_equal(viewed("nas.lan"), "lan. nodata local-zones records");
    assert_string_equal(viewed("lone.example"), "lone.example. nxdomain block-lists records");
    assert_string_equal(viewed("x.ads.example"), "ads.example. nxdomain block-lists");
    assert_string_equal(viewed("b.example"), "b.example. refuse block-lists");
    assert_string_equal(viewed("x.invalid"), "invalid. nxdomain special use");
    assert_string_equal(viewed("other.test2"), "nothing");
    assert_int_equal(local_names_listed(names, 0), 2);
    assert_int_equal(local_names_listed(names, 1), 1);
    assert_int_equal(local_names_listed(names, 2), 0);
}

static void test_the_number_of_lists_is_bounded(void **state)
{
    (void)state;
    uint32_t list;
    for (int i = 0; i < LOCAL_LISTS_MAX; i++)
        assert_int_equal(local_build_list(build, LOCAL_NODATA, NULL, 0, &list), ERR_OK);
    assert_int_equal(local_build_list(build, LOCAL_NODATA, NULL, 0, &list), ERR_LIMIT);
}

/* ---- zones with upstreams ---- */

static void spare(const char *name)
{
    assert_int_equal(local_build_exempt(build, NAME(name)), ERR_OK);
}

static void test_zones_with_upstreams_win_over_lists_and_special_names(void **state)
{
    (void)state;
    uint32_t list;
    zone(build, "mine.corp.example", LOCAL_NXDOMAIN);
    assert_int_equal(local_build_list(build, LOCAL_NXDOMAIN, NULL, 0, &list), ERR_OK);
    listed(list, "corp.example");
    listed(list, "ads.corp.example");
    spare(".");
    spare("corp.example");
    spare("mine.corp.example");
    spare("10.in-addr.arpa");
    spare("lab.home.arpa");
    spare("elsewhere.example");
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    assert_string_equal(ASKED("www.corp.example", A), "not");
    assert_string_equal(ASKED("x.ads.corp.example", A),
                        "NXDOMAIN 15\nns ads.corp.example. 300 SOA ads.corp.example.\n");
    assert_string_equal(ASKED("x.mine.corp.example", A),
                        "NXDOMAIN\nns mine.corp.example. 300 SOA mine.corp.example.\n");
    assert_string_equal(ASKED("1.0.0.10.in-addr.arpa", PTR), "not");
    assert_string_equal(ASKED("10.in-addr.arpa", SOA), "not");
    assert_string_equal(ASKED("x.lab.home.arpa", A), "not");
    assert_string_equal(ASKED("x.home.arpa", A), "NXDOMAIN\nns home.arpa. 10800 SOA home.arpa.\n");
    assert_string_equal(ASKED("www.elsewhere.example", A), "not");
}

/* ---- special use ---- */

static void test_special_use_names_are_answered_locally(void **state)
{
    (void)state;
    static const char *const nothing[] = {
        "a.invalid",
        "a.test",
        "facebook.onion",
        "printer.local",
        "a.home.arpa",
        "a.service.arpa",
        "1.2.3.10.in-addr.arpa",
        "1.2.16.172.in-addr.arpa",
        "1.2.31.172.in-addr.arpa",
        "1.1.168.192.in-addr.arpa",
        "1.1.64.100.in-addr.arpa",
        "1.1.127.100.in-addr.arpa",
        "1.254.169.254.169.in-addr.arpa",
        "1.113.0.203.in-addr.arpa",
        "2.0.0.127.in-addr.arpa",
        "a.d.f.ip6.arpa",
        "a.b.e.f.ip6.arpa",
        "1.8.b.d.0.1.0.0.2.ip6.arpa",
    };
    static const char *const passed[] = {
        "example",
        "www.example.com",
        "mytest",
        "1.1.32.172.in-addr.arpa",
        "1.1.15.172.in-addr.arpa",
        "1.1.63.100.in-addr.arpa",
        "1.1.128.100.in-addr.arpa",
        "8.8.8.8.in-addr.arpa",
        "arpa",
        "ip6.arpa",
        "c.e.f.ip6.arpa",
        "c.f.ip6.arpa",
        "as112.arpa",
    };
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    for (size_t i = 0; i < ARRAY_LEN(nothing); i++)
        assert_memory_equal(asked(nothing[i], RRTYPE_PTR), "NXDOMAIN\n", 9);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++)
        assert_string_equal(asked(passed[i], RRTYPE_A), "not");
    assert_string_equal(ASKED("localhost", A), "NOERROR\nan localhost. 10800 A 127.0.0.1\n");
    assert_string_equal(ASKED("a.b.localhost", A),
                        "NOERROR\nan a.b.localhost. 10800 A 127.0.0.1\n");
    assert_string_equal(ASKED("a.localhost", AAAA), "NOERROR\nan a.localhost. 10800 AAAA\n");
    assert_string_equal(ASKED("localhost", MX), "NOERROR\nns localhost. 10800 SOA localhost.\n");
    assert_string_equal(ASKED("1.0.0.127.in-addr.arpa", PTR),
                        "NOERROR\nan 1.0.0.127.in-addr.arpa. 10800 PTR localhost.\n");
    assert_non_null(strstr(
        ASKED("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", PTR),
        "PTR localhost."));
    assert_string_equal(ASKED("_dns.resolver.arpa", SVCB),
                        "NOERROR\nns resolver.arpa. 10800 SOA resolver.arpa.\n");
    assert_string_equal(ASKED("onion", NS), "NOERROR\nan onion. 10800 NS onion.\n");
}

/* RFC 8375 section 4: the parent proves that these zones are unsigned. */
static void test_upstreams_answer_ds_of_special_zones_below_arpa(void **state)
{
    (void)state;
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    assert_string_equal(ASKED("home.arpa", DS), "not");
    assert_string_equal(ASKED("10.in-addr.arpa", DS), "not");
    assert_memory_equal(ASKED("a.home.arpa", DS), "NXDOMAIN", 8);
    assert_memory_equal(ASKED("onion", DS), "NOERROR", 7);
}

static void test_the_operators_rules_win_over_special_use(void **state)
{
    (void)state;
    zone(build, "test", LOCAL_TRANSPARENT);
    record(build, "nas.home.arpa. IN A 192.0.2.1");
    record(build, "localhost. IN A 127.0.0.2");
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    assert_string_equal(ASKED("a.test", A), "not");
    assert_string_equal(ASKED("test", SOA), "not");
    assert_string_equal(ASKED("nas.home.arpa", A), "NOERROR\nan nas.home.arpa. 3600 A 192.0.2.1\n");
    assert_memory_equal(ASKED("x.nas.home.arpa", A), "NXDOMAIN", 8);
    assert_string_equal(ASKED("localhost", A), "NOERROR\nan localhost. 3600 A 127.0.0.2\n");
}

/* Makes the table for the time when these zones have upstreams, too. */
static void spare_later(struct local_names **over, const char *first, const char *second)
{
    *over = local_names_new_over(names);
    assert_non_null(*over);
    assert_int_equal(local_names_exempt(*over, NAME(first)), ERR_OK);
    assert_int_equal(local_names_exempt(*over, NAME(second)), ERR_OK);
}

static void test_zones_that_get_upstreams_later_are_treated_like_the_others(void **state)
{
    (void)state;
    static const char *const sure[] = {"home.arpa", "x.home.arpa", "1.0.0.127.in-addr.arpa",
                                       "127.in-addr.arpa", "0.0.127.in-addr.arpa"};
    uint32_t list;
    record(build, "nas.home.arpa A 192.0.2.1");
    zone(build, "mine.home.arpa", LOCAL_REFUSE);
    assert_int_equal(local_build_list(build, LOCAL_NXDOMAIN, NULL, 0, &list), ERR_OK);
    assert_int_equal(local_build_listed(build, list, NAME("ads.home.arpa")), ERR_OK);
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    struct local_names *over, *plain = names;
    spare_later(&over, "home.arpa", "127.in-addr.arpa");
    names = over;
    for (size_t i = 0; i < ARRAY_LEN(sure); i++) {
        assert_string_equal(ASKED(sure[i], A), "not");
        assert_string_equal(ASKED(sure[i], PTR), "not");
        assert_string_equal(ASKED(sure[i], SOA), "not");
        assert_string_equal(ASKED(sure[i], DS), "not");
        assert_false(local_names_has(over, NAME(sure[i]), RRTYPE_A));
        assert_true(local_names_has(plain, NAME(sure[i]), RRTYPE_A));
    }
    assert_string_equal(ASKED("nas.home.arpa", A), "NOERROR\nan nas.home.arpa. 3600 A 192.0.2.1\n");
    assert_string_equal(ASKED("x.nas.home.arpa", A), "not");
    assert_memory_equal(ASKED("x.mine.home.arpa", A), "REFUSED", 7);
    assert_memory_equal(ASKED("ads.home.arpa", A), "NXDOMAIN", 8);
    assert_memory_equal(ASKED("x.local", A), "NXDOMAIN", 8);
    assert_string_equal(viewed("x.home.arpa"), "home.arpa. transparent forward-zones");
    names = plain;
    local_names_free(over);
    assert_memory_equal(ASKED("x.home.arpa", A), "NXDOMAIN", 8);
}

static void test_part_of_a_special_zone_or_more_than_it_may_get_upstreams(void **state)
{
    (void)state;
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    struct local_names *over, *plain = names;
    spare_later(&over, "8.10.in-addr.arpa", "localhost");
    assert_int_equal(local_names_exempt(over, NAME("ip6.arpa")), ERR_OK);
    assert_int_equal(local_names_exempt(over, name_root()), ERR_OK);
    names = over;
    assert_string_equal(ASKED("1.8.10.in-addr.arpa", PTR), "not");
    assert_memory_equal(ASKED("1.9.10.in-addr.arpa", PTR), "NXDOMAIN", 8);
    assert_memory_equal(ASKED("10.in-addr.arpa", SOA), "NOERROR", 7);
    assert_memory_equal(ASKED("x.d.f.ip6.arpa", PTR), "NXDOMAIN", 8);
    assert_string_equal(ASKED("localhost", A), "not");
    assert_string_equal(ASKED("x.localhost", AAAA), "not");
    assert_memory_equal(ASKED("x.invalid", A), "NXDOMAIN", 8);
    names = plain;
    local_names_free(over);
}

static void test_the_operators_rules_are_distinguished_from_special_use(void **state)
{
    (void)state;
    record(build, "nas.home.arpa A 192.0.2.1");
    record(build, "localhost TXT mine");
    zone(build, "mine.test", LOCAL_NXDOMAIN);
    zone(build, "open.test", LOCAL_TRANSPARENT);
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    assert_true(local_names_has_own(names, NAME("nas.home.arpa")));
    assert_true(local_names_has_own(names, NAME("localhost")));
    assert_true(local_names_has_own(names, NAME("x.mine.test")));
    assert_false(local_names_has_own(names, NAME("x.open.test")));
    assert_false(local_names_has_own(names, NAME("x.localhost")));
    assert_false(local_names_has_own(names, NAME("home.arpa")));
    assert_false(local_names_has_own(names, NAME("x.test")));
    assert_false(local_names_has_own(names, NAME("1.0.0.127.in-addr.arpa")));
    assert_false(local_names_has_own(names, NAME("example.org")));
}

/* ---- hosts ---- */

static void test_hosts_have_addresses_and_addresses_their_first_name(void **state)
{
    (void)state;
    struct addr v4 = ip("192.168.7.1"), v6 = ip("fd00::1"), any = ip("0.0.0.0");
    assert_int_equal(local_build_host(build, NAME("gw.lan"), &v4, true), ERR_OK);
    assert_int_equal(local_build_host(build, NAME("other.lan"), &v4, true), ERR_OK);
    assert_int_equal(local_build_host(build, NAME("gw.lan"), &v6, true), ERR_OK);
    assert_int_equal(local_build_host(build, NAME("ads.lan"), &any, true), ERR_OK);
    assert_int_equal(local_special_add(build), ERR_OK);
    done();
    assert_string_equal(ASKED("gw.lan", A), "NOERROR\nan gw.lan. 300 A 192.168.7.1\n");
    assert_string_equal(ASKED("gw.lan", AAAA), "NOERROR\nan gw.lan. 300 AAAA\n");
    assert_string_equal(ASKED("1.7.168.192.in-addr.arpa", PTR),
                        "NOERROR\nan 1.7.168.192.in-addr.arpa. 300 PTR gw.lan.\n");
    assert_non_null(strstr(
        ASKED("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa", PTR),
        "PTR gw.lan."));
    assert_memory_equal(ASKED("0.0.0.0.in-addr.arpa", PTR), "NXDOMAIN", 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_name_with_a_record_has_it_and_nothing_else),
        TEST(test_any_is_answered_with_one_rrset),
        TEST(test_any_of_other_names_is_one_hinfo),
        TEST(test_names_above_records_exist_in_a_zone),
        TEST(test_a_zones_own_soa_is_used),
        TEST(test_a_wildcard_answers_for_names_that_do_not_exist),
        TEST(test_a_name_too_long_for_a_wildcard_has_none),
        TEST(test_aliases_are_followed_in_local_data),
        TEST(test_an_alias_may_lead_out_of_local_data),
        TEST(test_a_loop_of_aliases_ends_in_a_failure),
        TEST(test_an_alias_allows_no_other_records),
        TEST(test_unusable_records_are_refused),
        TEST(test_an_rrset_has_a_bound),
        TEST(test_each_action_has_its_own_answer),
        TEST(test_types_without_records_are_left_to_upstreams),
        TEST(test_cached_answers_of_types_without_records_stay),
        TEST(test_a_zone_that_drops_answers_from_records_only),
        TEST(test_a_zone_can_be_added_once_and_may_be_the_root),
        TEST(test_listed_names_and_names_below_are_blocked_with_an_ede),
        TEST(test_a_view_names_the_source_of_the_rule),
        TEST(test_the_number_of_lists_is_bounded),
        TEST(test_zones_with_upstreams_win_over_lists_and_special_names),
        TEST(test_special_use_names_are_answered_locally),
        TEST(test_upstreams_answer_ds_of_special_zones_below_arpa),
        TEST(test_the_operators_rules_win_over_special_use),
        TEST(test_zones_that_get_upstreams_later_are_treated_like_the_others),
        TEST(test_part_of_a_special_zone_or_more_than_it_may_get_upstreams),
        TEST(test_the_operators_rules_are_distinguished_from_special_use),
        TEST(test_hosts_have_addresses_and_addresses_their_first_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
