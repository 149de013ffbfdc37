/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/local/local_sample.h"

#include "local/local_text.h"

/* Hosts files and block lists as text, and the reports about faulty lines. */

static struct local_build *build;
static struct local_names *names;
static char said[8192];
static unsigned problems;

static void on_problem(void *context, size_t line, size_t column, struct span word,
                       const char *sentence)
{
    assert_ptr_equal(context, &problems);
    size_t at = strlen(said);
    problems++;
    snprintf(said + at, sizeof(said) - at, "%zu:%zu %.*s %.24s\n", line, column, (int)word.len,
             (const char *)word.data, sentence);
}

static const struct local_text_report report = {on_problem, &problems};

static int set_up(void **state)
{
    (void)state;
    problems = 0;
    said[0] = '\0';
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

static void hosts_bytes(const char *text, size_t len)
{
    /* A copy of exactly this length, so that a sanitizer detects overruns. */
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    assert_int_equal(local_text_hosts(build, span_of(copy, len), &report), ERR_OK);
    free(copy);
    names = build_end(build);
    build = NULL;
}

static void list_bytes(const char *text, size_t len)
{
    uint32_t list;
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    assert_int_equal(local_build_list(build, LOCAL_NXDOMAIN, NULL, 0, &list), ERR_OK);
    assert_int_equal(local_text_list(build, list, span_of(copy, len), &report), ERR_OK);
    free(copy);
    names = build_end(build);
    build = NULL;
}

#define HOSTS(text) hosts_bytes(text, sizeof(text) - 1)
#define LIST(text) list_bytes(text, sizeof(text) - 1)

static unsigned count_of(const char *name, uint16_t type)
{
    struct local_result result;
    struct question question = {NAME(name), type, RRCLASS_IN};
    if (local_names_find(names, &question, &result) != LOCAL_ANSWERED || !result.hops)
        return 0;
    unsigned count = 0;
    struct span rdata;
    for (uint32_t at = 0; local_rrset_next(names, result.hop[0].rrset, &at, &rdata);)
        count++;
    return count;
}

/* ---- hosts ---- */

static void test_a_hosts_file_is_read(void **state)
{
    (void)state;
    HOSTS("# comment\n"
          "\n"
          "127.0.0.1\tlocalhost\n"
          "192.0.2.1 Gw.lan gw\talias.lan # and more.lan\r\n"
          "  192.0.2.2 gw.lan.\n"
          "2001:db8::1 gw.lan#none.lan");
    assert_string_equal(said, "");
    assert_int_equal(count_of("gw.lan", RRTYPE_A), 2);
    assert_int_equal(count_of("gw.lan", RRTYPE_AAAA), 1);
    assert_int_equal(count_of("gw", RRTYPE_A), 1);
    assert_int_equal(count_of("alias.lan", RRTYPE_A), 1);
    assert_int_equal(count_of("more.lan", RRTYPE_A), 0);
    assert_int_equal(count_of("none.lan", RRTYPE_AAAA), 0);
    assert_int_equal(count_of("1.2.0.192.in-addr.arpa", RRTYPE_PTR), 1);
}

static void test_malformed_lines_of_a_hosts_file_are_reported_and_skipped(void **state)
{
    (void)state;
    HOSTS("gw.lan 192.0.2.1\n"
          "192.0.2.1\n"
          "192.0.2.1 # gw.lan\n"
          "192.0.2.256 gw.lan\n"
          "192.0.2.1@53 gw.lan\n"
          "192.0.2.1 <b> a..lan ok.lan . *.lan\n"
          "fe80::1%eth0 scoped.lan\n");
    assert_string_equal(said, "1:1 gw.lan is not an address; a lin\n"
                              "2:1 192.0.2.1 has no name after it; a \n"
                              "3:1 192.0.2.1 has no name after it; a \n"
                              "4:1 192.0.2.256 is not an address; a lin\n"
                              "5:1 192.0.2.1@53 is not an address; a lin\n"
                              "6:11 <b> is not a domain name: us\n"
                              "6:15 a..lan is not a domain name: us\n"
                              "6:29 . is not a domain name: us\n"
                              "6:31 *.lan is not a domain name: us\n");
    assert_int_equal(count_of("scoped.lan", RRTYPE_AAAA), 1);
    assert_int_equal(count_of("ok.lan", RRTYPE_A), 1);
    assert_int_equal(count_of("gw.lan", RRTYPE_A), 0);
}

static void test_one_name_with_too_many_addresses_does_not_end_the_file(void **state)
{
    (void)state;
    static char text[64 * 1024];
    size_t len = 0;
    for (int i = 0; i < 1002; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "10.0.%d.%d many.lan\n", i / 250,
                                i % 250 + 1);
    len += (size_t)snprintf(text + len, sizeof(text) - len, "192.0.2.1 last.lan\n");
    hosts_bytes(text, len);
    assert_int_equal(problems, 2);
    assert_int_equal(count_of("many.lan", RRTYPE_A), 1000);
    assert_int_equal(count_of("last.lan", RRTYPE_A), 1);
}

static void test_bytes_that_are_no_text_are_harmless(void **state)
{
    (void)state;
    HOSTS("\0\0\0\0 a.lan\n192.0.2.1\0 a.lan\n192.0.2.1 a\0b.lan \xff\xfe\n\n\n#");
    assert_int_equal(problems, 4);
    assert_int_equal(count_of("a.lan", RRTYPE_A), 0);
}

/* ---- lists ---- */

static bool is_blocked(const char *name)
{
    return local_names_has(names, NAME(name), RRTYPE_A);
}

static void test_a_list_is_read_in_both_forms(void **state)
{
    (void)state;
    LIST("\xef\xbb\xbf# Title\n"
         "! another comment\n"
         "; a third\n"
         "ads.example\n"
         "  *.star.example\t# wildcard\n"
         ".dot.example\r\n"
         "UPPER.example.\n"
         "0.0.0.0 one.hosts two.hosts\n"
         ":: six.hosts\n"
         "_tcp.under.example\n"
         "4chan.example\n"
         "zip\n"
         "last.example");
    assert_string_equal(said, "");
    static const char *const blocked[] = {
        "ads.example",   "www.ads.example", "star.example",       "x.star.example", "dot.example",
        "upper.example", "one.hosts",       "two.hosts",          "x.six.hosts",    "4chan.example",
        "any.zip",       "last.example",    "_tcp.under.example",
    };
    for (size_t i = 0; i < ARRAY_LEN(blocked); i++)
        assert_true(is_blocked(blocked[i]));
    assert_false(is_blocked("example"));
    assert_false(is_blocked("hosts"));
    assert_false(is_blocked("xads.example"));
    assert_false(is_blocked("under.example"));
}

/* A list must not block names that every hosts file contains, such as localhost. */
static void test_customary_names_of_hosts_files_are_left_out(void **state)
{
    (void)state;
    LIST("127.0.0.1 localhost\n127.0.0.1 localhost.localdomain\n127.0.0.1 local\n"
         "255.255.255.255 broadcasthost\n::1 localhost\n::1 ip6-localhost\n::1 ip6-loopback\n"
         "fe80::1%lo0 localhost\nff02::1 ip6-allnodes\n0.0.0.0 0.0.0.0\nlocalhost\n");
    assert_false(is_blocked("localhost"));
    assert_false(is_blocked("local"));
    assert_false(is_blocked("0.0.0.0"));
    assert_int_equal(problems, 0);
}

static void test_a_file_that_is_no_list_blocks_nothing(void **state)
{
    (void)state;
    LIST("<!DOCTYPE html>\n<html><body>404\n"
         "||ads.example^\n"
         "@@||good.example^\n"
         ".\n"
         "*.\n"
         "*\n"
         "1.2.3.4\n"
         "a..example\n"
         "two words\n"
         "m\xc3\xbcller.example\n"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example\n"
         "a/b.example\nlocal-zone: \"x.example\" static\n");
    assert_int_equal(problems, 14);
    assert_int_equal(local_names_count(names), 0);
}

static void test_an_empty_list_is_accepted(void **state)
{
    (void)state;
    LIST("");
    assert_int_equal(local_names_count(names), 0);
    assert_false(is_blocked("example"));
}

static void test_a_hundred_thousand_names_take_little_memory(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    char *text = malloc(MANY * 40);
    size_t len = 0;
    for (int i = 0; i < MANY; i++)
        len += (size_t)snprintf(text + len, 40, "n%d.track%d.example\n", i, i % 1000);
    list_bytes(text, len);
    free(text);
    assert_int_equal(problems, 0);
    assert_int_equal(local_names_count(names), MANY);
    assert_true(is_blocked("www.n99999.track999.example"));
    assert_false(is_blocked("n99999.track998.example"));
    assert_true(local_names_bytes(names) < MANY * 60);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_hosts_file_is_read),
        TEST(test_malformed_lines_of_a_hosts_file_are_reported_and_skipped),
        TEST(test_one_name_with_too_many_addresses_does_not_end_the_file),
        TEST(test_bytes_that_are_no_text_are_harmless),
        TEST(test_a_list_is_read_in_both_forms),
        TEST(test_customary_names_of_hosts_files_are_left_out),
        TEST(test_a_file_that_is_no_list_blocks_nothing),
        TEST(test_an_empty_list_is_accepted),
        TEST(test_a_hundred_thousand_names_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
