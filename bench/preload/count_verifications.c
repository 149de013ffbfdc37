// SPDX-License-Identifier: BSD-3-Clause
// SPDX-FileCopyrightText: 2026 the nailup authors
// Counts the signatures that a server verifies, and the CPU time that they take. bench/validate.py
// loads it into nailupd, Unbound and Knot Resolver by LD_PRELOAD. The counters are in the file that
// VERIFICATIONS names.
//
// The server calls this library in place of OpenSSL or GnuTLS. It passes every argument on, so it
// needs none of their headers. A verification that begins another one counts once.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default)
int EVP_DigestVerify(void *, const unsigned char *, size_t, const unsigned char *, size_t);
int EVP_DigestVerifyFinal(void *, const unsigned char *, size_t);
int EVP_VerifyFinal(void *, const unsigned char *, unsigned, void *);
int EVP_PKEY_verify(void *, const unsigned char *, size_t, const unsigned char *, size_t);
int gnutls_pubkey_verify_data2(void *, int, unsigned, const void *, const void *);
#pragma GCC visibility pop

struct counters {
    _Atomic uint64_t verifications, cpu_ns;
};

static struct counters nowhere, *counters = &nowhere;
static _Thread_local int depth;

__attribute__((constructor)) static void count_begin(void)
{
    const char *path = getenv("VERIFICATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(struct counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        counters = mapped;
}

static uint64_t count_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t count_enter(void)
{
    return depth++ == 0 ? count_now_ns() : 0;
}

static int count_leave(uint64_t began_ns, int result)
{
    if (--depth == 0) {
        counters->cpu_ns += count_now_ns() - began_ns;
        counters->verifications++;
    }
    return result;
}

// Declares `real`: the function of the library that this file hides.
#define COUNT_REAL(name)                                                                           \
    static __typeof__(&name) real;                                                                 \
    if (!real)                                                                                     \
        *(void **)&real = dlsym(RTLD_NEXT, #name);

int EVP_DigestVerify(void *context, const unsigned char *signature, size_t size,
                     const unsigned char *data, size_t count)
{
    COUNT_REAL(EVP_DigestVerify)
    uint64_t began_ns = count_enter();
    return count_leave(began_ns, real(context, signature, size, data, count));
}

int EVP_DigestVerifyFinal(void *context, const unsigned char *signature, size_t size)
{
    COUNT_REAL(EVP_DigestVerifyFinal)
    uint64_t began_ns = count_enter();
    return count_leave(began_ns, real(context, signature, size));
}

int EVP_VerifyFinal(void *context, const unsigned char *signature, unsigned size, void *key)
{
    COUNT_REAL(EVP_VerifyFinal)
    uint64_t began_ns = count_enter();
    return count_leave(began_ns, real(context, signature, size, key));
}

int EVP_PKEY_verify(void *context, const unsigned char *signature, size_t size,
                    const unsigned char *digest, size_t count)
{
    COUNT_REAL(EVP_PKEY_verify)
    uint64_t began_ns = count_enter();
    return count_leave(began_ns, real(context, signature, size, digest, count));
}

int gnutls_pubkey_verify_data2(void *key, int algorithm, unsigned flags, const void *data,
                               const void *signature)
{
    COUNT_REAL(gnutls_pubkey_verify_data2)
    uint64_t began_ns = count_enter();
    return count_leave(began_ns, real(key, algorithm, flags, data, signature));
}
