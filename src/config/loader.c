/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The state of a walk over the tree: the path of the current node, and errors and warnings about
 * it.
 */
#include "config/loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

/* ---- the path ---- */

static size_t extend_path(struct loader *loader, const char *text)
{
    size_t mark = loader->path_len;
    size_t len = MIN(strlen(text), sizeof(loader->path) - 1 - mark);
    memcpy(loader->path + mark, text, len);
    loader->path_len = mark + len;
    loader->path[loader->path_len] = '\0';
    return mark;
}

size_t loader_enter(struct loader *loader, const char *key)
{
    char quoted[PROBLEM_QUOTE_MAX];
    size_t mark = loader->path_len;
    if (mark)
        extend_path(loader, ".");
    extend_path(loader, problem_quote(key, strlen(key), quoted));
    return mark;
}

size_t loader_enter_item(struct loader *loader, size_t index)
{
    char text[32];
    snprintf(text, sizeof(text), "[%zu]", index);
    return extend_path(loader, text);
}

void loader_leave(struct loader *loader, size_t mark)
{
    loader->path_len = mark;
    loader->path[mark] = '\0';
}

/* ---- errors and memory ---- */

void loader_error(struct loader *loader, const struct yaml_tree_node *node, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    problems_add(loader->problems, node->position, loader->path_len ? loader->path : "file", "%s",
                 text);
}

void loader_error_takes(struct loader *loader, const struct yaml_tree_node *node, const char *takes,
                        const char *hint)
{
    char quoted[PROBLEM_QUOTE_MAX];
    if (yaml_tree_is_empty(node))
        loader_error(loader, node, "has no value; takes %s", takes);
    else if (node->kind == TREE_SCALAR)
        loader_error(loader, node, "takes %s, not \"%s\"%s", takes,
                     problem_quote(node->text, node->len, quoted), hint);
    else
        loader_error(loader, node, "takes %s, not a %s", takes,
                     node->kind == TREE_LIST ? "list" : "mapping");
}

void *loader_take(struct loader *loader, size_t count, size_t size)
{
    void *memory = arena_take(&loader->config->arena, MAX(count * size, 1));
    if (memory)
        memset(memory, 0, count * size);
    else
        problems_no_memory(loader->problems);
    return memory;
}

bool loader_lacks_memory(struct loader *loader)
{
    if (loader->config->arena.has_failed)
        problems_no_memory(loader->problems);
    return loader->config->arena.has_failed;
}

/* ---- lists ---- */

static size_t bound_of(const char *text)
{
    uint64_t number;
    MUST(kind_parse_number(KIND_COUNT, text, &number));
    return (size_t)number;
}

bool loader_list_fits(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node)
{
    size_t count = yaml_tree_is_empty(node) ? 0 : node->count;
    if (node->kind != TREE_LIST && !yaml_tree_is_empty(node)) {
        loader_error_takes(loader, node, kind_takes(option->kind),
                           node->kind == TREE_SCALAR ? "; write it between [ and ]" : "");
        return false;
    }
    if ((node->cut || count >= bound_of(option->min)) && count <= bound_of(option->max))
        return true;
    loader_error(loader, node, "has %zu %s; takes %s to %s", count, option->unit, option->min,
                 option->max);
    return false;
}

/* ---- keys that the file gives ---- */

bool config_is_given(const struct config *config, const char *path)
{
    const struct option *option = options_find(path);
    MUST(option);
    return config->written[option_index(option)].line != 0;
}

struct config_position loader_position(const struct loader *loader, const char *path)
{
    const struct option *option = options_find(path);
    MUST(option);
    struct config_position position = loader->config->written[option_index(option)];
    return position.line ? position : (struct config_position){1, 1, 0};
}

static void warn_at(struct loader *loader, struct config_position position, const char *text)
{
    char line[2000];
    snprintf(line, sizeof(line), "%.900s:%u:%u: warning: %s\n",
             problems_file(loader->problems, position, loader->file_name), position.line,
             position.column, text);
    if (buf_append(&loader->config->warnings, line, strlen(line)))
        return;
}

void loader_warn(struct loader *loader, const char *path, const char *format, ...)
{
    char text[800];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    warn_at(loader, loader_position(loader, path), text);
}

void loader_warn_position(struct loader *loader, struct config_position position,
                          const char *format, ...)
{
    char text[800];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    warn_at(loader, position, text);
}

void loader_warn_node(struct loader *loader, const struct yaml_tree_node *node, const char *format,
                      ...)
{
    char text[800], whole[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(whole, sizeof(whole), "%s: %s", loader->path, text);
    warn_at(loader, node->position, whole);
}
