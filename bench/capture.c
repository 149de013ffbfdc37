/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A hash table with linear probing finds the clients.
 *
 * Invariant: there are as many events as queries, and each client has an entry of the table.
 */

#include "capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { FIRST_EVENTS = 1024, FIRST_CLIENTS = 64 };

void capture_deinit(struct capture *capture)
{
    query_file_deinit(&capture->queries);
    free(capture->events);
    free(capture->clients);
    free(capture->table);
    memset(capture, 0, sizeof(*capture));
}

/* Returns the entry of this address, or the free entry for it. */
static uint32_t *capture_entry(const struct capture *capture, const struct addr *client)
{
    size_t mask = capture->table_size - 1, at = (size_t)addr_hash_ip(client, 0) & mask;
    while (capture->table[at] && !addr_equal_ip(&capture->clients[capture->table[at] - 1], client))
        at = (at + 1) & mask;
    return &capture->table[at];
}

/* Doubles the room for clients, and the size of the table. */
static enum err capture_grow_clients(struct capture *capture)
{
    size_t cap = capture->clients_cap ? capture->clients_cap * 2 : FIRST_CLIENTS;
    struct addr *clients = realloc(capture->clients, cap * sizeof(*clients));
    if (clients)
        capture->clients = clients;
    uint32_t *table = calloc(cap * 2, sizeof(*table));
    if (!clients || !table) {
        free(table);
        return ERR_NO_MEMORY;
    }
    free(capture->table);
    capture->table = table;
    capture->table_size = cap * 2;
    capture->clients_cap = cap;
    for (size_t i = 0; i < capture->client_count; i++)
        *capture_entry(capture, &clients[i]) = (uint32_t)i + 1;
    return ERR_OK;
}

static enum err capture_find_client(struct capture *capture, const struct addr *client,
                                    uint32_t *out)
{
    if (capture->client_count == capture->clients_cap) {
        enum err err = capture_grow_clients(capture);
        if (err)
            return err;
    }
    uint32_t *entry = capture_entry(capture, client);
    if (*entry == 0) {
        capture->clients[capture->client_count] = *client;
        addr_set_port(&capture->clients[capture->client_count++], 0);
        *entry = (uint32_t)capture->client_count;
    }
    *out = *entry - 1;
    return ERR_OK;
}

static enum err capture_make_room(struct capture *capture)
{
    if (capture->queries.count < capture->events_cap)
        return ERR_OK;
    size_t cap = capture->events_cap ? capture->events_cap * 2 : FIRST_EVENTS;
    struct capture_event *events = realloc(capture->events, cap * sizeof(*events));
    if (!events)
        return ERR_NO_MEMORY;
    capture->events = events;
    capture->events_cap = cap;
    return ERR_OK;
}

enum err capture_add(struct capture *capture, struct span message, const struct addr *client,
                     uint64_t at_ns)
{
    struct wire_query query;
    if (!wire_parse_query(message, &query) || query.flags & WIRE_QR ||
        query.class != WIRE_CLASS_IN || query.type == 0)
        return ERR_OK;
    struct wire_style style = {
        .recursion_desired = query.flags & WIRE_RD,
        .checking_disabled = query.flags & WIRE_CD,
        .dnssec_ok = query.dnssec_ok,
        .edns_bytes = query.has_edns ? (uint16_t)MAX(query.udp_size, 512) : 0,
    };
    struct capture_event event = {.at_ns = at_ns, .query = (uint32_t)capture->queries.count};
    enum err err = capture_make_room(capture);
    if (!err)
        err = capture_find_client(capture, client, &event.client);
    if (!err)
        err = query_file_add(&capture->queries, query.lower, query.name_len, query.type, &style);
    if (err)
        return err;
    capture->lacks_times |= at_ns == CAPTURE_NO_TIME;
    capture->events[event.query] = event;
    return ERR_OK;
}

/* Queries of the same instant keep the order of the file. */
static int compare_times(const void *a_, const void *b_)
{
    const struct capture_event *a = a_, *b = b_;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->query < b->query ? -1 : a->query > b->query;
}

void capture_sort(struct capture *capture)
{
    if (capture->queries.count)
        qsort(capture->events, capture->queries.count, sizeof(*capture->events), compare_times);
}
