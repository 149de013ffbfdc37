/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* ldns accepts these lines although they are faulty. */
#include "dns/record_text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/check.h"

static void test_records_have_no_fault(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "nas.home.arpa. 3600 IN A 192.0.2.7",
        ". NS a.",
        "f. 2147483647 A 192.0.2.1",
        "f.\t1h30m\tA 192.0.2.1",
        "60 A 192.0.2.1",
        "f. TXT \"a ; @ (\" ; a comment with \" and (",
        "f. TXT \\\" \\( \\@",
        "f. TXT \"\\\"\" \"\\\\\"",
        "f. TXT \"@\" me@home",
        "@me. A 192.0.2.1",
        "f. SOA a. b. ( 1 2 3 4 5 )",
        "a\\ b. 60 A 192.0.2.1",
        "f. TYPE65280 \\# 2 abcd",
        "f. HTTPS 1 . alpn=\"h2,h3\"",
        "",
        "f. TXT a\\",
        "f. TXT a\"b c",
        "$x. CNAME $ttl.",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_null(record_text_fault(lines[i]));
}

static void test_each_fault_has_its_own_text(void **state)
{
    (void)state;
    static const struct {
        const char *line, *word;
    } cases[] = {
        {" A 192.0.2.1", "a space or a tab"},
        {"\t60 IN A 192.0.2.1", "a space or a tab"},
        {"@ A 192.0.2.1", "@"},
        {"@", "@"},
        {"f. CNAME @", "@"},
        {"f. SOA a. (@) 1 2 3 4 5", "@"},
        {"$ORIGIN x.", "directive"},
        {"$ttl 60", "directive"},
        {"f. 2147483648 A 192.0.2.1", "above"},
        {"f. 5000000000 A 192.0.2.1", "above"},
        {"f. 99999999999999999999999999999999 A 192.0.2.1", "above"},
        {"f. 3551w A 192.0.2.1", "above"},
        {"f. 12x A 192.0.2.1", "neither a TTL"},
        {"f. TXT \"x", "quote"},
        {"f. TXT \"x\\\"", "quote"},
        {"f. TXT \"a\" \"b", "quote"},
        {"f. SOA a. b. ( 1 2 3 4 5", "parenthesis"},
        {"f. TXT a )", "parenthesis"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *fault = record_text_fault(cases[i].line);
        assert_non_null(fault);
        assert_non_null(strstr(fault, cases[i].word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_have_no_fault),
        cmocka_unit_test(test_each_fault_has_its_own_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
