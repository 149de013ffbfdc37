/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The steps of an import: read, map, check, print. */
#include "import/import_unbound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "import/draft.h"
#include "import/unbound_map.h"
#include "import/unbound_source.h"
#include "nailup/version.h"

_Static_assert((int)IMPORT_BYTES_MAX == (int)DRAFT_PRINT_BYTES, "what is checked can be printed");

struct import {
    struct draft draft;
    struct unbound_source source;
    struct unbound_map_state map;
    struct buf *messages;
};

static void on_statement(void *context, const struct unbound_statement *statement)
{
    struct import *import = context;
    unbound_map_take(&import->map, statement);
}

/* The directory of a file, absolute if the file exists. */
static const char *directory_of(struct draft *draft, const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = real ? real : path, *slash = strrchr(name, '/');
    const char *out = slash ? draft_format(draft, "%.*s", (int)(slash - name), name) : ".";
    free(real);
    return out;
}

static struct import *import_new(const char *path, bool reads_files, struct buf *messages)
{
    struct import *import = calloc(1, sizeof(*import));
    if (!import)
        return NULL;
    draft_init(&import->draft);
    import->messages = messages;
    import->source = (struct unbound_source){
        .draft = &import->draft,
        .reads_files = reads_files,
        .on_statement = on_statement,
        .context = import,
        .messages = messages,
        .directory = directory_of(&import->draft, path),
    };
    unbound_map_init(&import->map, &import->draft, &import->source);
    return import;
}

static void import_free(struct import *import)
{
    draft_deinit(&import->draft);
    free(import);
}

static void import_say(struct import *import, const char *path, const char *kind,
                       const char *sentence)
{
    const char *text = draft_format(&import->draft, "%s:1:1: %s: %s\n", path, kind, sentence);
    /* A message that does not fit is dropped: an earlier one was kept. */
    if (buf_append(import->messages, text, strlen(text)))
        return;
}

static const char *why(enum err err)
{
    switch (err) {
    case ERR_NO_MEMORY:
        return "needs more memory than an import may use; split it";
    case ERR_LIMIT:
        return "has more than an import of 1 MiB can hold, or too many values that nailup does "
               "not accept; shorten it";
    default:
        return "could not be converted to a nailup.yaml that loads; please report this";
    }
}

/* The comment at the top of the output. */
static const char *head(struct import *import, const char *path)
{
    return draft_format(
        &import->draft,
        "Made by nailupd " NAILUP_VERSION
        " from %s. nailup.yaml(5) explains every key. Options that the file does not give have the "
        "defaults of nailup, which sometimes differ from those of Unbound: prefetching and stale "
        "answers are on, DNSSEC is validated, and there is a thread for each CPU.%s",
        draft_shown(&import->draft, span_of(path, strlen(path))),
        import->draft.has_placeholder
            ? " NO SERVER OF THE ROOT ZONE IS USABLE: name others in forward-zones."
            : "");
}

/* Whether a list of the draft has items that load. */
static bool has_items(const struct draft *draft, const char *path)
{
    for (const struct draft_item *item = draft->first; item; item = item->next)
        if (!item->is_dropped && strcmp(item->path, path) == 0)
            return true;
    return false;
}

/* A lost rule about clients or private addresses leaves something open that the file closed. */
static void warn_of_lost_rules(struct import *import)
{
    for (const struct draft_item *item = import->draft.first; item; item = item->next)
        if (item->is_dropped &&
            (strcmp(item->path, "server.access") == 0 || strcmp(item->path, "views") == 0 ||
             strcmp(item->path, "recursion.private-addresses") == 0))
            map_warn(&import->map, item->origin, "The output says why.");
}

static void say_what_to_do(struct import *import, const char *path)
{
    warn_of_lost_rules(import);
    if (import->draft.has_placeholder)
        import_say(import, path, "warning",
                   "has no usable server to forward to; replace 192.0.2.53 in forward-zones before "
                   "you use the output");
    if (import->map.interfaces && !has_items(&import->draft, "server.listen") &&
        !has_items(&import->draft, "server.listen-tls") &&
        !has_items(&import->draft, "server.listen-https"))
        import_say(import, path, "warning",
                   "has no interface that nailup can serve; the output listens on the defaults "
                   "127.0.0.1@53 and ::1@53");
    if (import->draft.local_left_out)
        import_say(
            import, path, "warning",
            "has more local-zone and local-data than fit; the end of the output says what to do");
}

static enum err import_finish(struct import *import, const char *path, struct buf *out)
{
    unbound_map_end(&import->map);
    enum err err = draft_check(&import->draft, import->source.reads_files);
    if (!err)
        err = draft_print(&import->draft, head(import, path), NULL, out);
    if (err)
        import_say(import, path, "error", why(err));
    else
        say_what_to_do(import, path);
    return err;
}

static enum err import_no_memory(const char *path, struct buf *messages)
{
    char text[160];
    int len = snprintf(text, sizeof(text), "%.100s:1:1: error: out of memory\n", path);
    if (buf_append(messages, text, (size_t)len))
        return ERR_NO_MEMORY;
    return ERR_NO_MEMORY;
}

enum err import_unbound(const char *path, struct buf *out, struct buf *messages)
{
    struct import *import = import_new(path, true, messages);
    if (!import)
        return import_no_memory(path, messages);
    enum err err = unbound_source_file(&import->source, path);
    if (!err)
        err = import_finish(import, path, out);
    else if (err != ERR_INVALID)
        import_say(import, path, "error", why(err));
    import_free(import);
    return err;
}

enum err import_unbound_text(const char *name, struct span text, struct buf *out,
                             struct buf *messages)
{
    struct import *import = import_new(name, false, messages);
    if (!import)
        return import_no_memory(name, messages);
    enum err err = unbound_source_text(&import->source, name, text);
    if (!err)
        err = import_finish(import, name, out);
    else if (err != ERR_INVALID)
        import_say(import, name, "error", why(err));
    import_free(import);
    return err;
}
