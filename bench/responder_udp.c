/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The responder over UDP: recvmmsg reads a batch of queries, and sendmmsg sends the answers. An
 * answer that is due at once is written into the batch that leaves. A later answer goes through the
 * delay line.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rand.h"
#include "responder.h"

enum { QUERY_MAX = 2048, SOCKET_BUFFER_BYTES = 4 << 20 };

struct udp_batch {
    struct listener *out_listener; /* the listener whose answers are in out; NULL: out is empty */
    unsigned out_count;
    struct mmsghdr in[UDP_BATCH], out[UDP_BATCH];
    struct iovec in_iov[UDP_BATCH], out_iov[UDP_BATCH];
    struct addr in_addr[UDP_BATCH], out_addr[UDP_BATCH];
    uint8_t in_bytes[UDP_BATCH][QUERY_MAX];
    uint8_t out_bytes[UDP_BATCH][ANSWER_MAX];
};

enum err responder_udp_new(struct responder *responder)
{
    struct udp_batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return ERR_NO_MEMORY;
    for (int i = 0; i < UDP_BATCH; i++) {
        batch->in_iov[i] = (struct iovec){batch->in_bytes[i], QUERY_MAX};
        batch->in[i].msg_hdr.msg_iov = &batch->in_iov[i];
        batch->in[i].msg_hdr.msg_iovlen = 1;
        batch->in[i].msg_hdr.msg_name = &batch->in_addr[i];
        batch->out_iov[i].iov_base = batch->out_bytes[i];
        batch->out[i].msg_hdr.msg_iov = &batch->out_iov[i];
        batch->out[i].msg_hdr.msg_iovlen = 1;
        batch->out[i].msg_hdr.msg_name = &batch->out_addr[i];
    }
    responder->udp = batch;
    return ERR_OK;
}

void responder_udp_free(struct responder *responder)
{
    free(responder->udp);
    responder->udp = NULL;
}

void responder_udp_flush(struct responder *responder)
{
    struct udp_batch *batch = responder->udp;
    unsigned sent = 0;
    while (sent < batch->out_count) {
        int n = sendmmsg(batch->out_listener->udp.fd, batch->out + sent, batch->out_count - sent,
                         MSG_DONTWAIT);
        /* The client has gone or the buffer is full. The answer is lost, as on any network. */
        sent += n > 0 ? (unsigned)n : 1;
        if (n > 0)
            batch->out_listener->stats.udp_answers += (unsigned)n;
    }
    batch->out_count = 0;
    batch->out_listener = NULL;
}

/* Returns the place for this listener's next answer. */
static uint8_t *out_slot(struct listener *listener)
{
    struct udp_batch *batch = listener->responder->udp;
    if (batch->out_count == UDP_BATCH || (batch->out_count && batch->out_listener != listener))
        responder_udp_flush(listener->responder);
    batch->out_listener = listener;
    return batch->out_bytes[batch->out_count];
}

static void out_commit(struct udp_batch *batch, const struct addr *peer, size_t len)
{
    unsigned at = batch->out_count++;
    batch->out_iov[at].iov_len = len;
    batch->out_addr[at] = *peer;
    batch->out[at].msg_hdr.msg_namelen = addr_len(peer);
}

void responder_udp_send(struct responder *responder, const struct delayed_answer *answer)
{
    if (!responder->options.udp)
        return;
    memcpy(out_slot(answer->listener), answer->bytes, answer->len);
    out_commit(responder->udp, &answer->peer, answer->len);
}

static bool responder_udp_is_lost(const struct responder *responder)
{
    double loss = responder->options.loss_percent;
    return loss > 0 && (double)rand_below(1000000) < loss * 10000;
}

static void responder_udp_on_query(struct listener *listener, struct span query,
                                   const struct addr *peer)
{
    struct responder *responder = listener->responder;
    listener->stats.udp_queries++;
    if (!responder->options.udp || responder_udp_is_lost(responder)) {
        listener->stats.udp_lost++;
        return;
    }
    uint8_t *out = out_slot(listener);
    struct bench_answer answer = responder_answer(listener, query, false, peer, out);
    if (answer.verdict != ANSWER_SEND) {
        listener->stats.udp_silent++;
        return;
    }
    uint64_t due_us = responder_due_us(responder, &answer, NULL);
    if (due_us <= responder->now_us) {
        out_commit(responder->udp, peer, answer.len);
        return;
    }
    struct delayed_answer like = {.listener = listener, .peer = *peer, .len = answer.len};
    if (!responder_delay(responder, &like, out, due_us))
        listener->stats.udp_lost++;
}

/* Returns false when the socket is empty. */
static bool read_batch(struct listener *listener)
{
    struct udp_batch *batch = listener->responder->udp;
    for (int i = 0; i < UDP_BATCH; i++)
        batch->in[i].msg_hdr.msg_namelen = sizeof(struct addr);
    int count = recvmmsg(listener->udp.fd, batch->in, UDP_BATCH, MSG_DONTWAIT, NULL);
    if (count <= 0)
        return count < 0 && (errno == EINTR || errno == ECONNREFUSED);
    listener->stats.udp_reads++;
    for (int i = 0; i < count; i++)
        responder_udp_on_query(listener, span_of(batch->in_bytes[i], batch->in[i].msg_len),
                               &batch->in_addr[i]);
    return count == UDP_BATCH;
}

static void on_readable(struct watch *watch, uint32_t events)
{
    struct listener *listener = CONTAINER_OF(watch, struct listener, udp);
    (void)events;
    for (int i = 0; i < UDP_TURNS_MAX; i++)
        if (!read_batch(listener))
            return;
}

enum err responder_udp_listen(struct listener *listener)
{
    int size = SOCKET_BUFFER_BYTES;
    int fd = socket(addr_family(&listener->addr), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_from_errno(errno);
    /* Exceeds net.core.*mem_max if this process may, else reaches it. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    socklen_t len = sizeof(listener->addr);
    if (bind(fd, &listener->addr.sa, addr_len(&listener->addr)) ||
        getsockname(fd, &listener->addr.sa, &len)) {
        enum err err = err_from_errno(errno);
        close(fd);
        return err;
    }
    listener->udp = (struct watch){.fd = fd, .on_ready = on_readable};
    return poller_add(listener->responder->poller, &listener->udp, EPOLLIN);
}
