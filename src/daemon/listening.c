/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A list of the addresses of the sockets, made before any step that cannot be undone. */

#include "daemon/listening.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/server_address.h"

struct listening {
    size_t plain, tls, https;
    struct addr list[]; /* in this order */
};

static struct listening *listening_new(const struct listen_sockets *sockets,
                                       const struct server_options *options)
{
    size_t count = server_address_count(options);
    struct listening *listening = calloc(1, sizeof(*listening) + count * sizeof(struct addr));

    for (size_t i = 0; listening && i < count; i++) {
        const struct addr *local = listen_sockets_local(sockets, i);
        if (!local)
            continue;
        listening->list[listening->plain + listening->tls + listening->https] = *local;
        enum transport stream = server_address_at(options, i).stream;
        listening->plain += stream == TRANSPORT_TCP;
        listening->tls += stream == TRANSPORT_TLS;
        listening->https += stream == TRANSPORT_HTTPS;
    }
    return listening;
}

struct listening *listening_prepare(struct listen_sockets *sockets,
                                    const struct server_options *options,
                                    char why[REFUSAL_TEXT_MAX])
{
    size_t which;
    enum err err = listen_sockets_prepare(sockets, options, &which);

    snprintf(why, REFUSAL_TEXT_MAX, "out of memory");
    if (err && err != ERR_NO_MEMORY)
        refusal_listen(server_address_at(options, which), err, why);
    if (err)
        return NULL;
    struct listening *listening = listening_new(sockets, options);
    if (!listening)
        listen_sockets_cancel(sockets);
    return listening;
}

void listening_show(const struct listening *listening, struct control_view *view)
{
    view->listening = listening->list;
    view->listening_count = listening->plain;
    view->listening_tls = listening->list + listening->plain;
    view->listening_tls_count = listening->tls;
    view->listening_https = view->listening_tls + listening->tls;
    view->listening_https_count = listening->https;
}

void listening_free(struct listening **listening)
{
    free(*listening);
    *listening = NULL;
}
