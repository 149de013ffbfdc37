/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Contexts and tickets of upstreams (secure.h). tls/tls.c does the handshakes. */

#include "upstream/secure.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "tls/tls.h"
#include "tls/tls_contexts.h"
#include "tls/tls_tickets.h"

/* ---- the identity as bytes, with an end after each part to keep parts apart ---- */

struct identity {
    struct buf key;
    bool is_whole; /* all parts fitted */
};

static void secure_add(struct identity *identity, const void *bytes, size_t len)
{
    if (buf_append(&identity->key, bytes, len))
        identity->is_whole = false;
}

static void secure_add_text(struct identity *key, const char *text)
{
    if (!text)
        text = "";
    secure_add(key, text, strlen(text) + 1);
}

static void add_addr(struct identity *key, const struct addr *addr)
{
    char text[ADDR_TEXT_MAX];
    secure_add_text(key, addr_family(addr) == AF_UNSPEC ? "" : addr_format(addr, text));
}

/* The connections from all addresses of a list share their tickets. The texts of several addresses
 * could be longer than a key, so the key has their hash. */
static void add_sources(struct identity *key, const struct sources *sources)
{
    static const struct addr any;
    const struct addr *only = sources_only(sources);
    uint64_t hash = sources_hash(sources, 0);

    add_addr(key, only ? only : &any);
    if (sources && !only)
        secure_add(key, &hash, sizeof(hash));
}

static void add_pins(struct identity *key, const struct tls_pins *pins)
{
    uint8_t count = pins ? (uint8_t)pins->count : 0;
    secure_add(key, &count, 1);
    if (count)
        secure_add(key, pins->sha256, count * (size_t)TLS_PIN_BYTES);
}

static struct tls_rack *find_tickets(const struct secure *secure, struct upstream_env *env)
{
    const struct tls_peer_options *tls = &secure->options->tls;
    struct identity key = {.is_whole = true};

    if (!env->tickets)
        return NULL;
    buf_init(&key.key, TLS_RACK_KEY_MAX);
    add_addr(&key, secure->addr);
    add_sources(&key, secure->options->sources);
    secure_add_text(&key, tls->profile == TLS_STRICT ? "strict" : "opportunistic");
    secure_add_text(&key, tls->auth_name);
    secure_add_text(&key, tls->ca_bundle);
    secure_add_text(&key, tls->certificate);
    secure_add_text(&key, tls->key);
    secure_add_text(&key, tls->ciphers);
    secure_add_text(&key, tls->groups);
    add_pins(&key, tls->pins);
    if (secure->context) {
        struct span files = tls_context_files_id(secure->context);
        secure_add(&key, files.data, files.len);
    }
    /* An incomplete key might equal another identity's, so it gets no tickets. */
    struct tls_rack *tickets = NULL;
    if (key.is_whole)
        tickets = tls_tickets_rack(env->tickets, buf_span(&key.key));
    buf_deinit(&key.key);
    return tickets;
}

/* ---- contexts ---- */

static struct tls_context *get_context(const struct secure *secure, struct upstream_env *env)
{
    char why[TLS_WHY_MAX], text[ADDR_TEXT_MAX];

    if (!env->contexts)
        env->contexts = tls_contexts_new();
    if (!env->contexts)
        return NULL;
    struct tls_context *context = tls_contexts_get(env->contexts, &secure->options->tls, why);
    if (!context)
        LOG_SHARED(LOG_ERROR, "upstream", "%s: no TLS: %s", addr_format(secure->addr, text), why);
    return context;
}

/* Gets the tickets as well, because they depend on the contents of the files. */
static void find_context(struct secure *secure, struct upstream_env *env)
{
    secure->context = get_context(secure, env);
    secure->tickets = find_tickets(secure, env);
}

void secure_init(struct secure *secure, struct upstream_env *env, const struct addr *addr,
                 const struct upstream_options *options)
{
    *secure = (struct secure){.addr = addr, .options = options};
    find_context(secure, env);
}

bool secure_renew(struct secure *secure, struct upstream_env *env)
{
    struct tls_context *context = get_context(secure, env), *former = secure->context;

    if (!context) /* the former context is better than none */
        return false;
    secure->context = context;
    if (former)
        tls_contexts_give(env->contexts, former);
    if (context == former)
        return false;
    secure->tickets = find_tickets(secure, env);
    return true;
}

void secure_deinit(struct secure *secure, struct upstream_env *env)
{
    if (secure->context)
        tls_contexts_give(env->contexts, secure->context);
    secure->context = NULL;
}

struct tls *secure_new_tls(struct secure *secure, struct upstream_env *env)
{
    if (!secure->context)
        find_context(secure, env);
    if (!secure->context)
        return NULL;
    struct tls_peer peer = {
        .addr = secure->addr,
        .options = &secure->options->tls,
        .tickets = secure->tickets,
    };
    return tls_client(secure->context, &peer);
}

const char *secure_advice(enum err why)
{
    switch (why) {
    case ERR_TLS_NOT_SPOKEN:
        return "; check its port";
    case ERR_TLS_CLOSED:
    case ERR_TLS_SILENT:
        return "; check that it serves TLS on this port";
    case ERR_TLS_ALERT:
        return "; it may need a client-certificate, another auth-name or other tls-ciphers, or may "
               "not be a DNS server";
    case ERR_TLS_EXPIRED:
        return "; its operator has to renew it, unless the clock of this machine is wrong";
    case ERR_TLS_UNTRUSTED:
        return "; if the server is yours, set ca-bundle to the authority that signed it, or "
               "pin-sha256 to its key; otherwise another host may answer at its address";
    case ERR_TLS_NAME:
        return "; if the server is yours, set auth-name to a name in it; otherwise another host, "
               "such "
               "as a captive portal, may answer at its address";
    case ERR_TLS_PIN:
        return "; if the key was changed on purpose, add its pin to pin-sha256";
    case ERR_TLS_ALPN:
        return "; this port does not serve DNS";
    default:
        return "";
    }
}
