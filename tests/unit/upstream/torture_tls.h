/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UPSTREAM_TORTURE_TLS_H
#define NAILUP_TESTS_UPSTREAM_TORTURE_TLS_H

/* TLS faults for test_torture.c. */

#include "unit/upstream/torture_draw.h"
#include "unit/upstream/world.h"

/* Draws TLS faults of the server for its next connections. */
static inline void torture_speak_tls(uint64_t *random, struct fake_peer *peer)
{
    struct fake_tls_options server = world_tls_server();
    server.only = torture_draw(random, 3) ? 0 : FAKE_TLS_1_2;
    server.early = (enum fake_tls_early)torture_draw(random, FAKE_EARLY_REJECT + 1);
    server.tickets = (int)torture_draw(random, 5) - 1;
    server.forget_tickets = torture_draw(random, 4) == 0;
    server.manner.trouble = torture_draw(random, 2)
                                ? FAKE_TLS_FINE
                                : (enum fake_tls_trouble)torture_draw(random, FAKE_TLS_REFUSE + 1);
    server.manner.after_bytes = torture_draw(random, 3000);
    server.manner.piece_bytes = torture_draw(random, 4) ? 0 : 1 + torture_draw(random, 300);
    server.manner.gap_us = torture_draw(random, 200);
    server.manner.record_bytes = torture_draw(random, 4) ? 0 : 1 + torture_draw(random, 50);
    server.manner.delay_us = torture_draw(random, 4) ? 0 : torture_draw(random, 100 * MS);
    server.manner.ending = (enum fake_tls_ending)torture_draw(random, FAKE_TLS_END_NOTIFY + 1);
    if (torture_draw(random, 8) == 0)
        server.certificate = server.key = NULL; /* the server has another identity */
    fake_peer_speak_tls(peer, torture_draw(random, 10) ? &server : NULL);
}

static inline void torture_hurt_tls(uint64_t *random, struct fake_conn *conn)
{
    if (!fake_conn_speaks_tls(conn) || !fake_conn_tls_facts(conn)->finished)
        return;
    switch (torture_draw(random, 5)) {
    case 0:
        fake_conn_tls_alert(conn);
        break;
    case 1:
        fake_conn_tls_notify(conn);
        break;
    case 2:
        if (fake_conn_tls_facts(conn)->version == FAKE_TLS_1_3)
            fake_conn_tls_update_keys(conn);
        else
            fake_conn_tls_renegotiate(conn);
        break;
    case 3:
        if (fake_conn_tls_facts(conn)->version == FAKE_TLS_1_3)
            fake_conn_tls_give_ticket(conn);
        break;
    case 4:
        fake_conn_tls_send_raw(conn, span_of("\x17\x03\x03 nonsense", 12));
        break;
    }
}

#endif
