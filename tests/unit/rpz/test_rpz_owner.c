/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/rpz/rpz_make.h"

#include "base/check.h"
#include "rpz/rpz_owner.h"

/* Owner names of rules. */

/* Returns "TRIGGER [*.]NAME", "TRIGGER PREFIX", "apex" or "unsound". */
static const char *read_owner(const char *owner)
{
    static char text[NAME_TEXT_MAX + 32];
    char name[NAME_TEXT_MAX], prefix[PREFIX_TEXT_MAX];
    struct rpz_owner out;
    enum rpz_owner_kind kind =
        rpz_owner_read(&out, zone_make_name(owner), zone_make_name("rpz.example"));
    if (kind != RPZ_OWNER_RULE)
        return kind == RPZ_OWNER_APEX ? "apex" : "unsound";
    if (rpz_trigger_is_name(out.trigger))
        snprintf(text, sizeof(text), "%s %s%s", rpz_trigger_name(out.trigger),
                 out.is_wildcard ? "*." : "", name_format(out.name, name));
    else
        snprintf(text, sizeof(text), "%s %s", rpz_trigger_name(out.trigger),
                 prefix_format(&out.prefix, prefix));
    return text;
}

static void test_names_are_triggers_about_the_qname(void **state)
{
    (void)state;
    assert_string_equal(read_owner("bad.test.rpz.example"), "qname bad.test.");
    assert_string_equal(read_owner("BAD.Test.RPZ.example"), "qname bad.test.");
    assert_string_equal(read_owner("*.bad.test.rpz.example"), "qname *.bad.test.");
    assert_string_equal(read_owner("*.rpz.example"), "qname *..");
    assert_string_equal(read_owner("a.*.rpz.example"), "qname a.*.");
    assert_string_equal(read_owner("rpz.example"), "apex");
}

static void test_names_below_rpz_nsdname_are_servers(void **state)
{
    (void)state;
    assert_string_equal(read_owner("ns.bad.test.rpz-nsdname.rpz.example"), "nsdname ns.bad.test.");
    assert_string_equal(read_owner("*.bad.test.RPZ-NSDNAME.rpz.example"), "nsdname *.bad.test.");
}

static void test_prefixes_are_read_from_their_last_part(void **state)
{
    (void)state;
    assert_string_equal(read_owner("32.4.3.2.1.rpz-ip.rpz.example"), "ip 1.2.3.4");
    assert_string_equal(read_owner("24.0.2.0.192.rpz-client-ip.rpz.example"),
                        "client-ip 192.0.2.0/24");
    assert_string_equal(read_owner("8.0.0.0.10.rpz-nsip.rpz.example"), "nsip 10.0.0.0/8");
    assert_string_equal(read_owner("128.1.zz.db8.2001.rpz-ip.rpz.example"), "ip 2001:db8::1");
    assert_string_equal(read_owner("48.zz.1.db8.2001.rpz-ip.rpz.example"), "ip 2001:db8:1::/48");
    assert_string_equal(read_owner("128.8.7.6.5.4.3.2.1.rpz-ip.rpz.example"), "ip 1:2:3:4:5:6:7:8");
    assert_string_equal(read_owner("128.1.zz.rpz-ip.rpz.example"), "ip ::1");
    assert_string_equal(read_owner("16.zz.fe80.rpz-ip.rpz.example"), "ip fe80::/16");
}

static void test_prefixes_with_a_fault_are_unsound(void **state)
{
    static const char *const owners[] = {
        "rpz-ip",              /* the prefix is missing */
        "32.rpz-ip",           /* the address is missing */
        "32.3.2.1.rpz-ip",     /* too short */
        "32.5.4.3.2.1.rpz-ip", /* too long for IPv4, too short for IPv6 */
        "33.4.3.2.1.rpz-ip",
        "0.0.0.0.0.rpz-ip",
        "032.4.3.2.1.rpz-ip",
        "32.04.3.2.1.rpz-ip",
        "32.256.3.2.1.rpz-ip",
        "32.a.3.2.1.rpz-ip",
        "24.4.3.2.1.rpz-ip",       /* host bits */
        "32.1.zz.db8.2001.rpz-ip", /* host bits */
        "129.1.zz.db8.2001.rpz-ip",
        "128.1.zz.zz.2001.rpz-ip",
        "128.12345.zz.2001.rpz-ip",
        "128.g.zz.2001.rpz-ip",
        "128.8.7.6.5.4.3.2.zz.1.rpz-ip", /* nine groups */
        "128.302.201.ffff.zz.rpz-ip",    /* IPv4-mapped */
        "a.rpz-other",
        "rpz-other",
        "rpz-nsdname",
        "1.2.3.4.5.6.7.8.9.10.rpz-ip",
    };
    char text[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
        snprintf(text, sizeof(text), "%s.rpz.example", owners[i]);
        if (strcmp(read_owner(text), "unsound") != 0)
            fail_msg("%s: %s", owners[i], read_owner(text));
    }
}

static void test_a_rule_below_another_label_is_about_the_qname(void **state)
{
    (void)state;
    assert_string_equal(read_owner("32.4.3.2.1.rpz-ip.test.rpz.example"),
                        "qname 32.4.3.2.1.rpz-ip.test.");
    assert_string_equal(read_owner("rp-z.rpz.example"), "qname rp-z.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_triggers_about_the_qname),
        cmocka_unit_test(test_names_below_rpz_nsdname_are_servers),
        cmocka_unit_test(test_prefixes_are_read_from_their_last_part),
        cmocka_unit_test(test_prefixes_with_a_fault_are_unsound),
        cmocka_unit_test(test_a_rule_below_another_label_is_about_the_qname),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
