/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads the kernel's loss counters. The C library's struct tcp_info ends before them, and the
 * kernel's header conflicts with it, so they need a separate file. */

#include "net/tcp_holes.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

uint32_t tcp_holes_of(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return 0;
    return info.tcpi_total_retrans + info.tcpi_rcv_ooopack; /* older kernels leave 0 there */
}
