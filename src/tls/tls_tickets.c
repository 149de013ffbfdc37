/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Keeps stacks of tickets by identity (tls_tickets.h), saves them to a file and loads them.
 *
 * Invariant: a session in a rack belongs to the rack alone, so no connection of another thread
 * changes it. The lock guards the table and the stacks. Threads hold it to move pointers and, while
 * saving, to copy one rack, but never to parse sessions or to write files.
 *
 * Racks are never removed: older links all of them, newest first, and can be followed without the
 * lock.
 */

#include "tls/tls_tickets.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/private_file.h"
#include "base/rand.h"
#include "tls/tls_tickets_format.h"

enum { FIRST_BUCKETS = 64 };

struct tls_rack {
    struct tls_tickets *tickets;
    struct tls_rack *next;  /* the next rack of the bucket */
    struct tls_rack *older; /* made before it */
    uint64_t hash;
    size_t count;
    SSL_SESSION *stack[TLS_RACK_TICKETS_MAX]; /* the newest last */
    size_t key_len;
    uint8_t key[];
};

struct tls_tickets {
    pthread_mutex_t lock;
    pthread_mutex_t saving; /* one writer of a file at a time */
    uint64_t seed;
    struct tls_rack **buckets;
    size_t bucket_count; /* a power of two */
    size_t rack_count;
    struct tls_rack *newest;
};

/* ---------------------------------------------------------------- racks */

struct tls_tickets *tls_tickets_new(void)
{
    struct tls_tickets *tickets = calloc(1, sizeof(*tickets));

    if (!tickets)
        return NULL;
    tickets->buckets = calloc(FIRST_BUCKETS, sizeof(struct tls_rack *));
    if (!tickets->buckets) {
        free(tickets);
        return NULL;
    }
    MUST(pthread_mutex_init(&tickets->lock, NULL) == 0);
    MUST(pthread_mutex_init(&tickets->saving, NULL) == 0);
    tickets->bucket_count = FIRST_BUCKETS;
    tickets->seed = rand_u64();
    return tickets;
}

static void rack_free(struct tls_rack *rack)
{
    for (size_t i = 0; i < rack->count; i++)
        SSL_SESSION_free(rack->stack[i]);
    free(rack);
}

void tls_tickets_free(struct tls_tickets *tickets)
{
    if (!tickets)
        return;
    for (struct tls_rack *older; tickets->newest; tickets->newest = older) {
        older = tickets->newest->older;
        rack_free(tickets->newest);
    }
    MUST(pthread_mutex_destroy(&tickets->lock) == 0);
    MUST(pthread_mutex_destroy(&tickets->saving) == 0);
    free(tickets->buckets);
    free(tickets);
}

static struct tls_rack **bucket(const struct tls_tickets *tickets, uint64_t hash)
{
    return &tickets->buckets[hash & (tickets->bucket_count - 1)];
}

/* Without memory the table keeps its size: longer chains are better than no rack. */
static void tls_tickets_grow(struct tls_tickets *tickets)
{
    size_t count = tickets->bucket_count * 2;
    struct tls_rack **buckets = calloc(count, sizeof(struct tls_rack *));

    if (!buckets)
        return;
    free(tickets->buckets);
    tickets->buckets = buckets;
    tickets->bucket_count = count;
    for (struct tls_rack *rack = tickets->newest; rack; rack = rack->older) {
        rack->next = *bucket(tickets, rack->hash);
        *bucket(tickets, rack->hash) = rack;
    }
}

static struct tls_rack *tls_tickets_find(const struct tls_tickets *tickets, struct span key,
                                         uint64_t hash)
{
    struct tls_rack *rack = *bucket(tickets, hash);

    while (rack && !(rack->hash == hash && span_equal(span_of(rack->key, rack->key_len), key)))
        rack = rack->next;
    return rack;
}

static struct tls_rack *tls_tickets_add(struct tls_tickets *tickets, struct span key, uint64_t hash)
{
    struct tls_rack *rack;

    if (tickets->rack_count == TLS_RACKS_MAX)
        return NULL;
    rack = calloc(1, sizeof(*rack) + key.len);
    if (!rack)
        return NULL;
    rack->tickets = tickets;
    rack->hash = hash;
    rack->key_len = key.len;
    if (key.len)
        memcpy(rack->key, key.data, key.len);
    if (tickets->rack_count++ == tickets->bucket_count)
        tls_tickets_grow(tickets);
    rack->next = *bucket(tickets, hash);
    *bucket(tickets, hash) = rack;
    rack->older = tickets->newest;
    tickets->newest = rack;
    return rack;
}

struct tls_rack *tls_tickets_rack(struct tls_tickets *tickets, struct span key)
{
    uint64_t hash = hash_bytes(key.data, key.len, tickets->seed);
    struct tls_rack *rack;

    if (key.len > TLS_RACK_KEY_MAX)
        return NULL;
    pthread_mutex_lock(&tickets->lock);
    rack = tls_tickets_find(tickets, key, hash);
    if (!rack)
        rack = tls_tickets_add(tickets, key, hash);
    pthread_mutex_unlock(&tickets->lock);
    return rack;
}

size_t tls_rack_count(const struct tls_rack *rack)
{
    size_t count;

    pthread_mutex_lock(&rack->tickets->lock);
    count = rack->count;
    pthread_mutex_unlock(&rack->tickets->lock);
    return count;
}

/* ---------------------------------------------------------------- put and take */

int64_t tls_tickets_given_at(const SSL_SESSION *session)
{
#if OPENSSL_VERSION_NUMBER >= 0x30300000L
    return (int64_t)SSL_SESSION_get_time_ex(session); /* 3.4 deprecates the older function */
#else
    return (int64_t)SSL_SESSION_get_time(session);
#endif
}

/* RFC 8446 section 4.6.1: a lifetime of 0 forbids use; RFC 5077 section 3.3: 0 leaves it open. */
static int64_t lifetime_s(const SSL_SESSION *session)
{
    uint64_t hint_s = SSL_SESSION_get_ticket_lifetime_hint(session);

    if (hint_s == 0 && SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION)
        hint_s = (uint64_t)MAX(SSL_SESSION_get_timeout(session), 0L);
    return (int64_t)MIN(hint_s, (uint64_t)TLS_TICKET_AGE_MAX_S);
}

static bool is_certificate_valid(const SSL_SESSION *session, int64_t now_s)
{
    const X509 *peer = SSL_SESSION_get0_peer((SSL_SESSION *)session);

    if (!peer)
        return true;
    int order = ASN1_TIME_cmp_time_t(X509_get0_notAfter(peer), (time_t)now_s);
    return order == 0 || order == 1;
}

/* The ticket allows resumption, has not outlived its lifetime, was not received in the future (the
 * clock was set back meanwhile), and the certificate of its peer has not expired. */
static bool is_ticket_good(const SSL_SESSION *session, int64_t now_s)
{
    int64_t age_s;

    return SSL_SESSION_is_resumable(session) &&
           !__builtin_sub_overflow(now_s, tls_tickets_given_at(session), &age_s) &&
           age_s >= -TLS_TICKET_AHEAD_MAX_S && MAX(age_s, 0) < lifetime_s(session) &&
           is_certificate_valid(session, now_s);
}

/* Servers choose the size of their tickets and certificates, so a size bound is needed. */
static bool is_worth_keeping(const SSL_SESSION *session)
{
    return SSL_SESSION_is_resumable(session) &&
           i2d_SSL_SESSION(session, NULL) <= TLS_TICKET_BYTES_MAX;
}

/* Returns the oldest ticket if it had to make room, else NULL. */
static SSL_SESSION *push_ticket(struct tls_rack *rack, SSL_SESSION *session)
{
    SSL_SESSION *oldest = NULL;

    if (rack->count == TLS_RACK_TICKETS_MAX) {
        oldest = rack->stack[0];
        rack->count--;
        memmove(&rack->stack[0], &rack->stack[1], rack->count * sizeof(SSL_SESSION *));
    }
    rack->stack[rack->count++] = session;
    return oldest;
}

void tls_rack_put(struct tls_rack *rack, struct ssl_session_st *session)
{
    SSL_SESSION *copy = is_worth_keeping(session) ? SSL_SESSION_dup(session) : NULL;

    SSL_SESSION_free(session);
    if (!copy)
        return;
    pthread_mutex_lock(&rack->tickets->lock);
    copy = push_ticket(rack, copy);
    pthread_mutex_unlock(&rack->tickets->lock);
    SSL_SESSION_free(copy);
}

struct ssl_session_st *tls_rack_take(struct tls_rack *rack, int64_t now_s)
{
    SSL_SESSION *top;

    for (;;) {
        pthread_mutex_lock(&rack->tickets->lock);
        top = rack->count > 0 ? rack->stack[--rack->count] : NULL;
        pthread_mutex_unlock(&rack->tickets->lock);
        if (!top || is_ticket_good(top, now_s))
            return top;
        SSL_SESSION_free(top);
    }
}

/* ---------------------------------------------------------------- saving */

/* Copies the tickets: a connection that takes one meanwhile would change it under the encoder. */
static size_t copy_rack(struct tls_rack *rack, int64_t now_s,
                        SSL_SESSION *copies[TLS_RACK_TICKETS_MAX])
{
    size_t count = 0;

    pthread_mutex_lock(&rack->tickets->lock);
    for (size_t i = 0; i < rack->count; i++) {
        if (!is_ticket_good(rack->stack[i], now_s))
            continue;
        copies[count] = SSL_SESSION_dup(rack->stack[i]);
        count += copies[count] != NULL;
    }
    pthread_mutex_unlock(&rack->tickets->lock);
    return count;
}

static void write_session(struct tls_tickets_writer *writer, SSL_SESSION *session)
{
    int len = i2d_SSL_SESSION(session, NULL);
    uint8_t *room = len > 0 ? tls_tickets_write_ticket(writer, (size_t)len) : NULL;

    if (room)
        MUST(i2d_SSL_SESSION(session, &room) == len);
}

static void write_rack(struct tls_tickets_writer *writer, struct tls_rack *rack, int64_t now_s)
{
    SSL_SESSION *copies[TLS_RACK_TICKETS_MAX];
    size_t count = copy_rack(rack, now_s, copies);

    if (count > 0 && tls_tickets_write_rack(writer, span_of(rack->key, rack->key_len))) {
        for (size_t i = 0; i < count; i++)
            write_session(writer, copies[i]);
    }
    for (size_t i = 0; i < count; i++)
        SSL_SESSION_free(copies[i]);
}

static enum err tls_tickets_write_file(struct tls_tickets *tickets,
                                       struct tls_tickets_writer *writer, const char *path,
                                       int64_t now_s)
{
    struct tls_rack *newest;

    pthread_mutex_lock(&tickets->lock);
    newest = tickets->newest;
    pthread_mutex_unlock(&tickets->lock);
    for (struct tls_rack *rack = newest; rack; rack = rack->older)
        write_rack(writer, rack, now_s);
    return private_file_replace(path, tls_tickets_write_end(writer));
}

bool tls_tickets_is_foreign(const char *path)
{
    return private_file_is_foreign(path, tls_tickets_magic());
}

enum err tls_tickets_save(struct tls_tickets *tickets, const char *path, int64_t now_s)
{
    struct tls_tickets_writer writer;
    enum err err;

    if (tls_tickets_is_foreign(path))
        return ERR_FOREIGN;
    if (!tls_tickets_writer_init(&writer))
        return ERR_NO_MEMORY;
    pthread_mutex_lock(&tickets->saving);
    err = tls_tickets_write_file(tickets, &writer, path, now_s);
    pthread_mutex_unlock(&tickets->saving);
    tls_tickets_writer_deinit(&writer);
    return err;
}

/* ---------------------------------------------------------------- loading */

struct loaded {
    struct span key; /* borrows the file's bytes */
    SSL_SESSION *session;
};

/* All sessions of a file: none is kept before the whole file has parsed. */
struct load {
    struct loaded *items;
    size_t count, cap;
    bool no_memory;
};

static bool grow_load(struct load *load)
{
    size_t cap = MAX((size_t)64, load->cap * 2);
    struct loaded *items;

    if (load->count < load->cap)
        return true;
    items = realloc(load->items, cap * sizeof(*items));
    load->no_memory = !items;
    if (!items)
        return false;
    load->items = items;
    load->cap = cap;
    return true;
}

static bool tls_tickets_on_ticket(void *owner, struct span key, struct span ticket)
{
    struct load *load = owner;
    const uint8_t *at = ticket.data;
    SSL_SESSION *session;

    if (!grow_load(load))
        return false;
    session = d2i_SSL_SESSION(NULL, &at, (long)ticket.len);
    if (!session)
        return false;
    load->items[load->count++] = (struct loaded){key, session};
    return at == ticket.data + ticket.len;
}

/* Puts a loaded ticket below the present ones, which are newer. Returns false when the stack is
 * full. */
static bool push_below(struct tls_rack *rack, SSL_SESSION *session)
{
    bool fits;

    pthread_mutex_lock(&rack->tickets->lock);
    fits = rack->count < TLS_RACK_TICKETS_MAX;
    if (fits) {
        memmove(&rack->stack[1], &rack->stack[0], rack->count * sizeof(SSL_SESSION *));
        rack->stack[0] = session;
        rack->count++;
    }
    pthread_mutex_unlock(&rack->tickets->lock);
    return fits;
}

/* Runs from the newest to the oldest ticket of each rack, so a full stack leaves out the oldest. */
static enum err tls_tickets_keep(struct tls_tickets *tickets, struct load *load, int64_t now_s,
                                 size_t *count)
{
    enum err err = ERR_OK;

    for (size_t i = load->count; i-- > 0;) {
        struct loaded *item = &load->items[i];
        struct tls_rack *rack = NULL;
        if (!is_ticket_good(item->session, now_s))
            continue;
        rack = tls_tickets_rack(tickets, item->key);
        if (!rack) {
            err = ERR_LIMIT;
        } else if (push_below(rack, item->session)) {
            item->session = NULL;
            ++*count;
        }
    }
    return err;
}

enum err tls_tickets_load_bytes(struct tls_tickets *tickets, struct span bytes, int64_t now_s,
                                size_t *count)
{
    struct load load = {0};
    enum err err = ERR_OK;

    *count = 0;
    ERR_clear_error();
    if (tls_tickets_parse(bytes, tls_tickets_on_ticket, &load))
        err = tls_tickets_keep(tickets, &load, now_s, count);
    else
        err = load.no_memory ? ERR_NO_MEMORY : ERR_INVALID;
    for (size_t i = 0; i < load.count; i++)
        SSL_SESSION_free(load.items[i].session);
    free(load.items);
    ERR_clear_error();
    return err;
}

enum err tls_tickets_load(struct tls_tickets *tickets, const char *path, int64_t now_s,
                          size_t *count)
{
    uint8_t *data;
    size_t len;
    enum err err = private_file_read(path, TLS_TICKETS_FILE_MAX, &data, &len);

    *count = 0;
    if (err)
        return err;
    err = tls_tickets_load_bytes(tickets, span_of(data, len), now_s, count);
    private_file_wipe(data, len);
    return err;
}
