/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Sockets before they belong to a loop (every symbol of src/net/listen_socket.c): places of one
 * table that all loops of the program share. fake_listen.c takes them.
 *
 * Invariant: a place is in use until the last duplicate of its socket is closed.
 */

#include "net/listen_socket.h"

#include <stdio.h>

#include "base/check.h"
#include "support/fake_inside.h"

enum { FIRST_FD = 1000000, SOCKETS_MAX = 4096, FIRST_PORT = 61000 };

struct place {
    unsigned users;
    bool is_foreign; /* the socket belongs to another program */
    struct addr local;
    enum listen_type type;
};

static struct place places[SOCKETS_MAX];
static struct addr fail_at;
static enum err fail_why;
static uint16_t last_port;
static uid_t last_owner;

static bool overlap(const struct addr *a, const struct addr *b)
{
    return addr_family(a) == addr_family(b) && addr_port(a) == addr_port(b) &&
           (addr_is_any(a) || addr_is_any(b) || addr_equal_ip(a, b));
}

static bool is_taken(const struct listen_wish *wish)
{
    for (size_t i = 0; i < SOCKETS_MAX; i++) {
        const struct place *place = &places[i];
        if (place->users > 0 && place->type == wish->type && overlap(&place->local, &wish->addr) &&
            (place->is_foreign || !wish->is_beside_ours))
            return true;
    }
    return false;
}

static int take_place(const struct addr *local, enum listen_type type)
{
    for (size_t i = 0; i < SOCKETS_MAX; i++) {
        if (places[i].users > 0)
            continue;
        places[i] = (struct place){.users = 1, .local = *local, .type = type};
        return FIRST_FD + (int)i;
    }
    MUST(!"too many sockets");
    return -1;
}

static struct place *place_of(int fd)
{
    MUST(fd >= FIRST_FD && fd < FIRST_FD + SOCKETS_MAX && places[fd - FIRST_FD].users > 0);
    return &places[fd - FIRST_FD];
}

enum err listen_socket_open(struct listen_socket *out, const struct listen_wish *wish)
{
    struct addr local = wish->addr;

    if (fail_why && addr_equal(&local, &fail_at) &&
        !(wish->freebind && fail_why == ERR_ADDRESS_UNKNOWN))
        return fail_why;
    if (addr_port(&local) == 0)
        addr_set_port(&local, FIRST_PORT + last_port++ % 4000);
    else if (is_taken(wish))
        return ERR_ADDRESS_IN_USE;
    *out = (struct listen_socket){
        .fd = take_place(&local, wish->type), .type = wish->type, .local = local};
    return ERR_OK;
}

void listen_socket_close(struct listen_socket *socket)
{
    if (socket->fd >= 0)
        place_of(socket->fd)->users--;
    socket->fd = -1;
}

enum err listen_socket_dup(struct listen_socket *out, const struct listen_socket *socket)
{
    place_of(socket->fd)->users++;
    *out = *socket;
    out->is_shared = true;
    return ERR_OK;
}

enum err listen_socket_adopt(struct listen_socket *out, int fd, char why[LISTEN_SOCKET_WHY_MAX])
{
    if (fd < FIRST_FD) {
        snprintf(why, LISTEN_SOCKET_WHY_MAX, "it is not a socket");
        return ERR_INVALID;
    }
    *out = (struct listen_socket){.fd = fd, .is_shared = true};
    out->type = place_of(fd)->type;
    out->local = place_of(fd)->local;
    place_of(fd)->is_foreign = true;
    return ERR_OK;
}

void listen_socket_chown(const struct listen_socket *socket, uid_t user)
{
    if (socket->fd >= 0 && !socket->is_shared)
        last_owner = user;
}

void fake_net_fail_listen(struct fake_net *net, const struct addr *listen, enum err why)
{
    (void)net;
    fail_at = *listen;
    fail_why = why;
}

size_t fake_listen_sockets(void)
{
    size_t count = 0;
    for (size_t i = 0; i < SOCKETS_MAX; i++)
        count += places[i].users;
    return count;
}

struct listen_socket fake_listen_at(const struct addr *addr, enum listen_type type)
{
    struct listen_wish wish = {.addr = *addr, .type = type};
    struct listen_socket made;
    MUST(listen_socket_open(&made, &wish) == ERR_OK);
    return made;
}

int fake_foreign_socket(const struct addr *local, enum listen_type type)
{
    int fd = take_place(local, type);
    place_of(fd)->is_foreign = true;
    return fd;
}

void fake_foreign_close(int fd)
{
    place_of(fd)->users--;
}

uid_t fake_listen_owner(void)
{
    return last_owner;
}
