/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_VECTORS_H
#define NAILUP_TESTS_VALIDATE_VECTORS_H

/* The examples in the RFCs. */

#include <stdint.h>

#define RFC4034_KEY                                                                                \
    "dskey.example.com. 86400 IN DNSKEY 256 3 5 "                                                  \
    "AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAph" \
    "XdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw=="
#define RFC4034_DS                                                                                 \
    "dskey.example.com. 86400 IN DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118"
#define RFC4509_DS                                                                                 \
    "dskey.example.com. 86400 IN DS 60485 5 2 "                                                    \
    "D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A"

#define P256_KEY                                                                                   \
    "example.net. 3600 IN DNSKEY 257 3 13 "                                                        \
    "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA=="
#define P256_DS                                                                                    \
    "example.net. 3600 IN DS 55648 13 2 "                                                          \
    "b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17"
#define P384_KEY                                                                                   \
    "example.net. 3600 IN DNSKEY 257 3 14 "                                                        \
    "xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX4" \
    "5NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40"
#define P384_DS                                                                                    \
    "example.net. 3600 IN DS 10771 14 4 "                                                          \
    "72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df9" \
    "83d6"
#define ED25519_KEY                                                                                \
    "example.com. 3600 IN DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4="
#define ED25519_DS                                                                                 \
    "example.com. 3600 IN DS 3613 15 2 "                                                           \
    "3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b"
#define ED25519_OTHER_KEY                                                                          \
    "example.com. 3600 IN DNSKEY 257 3 15 zPnZ/QwEe7S8C5SPz2OfS5RR40ATk2/rYnE9xHIEijs="
#define ED25519_OTHER_DS                                                                           \
    "example.com. 3600 IN DS 35217 15 2 "                                                          \
    "401781b934e392de492ec77ae2e15d70f6575a1c0bc59c5275c04ebe80c6614c"

struct vector {
    const char *name;
    uint16_t tag;
    uint32_t now_s;
    bool is_beyond_owner; /* the labels field of the RFC's signature is one too high */
    const char *key, *record, *sig;
};

static const struct vector vectors[] = {
    {"RFC 5702 section 6.1", 9033, 1400000000, false,
     "example.net. 3600 IN DNSKEY 256 3 8 "
     "AwEAAcFcGsaxxdgiuuGmCkVImy4h99CqT7jwY3pexPGcnUFtR2Fh36BponcwtkZ4cAgtvd4Qs8PkxUdp6p/DlUmObdk=",
     "www.example.net. 3600 IN A 192.0.2.91",
     "www.example.net. 3600 IN RRSIG A 8 3 3600 20300101000000 20000101000000 9033 example.net. "
     "kRCOH6u7l0QGy9qpC9l1sLncJcOKFLJ7GhiUOibu4teYp5VE9RncriShZNz85mwlMgNEacFYK/lPtPiVYP4bwg=="},
    {"RFC 5702 section 6.2", 3740, 1400000000, false,
     "example.net. 3600 IN DNSKEY 256 3 10 "
     "AwEAAdHoNTOW+et86KuJOWRDp1pndvwb6Y83nSVXXyLA3DLroROUkN6X0O6pnWnjJQujX/AyhqFDxj13tOnD9u/1kTg7"
     "cV6rklMrZDtJCQ5PCl/D7QNPsgVsMu1J2Q8gpMpztNFLpPBz1bWXjDtaR7ZQBlZ3PFY12ZTSncorffcGmhOL",
     "www.example.net. 3600 IN A 192.0.2.91",
     "www.example.net. 3600 IN RRSIG A 10 3 3600 20300101000000 20000101000000 3740 example.net. "
     "tsb4wnjRUDnB1BUi+t6TMTXThjVnG+eCkWqjvvjhzQL1d0YRoOe0CbxrVDYd0xDtsuJRaeUw1ep94PzEWzr0iGYgZBWm"
     "/zpq+9fOuagYJRfDqfReKBzMweOLDiNa8iP5g9vMhpuv6OPlvpXwm9Sa9ZXIbNl1MBGk0fthPgxdDLw="},
    {"RFC 6605 section 6.1", 55648, 1283000000, false, P256_KEY,
     "www.example.net. 3600 IN A 192.0.2.1",
     "www.example.net. 3600 IN RRSIG A 13 3 3600 20100909100439 20100812100439 55648 example.net. "
     "qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw=="},
    {"RFC 6605 section 6.2", 10771, 1283000000, false, P384_KEY,
     "www.example.net. 3600 IN A 192.0.2.1",
     "www.example.net. 3600 IN RRSIG A 14 3 3600 20100909102025 20100812102025 10771 example.net. "
     "/L5hDKIvGDyI1fcARX3z65qrmPsVz73QD1Mr5CEqOiLP95hxQouuroGCeZOvzFaxsT8Glr74hbavRKayJNuydCuzWTSS"
     "Pdz7wnqXL5bdcJzusdnI0RSMROxxwGipWcJm"},
    {"RFC 8080 section 6.1 with erratum 4935", 3613, 1439000000, false, ED25519_KEY,
     "example.com. 3600 IN MX 10 mail.example.com.",
     "example.com. 3600 IN RRSIG MX 15 2 3600 20150819220000 20150729220000 3613 example.com. "
     "oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg=="},
    {"RFC 8080 section 6.1 with erratum 4935, second", 35217, 1439000000, false, ED25519_OTHER_KEY,
     "example.com. 3600 IN MX 10 mail.example.com.",
     "example.com. 3600 IN RRSIG MX 15 2 3600 20150819220000 20150729220000 35217 example.com. "
     "zXQ0bkYgQTEFyfLyi9QoiY6D8ZdYo4wyUhVioYZXFdT410QPRITQSqJSnzQoSm5poJ7gD7AQR0O7KuI5k2pcBg=="},
    {"RFC 8080 section 6.1", 3613, 1439000000, true, ED25519_KEY,
     "example.com. 3600 IN MX 10 mail.example.com.",
     "example.com. 3600 IN RRSIG MX 15 3 3600 20150819220000 20150729220000 3613 example.com. "
     "Edk+IB9KNNWg0HAjm7FazXyrd5m3Rk8zNZbvNpAcM+eysqcUOMIjWoevFkjH5GaMWeG96GUVZu6ECKOQmemHDg=="},
    {"RFC 8080 section 6.2", 9713, 1439000000, true,
     "example.com. 3600 IN DNSKEY 257 3 16 "
     "3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA",
     "example.com. 3600 IN MX 10 mail.example.com.",
     "example.com. 3600 IN RRSIG MX 16 3 3600 20150819220000 20150729220000 9713 example.com. "
     "Nmc0rgGKpr3GKYXcB1JmqqS4NYwhmechvJTqVzt3jR+Qy/lSLFoIk1L+9e39GPL+5tVzDPN3f9kAwiu8KCuPPjtl"
     "227ayaCZtRKZuJax7n9NuYlZJIusX0SOIOKBGzG+yWYtz1/jjbzl5GGkWvREUCUA"},
    {"RFC 8080 section 6.2, second", 38353, 1439000000, true,
     "example.com. 3600 IN DNSKEY 257 3 16 "
     "kkreGWoccSDmUBGAe7+zsbG6ZAFQp+syPmYUurBRQc3tDjeMCJcVMRDmgcNLp5HlHAMy12VoISsA",
     "example.com. 3600 IN MX 10 mail.example.com.",
     "example.com. 3600 IN RRSIG MX 16 3 3600 20150819220000 20150729220000 38353 example.com. "
     "+JjANio/LIzp7osmMYE5XD3H/YES8kXs5Vb9H8MjPS8OAGZMD37+LsCIcjg5ivt0d4Om/UaqETEAsJjaYe56CEQP"
     "5lhRWuD2ivBqE0zfwJTyp4WqvpULbpvaukswvv/WNEFxzEYQEIm9+xDlXj4pMAMA"},
};

#endif
