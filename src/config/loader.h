/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOADER_H
#define NAILUP_CONFIG_LOADER_H

/*
 * What the parts of the loader share (load.c, load_scalar.c, load_lists.c, load_zones.c): the walk
 * over the tree, with the path of where it is. Used inside config only.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "config/config.h"
#include "config/options.h"
#include "config/problems.h"
#include "config/yaml_tree.h"

enum { LOADER_PATH_MAX = 200 };

struct loader {
    struct config *config;
    struct problems *problems;
    const char *file_name;
    bool with_files;                   /* else text at hand, which leads to no file */
    const struct yaml_tree_node *root; /* while checking: the file; NULL: it is empty */
    char path[LOADER_PATH_MAX]; /* of the node at hand, as errors show it: "server.listen[1]" */
    size_t path_len;
};

/* Extends the path by ".key" or "[index]"; returns what loader_leave() takes to shorten it. */
size_t loader_enter(struct loader *loader, const char *key);
size_t loader_enter_item(struct loader *loader, size_t index);
void loader_leave(struct loader *loader, size_t mark);

/* Adds an error about the node at hand, at that node's position. */
void loader_error(struct loader *loader, const struct yaml_tree_node *node, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* As loader_error(): what stands there instead of what the option takes, and a hint or "". */
void loader_error_takes(struct loader *loader, const struct yaml_tree_node *node, const char *takes,
                        const char *hint);

/* Memory for what the configuration holds: count elements, all zero. NULL: memory is out, and
 * problems says so. */
void *loader_take(struct loader *loader, size_t count, size_t size);

/*
 * Reads a mapping: the row of a key is the one whose path is prefix + key. Unknown keys and wrong
 * types are errors, worded here.
 */
struct loader_place {
    const char *prefix;         /* "server.", "forward-zones[].", or "" at the top */
    void *owner;                /* struct of the prefix's rows; NULL: those of the configuration */
    struct config_layer *layer; /* takes the keys of "upstream." besides; NULL: none does */
};
void load_mapping(struct loader *loader, const struct yaml_tree_node *map,
                  const struct loader_place *place);

/* The node's value into the field of this row; owner is of the row's struct. */
void load_value(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, void *owner);

/* load_scalar.c: one word, within its bounds. False after an error. */
bool load_scalar(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node, void *owner);
/* One word of several without a row of its own: the index in words, or -1 after an error. */
int load_word(struct loader *loader, const struct yaml_tree_node *node, const char *words,
              const char *takes);

/* load_lists.c: whether the node is a list of a size that the row allows; an error if not. */
bool load_list_fits(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node);
void load_listen(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node);
void load_outgoing(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node);
void load_access(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node);
void load_prefixes(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_prefixes *prefixes);
void load_names(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, struct config_names *names);
/* What an address is for: its port when none is given, whether a name may stand behind it, and
 * which addresses it may be. */
struct load_address_use {
    bool is_reached; /* bound or connected to: a link-local one needs its zone */
    uint16_t default_port;
    bool takes_name;
    bool takes_any;    /* 0.0.0.0 and :: */
    const char *whose; /* completes "is no address of ..." */
};
/* One address; has_port says whether one was written, name is "" where none is. False after an
 * error. */
bool load_address(struct loader *loader, const struct yaml_tree_node *node,
                  const struct load_address_use *use, struct addr *out, bool *has_port,
                  char name[ADDR_NAME_MAX]);

/* load_upstreams.c: who is asked and how it proves who it is. */
void load_upstreams(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node, struct config_zone *zone);
void load_pins(struct loader *loader, const struct option *option,
               const struct yaml_tree_node *node, struct tls_pins **field);

/* load_zones.c: of rows below a prefix such as "forward-zones[].", the defaults into their owner,
 * and whether those without one are there; an error for each that is not. */
void load_row_defaults(struct loader *loader, const char *prefix, void *owner);
bool load_has_required(struct loader *loader, const char *prefix, const struct yaml_tree_node *map);
void load_entries(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node);
void load_zones(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node);

/* load_local.c: names answered here. */
void load_local_zones(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node);
void load_records(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node);
void load_block_lists(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node);
void load_redirect(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_block_list *list);

/* include.c: hangs what the files have that include: names into the tree. What is wrong is added to
 * problems; NULL: memory is out. The nodes live until includes_free(), NULL is fine. */
struct includes;
struct includes *include_files(struct loader *loader, struct yaml_tree *tree, size_t bytes);
void includes_free(struct includes *includes);
/* load_dnstap.c: which messages; and what of the section does not go together. */
void load_dnstap_messages(struct loader *loader, const struct option *option,
                          const struct yaml_tree_node *node, uint32_t *field);
void config_check_dnstap(struct loader *loader);

/* Errors about names that stand in forward-zones and in stub-zones. */
void config_check_zone_names(struct loader *loader);

/* config_check.c: what only shows when all is loaded. */
void config_check(struct loader *loader);
/* Whether some name is resolved by recursion from the root. */
bool config_has_recursion(const struct config *config);
/* Adds a warning at the position of a key. What has no room is left out. */
void config_warn(struct loader *loader, const char *path, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Its parts: config_check_zones.c, config_check_tls.c. */
void config_check_zones(struct loader *loader);
void config_check_tls(struct loader *loader);
/* config_check_files.c: whether TLS could be spoken with the files that are named. */
void config_check_files(struct loader *loader);
/* config_hints.c: the file of recursion.root-hints into the configuration; and a warning where
 * recursion.do-not-query leaves none of the hints to ask. */
void config_read_hints(struct loader *loader);
void config_warn_of_hints(struct loader *loader);
/* config_check_written.c: whether a file that is written is also one that is read. */
void config_check_written(struct loader *loader);

/* config_local.c: makes config->local, of files too if they are to be read. */
void config_local(struct loader *loader, bool with_files);

/* config_cookie_secrets.c: the secrets of server.cookie-secret-file into the configuration. */
void config_read_cookie_secrets(struct loader *loader);

/* config_accounts.c: fills run_as and control_account. Reads the system's users and groups. */
void config_find_accounts(struct loader *loader);

/* config_parse(), and whether config_check_files() is done too. */
MUST_USE enum err load_text(const char *file_name, struct span text, bool with_files,
                            struct config **out, struct buf *errors);

/* config_upstream.c: fills config->route from what the file says. False: memory is out. */
bool config_route(struct loader *loader);

/* Tells the policy which addresses the daemon serves: the checks of zones need them. */
void config_note_listeners(struct config *config);

#endif
