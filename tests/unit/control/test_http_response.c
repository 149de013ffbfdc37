/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The head before a page, and responses without a page. */
#include "control/http_response.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static char text[4096];

static void keep(struct buf *out)
{
    struct span all = buf_span(out);
    assert_true(all.len < sizeof(text));
    memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    buf_deinit(out);
}

static void refuse(enum http_status status, bool is_head)
{
    struct buf out;
    buf_init(&out, HTTP_RESPONSE_MAX);
    assert_int_equal(
        http_response_refuse(&out, (struct http_request){.status = status, .is_head = is_head}, 0),
        ERR_OK);
    keep(&out);
}

static void test_a_page_has_its_length_and_the_type_of_prometheus(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, HTTP_RESPONSE_MAX);
    assert_int_equal(http_response_page(&out, HTTP_PAGE_METRICS, 12345, 784111777), ERR_OK);
    keep(&out);
    assert_string_equal(text, "HTTP/1.1 200 OK\r\n"
                              "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                              "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                              "Content-Length: 12345\r\n"
                              "Cache-Control: no-store\r\n"
                              "Connection: close\r\n\r\n");
}

static void test_the_live_page_runs_and_loads_only_our_own_files(void **state)
{
    (void)state;
    for (int page = HTTP_PAGE_BOARD; page < HTTP_PAGE_COUNT; page++) {
        struct buf out;
        buf_init(&out, HTTP_RESPONSE_MAX);
        assert_int_equal(http_response_page(&out, (enum http_page)page, SIZE_MAX, 784111777),
                         ERR_OK);
        keep(&out);
        assert_non_null(
            strstr(text, "Content-Security-Policy: default-src 'none'; script-src 'self'"));
        assert_non_null(strstr(text, "frame-ancestors 'none'\r\n"));
        assert_null(strstr(text, "unsafe"));
        assert_non_null(strstr(text, "X-Content-Type-Options: nosniff\r\n"));
    }
}

static void test_a_refusal_gives_advice_and_its_exact_length(void **state)
{
    static const enum http_status all[] = {HTTP_BAD_REQUEST,    HTTP_NOT_FOUND,   HTTP_NOT_ALLOWED,
                                           HTTP_HEAD_TOO_LARGE, HTTP_MISDIRECTED, HTTP_UNAVAILABLE,
                                           HTTP_VERSION_UNKNOWN};
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        refuse(all[i], false);
        const char *body = strstr(text, "\r\n\r\n") + 4;
        assert_int_equal(atoi(text + strlen("HTTP/1.1 ")), all[i]);
        assert_int_equal(atoi(body), all[i]);
        assert_int_equal(atoi(strstr(text, "Content-Length: ") + 16), strlen(body));
        assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
    }
}

static void test_a_refused_method_gets_the_allowed_ones(void **state)
{
    (void)state;
    refuse(HTTP_NOT_ALLOWED, false);
    assert_non_null(strstr(text, "\r\nAllow: GET, HEAD\r\n"));
    refuse(HTTP_NOT_FOUND, false);
    assert_null(strstr(text, "Allow"));
}

static void test_an_answer_to_head_has_no_body(void **state)
{
    (void)state;
    refuse(HTTP_NOT_FOUND, true);
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
    assert_null(strstr(text, "Content-Length: 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_has_its_length_and_the_type_of_prometheus),
        cmocka_unit_test(test_the_live_page_runs_and_loads_only_our_own_files),
        cmocka_unit_test(test_a_refusal_gives_advice_and_its_exact_length),
        cmocka_unit_test(test_a_refused_method_gets_the_allowed_ones),
        cmocka_unit_test(test_an_answer_to_head_has_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
