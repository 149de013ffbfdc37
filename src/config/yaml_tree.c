/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The only user of libyaml: turns its events into a tree. load.c interprets the keys. Invariant:
 * the tree is at most YAML_TREE_DEPTH_MAX deep and has at most YAML_TREE_NODES_MAX nodes, and each
 * node was written out in the file: aliases are refused.
 */
#include "config/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/check.h"

enum { TREE_BYTES_MAX = 512 * 1024 * 1024, PATH_TEXT_MAX = 256, COMMENT_MAX = 253 };

struct yaml_tree {
    struct arena arena;
    struct yaml_tree_node *root;
    size_t nodes;
};

/* An open list or mapping. */
struct level {
    struct yaml_tree_node *node;
    struct yaml_tree_node *last; /* its newest child */
    struct yaml_tree_node *key;  /* mapping: the key whose value comes next */
};

struct builder {
    struct yaml_tree *tree;
    struct problems *problems;
    const char *text;
    size_t text_len;
    uint16_t file;
    size_t byte_at, char_at; /* the place of the last mark that was searched in the text */
    yaml_parser_t parser;
    struct level levels[YAML_TREE_DEPTH_MAX];
    size_t depth;
    bool has_document;
    bool stopped; /* nothing valid can follow */
};

static struct config_position yaml_tree_position_of(const struct builder *builder, yaml_mark_t mark)
{
    return (struct config_position){(uint32_t)mark.line + 1, (uint32_t)mark.column + 1,
                                    builder->file};
}

static void fail_no_memory(struct builder *builder)
{
    problems_no_memory(builder->problems);
    builder->stopped = true;
}

/* ---- libyaml's own errors ---- */

/* The reader gives an offset instead of a position. Columns count characters, not bytes. */
static struct config_position position_of_offset(const struct builder *builder, size_t offset)
{
    struct config_position position = {1, 1, builder->file};
    for (size_t i = 0; i < offset && i < builder->text_len; i++) {
        unsigned char byte = (unsigned char)builder->text[i];
        if (byte == '\n') {
            position.line++;
            position.column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            position.column++;
        }
    }
    return position;
}

static void report_reader_error(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    struct config_position position = position_of_offset(builder, parser->problem_offset);
    if (parser->problem_value == 0)
        problems_add(builder->problems, position, "file",
                     "has a NUL byte; write plain text in UTF-8");
    else
        problems_add(builder->problems, position, "file", "%s (0x%x); write plain text in UTF-8",
                     parser->problem, (unsigned)parser->problem_value);
}

/* The text from the mark to its end. Marks must not go back: they count characters. */
static const char *text_at(struct builder *builder, yaml_mark_t mark)
{
    while (builder->char_at < mark.index && builder->byte_at < builder->text_len) {
        builder->byte_at++;
        while (builder->byte_at < builder->text_len &&
               ((unsigned char)builder->text[builder->byte_at] & 0xc0) == 0x80)
            builder->byte_at++;
        builder->char_at++;
    }
    return builder->text + builder->byte_at;
}

/* Whether the line of the position begins with spaces and a tab. */
static bool is_tab_in_indent(const struct builder *builder, const char *at)
{
    while (at > builder->text && at[-1] != '\n')
        at--;
    const char *end = builder->text + builder->text_len;
    while (at < end && *at == ' ')
        at++;
    return at < end && *at == '\t';
}

/* Whether text up to the end of its line has a # that begins a comment without a space after it. */
static bool has_tight_comment(const struct builder *builder, const char *at)
{
    const char *end = builder->text + builder->text_len;
    for (; at + 2 < end && *at != '\n'; at++)
        if (at[0] == ' ' && at[1] == '#' && at[2] > ' ')
            return true;
    return false;
}

/* Like text_at() for any mark, from the start of the text. */
static const char *text_of_error(struct builder *builder, yaml_mark_t mark)
{
    builder->byte_at = builder->char_at = 0;
    return text_at(builder, mark);
}

/* Whether only spaces precede the position in its line. */
static bool is_first_of_line(const struct builder *builder, const char *at)
{
    while (at > builder->text && at[-1] == ' ')
        at--;
    return at == builder->text || at[-1] == '\n';
}

enum { EXPLAINED_MAX = 160 };

/* Explains libyaml's message about a line, a bracket or a quote. Returns false for other messages.
 */
static bool explain_place(struct builder *builder, const char *at, char out[EXPLAINED_MAX])
{
    const yaml_parser_t *parser = &builder->parser;
    const char *context = parser->context ? parser->context : "";
    size_t line = parser->context_mark.line + 1;
    bool is_first = is_first_of_line(builder, at);
    if (strstr(parser->problem, "did not find expected key") && is_first)
        snprintf(out, EXPLAINED_MAX,
                 "this line does not align with line %zu; keys of one section begin in one column",
                 line);
    else if (strstr(parser->problem, "expected '-' indicator") && is_first)
        snprintf(out, EXPLAINED_MAX,
                 "this line does not align with the list of line %zu; an item begins with - in the "
                 "column of the others, and its keys begin two columns further",
                 line);
    else if (strstr(parser->problem, "mapping values are not allowed"))
        snprintf(out, EXPLAINED_MAX,
                 "two keys in one value; begin each key in a line of its own, in the column of the "
                 "key above it");
    else if (strstr(context, "flow") && strstr(parser->problem, "did not find expected ','"))
        snprintf(out, EXPLAINED_MAX, "the %c of line %zu has no end, or a comma is missing",
                 strstr(context, "mapping") ? '{' : '[', line);
    else if (strstr(context, "quoted scalar") && strstr(parser->problem, "end of stream"))
        snprintf(out, EXPLAINED_MAX, "the quote of line %zu has no end", line);
    else
        return false;
    return true;
}

/* Explains the mistakes in YAML that a configuration of addresses invites. False: another one. */
static bool yaml_tree_explain(struct builder *builder, char out[EXPLAINED_MAX])
{
    const yaml_parser_t *parser = &builder->parser;
    const char *sentence = NULL;
    /* A comment may swallow the bracket that ends a list: look at the line where it began. */
    if (parser->context && strstr(parser->context, "flow") &&
        has_tight_comment(builder, text_of_error(builder, parser->context_mark)))
        sentence = "a # after a space begins a comment; write 192.0.2.53#name without a space";
    const char *at = text_of_error(builder, parser->problem_mark);
    size_t left = builder->text_len - builder->byte_at;
    if (sentence)
        ;
    else if ((left && *at == '\t') || is_tab_in_indent(builder, at))
        sentence = "a line is indented with a tab; use spaces";
    else if (left > 1 && at[0] == ':' && (at[1] == ':' || (at > builder->text && at[-1] == ':')))
        sentence = "an IPv6 address that begins or ends with : needs quotes, as in \"::1\"";
    else
        return explain_place(builder, at, out);
    snprintf(out, EXPLAINED_MAX, "%s", sentence);
    return true;
}

static void report_parser_error(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    char explained[EXPLAINED_MAX] = "";
    builder->stopped = true;
    bool is_explained =
        (parser->error == YAML_SCANNER_ERROR || parser->error == YAML_PARSER_ERROR) &&
        yaml_tree_explain(builder, explained);
    if (parser->error == YAML_MEMORY_ERROR)
        fail_no_memory(builder);
    else if (parser->error == YAML_READER_ERROR)
        report_reader_error(builder);
    else if (is_explained)
        problems_add(builder->problems, yaml_tree_position_of(builder, parser->problem_mark),
                     "file", "is not YAML: %s", explained);
    else if (parser->context)
        problems_add(builder->problems, yaml_tree_position_of(builder, parser->problem_mark),
                     "file", "is not YAML: %s, %s of line %zu", parser->problem, parser->context,
                     parser->context_mark.line + 1);
    else
        problems_add(builder->problems, yaml_tree_position_of(builder, parser->problem_mark),
                     "file", "is not YAML: %s", parser->problem);
}

/* ---- the tree ---- */

/* The word that follows a plain scalar as a comment without a space after the #, as in 192.0.2.53
 * #name. NULL: none. */
static const char *tight_comment(struct builder *builder, const yaml_event_t *event)
{
    const char *at = text_at(builder, event->end_mark), *end = builder->text + builder->text_len;
    if (at == end || *at != ' ')
        return NULL;
    while (at < end && *at == ' ')
        at++;
    if (end - at < 2 || *at != '#' || at[1] <= ' ')
        return NULL;
    const char *word = ++at;
    while (at<end && * at> ' ')
        at++;
    size_t len = (size_t)(at - word);
    if (len > COMMENT_MAX || (at < end && *at != '\n' && *at != '\r'))
        return NULL;
    char *copy = arena_take(&builder->tree->arena, len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, word, len);
    copy[len] = '\0';
    return copy;
}

static struct yaml_tree_node *new_node(struct builder *builder, enum yaml_tree_kind kind,
                                       const yaml_event_t *event)
{
    struct yaml_tree *tree = builder->tree;
    struct config_position position = yaml_tree_position_of(builder, event->start_mark);
    if (tree->nodes == YAML_TREE_NODES_MAX) {
        problems_add(builder->problems, position, "file", "has more than %d values; shorten it",
                     YAML_TREE_NODES_MAX);
        builder->stopped = true;
        return NULL;
    }
    struct yaml_tree_node *node = arena_take(&tree->arena, sizeof(*node));
    if (!node) {
        fail_no_memory(builder);
        return NULL;
    }
    tree->nodes++;
    *node = (struct yaml_tree_node){.kind = kind, .position = position, .text = ""};
    return node;
}

static void append_child(struct level *level, struct yaml_tree_node *node)
{
    if (level->last)
        level->last->next = node;
    else
        level->node->first = node;
    level->last = node;
    level->node->count++;
}

/* Adds a node to its parent: as the document, an item, a key or a key's value. */
static void yaml_tree_place(struct builder *builder, struct yaml_tree_node *node)
{
    if (builder->depth == 0) {
        builder->tree->root = node;
        return;
    }
    struct level *level = &builder->levels[builder->depth - 1];
    if (level->node->kind == TREE_LIST) {
        append_child(level, node);
    } else if (!level->key) {
        level->key = node;
        if (node->kind != TREE_SCALAR)
            problems_add(builder->problems, node->position, "file",
                         "a list or mapping cannot be a key; write a word before the colon");
    } else {
        node->key = level->key;
        level->key = NULL;
        if (node->key->kind == TREE_SCALAR)
            append_child(level, node);
    }
}

static void on_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct yaml_tree_node *node = new_node(builder, TREE_SCALAR, event);
    if (!node)
        return;
    const char *text = (const char *)event->data.scalar.value;
    node->len = event->data.scalar.length;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (memchr(text, '\0', node->len)) {
        problems_add(builder->problems, node->position, "file", "a value has a NUL byte");
        node->broken = true;
        node->len = strlen(text);
    }
    if (!node->quoted)
        node->comment = tight_comment(builder, event);
    node->text = arena_copy(&builder->tree->arena, text, node->len + 1);
    if (node->text)
        yaml_tree_place(builder, node);
    else
        fail_no_memory(builder);
}

static void yaml_tree_on_open(struct builder *builder, enum yaml_tree_kind kind,
                              const yaml_event_t *event)
{
    if (builder->depth == YAML_TREE_DEPTH_MAX) {
        problems_add(builder->problems, yaml_tree_position_of(builder, event->start_mark), "file",
                     "lists and mappings are nested deeper than %d", YAML_TREE_DEPTH_MAX);
        builder->stopped = true;
        return;
    }
    struct yaml_tree_node *node = new_node(builder, kind, event);
    if (!node)
        return;
    yaml_tree_place(builder, node);
    builder->levels[builder->depth++] = (struct level){.node = node};
}

static void yaml_tree_on_alias(struct builder *builder, const yaml_event_t *event)
{
    struct yaml_tree_node *node = new_node(builder, TREE_SCALAR, event);
    if (!node)
        return;
    problems_add(builder->problems, node->position, "file",
                 "aliases (*name) are not supported; write out the value");
    node->broken = true;
    yaml_tree_place(builder, node);
}

/* ---- repeated keys ---- */

static int compare_keys(const void *left, const void *right)
{
    const struct yaml_tree_node *a = *(struct yaml_tree_node *const *)left;
    const struct yaml_tree_node *b = *(struct yaml_tree_node *const *)right;
    int order = strcmp(a->key->text, b->key->text);
    if (order != 0)
        return order;
    if (a->position.line != b->position.line)
        return a->position.line < b->position.line ? -1 : 1;
    return a->position.column < b->position.column ? -1 : 1;
}

static void append_step(char path[PATH_TEXT_MAX], const char *format, ...)
{
    size_t len = strlen(path);
    va_list args;
    va_start(args, format);
    vsnprintf(path + len, PATH_TEXT_MAX - len, format, args);
    va_end(args);
}

/* The path of a key in the mapping that was closed last. The level of this mapping is still in the
 * array, just above the depth. */
static void yaml_tree_path_of(const struct builder *builder, const struct yaml_tree_node *key,
                              char path[PATH_TEXT_MAX])
{
    char quoted[PROBLEM_QUOTE_MAX];
    path[0] = '\0';
    for (size_t i = 1; i <= builder->depth; i++) {
        const struct yaml_tree_node *node = builder->levels[i].node;
        if (node->key)
            append_step(path, "%s%s", i > 1 ? "." : "",
                        problem_quote(node->key->text, node->key->len, quoted));
        else
            append_step(path, "[%zu]", builder->levels[i - 1].node->count - 1);
    }
    append_step(path, "%s%s", builder->depth ? "." : "",
                problem_quote(key->text, key->len, quoted));
}

static void report_repeated(struct builder *builder, const struct yaml_tree_node *first,
                            const struct yaml_tree_node *again)
{
    char path[PATH_TEXT_MAX];
    if (problems_is_full(builder->problems))
        path[0] = '\0';
    else
        yaml_tree_path_of(builder, again->key, path);
    problems_add(builder->problems, again->key->position, path,
                 "is given twice, first in line %u; keep one of them", first->key->position.line);
}

/* Removes repeated and invalid keys from a finished mapping. */
static void drop_marked(struct yaml_tree_node *map)
{
    struct yaml_tree_node **at = &map->first;
    while (*at) {
        if ((*at)->key->broken) {
            *at = (*at)->next;
            map->count--;
        } else {
            at = &(*at)->next;
        }
    }
}

/* Sorts the keys, so that a large mapping takes no quadratic time. */
static void drop_repeated(struct builder *builder, struct yaml_tree_node *map)
{
    if (map->count < 2)
        return;
    size_t count = 0, first = 0;
    struct yaml_tree_node **sorted = malloc(map->count * sizeof(struct yaml_tree_node *));
    if (!sorted) {
        fail_no_memory(builder);
        return;
    }
    for (struct yaml_tree_node *child = map->first; child; child = child->next)
        sorted[count++] = child;
    qsort(sorted, count, sizeof(struct yaml_tree_node *), compare_keys);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(sorted[first]->key->text, sorted[i]->key->text) != 0) {
            first = i;
            continue;
        }
        if (!sorted[i]->key->broken)
            report_repeated(builder, sorted[first], sorted[i]);
        sorted[i]->key->broken = true;
    }
    free(sorted);
}

static void on_close(struct builder *builder)
{
    MUST(builder->depth > 0);
    struct yaml_tree_node *node = builder->levels[--builder->depth].node;
    if (node->kind == TREE_MAP) {
        drop_repeated(builder, node);
        drop_marked(node);
    }
}

/* ---- events ---- */

static void refuse_extras(struct builder *builder, const yaml_event_t *event,
                          const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        problems_add(builder->problems, yaml_tree_position_of(builder, event->start_mark), "file",
                     "anchors (&name) are not supported; leave it out");
    if (tag)
        problems_add(builder->problems, yaml_tree_position_of(builder, event->start_mark), "file",
                     "tags (!name) are not supported; leave it out");
}

static void on_document(struct builder *builder, const yaml_event_t *event)
{
    if (builder->has_document) {
        problems_add(builder->problems, yaml_tree_position_of(builder, event->start_mark), "file",
                     "a second document starts here; write everything into one");
        builder->stopped = true;
    }
    builder->has_document = true;
}

static void on_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        on_document(builder, event);
        break;
    case YAML_SCALAR_EVENT:
        refuse_extras(builder, event, event->data.scalar.anchor, event->data.scalar.tag);
        on_scalar(builder, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        refuse_extras(builder, event, event->data.sequence_start.anchor,
                      event->data.sequence_start.tag);
        yaml_tree_on_open(builder, TREE_LIST, event);
        break;
    case YAML_MAPPING_START_EVENT:
        refuse_extras(builder, event, event->data.mapping_start.anchor,
                      event->data.mapping_start.tag);
        yaml_tree_on_open(builder, TREE_MAP, event);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        on_close(builder);
        break;
    case YAML_ALIAS_EVENT:
        yaml_tree_on_alias(builder, event);
        break;
    case YAML_STREAM_END_EVENT:
        builder->stopped = true;
        break;
    default:
        break;
    }
}

static void yaml_tree_run(struct builder *builder)
{
    yaml_parser_t *parser = &builder->parser;
    if (!yaml_parser_initialize(parser)) {
        fail_no_memory(builder);
        return;
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)builder->text, builder->text_len);
    while (!builder->stopped) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            report_parser_error(builder);
            break;
        }
        on_event(builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(parser);
    /* Close the levels that an error left open. */
    while (builder->depth) {
        builder->levels[builder->depth - 1].node->cut = true;
        on_close(builder);
    }
}

struct yaml_tree *yaml_tree_parse_file(const char *text, size_t len, uint16_t file,
                                       struct problems *problems)
{
    struct yaml_tree *tree = calloc(1, sizeof(*tree));
    if (!tree) {
        problems_no_memory(problems);
        return NULL;
    }
    arena_init(&tree->arena, TREE_BYTES_MAX);
    struct builder builder = {.tree = tree,
                              .problems = problems,
                              .text = text ? text : "",
                              .text_len = len,
                              .file = file};
    yaml_tree_run(&builder);
    return tree;
}

struct yaml_tree *yaml_tree_parse(const char *text, size_t len, struct problems *problems)
{
    return yaml_tree_parse_file(text, len, 0, problems);
}

void yaml_tree_free(struct yaml_tree *tree)
{
    if (!tree)
        return;
    arena_deinit(&tree->arena);
    free(tree);
}

struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree)
{
    return tree->root;
}

const struct yaml_tree_node *yaml_tree_find(const struct yaml_tree_node *map, const char *key)
{
    if (map->kind != TREE_MAP)
        return NULL;
    for (const struct yaml_tree_node *child = map->first; child; child = child->next)
        if (strcmp(child->key->text, key) == 0)
            return child;
    return NULL;
}
