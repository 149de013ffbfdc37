/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Heads of HTTP requests, good and hostile. */
#include "control/http_request.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct http_request request;

/* Returns the status, or 0 if the head needs more bytes. */
static int status_of_bytes(const char *bytes, size_t len)
{
    return http_request_read(span_of(bytes, len), &request) ? (int)request.status : 0;
}

static int status_of(const char *text)
{
    return status_of_bytes(text, strlen(text));
}

static void test_a_get_of_the_path_is_fine(void **state)
{
    (void)state;
    assert_int_equal(status_of("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), HTTP_OK);
    assert_false(request.is_head);
    assert_int_equal(status_of("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), HTTP_OK);
    assert_true(request.is_head);
}

static void test_a_request_of_prometheus_is_fine(void **state)
{
    (void)state;
    assert_int_equal(
        status_of(
            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9953\r\nUser-Agent: Prometheus/2.42.0\r\n"
            "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"
            "Accept-Encoding: gzip\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n"),
        HTTP_OK);
}

static void test_a_query_string_and_the_absolute_form_are_fine(void **state)
{
    (void)state;
    assert_int_equal(status_of("GET /metrics?x=/y HTTP/1.0\r\n\r\n"), HTTP_OK);
    assert_int_equal(status_of("GET HTTP://a.example:1/metrics HTTP/1.1\r\nHost: b\r\n\r\n"),
                     HTTP_OK);
    assert_int_equal(status_of("GET http://a.example HTTP/1.1\r\nHost: b\r\n\r\n"), HTTP_NOT_FOUND);
}

static int status_of_host(const char *path, const char *host)
{
    char text[256];
    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host);
    return status_of(text);
}

static void test_the_live_page_wants_an_address_as_its_host(void **state)
{
    static const char *const good[] = {"127.0.0.1",  "127.0.0.1:9953", "[::1]",
                                       "[::1]:9953", "LOCALHOST:9953", "localhost",
                                       "192.0.2.1\t"};
    static const char *const bad[] = {"evil.example",
                                      "127.0.0.1.evil.example",
                                      "",
                                      ":9953",
                                      "[]",
                                      "localhost.evil.example",
                                      "127.0.0.1@evil.example",
                                      "[::1",
                                      "::1",
                                      "evil.example:80",
                                      "[127.0.0.1"};
    static const char *const pages[] = {"/", "/board.js", "/board.css", "/board.json"};
    (void)state;
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        for (size_t j = 0; j < sizeof(good) / sizeof(*good); j++)
            assert_int_equal(status_of_host(pages[i], good[j]), HTTP_OK);
        for (size_t j = 0; j < sizeof(bad) / sizeof(*bad); j++)
            assert_int_equal(status_of_host(pages[i], bad[j]), HTTP_MISDIRECTED);
    }
    assert_int_equal(status_of("GET / HTTP/1.0\r\n\r\n"), HTTP_MISDIRECTED);
    assert_int_equal(status_of_host("/metrics", "prometheus.example"), HTTP_OK);
    assert_int_equal(status_of_host("/board.html", "127.0.0.1"), HTTP_NOT_FOUND);
    assert_int_equal(status_of("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), HTTP_NOT_ALLOWED);
}

static void test_lines_may_lack_their_carriage_return(void **state)
{
    (void)state;
    assert_int_equal(status_of("\r\n\nGET /metrics HTTP/1.1\nhost: a\n\n"), HTTP_OK);
}

static void test_only_the_whole_head_is_judged(void **state)
{
    (void)state;
    static const char whole[] = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
    for (size_t len = 0; len < sizeof(whole) - 1; len++)
        assert_int_equal(status_of_bytes(whole, len), 0);
    assert_int_equal(status_of_bytes(whole, sizeof(whole) - 1), HTTP_OK);
    assert_int_equal(status_of("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\nbody\r\n\r\n"), HTTP_OK);
}

static void test_other_paths_are_not_found(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/x",      "/metrics/",   "/Metrics",    "//metrics",  "*",
        "metrics", "/metrics%20", "/../metrics", "/metrics#a", "https://a/metrics"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char text[128] = "GET ";
        strcat(strcat(text, paths[i]), " HTTP/1.1\r\nHost: a\r\n\r\n");
        if (status_of(text) != HTTP_NOT_FOUND)
            fail_msg("%s: %d", paths[i], (int)request.status);
    }
}

static void test_other_methods_are_not_allowed(void **state)
{
    (void)state;
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "get", "GETS", "X!"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        char text[128] = "";
        strcat(strcat(text, methods[i]), " /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_int_equal(status_of(text), HTTP_NOT_ALLOWED);
    }
}

static void test_other_versions_have_their_own_status(void **state)
{
    (void)state;
    assert_int_equal(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), HTTP_VERSION_UNKNOWN);
    assert_int_equal(status_of("GET /metrics HTTP/0.9\r\n\r\n"), HTTP_VERSION_UNKNOWN);
    assert_int_equal(status_of("GET /metrics HTTP/1.7\r\nHost: a\r\n\r\n"), HTTP_OK);
}

static void test_other_protocols_are_bad_requests(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "x\r\n\r\n",
        "GET /metrics\r\n\r\n",
        "GET  /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
        " GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /metrics HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET\t/metrics HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /metrics HTTP/11\r\nHost: a\r\n\r\n",
        "GET /metrics http/1.1\r\nHost: a\r\n\r\n",
        "GET /metr\x01ics HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /metr\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /metrics HTTP/1.1\rHost: a\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\rx: b\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\r\nx : b\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\r\nx: b\r\n folded\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: a\r\nx: \x7f\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        if (status_of(heads[i]) != HTTP_BAD_REQUEST)
            fail_msg("%s: %d", heads[i], (int)request.status);
    }
}

static void test_a_nul_is_a_bad_request(void **state)
{
    (void)state;
    static const char in_path[] = "GET /metrics\0 HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char in_field[] = "GET /metrics HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    static const char in_name[] = "GET /metrics HTTP/1.1\r\nHo\0st: a\r\n\r\n";
    assert_int_equal(status_of_bytes(in_path, sizeof(in_path) - 1), HTTP_BAD_REQUEST);
    assert_int_equal(status_of_bytes(in_field, sizeof(in_field) - 1), HTTP_BAD_REQUEST);
    assert_int_equal(status_of_bytes(in_name, sizeof(in_name) - 1), HTTP_BAD_REQUEST);
}

static void test_http_1_1_needs_one_host(void **state)
{
    (void)state;
    assert_int_equal(status_of("GET /metrics HTTP/1.1\r\n\r\n"), HTTP_BAD_REQUEST);
    assert_int_equal(status_of("GET /metrics HTTP/1.1\r\nHost: a\r\nHOST: a\r\n\r\n"),
                     HTTP_BAD_REQUEST);
    assert_int_equal(status_of("GET /metrics HTTP/1.0\r\n\r\n"), HTTP_OK);
}

static void test_a_head_without_end_is_too_large(void **state)
{
    (void)state;
    static char bytes[HTTP_HEAD_MAX + 64];
    memset(bytes, 'a', sizeof(bytes));
    assert_int_equal(status_of_bytes(bytes, HTTP_HEAD_MAX - 1), 0);
    assert_int_equal(status_of_bytes(bytes, HTTP_HEAD_MAX), HTTP_HEAD_TOO_LARGE);
    memset(bytes, '\n', sizeof(bytes));
    assert_int_equal(status_of_bytes(bytes, HTTP_HEAD_MAX), HTTP_HEAD_TOO_LARGE);
}

static void test_a_head_of_the_greatest_size_is_fine(void **state)
{
    (void)state;
    static char bytes[HTTP_HEAD_MAX + 1];
    static const char start[] = "GET /metrics HTTP/1.0\r\nx: ", end[] = "\r\n\r\n";
    memset(bytes, 'a', sizeof(bytes));
    memcpy(bytes, start, sizeof(start) - 1);
    memcpy(bytes + HTTP_HEAD_MAX - (sizeof(end) - 1), end, sizeof(end) - 1);
    assert_int_equal(status_of_bytes(bytes, HTTP_HEAD_MAX), HTTP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_get_of_the_path_is_fine),
        cmocka_unit_test(test_a_request_of_prometheus_is_fine),
        cmocka_unit_test(test_a_query_string_and_the_absolute_form_are_fine),
        cmocka_unit_test(test_the_live_page_wants_an_address_as_its_host),
        cmocka_unit_test(test_lines_may_lack_their_carriage_return),
        cmocka_unit_test(test_only_the_whole_head_is_judged),
        cmocka_unit_test(test_other_paths_are_not_found),
        cmocka_unit_test(test_other_methods_are_not_allowed),
        cmocka_unit_test(test_other_versions_have_their_own_status),
        cmocka_unit_test(test_other_protocols_are_bad_requests),
        cmocka_unit_test(test_a_nul_is_a_bad_request),
        cmocka_unit_test(test_http_1_1_needs_one_host),
        cmocka_unit_test(test_a_head_without_end_is_too_large),
        cmocka_unit_test(test_a_head_of_the_greatest_size_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
