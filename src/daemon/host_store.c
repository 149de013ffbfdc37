/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* daemon/host_file.h knows the text, base/private_file.h replaces the file. */
#include "daemon/host_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/private_file.h"
#include "daemon/host_file.h"

static void host_store_read(const char *path, struct host_file *out)
{
    uint8_t *data = NULL;
    size_t len = 0;
    enum err err = private_file_read(path, HOST_FILE_BYTES_MAX, &data, &len);
    if (err == ERR_NOT_FOUND)
        return;
    if (!err) {
        err = host_file_read(out, span_of(data, len));
        private_file_wipe(data, len);
    }
    if (err)
        LOG(LOG_WARNING, "daemon",
            "host-file %s is not used, so the names of upstreams have no address until they are "
            "resolved: %s%s",
            path, err == ERR_INVALID ? "it is damaged or of another version" : err_str(err),
            err == ERR_PERMISSION ? "; it must belong to this user and have mode 0600" : "");
    else
        LOG(LOG_INFO, "daemon", "addresses of %zu names of upstreams read from %s", out->count,
            path);
}

void host_store_open(struct host_store *store, const char *path, struct host_file *out)
{
    out->count = 0;
    if (!*path)
        return;
    if (private_file_is_foreign(path, span_of(HOST_FILE_KIND, strlen(HOST_FILE_KIND)))) {
        LOG(LOG_WARNING, "daemon",
            "host-file %s holds no addresses of upstreams: nailupd neither reads nor overwrites "
            "it; name another file, or remove this one",
            path);
        return;
    }
    host_store_read(path, out);
    store->path = strdup(path);
    if (!store->path)
        LOG(LOG_WARNING, "daemon", "host-file %s will not be written: out of memory", path);
}

bool host_store_is_open(const struct host_store *store)
{
    return store->path != NULL;
}

void host_store_save(struct host_store *store, const struct host_file *file)
{
    struct buf text;
    if (!store->path)
        return;
    buf_init(&text, HOST_FILE_BYTES_MAX);
    enum err err = host_file_write(&text, file);
    if (!err)
        err = private_file_replace(store->path, buf_span(&text));
    buf_deinit(&text);
    if (err && !store->has_warned)
        LOG(LOG_WARNING, "daemon",
            "cannot write host-file %s, so a restart without the network may not know the "
            "addresses of upstreams: %s",
            store->path, err_str(err));
    store->has_warned = err != ERR_OK;
}

void host_store_deinit(struct host_store *store)
{
    free(store->path);
    *store = (struct host_store){0};
}
