/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Opens the listening sockets for clients (listen_socket.h). udp_server.c and acceptor.c read them.
 * Stateless.
 */

#include "net/listen_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/tcp.h"

enum {
    BACKLOG = 4096,
    RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024,
};

static void set_udp_options(int fd, const struct addr *local)
{
    bool v6 = addr_family(local) == AF_INET6;

    if (!socket_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES))
        socket_set(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
    /* Ignores learnt path MTUs: a forged "fragmentation needed" must not shrink or lose our
     * answers. */
    if (v6)
        socket_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
    else
        socket_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
    if (addr_is_any(local) && v6)
        socket_set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    else if (addr_is_any(local))
        socket_set(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

/* Accepted sockets inherit all options, which saves system calls per connection. Loopback has no
 * narrow path, and its 64 KiB packets let the kernel take more answers at once. The kernel doubles
 * the buffer sizes. */
static void set_tcp_options(int fd, const struct addr *local)
{
    socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    socket_set(fd, SOL_SOCKET, SO_SNDBUF, LISTEN_SOCKET_SEND_BYTES / 2);
    socket_set(fd, SOL_SOCKET, SO_RCVBUF, LISTEN_SOCKET_RECEIVE_BYTES / 2);
    socket_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, LISTEN_SOCKET_NOT_SENT_BYTES);
    socket_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, LISTEN_SOCKET_USER_TIMEOUT_MS);
    if (!addr_is_loopback(local))
        socket_set(fd, IPPROTO_TCP, TCP_MAXSEG, TCP_SEGMENT_BYTES);
}

static void listen_socket_set_options(const struct listen_socket *socket)
{
    if (socket->type == LISTEN_UDP)
        set_udp_options(socket->fd, &socket->local);
    else
        set_tcp_options(socket->fd, &socket->local);
}

static bool set_freebind(int fd, int family)
{
    if (family == AF_INET6)
        return socket_set(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1);
    return socket_set(fd, IPPROTO_IP, IP_FREEBIND, 1);
}

/* Binds the first socket of an address alone and lets others share the address afterwards. So the
 * kernel detects another process there, and no process can come between the check and the bind. */
static enum err bind_wish(int fd, const struct listen_wish *wish)
{
    int family = addr_family(&wish->addr);
    int type = wish->type == LISTEN_UDP ? SOCK_DGRAM : SOCK_STREAM;

    if (wish->freebind && !set_freebind(fd, family))
        return err_from_errno(errno);
    enum err err = socket_bind_listen(fd, type, &wish->addr, wish->is_beside_ours);
    if (!err && !socket_set(fd, SOL_SOCKET, SO_REUSEPORT, 1))
        return err_from_errno(errno);
    return err;
}

static enum err listen_socket_start(struct listen_socket *socket, const struct listen_wish *wish)
{
    enum err err = bind_wish(socket->fd, wish);

    if (!err)
        err = socket_local(socket->fd, &socket->local);
    if (err)
        return err;
    listen_socket_set_options(socket);
    if (wish->type == LISTEN_TCP && listen(socket->fd, BACKLOG) != 0)
        return err_from_errno(errno);
    return ERR_OK;
}

enum err listen_socket_open(struct listen_socket *out, const struct listen_wish *wish)
{
    struct listen_socket made = {.type = wish->type};
    int type = wish->type == LISTEN_UDP ? SOCK_DGRAM : SOCK_STREAM;
    enum err err = socket_open(&made.fd, addr_family(&wish->addr), type);

    if (err)
        return err;
    err = listen_socket_start(&made, wish);
    if (err) {
        close(made.fd);
        return err;
    }
    *out = made;
    return ERR_OK;
}

void listen_socket_close(struct listen_socket *socket)
{
    if (socket->fd >= 0)
        close(socket->fd);
    socket->fd = -1;
}

enum err listen_socket_dup(struct listen_socket *out, const struct listen_socket *socket)
{
    int fd = fcntl(socket->fd, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return err_from_errno(errno);
    *out = *socket;
    out->fd = fd;
    out->is_shared = true;
    return ERR_OK;
}

void listen_socket_chown(const struct listen_socket *socket, uid_t user)
{
    if (socket->fd >= 0 && !socket->is_shared)
        (void)!fchown(socket->fd, user, (gid_t)-1);
}

/* ---- sockets from another process ---- */

static int option_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);
    return getsockopt(fd, level, option, &value, &len) == 0 ? value : -1;
}

/* Its IPv4 clients would appear as ::ffff:192.0.2.1, which no IPv4 prefix contains. */
static bool takes_v4_over_v6(const struct listen_socket *socket)
{
    if (option_of(socket->fd, SOL_SOCKET, SO_DOMAIN) != AF_INET6)
        return false;
    return addr_family(&socket->local) == AF_INET ||
           (addr_is_any(&socket->local) && option_of(socket->fd, IPPROTO_IPV6, IPV6_V6ONLY) != 1);
}

static enum err listen_socket_complain(char why[LISTEN_SOCKET_WHY_MAX], const char *what)
{
    snprintf(why, LISTEN_SOCKET_WHY_MAX, "%s", what);
    return ERR_INVALID;
}

static enum err examine_given(struct listen_socket *socket, char why[LISTEN_SOCKET_WHY_MAX])
{
    int type = option_of(socket->fd, SOL_SOCKET, SO_TYPE);

    if (type < 0)
        return listen_socket_complain(why, "it is not a socket");
    if ((type != SOCK_DGRAM && type != SOCK_STREAM) || socket_local(socket->fd, &socket->local))
        return listen_socket_complain(
            why, "it is neither UDP nor TCP; use ListenDatagram= or ListenStream= "
                 "with an address and a port");
    socket->type = type == SOCK_DGRAM ? LISTEN_UDP : LISTEN_TCP;
    if (socket->type == LISTEN_TCP && option_of(socket->fd, SOL_SOCKET, SO_ACCEPTCONN) != 1)
        return listen_socket_complain(why, "it does not listen; set Accept=no");
    if (takes_v4_over_v6(socket))
        return listen_socket_complain(why, "it takes IPv4 too; set BindIPv6Only=ipv6-only");
    return ERR_OK;
}

enum err listen_socket_adopt(struct listen_socket *out, int fd, char why[LISTEN_SOCKET_WHY_MAX])
{
    struct listen_socket given = {.fd = fd, .is_shared = true};
    enum err err = examine_given(&given, why);

    if (err)
        return err;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return listen_socket_complain(why, "it cannot be made non-blocking");
    listen_socket_set_options(&given);
    *out = given;
    return ERR_OK;
}
