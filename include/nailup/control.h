/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_H
#define NAILUP_CONTROL_H

/*
 * The protocol of the control socket, a Unix stream socket. The client sends one line: a verb of
 * nailup/commands.def and its arguments, separated by tabs. The daemon sends one reply and closes:
 * lines of cells separated by tabs, whose first cell names the kind of line.
 *
 *   ok                                the request succeeded; the answer follows
 *   refused   SENTENCE                the request failed, and why; tables of errors may follow
 *   table     NAME                    a list of things follows
 *   record    NAME                    one thing follows
 *   columns   NAME:TYPE  NAME:TYPE... of the table or record, once each
 *   row       CELL  CELL...           as many as there are columns
 *   cut       NUMBER                  this many rows of the table did not fit the reply
 *   end                               the last line: a reply without it is incomplete
 *
 *   text                              instead of tables: plain lines follow up to the line "end",
 *                                     each at most CONTROL_TEXT_LINE_MAX bytes long
 *
 * After the request CONTROL_FED the client sends lines of text and then closes its sending side.
 * The daemon replies when it has read all of them.
 *
 * A cell is UTF-8 without control characters; an empty cell is an unknown value. Types:
 *
 *   text      printed unchanged
 *   count     a number of things, decimal
 *   bytes     a size, decimal
 *   duration  microseconds, decimal
 *   ratio     0 to 1, with a decimal point
 *   flag      yes or no
 *   counter   a count of events; it only grows
 *   level     not shown as a column: the indentation of the next cell
 *   rate      events per second, with a decimal point; nailupctl computes it from two counters
 */

enum {
    CONTROL_REQUEST_MAX = 4096,          /* bytes of a request with its newline */
    CONTROL_WORDS_MAX = 16,              /* words of a request */
    CONTROL_REPLY_MAX = 8 * 1024 * 1024, /* bytes of a reply */
    CONTROL_COLUMNS_MAX = 32,
    CONTROL_CELL_MAX = 480,  /* bytes of a cell; longer text loses its end */
    CONTROL_ROW_MAX = 16384, /* bytes of a line of a reply: all columns at their longest */
    CONTROL_TEXT_LINE_MAX = 512 * 1024,
    CONTROL_NAME_MAX = 32, /* bytes of the name of a table or column with its NUL */
};

#define CONTROL_FED "load-cache"

/* Commands that nailupctl --watch repeats: their replies change over time. */
#define CONTROL_WATCHED "status", "stats", "connections", "upstreams", "lookup", "zones"

/* CONTROL_TYPE(name, text) */
#define CONTROL_TYPES(CONTROL_TYPE)                                                                \
    CONTROL_TYPE(TEXT, "text")                                                                     \
    CONTROL_TYPE(COUNT, "count")                                                                   \
    CONTROL_TYPE(BYTES, "bytes")                                                                   \
    CONTROL_TYPE(DURATION, "duration")                                                             \
    CONTROL_TYPE(RATIO, "ratio")                                                                   \
    CONTROL_TYPE(FLAG, "flag")                                                                     \
    CONTROL_TYPE(COUNTER, "counter")                                                               \
    CONTROL_TYPE(LEVEL, "level")                                                                   \
    CONTROL_TYPE(RATE, "rate")

/* The minimum and maximum number of words in the arguments text of a row of commands.def. A word
 * with dots may be repeated as often as a request has room. */
static inline void control_argument_counts(const char *arguments, int *least, int *most)
{
    *least = *most = 0;
    for (const char *p = arguments; *p; p++) {
        int starts_word = *p != ' ' && (p == arguments || p[-1] == ' ');
        *most += starts_word;
        *least += starts_word && *p != '[';
        if (*p == '.')
            *most = CONTROL_WORDS_MAX - 1;
    }
}

#endif
