/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The list of a listener's connections, their memory, and the black hole on their path. */

#include "responder.h"

#include <linux/filter.h>
#include <stdlib.h>
#include <sys/socket.h>

void responder_conn_free(struct conn *conn)
{
    tls_stream_free(conn->tls);
    buf_deinit(&conn->out);
    free(conn);
}

void responder_conn_each(struct listener *listener, void (*act)(struct conn *conn))
{
    LIST_EACH(node, &listener->conns)
    act(LIST_ITEM(node, struct conn, node));
}

bool socket_drops_all(int fd, bool drops)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog program = {.len = 1, .filter = &nothing};
    int unused = 0;
    if (drops)
        return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
    return setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused)) == 0;
}
