/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Makes certificates when a scenario first needs them, and keeps them for the others. */
#include "scenario/tls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "support/fake_tls.h"
#include "support/tls_certs.h"

static const char place[] = "TEST-CA";

enum { GOOD, OTHER_NAME, EXPIRED, SELF_SIGNED, CERTS };

static struct {
    struct tls_certs *ca;
    char *ca_path;
    struct tls_cert *certs[CERTS];
} made;

static void unmake(void)
{
    for (int i = 0; i < CERTS; i++)
        tls_certs_free_cert(made.certs[i]);
    tls_certs_free(made.ca);
    unlink(made.ca_path);
    free(made.ca_path);
}

static void make(void)
{
    if (made.ca)
        return;
    made.ca = tls_certs_authority("Test CA");
    made.ca_path = tls_certs_file(tls_certs_pem(made.ca));
    struct tls_cert_wish wishes[CERTS] = {
        [GOOD] = {.ca = made.ca, .name = "dns.test"},
        [OTHER_NAME] = {.ca = made.ca, .name = "other.test"},
        [EXPIRED] = {.ca = made.ca, .name = "dns.test", TLS_CERTS_EXPIRED},
        [SELF_SIGNED] = {.name = "dns.test"},
    };
    for (int i = 0; i < CERTS; i++)
        made.certs[i] = tls_certs_make(&wishes[i]);
    atexit(unmake);
}

char *tls_config(const char *yaml)
{
    struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    for (const char *at; (at = strstr(yaml, place)); yaml = at + strlen(place)) {
        make();
        MUST(buf_append(&out, yaml, (size_t)(at - yaml)) == ERR_OK);
        MUST(buf_append(&out, made.ca_path, strlen(made.ca_path)) == ERR_OK);
    }
    MUST(buf_append(&out, yaml, strlen(yaml) + 1) == ERR_OK);
    char *text = strdup((const char *)buf_span(&out).data);
    MUST(text);
    buf_deinit(&out);
    return text;
}

const char *const tls_words[] = {"good",   "other_name",  "expired", "self_signed",
                                 "refuse", "garbage",     "stall",   "fin",
                                 "alpn",   "late_refuse", NULL};

enum word { OF_CERTS = CERTS, REFUSE = CERTS, GARBAGE, STALL, FIN, ALPN, LATE_REFUSE };

void tls_speak(struct fake_server *server, int word)
{
    make();
    const struct tls_cert *cert = made.certs[word < OF_CERTS ? word : GOOD];
    /* Forgets tickets, as a restart does, because a resumed session would show no certificate. */
    struct fake_tls_options how = {
        .certificate = cert->certificate, .key = cert->key, .forget_tickets = true};
    switch (word) {
    case REFUSE:
        how.manner.trouble = FAKE_TLS_REFUSE;
        break;
    case GARBAGE:
        how.manner.trouble = FAKE_TLS_GARBAGE;
        break;
    case STALL:
        how.manner.trouble = FAKE_TLS_STALL;
        break;
    case FIN:
        how.manner.trouble = FAKE_TLS_FIN;
        break;
    case ALPN:
        how.alpn = FAKE_ALPN_OTHER;
        break;
    case LATE_REFUSE:
        how.only = FAKE_TLS_1_3;
        how.need_certificate = true;
        break;
    }
    fake_server_speak_tls(server, &how);
}
