/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/rpz/rpz_make.h"

#include "base/log.h"

/* The rules of one zone. */

static struct rpz_rules *rules;

static int tear_down(void **state)
{
    (void)state;
    rpz_rules_unref(rules);
    rules = NULL;
    return 0;
}

static void test_each_target_is_an_action(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "a.test CNAME .\n"
                                      "b.test CNAME *.\n"
                                      "c.test CNAME rpz-passthru.\n"
                                      "d.test CNAME RPZ-Drop.\n"
                                      "e.test CNAME rpz-tcp-only.\n"
                                      "f.test CNAME garden.example.\n"
                                      "g.test CNAME *.garden.example.\n"
                                      "h.test A 192.0.2.1\n"
                                      "h.test AAAA 2001:db8::1\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.test"), "a.test.rpz.example. nxdomain");
    assert_string_equal(find_name(rules, RPZ_QNAME, "b.test"), "b.test.rpz.example. nodata");
    assert_string_equal(find_name(rules, RPZ_QNAME, "c.test"), "c.test.rpz.example. passthru");
    assert_string_equal(find_name(rules, RPZ_QNAME, "d.test"), "d.test.rpz.example. drop");
    assert_string_equal(find_name(rules, RPZ_QNAME, "e.test"), "e.test.rpz.example. tcp-only");
    assert_string_equal(find_name(rules, RPZ_QNAME, "f.test"), "f.test.rpz.example. local-data");
    assert_string_equal(find_name(rules, RPZ_QNAME, "g.test"), "g.test.rpz.example. local-data");
    assert_string_equal(find_name(rules, RPZ_QNAME, "h.test"), "h.test.rpz.example. local-data");
    assert_string_equal(find_name(rules, RPZ_QNAME, "i.test"), "none");
    assert_int_equal(rpz_rules_count(rules, RPZ_QNAME), 8);
    assert_int_equal(rpz_rules_skipped(rules), 0);
}

static void test_a_name_comes_before_its_wildcards_and_the_longest_wildcard_wins(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "*.test CNAME .\n"
                                      "*.bad.test CNAME *.\n"
                                      "www.bad.test CNAME rpz-passthru.\n"
                                      "deep.www.bad.test CNAME rpz-drop.\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "www.bad.test"),
                        "www.bad.test.rpz.example. passthru");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.bad.test"),
                        "*.bad.test.rpz.example. nodata");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.www.bad.test"),
                        "*.bad.test.rpz.example. nodata");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.deep.www.bad.test"),
                        "*.bad.test.rpz.example. nodata");
    assert_string_equal(find_name(rules, RPZ_QNAME, "bad.test"), "*.test.rpz.example. nxdomain");
    assert_string_equal(find_name(rules, RPZ_QNAME, "test"), "none");
    assert_string_equal(find_name(rules, RPZ_QNAME, "."), "none");
}

static void test_a_wildcard_at_the_top_covers_every_name_but_the_root(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "* CNAME .\nok.test CNAME rpz-passthru.\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.b"), "*.rpz.example. nxdomain");
    assert_string_equal(find_name(rules, RPZ_QNAME, "com"), "*.rpz.example. nxdomain");
    assert_string_equal(find_name(rules, RPZ_QNAME, "ok.test"), "ok.test.rpz.example. passthru");
    assert_string_equal(find_name(rules, RPZ_QNAME, "."), "none");
}

static void test_one_name_may_have_an_exact_and_a_wildcard_rule(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "bad.test CNAME rpz-drop.\n*.bad.test A 192.0.2.1\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "bad.test"), "bad.test.rpz.example. drop");
    assert_string_equal(find_name(rules, RPZ_QNAME, "x.bad.test"),
                        "*.bad.test.rpz.example. local-data");
}

static void test_the_old_form_of_passthru_holds(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "ok.test CNAME ok.test.\n*.ok.test CNAME ok.test.\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "ok.test"), "ok.test.rpz.example. passthru");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.ok.test"),
                        "*.ok.test.rpz.example. local-data");
}

static void test_servers_have_their_own_rules(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "ns.bad.test.rpz-nsdname CNAME .\n"
                                      "*.evil.test.rpz-nsdname A 192.0.2.1\n");
    assert_string_equal(find_name(rules, RPZ_NSDNAME, "ns.bad.test"),
                        "ns.bad.test.rpz-nsdname.rpz.example. nxdomain");
    assert_string_equal(find_name(rules, RPZ_NSDNAME, "a.b.evil.test"),
                        "*.evil.test.rpz-nsdname.rpz.example. local-data");
    assert_string_equal(find_name(rules, RPZ_QNAME, "ns.bad.test"), "none");
}

static void test_the_longest_prefix_wins_for_each_trigger(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "8.0.0.0.10.rpz-ip CNAME .\n"
                                      "24.0.2.1.10.rpz-ip CNAME rpz-passthru.\n"
                                      "32.9.2.1.10.rpz-ip A 192.0.2.1\n"
                                      "32.zz.db8.2001.rpz-ip CNAME *.\n"
                                      "8.0.0.0.10.rpz-client-ip CNAME rpz-drop.\n"
                                      "8.0.0.0.11.rpz-nsip CNAME rpz-tcp-only.\n");
    assert_string_equal(find_addr(rules, RPZ_IP, "10.9.9.9"),
                        "8.0.0.0.10.rpz-ip.rpz.example. nxdomain");
    assert_string_equal(find_addr(rules, RPZ_IP, "10.1.2.3"),
                        "24.0.2.1.10.rpz-ip.rpz.example. passthru");
    assert_string_equal(find_addr(rules, RPZ_IP, "10.1.2.9"),
                        "32.9.2.1.10.rpz-ip.rpz.example. local-data");
    assert_string_equal(find_addr(rules, RPZ_IP, "2001:db8:1::"),
                        "32.zz.db8.2001.rpz-ip.rpz.example. nodata");
    assert_string_equal(find_addr(rules, RPZ_IP, "11.1.1.1"), "none");
    assert_string_equal(find_addr(rules, RPZ_CLIENT_IP, "10.1.2.3"),
                        "8.0.0.0.10.rpz-client-ip.rpz.example. drop");
    assert_string_equal(find_addr(rules, RPZ_NSIP, "11.1.2.3"),
                        "8.0.0.0.11.rpz-nsip.rpz.example. tcp-only");
    assert_string_equal(find_addr(rules, RPZ_NSIP, "10.1.2.3"), "none");
}

static void test_unsound_rules_have_no_effect_and_are_counted(void **state)
{
    (void)state;
    /* one part of each rule is unsound */
    rules = rules_make("rpz.example", "a.test CNAME .\na.test A 192.0.2.1\n"
                                      "b.test CNAME .\nb.test CNAME *.\n"
                                      "c.test CNAME rpz-unknown.\n"
                                      "d.test DNAME garden.example.\n"
                                      "24.1.2.0.192.rpz-ip CNAME .\n" /* host bits */
                                      "x.rpz-other CNAME .\n"
                                      "*.a.test CNAME .\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.test"), "none");
    assert_string_equal(find_name(rules, RPZ_QNAME, "b.test"), "none");
    assert_string_equal(find_name(rules, RPZ_QNAME, "c.test"), "none");
    assert_string_equal(find_name(rules, RPZ_QNAME, "d.test"), "none");
    assert_string_equal(find_name(rules, RPZ_QNAME, "x.a.test"), "*.a.test.rpz.example. nxdomain");
    assert_string_equal(find_addr(rules, RPZ_IP, "192.0.2.1"), "none");
    assert_int_equal(rpz_rules_skipped(rules), 6);
    assert_int_equal(rpz_rules_count(rules, RPZ_QNAME), 1);
}

static void test_two_owners_of_one_prefix_make_one_rule(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "128.1.0.0.0.0.0.db8.2001.rpz-ip CNAME .\n"
                                      "128.1.zz.db8.2001.rpz-ip CNAME *.\n");
    assert_int_equal(rpz_rules_count(rules, RPZ_IP), 1);
    assert_int_equal(rpz_rules_skipped(rules), 1);
    assert_string_not_equal(find_addr(rules, RPZ_IP, "2001:db8::1"), "none");
}

static void test_records_of_the_apex_and_of_dnssec_are_no_rules(void **state)
{
    (void)state;
    rules = rules_make("rpz.example", "@ TXT note\n@ A 192.0.2.1\n"
                                      "a.test CNAME .\n"
                                      "a.test NSEC rpz.example. CNAME NSEC\n"
                                      "b.test NSEC rpz.example. NSEC\n");
    assert_string_equal(find_name(rules, RPZ_QNAME, "a.test"), "a.test.rpz.example. nxdomain");
    assert_string_equal(find_name(rules, RPZ_QNAME, "b.test"), "none");
    assert_int_equal(rpz_rules_skipped(rules), 0);
}

static void test_max_bytes_bounds_the_rules(void **state)
{
    char text[6000] = RPZ_HEAD;
    size_t len = strlen(text);
    (void)state;
    for (unsigned i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "name%u.test CNAME .\n", i);
    struct zone_data *data = zone_make("rpz.example", text);
    assert_int_equal(rpz_rules_new(&rules, data, 4000), ERR_LIMIT);
    assert_null(rules);
    assert_int_equal(rpz_rules_new(&rules, data, 100000), ERR_OK);
    assert_true(rpz_rules_bytes(rules) < 100000);
    zone_data_unref(data);
    assert_string_equal(find_name(rules, RPZ_QNAME, "name99.test"),
                        "name99.test.rpz.example. nxdomain");
}

static void test_a_zone_of_the_longest_names_works(void **state)
{
    char label[64], text[1024];
    (void)state;
    memset(label, 'x', 63);
    label[63] = 0;
    snprintf(text, sizeof(text), "*.%.54s.%s.%s.%s CNAME .\n", label, label, label, label);
    rules = rules_make("z", text);
    snprintf(text, sizeof(text), "a.%.54s.%s.%s.%s", label, label, label, label);
    assert_string_not_equal(find_name(rules, RPZ_QNAME, text), "none");
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_each_target_is_an_action, tear_down),
        cmocka_unit_test_teardown(
            test_a_name_comes_before_its_wildcards_and_the_longest_wildcard_wins, tear_down),
        cmocka_unit_test_teardown(test_a_wildcard_at_the_top_covers_every_name_but_the_root,
                                  tear_down),
        cmocka_unit_test_teardown(test_one_name_may_have_an_exact_and_a_wildcard_rule, tear_down),
        cmocka_unit_test_teardown(test_the_old_form_of_passthru_holds, tear_down),
        cmocka_unit_test_teardown(test_servers_have_their_own_rules, tear_down),
        cmocka_unit_test_teardown(test_the_longest_prefix_wins_for_each_trigger, tear_down),
        cmocka_unit_test_teardown(test_unsound_rules_have_no_effect_and_are_counted, tear_down),
        cmocka_unit_test_teardown(test_two_owners_of_one_prefix_make_one_rule, tear_down),
        cmocka_unit_test_teardown(test_records_of_the_apex_and_of_dnssec_are_no_rules, tear_down),
        cmocka_unit_test_teardown(test_max_bytes_bounds_the_rules, tear_down),
        cmocka_unit_test_teardown(test_a_zone_of_the_longest_names_works, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
