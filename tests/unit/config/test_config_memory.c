/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A reload whose memory runs out fails, and the running configuration stays. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "support/scarce.h"
#include "unit/config/config_text.h"

enum { ALLOCATIONS_MAX = 20000 };

static const char text[] =
    "server: {listen: [127.0.0.1@5300], access: [{prefix: 10.0.0.0/8, action: allow}]}\n"
    "tcp-upstream-keepalive: [192.0.2.53, {prefix: 192.0.2.64/27, connections: 2}]\n"
    "forward-zones:\n"
    "  - {name: ., transport: tls, upstreams: [\"192.0.2.53#dns.test\", \"2001:db8::53\"]}\n"
    "  - {name: corp.example, upstreams: [192.0.2.65, 192.0.2.66@5353]}\n"
    "stub-zones: [{name: 10.in-addr.arpa, upstreams: [192.0.2.67]}]\n"
    "dnssec: {validate: yes, negative-trust-anchors: [corp.example]}\n"
    "local-zones: [{name: ads.test, action: nxdomain}]\n"
    "local-data: ['a.test. 60 IN A 192.0.2.1', 'a.test. 60 IN AAAA 2001:db8::1']\n"
    "dns64: {prefix: \"64:ff9b::/96\", exclude: [\"2001:db8::/32\"]}\n"
    "views: [{name: guests, clients: [192.0.2.128/25], local-data: ['b.test. A 192.0.2.2']}]\n";

/* A few allocations only save memory, so a load without them succeeds. */
static enum err load(struct config **config)
{
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    scarce_begin();
    enum err err = config_parse("f", text, strlen(text), config, &errors);
    scarce_end();
    buf_deinit(&errors);
    return err;
}

static void test_a_load_without_memory_fails(void **state)
{
    struct config *config;
    uint64_t nth = 0, failures = 0;
    (void)state;
    config_free(load_fine(text));
    do {
        scarce_fail_nth(++nth);
        enum err err = load(&config);
        assert_true(err == ERR_OK || err == ERR_NO_MEMORY);
        assert_int_equal(err == ERR_OK, config != NULL);
        failures += err == ERR_NO_MEMORY;
        if (config)
            config_free(config);
    } while (scarce_failed() > 0 && nth < ALLOCATIONS_MAX);
    assert_in_range(nth, 100, ALLOCATIONS_MAX - 1);
    assert_true(failures > nth / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_load_without_memory_fails),
    };
    return cmocka_run_group_tests_name("config_memory", tests, NULL, NULL);
}
