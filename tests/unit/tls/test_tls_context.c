/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Files and words of the configuration. A sentence names each faulty one. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tls/tls_contexts.h"
#include "tls/tls.h"
#include "tls/tls_file.h"
#include "tls/tls_key_log.h"
#include "tls_ends.h"

static struct ends here;
static char why[TLS_WHY_MAX];

static int set_up(void **state)
{
    (void)state;
    ends_init(&here, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ends_deinit(&here);
    return 0;
}

static int clear_why(void **state)
{
    (void)state;
    why[0] = 0;
    return 0;
}

static void assert_why(const char *part)
{
    if (!strstr(why, part))
        fail_msg("\"%s\" does not say \"%s\"", why, part);
}

/* ---------------------------------------------------------------- servers */

static enum err make_server(const char *certificate, const char *key)
{
    struct tls_server_options options = {.certificate = text_span(certificate),
                                         .key = text_span(key)};
    struct tls_context *context = (struct tls_context *)&options; /* must become NULL */
    enum err err = tls_context_server(&context, &options, why);

    assert_int_equal(context == NULL, err != ERR_OK);
    tls_context_free(context);
    return err;
}

/* Copies the text and changes the n-th character after "-----
 * ". */
static char *torn(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    memset(strstr(copy, "-----\n") + 30, 'A', 60);
    return copy;
}

static void test_a_certificate_with_its_key_makes_a_server(void **state)
{
    (void)state;
    assert_int_equal(make_server(here.cert->certificate, here.cert->key), ERR_OK);
}

static void test_a_server_context_has_the_expiry_of_its_certificate(void **state)
{
    (void)state;
    struct tls_cert *cert = tls_certs_make(&(struct tls_cert_wish){TLS_CERTS_EXPIRED});
    struct tls_server_options options = {.certificate = tls_certs_certificate(cert),
                                         .key = tls_certs_key(cert)};
    struct tls_context *context;
    int64_t hour_ago = time(NULL) - 3600;

    assert_int_equal(tls_context_server(&context, &options, why), ERR_OK);
    assert_in_range(tls_context_ends_at_s(context), hour_ago - 300, hour_ago + 1);
    tls_context_free(context);
    tls_certs_free_cert(cert);
}

static void test_a_context_without_a_certificate_has_no_expiry(void **state)
{
    (void)state;
    struct tls_peer_options options = {.profile = TLS_STRICT};
    struct tls_context *context;

    assert_int_equal(tls_context_client(&context, &options, why), ERR_OK);
    assert_true(tls_context_ends_at_s(context) == INT64_MAX);
    tls_context_free(context);
}

static void test_text_around_a_certificate_does_no_harm(void **state)
{
    char *text;
    (void)state;

    assert_true(asprintf(&text, "subject: dns.test\n%s\nthe end\n", here.cert->certificate) > 0);
    assert_int_equal(make_server(text, here.cert->key), ERR_OK);
    free(text);
}

static void test_a_file_without_a_certificate_is_named(void **state)
{
    (void)state;
    assert_int_equal(make_server("", here.cert->key), ERR_INVALID);
    assert_why("the certificate file has no certificate in it");
    assert_int_equal(make_server("nonsense", here.cert->key), ERR_INVALID);
    assert_why("the certificate file has no certificate in it");
    assert_int_equal(make_server(here.cert->key, here.cert->key), ERR_INVALID);
    assert_why("the certificate file has no certificate in it");
}

static void test_a_torn_certificate_is_counted(void **state)
{
    char *first = torn(here.cert->certificate), *second;
    (void)state;

    assert_int_equal(make_server(first, here.cert->key), ERR_INVALID);
    assert_why("certificate 1 of the certificate file cannot be used: ");
    assert_true(asprintf(&second, "%s%s", here.cert->certificate, first) > 0);
    assert_int_equal(make_server(second, here.cert->key), ERR_INVALID);
    assert_why("certificate 3 of the certificate file cannot be used: ");
    second[strlen(here.cert->certificate) - 40] = 0;
    assert_int_equal(make_server(second, here.cert->key), ERR_INVALID);
    assert_why("certificate 2 of");
    free(first);
    free(second);
}

static void test_a_file_without_a_key_is_named(void **state)
{
    char *bad = torn(here.cert->key);
    (void)state;

    assert_int_equal(make_server(here.cert->certificate, ""), ERR_INVALID);
    assert_why("the key file has no private key in it");
    assert_int_equal(make_server(here.cert->certificate, here.cert->certificate), ERR_INVALID);
    assert_why("the key file has no private key in it");
    assert_int_equal(make_server(here.cert->certificate, bad), ERR_INVALID);
    assert_why("the key in the key file cannot be used: ");
    free(bad);
}

static void test_a_key_of_another_certificate_is_refused(void **state)
{
    struct tls_cert *other = tls_certs_make(&(struct tls_cert_wish){.ca = here.ca});
    struct tls_server_options options = {.certificate = tls_certs_certificate(here.cert),
                                         .key = tls_certs_key(other),
                                         .certificate_name = "/a/chain.pem",
                                         .key_name = "/a/key.pem"};
    struct tls_context *context;
    (void)state;

    assert_int_equal(tls_context_server(&context, &options, why), ERR_INVALID);
    assert_string_equal(why, "the key in /a/key.pem is not that of the certificate in "
                             "/a/chain.pem");
    assert_int_equal(make_server(here.cert->certificate, other->key), ERR_INVALID);
    assert_why("is not that of the certificate in");
    tls_certs_free_cert(other);
}

/* OpenSSL must not request a password on the terminal. */
static void test_an_encrypted_key_is_refused(void **state)
{
    BIO *in = BIO_new_mem_buf(here.cert->key, -1), *out;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
    unsigned char *secret = (unsigned char *)"secret";
    (void)state;

    for (int is_old = 0; is_old < 2; is_old++) {
        char text[4096] = "";
        out = BIO_new(BIO_s_mem());
        int result =
            is_old ? PEM_write_bio_PrivateKey_traditional(out, key, EVP_aes_128_cbc(), secret, 6,
                                                          NULL, NULL)
                   : PEM_write_bio_PrivateKey(out, key, EVP_aes_128_cbc(), secret, 6, NULL, NULL);
        assert_int_equal(result, 1);
        assert_true(BIO_read(out, text, sizeof(text) - 1) > 0);
        assert_int_equal(make_server(here.cert->certificate, text), ERR_INVALID);
        assert_why("is encrypted");
        BIO_free(out);
    }
    EVP_PKEY_free(key);
    BIO_free(in);
}

/* ---------------------------------------------------------------- clients */

static enum err make_client(const struct tls_peer_options *options)
{
    struct tls_context *context = (struct tls_context *)(uintptr_t)options;
    enum err err = tls_context_client(&context, options, why);

    assert_int_equal(context == NULL, err != ERR_OK);
    tls_context_free(context);
    return err;
}

static void test_a_client_needs_no_files(void **state)
{
    (void)state;
    assert_int_equal(make_client(&(struct tls_peer_options){.ca_bundle = NULL}), ERR_OK);
    assert_int_equal(make_client(&(struct tls_peer_options){.ca_bundle = (char *)"",
                                                            .certificate = (char *)"",
                                                            .key = (char *)"",
                                                            .ciphers = (char *)"",
                                                            .groups = (char *)""}),
                     ERR_OK);
}

static void test_a_missing_bundle_is_named(void **state)
{
    struct tls_peer_options options = {.ca_bundle = (char *)"/nonexistent/ca.pem"};
    (void)state;

    assert_int_equal(make_client(&options), ERR_NOT_FOUND);
    assert_string_equal(why, "cannot read /nonexistent/ca.pem: No such file or directory");
    options.ca_bundle = (char *)"/";
    assert_int_equal(make_client(&options), ERR_INVALID);
    assert_string_equal(why, "/ is not a regular file");
}

static void check_bundle(const char *text, const char *sentence)
{
    char *path = tls_certs_file(text);
    struct tls_peer_options options = {.ca_bundle = path};

    assert_int_equal(make_client(&options), sentence ? ERR_INVALID : ERR_OK);
    if (sentence) {
        assert_why(path);
        assert_why(sentence);
    }
    unlink(path);
    free(path);
}

static void test_a_bundle_without_certificates_is_refused(void **state)
{
    char *bad = torn(tls_certs_pem(here.ca)), *both;
    (void)state;

    check_bundle("", "has no certificate in it");
    check_bundle("# nothing\n", "has no certificate in it");
    check_bundle(bad, "certificate 1 of ");
    assert_true(asprintf(&both, "%s%s", tls_certs_pem(here.ca), bad) > 0);
    check_bundle(both, "certificate 2 of ");
    free(both);
    assert_true(asprintf(&both, "%s%s", tls_certs_pem(here.ca), tls_certs_pem(here.ca)) > 0);
    check_bundle(both, NULL); /* a duplicate certificate is harmless */
    free(both);
    free(bad);
}

static void test_our_certificate_may_have_its_key_in_the_same_file_or_another(void **state)
{
    char *certificate = tls_certs_file(here.cert->certificate);
    char *key = tls_certs_file(here.cert->key);
    (void)state;

    assert_int_equal(
        make_client(&(struct tls_peer_options){.certificate = (char *)tls_certs_write(here.cert)}),
        ERR_OK);
    assert_int_equal(
        make_client(&(struct tls_peer_options){.certificate = certificate, .key = key}), ERR_OK);
    assert_int_equal(make_client(&(struct tls_peer_options){.certificate = certificate}),
                     ERR_INVALID);
    assert_why(certificate);
    assert_why("has no private key in it");
    assert_int_equal(make_client(&(struct tls_peer_options){.key = key}), ERR_INVALID);
    assert_why("has no certificate");
    assert_int_equal(make_client(&(struct tls_peer_options){.certificate = certificate,
                                                            .key = (char *)"/nonexistent/key"}),
                     ERR_NOT_FOUND);
    assert_why("/nonexistent/key");
    unlink(certificate);
    unlink(key);
    free(certificate);
    free(key);
}

/* ---------------------------------------------------------------- the system's authorities */

/* Dials our server as a client without a bundle. Returns the result. */
static enum err dial_by_system(void)
{
    struct tls_peer_options options = here.options;
    struct end client, server;

    options.ca_bundle = NULL;
    struct tls_context *context = new_client_context(&options);
    struct tls_peer peer = {.addr = &here.addr, .options = &options};
    end_init(&client, tls_client(context, &peer));
    end_init(&server, tls_server(here.server));
    end_begin(&client, text_span(""));
    settle(&client, &server, cut_none);
    enum err err = client.err;
    end_deinit(&client);
    end_deinit(&server);
    tls_context_free(context);
    return err;
}

static void test_without_a_bundle_the_file_of_the_system_is_trusted(void **state)
{
    char *other = tls_certs_file("");
    (void)state;

    setenv("SSL_CERT_DIR", "/nonexistent", 1);
    setenv("SSL_CERT_FILE", here.ca_path, 1);
    assert_int_equal(dial_by_system(), ERR_OK);
    setenv("SSL_CERT_FILE", other, 1);
    assert_int_equal(dial_by_system(), ERR_TLS_UNTRUSTED);
    setenv("SSL_CERT_FILE", "/nonexistent", 1);
    assert_int_equal(dial_by_system(), ERR_TLS_UNTRUSTED);
    unsetenv("SSL_CERT_DIR");
    unsetenv("SSL_CERT_FILE");
    unlink(other);
    free(other);
}

static unsigned long hash_of_ca(void)
{
    BIO *text = BIO_new_mem_buf(tls_certs_pem(here.ca), -1);
    X509 *ca = PEM_read_bio_X509(text, NULL, NULL, NULL);
    unsigned long hash = X509_subject_name_hash(ca);

    X509_free(ca);
    BIO_free(text);
    return hash;
}

/* In OpenSSL, the environment's folder replaces the default folder, but not the default file. */
static void test_a_folder_with_few_authorities_does_not_replace_the_systems_file(void **state)
{
    char folder[] = "/tmp/nailup-test-XXXXXX", *path;
    (void)state;

    if (access(X509_get_default_cert_file(), R_OK) != 0)
        skip();
    assert_non_null(mkdtemp(folder));
    assert_true(asprintf(&path, "%s/%08lx.0", folder, hash_of_ca()) > 0);
    assert_int_equal(symlink(here.ca_path, path), 0);
    setenv("SSL_CERT_DIR", folder, 1);
    struct tls_context *context = new_client_context(&(struct tls_peer_options){0});
    unsetenv("SSL_CERT_DIR");
    X509_STORE *store = SSL_CTX_get_cert_store(context->ctx);
    assert_true(sk_X509_OBJECT_num(X509_STORE_get0_objects(store)) > 0);
    tls_context_free(context);
    unlink(path);
    rmdir(folder);
    free(path);
}

static void test_without_a_bundle_the_folder_of_the_system_is_trusted(void **state)
{
    char folder[] = "/tmp/nailup-test-XXXXXX", *path;
    (void)state;

    assert_non_null(mkdtemp(folder));
    setenv("SSL_CERT_DIR", folder, 1);
    assert_int_equal(dial_by_system(), ERR_TLS_UNTRUSTED);
    assert_true(asprintf(&path, "%s/%08lx.0", folder, hash_of_ca()) > 0);
    assert_int_equal(symlink(here.ca_path, path), 0);
    assert_int_equal(dial_by_system(), ERR_OK);
    unsetenv("SSL_CERT_DIR");
    unlink(path);
    rmdir(folder);
    free(path);
}

/* ---------------------------------------------------------------- ciphers and groups */

static enum err try_words(const char *ciphers, const char *groups)
{
    return make_client(
        &(struct tls_peer_options){.ciphers = (char *)ciphers, .groups = (char *)groups});
}

static void test_cipher_words_that_openssl_knows_are_accepted(void **state)
{
    const char *lists[] = {
        "TLS_AES_128_GCM_SHA256",
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_CHACHA20_POLY1305_SHA256:ECDHE+CHACHA20:TLS_AES_128_GCM_SHA256:!AES256",
        "HIGH:!aNULL:!MD5:!RC4:!3DES:-EXPORT:@STRENGTH",
        "DEFAULT:@SECLEVEL=1",
        "ECDHE+AESGCM:-AES128:+AES256",
    };
    (void)state;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (try_words(lists[i], NULL) != ERR_OK)
            fail_msg("%s: %s", lists[i], why);
}

static void check_word(const char *list, const char *word)
{
    char quoted[200];

    snprintf(quoted, sizeof(quoted), "\"%s\"", word);
    assert_int_equal(try_words(list, NULL), ERR_INVALID);
    assert_why(quoted);
    assert_why("cipher");
}

static void test_an_unknown_cipher_is_named(void **state)
{
    char longest[6000];
    (void)state;

    check_word("TLS_AES_128_GCM_SHA256:TLS_AES_512_GCM_SHA256", "TLS_AES_512_GCM_SHA256");
    check_word("HIGH:ECDHE-RSA-AES128-GCM-SHA257", "ECDHE-RSA-AES128-GCM-SHA257");
    check_word("HIGH:!nonsense", "!nonsense");
    check_word("HIGH:RC4", "RC4");
    check_word("HIGH:@NONSENSE", "@NONSENSE");
    check_word("HIGH::MEDIUM", "");
    check_word("HIGH:", "");
    check_word("HIGH nonsense", "HIGH nonsense");
    check_word("HIGH,nonsense:MEDIUM", "HIGH,nonsense");
    check_word("HIGH;nonsense", "HIGH;nonsense");
    check_word(":", "");
    check_word("TLS_", "TLS_");
    memset(longest, 'A', sizeof(longest));
    longest[sizeof(longest) - 1] = 0;
    assert_int_equal(try_words(longest, NULL), ERR_INVALID);
    longest[300] = 0;
    assert_int_equal(try_words(longest, NULL), ERR_INVALID);
}

static void test_a_list_that_leaves_no_cipher_is_refused(void **state)
{
    (void)state;
    assert_int_equal(try_words("HIGH:!ALL", NULL), ERR_INVALID);
    assert_why("leaves no cipher of TLS 1.2");
    assert_int_equal(try_words("aNULL", NULL), ERR_INVALID);
    assert_int_equal(try_words("eNULL", NULL), ERR_INVALID);
}

static void test_group_words_are_accepted_or_named(void **state)
{
    (void)state;
    assert_int_equal(try_words(NULL, "x25519"), ERR_OK);
    assert_int_equal(try_words(NULL, "X25519:P-256:secp384r1"), ERR_OK);
    assert_int_equal(try_words(NULL, "x25519:nonsense"), ERR_INVALID);
    assert_why("\"nonsense\" is not a group");
    assert_int_equal(try_words(NULL, "x25519:"), ERR_INVALID);
    assert_why("\"\"");
}

/* Returns the cipher that a client with these words and our server agree on. */
static const char *agreed(const char *words)
{
    struct tls_peer_options options = here.options;
    struct end client, server;

    options.ciphers = (char *)words;
    struct tls_context *context = new_client_context(&options);
    struct tls_peer peer = {.addr = &here.addr, .options = &options};
    end_init(&client, tls_client(context, &peer));
    end_init(&server, tls_server(here.server));
    end_begin(&client, text_span(""));
    settle(&client, &server, cut_none);
    const char *cipher = tls_facts(client.tls).cipher;
    end_deinit(&client);
    end_deinit(&server);
    tls_context_free(context);
    return cipher;
}

static void test_the_words_select_the_cipher(void **state)
{
    (void)state;
    assert_string_equal(agreed("TLS_CHACHA20_POLY1305_SHA256"), "TLS_CHACHA20_POLY1305_SHA256");
    assert_string_equal(agreed("ECDHE+AESGCM:TLS_AES_128_GCM_SHA256"), "TLS_AES_128_GCM_SHA256");
    assert_string_equal(agreed("ECDHE+CHACHA20"), "TLS_AES_256_GCM_SHA384");
}

/* ---------------------------------------------------------------- files */

static void test_a_file_is_read_whole(void **state)
{
    char *path = tls_certs_file("text\n"), *text;
    size_t len;
    (void)state;

    assert_int_equal(tls_read_file(path, &text, &len, why), ERR_OK);
    assert_int_equal(len, 5);
    assert_string_equal(text, "text\n");
    tls_file_free(&text, len);
    assert_null(text);
    tls_file_free(&text, 0);
    unlink(path);
    free(path);
}

static void test_a_file_is_read_up_to_its_bound(void **state)
{
    char *path = tls_certs_file(""), *text;
    size_t len;
    (void)state;

    assert_int_equal(truncate(path, TLS_FILE_MAX), 0);
    assert_int_equal(tls_read_file(path, &text, &len, why), ERR_OK);
    assert_int_equal(len, TLS_FILE_MAX);
    tls_file_free(&text, len);
    assert_int_equal(truncate(path, TLS_FILE_MAX + 1), 0);
    assert_int_equal(tls_read_file(path, &text, &len, why), ERR_TOO_LARGE);
    assert_null(text);
    assert_why(path);
    unlink(path);
    free(path);
}

static void test_a_fifo_does_not_hold_up_the_start(void **state)
{
    char *path = tls_certs_file(""), *text;
    size_t len;
    (void)state;

    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tls_read_file(path, &text, &len, why), ERR_INVALID);
    assert_why("is not a regular file");
    unlink(path);
    free(path);
}

static void test_a_path_that_is_too_long_for_a_sentence_is_cut(void **state)
{
    char path[2000], *text;
    size_t len;
    (void)state;

    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    assert_int_equal(tls_read_file(path, &text, &len, why), ERR_IO);
    assert_int_equal(strlen(why), TLS_WHY_MAX - 1);
}

/* ---------------------------------------------------------------- the log of keys */

static void run_a_connection(void)
{
    assert_string_equal(agreed(NULL), "TLS_AES_256_GCM_SHA384");
}

/* Runs body in a separate process, because a process has one log. */
static void in_child(void (*body)(const char *path), const char *path)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        body(path);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void log_two_connections(const char *path)
{
    MUST(tls_log_keys_to(path, why) == ERR_OK);
    run_a_connection();
    run_a_connection();
}

static void *run_connections(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5; i++)
        run_a_connection();
    return NULL;
}

enum { LOGGING_THREADS = 4 };

static void log_in_threads(const char *path)
{
    pthread_t threads[LOGGING_THREADS];

    MUST(tls_log_keys_to(path, why) == ERR_OK);
    for (int i = 0; i < LOGGING_THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, run_connections, NULL) == 0);
    for (int i = 0; i < LOGGING_THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
}

static void test_keys_are_logged_as_whole_lines_into_a_private_file(void **state)
{
    char *path = tls_certs_file("before\n"), *text;
    struct stat status;
    size_t len, lines = 0;
    (void)state;

    assert_int_equal(chmod(path, 0644), 0);
    in_child(log_in_threads, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(tls_read_file(path, &text, &len, why), ERR_OK);
    assert_memory_equal(text, "before\n", 7);
    assert_int_equal(text[len - 1], '\n');
    for (char *line = strtok(text + 7, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        char label[64], random[65], secret[129];
        assert_int_equal(
            sscanf(line, "%63[A-Z_0-9] %64[0-9a-f] %128[0-9a-f]", label, random, secret), 3);
        assert_int_equal(strlen(random), 64);
    }
    /* Each of five connections has five secrets. */
    assert_int_equal(lines, LOGGING_THREADS * 5 * 5);
    tls_file_free(&text, len);
    unlink(path);
    free(path);
}

static void test_a_new_key_log_is_private(void **state)
{
    char *path = tls_certs_file("");
    struct stat status;
    (void)state;

    unlink(path);
    in_child(log_two_connections, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_true(status.st_size > 0);
    unlink(path);
    free(path);
}

static void test_without_a_key_log_nothing_is_written(void **state)
{
    char *path = tls_certs_file("");
    struct stat status;
    (void)state;

    run_a_connection();
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
    unlink(path);
    free(path);
}

static void test_a_key_log_behind_a_link_or_in_a_missing_folder_is_refused(void **state)
{
    char *path = tls_certs_file(""), *link_path;
    (void)state;

    assert_true(asprintf(&link_path, "%s-link", path) > 0);
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(tls_log_keys_to(link_path, why), ERR_IO);
    assert_why(link_path);
    unlink(link_path);
    assert_int_equal(link(path, link_path), 0);
    assert_int_equal(tls_log_keys_to(link_path, why), ERR_INVALID);
    assert_why("has another name too");
    assert_int_equal(tls_log_keys_to("/nonexistent/keys", why), ERR_IO);
    assert_why("/nonexistent/keys");
    assert_int_equal(tls_log_keys_to("/dev/null", why), ERR_INVALID);
    assert_why("is not a regular file");
    unlink(link_path);
    unlink(path);
    free(link_path);
    free(path);
}

/* ---------------------------------------------------------------- a worker's contexts */

static void test_upstreams_of_the_same_kind_share_a_context(void **state)
{
    struct tls_contexts *contexts = tls_contexts_new();
    struct tls_peer_options a = here.options, b = here.options;
    (void)state;

    b.auth_name = (char *)"other.test";
    b.profile = TLS_OPPORTUNISTIC;
    b.ca_bundle = strdup(here.ca_path);
    struct tls_context *first = tls_contexts_get(contexts, &a, why);
    assert_non_null(first);
    assert_ptr_equal(tls_contexts_get(contexts, &b, why), first);
    free(b.ca_bundle); /* the context keeps a copy */
    b.ca_bundle = here.ca_path;
    b.groups = (char *)"x25519";
    struct tls_context *second = tls_contexts_get(contexts, &b, why);
    assert_non_null(second);
    assert_ptr_not_equal(second, first);
    assert_ptr_equal(tls_contexts_get(contexts, &a, why), first);
    tls_contexts_free(contexts);
    tls_contexts_free(NULL);
}

static void test_a_context_that_cannot_be_made_is_tried_again(void **state)
{
    struct tls_contexts *contexts = tls_contexts_new();
    char *path = tls_certs_file("");
    struct tls_peer_options options = {.ca_bundle = path};
    (void)state;

    assert_null(tls_contexts_get(contexts, &options, why));
    assert_why(path);
    FILE *file = fopen(path, "w");
    fputs(tls_certs_pem(here.ca), file);
    fclose(file);
    assert_non_null(tls_contexts_get(contexts, &options, why));
    unlink(path);
    free(path);
    tls_contexts_free(contexts);
}

/* Makes a different list of ciphers for each number. */
static void make_words(char out[200], unsigned number)
{
    const char *taken[] = {":!MD5", ":!RC4", ":!DES", ":!SEED",    ":!IDEA",
                           ":!PSK", ":!SRP", ":!LOW", ":!CAMELLIA"};

    strcpy(out, "HIGH");
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (number & 1u << i)
            strcat(out, taken[i]);
}

static void test_the_number_of_contexts_is_bounded(void **state)
{
    struct tls_contexts *contexts = tls_contexts_new();
    struct tls_peer_options options = here.options;
    char words[200];
    (void)state;

    options.ciphers = words;
    for (unsigned i = 0; i < TLS_CONTEXTS_MAX; i++) {
        make_words(words, i);
        struct tls_context *context = tls_contexts_get(contexts, &options, why);
        if (!context)
            fail_msg("%u: %s: %s", i, words, why);
    }
    make_words(words, TLS_CONTEXTS_MAX);
    assert_null(tls_contexts_get(contexts, &options, why));
    assert_why("256");
    make_words(words, 7);
    assert_non_null(tls_contexts_get(contexts, &options, why));
    tls_contexts_free(contexts);
}

static void rewrite(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_a_context_ends_with_its_last_user(void **state)
{
    struct tls_contexts *contexts = tls_contexts_new();
    struct tls_peer_options options = here.options;
    char words[200];
    (void)state;

    options.ciphers = words;
    make_words(words, 0);
    struct tls_context *stays = tls_contexts_get(contexts, &options, why);
    assert_ptr_equal(tls_contexts_get(contexts, &options, why), stays);
    tls_contexts_give(contexts, stays);
    for (unsigned i = 1; i < TLS_CONTEXTS_MAX + 10; i++) {
        make_words(words, i);
        struct tls_context *context = tls_contexts_get(contexts, &options, why);
        assert_non_null(context);
        tls_contexts_give(contexts, context);
    }
    make_words(words, 0);
    assert_ptr_equal(tls_contexts_get(contexts, &options, why), stays);
    tls_contexts_give(contexts, NULL);
    tls_contexts_free(contexts);
}

static void test_a_file_that_was_changed_makes_a_new_context_beside_the_former(void **state)
{
    struct tls_contexts *contexts = tls_contexts_new();
    struct tls_certs *other = tls_certs_authority("other");
    char *path = tls_certs_file(tls_certs_pem(here.ca));
    struct tls_peer_options options = {.ca_bundle = path}, system = {.ca_bundle = NULL};
    (void)state;

    struct tls_context *first = tls_contexts_get(contexts, &options, why);
    struct tls_context *apart = tls_contexts_get(contexts, &system, why);
    assert_non_null(apart);
    assert_int_equal(tls_contexts_renew(contexts, why), ERR_OK);
    assert_ptr_equal(tls_contexts_get(contexts, &options, why), first);
    rewrite(path, tls_certs_pem(other));
    assert_int_equal(tls_contexts_renew(contexts, why), ERR_OK);
    struct tls_context *second = tls_contexts_get(contexts, &options, why);
    assert_ptr_not_equal(second, first);
    assert_false(span_equal(tls_context_files_id(second), tls_context_files_id(first)));
    tls_contexts_give(contexts, first);
    tls_contexts_give(contexts, first);
    rewrite(path, "nothing");
    assert_int_equal(tls_contexts_renew(contexts, why), ERR_INVALID);
    assert_why(path);
    assert_ptr_equal(tls_contexts_get(contexts, &options, why), second);
    assert_ptr_equal(tls_contexts_get(contexts, &system, why), apart);
    unlink(path);
    free(path);
    tls_certs_free(other);
    tls_contexts_free(contexts);
}

#define WHY_TEST(test) cmocka_unit_test_setup(test, clear_why)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WHY_TEST(test_a_certificate_with_its_key_makes_a_server),
        WHY_TEST(test_a_server_context_has_the_expiry_of_its_certificate),
        WHY_TEST(test_a_context_without_a_certificate_has_no_expiry),
        WHY_TEST(test_text_around_a_certificate_does_no_harm),
        WHY_TEST(test_a_file_without_a_certificate_is_named),
        WHY_TEST(test_a_torn_certificate_is_counted),
        WHY_TEST(test_a_file_without_a_key_is_named),
        WHY_TEST(test_a_key_of_another_certificate_is_refused),
        WHY_TEST(test_an_encrypted_key_is_refused),
        WHY_TEST(test_a_client_needs_no_files),
        WHY_TEST(test_a_missing_bundle_is_named),
        WHY_TEST(test_a_bundle_without_certificates_is_refused),
        WHY_TEST(test_our_certificate_may_have_its_key_in_the_same_file_or_another),
        WHY_TEST(test_without_a_bundle_the_file_of_the_system_is_trusted),
        WHY_TEST(test_without_a_bundle_the_folder_of_the_system_is_trusted),
        WHY_TEST(test_a_folder_with_few_authorities_does_not_replace_the_systems_file),
        WHY_TEST(test_cipher_words_that_openssl_knows_are_accepted),
        WHY_TEST(test_an_unknown_cipher_is_named),
        WHY_TEST(test_a_list_that_leaves_no_cipher_is_refused),
        WHY_TEST(test_group_words_are_accepted_or_named),
        WHY_TEST(test_the_words_select_the_cipher),
        WHY_TEST(test_a_file_is_read_whole),
        WHY_TEST(test_a_file_is_read_up_to_its_bound),
        WHY_TEST(test_a_fifo_does_not_hold_up_the_start),
        WHY_TEST(test_a_path_that_is_too_long_for_a_sentence_is_cut),
        WHY_TEST(test_keys_are_logged_as_whole_lines_into_a_private_file),
        WHY_TEST(test_a_new_key_log_is_private),
        WHY_TEST(test_without_a_key_log_nothing_is_written),
        WHY_TEST(test_a_key_log_behind_a_link_or_in_a_missing_folder_is_refused),
        WHY_TEST(test_upstreams_of_the_same_kind_share_a_context),
        WHY_TEST(test_a_context_that_cannot_be_made_is_tried_again),
        WHY_TEST(test_the_number_of_contexts_is_bounded),
        WHY_TEST(test_a_context_ends_with_its_last_user),
        WHY_TEST(test_a_file_that_was_changed_makes_a_new_context_beside_the_former),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
