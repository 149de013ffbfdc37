/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* UDP queries against plain sockets on loopback. */

#include "real_net.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "net/outgoing_files.h"
#include "net/outgoing_ports.h"
#include "net/udp_query.h"

enum { QUERIES = 300 };

struct end {
    struct seen seen; /* must be first, because callbacks get it as their owner */
    struct udp_query *query;
    bool close_at_once;
    struct addr server;
    int fd;
};

static void on_datagram(void *owner, struct span datagram)
{
    struct end *end = owner;

    if (end->close_at_once)
        udp_query_close(&end->query);
    see(&end->seen, "got:", datagram);
}

static void on_failed(void *owner, enum err why)
{
    struct end *end = owner;

    if (end->close_at_once)
        udp_query_close(&end->query);
    see(&end->seen, "failed:", text(err_str(why)));
}

static const struct udp_query_handler events = {on_datagram, on_failed};
static const struct addr any_source;

static int set_up(void **state)
{
    struct end *end = calloc(1, sizeof(*end));

    seen_init(&end->seen, loop_new());
    end->fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &end->server);
    *state = end;
    return 0;
}

static int tear_down(void **state)
{
    struct end *end = *state;

    if (end->query)
        udp_query_close(&end->query);
    loop_free(end->seen.loop);
    close(end->fd);
    free(end);
    return 0;
}

static enum err ask(struct end *end, const struct addr *peer, const struct addr *source)
{
    const struct udp_query_path path = {peer, source, .queries_per_port = 1};
    return udp_query_open(&end->query, end->seen.loop, &path, text("query"), &events, end);
}

/* Reads the query at the server. Returns its source address. */
static struct addr read_query(struct end *end)
{
    struct addr from;
    socklen_t len = sizeof(from);
    char bytes[100];

    assert_int_equal(recvfrom(end->fd, bytes, sizeof(bytes), 0, &from.sa, &len), 5);
    assert_memory_equal(bytes, "query", 5);
    return from;
}

static bool has_query(const struct end *end)
{
    struct pollfd one = {.fd = end->fd, .events = POLLIN};
    return poll(&one, 1, 0) == 1;
}

static void answer(int fd, const struct addr *to, const char *words)
{
    assert_int_equal(sendto(fd, words, strlen(words), 0, &to->sa, addr_len(to)), strlen(words));
}

static void test_a_query_is_answered_and_again(void **state)
{
    struct end *end = *state;
    struct addr from;

    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    from = read_query(end);
    answer(end->fd, &from, "one");
    answer(end->fd, &from, "");
    answer(end->fd, &from, "two");
    run_until_seen(&end->seen, 3);
    assert_string_equal(end->seen.words, "got:one got: got:two");
}

static void test_only_datagrams_of_the_peer_arrive(void **state)
{
    struct end *end = *state;
    struct addr from, other;
    int liar = plain_socket(SOCK_DGRAM, "127.0.0.2@0", &other);

    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    from = read_query(end);
    sendto(liar, "lie", 3, 0, &from.sa, addr_len(&from));
    answer(end->fd, &from, "truth");
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "got:truth");
    close(liar);
}

static void test_a_refused_query_fails(void **state)
{
    struct end *end = *state;
    struct addr closed = closed_port(SOCK_DGRAM);

    assert_int_equal(ask(end, &closed, &any_source), ERR_OK);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "failed:connection refused");
}

/* The port has no server at first. A later server's datagrams must arrive. */
static void test_an_icmp_error_does_not_make_the_socket_deaf(void **state)
{
    struct end *end = *state;
    struct addr source = addr_of("127.0.0.9@0"), closed = closed_port(SOCK_DGRAM), bound;
    char where[ADDR_TEXT_MAX];
    int fd;

    close(plain_socket(SOCK_DGRAM, "127.0.0.9@0", &source)); /* finds a free port */
    assert_int_equal(ask(end, &closed, &source), ERR_OK);    /* the kernel refuses the query */
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "failed:connection refused");
    fd = plain_socket(SOCK_DGRAM, addr_format(&closed, where), &bound);
    answer(fd, &source, "alive");
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "failed:connection refused got:alive");
    close(fd);
}

static void test_a_query_leaves_from_its_source_address(void **state)
{
    struct end *end = *state;
    struct addr source = addr_of("127.0.0.9@0"), from;

    assert_int_equal(ask(end, &end->server, &source), ERR_OK);
    from = read_query(end);
    assert_true(addr_equal_ip(&from, &source));
    udp_query_close(&end->query);
    source = addr_of("192.0.2.1@0");
    assert_int_equal(ask(end, &end->server, &source), ERR_ADDRESS_UNKNOWN);
}

static void test_ports_are_fresh_for_each_query(void **state)
{
    struct end *end = *state;
    unsigned equal = 0;
    uint16_t last = 0;

    for (int i = 0; i < QUERIES; i++) {
        assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
        struct addr from = read_query(end);
        equal += addr_port(&from) == last;
        last = addr_port(&from);
        udp_query_close(&end->query);
    }
    assert_true(equal < QUERIES / 50);
}

static void test_closing_is_allowed_in_every_callback(void **state)
{
    struct end *end = *state;
    struct addr closed = closed_port(SOCK_DGRAM), from;

    end->close_at_once = true;
    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    from = read_query(end);
    answer(end->fd, &from, "one");
    answer(end->fd, &from, "two");
    run_until_seen(&end->seen, 1);
    assert_null(end->query);
    assert_int_equal(ask(end, &closed, &any_source), ERR_OK);
    run_until_seen(&end->seen, 1);
    assert_null(end->query);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "got:one failed:connection refused");
}

static void test_no_callback_comes_after_close(void **state)
{
    struct end *end = *state;
    struct addr from;

    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    from = read_query(end);
    answer(end->fd, &from, "late");
    udp_query_close(&end->query);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "");
}

static void test_many_queries_are_open_at_once(void **state)
{
    struct end *end = *state;
    struct udp_query *queries[QUERIES];

    for (int i = 0; i < QUERIES; i++) {
        assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
        queries[i] = end->query;
        struct addr from = read_query(end);
        answer(end->fd, &from, "x");
    }
    run_until_seen(&end->seen, QUERIES);
    for (int i = 0; i < QUERIES; i++)
        udp_query_close(&queries[i]);
    end->query = NULL;
}

/* ---- few files ---- */

static void test_a_query_without_a_file_waits_until_there_is_one(void **state)
{
    struct end *end = *state;
    struct rlimit limit, none;
    struct addr local;

    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    read_query(end);
    udp_query_close(&end->query);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    udp_query_local(end->query, &local);
    assert_int_equal(addr_family(&local), 0);
    udp_query_close(&end->query); /* closes the query before it has a file */
    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (!has_query(end))
        run_some_turns(end->seen.loop);
    struct addr from = read_query(end);
    answer(end->fd, &from, "late");
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "got:late");
    udp_query_close(&end->query);
}

/* All queries wait in line for two sockets, each of which serves one query at a time. */
static void test_many_queries_share_few_files(void **state)
{
    struct end *end = *state;
    struct udp_query *queries[QUERIES];
    unsigned answered = 0, closed = 0;

    outgoing_files_limit(end->seen.loop, 2);
    for (int i = 0; i < QUERIES; i++) {
        assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
        queries[i] = end->query;
    }
    end->query = NULL;
    while (closed < QUERIES) {
        while (has_query(end)) {
            struct addr from = read_query(end);
            answer(end->fd, &from, "x");
            answered++;
            assert_in_range(answered - closed, 1, 2);
        }
        if (closed < answered) {
            end->seen.count = 0;
            run_until_seen(&end->seen, answered - closed);
        }
        while (closed < answered)
            udp_query_close(&queries[closed++]);
        run_some_turns(end->seen.loop);
    }
}

static void test_queries_that_wait_for_a_file_are_bounded(void **state)
{
    struct end *end = *state;
    struct udp_query **queries = calloc(UDP_WAITING_MAX + 1, sizeof(struct udp_query *));

    outgoing_files_limit(end->seen.loop, 1);
    for (int i = 0; i < UDP_WAITING_MAX + 1; i++) {
        assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
        queries[i] = end->query;
    }
    assert_int_equal(ask(end, &end->server, &any_source), ERR_LIMIT);
    for (int i = 0; i < UDP_WAITING_MAX + 1; i++)
        udp_query_close(&queries[i]);
    end->query = NULL;
    free(queries);
}

static void test_a_query_that_waited_reports_why_it_cannot_be_sent(void **state)
{
    struct end *end = *state;
    struct addr elsewhere = addr_of("192.0.2.1@0");

    outgoing_files_limit(end->seen.loop, 1);
    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    struct udp_query *first = end->query;
    assert_false(udp_query_is_waiting(first));
    assert_int_equal(ask(end, &end->server, &elsewhere), ERR_OK);
    assert_true(udp_query_is_waiting(end->query));
    udp_query_close(&first);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "failed:this machine has no such address");
    udp_query_close(&end->query);
}

/* ---- reused sockets ---- */

static unsigned open_files(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 4096; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Sends a query, gets the answer and closes; returns the source port. */
static uint16_t ask_and_close(struct end *end)
{
    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    struct addr from = read_query(end);
    answer(end->fd, &from, "yes");
    run_until_seen(&end->seen, 1);
    udp_query_close(&end->query);
    return addr_port(&from);
}

static void test_a_socket_used_again_has_a_fresh_port(void **state)
{
    struct end *end = *state;
    unsigned equal = 0, before;
    uint16_t last = ask_and_close(end);

    before = open_files();
    for (int i = 0; i < QUERIES; i++) {
        uint16_t port = ask_and_close(end);
        equal += port == last;
        last = port;
    }
    assert_true(equal < QUERIES / 50);
    assert_true(open_files() <= before + 2); /* a few sockets serve all queries */
}

static void test_a_late_datagram_does_not_reach_the_next_query(void **state)
{
    struct end *end = *state;

    for (int i = 0; i < 20; i++) {
        assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
        struct addr from = read_query(end);
        answer(end->fd, &from, "late"); /* the datagram has arrived, and no code reads it */
        udp_query_close(&end->query);
        run_some_turns(end->seen.loop);
        ask_and_close(end);
    }
    assert_null(strstr(end->seen.words, "late"));
}

static void test_an_icmp_error_does_not_reach_the_next_query(void **state)
{
    struct end *end = *state;

    for (int i = 0; i < 20; i++) {
        struct addr closed = closed_port(SOCK_DGRAM);
        assert_int_equal(ask(end, &closed, &any_source), ERR_OK);
        udp_query_close(&end->query); /* the error waits at the socket */
        run_some_turns(end->seen.loop);
        ask_and_close(end);
    }
    assert_null(strstr(end->seen.words, "failed"));
}

static void test_idle_sockets_are_bounded(void **state)
{
    struct end *end = *state;
    enum { MANY = UDP_IDLE_MAX + 100 };
    static struct udp_query *queries[MANY];
    unsigned before = open_files();

    for (int i = 0; i < MANY; i++) {
        assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
        queries[i] = end->query;
        read_query(end);
    }
    for (int i = 0; i < MANY; i++)
        udp_query_close(&queries[i]);
    end->query = NULL;
    assert_true(open_files() <= before + UDP_IDLE_MAX + 8);
    assert_true(open_files() > before + UDP_IDLE_MAX / 2);
}

/* ---- drawn ports ---- */

static uint64_t fallbacks;

static void use_ports(struct end *end, const struct outgoing_ports *ports)
{
    fallbacks = 0;
    outgoing_ports_use(end->seen.loop, ports, &fallbacks);
}

/* Leaves only these two ports in the set. */
static void use_two_ports(struct end *end, uint16_t one, uint16_t other)
{
    struct outgoing_ports ports;

    outgoing_ports_init(&ports);
    outgoing_ports_leave_out(&ports, 1024, MIN(one, other) - 1);
    outgoing_ports_leave_out(&ports, MIN(one, other) + 1, MAX(one, other) - 1);
    if (MAX(one, other) < 65535)
        outgoing_ports_leave_out(&ports, MAX(one, other) + 1, 65535);
    assert_int_equal(ports.count, 2);
    use_ports(end, &ports);
}

static uint16_t port_of_query(struct end *end)
{
    assert_int_equal(ask(end, &end->server, &any_source), ERR_OK);
    struct addr from = read_query(end);
    udp_query_close(&end->query);
    return addr_port(&from);
}

static void test_ports_come_from_the_whole_range(void **state)
{
    struct end *end = *state;
    struct outgoing_ports ports;
    unsigned quarters[4] = {0};

    outgoing_ports_init(&ports);
    outgoing_ports_set_system(&ports, 32768, 60999);
    use_ports(end, &ports);
    for (int i = 0; i < QUERIES; i++) {
        uint16_t port = port_of_query(end);
        assert_true(port >= OUTGOING_PORT_FIRST);
        quarters[port / 16384]++;
        run_some_turns(end->seen.loop);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(quarters[i], QUERIES / 8, QUERIES / 2);
    assert_int_equal(fallbacks, 0);
}

static void test_a_port_that_is_taken_is_not_used(void **state)
{
    struct end *end = *state;
    struct addr taken, free_one;
    int holder = plain_socket(SOCK_DGRAM, "127.0.0.3@0", &taken);

    close(plain_socket(SOCK_DGRAM, "127.0.0.3@0", &free_one));
    use_two_ports(end, addr_port(&taken), addr_port(&free_one));
    for (int i = 0; i < 20; i++)
        assert_int_equal(port_of_query(end), addr_port(&free_one));
    close(holder);
}

static void test_when_all_ports_are_taken_the_system_draws(void **state)
{
    struct end *end = *state;
    struct addr one, other;
    int first = plain_socket(SOCK_DGRAM, "127.0.0.3@0", &one);
    int second = plain_socket(SOCK_DGRAM, "127.0.0.3@0", &other);

    use_two_ports(end, addr_port(&one), addr_port(&other));
    uint16_t port = port_of_query(end);
    assert_true(port != 0 && port != addr_port(&one) && port != addr_port(&other));
    assert_int_equal(fallbacks, 1);
    struct addr source = addr_of("127.0.0.9@0");
    assert_int_equal(ask(end, &end->server, &source), ERR_OK);
    struct addr from = read_query(end);
    assert_true(addr_equal_ip(&from, &source));
    assert_int_equal(fallbacks, 1); /* only the socket on 127.0.0.3 occupies the ports */
    close(first);
    close(second);
}

static void test_a_query_with_a_source_address_draws_a_port(void **state)
{
    struct end *end = *state;
    struct addr one, other, source = addr_of("127.0.0.9@0");

    close(plain_socket(SOCK_DGRAM, "127.0.0.3@0", &one));
    close(plain_socket(SOCK_DGRAM, "127.0.0.3@0", &other));
    use_two_ports(end, addr_port(&one), addr_port(&other));
    assert_int_equal(ask(end, &end->server, &source), ERR_OK);
    struct addr from = read_query(end);
    assert_true(addr_equal_ip(&from, &source));
    assert_true(addr_port(&from) == addr_port(&one) || addr_port(&from) == addr_port(&other));
}

static void test_sockets_with_drawn_ports_are_closed(void **state)
{
    struct end *end = *state;
    struct outgoing_ports ports;
    unsigned before = open_files();

    outgoing_ports_init(&ports);
    use_ports(end, &ports);
    for (int i = 0; i < QUERIES; i++)
        port_of_query(end);
    assert_int_equal(open_files(), before);
}

/* An idle socket with the system's port gives its file to a query that binds. */
static void test_a_bound_query_takes_the_file_of_an_idle_socket(void **state)
{
    struct end *end = *state;
    struct outgoing_ports ports;

    outgoing_files_limit(end->seen.loop, 2);
    port_of_query(end);
    outgoing_ports_init(&ports);
    use_ports(end, &ports);
    assert_true(port_of_query(end) >= OUTGOING_PORT_FIRST);
}

/* ---- queries of a burst ---- */

enum { BURST = 10, SHARE = 4 };

static unsigned queries_per_port;

/* One query of a burst. Its datagram consists of two bytes of id and a letter. */
struct member {
    struct end *end;
    struct udp_query *query;
    unsigned number, strays;
    uint16_t port;
    bool closes_all; /* closes all queries in each callback */
};

static struct member burst[BURST];

static void close_burst(void)
{
    for (unsigned i = 0; i < BURST; i++)
        if (burst[i].query)
            udp_query_close(&burst[i].query);
}

static void see_member(struct member *member, const char *word)
{
    char words[40];

    snprintf(words, sizeof(words), "%u:%s", member->number, word);
    if (member->closes_all)
        close_burst();
    see(&member->end->seen, words, text(""));
}

/* "<id><id>a" is an answer to the query. Every other datagram is a stray. */
static void member_on_datagram(void *owner, struct span datagram)
{
    struct member *member = owner;
    bool is_answer = datagram.len == 3 && datagram.data[0] == 'A' + member->number &&
                     datagram.data[1] == datagram.data[0] && datagram.data[2] == 'a';

    if (!is_answer)
        member->strays = udp_query_note_stray(member->query);
    see_member(member, is_answer ? "answer" : "stray");
}

static void member_on_failed(void *owner, enum err why)
{
    see_member(owner, why == ERR_REFUSED ? "refused" : "failed");
}

static const struct udp_query_handler member_events = {member_on_datagram, member_on_failed};

static struct addr read_member(struct end *end, const char *wanted)
{
    struct addr from;
    socklen_t len = sizeof(from);
    char bytes[100];

    assert_int_equal(recvfrom(end->fd, bytes, sizeof(bytes), 0, &from.sa, &len), 3);
    assert_memory_equal(bytes, wanted, 3);
    return from;
}

static enum err ask_member_with(struct end *end, unsigned number, const char *datagram,
                                const struct addr *peer, const struct addr *source)
{
    struct member *member = &burst[number];

    const struct udp_query_path path = {peer, source, .queries_per_port = queries_per_port};
    *member = (struct member){.end = end, .number = number};
    return udp_query_open(&member->query, end->seen.loop, &path, text(datagram), &member_events,
                          member);
}

/* Sends one more query of a burst. Returns its source address. */
static struct addr ask_member(struct end *end, unsigned number)
{
    char datagram[4] = {(char)('A' + number), (char)('A' + number), 'q', 0};

    assert_int_equal(ask_member_with(end, number, datagram, &end->server, &any_source), ERR_OK);
    struct addr from = read_member(end, datagram);
    burst[number].port = addr_port(&from);
    return from;
}

static void answer_member(struct end *end, const struct addr *to, unsigned number)
{
    char datagram[4] = {(char)('A' + number), (char)('A' + number), 'a', 0};
    answer(end->fd, to, datagram);
}

static int tear_down_burst(void **state)
{
    close_burst();
    return tear_down(state);
}

static void test_queries_of_a_burst_share_ports_up_to_a_bound(void **state)
{
    struct end *end = *state;
    struct addr from[BURST];

    queries_per_port = SHARE;
    for (unsigned i = 0; i < BURST; i++) {
        from[i] = ask_member(end, i);
        assert_true(i % SHARE == 0 || burst[i].port == burst[i - 1].port);
        assert_true(i % SHARE != 0 || i == 0 || burst[i].port != burst[i - 1].port);
    }
    for (unsigned i = SHARE; i-- > 0;)
        answer_member(end, &from[i], i);
    run_until_seen(&end->seen, SHARE);
    assert_string_equal(end->seen.words, "3:answer 2:answer 1:answer 0:answer");
}

static void test_a_query_that_wants_its_own_port_gets_it(void **state)
{
    struct end *end = *state;

    queries_per_port = 1;
    ask_member(end, 0);
    ask_member(end, 1);
    assert_int_not_equal(burst[0].port, burst[1].port);
    queries_per_port = SHARE;
    ask_member(end, 2);
    queries_per_port = 1;
    ask_member(end, 3);
    queries_per_port = SHARE;
    ask_member(end, 4);
    assert_int_not_equal(burst[2].port, burst[3].port);
    assert_int_equal(burst[2].port, burst[4].port);
}

/* Otherwise, all of these queries would have the first query's port. */
static void test_a_query_joins_no_port_that_does_not_fit(void **state)
{
    struct end *end = *state;
    struct addr other, source = addr_of("127.0.0.9@0");
    int fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &other);

    queries_per_port = SHARE;
    ask_member(end, 0);
    assert_int_equal(ask_member_with(end, 1, "AAq", &end->server, &any_source), ERR_OK);
    struct addr same_id = read_member(end, "AAq");
    assert_int_not_equal(addr_port(&same_id), burst[0].port);

    ask_member(end, 2);
    assert_int_equal(ask_member_with(end, 3, "DDq", &end->server, &source), ERR_OK);
    struct addr bound = read_member(end, "DDq");
    assert_true(addr_equal_ip(&bound, &source));

    ask_member(end, 4);
    assert_int_equal(ask_member_with(end, 5, "FFq", &other, &any_source), ERR_OK);
    struct addr local;
    udp_query_local(burst[5].query, &local);
    assert_int_not_equal(addr_port(&local), burst[4].port);
    close(fd);
}

static void test_a_query_joins_no_port_after_a_while(void **state)
{
    struct end *end = *state;

    queries_per_port = SHARE;
    ask_member(end, 0);
    usleep(2 * UDP_JOIN_US);
    run_some_turns(end->seen.loop);
    ask_member(end, 1);
    assert_int_not_equal(burst[0].port, burst[1].port);
}

static void test_a_port_without_waiting_queries_is_not_joined(void **state)
{
    struct end *end = *state;

    queries_per_port = SHARE;
    ask_member(end, 0);
    ask_member(end, 1);
    udp_query_close(&burst[0].query);
    ask_member(end, 2);
    assert_int_equal(burst[2].port, burst[1].port);
    udp_query_close(&burst[1].query);
    udp_query_close(&burst[2].query);
    ask_member(end, 3);
    assert_int_not_equal(burst[3].port, burst[2].port);
}

/* A second answer, or an answer to a closed query, is no attack. */
static void test_an_answer_to_a_closed_query_of_the_port_is_dropped(void **state)
{
    struct end *end = *state;

    queries_per_port = SHARE;
    struct addr from = ask_member(end, 0);
    ask_member(end, 1);
    udp_query_close(&burst[0].query);
    answer_member(end, &from, 0);
    answer_member(end, &from, 1);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "1:answer");
    assert_int_equal(burst[1].strays, 0);
    assert_int_equal(ask_member_with(end, 2, "AAq", &end->server, &any_source), ERR_OK);
    struct addr same_id = read_member(end, "AAq");
    assert_int_not_equal(addr_port(&same_id), burst[1].port);
}

/* If a forger finds the port, no new query leaves there. Its guesses count for all queries of the
 * port together. */
static void test_strays_count_for_the_whole_port(void **state)
{
    struct end *end = *state;

    queries_per_port = SHARE;
    struct addr from = ask_member(end, 0);
    ask_member(end, 1);
    answer(end->fd, &from, "ZZa");
    answer(end->fd, &from, "BBx");
    answer(end->fd, &from, "");
    run_until_seen(&end->seen, 3);
    assert_string_equal(end->seen.words, "0:stray 1:stray 0:stray");
    assert_int_equal(burst[0].strays, 3);
    assert_int_equal(burst[1].strays, 2);
    ask_member(end, 2);
    assert_int_not_equal(burst[2].port, burst[1].port);
}

static void test_an_icmp_error_fails_all_queries_of_the_port(void **state)
{
    struct end *end = *state;

    queries_per_port = SHARE;
    ask_member(end, 0);
    ask_member(end, 1);
    close(end->fd);
    assert_int_equal(ask_member_with(end, 2, "CCq", &end->server, &any_source), ERR_OK);
    run_until_seen(&end->seen, 3);
    assert_string_equal(end->seen.words, "0:refused 1:refused 2:refused");
    end->fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &end->server);
}

/* The kernel reports the error to the second send, which then leaves from another port. */
static void test_an_error_of_a_later_send_reaches_the_earlier_queries(void **state)
{
    struct end *end = *state;
    struct addr closed = closed_port(SOCK_DGRAM);

    queries_per_port = SHARE;
    assert_int_equal(ask_member_with(end, 0, "AAq", &closed, &any_source), ERR_OK);
    assert_int_equal(ask_member_with(end, 1, "BBq", &closed, &any_source), ERR_OK);
    struct addr first, second;
    udp_query_local(burst[0].query, &first);
    udp_query_local(burst[1].query, &second);
    assert_int_not_equal(addr_port(&first), addr_port(&second));
    run_until_seen(&end->seen, 2);
    assert_non_null(strstr(end->seen.words, "0:refused"));
    assert_non_null(strstr(end->seen.words, "1:refused"));
}

static uint16_t checksum_of(const uint8_t *bytes, size_t len)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < len; i += 2)
        sum += get_u16(bytes + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Sends the ICMP error of a firewall on the path, about a datagram between these ports (RFC 1812
 * section 5.2.7.1, code 13). Returns false if this process may not send it. */
static bool prohibit(uint16_t from, uint16_t to)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    uint8_t icmp[36] = {3, 13, [8] = 0x45, [11] = 31, [16] = 64, [17] = IPPROTO_UDP};
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

    if (fd < 0)
        return false;
    memcpy(icmp + 20, loopback, 4);
    memcpy(icmp + 24, loopback, 4);
    put_u16(icmp + 28, from);
    put_u16(icmp + 30, to);
    put_u16(icmp + 32, 11);
    put_u16(icmp + 2, checksum_of(icmp, sizeof(icmp)));
    ssize_t sent = sendto(fd, icmp, sizeof(icmp), 0, (struct sockaddr *)&peer, sizeof(peer));
    close(fd);
    return sent == (ssize_t)sizeof(icmp);
}

/* A firewall rejects the first query of a burst. The second query leaves from another port, because
 * the machine itself has a route. */
static void test_an_unreachable_peer_of_one_query_does_not_stop_the_next(void **state)
{
    struct end *end = *state;

    queries_per_port = SHARE;
    ask_member(end, 0);
    if (!prohibit(burst[0].port, addr_port(&end->server)))
        skip();
    ask_member(end, 1);
    assert_int_not_equal(burst[0].port, burst[1].port);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "0:failed");
}

/* A port that has lost its queries makes no further callback. */
static void test_a_callback_may_close_the_other_queries_of_the_port(void **state)
{
    struct end *end = *state;
    struct addr from[3];

    queries_per_port = SHARE;
    for (unsigned i = 0; i < 3; i++)
        from[i] = ask_member(end, i);
    for (unsigned i = 0; i < 3; i++) {
        burst[i].closes_all = true;
        answer_member(end, &from[i], i);
    }
    run_until_seen(&end->seen, 1);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "0:answer");

    ask_member(end, 3);
    ask_member(end, 4);
    burst[3].closes_all = burst[4].closes_all = true;
    close(end->fd);
    assert_int_equal(ask_member_with(end, 5, "FFq", &end->server, &any_source), ERR_OK);
    run_until_seen(&end->seen, 1);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "0:answer 3:refused");
    end->fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &end->server);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#define TEST_BURST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_burst)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_query_is_answered_and_again),
        TEST(test_only_datagrams_of_the_peer_arrive),
        TEST(test_a_refused_query_fails),
        TEST(test_an_icmp_error_does_not_make_the_socket_deaf),
        TEST(test_a_query_leaves_from_its_source_address),
        TEST(test_ports_are_fresh_for_each_query),
        TEST(test_a_socket_used_again_has_a_fresh_port),
        TEST(test_a_late_datagram_does_not_reach_the_next_query),
        TEST(test_an_icmp_error_does_not_reach_the_next_query),
        TEST(test_idle_sockets_are_bounded),
        TEST(test_closing_is_allowed_in_every_callback),
        TEST(test_no_callback_comes_after_close),
        TEST(test_many_queries_are_open_at_once),
        TEST(test_a_query_without_a_file_waits_until_there_is_one),
        TEST(test_many_queries_share_few_files),
        TEST(test_queries_that_wait_for_a_file_are_bounded),
        TEST(test_ports_come_from_the_whole_range),
        TEST(test_a_port_that_is_taken_is_not_used),
        TEST(test_when_all_ports_are_taken_the_system_draws),
        TEST(test_a_query_with_a_source_address_draws_a_port),
        TEST(test_sockets_with_drawn_ports_are_closed),
        TEST(test_a_bound_query_takes_the_file_of_an_idle_socket),
        TEST(test_a_query_that_waited_reports_why_it_cannot_be_sent),
        TEST_BURST(test_queries_of_a_burst_share_ports_up_to_a_bound),
        TEST_BURST(test_a_query_that_wants_its_own_port_gets_it),
        TEST_BURST(test_a_query_joins_no_port_that_does_not_fit),
        TEST_BURST(test_a_query_joins_no_port_after_a_while),
        TEST_BURST(test_a_port_without_waiting_queries_is_not_joined),
        TEST_BURST(test_an_answer_to_a_closed_query_of_the_port_is_dropped),
        TEST_BURST(test_strays_count_for_the_whole_port),
        TEST_BURST(test_an_icmp_error_fails_all_queries_of_the_port),
        TEST_BURST(test_an_error_of_a_later_send_reaches_the_earlier_queries),
        TEST_BURST(test_an_unreachable_peer_of_one_query_does_not_stop_the_next),
        TEST_BURST(test_a_callback_may_close_the_other_queries_of_the_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
