/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A zone of two million rules, as some response policy zones have. The test checks the bytes, and
 * prints the time for information. */
#include "unit/zone/zone_make.h"

#include <stdlib.h>
#include <time.h>

enum { RULES = 1000000, LINE_MAX_BYTES = 80, BYTES_PER_RECORD = 80 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_two_million_rules_fit_eighty_bytes_each(void **state)
{
    (void)state;
    char *text = malloc((size_t)RULES * LINE_MAX_BYTES);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, "$TTL 300\n@ SOA . . 1 2 3 4 5\n");
    for (uint32_t i = 0; i < RULES; i++) {
        uint32_t mixed = i * 2654435761u;
        len += (size_t)sprintf(text + len, "bad%08x.com CNAME .\n*.bad%08x.com CNAME .\n", mixed,
                               mixed);
    }
    struct zone_builder *builder =
        zone_builder_new(zone_make_name("rpz.example"), (size_t)2 * RULES * BYTES_PER_RECORD);
    struct zone_file_fault fault;
    struct zone_data *data;
    double begin = seconds();
    assert_int_equal(zone_file_read(builder, span_of(text, len), &fault), ERR_OK);
    double middle = seconds();
    free(text);
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_OK);
    print_message("read %.2f s, sorted %.2f s, %zu bytes a record\n", middle - begin,
                  seconds() - middle, zone_data_bytes(data) / zone_data_records(data));
    assert_int_equal(zone_data_records(data), 2 * RULES + 1);
    assert_true(zone_data_bytes(data) <= (size_t)2 * RULES * BYTES_PER_RECORD);
    struct zone_rrset rrset;
    assert_true(zone_data_find(data, zone_make_name("*.bad9e3779b1.com.rpz.example"), RRTYPE_CNAME,
                               &rrset));
    zone_data_unref(data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_million_rules_fit_eighty_bytes_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
