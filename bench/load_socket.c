/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The load's sockets, and UDP: batches by sendmmsg and recvmmsg. The load reads only the header of
 * an answer, and over UDP copies only that. load_stream.c handles connections.
 *
 * Invariant: a slot is free exactly when it is on its socket's stack, and load->in_flight is the
 * number of other slots.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/span.h"
#include "clock.h"
#include "load.h"

enum {
    HEADER_ROOM = 16,
    SOCKET_BUFFER_BYTES = 4 << 20,
    READS_MAX = 8,
};

bool load_is_counted(const struct load *load, uint64_t due_ns)
{
    return due_ns >= load->count_from_ns;
}

uint16_t load_slot_take(struct load_socket *socket, uint64_t due_ns)
{
    struct load *load = socket->load;
    uint16_t slot = socket->free[--socket->free_count];
    uint16_t id = (uint16_t)(socket->generation++ * load->slot_count | slot);
    socket->slots[slot] = (struct load_slot){.due_ns = due_ns, .id = id};
    load->in_flight++;
    return id;
}

void load_slot_give(struct load_socket *socket, uint16_t slot)
{
    socket->slots[slot].due_ns = 0;
    socket->free[socket->free_count++] = slot;
    socket->load->in_flight--;
}

void load_socket_on_answer(struct load_socket *socket, const uint8_t *header, uint64_t now_ns)
{
    struct load *load = socket->load;
    uint16_t id = get_u16(header), flags = get_u16(header + 2);
    uint16_t at = (uint16_t)(id & (load->slot_count - 1));
    struct load_slot *slot = &socket->slots[at];
    if (slot->due_ns == 0 || slot->id != id || !(flags & WIRE_QR)) {
        load->counters.unexpected++;
        return;
    }
    uint64_t due_ns = slot->due_ns;
    load_slot_give(socket, at);
    load->answered_in_all++;
    if (!load_is_counted(load, due_ns))
        return;
    load->counters.answered++;
    load->counters.rcodes[flags & 15]++;
    load->counters.truncated += (flags & WIRE_TC) != 0;
    uint64_t took_ns = now_ns > due_ns ? now_ns - due_ns : 0;
    latency_record(&load->latency, took_ns);
    if (load->options.progress)
        latency_record(&load->interval, took_ns);
}

static uint32_t datagrams_send(struct load_socket *socket, uint32_t count, uint64_t due_ns,
                               double gap_ns)
{
    static uint8_t bytes[LOAD_BATCH][WIRE_QUERY_MAX];
    static struct iovec iov[LOAD_BATCH];
    static struct mmsghdr messages[LOAD_BATCH];
    uint16_t slots[LOAD_BATCH];
    count = MIN(count, LOAD_BATCH);
    for (uint32_t i = 0; i < count; i++) {
        size_t len = query_source_next(&socket->load->source, bytes[i]);
        uint16_t id = load_slot_take(socket, due_ns + (uint64_t)(gap_ns * i));
        slots[i] = (uint16_t)(id & (socket->load->slot_count - 1));
        put_u16(bytes[i], id);
        iov[i] = (struct iovec){bytes[i], len};
        messages[i].msg_hdr.msg_iov = &iov[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int sent = sendmmsg(socket->watch.fd, messages, count, MSG_DONTWAIT);
    if (sent < 0 && errno == ECONNREFUSED) /* an earlier query caused this error */
        sent = sendmmsg(socket->watch.fd, messages, count, MSG_DONTWAIT);
    uint32_t left = sent > 0 ? (uint32_t)sent : 0;
    for (uint32_t i = count; i > left; i--)
        load_slot_give(socket, slots[i - 1]);
    return left;
}

/* Counts each query, like its answer, at its due time, because a batch may span the end of the
 * warm-up. */
static void count_sent(struct load *load, uint32_t sent, uint64_t due_ns, double gap_ns)
{
    uint64_t now_ns = clock_now_ns();
    for (uint32_t i = 0; i < sent; i++) {
        uint64_t at_ns = due_ns + (uint64_t)(gap_ns * i);
        if (!load_is_counted(load, at_ns))
            continue;
        load->counters.sent++;
        latency_record(&load->lag, now_ns > at_ns ? now_ns - at_ns : 0);
    }
}

uint32_t load_socket_send(struct load_socket *socket, uint32_t count, uint64_t due_ns,
                          double gap_ns)
{
    struct load *load = socket->load;
    uint64_t room = load->options.in_flight - (load->slot_count - socket->free_count);
    count = (uint32_t)MIN(count, room);
    if (count == 0)
        return 0;
    uint32_t sent = socket->stream ? load_stream_send(socket, count, due_ns, gap_ns)
                                   : datagrams_send(socket, count, due_ns, gap_ns);
    load->sent_in_all += sent;
    if (sent)
        count_sent(load, sent, due_ns, gap_ns);
    return sent;
}

void load_socket_refill(struct load_socket *socket)
{
    if (socket->load->options.is_closed_loop && socket->load->is_sending)
        while (load_socket_send(socket, LOAD_BATCH, clock_now_ns(), 0) == LOAD_BATCH)
            continue;
}

static void on_datagrams(struct watch *watch, uint32_t events)
{
    static uint8_t bytes[LOAD_BATCH][HEADER_ROOM];
    static struct iovec iov[LOAD_BATCH];
    static struct mmsghdr messages[LOAD_BATCH];
    struct load_socket *socket = CONTAINER_OF(watch, struct load_socket, watch);
    (void)events;
    for (int i = 0; i < LOAD_BATCH; i++) {
        iov[i] = (struct iovec){bytes[i], HEADER_ROOM};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
    }
    int count = LOAD_BATCH;
    for (int turn = 0; turn < READS_MAX && count == LOAD_BATCH; turn++) {
        count = recvmmsg(watch->fd, messages, LOAD_BATCH, MSG_DONTWAIT, NULL);
        uint64_t now_ns = clock_now_ns();
        for (int i = 0; i < count; i++)
            if (messages[i].msg_len >= WIRE_HEADER_BYTES)
                load_socket_on_answer(socket, bytes[i], now_ns);
        load_socket_refill(socket);
    }
}

enum err load_bind_source(const struct load *load, int fd, size_t number)
{
    const struct load_options *options = &load->options;
    int on = 1;
    if (options->source_count == 0)
        return ERR_OK;
    const struct addr *source = &options->sources[number % options->source_count];
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    return bind(fd, &source->sa, addr_len(source)) ? err_from_errno(errno) : ERR_OK;
}

static enum err datagrams_connect(struct load_socket *socket)
{
    int size = SOCKET_BUFFER_BYTES, fd = socket->watch.fd;
    const struct addr *server = &socket->load->options.server;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    if (connect(fd, &server->sa, addr_len(server)))
        return err_from_errno(errno);
    return poller_add(socket->load->poller, &socket->watch, EPOLLIN);
}

static enum err socket_open(struct load_socket *socket_)
{
    const struct load_options *options = &socket_->load->options;
    int kind = (options->is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd = socket(addr_family(&options->server), kind, 0);
    if (fd < 0)
        return err_from_errno(errno);
    socket_->watch = (struct watch){
        .fd = fd, .on_ready = options->is_stream ? load_stream_on_ready : on_datagrams};
    enum err err = load_bind_source(socket_->load, fd, (size_t)(socket_ - socket_->load->sockets));
    if (!err)
        err = options->is_stream ? load_stream_connect(socket_) : datagrams_connect(socket_);
    if (err) {
        close(fd);
        socket_->watch.fd = -1;
    }
    return err;
}

static enum err socket_init(struct load *load, struct load_socket *socket)
{
    socket->load = load;
    socket->watch.fd = -1;
    socket->slots = calloc(load->slot_count, sizeof(*socket->slots));
    socket->free = malloc(load->slot_count * sizeof(*socket->free));
    if (load->options.is_stream)
        socket->stream = load_stream_new(socket);
    if (!socket->slots || !socket->free || (load->options.is_stream && !socket->stream))
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < load->slot_count; i++)
        socket->free[i] = (uint16_t)(load->slot_count - 1 - i);
    socket->free_count = load->slot_count;
    return ERR_OK;
}

enum err load_sockets_open(struct load *load)
{
    enum err err = ERR_OK;
    load->slot_count = 1;
    while (load->slot_count < load->options.in_flight)
        load->slot_count *= 2;
    load->sockets = calloc(load->options.connections, sizeof(*load->sockets));
    if (!load->sockets)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < load->options.connections && !err; i++) {
        err = socket_init(load, &load->sockets[i]);
        if (!err)
            err = socket_open(&load->sockets[i]);
    }
    return err;
}

void load_sockets_close(struct load *load)
{
    for (size_t i = 0; load->sockets && i < load->options.connections; i++) {
        struct load_socket *socket = &load->sockets[i];
        if (socket->load && socket->watch.fd >= 0)
            close(socket->watch.fd);
        free(socket->slots);
        free(socket->free);
        load_stream_free(socket->stream);
    }
    free(load->sockets);
    load->sockets = NULL;
}

static void sweep_slots(struct load_socket *socket, uint64_t now_ns)
{
    struct load *load = socket->load;
    uint64_t timeout_ns = load->options.timeout_ms * 1000000;
    for (uint32_t i = 0; i < load->slot_count; i++) {
        uint64_t due_ns = socket->slots[i].due_ns;
        if (due_ns == 0 || now_ns < due_ns + timeout_ns)
            continue;
        load->counters.lost += load_is_counted(load, due_ns);
        load_slot_give(socket, (uint16_t)i);
    }
    if (socket->free_count)
        load_socket_refill(socket);
}

void load_sockets_sweep(struct load *load, uint64_t now_ns)
{
    for (size_t i = 0; i < load->options.connections; i++) {
        struct load_socket *socket = &load->sockets[i];
        if (socket->watch.fd < 0 && now_ns >= socket->retry_at_ns) {
            socket->retry_at_ns = now_ns + LOAD_RETRY_NS;
            load->counters.reconnects += socket_open(socket) == ERR_OK;
        }
        if (socket->stream)
            load_stream_sweep(socket, now_ns);
        if (socket->free_count < load->slot_count)
            sweep_slots(socket, now_ns);
    }
    load_streams_flush(load);
}
