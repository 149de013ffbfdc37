/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_READ_MAX_H
#define NAILUP_NET_READ_MAX_H

enum {
    NET_READ_MAX = 128 * 1024, /* bytes of the read buffer that a loop's sockets share */
    /* One read from a patient client takes no more than a hundred queries. A client that fills it
     * becomes greedy (loop/watch.h) until a read brings at most NET_READ_POLITE_BYTES; the receive
     * buffer bounds its reads. The two bounds differ, so that a steady client does not change its
     * rank with each read: a change costs two system calls. */
    NET_READ_PATIENT_MAX = 4 * 1024,
    NET_READ_POLITE_BYTES = 1024,
};

#endif
