/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_NETLINK_TEXT_H
#define NAILUP_TESTS_NETLINK_TEXT_H

/* Builds rtnetlink messages as the kernel does, several per datagram. Include it after cmocka. */

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/span.h"

struct netlink_text {
    _Alignas(8) uint8_t data[4096];
    size_t len;
    size_t message_at;
};

static inline void netlink_put(struct netlink_text *text, const void *data, size_t len)
{
    size_t padded = (len + 3) / 4 * 4;
    assert_in_range(text->len + padded, 0, sizeof(text->data));
    memset(text->data + text->len, 0, padded);
    if (len)
        memcpy(text->data + text->len, data, len);
    text->len += padded;
    if (text->len > text->message_at + 4) {
        uint32_t message_len = (uint32_t)(text->len - text->message_at);
        memcpy(text->data + text->message_at, &message_len, sizeof(message_len));
    }
}

static inline void netlink_begin(struct netlink_text *text, uint16_t type, uint16_t flags,
                                 const void *body, size_t body_len)
{
    struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_flags = flags};
    text->message_at = text->len;
    netlink_put(text, &head, sizeof(head));
    netlink_put(text, body, body_len);
}

static inline void netlink_attribute(struct netlink_text *text, uint16_t type, const void *value,
                                     size_t len)
{
    struct rtattr head = {.rta_len = (unsigned short)(sizeof(head) + len), .rta_type = type};
    uint8_t all[256];
    assert_in_range(len, 0, sizeof(all) - sizeof(head));
    memcpy(all, &head, sizeof(head));
    memcpy(all + sizeof(head), value, len);
    netlink_put(text, all, sizeof(head) + len);
}

static inline void netlink_number(struct netlink_text *text, uint16_t type, uint32_t value)
{
    netlink_attribute(text, type, &value, sizeof(value));
}

static inline void netlink_address(struct netlink_text *text, uint16_t type, const char *address)
{
    uint8_t bytes[16];
    int family = strchr(address, ':') ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(family, address, bytes), 1);
    netlink_attribute(text, type, bytes, family == AF_INET6 ? 16 : 4);
}

static inline void netlink_link(struct netlink_text *text, uint16_t type, int index, unsigned flags)
{
    struct ifinfomsg info = {.ifi_index = index, .ifi_flags = flags};
    netlink_begin(text, type, 0, &info, sizeof(info));
    netlink_attribute(text, IFLA_IFNAME, "eth0", 5);
}

static inline void netlink_addr(struct netlink_text *text, uint16_t type, unsigned index,
                                const char *address, unsigned char scope, uint32_t flags)
{
    struct ifaddrmsg info = {
        .ifa_family = strchr(address, ':') ? AF_INET6 : AF_INET,
        .ifa_prefixlen = 24,
        .ifa_scope = scope,
        .ifa_index = index,
    };
    netlink_begin(text, type, 0, &info, sizeof(info));
    netlink_address(text, IFA_ADDRESS, address);
    netlink_number(text, IFA_FLAGS, flags);
}

static inline void netlink_route(struct netlink_text *text, uint16_t type, uint16_t flags,
                                 uint32_t link, const char *gateway)
{
    struct rtmsg info = {
        .rtm_family = strchr(gateway, ':') ? AF_INET6 : AF_INET,
        .rtm_table = RT_TABLE_MAIN,
        .rtm_type = RTN_UNICAST,
    };
    netlink_begin(text, type, flags, &info, sizeof(info));
    netlink_number(text, RTA_TABLE, RT_TABLE_MAIN);
    netlink_address(text, RTA_GATEWAY, gateway);
    netlink_number(text, RTA_OIF, link);
}

#endif
