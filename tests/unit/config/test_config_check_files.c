/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Errors in the files of TLS. Only config_load() reads these files and finds them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/tls_certs.h"
#include "tls/tls_contexts.h"
#include "unit/config/config_text.h"

/* The files that the tests name, written once. */
static struct {
    char *ca, *certificate, *key, *other_key, *garbage;
    char directory[64];
} files;

static int set_up(void **state)
{
    (void)state;
    struct tls_certs *ca = tls_certs_authority("Test CA");
    struct tls_cert *cert = tls_certs_make(&(struct tls_cert_wish){.ca = ca, .name = "dns.test"});
    struct tls_cert *other = tls_certs_make(&(struct tls_cert_wish){.name = "other.test"});
    files.ca = tls_certs_file(tls_certs_pem(ca));
    files.certificate = tls_certs_file(cert->certificate);
    files.key = tls_certs_file(cert->key);
    files.other_key = tls_certs_file(other->key);
    files.garbage = tls_certs_file("no certificate\n");
    /* Replaces the system's authorities, because reading all of them is slow under the sanitizers.
     */
    assert_int_equal(setenv("SSL_CERT_FILE", files.ca, 1), 0);
    strcpy(files.directory, "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(files.directory));
    tls_certs_free_cert(other);
    tls_certs_free_cert(cert);
    tls_certs_free(ca);
    return 0;
}

static void remove_file(char *path)
{
    unlink(path);
    free(path);
}

static int tear_down(void **state)
{
    (void)state;
    remove_file(files.ca);
    remove_file(files.certificate);
    remove_file(files.key);
    remove_file(files.other_key);
    remove_file(files.garbage);
    rmdir(files.directory);
    return 0;
}

/* Loads a file with this text. errors_text gets its errors, without the file's name. */
static struct config *load_as_file(const char *text)
{
    struct config *config;
    struct buf errors;
    char *path = tls_certs_file(text);
    size_t name_len = strlen(path) + 1, len = 0;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_load(path, &config, &errors);
    struct span span = buf_span(&errors);
    for (size_t i = 0; i < span.len;) {
        const char *line = (const char *)span.data + i;
        size_t line_len = (size_t)((const char *)memchr(line, '\n', span.len - i) - line) + 1;
        memcpy(errors_text + len, line + name_len, line_len - name_len);
        len += line_len - name_len;
        i += line_len;
    }
    errors_text[len] = '\0';
    assert_int_equal(err == ERR_OK, config != NULL);
    buf_deinit(&errors);
    remove_file(path);
    return config;
}

static void expect_fine(const char *text)
{
    struct config *config = load_as_file(text);
    assert_string_equal(errors_text, "");
    config_free(config);
}

/* Asserts that the text itself loads, and that only its files cause these errors. */
static void expect_file_errors(const char *text, const char *lines)
{
    config_free(load_fine(text));
    assert_null(load_as_file(text));
    assert_string_equal(errors_text, lines);
}

static const char *format(char out[4096], const char *text, ...) PRINTF_LIKE(2, 3);

static const char *format(char out[4096], const char *text, ...)
{
    va_list args;
    va_start(args, text);
    assert_true(vsnprintf(out, 4096, text, args) < 4096);
    va_end(args);
    return out;
}

#define TLS_ZONE "forward-zones: [{name: ., upstreams: [192.0.2.53], transport: tls}]\n"

static void test_valid_files_load(void **state)
{
    (void)state;
    char text[4096];
    expect_fine(TLS_ZONE);
    expect_fine(format(text,
                       "server: {listen-tls: [127.0.0.1@8853], tls-certificate: %s, tls-key: %s}\n"
                       "upstream: {ca-bundle: %s, client-certificate: %s, client-key: %s,\n"
                       "  session-file: %s/sessions, tls-groups: 'X25519:P-256',\n"
                       "  tls-ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256'}\n"
                       "log: {tls-keys: %s/keys}\n" TLS_ZONE,
                       files.certificate, files.key, files.ca, files.certificate, files.key,
                       files.directory, files.directory));
}

static void test_authorities_that_cannot_be_read(void **state)
{
    (void)state;
    char text[4096], line[4096];
    expect_file_errors("upstream:\n  ca-bundle: /nonexistent/ca.pem\n" TLS_ZONE,
                       "2:3: error: upstream.ca-bundle: cannot read /nonexistent/ca.pem: No such "
                       "file or directory\n");
    expect_file_errors(format(text, "upstream: {ca-bundle: %s}\n" ZONE, files.garbage),
                       format(line,
                              "1:12: error: upstream.ca-bundle: %s has no certificate in it\n",
                              files.garbage));
    expect_file_errors("upstream: {ca-bundle: /dev/zero}\n" TLS_ZONE,
                       "1:12: error: upstream.ca-bundle: /dev/zero is not a regular file\n");
}

static void test_a_bad_file_is_reported_at_the_place_that_names_it(void **state)
{
    (void)state;
    expect_file_errors(
        "tcp-upstream-keepalive:\n"
        "  - 192.0.2.1\n"
        "  - {prefix: 192.0.2.53, transport: tls, ca-bundle: /nonexistent/a}\n"
        "forward-zones:\n"
        "  - {name: a, upstreams: [192.0.2.53]}\n"
        "  - {name: b, upstreams: [192.0.2.53], transport: tls, tls-groups: none}\n"
        "  - {name: c, upstreams: [192.0.2.54], transport: tls, ca-bundle: /nonexistent/c}\n",
        "3:42: error: tcp-upstream-keepalive[1].ca-bundle: cannot read /nonexistent/a: No such "
        "file or directory\n"
        "7:56: error: forward-zones[2].ca-bundle: cannot read /nonexistent/c: No such "
        "file or directory\n");
}

static void test_a_bad_file_of_the_section_is_reported_once(void **state)
{
    (void)state;
    expect_file_errors("upstream: {ca-bundle: /nonexistent/a, transport: tls}\n"
                       "tcp-upstream-keepalive: [192.0.2.0/24, {prefix: 192.0.2.53, tls-groups: "
                       "X25519}]\n"
                       "forward-zones: [{name: ., upstreams: [192.0.2.53, 192.0.2.54], "
                       "tls-groups: P-256}]\n",
                       "1:12: error: upstream.ca-bundle: cannot read /nonexistent/a: No such file "
                       "or directory\n");
}

static void test_a_client_certificate_and_a_key_of_another(void **state)
{
    (void)state;
    char text[4096], line[4096];
    expect_file_errors(format(text, "upstream: {client-certificate: %s,\n  client-key: %s}\n" ZONE,
                              files.certificate, files.other_key),
                       format(line,
                              "2:3: error: upstream.client-key: the key in %s is not that of the "
                              "certificate in %s\n",
                              files.other_key, files.certificate));
    expect_file_errors(
        format(text, "upstream: {client-certificate: %s,\n  client-key: %s}\n" ZONE, files.garbage,
               files.key),
        format(line, "1:12: error: upstream.client-certificate: %s has no certificate in it\n",
               files.garbage));
}

static void test_halves_of_a_client_certificate_from_two_places(void **state)
{
    (void)state;
    char text[4096], line[4096];
    format(text,
           "upstream: {client-certificate: %s, client-key: %s}\n"
           "forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, client-key: %s}]\n",
           files.certificate, files.key, files.key);
    expect_fine(text);
    format(text,
           "upstream: {client-certificate: %s, client-key: %s}\n"
           "forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, client-key: %s}]\n",
           files.certificate, files.key, files.other_key);
    expect_file_errors(text, format(line,
                                    "2:67: error: forward-zones[0].client-key: the key in %s is "
                                    "not that of the certificate in %s\n",
                                    files.other_key, files.certificate));
}

/* src/tls writes the sentence, so this test only checks its position. */
static void expect_error_at(const char *text, const char *start)
{
    config_free(load_fine(text));
    assert_null(load_as_file(text));
    if (strncmp(errors_text, start, strlen(start)) != 0)
        fail_msg("%s", errors_text);
    assert_ptr_equal(strchr(errors_text, '\n'), errors_text + strlen(errors_text) - 1);
}

static void test_words_that_openssl_does_not_know(void **state)
{
    (void)state;
    char text[4096];
    expect_error_at("upstream: {tls-ciphers: 'NO-SUCH-CIPHER'}\n" ZONE,
                    "1:12: error: upstream.tls-ciphers: ");
    expect_error_at("upstream: {tls-groups: 'X25519:X99'}\n" ZONE,
                    "1:12: error: upstream.tls-groups: ");
    format(text,
           "server:\n  listen-tls: [127.0.0.1@8853]\n  tls-certificate: %s\n  tls-key: %s\n"
           "  tls-groups: 'X99'\n" ZONE,
           files.certificate, files.key);
    expect_error_at(text, "5:3: error: server.tls-groups: ");
    format(text,
           "server:\n  listen-tls: [127.0.0.1@8853]\n  tls-certificate: %s\n  tls-key: %s\n"
           "  tls-ciphers: 'NO-SUCH-CIPHER'\n" ZONE,
           files.certificate, files.key);
    expect_error_at(text, "5:3: error: server.tls-ciphers: ");
}

static const char *server_text(char out[4096], const char *certificate, const char *key)
{
    return format(out,
                  "server:\n  listen-tls: [127.0.0.1@8853]\n  tls-certificate: %s\n"
                  "  tls-key: %s\n" ZONE,
                  certificate, key);
}

static void test_the_certificate_of_the_listener(void **state)
{
    (void)state;
    char text[4096], line[4096];
    expect_file_errors(server_text(text, "/nonexistent/c", "/nonexistent/k"),
                       "3:3: error: server.tls-certificate: cannot read /nonexistent/c: No such "
                       "file or directory\n"
                       "4:3: error: server.tls-key: cannot read /nonexistent/k: No such file or "
                       "directory\n");
    expect_file_errors(server_text(text, files.certificate, "/nonexistent/k"),
                       "4:3: error: server.tls-key: cannot read /nonexistent/k: No such "
                       "file or directory\n");
    expect_error_at(server_text(text, files.certificate, files.garbage),
                    "4:3: error: server.tls-key: ");
    expect_file_errors(
        server_text(text, files.certificate, files.other_key),
        format(line,
               "4:3: error: server.tls-key: the key in %s is not that of the certificate in %s\n",
               files.other_key, files.certificate));
    expect_file_errors(server_text(text, files.key, files.key),
                       format(line,
                              "3:3: error: server.tls-certificate: %s has no certificate in it\n",
                              files.key));
}

static void test_a_certificate_without_a_listener_is_not_read(void **state)
{
    (void)state;
    expect_fine("server: {tls-certificate: /nonexistent/c, tls-key: /nonexistent/k}\n" ZONE);
}

static void test_directories_of_files_that_are_written_must_exist(void **state)
{
    (void)state;
    char text[4096], line[4096];
    expect_file_errors(
        "upstream: {session-file: /nonexistent/s}\nlog: {tls-keys: /nonexistent/k}\n" ZONE,
        "1:12: error: upstream.session-file: the directory /nonexistent does not exist; create it "
        "for the user that nailupd runs as\n"
        "2:7: error: log.tls-keys: the directory /nonexistent does not exist; create it for the "
        "user that nailupd runs as\n");
    expect_file_errors("upstream: {host-file: /nonexistent/h}\n" ZONE,
                       "1:12: error: upstream.host-file: the directory /nonexistent does not "
                       "exist; create it for the user that nailupd runs as\n");
    expect_file_errors("dnssec: {trust-anchor-file: /nonexistent/k, update-anchors: yes}\n" ZONE,
                       "1:10: error: dnssec.trust-anchor-file: the directory /nonexistent does "
                       "not exist; create it for the user that nailupd runs as\n");
    expect_fine("dnssec: {trust-anchor-file: /nailup-anchors, update-anchors: yes}\n" ZONE);
    expect_file_errors("cache: {snapshot: /nonexistent/c}\n" ZONE,
                       "1:9: error: cache.snapshot: the directory /nonexistent does not exist; "
                       "create it for the user that nailupd runs as\n");
    expect_file_errors(
        format(text, "upstream: {session-file: %s/s}\n" ZONE, files.garbage),
        format(line, "1:12: error: upstream.session-file: %s is not a directory\n", files.garbage));
    expect_file_errors(
        format(text, "log: {tls-keys: %s}\n" ZONE, files.directory),
        format(line, "1:7: error: log.tls-keys: %s is not a regular file\n", files.directory));
    expect_fine("upstream: {session-file: /nailup-sessions}\n" ZONE);
    expect_fine("upstream: {session-file: here}\ncache: {snapshot: ./there}\n" ZONE);
    expect_file_errors("cache: {snapshot: no-such-folder/c}\n" ZONE,
                       "1:9: error: cache.snapshot: the directory no-such-folder does not exist; "
                       "create it for the user that nailupd runs as\n");
}

static void test_no_file_is_written_that_is_read(void **state)
{
    (void)state;
    char text[4096], line[4096];
    char *list = tls_certs_file("ads.example\n");
    expect_file_errors(format(text, "cache: {snapshot: %s}\nhosts-file: %s\n" ZONE, list, list),
                       format(line,
                              "1:9: error: cache.snapshot: %s is also the file of hosts-file, and "
                              "would be overwritten; name another file\n",
                              list));
    expect_file_errors(
        format(text, "log: {tls-keys: %s}\nblock-lists: [{file: %s}]\n" ZONE, list, list),
        format(line,
               "1:7: error: log.tls-keys: %s is also the file of block-lists, and would be "
               "overwritten; name another file\n",
               list));
    expect_file_errors(
        format(text, "upstream: {session-file: %s, ca-bundle: %s}\n" ZONE, files.ca, files.ca),
        format(line,
               "1:12: error: upstream.session-file: %s is also the file of ca-bundle, and would be "
               "overwritten; name another file\n",
               files.ca));
    remove_file(list);
}

static void test_a_file_is_recognised_under_another_name(void **state)
{
    (void)state;
    char text[4096], line[4096], alias[256];
    char *list = tls_certs_file("ads.example\n");
    snprintf(alias, sizeof(alias), "%s/alias", files.directory);
    for (int is_hard = 0; is_hard < 2; is_hard++) {
        assert_int_equal(is_hard ? link(list, alias) : symlink(list, alias), 0);
        expect_file_errors(
            format(text, "cache: {snapshot: %s}\nhosts-file: %s\n" ZONE, alias, list),
            format(line,
                   "1:9: error: cache.snapshot: %s is also the file of hosts-file, and would be "
                   "overwritten; name another file\n",
                   alias));
        assert_int_equal(unlink(alias), 0);
    }
    expect_fine(format(text, "cache: {snapshot: %s}\nhosts-file: %s\n" ZONE, alias, list));
    remove_file(list);
}

static void test_no_file_is_written_twice(void **state)
{
    (void)state;
    char text[4096], line[4096];
    expect_file_errors(
        format(text, "cache: {snapshot: %s/a}\nupstream: {session-file: %s/../%s/a}\n" ZONE,
               files.directory, files.directory, strrchr(files.directory, '/') + 1),
        format(line,
               "1:9: error: cache.snapshot: %s/a is also the file of upstream.session-file, and "
               "would be overwritten; name another file\n",
               files.directory));
    expect_file_errors(format(text, "cache: {snapshot: %s/a}\nlog: {tls-keys: %s/a.new}\n" ZONE,
                              files.directory, files.directory),
                       format(line,
                              "1:9: error: cache.snapshot: %s/a.new is also the file of "
                              "log.tls-keys, and would be overwritten; name another file\n",
                              files.directory));
    expect_file_errors(format(text, "upstream: {session-file: %s/a, host-file: %s/a}\n" ZONE,
                              files.directory, files.directory),
                       format(line,
                              "1:12: error: upstream.session-file: %s/a is also the file of "
                              "upstream.host-file, and would be overwritten; name another file\n",
                              files.directory));
    expect_fine(format(text,
                       "cache: {snapshot: %s/a}\nlog: {tls-keys: %s/b}\ndnstap: {file: %s/c}\n"
                       "upstream: {session-file: %s/d, host-file: %s/e}\n" ZONE,
                       files.directory, files.directory, files.directory, files.directory,
                       files.directory));
    expect_fine(format(text, "cache: {snapshot: %s/a}\nlog: {tls-keys: %s/b}\n" ZONE,
                       files.directory, files.directory));
}

static void test_the_configuration_itself_is_not_overwritten(void **state)
{
    (void)state;
    char path[256], line[4096];
    struct config *config;
    struct buf errors;
    snprintf(path, sizeof(path), "%s/conf", files.directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "cache: {snapshot: %s}\n" ZONE, path);
    fclose(file);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_load(path, &config, &errors), ERR_INVALID);
    format(line,
           "%s:1:9: error: cache.snapshot: %s is also the file of the configuration, and would be "
           "overwritten; name another file\n",
           path, path);
    assert_int_equal(buf_len(&errors), strlen(line));
    assert_memory_equal(buf_span(&errors).data, line, strlen(line));
    buf_deinit(&errors);
    unlink(path);
}

static void test_secrets_of_cookies_are_read(void **state)
{
    (void)state;
    char text[4096];
    char *path = tls_certs_file("# ours\n000102030405060708090a0b0c0d0e0f\n");
    struct config *config =
        load_as_file(format(text, "server: {cookie-secret-file: %s}\n" ZONE, path));
    assert_string_equal(errors_text, "");
    assert_int_equal(config->server.cookie_secrets.count, 1);
    assert_memory_equal(config->server.cookie_secrets.list[0], "\0\1\2\3\4\5\6\7", 8);
    config_free(config);
    remove_file(path);
    expect_fine("server: {cookie-secret-file: \"\"}\n" ZONE);
}

static void expect_secrets_error(const char *path, const char *sentence)
{
    char text[4096], line[4096];
    expect_file_errors(
        format(text, "server: {cookie-secret-file: %s}\n" ZONE, path),
        format(line, "1:10: error: server.cookie-secret-file: %s:%s\n", path, sentence));
}

static void test_unusable_files_of_secrets_are_reported(void **state)
{
    (void)state;
    char *bad = tls_certs_file("000102030405060708090a0b0c0d0e0f\n  x\n");
    char *empty = tls_certs_file("\n"), *open = tls_certs_file("");
    char *large = calloc(1, COOKIE_SECRETS_FILE_MAX + 2);
    memset(large, '\n', COOKIE_SECRETS_FILE_MAX + 1);
    char *large_path = tls_certs_file(large);
    assert_int_equal(chmod(open, 0604), 0);
    expect_secrets_error(bad, "2:3: a secret is 32 hexadecimal digits on its own line, as "
                              "`openssl rand -hex 16` prints");
    expect_secrets_error(empty, "1:1: there is no secret; `openssl rand -hex 16` prints one");
    expect_secrets_error(open, " other users may read or write it; set its mode to 0640 or 0600");
    expect_secrets_error(large_path, " too large");
    expect_secrets_error(files.directory, " not a regular file");
    expect_secrets_error("/nonexistent/c", " No such file or directory");
    remove_file(bad);
    remove_file(empty);
    remove_file(open);
    remove_file(large_path);
    free(large);
}

static void test_files_are_checked_despite_other_errors(void **state)
{
    (void)state;
    assert_null(
        load_as_file("cache: {size: 1}\nupstream: {ca-bundle: /nonexistent/ca.pem}\n" ZONE));
    assert_non_null(strstr(errors_text, "1:15: error: cache.size: "));
    assert_non_null(strstr(errors_text, "2:12: error: upstream.ca-bundle: "));
}

static void test_a_missing_certificate_and_a_missing_key_are_both_reported(void **state)
{
    (void)state;
    expect_file_errors("server: {listen-tls: [127.0.0.1@8853],\n tls-certificate: /nonexistent/c,\n"
                       " tls-key: /nonexistent/k}\n" ZONE,
                       "2:2: error: server.tls-certificate: cannot read /nonexistent/c: No such "
                       "file or directory\n"
                       "3:2: error: server.tls-key: cannot read /nonexistent/k: No such file or "
                       "directory\n");
    expect_file_errors("upstream: {client-certificate: /nonexistent/c,\n"
                       " client-key: /nonexistent/k}\n" TLS_ZONE,
                       "1:12: error: upstream.client-certificate: cannot read /nonexistent/c: No "
                       "such file or directory\n"
                       "2:2: error: upstream.client-key: cannot read /nonexistent/k: No such file "
                       "or directory\n");
}

/* All zones name the same authorities: reading them once per zone would take minutes. */
static void test_thousands_of_zones_share_contexts(void **state)
{
    (void)state;
    enum { ZONES = 10000 };
    char *text = malloc(CONFIG_FILE_MAX);
    size_t len = (size_t)sprintf(text, "forward-zones:\n");
    for (size_t i = 0; i < ZONES; i++)
        len += (size_t)sprintf(text + len,
                               "- {name: z%zu, upstreams: [192.0.2.1#a%zu], transport: tls, "
                               "ca-bundle: %s}\n",
                               i, i, files.ca);
    assert_true(len < CONFIG_FILE_MAX);
    expect_fine(text);
    free(text);
}

/* Writes a different list of ciphers for each number from 1 to 511. */
static size_t put_ciphers(char *out, size_t number)
{
    static const char *const names[] = {
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
        "DHE-RSA-AES128-GCM-SHA256",     "DHE-RSA-AES256-GCM-SHA384",
        "DHE-RSA-CHACHA20-POLY1305",
    };
    size_t len = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (number >> i & 1)
            len += (size_t)sprintf(out + len, "%s%s", len ? ":" : "", names[i]);
    return len;
}

static void test_more_different_sets_than_a_worker_holds(void **state)
{
    (void)state;
    static char text[CONFIG_FILE_MAX];
    size_t len = (size_t)sprintf(text, "upstream: {ca-bundle: %s}\nforward-zones:\n", files.ca);
    for (size_t i = 0; i < TLS_CONTEXTS_MAX + 2; i++) {
        len += (size_t)sprintf(
            text + len, "- {name: z%zu, upstreams: [192.0.2.1], transport: tls, tls-ciphers: '", i);
        len += put_ciphers(text + len, i + 1);
        len += (size_t)sprintf(text + len, "'}\n");
    }
    assert_null(load_as_file(text));
    assert_string_equal(errors_text,
                        "258:3: error: forward-zones[255]: exceeds the limit of 256 different sets "
                        "of ca-bundle, client-certificate, client-key, tls-ciphers and tls-groups; "
                        "let upstreams share some of them\n");
}

static void expect_hints_error(const char *hints, const char *error)
{
    char text[4096], line[4096], *path = tls_certs_file(hints);
    expect_file_errors(format(text, "recursion: {root-hints: %s}\n", path),
                       format(line, "1:13: error: recursion.root-hints: %s%s\n", path, error));
    remove_file(path);
}

static void test_errors_in_hints_name_their_line(void **state)
{
    (void)state;
    expect_hints_error(". NS a.example.\n. NS\n",
                       ", line 2: is not a record of a zone file, such as "
                       "\". 3600000 NS a.example.\"");
    expect_hints_error("a.example. A 192.0.2.1\n", ": has no NS record of the root, such as "
                                                   "\". 3600000 NS a.example.\"");
    expect_hints_error(". NS a.example.\n", ": has no address (A, AAAA) of a server that an NS "
                                            "record of the root names");
}

static void test_local_hints_without_a_server_to_ask_get_a_warning(void **state)
{
    (void)state;
    char text[4096], line[4096], *path = tls_certs_file(". NS a.test.\na.test. A 127.0.0.1\n");
    struct config *config = load_as_file(format(text, "recursion: {root-hints: %s}\n", path));
    struct span said = buf_span(&config->warnings);
    format(line,
           ":1:13: warning: recursion.do-not-query has every root server of %s, so recursion may "
           "ask none of them; remove their addresses from that list ([] is an empty list; the "
           "default is 127.0.0.0/8 and ::1)\n",
           path);
    assert_true(said.len > strlen(line));
    assert_memory_equal(said.data + said.len - strlen(line), line, strlen(line));
    config_free(config);
    config = load_as_file(format(text, "recursion: {root-hints: %s, do-not-query: []}\n", path));
    assert_int_equal(buf_span(&config->warnings).len, 0);
    config_free(config);
    remove_file(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_files_load),
        cmocka_unit_test(test_authorities_that_cannot_be_read),
        cmocka_unit_test(test_a_bad_file_is_reported_at_the_place_that_names_it),
        cmocka_unit_test(test_a_bad_file_of_the_section_is_reported_once),
        cmocka_unit_test(test_a_client_certificate_and_a_key_of_another),
        cmocka_unit_test(test_halves_of_a_client_certificate_from_two_places),
        cmocka_unit_test(test_words_that_openssl_does_not_know),
        cmocka_unit_test(test_the_certificate_of_the_listener),
        cmocka_unit_test(test_a_certificate_without_a_listener_is_not_read),
        cmocka_unit_test(test_directories_of_files_that_are_written_must_exist),
        cmocka_unit_test(test_no_file_is_written_that_is_read),
        cmocka_unit_test(test_a_file_is_recognised_under_another_name),
        cmocka_unit_test(test_no_file_is_written_twice),
        cmocka_unit_test(test_the_configuration_itself_is_not_overwritten),
        cmocka_unit_test(test_secrets_of_cookies_are_read),
        cmocka_unit_test(test_unusable_files_of_secrets_are_reported),
        cmocka_unit_test(test_files_are_checked_despite_other_errors),
        cmocka_unit_test(test_a_missing_certificate_and_a_missing_key_are_both_reported),
        cmocka_unit_test(test_thousands_of_zones_share_contexts),
        cmocka_unit_test(test_more_different_sets_than_a_worker_holds),
        cmocka_unit_test(test_local_hints_without_a_server_to_ask_get_a_warning),
        cmocka_unit_test(test_errors_in_hints_name_their_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
