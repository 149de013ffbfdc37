/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Tests what the commands lookup and zones report about zones, local data and the cache. */

#include "unit/control/desk.h"
#include "unit/rpz/rpz_make.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "control/call.h"
#include "control/request.h"
#include "dns/build.h"
#include "dns/rrtype.h"

enum { ZONES = 150 }; /* more zones than a worker reports in one turn */

struct office {
    struct desk desk;
    struct config *config;
    struct call *done;
};

static const char config_text[] =
    "server: {listen: [127.0.0.1@5353]}\n"
    "local-zones: [{name: ads.test, action: nxdomain}]\n"
    "local-data: [\"nas.lan. A 192.0.2.7\",\n"
    "  \"out.lan. CNAME www.z7.example.\", \"also.lan. CNAME nas.lan.\",\n"
    "  \"late.lan. A 192.0.2.8\"]\n";

/* Zones z0.example, z1.example ... with the same two upstreams. */
static char *all_text(void)
{
    size_t size = sizeof(config_text) + ZONES * 128, len;
    char *text = malloc(size);
    len = (size_t)snprintf(text, size, "%sforward-zones:\n", config_text);
    for (int i = 0; i < ZONES; i++)
        len += (size_t)snprintf(text + len, size - len,
                                "  - {name: z%d.example, upstreams: [192.0.2.1, 192.0.2.2]}\n", i);
    return text;
}

static int open_all(void **state)
{
    static struct office office;
    struct buf errors;
    char *text = all_text();
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_parse("nailup.yaml", text, strlen(text), &office.config, &errors),
                     ERR_OK);
    buf_deinit(&errors);
    free(text);
    desk_open_with(&office.desk, &office.config->route);
    office.desk.view.config = office.config;
    for (int i = 0; i < DESK_WORKERS; i++)
        resolver_set_local(office.desk.workers[i].resolver, office.config->local);
    *state = &office;
    return 0;
}

static int close_all(void **state)
{
    struct office *office = *state;
    desk_close(&office->desk);
    config_free(office->config);
    return 0;
}

static void on_done(struct call *call, void *context)
{
    ((struct office *)context)->done = call;
}

static const char *ask(struct office *office, const char *line)
{
    static char text[262144];
    struct call *call = call_new(office->desk.loop, &office->desk.view, on_done, office);
    office->done = NULL;
    request_run(call, span_of(line, strlen(line)));
    desk_settle(&office->desk);
    assert_ptr_equal(office->done, call);
    struct span all = buf_span(&call->reply.buf);
    assert_true(all.len < sizeof(text));
    memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    call_free(call);
    return text;
}

#define ASSERT_SAYS(reply, part) assert_non_null(strstr(reply, part))
#define ASSERT_REFUSED(reply) assert_true(strncmp(reply, "refused\t", 8) == 0)

static void test_lookup_shows_the_upstreams_of_each_worker(void **state)
{
    const char *reply = ask(*state, "lookup\tWWW.Z9.example\tAAAA");
    ASSERT_SAYS(reply, "\nrow\twww.z9.example.\tAAAA\tby upstreams\t\tno\t");
    ASSERT_SAYS(reply, "\tz9.example.\t\t\t.\ttrusted\tbuilt-in\t\ntable\tcached_answers\n");
    ASSERT_SAYS(reply, "\nrow\t0\t1\t192.0.2.1@53\tudp\tgood\t\t0\t0\t0\t\n"
                       "row\t0\t1\t192.0.2.2@53\tudp\tgood\t\t0\t0\t0\t\n"
                       "row\t1\t1\t192.0.2.1@53\tudp\t");
}

static void test_lookup_shows_why_a_name_is_local_data(void **state)
{
    ASSERT_SAYS(ask(*state, "lookup\tx.ads.test"),
                "\tA\there\tNXDOMAIN\tno\tads.test.\tnxdomain\tlocal-zones\tno\t\t\t\t\t\t\t\t\n");
    ASSERT_SAYS(ask(*state, "lookup\tnas.lan"), "\there\tNOERROR\tno\t\t\t\tyes\t\t\t\t\t\t\t\t\n");
    ASSERT_SAYS(
        ask(*state, "lookup\tout.lan"),
        "\tby "
        "upstreams\t\tno\t\t\t\tyes\twww.z7.example.\tz7.example.\t\t\t.\ttrusted\tbuilt-in\t\n");
}

/* A rule about answers or servers does not apply to a local answer (police_judge()). */
static void test_lookup_decides_the_policy_of_local_answers(void **state)
{
    struct office *office = *state;
    static char no_name[] = "";
    static const struct rpz_zone_options names[] = {
        {.wire = "\1p", .name_len = 3, .is_default = true, .log_name = no_name},
        {.wire = "\1q", .name_len = 3, .is_default = true, .log_name = no_name},
    };
    struct rpz_policy_entry entries[] = {
        {&names[0], rules_make("p", "32.7.2.0.192.rpz-ip CNAME .\nns.x.rpz-nsdname CNAME .\n")},
        {&names[1], rules_make("q", "late.lan CNAME .\n")},
    };
    struct rpz_policy *policy = rpz_policy_new(entries, 2, false);
    office->desk.view.policy.rules = policy;
    ASSERT_SAYS(ask(office, "lookup\tnas.lan"), "\nrow\t127.0.0.1\tnone\t\t\t\t\t\n");
    ASSERT_SAYS(ask(office, "lookup\tlate.lan"),
                "\nrow\t127.0.0.1\tnxdomain\tq.\tlate.lan.q.\tqname\tlate.lan.\tthe query\n");
    ASSERT_SAYS(ask(office, "lookup\talso.lan\tCNAME"), "\nrow\t127.0.0.1\tnone\t");
    ASSERT_SAYS(ask(office, "lookup\talso.lan"), "\nrow\t127.0.0.1\tdepends on the answer\t");
    ASSERT_SAYS(ask(office, "lookup\twww.z7.example"), "\nrow\t127.0.0.1\tdepends on the answer\t");
    rpz_policy_unref(policy);
    office->desk.view.policy.rules = NULL;
    for (size_t i = 0; i < 2; i++)
        rpz_rules_unref(entries[i].rules);
}

static void test_lookup_shows_where_recursion_begins_without_a_query(void **state)
{
    struct office *office = *state;
    const char *reply = ask(office, "lookup\tno.zone.takes.it");
    ASSERT_SAYS(reply,
                "\tby recursion\t\tno\t\t\t\tno\t\t.\t.\troot hints\t.\ttrusted\tbuilt-in\t\n");
    ASSERT_SAYS(reply, "\nrow\t0\t\t198.41.0.4@53\tudp\tnot known yet\t");
    for (int i = 0; i < DESK_WORKERS; i++)
        assert_int_equal(upstreams_discovered(office->desk.workers[i].upstreams), 0);
    ASSERT_SAYS(ask(office, "zones"), "\nrow\t.\trecursion\t\t\t\t\n");
}

static void keep(struct office *office, const char *text, uint32_t ttl_s, uint8_t flags)
{
    uint8_t wire[NAME_WIRE_MAX], bytes[512];
    struct question question = {.type = RRTYPE_A, .cls = RRCLASS_IN};
    struct cache_key key;
    struct build build;
    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA | RCODE_NXDOMAIN);
    build_question(&build, &question);
    struct answer answer = {.message = span_of(bytes, build_finish(&build)),
                            .kind = ANSWER_NXDOMAIN,
                            .security = SECURITY_SECURE,
                            .signatures = {.until_s = (uint32_t)loop_wall_s(office->desk.loop) + 65,
                                           .signer_labels = 2},
                            .ttl_s = ttl_s,
                            .stored_at = loop_now(office->desk.loop)};
    cache_key_init(&key, office->desk.view.cache, &question, flags, 0, CACHE_SPACE_SHARED);
    assert_true(cache_store(office->desk.view.cache, &key, &answer));
}

static void test_lookup_shows_cached_answers_and_leaves_them_unmarked(void **state)
{
    struct office *office = *state;
    keep(office, "www.z1.example", 60, 0);
    keep(office, "www.z1.example", 90, CACHE_KEY_DO);
    for (int i = 0; i < 2; i++) {
        const char *reply = ask(office, "lookup\twww.z1.example");
        ASSERT_SAYS(reply, "\tfrom the cache\tNXDOMAIN\t");
        ASSERT_SAYS(reply, "\nrow\tno\tno\tfresh\tNXDOMAIN\tnxdomain\t60000000\t0\t0\t32\tno"
                           "\tsecure\tz1.example.\t65000000\t\n"
                           "row\tyes\tno\tfresh\tNXDOMAIN\tnxdomain\t90000000\t0\t0\t32\tno"
                           "\tsecure\tz1.example.\t65000000\t\n");
        ASSERT_SAYS(reply, "\tz1.example.\t\t\t.\ttrusted\tbuilt-in\t\n");
    }
    for (int i = 0; i < DESK_WORKERS; i++)
        fake_loop_advance(office->desk.workers[i].loop, 70 * 1000000);
    const char *reply = ask(office, "lookup\twww.z1.example");
    ASSERT_SAYS(reply, "\tby upstreams\t");
    ASSERT_SAYS(reply, "\texpired\tNXDOMAIN\tnxdomain\t0\t70000000\t10000000\t");
    ASSERT_SAYS(reply, "\tsecure\tz1.example.\t0\t\n"); /* the signatures have expired too */
    assert_int_equal(office->desk.stats[0].cache_hits + office->desk.stats[0].cache_misses, 0);
}

static void test_lookup_refuses_wrong_names_and_types(void **state)
{
    ASSERT_REFUSED(ask(*state, "lookup"));
    ASSERT_REFUSED(ask(*state, "lookup\ta..b"));
    ASSERT_REFUSED(ask(*state, "lookup\texample\tNONE"));
    ASSERT_REFUSED(ask(*state, "lookup\texample\tAXFR"));
    ASSERT_REFUSED(ask(*state, "lookup\texample\tOPT"));
    ASSERT_REFUSED(ask(*state, "lookup\t\\999"));
    ASSERT_SAYS(ask(*state, "lookup\ta\\009\\027\\255.example"),
                "\nrow\ta\\009\\027\\255.example.\t");
}

static void test_zones_are_listed_over_several_turns_of_the_workers(void **state)
{
    const char *reply = ask(*state, "zones");
    size_t rows = 0;
    for (const char *row = reply; (row = strstr(row, "\tforward\tudp\t2\t2\t192.0.2.1@53 ")); row++)
        rows++;
    assert_int_equal(rows, ZONES);
    ASSERT_SAYS(reply, "\nrow\tz149.example.\tforward\tudp\t2\t2\t192.0.2.1@53 192.0.2.2@53\n");
    ASSERT_SAYS(reply, "\nrow\tads.test.\tnxdomain\n");
    ASSERT_SAYS(reply, "\ntable\tblock_lists\n");
}

/* ---- views ---- */

#define LOOKUP_VIEWS                                                                               \
    "local-data: [\"nas.lan. A 192.0.2.7\"]\n"                                                     \
    "forward-zones: [{name: ., upstreams: [192.0.2.1]}]\n"                                         \
    "views:\n"                                                                                     \
    "  - {name: lab, clients: [10.9.0.0/16], forward-zones: [{name: ., upstreams: "                \
    "[192.0.2.2]}]}\n"                                                                             \
    "  - {name: shop, clients: [10.8.0.0/16], local-data: [\"till.lan. A 192.0.2.8\"]}\n"

static int open_views(void **state)
{
    static struct office office;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(
        config_parse("nailup.yaml", LOOKUP_VIEWS, strlen(LOOKUP_VIEWS), &office.config, &errors),
        ERR_OK);
    buf_deinit(&errors);
    desk_open_with(&office.desk, &office.config->route);
    office.desk.view.config = office.config;
    for (int i = 0; i < DESK_WORKERS; i++)
        resolver_set_local(office.desk.workers[i].resolver, office.config->local);
    *state = &office;
    return 0;
}

static void test_lookup_shows_a_view_by_its_name(void **state)
{
    const char *reply = ask(*state, "lookup\twww.example\tA\t127.0.0.1\tlab");
    ASSERT_SAYS(reply, "\tlab\n");
    ASSERT_SAYS(reply, "\t192.0.2.2@53\t");
    assert_null(strstr(reply, "192.0.2.1@53"));
    ASSERT_SAYS(ask(*state, "lookup\ttill.lan\tA\t127.0.0.1\tshop"), "\there\tNOERROR\t");
    assert_null(strstr(ask(*state, "lookup\ttill.lan\tA\t127.0.0.1\tlab"), "\there\t"));
    ASSERT_SAYS(ask(*state, "lookup\tnas.lan\tA\t127.0.0.1\tlab"), "\there\tNOERROR\t");
}

static void test_lookup_takes_the_view_of_the_client(void **state)
{
    ASSERT_SAYS(ask(*state, "lookup\twww.example\tA\t10.9.7.7"), "\t192.0.2.2@53\t");
    ASSERT_SAYS(ask(*state, "lookup\ttill.lan\tA\t10.8.7.7"), "\there\tNOERROR\t");
    const char *reply = ask(*state, "lookup\twww.example\tA\t10.7.7.7");
    ASSERT_SAYS(reply, "\t192.0.2.1@53\t");
    assert_null(strstr(reply, "192.0.2.2@53"));
    /* a named view has priority over the client's view */
    ASSERT_SAYS(ask(*state, "lookup\twww.example\tA\t10.8.7.7\tlab"), "\t192.0.2.2@53\t");
}

static void test_lookup_refuses_an_unknown_view(void **state)
{
    const char *reply = ask(*state, "lookup\twww.example\tA\t127.0.0.1\tlap");
    ASSERT_REFUSED(reply);
    ASSERT_SAYS(reply, "'lap' is not a view; views: lab, shop");
    ASSERT_REFUSED(ask(*state, "lookup\twww.example\tA\tnobody\tlab"));
}

static void test_lookup_refuses_each_view_where_there_is_none(void **state)
{
    ASSERT_SAYS(ask(*state, "lookup\twww.z1.example\tA\t127.0.0.1\tlab"),
                "'lab' is not a view; views: none is configured");
}

static void test_lookup_without_a_worker_is_refused(void **state)
{
    struct office *office = *state;
    struct upstreams *kept[DESK_WORKERS];
    for (int i = 0; i < DESK_WORKERS; i++) {
        kept[i] = office->desk.workers[i].upstreams;
        office->desk.workers[i].upstreams = i == 0 ? NULL : kept[i];
    }
    ASSERT_SAYS(ask(office, "lookup\twww.z1.example"), "\nrow\t1\t1\t192.0.2.1@53\t");
    office->desk.workers[1].upstreams = NULL;
    ASSERT_REFUSED(ask(office, "lookup\twww.z1.example"));
    ASSERT_SAYS(ask(office, "zones"), "\ntable\tzones\n");
    for (int i = 0; i < DESK_WORKERS; i++)
        office->desk.workers[i].upstreams = kept[i];
}

static void test_a_client_that_leaves_leaks_nothing(void **state)
{
    static const char *const lines[] = {"lookup\twww.z1.example", "zones", "upstreams"};
    struct office *office = *state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct call *call = call_new(office->desk.loop, &office->desk.view, on_done, office);
        office->done = NULL;
        request_run(call, span_of(lines[i], strlen(lines[i])));
        call_abandon(call);
        desk_settle(&office->desk); /* LeakSanitizer reports a leak */
        assert_null(office->done);
    }
}

static void test_the_log_level_is_shown_and_set_until_the_next_reload(void **state)
{
    enum log_level before = log_get_level();
    log_set_level(LOG_INFO);
    ASSERT_SAYS(ask(*state, "log-level"), "\nrow\tinfo\tinfo\t\n");
    ASSERT_SAYS(ask(*state, "log-level\tdebug"),
                "\nrow\tdebug\tinfo\tuntil the next reload or restart\n");
    assert_int_equal(log_get_level(), LOG_DEBUG);
    ASSERT_REFUSED(ask(*state, "log-level\tloud"));
    assert_int_equal(log_get_level(), LOG_DEBUG);
    log_set_level(before);
}

static void test_a_mistyped_verb_gets_a_suggestion(void **state)
{
    ASSERT_SAYS(ask(*state, "lokup\texample"), "did you mean 'lookup'?");
    ASSERT_SAYS(ask(*state, "quantum"), "'help' lists them");
}

#define WITH_VIEWS(test) cmocka_unit_test_setup_teardown(test, open_views, close_all)
#define WITH_OFFICE(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_OFFICE(test_lookup_shows_the_upstreams_of_each_worker),
        WITH_OFFICE(test_lookup_shows_where_recursion_begins_without_a_query),
        WITH_OFFICE(test_lookup_shows_why_a_name_is_local_data),
        WITH_OFFICE(test_lookup_decides_the_policy_of_local_answers),
        WITH_OFFICE(test_lookup_shows_cached_answers_and_leaves_them_unmarked),
        WITH_OFFICE(test_lookup_refuses_wrong_names_and_types),
        WITH_OFFICE(test_zones_are_listed_over_several_turns_of_the_workers),
        WITH_OFFICE(test_lookup_refuses_each_view_where_there_is_none),
        WITH_VIEWS(test_lookup_shows_a_view_by_its_name),
        WITH_VIEWS(test_lookup_takes_the_view_of_the_client),
        WITH_VIEWS(test_lookup_refuses_an_unknown_view),
        WITH_OFFICE(test_lookup_without_a_worker_is_refused),
        WITH_OFFICE(test_a_client_that_leaves_leaks_nothing),
        WITH_OFFICE(test_the_log_level_is_shown_and_set_until_the_next_reload),
        WITH_OFFICE(test_a_mistyped_verb_gets_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
