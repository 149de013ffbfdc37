/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Names of zones become names of files: letters, digits, '-', '_' and the dots between labels stay,
 * every other byte becomes '%' and two digits. A long name ends in a hash instead.
 */
#include "transfer/zone_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/private_file.h"
#include "transfer/zone_image.h"

enum {
    FILE_NAME_MAX = 200, /* without the suffix; folders allow 255 */
    FILE_FACTOR = 4,     /* an image repeats the owner's name for each record */
    FILE_SLACK = 1024 * 1024,
};

static bool is_plain(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ||
           byte == '_';
}

/* Writes a label and a dot; bytes that do not fit are left out. Returns the length. */
static size_t label_write(char *out, size_t room, const uint8_t *label)
{
    size_t len = 0;
    for (uint8_t i = 1; i <= label[0] && len + 4 < room; i++)
        len +=
            (size_t)snprintf(out + len, room - len, is_plain(label[i]) ? "%c" : "%%%02x", label[i]);
    if (len + 1 < room)
        out[len++] = '.';
    return len;
}

enum err zone_store_path(char out[ZONE_STORE_PATH_MAX], const char *folder, struct name zone)
{
    uint8_t wire[NAME_WIRE_MAX];
    char file[FILE_NAME_MAX] = "", hash[24] = "";
    size_t len = 0;
    struct name name = name_fold(zone, wire);
    for (struct name rest = name; !name_is_root(rest); rest = name_parent(rest))
        len += label_write(file + len, sizeof(file) - len, rest.wire);
    file[len] = '\0';
    /* Only a name that did not fit comes near the bound, and two of them may begin alike. */
    if (len + 4 >= sizeof(file))
        snprintf(hash, sizeof(hash), "%%%016" PRIx64 ".", hash_bytes(name.wire, name.len, 0));
    int written = snprintf(out, ZONE_STORE_PATH_MAX, "%s/%s%szone", folder,
                           name_is_root(name) ? "%root." : file, hash);
    return written > 0 && written < ZONE_STORE_PATH_MAX ? ERR_OK : ERR_TOO_LARGE;
}

enum err zone_store_load(const char *path, struct name zone, size_t max_bytes,
                         struct zone_data **out, int64_t *confirmed_at_s)
{
    struct stat facts;
    uint8_t *bytes;
    size_t len;
    *out = NULL;
    if (stat(path, &facts) != 0)
        return err_from_errno(errno);
    *confirmed_at_s = facts.st_mtim.tv_sec;
    enum err err = private_file_read(path, max_bytes * FILE_FACTOR + FILE_SLACK, &bytes, &len);
    if (err != ERR_OK)
        return err;
    err = zone_image_read(span_of(bytes, len), zone, max_bytes, out);
    private_file_wipe(bytes, len);
    return err;
}

static enum err store_put(void *owner, struct span bytes)
{
    return private_file_write(owner, bytes);
}

enum err zone_store_save(const char *path, const struct zone_data *zone)
{
    struct private_file file;
    if (private_file_is_foreign(path, span_of(ZONE_IMAGE_MAGIC, sizeof(ZONE_IMAGE_MAGIC) - 1)))
        return ERR_FOREIGN;
    enum err err = private_file_begin(&file, path);
    if (err != ERR_OK)
        return err;
    err = zone_image_write(zone, store_put, &file);
    if (err == ERR_OK)
        return private_file_finish(&file);
    private_file_abandon(&file);
    return err;
}

enum err zone_store_confirm(const char *path)
{
    return utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0 ? ERR_OK
                                                                     : err_from_errno(errno);
}
