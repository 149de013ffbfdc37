/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "control/request.h"

#include "unit/control/desk.h"

#include <stdio.h>
#include <time.h>

#include "config/config.h"
#include "control/call.h"
#include "control/gather.h"
#include "control/metrics.h"
#include "dns/build.h"
#include "dns/rrtype.h"
#include "validate/anchor_dates.h"
#include "validate/anchors.h"

struct asked {
    struct desk desk;
    struct call *done;
    const char *fed; /* the input that follows the line */
};

static void on_done(struct call *call, void *context)
{
    struct asked *asked = context;
    assert_null(asked->done);
    asked->done = call;
}

/* Runs a request line to its end. Returns the reply, valid until the next call. */
static const char *ask(struct asked *asked, const char *line)
{
    static char text[65536];
    struct call *call = call_new(asked->desk.loop, &asked->desk.view, on_done, asked);

    asked->done = NULL;
    request_run(call, span_of(line, strlen(line)));
    desk_settle(&asked->desk);
    assert_ptr_equal(asked->done, call);
    while (call->more)
        call->more(call);
    if (call->feed) {
        if (*asked->fed)
            call->feed(call, span_of(asked->fed, strlen(asked->fed)));
        call->feed(call, span_of(NULL, 0));
    }
    assert_null(call->feed);
    struct span all = buf_span(&call->reply.buf);
    assert_true(all.len < sizeof(text));
    memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    call_free(call);
    assert_true(all.len > 4 && strcmp(text + all.len - 5, "\nend\n") == 0);
    return text;
}

static int open_all(void **state)
{
    static struct asked asked;
    desk_open(&asked.desk);
    asked.fed = "";
    *state = &asked;
    return 0;
}

static int close_all(void **state)
{
    desk_close(&((struct asked *)*state)->desk);
    return 0;
}

static bool is_refused(const char *reply)
{
    return strncmp(reply, "refused\t", 8) == 0;
}

static void test_every_command_of_the_table_answers(void **state)
{
    static const char *const verbs[] = {
#define COMMAND(verb, arguments, handler, sentence) verb,
#include "nailup/commands.def"
    };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const char *reply = ask(*state, verbs[i]);
        if (strncmp(reply, "refused\tusage: ", 15) == 0) {
            char line[64];
            snprintf(line, sizeof(line), "%s\texample.com", verbs[i]);
            reply = ask(*state, line);
        }
        assert_true(strncmp(reply, "ok\n", 3) == 0);
        assert_true(strstr(reply, "\ncolumns\t") || strncmp(reply, "ok\ntext\n", 8) == 0);
    }
}

static void test_a_check_says_ready_degraded_or_draining(void **state)
{
    struct asked *asked = *state;
    struct addr nowhere;
    struct route_upstream upstream = {0};
    struct route_zone zone = {.upstreams = &upstream, .upstream_count = 1};
    static struct config config;

    assert_non_null(strstr(ask(asked, "check"), "row\tready\tyes\tyes\t\n"));
    /* the kernel never routes to this address */
    assert_int_equal(addr_parse(&nowhere, "240.0.0.1", 53), ERR_OK);
    assert_int_equal(addr_parse(&upstream.addr, "255.255.255.255", 53), ERR_OK);
    assert_int_equal(addr_parse(&upstream.addr, "127.0.0.1", 53), ERR_OK);
    config.route = (struct route_options){.zones = &zone, .zone_count = 1};
    asked->desk.view.config = &config;
    assert_non_null(strstr(ask(asked, "check"), "row\tready\tyes\tyes\t\n"));
    asked->desk.view.config = NULL;
    asked->desk.view.is_draining = true;
    assert_non_null(strstr(ask(asked, "check"), "row\tdraining\tyes\tyes\tdraining\n"));
    assert_true(is_refused(ask(asked, "status")));
    assert_true(is_refused(ask(asked, "recycle")));
    asked->desk.view.is_draining = false;
}

/* ---- the clock ---- */

enum { DAY_S = 86400, KEYS_SPACE = 3 };

static void store_keys(struct asked *asked, enum security security)
{
    struct question question = {.name = name_root(), .type = RRTYPE_DNSKEY, .cls = RRCLASS_IN};
    struct cache *cache = asked->desk.view.cache;
    uint8_t bytes[64];
    struct build build;
    struct cache_key key;
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA);
    build_question(&build, &question);
    struct answer answer = {.message = span_of(bytes, build_finish(&build)),
                            .ttl_s = 60,
                            .stored_at = loop_now(asked->desk.loop),
                            .security = security};
    cache_key_init(&key, cache, &question, CACHE_KEY_DO, CACHE_VIEW_TRUST, KEYS_SPACE);
    assert_true(cache_store(cache, &key, &answer));
}

static void test_keys_of_an_anchor_with_other_dates_put_the_clock_in_doubt(void **state)
{
    struct asked *asked = *state;
    static struct config config;
    static struct stats sums;
    struct anchors *anchors = anchors_new();
    struct stats *stats = &asked->desk.stats[1];
    struct anchor_dates dates = {.zone_hash = anchor_dates_hash(name_root()),
                                 .space = KEYS_SPACE,
                                 .at_s = (uint32_t)(time(NULL) - 31 * DAY_S),
                                 .is_expired = true};
    static const char expired[] = "row\tdegraded\tyes\tno\tsignatures of . expired 31 days ago: "
                                  "is the clock right?\n";

    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    config.route.validation.anchors = anchors;
    asked->desk.view.config = &config;
    assert_non_null(strstr(ask(asked, "check"), "row\tready\tyes\tyes\t\n"));
    metrics_collect(&asked->desk.view, &sums);
    assert_int_equal(sums.clock_wrong, 0);
    anchor_dates_note(stats, &dates);
    assert_non_null(strstr(ask(asked, "check"), expired));
    assert_non_null(strstr(ask(asked, "status"), "signatures of . expired 31 days ago"));
    metrics_collect(&asked->desk.view, &sums);
    assert_int_equal(sums.clock_wrong, 1);
    store_keys(asked, SECURITY_UNCHECKED);
    assert_non_null(strstr(ask(asked, "check"), expired));
    store_keys(asked, SECURITY_SECURE); /* another worker has validated them since */
    assert_non_null(strstr(ask(asked, "check"), "row\tready\tyes\tyes\t\n"));
    fake_loop_advance(asked->desk.loop, 61 * US_PER_S);
    assert_non_null(strstr(ask(asked, "check"), expired));
    dates.at_s = (uint32_t)(time(NULL) + DAY_S); /* the clock has been set back since */
    anchor_dates_note(stats, &dates);
    assert_non_null(strstr(ask(asked, "check"), "row\tready\tyes\tyes\t\n"));
    dates.is_expired = false;
    anchor_dates_note(stats, &dates);
    assert_non_null(strstr(ask(asked, "check"), "signatures of . begin in 2"));
    config.route.validation.anchors = NULL; /* a reload removes the anchors */
    assert_non_null(strstr(ask(asked, "check"), "row\tready\tyes\tyes\t\n"));
    asked->desk.view.config = NULL;
    anchors_free(anchors);
}

static void test_commands_of_the_daemon_go_through_its_hooks(void **state)
{
    struct asked *asked = *state;
    assert_false(is_refused(ask(asked, "reload")));
    assert_false(is_refused(ask(asked, "drain")));
    assert_false(is_refused(ask(asked, "forward\ta.example\t192.0.2.1\t192.0.2.2")));
    assert_false(is_refused(ask(asked, "nta\tadd\ta.example\t1h")));
    assert_false(is_refused(ask(asked, "anchors")));
    assert_false(is_refused(ask(asked, "portal\ton\t192.0.2.1")));
    assert_int_equal(asked->desk.hooked, 6);
    asked->desk.view.hooks = NULL;
    assert_true(is_refused(ask(asked, "reload")));
    assert_true(is_refused(ask(asked, "drain")));
    assert_true(is_refused(ask(asked, "forward")));
    assert_true(is_refused(ask(asked, "nta")));
    assert_true(is_refused(ask(asked, "anchors")));
    assert_true(is_refused(ask(asked, "portal")));
    assert_int_equal(asked->desk.hooked, 6);
}

static void test_an_unknown_verb_is_refused_with_its_name(void **state)
{
    const char *reply = ask(*state, "dance");
    assert_true(is_refused(reply));
    assert_non_null(strstr(reply, "dance"));
}

static void test_verbs_are_compared_whole(void **state)
{
    assert_true(is_refused(ask(*state, "stat")));
    assert_true(is_refused(ask(*state, "statuss")));
    assert_true(is_refused(ask(*state, "STATUS")));
}

static void test_too_many_words_are_refused(void **state)
{
    assert_true(is_refused(ask(*state, "status\tnow")));
    assert_true(is_refused(ask(*state, "recycle\t10.0.0.0/8\t10.1.0.0/16")));
    assert_true(is_refused(ask(*state, "a\tb\tc\td\te\tf\tg\th\ti\tj\tk\tl\tm\tn\to\tp\tq")));
}

static void test_empty_words_and_control_characters_are_refused(void **state)
{
    assert_true(is_refused(ask(*state, "")));
    assert_true(is_refused(ask(*state, "\t")));
    assert_true(is_refused(ask(*state, "status\t")));
    assert_true(is_refused(ask(*state, "\tstatus")));
    assert_true(is_refused(ask(*state, "status\r")));
    assert_true(is_refused(ask(*state, "sta\x7ftus")));
}

static void test_a_line_that_fills_the_buffer_is_refused_and_not_overrun(void **state)
{
    static char line[CONTROL_REQUEST_MAX + 2];
    memset(line, 'x', CONTROL_REQUEST_MAX);
    assert_true(is_refused(ask(*state, line)));
    line[CONTROL_REQUEST_MAX - 1] = '\0';
    assert_true(is_refused(ask(*state, line)));
}

static void test_a_nul_byte_is_refused(void **state)
{
    struct asked *asked = *state;
    struct call *call = call_new(asked->desk.loop, &asked->desk.view, on_done, asked);
    asked->done = NULL;
    request_run(call, span_of("status\0", 7));
    assert_true(call->reply.refused);
    call_free(call);
}

static void test_recycle_takes_a_prefix_or_nothing(void **state)
{
    const char *none = "\nrow\t0\nend\n";
    assert_non_null(strstr(ask(*state, "recycle"), none));
    assert_non_null(strstr(ask(*state, "recycle\t192.0.2.0/24"), none));
    assert_non_null(strstr(ask(*state, "recycle\t2001:db8::1"), none));
    assert_true(is_refused(ask(*state, "recycle\tnowhere")));
    assert_true(is_refused(ask(*state, "recycle\t192.0.2.0/33")));
}

static void test_rows_come_in_the_order_of_the_workers(void **state)
{
    struct asked *asked = *state;
    struct upstream_options options = upstream_options_default;
    struct addr addr;

    for (int i = DESK_WORKERS - 1; i >= 0; i--) {
        assert_int_equal(addr_parse(&addr, i ? "192.0.2.2@53" : "192.0.2.1@53", 53), ERR_OK);
        assert_non_null(upstreams_get(asked->desk.workers[i].upstreams, &addr, &options));
    }
    const char *reply = ask(asked, "upstreams");
    const char *first = strstr(reply, "\nrow\t0\t192.0.2.1@53\tudp\t");
    const char *second = strstr(reply, "\nrow\t1\t192.0.2.2@53\tudp\t");
    assert_true(first && second && first < second);
}

static void test_many_upstreams_are_listed_over_several_turns_and_each_once(void **state)
{
    enum { MANY = 2 * GATHER_TURN_MAX + 100 };
    struct asked *asked = *state;
    struct upstream_options options = upstream_options_default;
    struct addr addr;
    char text[64];

    for (int i = 1; i <= MANY; i++) {
        snprintf(text, sizeof(text), "192.0.%d.%d@53", i / 256, i % 256);
        assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
        assert_non_null(upstreams_get(asked->desk.workers[0].upstreams, &addr, &options));
    }
    const char *row = ask(asked, "upstreams");
    for (int i = 1; i <= MANY; i++) {
        snprintf(text, sizeof(text), "\nrow\t0\t192.0.%d.%d@53\tudp\t", i / 256, i % 256);
        row = strstr(row, text);
        assert_non_null(row);
        row++;
        assert_null(strstr(row, text));
    }
    assert_non_null(strstr(ask(asked, "connections"), "\nend\n"));
}

/* A turn of a busy worker takes milliseconds, so hundreds of turns would take seconds. */
static void test_ten_thousand_upstreams_are_listed_in_few_turns(void **state)
{
    struct asked *asked = *state;
    struct upstream_options options = upstream_options_default;
    struct loop *worker = asked->desk.workers[0].loop;
    struct addr addr;
    char text[64];
    uint64_t rows = 0;

    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof(text), "10.0.%d.%d@53", i / 256, i % 256);
        assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
        assert_non_null(upstreams_get(asked->desk.workers[0].upstreams, &addr, &options));
    }
    struct call *call = call_new(asked->desk.loop, &asked->desk.view, on_done, asked);
    asked->done = NULL;
    request_run(call, span_of("upstreams", 9));
    uint64_t before = fake_loop_turns(worker);
    desk_settle(&asked->desk);
    assert_ptr_equal(asked->done, call);
    assert_in_range(fake_loop_turns(worker) - before, 10000 / GATHER_TURN_MAX,
                    10000 / GATHER_TURN_MAX + 5);
    struct span all = buf_span(&call->reply.buf);
    for (size_t i = 0; i + 5 < all.len; i++)
        rows += memcmp(all.data + i, "\nrow\t", 5) == 0;
    assert_int_equal(rows, 10000);
    call_free(call);
}

static void test_a_worker_that_has_ended_is_left_out(void **state)
{
    struct asked *asked = *state;
    struct upstreams *kept = asked->desk.workers[1].upstreams;

    asked->desk.workers[1].upstreams = NULL;
    assert_non_null(strstr(ask(asked, "recycle"), "\nrow\t0\n"));
    asked->desk.workers[1].upstreams = kept;
}

static void test_numbers_of_workers_are_summed(void **state)
{
    struct asked *asked = *state;

    STATS_ADD(&asked->desk.stats[0], queries_udp, 40);
    STATS_ADD(&asked->desk.stats[1], queries_udp, 2);
    STATS_ADD(&asked->desk.stats[0], answers_noerror, 3);
    STATS_ADD(&asked->desk.stats[1], answers_nxdomain, 2);
    STATS_ADD(&asked->desk.stats[1], cache_hits, 1);
    STATS_ADD(&asked->desk.stats[0], cache_misses, 3);
    assert_non_null(strstr(ask(asked, "stats"), "\tprotocol=\"udp\"\t42\n"));
    const char *status = ask(asked, "status");
    assert_non_null(strstr(status, "\t42\t5\t1\t3\t0.250000\t"));
    assert_non_null(strstr(status, "\nrow\t127.0.0.1@5353\tudp tcp\n"));
}

static void test_an_abandoned_call_ends_without_its_client(void **state)
{
    struct asked *asked = *state;
    struct call *call = call_new(asked->desk.loop, &asked->desk.view, on_done, asked);

    asked->done = NULL;
    request_run(call, span_of("connections", 11));
    assert_null(asked->done);
    call_abandon(call);
    desk_settle(&asked->desk); /* LeakSanitizer reports a leak */
    assert_null(asked->done);
}

/* ---- the cache ---- */

/* Stores an answer for the name: an alias if there is a target, else an answer without records. */
static void keep_in_space(struct asked *asked, const char *text, uint16_t type, const char *target,
                          uint32_t space)
{
    uint8_t wire[NAME_WIRE_MAX], target_wire[NAME_WIRE_MAX], bytes[1024];
    struct question question = {.type = type, .cls = RRCLASS_IN};
    struct cache *cache = asked->desk.view.cache;
    struct cache_key key;
    struct build build;
    struct name name;

    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA);
    build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    if (target) {
        assert_int_equal(name_parse(&name, target_wire, target, strlen(target)), ERR_OK);
        build_rr_begin(&build, question.name, RRTYPE_CNAME, RRCLASS_IN, 60);
        build_name(&build, name);
        build_rr_end(&build);
    }
    struct answer answer = {.message = span_of(bytes, build_finish(&build)), .ttl_s = 60};
    cache_key_init(&key, cache, &question, 0, 0, space);
    assert_true(cache_store(cache, &key, &answer));
}

static void keep(struct asked *asked, const char *text, uint16_t type, const char *target)
{
    keep_in_space(asked, text, type, target, CACHE_SPACE_SHARED);
}

static uint64_t kept(struct asked *asked)
{
    struct cache_usage usage;
    cache_usage(asked->desk.view.cache, &usage);
    return usage.entries;
}

static void test_flush_forgets_a_name_of_all_types_or_of_one(void **state)
{
    keep(*state, "www.example", RRTYPE_A, NULL);
    keep(*state, "www.example", RRTYPE_AAAA, NULL);
    keep(*state, "www.example", RRTYPE_TXT, NULL);
    keep(*state, "a.www.example", RRTYPE_A, NULL);
    assert_non_null(
        strstr(ask(*state, "flush\tWWW.example.\tAAAA"), "\nrow\tWWW.example.\t1\nend\n"));
    assert_int_equal(kept(*state), 3);
    assert_non_null(strstr(ask(*state, "flush\twww.example"), "\nrow\twww.example.\t2\n"));
    assert_int_equal(kept(*state), 1);
    assert_non_null(strstr(ask(*state, "flush\twww.example"), "\t0\nend\n"));
}

static void test_flush_forgets_aliases_that_lead_to_the_name(void **state)
{
    keep(*state, "www.example", RRTYPE_A, "cdn.test");
    keep(*state, "mail.example", RRTYPE_A, "mx.test");
    assert_non_null(strstr(ask(*state, "flush\tcdn.test"), "\t1\nend\n"));
    assert_int_equal(kept(*state), 1);
}

static void test_flush_zone_forgets_names_below_it(void **state)
{
    keep(*state, "example", RRTYPE_A, NULL);
    keep(*state, "a.b.example", RRTYPE_A, NULL);
    keep(*state, "other", RRTYPE_A, "a.example");
    keep(*state, "notexample", RRTYPE_A, NULL);
    assert_non_null(strstr(ask(*state, "flush-zone\texample"), "\t3\nend\n"));
    assert_int_equal(kept(*state), 1);
    assert_non_null(strstr(ask(*state, "flush-zone\t."), "\nrow\t.\t1\n"));
    assert_int_equal(kept(*state), 0);
}

static void test_flush_refuses_wrong_names_and_types(void **state)
{
    assert_true(is_refused(ask(*state, "flush")));
    assert_true(is_refused(ask(*state, "flush\ta..b")));
    assert_true(is_refused(ask(*state, "flush\texample\tBBBB")));
    assert_true(is_refused(ask(*state, "flush-zone\t\\999")));
    assert_true(is_refused(ask(*state, "flush-zone\texample\tA")));
}

#define WWW_TEXT                                                                                   \
    ";answer www.example. A ttl 60 rcode NOERROR kind positive\n"                                  \
    "www.example.\t60\tIN\tA\t192.0.2.1\n;end\n"

static void test_a_dump_can_be_loaded(void **state)
{
    struct asked *asked = *state;
    asked->fed = WWW_TEXT;
    const char *reply = ask(asked, "load-cache");
    assert_string_equal(reply, "ok\ntable\trefused\ncolumns\tline:count\twhy:text\n"
                               "record\tloaded\n"
                               "columns\tanswers:count\tlines:count\t"
                               "passed_over:count\trefused:count\n"
                               "row\t1\t3\t0\t0\nend\n");
    assert_int_equal(kept(asked), 1);
    assert_string_equal(ask(asked, "dump-cache"), "ok\ntext\n" WWW_TEXT "end\n");
    ask(asked, "flush-zone\t.");
    assert_string_equal(ask(asked, "dump-cache"), "ok\ntext\nend\n");
}

static void test_a_dump_leaves_out_answers_of_views(void **state)
{
    struct asked *asked = *state;
    keep_in_space(asked, "www.example", RRTYPE_A, NULL, CACHE_SPACE_SHARED + 1);
    assert_int_equal(kept(asked), 1);
    assert_string_equal(ask(asked, "dump-cache"), "ok\ntext\nend\n");
}

static void test_refused_lines_are_listed_with_their_numbers(void **state)
{
    struct asked *asked = *state;
    asked->fed =
        "nonsense\n" WWW_TEXT ";answer a.example. A ttl 60\na.example. 60 IN A 1.2.3\n;end";
    const char *reply = ask(asked, "load-cache");
    assert_non_null(strstr(reply, "\nrow\t1\ta record outside"));
    assert_non_null(strstr(reply, "\nrow\t6\tthis is not a record\n"));
    assert_non_null(strstr(reply, "\nrow\t1\t7\t0\t2\nend\n"));
    assert_int_equal(kept(asked), 1);
}

static void test_the_list_of_refused_lines_is_bounded(void **state)
{
    static char text[40000];
    struct asked *asked = *state;
    for (size_t i = 0; i < 2000; i++)
        memcpy(text + i * 5, ";end\n", 5);
    text[10000] = '\0';
    asked->fed = text;
    const char *reply = ask(asked, "load-cache");
    size_t rows = 0;
    for (const char *row = reply; (row = strstr(row, "\nrow\t")); row++)
        rows++;
    assert_int_equal(rows, 100);
    assert_non_null(strstr(reply, "2000 of 2000 lines are invalid"));
}

static void test_skipped_answers_are_counted(void **state)
{
    struct asked *asked = *state;
    asked->fed = ";answer a.example. A ttl 0\na.example. 0 IN A 192.0.2.1\n;end\n"
                 ";answer b.example. A ttl 5 rcode SERVFAIL kind failure\n;end\n" WWW_TEXT;
    assert_non_null(strstr(ask(asked, "load-cache"), "\nrow\t1\t8\t2\t0\nend\n"));
}

static void test_other_input_than_a_dump_is_refused(void **state)
{
    struct asked *asked = *state;
    asked->fed = "<html>\n;answer b.example. A ttl 5 rcode SERVFAIL kind failure\n;end\n";
    const char *reply = ask(asked, "load-cache");
    assert_string_equal(reply, "refused\tno answer was stored: 1 of 3 lines are invalid, and 1 "
                               "answers were skipped because they have expired, are failures "
                               "or are local data\n"
                               "table\terrors\ncolumns\terror:text\nrow\tline 1: a record outside "
                               "of an answer; begin one with ;answer NAME TYPE\nend\n");
    asked->fed = "; nothing at all\n";
    assert_non_null(strstr(ask(asked, "load-cache"), "\nrow\t0\t1\t0\t0\nend\n"));
}

#define WITH_DESK(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DESK(test_every_command_of_the_table_answers),
        WITH_DESK(test_a_check_says_ready_degraded_or_draining),
        WITH_DESK(test_keys_of_an_anchor_with_other_dates_put_the_clock_in_doubt),
        WITH_DESK(test_commands_of_the_daemon_go_through_its_hooks),
        WITH_DESK(test_an_unknown_verb_is_refused_with_its_name),
        WITH_DESK(test_verbs_are_compared_whole),
        WITH_DESK(test_too_many_words_are_refused),
        WITH_DESK(test_empty_words_and_control_characters_are_refused),
        WITH_DESK(test_a_line_that_fills_the_buffer_is_refused_and_not_overrun),
        WITH_DESK(test_a_nul_byte_is_refused),
        WITH_DESK(test_recycle_takes_a_prefix_or_nothing),
        WITH_DESK(test_rows_come_in_the_order_of_the_workers),
        WITH_DESK(test_many_upstreams_are_listed_over_several_turns_and_each_once),
        WITH_DESK(test_ten_thousand_upstreams_are_listed_in_few_turns),
        WITH_DESK(test_a_worker_that_has_ended_is_left_out),
        WITH_DESK(test_numbers_of_workers_are_summed),
        WITH_DESK(test_an_abandoned_call_ends_without_its_client),
        WITH_DESK(test_flush_forgets_a_name_of_all_types_or_of_one),
        WITH_DESK(test_flush_forgets_aliases_that_lead_to_the_name),
        WITH_DESK(test_flush_zone_forgets_names_below_it),
        WITH_DESK(test_flush_refuses_wrong_names_and_types),
        WITH_DESK(test_a_dump_can_be_loaded),
        WITH_DESK(test_a_dump_leaves_out_answers_of_views),
        WITH_DESK(test_refused_lines_are_listed_with_their_numbers),
        WITH_DESK(test_the_list_of_refused_lines_is_bounded),
        WITH_DESK(test_skipped_answers_are_counted),
        WITH_DESK(test_other_input_than_a_dump_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
