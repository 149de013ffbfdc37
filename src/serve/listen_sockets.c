/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes sockets for lists of addresses and remembers the lists (listen_sockets.h). server.c uses
 * the sockets.
 *
 * Invariant: each socket is in exactly one place: in given, in a share that waits to be taken, or
 * with the owner of a taken share.
 */
#include "serve/listen_sockets.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "serve/server_address.h"

struct served {
    struct addr wanted; /* as configured: port 0 stays 0 */
    struct addr local;
    enum transport stream; /* TRANSPORT_TCP: and UDP */
    bool is_lacking;       /* this machine does not have the address, so it is not served */
    bool is_kept;          /* the next list has the address too */
};

/* A list of addresses. */
struct book {
    size_t count;
    struct served list[];
};

/* An address of an earlier list: it may still be open in some worker. */
struct leaving {
    struct leaving *next;
    struct addr local;
};

struct listen_sockets {
    size_t workers;
    struct listen_socket *given; /* sockets that another process gave us; kept open to the end */
    size_t given_count;
    struct book *served; /* NULL: no list yet */
    struct book *next;   /* prepared; NULL: none */
    struct leaving *leaving;
    struct listen_share *shares[]; /* of the next list, one for each worker; NULL: taken */
};

/* ---- shares and lists ---- */

static struct listen_share *share_new(size_t count)
{
    struct listen_share *share = malloc(sizeof(*share) + count * sizeof(share->slots[0]));
    if (!share)
        return NULL;
    share->count = count;
    for (size_t i = 0; i < count; i++)
        share->slots[i] = (struct listen_slot){
            .udp = LISTEN_SOCKET_NONE, .stream = LISTEN_SOCKET_NONE, .before = SIZE_MAX};
    return share;
}

void listen_share_free(struct listen_share *share)
{
    for (size_t i = 0; share && i < share->count; i++) {
        listen_socket_close(&share->slots[i].udp);
        listen_socket_close(&share->slots[i].stream);
    }
    free(share);
}

static struct book *book_new(const struct server_options *options)
{
    size_t count = server_address_count(options);
    struct book *book = calloc(1, sizeof(*book) + count * sizeof(book->list[0]));
    if (!book)
        return NULL;
    book->count = count;
    for (size_t i = 0; i < count; i++) {
        struct server_address address = server_address_at(options, i);
        book->list[i] = (struct served){
            .wanted = *address.addr, .local = *address.addr, .stream = address.stream};
    }
    return book;
}

/* Makes the next list and its shares. False: out of memory; the caller cancels. */
static bool listen_sockets_make_room(struct listen_sockets *sockets,
                                     const struct server_options *options)
{
    sockets->next = book_new(options);
    bool has_room = sockets->next;
    for (size_t i = 0; has_room && i < sockets->workers; i++) {
        sockets->shares[i] = share_new(sockets->next->count);
        has_room = sockets->shares[i];
    }
    return has_room;
}

/* ---- addresses that are ours already ---- */

static bool overlap(const struct addr *a, const struct addr *b)
{
    return addr_family(a) == addr_family(b) && addr_port(a) == addr_port(b) &&
           (addr_is_any(a) || addr_is_any(b) || addr_equal_ip(a, b));
}

static bool overlaps_book(const struct book *book, size_t count, const struct addr *addr)
{
    for (size_t i = 0; book && i < count; i++) {
        if (!book->list[i].is_lacking && overlap(&book->list[i].local, addr))
            return true;
    }
    return false;
}

/* Whether a socket of ours may be bound there: of the served list, of the next list before this
 * number, or of an address that is leaving. */
static bool is_beside_ours(const struct listen_sockets *sockets, size_t which,
                           const struct addr *addr)
{
    const struct book *served = sockets->served;
    if (overlaps_book(served, served ? served->count : 0, addr) ||
        overlaps_book(sockets->next, which, addr))
        return true;
    for (const struct leaving *leaving = sockets->leaving; leaving; leaving = leaving->next) {
        if (overlap(&leaving->local, addr))
            return true;
    }
    return false;
}

/* The number of the same address in the served list; SIZE_MAX: it is new. */
static size_t find_served(const struct listen_sockets *sockets, const struct served *wanted)
{
    struct book *served = sockets->served;
    for (size_t i = 0; served && i < served->count; i++) {
        struct served *here = &served->list[i];
        if (!here->is_lacking && !here->is_kept && here->stream == wanted->stream &&
            addr_equal(&here->wanted, &wanted->wanted))
            return i;
    }
    return SIZE_MAX;
}

/* ---- opening ---- */

static const struct listen_socket *find_given(const struct listen_sockets *sockets,
                                              const struct addr *addr, enum listen_type type)
{
    for (size_t i = 0; i < sockets->given_count; i++) {
        if (sockets->given[i].type == type && addr_equal(&sockets->given[i].local, addr))
            return &sockets->given[i];
    }
    return NULL;
}

static enum err listen_sockets_open_socket(const struct listen_sockets *sockets,
                                           struct listen_socket *out,
                                           const struct listen_wish *wish)
{
    const struct listen_socket *given = find_given(sockets, &wish->addr, wish->type);
    return given ? listen_socket_dup(out, given) : listen_socket_open(out, wish);
}

/* Opens a socket for each worker, all at the address of the first one. */
static enum err open_for_all(struct listen_sockets *sockets, size_t which, struct listen_wish wish)
{
    for (size_t worker = 0; worker < sockets->workers; worker++) {
        struct listen_slot *slot = &sockets->shares[worker]->slots[which];
        struct listen_socket *out = wish.type == LISTEN_UDP ? &slot->udp : &slot->stream;
        slot->transport = sockets->next->list[which].stream;
        enum err err = listen_sockets_open_socket(sockets, out, &wish);
        if (err)
            return err;
        wish.addr = sockets->next->list[which].local = out->local;
        wish.is_beside_ours = true;
    }
    return ERR_OK;
}

static enum err open_address(struct listen_sockets *sockets, size_t which, bool freebind)
{
    struct served *address = &sockets->next->list[which];
    struct listen_wish wish = {.addr = address->wanted, .type = LISTEN_UDP, .freebind = freebind};
    wish.is_beside_ours = is_beside_ours(sockets, which, &wish.addr);
    enum err err = address->stream == TRANSPORT_TCP ? open_for_all(sockets, which, wish) : ERR_OK;
    if (err)
        return err;
    wish.type = LISTEN_TCP;
    wish.addr = address->local;
    return open_for_all(sockets, which, wish);
}

static void listen_sockets_keep(struct listen_sockets *sockets, size_t which, size_t before)
{
    sockets->served->list[before].is_kept = true;
    sockets->next->list[which].local = sockets->served->list[before].local;
    for (size_t worker = 0; worker < sockets->workers; worker++)
        sockets->shares[worker]->slots[which].before = before;
}

static void warn_lacking(const struct addr *addr)
{
    char text[ADDR_TEXT_MAX];
    LOG(LOG_WARNING, "serve", "not listening on %s: %s", addr_format(addr, text),
        err_str(ERR_ADDRESS_UNKNOWN));
}

/* Closes the sockets that some workers may have at an address that the others could not get. */
static void listen_sockets_leave_out(struct listen_sockets *sockets, size_t which)
{
    sockets->next->list[which].is_lacking = true;
    for (size_t worker = 0; worker < sockets->workers; worker++) {
        listen_socket_close(&sockets->shares[worker]->slots[which].udp);
        listen_socket_close(&sockets->shares[worker]->slots[which].stream);
    }
    warn_lacking(&sockets->next->list[which].wanted);
}

static enum err open_list(struct listen_sockets *sockets, bool freebind, size_t *which)
{
    struct book *next = sockets->next;
    size_t lacking = 0;
    for (size_t i = 0; i < next->count; i++) {
        size_t before = find_served(sockets, &next->list[i]);
        if (before != SIZE_MAX) {
            listen_sockets_keep(sockets, i, before);
            continue;
        }
        *which = i;
        enum err err = open_address(sockets, i, freebind);
        if (err && err != ERR_ADDRESS_UNKNOWN)
            return err;
        if (err)
            listen_sockets_leave_out(sockets, i);
        lacking += err == ERR_ADDRESS_UNKNOWN;
    }
    return lacking > 0 && lacking == next->count ? ERR_ADDRESS_UNKNOWN : ERR_OK;
}

enum err listen_sockets_prepare(struct listen_sockets *sockets,
                                const struct server_options *options, size_t *which)
{
    MUST(!sockets->next);
    *which = 0;
    enum err err = listen_sockets_make_room(sockets, options)
                       ? open_list(sockets, options->freebind, which)
                       : ERR_NO_MEMORY;
    if (err)
        listen_sockets_cancel(sockets);
    return err;
}

/* ---- changing lists ---- */

struct listen_share *listen_sockets_take(struct listen_sockets *sockets, size_t worker)
{
    MUST(worker < sockets->workers && sockets->shares[worker]);
    struct listen_share *share = sockets->shares[worker];
    sockets->shares[worker] = NULL;
    return share;
}

/* Without memory for the note, the address is only harder to add again within the next seconds. */
static void note_leaving(struct listen_sockets *sockets, const struct served *address)
{
    for (const struct leaving *here = sockets->leaving; here; here = here->next) {
        if (addr_equal(&here->local, &address->local))
            return;
    }
    struct leaving *leaving = malloc(sizeof(*leaving));
    if (!leaving)
        return;
    *leaving = (struct leaving){.next = sockets->leaving, .local = address->local};
    sockets->leaving = leaving;
}

void listen_sockets_commit(struct listen_sockets *sockets)
{
    struct book *served = sockets->served;
    MUST(sockets->next);
    for (size_t i = 0; i < sockets->workers; i++)
        MUST(!sockets->shares[i]);
    for (size_t i = 0; served && i < served->count; i++) {
        if (!served->list[i].is_kept && !served->list[i].is_lacking)
            note_leaving(sockets, &served->list[i]);
    }
    free(served);
    sockets->served = sockets->next;
    sockets->next = NULL;
}

void listen_sockets_cancel(struct listen_sockets *sockets)
{
    for (size_t i = 0; i < sockets->workers; i++) {
        listen_share_free(sockets->shares[i]);
        sockets->shares[i] = NULL;
    }
    for (size_t i = 0; sockets->served && i < sockets->served->count; i++)
        sockets->served->list[i].is_kept = false;
    free(sockets->next);
    sockets->next = NULL;
}

void listen_sockets_settle(struct listen_sockets *sockets)
{
    for (struct leaving *leaving; (leaving = sockets->leaving) != NULL;) {
        sockets->leaving = leaving->next;
        free(leaving);
    }
}

const struct addr *listen_sockets_local(const struct listen_sockets *sockets, size_t which)
{
    const struct book *book = sockets->next ? sockets->next : sockets->served;
    MUST(book && which < book->count);
    return book->list[which].is_lacking ? NULL : &book->list[which].local;
}

void listen_sockets_chown(const struct listen_sockets *sockets, uid_t user)
{
    for (size_t i = 0; i < sockets->workers; i++) {
        const struct listen_share *share = sockets->shares[i];
        for (size_t j = 0; share && j < share->count; j++) {
            listen_socket_chown(&share->slots[j].udp, user);
            listen_socket_chown(&share->slots[j].stream, user);
        }
    }
}

/* ---- sockets of others ---- */

static bool listen_sockets_serves(const struct listen_socket *given,
                                  const struct server_options *options)
{
    for (size_t i = 0; i < server_address_count(options); i++) {
        struct server_address address = server_address_at(options, i);
        if (addr_equal(address.addr, &given->local) &&
            (given->type == LISTEN_TCP || server_address_has_udp(address)))
            return true;
    }
    return false;
}

static enum err adopt_one(struct listen_socket *out, int fd, const struct server_options *options,
                          char why[LISTEN_SOCKETS_WHY_MAX])
{
    char wrong[LISTEN_SOCKET_WHY_MAX], text[ADDR_TEXT_MAX];
    if (listen_socket_adopt(out, fd, wrong)) {
        snprintf(why, LISTEN_SOCKETS_WHY_MAX, "descriptor %d: %s", fd, wrong);
        return ERR_INVALID;
    }
    if (listen_sockets_serves(out, options))
        return ERR_OK;
    addr_format(&out->local, text);
    snprintf(why, LISTEN_SOCKETS_WHY_MAX,
             "descriptor %d is bound to %s over %s, which is not served; add it to %s, or take it "
             "out of the socket unit",
             fd, text, out->type == LISTEN_UDP ? "UDP" : "TCP",
             out->type == LISTEN_UDP ? "server.listen"
                                     : "server.listen, server.listen-tls or server.listen-https");
    return ERR_INVALID;
}

enum err listen_sockets_adopt(struct listen_sockets *sockets, const int *fds, size_t count,
                              const struct server_options *options,
                              char why[LISTEN_SOCKETS_WHY_MAX])
{
    MUST(!sockets->given && !sockets->served && !sockets->next);
    struct listen_socket *given = calloc(count + 1, sizeof(*given));
    if (!given) {
        snprintf(why, LISTEN_SOCKETS_WHY_MAX, "%s", err_str(ERR_NO_MEMORY));
        return ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        enum err err = adopt_one(&given[i], fds[i], options, why);
        if (err) {
            free(given);
            return err;
        }
    }
    sockets->given = given;
    sockets->given_count = count;
    return ERR_OK;
}

/* ---- life ---- */

struct listen_sockets *listen_sockets_new(size_t workers)
{
    MUST(workers > 0);
    struct listen_sockets *sockets =
        calloc(1, sizeof(*sockets) + workers * sizeof(sockets->shares[0]));
    if (sockets)
        sockets->workers = workers;
    return sockets;
}

void listen_sockets_free(struct listen_sockets *sockets)
{
    if (!sockets)
        return;
    listen_sockets_cancel(sockets);
    listen_sockets_settle(sockets);
    for (size_t i = 0; i < sockets->given_count; i++)
        listen_socket_close(&sockets->given[i]);
    free(sockets->given);
    free(sockets->served);
    free(sockets);
}
