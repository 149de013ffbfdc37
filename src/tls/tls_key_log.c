/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes TLS secrets to a file (tls_key_log.h). Each line is one write() in append mode, so lines
 * stay whole beside those of other threads, and of other programs with the same SSLKEYLOGFILE.
 */
#include "tls/tls_key_log.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int key_log_fd = -1;

static void key_log_on_line(const SSL *ssl, const char *line)
{
    struct iovec parts[] = {
        {.iov_base = (char *)line, .iov_len = strlen(line)},
        {.iov_base = (char *)"\n", .iov_len = 1},
    };

    (void)ssl;
    /* A full disk loses the line but must not stop the service. */
    if (writev(atomic_load(&key_log_fd), parts, 2) < 0)
        return;
}

void tls_key_log_attach(SSL_CTX *ctx)
{
    if (atomic_load(&key_log_fd) >= 0)
        SSL_CTX_set_keylog_callback(ctx, key_log_on_line);
}

/* A file of another user, or a link to one, would disclose the secrets. */
static enum err make_private(int fd, const char *path, char why[TLS_WHY_MAX])
{
    struct stat status;

    if (fstat(fd, &status) || !S_ISREG(status.st_mode))
        return tls_why(why, ERR_INVALID, "%s is not a regular file", path);
    if (status.st_nlink != 1)
        return tls_why(why, ERR_INVALID, "%s has another name too", path);
    if (status.st_uid != geteuid())
        return tls_why(why, ERR_PERMISSION, "%s belongs to another user", path);
    if (fchmod(fd, S_IRUSR | S_IWUSR))
        return tls_why(why, ERR_PERMISSION, "cannot make %s private: %s", path, strerror(errno));
    return ERR_OK;
}

enum err tls_log_keys_to(const char *path, char why[TLS_WHY_MAX])
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return tls_why(why, errno == EACCES ? ERR_PERMISSION : ERR_IO, "cannot write %s: %s", path,
                       strerror(errno));
    enum err err = make_private(fd, path, why);
    if (err) {
        close(fd);
        return err;
    }
    int before = atomic_exchange(&key_log_fd, fd);
    if (before >= 0)
        close(before);
    return ERR_OK;
}
