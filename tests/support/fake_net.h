/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_NET_H
#define NAILUP_TESTS_FAKE_NET_H

/*
 * A network in virtual time that replaces src/net's tcp.c, udp_server.c, udp_query.c and
 * acceptor.c; link, tls and framing stay real on top of it. Each loop has one (fake_net_of()).
 * loop_free() frees it with everything that the functions below return.
 *
 * The two sides:
 *   servers  get queries from the code under test: fake_server_new() registers them by address;
 *   clients  send queries to the code under test: fake_client_udp_send(), fake_client_tcp_open().
 * A TCP connection's far end is a struct fake_conn in both cases. Most tests use fake_peer.h, a
 * server that answers DNS messages; with fake_tls.h far ends speak TLS.
 *
 * All bytes take the server's one-way latency (clients: fake_net_set_client_latency()). Streams
 * stay in order. No function calls back into the code under test before the next turn.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/prefix.h"
#include "base/err.h"
#include "base/span.h"
#include "net/listen_socket.h"
#include "net/tcp.h"
#include "net/udp_server.h"

struct loop;
struct fake_net;
struct fake_server;
struct fake_conn;

struct fake_net *fake_net_of(struct loop *loop);
struct loop *fake_net_loop(struct fake_net *net);

/* Zeroed memory that lives as long as the network. */
void *fake_net_take(struct fake_net *net, size_t size);

/* Runs a function once, delay_us from now, with a copy of size bytes of data: something that a peer
 * does later. loop_free() drops pending calls. */
void fake_net_after(struct fake_net *net, uint64_t delay_us, void (*run)(void *copy),
                    const void *data, size_t size);

/* Parses "IP@PORT"; a mistake stops the test. */
struct addr fake_addr(const char *text);

/* ------------------------------------------------------------------ counters and leaks */

struct fake_net_counts {
    uint64_t dials;       /* calls of tcp_dial() that returned ERR_OK */
    uint64_t dial_errors; /* calls of tcp_dial() that failed */
    uint64_t udp_queries; /* calls of udp_query_open() that returned ERR_OK */
    uint64_t udp_errors;
    uint64_t tcp_writes;           /* calls of tcp_write() that moved bytes */
    uint64_t tcp_acknowledgements; /* calls of tcp_acknowledge() */
    uint64_t tcp_reads;            /* calls of on_bytes */
    size_t open_conns;             /* struct tcp that the code has not closed */
    size_t open_queries;           /* the same for struct udp_query */
    size_t open_listeners;         /* udp_servers and acceptors */
    size_t most_open_conns;        /* high-water marks */
    size_t most_open_queries;
    uint64_t udp_batches;    /* batches handed to udp_servers */
    uint64_t late_datagrams; /* datagrams for a udp_query that had already closed */
};

struct fake_net_counts fake_net_counts(const struct fake_net *net);

/* Sockets that the code under test holds: 0 after its clean-up. */
size_t fake_net_open_sockets(const struct fake_net *net);

/* ------------------------------------------------------------------ faults of the local machine */

/* Makes the next count calls of tcp_dial() and udp_query_open() return why. */
void fake_net_fail_opens(struct fake_net *net, unsigned count, enum err why);

/* Limits the open sockets (0: no limit). At the limit, tcp_dial(), udp_query_open() and accept()
 * find no free file (ERR_NO_FILES), and connections wait in the backlog. */
void fake_net_set_file_limit(struct fake_net *net, size_t sockets);

/* Makes listen_socket_open() of this address return why (not ERR_ADDRESS_UNKNOWN with freebind)
 * until the network is freed; ERR_OK ends it. */
void fake_net_fail_listen(struct fake_net *net, const struct addr *listen, enum err why);

/* Takes the local address away from all connections that exist now (tcp_is_stranded()). Later
 * connections have it again. */
void fake_net_lose_address(struct fake_net *net);

/* Sockets from this address of ours fail at once with `why`; ERR_OK: they work again. At most
 * FAKE_NET_SOURCES_MAX addresses. */
enum { FAKE_NET_SOURCES_MAX = 64 };
void fake_net_break_source(struct fake_net *net, const struct addr *source, enum err why);

/* The next count calls of udp_query_open() put their queries in line for this long: faults of the
 * source come then, to on_failed. */
void fake_net_queue_queries(struct fake_net *net, unsigned count, uint64_t wait_us);

/* Returns how many listening sockets the whole program has open. Sockets that a loop has taken
 * count too. */
size_t fake_listen_sockets(void);

/* Opens a socket for udp_server_open() or acceptor_open(). */
struct listen_socket fake_listen_at(const struct addr *addr, enum listen_type type);

/* Opens a socket of another program, which a test may pass to the code under test. */
int fake_foreign_socket(const struct addr *local, enum listen_type type);
void fake_foreign_close(int fd);

/* Returns the user that the last listen_socket_chown() named. */
uid_t fake_listen_owner(void);

/* Drops the next count replies of udp_servers, as a full kernel does. */
void fake_net_drop_replies(struct fake_net *net, unsigned count);

/* ------------------------------------------------------------------ servers */

/* One UDP query that arrived at a server: a plain value. */
struct fake_query {
    struct fake_server *server;
    uint64_t number;  /* counts all datagrams to servers of this network, from 1 */
    struct addr from; /* has the random port of the query */
    uint64_t sent_at;
};

/* All members may be NULL: such a server ignores datagrams and bytes, and accepts dials. */
struct fake_server_handler {
    void (*on_datagram)(void *owner, const struct fake_query *query, struct span datagram);
    void (*on_accept)(void *owner, struct fake_conn *conn);
    void (*on_bytes)(void *owner, struct fake_conn *conn, struct span bytes);
    /* The same bytes, cut into messages. index counts the messages of the connection. */
    void (*on_message)(void *owner, struct fake_conn *conn, size_t index, struct span message);
    /* The FIN of the code under test arrived. */
    void (*on_fin)(void *owner, struct fake_conn *conn);
};

/* Makes a server that listens at an address over UDP and TCP. An address without a server refuses
 * both. A second server at the same address stops the test. The handler must outlive the loop. */
struct fake_server *fake_server_new(struct fake_net *net, const struct addr *addr,
                                    const struct fake_server_handler *handler, void *owner);
struct fake_server *fake_server_at(struct fake_net *net, const struct addr *addr); /* or NULL */

/* Makes the server listen at every address of the prefix too, at the same port. */
void fake_server_take_prefix(struct fake_server *server, const struct prefix *prefix);

const struct addr *fake_server_addr(const struct fake_server *server);
void *fake_server_owner(const struct fake_server *server);

/* One way; 1 ms when not set. */
void fake_server_set_latency(struct fake_server *server, uint64_t one_way_us);

enum fake_dial {
    FAKE_DIAL_ACCEPT,
    FAKE_DIAL_REFUSE,      /* a RST after a round trip: ERR_REFUSED */
    FAKE_DIAL_BLACKHOLE,   /* no reply ever comes */
    FAKE_DIAL_UNREACHABLE, /* ICMP after a round trip: ERR_UNREACHABLE */
    FAKE_DIAL_FAIL_NOW,    /* tcp_dial() itself returns ERR_UNREACHABLE */
};

/* Decides what happens to later dials. */
void fake_server_set_dial(struct fake_server *server, enum fake_dial how);

/* Delays the acceptance of dials by this time, in addition to the round trip. */
void fake_server_set_accept_delay(struct fake_server *server, uint64_t us);

enum fake_udp {
    FAKE_UDP_DELIVER,
    FAKE_UDP_DROP,
    FAKE_UDP_REFUSE,      /* ICMP port unreachable after a round trip: ERR_REFUSED */
    FAKE_UDP_UNREACHABLE, /* ICMP host unreachable: ERR_UNREACHABLE */
    FAKE_UDP_FAIL_NOW,    /* udp_query_open() itself returns ERR_UNREACHABLE */
};

void fake_server_set_udp(struct fake_server *server, enum fake_udp how);

/* Loses the next count datagrams to the server. */
void fake_server_lose_datagrams(struct fake_server *server, unsigned count);

/* Sends a datagram to the query's socket, which arrives after delay_us and the latency. May be
 * called repeatedly at any time. A closed socket gets nothing. */
void fake_query_reply(const struct fake_query *query, struct span datagram, uint64_t delay_us);

/* Sends a datagram from an attacker's address. A connected socket never sees it, so the fake only
 * counts it. */
void fake_query_spoof(const struct fake_query *query, struct span datagram);

/* Sends an ICMP error to the query's socket: ERR_REFUSED or ERR_UNREACHABLE. */
void fake_query_icmp(const struct fake_query *query, enum err why, uint64_t delay_us);

/* Whether the code under test keeps the query's socket open. */
bool fake_query_is_open(const struct fake_query *query);

uint64_t fake_server_datagrams(const struct fake_server *server); /* received, without lost ones */
uint64_t fake_server_spoofed(const struct fake_server *server);

/* Connections in the order of their dials, from 0, including refused and closed ones. They live
 * until the loop is freed. */
size_t fake_server_dials(const struct fake_server *server);
struct fake_conn *fake_server_conn(const struct fake_server *server, size_t number);
size_t fake_server_open_conns(const struct fake_server *server); /* established, not ended */

/* Resets, or closes with a FIN, every established connection. */
void fake_server_reset_all(struct fake_server *server);
void fake_server_close_all(struct fake_server *server);

/* ------------------------------------------------------------------ the far end of a connection */

enum fake_conn_state {
    FAKE_CONN_DIALING, /* no answer yet; clients: waiting in the backlog */
    FAKE_CONN_OPEN,
    FAKE_CONN_FAILED, /* refused, unreachable or reset, by either side */
    FAKE_CONN_CLOSED, /* the code under test has closed it and its FIN has arrived */
};

enum fake_conn_state fake_conn_state(const struct fake_conn *conn);

/* Sends bytes, which arrive in one read after the latency and after earlier bytes. */
void fake_conn_send(struct fake_conn *conn, struct span bytes);

/* Sends pieces of at most piece_bytes, gap_us apart. Each piece is a separate read, and with gap
 * 0 each arrives in its own turn. */
void fake_conn_send_pieces(struct fake_conn *conn, struct span bytes, size_t piece_bytes,
                           uint64_t gap_us);

/* Sends a message with its two length bytes in front. */
void fake_conn_send_message(struct fake_conn *conn, struct span message);

/* Sends after delay_us; bytes sent meanwhile go first. Sends nothing if the connection has ended.
 */
void fake_conn_send_later(struct fake_conn *conn, struct span bytes, uint64_t delay_us);
void fake_conn_send_message_later(struct fake_conn *conn, struct span message, uint64_t delay_us);

/* Sends a FIN after earlier bytes. Bytes from the code under test still arrive (half closed). */
void fake_conn_close(struct fake_conn *conn);

/* Sends a RST after earlier bytes, and discards the other side's bytes in flight. */
void fake_conn_reset(struct fake_conn *conn);

/* Fails the connection at the code under test without an act of the peer (TCP_USER_TIMEOUT, a lost
 * route ...). */
void fake_conn_fail(struct fake_conn *conn, enum err why);

/* Silently loses everything in both directions, as a dead NAT entry does. tcp_write() still fills a
 * socket buffer. With a user_timeout_ms, the connection fails with ERR_TIMED_OUT that long after
 * the first lost write. */
void fake_conn_go_dark(struct fake_conn *conn);

/* Delays the acknowledgements of arriving bytes (tcp_unacknowledged()). */
void fake_conn_delay_acks(struct fake_conn *conn, uint64_t us);

/* The segment size that our end announced when it dialled. */
uint32_t fake_conn_segment_bytes(const struct fake_conn *conn);

/* Adds one to tcp_retransmits(). */
void fake_conn_retransmit(struct fake_conn *conn);

/* Delays each read of this connection, as if the loop had many other sockets. */
void fake_conn_delay_reads(struct fake_conn *conn, uint64_t us);

/* Stops reading: tcp_write() accepts window_bytes more, and then nothing until
 * fake_conn_start_reading(). */
void fake_conn_stop_reading(struct fake_conn *conn, size_t window_bytes);
void fake_conn_start_reading(struct fake_conn *conn);

/* Limits the bytes of every tcp_write() (0: no limit); on_writable comes in the next turn. A write
 * that the window cuts waits for fake_conn_start_reading() instead. */
void fake_conn_set_write_max(struct fake_conn *conn, size_t bytes);

/* The same for all later connections. */
void fake_net_set_write_max(struct fake_net *net, size_t bytes);

/* Returns the bytes that arrived at the far end and have not been taken: for clients, and for
 * servers without on_bytes and on_message. Borrowed until the next turn or take. */
struct span fake_conn_received(const struct fake_conn *conn);
void fake_conn_take(struct fake_conn *conn, size_t bytes);

/* Takes the next whole message of fake_conn_received(), borrowed until the next call. Returns false
 * if there is no whole message. */
bool fake_conn_next_message(struct fake_conn *conn, struct span *message);

/* among the connections of its server or client */
size_t fake_conn_number(const struct fake_conn *conn);
size_t fake_conn_messages(const struct fake_conn *conn); /* whole messages that arrived */
uint64_t fake_conn_bytes(const struct fake_conn *conn);  /* written by the code under test */
uint64_t fake_conn_writes(const struct fake_conn *conn); /* tcp_write() calls that moved bytes */
uint64_t fake_conn_most_writes_a_turn(const struct fake_conn *conn);
uint64_t fake_conn_reads(const struct fake_conn *conn); /* on_bytes calls */
uint64_t fake_conn_dialed_at(const struct fake_conn *conn);
uint64_t fake_conn_ended_at(const struct fake_conn *conn); /* 0: not yet */

/* Whether a FIN or RST of the code under test has arrived. */
bool fake_conn_was_closed(const struct fake_conn *conn);
/* Whether the code under test still holds its end. */
bool fake_conn_is_held(const struct fake_conn *conn);

/* The end of the code under test: its address, and the options that it dialled with. */
const struct addr *fake_conn_source(const struct fake_conn *conn);
const struct tcp_options *fake_conn_options(const struct fake_conn *conn);
struct fake_net *fake_conn_net(const struct fake_conn *conn);

/* ------------------------------------------------------------------ clients */

/* Sets the one-way latency between clients and the listeners of the code under test; 0 at first. */
void fake_net_set_client_latency(struct fake_net *net, uint64_t one_way_us);

/* Sends a datagram from a client to the udp_server that listens at `to` (wildcards match;
 * path.local is then set). Datagrams of one turn form batches of at most 32. Without a listener the
 * datagram is lost. */
void fake_client_udp_send(struct fake_net *net, const struct addr *to, const struct addr *from,
                          struct span datagram);

/* Sets the age of datagrams when they are read. 0, the initial value: unknown. */
void fake_net_set_datagram_age(struct fake_net *net, uint64_t age_us);

/* Adds to the datagrams that the kernel has dropped. */
void fake_net_lose_datagrams(struct fake_net *net, uint32_t count);

/* Returns the prefixes whose datagrams the server wants the kernel to thin. */
unsigned fake_net_thinned(const struct fake_net *net, const struct udp_thinned **thinned);

/* A reply of a udp_server to a client. */
struct fake_reply {
    struct addr from; /* the listener's address as the client sees it, also with a wildcard */
    struct addr to;
    uint64_t at_us;
    uint64_t turn; /* fake_loop_turns() when it was sent: the replies of one batch have the same */
    struct span datagram;
};

/* Takes the oldest reply to a client (NULL: to any), borrowed until the next call. Returns false if
 * there is no reply. */
bool fake_client_udp_next(struct fake_net *net, const struct addr *to, struct fake_reply *reply);
size_t fake_client_udp_waiting(const struct fake_net *net);

/* Connects to an acceptor of the code under test. The state becomes OPEN when it is accepted, or
 * FAILED without a listener. */
struct fake_conn *fake_client_tcp_open(struct fake_net *net, const struct addr *to,
                                       const struct addr *from);

#endif
