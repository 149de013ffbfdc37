/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Sends the queries of the steps and collects the answers. play.c checks them. */
#include "scenario/clients.h"

#include <stdio.h>
#include <string.h>

/* Chooses a new source, and a listener of its family. */
static void ends(struct world *world, const struct addr *wanted, struct addr *from, struct addr *to)
{
    *from = addr_family(wanted) == AF_UNSPEC ? fake_addr("127.0.0.1@1") : *wanted;
    addr_set_port(from, ++world->last_port);
    const struct server_options *options = &world->config->server;
    *to = options->listen[0];
    for (size_t i = options->listen_count; i-- > 0;)
        if (addr_family(&options->listen[i]) == addr_family(from))
            *to = options->listen[i];
    if (addr_is_any(to)) {
        uint16_t port = addr_port(to);
        *to = fake_addr(addr_family(to) == AF_INET ? "127.0.0.1@1" : "::1@1");
        addr_set_port(to, port);
    }
}

void clients_send_udp(struct world *world, const struct addr *from, struct span message)
{
    struct addr source, target;
    ends(world, from, &source, &target);
    fake_client_udp_send(world->net, &target, &source, message);
}

struct client *clients_open(struct world *world, const char *name, const struct addr *from)
{
    struct addr target;
    if (world->client_count == WORLD_CLIENTS_MAX)
        return NULL;
    struct client *client = &world->clients[world->client_count++];
    snprintf(client->name, sizeof(client->name), "%.31s", name);
    ends(world, from, &client->addr, &target);
    client->conn = fake_client_tcp_open(world->net, &target, &client->addr);
    return client;
}

struct client *clients_find(struct world *world, const char *name)
{
    for (size_t i = world->client_count; i-- > 0;)
        if (strcmp(world->clients[i].name, name) == 0)
            return &world->clients[i];
    return NULL;
}

static struct got *note(struct world *world, const struct addr *client, struct span bytes)
{
    struct got *got = fake_net_take(world->net, sizeof(*got) + bytes.len);
    uint8_t *copy = (uint8_t *)(got + 1);
    memcpy(copy, bytes.data, bytes.len);
    got->bytes = span_of(copy, bytes.len);
    got->client = *client;
    got->at_us = loop_now(world->loop);
    list_append(&world->gots, &got->node);
    world->got_count++;
    return got;
}

void clients_collect(struct world *world)
{
    struct fake_reply reply;
    struct span message;
    while (fake_client_udp_next(world->net, NULL, &reply))
        note(world, &reply.to, reply.datagram);
    for (size_t i = 0; i < world->client_count; i++) {
        struct client *client = &world->clients[i];
        while (fake_conn_next_message(client->conn, &message)) {
            struct got *got = note(world, &client->addr, message);
            got->over_tcp = true;
            got->conn = client->conn;
        }
    }
}
