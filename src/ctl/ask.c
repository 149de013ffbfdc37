/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Turns a command into a printed answer. client.c moves the bytes. */

#include "ctl/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/utf8.h"

int ask_end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    fputs("nailupctl: cannot write the answer to stdout\n", stderr);
    return EXIT_REFUSED;
}

static void print_error(const char *before, const char *sentence, const char *after)
{
    char text[CONTROL_ROW_MAX];

    snprintf(text, sizeof(text), "%s", sentence);
    fprintf(stderr, "%s%s%s\n", before, utf8_clean(text), after);
}

/* Prints errors of a file in the daemon's format, FILE:LINE:COLUMN first, so that editors find
 * them. */
static void print_refusal(const struct parsed_reply *answer)
{
    print_error("nailupctl: refused: ", answer->refused, "");
    for (size_t i = 0; i < answer->table_count; i++) {
        const struct table *table = &answer->tables[i];
        for (size_t row = 0; row < table->row_count; row++)
            print_error("", table->cells[row * table->column_count], "");
        if (table->cut)
            print_error("and ", table->cut, " more");
    }
}

int ask_print(const struct ask *ask, const struct parsed_reply *answer)
{
    if (answer->refused) {
        print_refusal(answer);
        return EXIT_REFUSED;
    }
    if (ask->json)
        print_json(answer, stdout);
    else
        print_text(answer, &ask->style, stdout);
    return ask_end_output();
}

/* The text of a column of a record; "" without that column. */
static const char *ask_record_text(const struct table *table, const char *name)
{
    for (size_t i = 0; table->row_count > 0 && i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0)
            return answer_cell(table, 0, i);
    }
    return "";
}

/* Cached, stale and local answers are worth serving without a path to upstreams: one outage must
 * not withdraw a whole fleet. */
int ask_verdict(const struct parsed_reply *answer, bool require_upstream)
{
    if (answer->refused || answer->table_count == 0 || strcmp(answer->tables[0].name, "check") != 0)
        return EXIT_DONE;
    const struct table *check = &answer->tables[0];
    const char *state = ask_record_text(check, "state");

    if (strcmp(state, "ready") != 0 && strcmp(state, "degraded") != 0)
        return EXIT_REFUSED;
    if (require_upstream && strcmp(ask_record_text(check, "path"), "yes") != 0)
        return EXIT_REFUSED;
    return EXIT_DONE;
}

int ask_once(const struct ask *ask, struct parsed_reply *out, bool *is_text, char why[ASK_WHY_MAX])
{
    struct client_streams streams = {
        .in = stdin, .out = stdout, .json = ask->json, .stop = ask->stop};
    char *text = NULL;
    size_t len = 0;

    *is_text = false;
    if (client_ask(ask->socket, ask->count, ask->words, &streams, &text, &len, why, ASK_WHY_MAX))
        return EXIT_NO_DAEMON;
    if (!text) {
        *is_text = true;
        return EXIT_DONE;
    }
    if (answer_parse(out, text, len)) {
        snprintf(why, ASK_WHY_MAX, "%s: the reply is incomplete or not from nailupd", ask->socket);
        return EXIT_NO_DAEMON;
    }
    return out->refused ? EXIT_REFUSED : EXIT_DONE;
}

/* A worker without connections has no rows either, so only the daemon can say whether it exists. */
bool ask_has_worker(const struct ask *ask, char why[ASK_WHY_MAX])
{
    static char verb[] = "status";
    struct ask status = {
        .socket = ask->socket, .count = 1, .words = (char *[]){verb}, .stop = ask->stop};
    struct parsed_reply answer;
    bool is_text;
    unsigned long count = 0;

    if (!shape_is_one_worker(&ask->shape))
        return true;
    int code = ask_once(&status, &answer, &is_text, why);
    if (code == EXIT_NO_DAEMON || is_text)
        return true;
    if (answer.table_count > 0)
        count = strtoul(ask_record_text(&answer.tables[0], "workers"), NULL, 10);
    answer_deinit(&answer);
    if (count == 0 || strtoul(ask->shape.worker, NULL, 10) < count)
        return true;
    snprintf(why, ASK_WHY_MAX, "there is no worker %s; the last one is %lu", ask->shape.worker,
             count - 1);
    return false;
}
