/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Splits lines into words and parses names and addresses. Invariant: labels have only letters,
 * digits, '-' and '_', so an HTML page or a binary file is not mistaken for a list.
 */
#include "local/local_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"

struct reader {
    struct local_build *build;
    const struct local_text_report *report;
    struct span text; /* the rest */
    size_t line;
    const uint8_t *line_start;
};

static void reader_init(struct reader *reader, struct local_build *build, struct span text,
                        const struct local_text_report *report)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf}; /* byte order mark of UTF-8 */
    if (text.len >= sizeof(mark) && memcmp(text.data, mark, sizeof(mark)) == 0)
        text = span_of(text.data + sizeof(mark), text.len - sizeof(mark));
    *reader = (struct reader){.build = build, .report = report, .text = text};
}

/* ---- lines and words ---- */

static bool text_is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes the next line, without its newline. */
static bool take_line(struct reader *reader, struct span *line)
{
    if (reader->text.len == 0)
        return false;
    const uint8_t *end = memchr(reader->text.data, '\n', reader->text.len);
    size_t len = end ? (size_t)(end - reader->text.data) : reader->text.len;
    *line = span_of(reader->text.data, len);
    reader->line_start = line->data;
    reader->line++;
    size_t taken = end ? len + 1 : len;
    reader->text = span_of(reader->text.data + taken, reader->text.len - taken);
    return true;
}

/* Takes the next word of a line. A # ends the line. */
static bool take_word(struct span *line, struct span *word)
{
    size_t at = 0, start;
    while (at < line->len && text_is_blank(line->data[at]))
        at++;
    for (start = at; at < line->len && !text_is_blank(line->data[at]) && line->data[at] != '#';)
        at++;
    *word = span_of(line->data + start, at - start);
    *line = span_of(line->data + at, line->len - at);
    return word->len > 0;
}

static void report_fault(struct reader *reader, struct span word, const char *sentence)
{
    reader->report->on_problem(reader->report->context, reader->line,
                               (size_t)(word.data - reader->line_start) + 1, word, sentence);
}

/* ---- words ---- */

/* An interface after a % is dropped: a record cannot hold it. */
static bool parse_address(struct span word, struct addr *addr)
{
    char text[ADDR_TEXT_MAX];
    const uint8_t *scope = memchr(word.data, '%', word.len);
    if (scope)
        word.len = (size_t)(scope - word.data);
    if (word.len >= sizeof(text) || memchr(word.data, '@', word.len))
        return false;
    memcpy(text, word.data, word.len);
    text[word.len] = '\0';
    return strlen(text) == word.len && addr_parse(addr, text, 0) == ERR_OK;
}

static bool is_plain_word(struct span word)
{
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = name_fold_byte(word.data[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

/* Parses a name in lower case. Refuses the root: it is not a host, and a list with it would block
 * every name.
 */
static bool parse_listed_name(struct span word, struct name *name, uint8_t wire[NAME_WIRE_MAX])
{
    if (!is_plain_word(word) || name_parse(name, wire, (const char *)word.data, word.len))
        return false;
    *name = name_fold(*name, wire);
    return !name_is_root(*name);
}

static const char no_name[] = "is not a domain name: use letters, digits, - and _ between dots; "
                              "international names begin with xn--";

/* ---- hosts ---- */

static enum err take_host(struct reader *reader, struct span rest, const struct addr *addr)
{
    struct span word;
    bool is_first = true;
    enum err err = ERR_OK;
    while (!err && take_word(&rest, &word)) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name name;
        if (!parse_listed_name(word, &name, wire)) {
            report_fault(reader, word, no_name);
            continue;
        }
        err = local_build_host(reader->build, name, addr, is_first);
        is_first = false;
    }
    return err;
}

static enum err take_hosts_line(struct reader *reader, struct span line)
{
    struct span word, rest, name;
    struct addr addr;
    if (!take_word(&line, &word))
        return ERR_OK;
    rest = line;
    if (!parse_address(word, &addr))
        report_fault(reader, word,
                     "is not an address; a line has an address and the names of its host");
    else if (!take_word(&line, &name))
        report_fault(reader, word,
                     "has no name after it; a line has an address and the names of its host");
    else
        return take_host(reader, rest, &addr);
    return ERR_OK;
}

/* A full RRset (a thousand addresses of one name) skips only that line. A full table ends the
 * reading, because every later line would fail too. */
enum err local_text_hosts(struct local_build *build, struct span text,
                          const struct local_text_report *report)
{
    struct reader reader;
    struct span line;
    enum err err = ERR_OK;
    reader_init(&reader, build, text, report);
    while (!err && take_line(&reader, &line)) {
        err = take_hosts_line(&reader, line);
        if (err == ERR_LIMIT && !local_build_is_full(build)) {
            report_fault(&reader, line, "is one address too many for one name");
            err = ERR_OK;
        }
    }
    return err;
}

/* ---- lists ---- */

/* Lists in the form of hosts files begin with these names; they are not meant to be blocked. */
static bool is_customary(struct span word)
{
    static const char *const names[] = {
        "localhost",     "localhost.localdomain", "localhost4",   "localhost6",   "local",
        "broadcasthost", "ip6-localhost",         "ip6-loopback", "ip6-localnet", "ip6-mcastprefix",
        "ip6-allnodes",  "ip6-allrouters",        "ip6-allhosts", "0.0.0.0",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i]) == word.len && memcmp(names[i], word.data, word.len) == 0)
            return true;
    return false;
}

static struct span without_star(struct span word)
{
    if (word.len > 2 && word.data[0] == '*' && word.data[1] == '.')
        return span_of(word.data + 2, word.len - 2);
    if (word.len > 1 && word.data[0] == '.')
        return span_of(word.data + 1, word.len - 1);
    return word;
}

static enum err take_listed(struct reader *reader, uint32_t list, struct span word)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    if (parse_listed_name(without_star(word), &name, wire))
        return local_build_listed(reader->build, list, name);
    report_fault(reader, word, no_name);
    return ERR_OK;
}

/* A quick check, because nearly all of millions of lines are names. */
static bool may_be_address(struct span word)
{
    return (word.data[0] >= '0' && word.data[0] <= '9') || memchr(word.data, ':', word.len);
}

static enum err take_list_line(struct reader *reader, uint32_t list, struct span line)
{
    struct span word, more;
    struct addr addr;
    enum err err = ERR_OK;
    if (!take_word(&line, &word) || word.data[0] == ';' || word.data[0] == '!')
        return ERR_OK;
    bool is_address = may_be_address(word) && parse_address(word, &addr);
    struct span rest = line;
    if (!take_word(&rest, &more)) {
        if (!is_address)
            return is_customary(word) ? ERR_OK : take_listed(reader, list, word);
        report_fault(reader, word, "is an address; a list has names");
        return ERR_OK;
    }
    if (!is_address) {
        report_fault(reader, more,
                     "comes after a name; a line has one name, or an address and names");
        return ERR_OK;
    }
    while (!err && take_word(&line, &word))
        if (!is_customary(word))
            err = take_listed(reader, list, word);
    return err;
}

enum err local_text_list(struct local_build *build, uint32_t list, struct span text,
                         const struct local_text_report *report)
{
    struct reader reader;
    struct span line;
    enum err err = ERR_OK;
    reader_init(&reader, build, text, report);
    while (!err && take_line(&reader, &line))
        err = take_list_line(&reader, list, line);
    return err;
}
