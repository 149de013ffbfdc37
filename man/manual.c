/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes manual pages during the build: copies a page and replaces lines such as @OPTIONS@ with
 * mdoc(7) text from the tables of include/nailup. So every row has its documentation, and no page
 * describes a feature that does not exist.
 *
 *   manual PAGE.in PAGE RULES
 *
 * RULES: the alerts for Prometheus, which a page explains.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "nailup/control.h"
#include "upstream/conn_state.h"

enum { LINE_BYTES_MAX = 4096, COLUMNS_MAX = 78 };

/* ---- mdoc ---- */

static void put_char(FILE *out, char c, bool is_argument)
{
    if (c == '\\')
        fputs("\\e", out);
    else if (c == '"' && is_argument)
        fputs("\\(dq", out);
    else
        fputc(c, out);
}

/* Writes a run of text that mdoc does not take for a macro. */
static void put_escaped(FILE *out, const char *text, bool is_argument)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++)
        put_char(out, *text, is_argument);
}

/* Writes words in lines of bounded length. */
static void put_text(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        char word[LINE_BYTES_MAX];
        size_t len = strcspn(text, " ");
        snprintf(word, sizeof(word), "%.*s", (int)len, text);
        if (column)
            fputc(column + len < COLUMNS_MAX ? ' ' : '\n', out);
        column = column && column + len < COLUMNS_MAX ? column + 1 + len : len;
        put_escaped(out, word, false);
        text += len + (text[len] == ' ');
    }
    fputc('\n', out);
}

static void put_argument(FILE *out, const char *text)
{
    fputc('"', out);
    put_escaped(out, text, true);
    fputc('"', out);
}

/* Writes each sentence on a separate line. */
static void put_sentences(FILE *out, const char *text)
{
    while (*text) {
        char line[LINE_BYTES_MAX];
        const char *end = strstr(text, ". ");
        while (end && !isupper((unsigned char)end[2]) && !isdigit((unsigned char)end[2]) &&
               end[2] != '"')
            end = strstr(end + 1, ". ");
        size_t len = end ? (size_t)(end - text) + 1 : strlen(text);
        snprintf(line, sizeof(line), "%.*s", (int)len, text);
        put_text(out, line);
        text += end ? len + 1 : len;
    }
}

/* ---- options ---- */

struct kind_row {
    const char *name, *takes;
};

static const struct kind_row kinds[] = {
#define SCALAR(name, type, takes) {#name, takes},
#define LIST(name, type, takes) {#name, takes},
#include "config/kinds.def"
};

struct option_row {
    const char *path, *kind, *default_text, *min, *max, *unit, *apply, *sentence;
};

static const struct option_row options[] = {
#define OPTION(struct_tag, path, kind, field, default_text, min, max, unit, apply, sentence)       \
    {path, #kind, default_text, min, max, unit, #apply, sentence},
#include "nailup/options.def"
};

static const char *takes_of(const char *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, kind) == 0)
            return kinds[i].takes;
    return "a value";
}

/* The first word of a path: its section. */
static int section_len(const char *path)
{
    return (int)strcspn(path, ".[");
}

static void put_heading(FILE *out, const char *path, const char *before)
{
    int len = section_len(path);
    if (before && section_len(before) == len && strncmp(path, before, (size_t)len) == 0)
        return;
    if (before)
        fputs(".El\n", out);
    fprintf(out, ".Ss %.*s\n.Bl -tag -width Ds\n", len, path);
}

static void put_option(FILE *out, const struct option_row *option)
{
    fputs(".It Ic ", out);
    put_argument(out, option->path);
    fputc('\n', out);
    put_sentences(out, option->sentence);
    char bounds[128] = "", line[LINE_BYTES_MAX];
    if (*option->min)
        snprintf(bounds, sizeof(bounds), "; %s to %s%s%s", option->min, option->max,
                 *option->unit ? " " : "", option->unit);
    snprintf(line, sizeof(line), "Takes %s%s.", takes_of(option->kind), bounds);
    put_text(out, line);
    if (strcmp(option->apply, "RESTART") == 0)
        fputs("A change needs a restart.\n", out);
    if (!option->default_text) {
        fputs("Must be given.\n", out);
        return;
    }
    fputs("Default:\n.Ql ", out);
    put_argument(out, option->default_text);
    fputs(" .\n", out);
}

static void put_options(FILE *out)
{
    const char *before = NULL;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        put_heading(out, options[i].path, before);
        put_option(out, &options[i]);
        before = options[i].path;
    }
    fputs(".El\n", out);
}

/* ---- options of unbound.conf ---- */

struct word_row {
    const char *clause, *name, *fate, *path, *note;
};

/* The fate of an imported row is the name of its map. */
static const struct word_row words[] = {
#define WORD(clause, name, args, map, path, note) {#clause, name, #map, path, note},
#define NEEDLESS(clause, name, args, note) {#clause, name, "needless", "", note},
#define MISSING(clause, name, args, note) {#clause, name, "none", "", note},
#define WEAKER(clause, name, args, note) {#clause, name, "weaker", "", note},
#include "import/unbound_words.def"
};

static const struct {
    const char *id, *name;
} clauses[] = {
#define CLAUSE(id, name) {#id, name},
#include "import/unbound_words.def"
};

static bool is_imported(const struct word_row *word)
{
    return strcmp(word->fate, "needless") != 0 && strcmp(word->fate, "none") != 0 &&
           strcmp(word->fate, "weaker") != 0;
}

static const char *clause_of(const struct word_row *word)
{
    size_t i = 0;
    while (strcmp(clauses[i].id, word->clause) != 0)
        i++;
    return clauses[i].name;
}

static void put_word(FILE *out, const struct word_row *word)
{
    char title[LINE_BYTES_MAX];
    bool is_server = strcmp(word->clause, "SERVER") == 0;
    snprintf(title, sizeof(title), "%s%s%s", is_server ? "" : clause_of(word),
             is_server ? "" : ": ", word->name);
    fputs(".It Ic ", out);
    put_argument(out, title);
    fputc('\n', out);
    if (*word->path)
        fprintf(out, "becomes\n.Ic %s .\n", word->path);
    else if (is_imported(word))
        fputs("is imported together with others.\n", out);
    if (*word->note && !*word->path)
        put_sentences(out, word->note);
}

/* Writes the rows with this fate; NULL: the imported ones. */
static void put_words_of(FILE *out, const char *fate)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (fate ? strcmp(words[i].fate, fate) == 0 : is_imported(&words[i]))
            put_word(out, &words[i]);
    fputs(".El\n", out);
}

static void put_words_imported(FILE *out)
{
    put_words_of(out, NULL);
}

static void put_words_needless(FILE *out)
{
    put_words_of(out, "needless");
}

static void put_words_missing(FILE *out)
{
    put_words_of(out, "none");
}

static void put_words_weaker(FILE *out)
{
    put_words_of(out, "weaker");
}

/* ---- commands of nailupctl ---- */

static void put_command(FILE *out, const char *verb, const char *arguments, const char *sentence)
{
    fputs(".It Cm ", out);
    put_argument(out, verb);
    if (*arguments) {
        fputs(" Ar ", out);
        put_argument(out, arguments);
    }
    fputc('\n', out);
    put_sentences(out, sentence);
}

static void put_commands(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
#define COMMAND(verb, arguments, handler, sentence) put_command(out, verb, arguments, sentence);
#include "nailup/commands.def"
    fputs(".El\n", out);
}

/* ---- states of connections ---- */

static void put_state(FILE *out, const char *name, const char *sentence)
{
    char line[LINE_BYTES_MAX];
    snprintf(line, sizeof(line), "%c%s.", toupper((unsigned char)*sentence), sentence + 1);
    fprintf(out, ".It %s\n", name);
    put_text(out, line);
}

static void put_watched(FILE *out)
{
    static const char *const watched[] = {CONTROL_WATCHED};
    size_t count = sizeof(watched) / sizeof(watched[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(out, ".Ic %s%s\n%s", watched[i], i + 2 < count ? " ," : "",
                i + 2 == count ? "and\n" : "");
}

static void put_states(FILE *out)
{
    fputs(".Bl -tag -width draining\n", out);
#define CONN_STATE(name, text, follow, sentence) put_state(out, text, sentence);
    CONN_STATES(CONN_STATE)
#undef CONN_STATE
    fputs(".El\n", out);
}

static void put_ends(FILE *out)
{
    fputs(".Bl -bullet -compact\n", out);
#define CONN_END(name, text, counter) fputs(".It\n" text "\n", out);
    CONN_ENDS(CONN_END)
#undef CONN_END
    fputs(".El\n", out);
}

/* ---- metrics ---- */

static void put_metric(FILE *out, const char *name, const char *kind, const char *labels,
                       const char *sentence)
{
    char text[256];
    snprintf(text, sizeof(text), *labels ? "nailup_%s{%s}" : "nailup_%s", name, labels);
    fputs(".It Va ", out);
    put_argument(out, text);
    fprintf(out, "\n(%s)\n", kind);
    put_sentences(out, sentence);
}

static void put_metrics(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
#define METRIC(id, name, kind, labels, sentence)                                                   \
    put_metric(out, name, strcmp(#kind, "GAUGE") == 0 ? "gauge" : "counter", labels, sentence);
#define HISTOGRAM(id, name, sentence) put_metric(out, name, "histogram", "", sentence);
#include "nailup/metrics.def"
    fputs(".El\n", out);
}

static void put_per_upstream(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
#define PER_UPSTREAM(field, name, kind, sentence)                                                  \
    put_metric(out, name, strcmp(#kind, "COUNTER") == 0 ? "counter" : "gauge", "", sentence);
#include "nailup/metrics.def"
    fputs(".El\n", out);
}

static void put_per_view(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
#define PER_VIEW(id, name, labels, sentence) put_metric(out, name, "counter", labels, sentence);
#include "nailup/metrics.def"
    fputs(".El\n", out);
}

static void put_per_rpz_zone(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
#define PER_RPZ_ZONE(id, name, kind, sentence)                                                     \
    put_metric(out, name, strcmp(#kind, "COUNTER") == 0 ? "counter" : "gauge", "", sentence);
#include "nailup/metrics.def"
    fputs(".El\n", out);
}

static void put_per_held_zone(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
#define PER_HELD_ZONE(id, name, kind, sentence) put_metric(out, name, "gauge", "", sentence);
#include "nailup/metrics.def"
    fputs(".El\n", out);
}

/* ---- alerts ---- */

static const char *alerts_path;

/* Cuts the quoted text behind the key out of a line. Returns NULL if the line has another key. */
static char *text_behind(char *line, const char *key)
{
    char *start = line + strspn(line, " ");
    if (strncmp(start, key, strlen(key)) != 0)
        return NULL;
    start += strlen(key);
    start += *start == '"';
    start[strcspn(start, "\"\n")] = '\0';
    return start;
}

/* The rules are YAML with one key a line. This reader understands nothing else. */
static void put_alert_line(FILE *out, char *line)
{
    char *name = text_behind(line, "- alert: ");
    if (name) {
        fprintf(out, ".It Va %s\n", name);
        return;
    }
    char *text = text_behind(line, "meaning: ");
    if (!text)
        text = text_behind(line, "look: ");
    if (text)
        put_sentences(out, text);
}

static void put_alerts(FILE *out)
{
    char line[LINE_BYTES_MAX];
    FILE *in = fopen(alerts_path, "r");
    if (!in) {
        perror(alerts_path);
        return;
    }
    fputs(".Bl -tag -width Ds\n", out);
    while (fgets(line, sizeof(line), in))
        put_alert_line(out, line);
    fputs(".El\n", out);
    fclose(in);
}

/* ---- the page ---- */

/* Returns the place of a break in a line of running text: a blank, after which no macro would
 * begin. Returns 0 if there is no such place. */
static size_t break_of(const char *line)
{
    for (size_t at = COLUMNS_MAX; at > 0; at--)
        if (line[at] == ' ' && line[at + 1] != '.' && line[at + 1] != '\'')
            return at;
    return 0;
}

/* Running text may have long lines in the source of a page, where they are easier to change. */
static bool put_wrapped(FILE *out, const char *line)
{
    size_t at;
    while (strlen(line) > COLUMNS_MAX + 1 && (at = break_of(line)) > 0) {
        fprintf(out, "%.*s\n", (int)at, line);
        line += at + 1;
    }
    return fputs(line, out) != EOF;
}

/* Literal text stays as it is. */
static bool put_source(FILE *out, const char *line)
{
    static bool is_literal;
    if (strncmp(line, ".Bd", 3) == 0)
        is_literal = strstr(line, "-literal") != NULL;
    else if (strncmp(line, ".Ed", 3) == 0)
        is_literal = false;
    return is_literal || *line == '.' ? fputs(line, out) != EOF : put_wrapped(out, line);
}

static const struct {
    const char *mark;
    void (*put)(FILE *out);
} marks[] = {
    {"@OPTIONS@\n", put_options},
    {"@COMMANDS@\n", put_commands},
    {"@IMPORTED@\n", put_words_imported},
    {"@NEEDLESS@\n", put_words_needless},
    {"@MISSING@\n", put_words_missing},
    {"@WEAKER@\n", put_words_weaker},
    {"@WATCHED@\n", put_watched},
    {"@STATES@\n", put_states},
    {"@ENDS@\n", put_ends},
    {"@METRICS@\n", put_metrics},
    {"@PER_UPSTREAM@\n", put_per_upstream},
    {"@PER_HELD_ZONE@\n", put_per_held_zone},
    {"@PER_RPZ_ZONE@\n", put_per_rpz_zone},
    {"@PER_VIEW@\n", put_per_view},
    {"@ALERTS@\n", put_alerts},
};

static bool put_line(FILE *out, const char *line)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strcmp(line, marks[i].mark) == 0) {
            marks[i].put(out);
            return true;
        }
    }
    if (*line == '@') {
        fprintf(stderr, "manual: nothing stands for %s", line);
        return false;
    }
    return put_source(out, line);
}

static bool put_page(FILE *in, FILE *out)
{
    char line[LINE_BYTES_MAX];
    while (fgets(line, sizeof(line), in))
        if (!put_line(out, line))
            return false;
    return !ferror(in) && !ferror(out);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: manual PAGE.in PAGE RULES\n", stderr);
        return 2;
    }
    alerts_path = argv[3];
    FILE *in = fopen(argv[1], "r");
    FILE *out = fopen(argv[2], "w");
    if (!in || !out) {
        perror(in ? argv[2] : argv[1]);
        return 1;
    }
    bool fine = put_page(in, out);
    fclose(in);
    if (fclose(out) != 0 || !fine) {
        fprintf(stderr, "manual: %s could not be made\n", argv[2]);
        remove(argv[2]);
        return 1;
    }
    return 0;
}
