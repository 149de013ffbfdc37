/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Socket calls with enum err (socket.h). Stateless. */

#include "net/socket.h"

#include <errno.h>
#include <unistd.h>

enum err socket_open(int *fd, int family, int type)
{
    *fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd >= 0)
        return ERR_OK;
    /* A kernel without IPv6 has no address of that family. */
    return errno == EAFNOSUPPORT ? ERR_ADDRESS_UNKNOWN : err_from_errno(errno);
}

bool socket_set(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

enum err socket_bind_listen(int fd, int type, const struct addr *listen, bool reuse_port)
{
    /* Without V6ONLY a wildcard socket would also take the IPv4 port of our other socket. */
    if (addr_family(listen) == AF_INET6 && !socket_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1))
        return err_from_errno(errno);
    if (type == SOCK_STREAM && !socket_set(fd, SOL_SOCKET, SO_REUSEADDR, 1))
        return err_from_errno(errno);
    if (reuse_port && !socket_set(fd, SOL_SOCKET, SO_REUSEPORT, 1))
        return err_from_errno(errno);
    return bind(fd, &listen->sa, addr_len(listen)) == 0 ? ERR_OK : err_from_errno(errno);
}

enum err socket_bind_source(int fd, const struct addr *source, bool is_foreign)
{
    if (is_foreign) /* the option concerns IPv6 sockets, too */
        socket_set(fd, IPPROTO_IP, IP_FREEBIND, 1);
    /* Delays the draw of the port to connect(), where only the pair with the peer must be free. */
    if (addr_port(source) == 0)
        socket_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    return bind(fd, &source->sa, addr_len(source)) == 0 ? ERR_OK : err_from_errno(errno);
}

enum err socket_connect(int fd, const struct addr *peer, bool is_bound)
{
    if (connect(fd, &peer->sa, addr_len(peer)) == 0 || errno == EINPROGRESS)
        return ERR_OK;
    /* UDP reports EAGAIN and TCP reports EADDRNOTAVAIL. bind() has found the address itself. */
    if (errno == EAGAIN || (is_bound && errno == EADDRNOTAVAIL))
        return ERR_NO_PORT;
    return err_from_errno(errno);
}

enum err socket_error(int fd)
{
    int number = 0;
    socklen_t len = sizeof(number);

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &len) != 0)
        number = errno;
    return number == 0 ? ERR_OK : err_from_errno(number);
}

bool socket_address_is_gone(const struct addr *local)
{
    struct addr any_port = *local;
    int fd;

    addr_set_port(&any_port, 0);
    if (socket_open(&fd, addr_family(local), SOCK_DGRAM) != ERR_OK)
        return false;
    bool gone = bind(fd, &any_port.sa, addr_len(&any_port)) != 0 &&
                (errno == EADDRNOTAVAIL || errno == ENODEV);
    close(fd);
    return gone;
}

enum err socket_local(int fd, struct addr *out)
{
    struct sockaddr_storage name;
    socklen_t len = sizeof(name);

    if (getsockname(fd, (struct sockaddr *)&name, &len) != 0)
        return err_from_errno(errno);
    return addr_from_sockaddr(out, (struct sockaddr *)&name);
}
