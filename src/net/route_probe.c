/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A datagram socket that connects looks up its route and sends nothing. */

#include "net/route_probe.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/socket.h"

bool route_probe(const struct addr *to)
{
    int fd;
    enum err err = socket_open(&fd, addr_family(to), SOCK_DGRAM);

    if (err)
        return err != ERR_ADDRESS_UNKNOWN;
    bool is_lost = connect(fd, &to->sa, addr_len(to)) != 0 &&
                   (errno == ENETUNREACH || errno == EHOSTUNREACH || errno == EADDRNOTAVAIL ||
                    errno == ENETDOWN || errno == EINVAL);
    close(fd);
    return !is_lost;
}
