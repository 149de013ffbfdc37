/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Systems keep their authorities in one file, in a folder of one file each whose name is a hash of
 * its subject, or both. Reading the one file takes OpenSSL 3.0 50 ms and 760 KiB (144 authorities)
 * for each worker and kind of upstream; of the folder only those are read, once, that some chain
 * ends at. So the folder is preferred.
 */
#include "net/tls_system.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 8 };

/* "5ed36f99.0" */
static bool is_hashed(const char *name)
{
    for (int i = 0; i < HASH_DIGITS; i++)
        if (!isxdigit((unsigned char)name[i]))
            return false;
    return strcmp(name + HASH_DIGITS, ".0") == 0;
}

static bool has_hashed(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    bool found = false;

    if (!folder)
        return false;
    while (!found && (entry = readdir(folder)))
        found = is_hashed(entry->d_name);
    closedir(folder);
    return found;
}

/* Is the folder all that is needed? Not when somebody names a file, or several folders. */
static bool is_folder_enough(void)
{
    const char *folder = secure_getenv(X509_get_default_cert_dir_env());

    if (secure_getenv(X509_get_default_cert_file_env()))
        return false;
    return has_hashed(folder ? folder : X509_get_default_cert_dir());
}

bool tls_system_trust(SSL_CTX *ctx)
{
    if (is_folder_enough())
        return SSL_CTX_set_default_verify_dir(ctx) == 1;
    return SSL_CTX_set_default_verify_paths(ctx) == 1;
}
