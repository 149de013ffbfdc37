/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Without server.user, the process keeps its user. tests/system tests the change of user. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "daemon/exit_code.h"
#include "daemon/identity.h"
#include "unit/config/config_text.h"
#include "unit/daemon/log_lines.h"

static void test_without_a_user_only_root_is_warned(void **state)
{
    struct config *config = load_fine(ZONE);
    uid_t before = geteuid();

    (void)state;
    log_lines_begin();
    assert_int_equal(identity_take(config, "/no/such/file", NULL), EXIT_STOPPED);
    log_lines_end();
    assert_int_equal(geteuid(), before);
    assert_int_equal(log_lines_count(), before == 0);
    assert_true(before != 0 || strstr(log_lines, "running as root: set server.user"));
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_user_only_root_is_warned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
