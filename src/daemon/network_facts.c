/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads rtnetlink messages with its own bounds and keeps the set of facts. Sockets and the reaction
 * to news are elsewhere.
 *
 * Invariant: nothing is read beyond the datagram, whatever its length fields say.
 */

#include "daemon/network_facts.h"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/hash.h"

enum { FACT_LINK, FACT_ADDRESS, FACT_ROUTE };

enum { ALIGN = 4, ATTRIBUTE_HEAD = 4 };

/* ---- the set ---- */

void network_facts_clear(struct network_facts *facts)
{
    facts->count = 0;
}

static bool network_facts_is_same(const struct network_fact *a, const struct network_fact *b)
{
    return a->kind == b->kind && a->link == b->link && a->what == b->what;
}

static bool network_facts_add(struct network_facts *facts, const struct network_fact *fact)
{
    for (size_t i = 0; i < facts->count; i++)
        if (network_facts_is_same(&facts->list[i], fact))
            return false;
    if (facts->count == NETWORK_FACTS_MAX)
        return false;
    facts->list[facts->count++] = *fact;
    return true;
}

static void drop_at(struct network_facts *facts, size_t at)
{
    facts->list[at] = facts->list[--facts->count];
}

static bool network_facts_drop(struct network_facts *facts, const struct network_fact *fact)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (!network_facts_is_same(&facts->list[i], fact))
            continue;
        drop_at(facts, i);
        return true;
    }
    return false;
}

/* The kernel removes routes together with their link or address, without a message. */
static void drop_routes_of(struct network_facts *facts, uint32_t link)
{
    for (size_t i = facts->count; i-- > 0;)
        if (facts->list[i].kind == FACT_ROUTE && facts->list[i].link == link)
            drop_at(facts, i);
}

static void drop_routes_at(struct network_facts *facts, uint64_t place)
{
    for (size_t i = facts->count; i-- > 0;)
        if (facts->list[i].kind == FACT_ROUTE && facts->list[i].place == place)
            drop_at(facts, i);
}

/* Adds the fact if it is so, drops it if not. Returns whether this changed the set. */
static bool network_facts_set(struct network_facts *facts, const struct network_fact *fact,
                              bool is_so)
{
    return is_so ? network_facts_add(facts, fact) : network_facts_drop(facts, fact);
}

/* ---- messages ---- */

static size_t aligned(size_t len)
{
    return (len + ALIGN - 1) / ALIGN * ALIGN;
}

static void network_facts_skip(struct span *span, size_t len)
{
    len = len < span->len ? len : span->len;
    *span = span_of(span->data + len, span->len - len);
}

/* Messages begin with structs of the kernel. They are copied, because nothing guarantees their
 * alignment. */
static bool network_facts_take_head(struct span *span, void *head, size_t len)
{
    if (span->len < len)
        return false;
    memcpy(head, span->data, len);
    network_facts_skip(span, aligned(len));
    return true;
}

static bool next_attribute(struct span *span, uint16_t *type, struct span *value)
{
    uint16_t head[2]; /* length and type, in host byte order */

    if (span->len < ATTRIBUTE_HEAD)
        return false;
    memcpy(head, span->data, sizeof(head));
    if (head[0] < ATTRIBUTE_HEAD || head[0] > span->len)
        return false;
    *type = head[1] & (uint16_t)NLA_TYPE_MASK;
    *value = span_of(span->data + ATTRIBUTE_HEAD, head[0] - (size_t)ATTRIBUTE_HEAD);
    network_facts_skip(span, aligned(head[0]));
    return true;
}

/* The value of the first attribute of this type, or an empty span. */
static struct span attribute(struct span span, uint16_t wanted)
{
    struct span value;
    for (uint16_t type; next_attribute(&span, &type, &value);)
        if (type == wanted)
            return value;
    return span_of(NULL, 0);
}

static uint32_t number(struct span value)
{
    uint32_t out = 0;
    if (value.len == sizeof(out))
        memcpy(&out, value.data, sizeof(out));
    return out;
}

static uint64_t hash_on(uint64_t hash, struct span value)
{
    return hash_bytes(value.len ? value.data : (const uint8_t *)"", value.len, hash);
}

static bool read_link(struct network_facts *facts, const struct nlmsghdr *head, struct span body)
{
    struct ifinfomsg info;
    if (!network_facts_take_head(&body, &info, sizeof(info)))
        return false;
    struct network_fact fact = {.kind = FACT_LINK, .link = (uint32_t)info.ifi_index};
    /* AF_BRIDGE reports a bridge's ports, which is not the state of the link. */
    if (info.ifi_family != AF_UNSPEC)
        return false;
    bool is_up = head->nlmsg_type == RTM_NEWLINK && (info.ifi_flags & IFF_UP) &&
                 (info.ifi_flags & IFF_RUNNING) && number(attribute(body, IFLA_MASTER)) == 0;
    bool changed = network_facts_set(facts, &fact, is_up);
    if (changed && !is_up)
        drop_routes_of(facts, fact.link);
    return changed;
}

static bool read_address(struct network_facts *facts, const struct nlmsghdr *head, struct span body)
{
    struct ifaddrmsg info;
    if (!network_facts_take_head(&body, &info, sizeof(info)))
        return false;
    if (info.ifa_family == AF_INET6 && info.ifa_scope == RT_SCOPE_LINK)
        return false;
    struct span address = attribute(body, IFA_LOCAL);
    if (address.len == 0)
        address = attribute(body, IFA_ADDRESS);
    struct span wide = attribute(body, IFA_FLAGS);
    uint32_t flags = wide.len ? number(wide) : info.ifa_flags;
    const uint8_t name[] = {info.ifa_family, info.ifa_prefixlen};
    struct network_fact fact = {
        .kind = FACT_ADDRESS,
        .link = info.ifa_index,
        .what = hash_on(hash_bytes(name, sizeof(name), 0), address),
    };
    bool is_usable =
        head->nlmsg_type == RTM_NEWADDR && !(flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED));
    bool changed = network_facts_set(facts, &fact, is_usable);
    if (changed && !is_usable)
        drop_routes_of(facts, fact.link);
    return changed;
}

static struct network_fact route_fact(const struct rtmsg *info, struct span body)
{
    static const uint16_t ways[] = {RTA_GATEWAY, RTA_VIA, RTA_MULTIPATH, RTA_OIF, RTA_PREFSRC};
    struct span table = attribute(body, RTA_TABLE);
    const uint32_t place[] = {
        info->rtm_family,
        table.len ? number(table) : info->rtm_table,
        number(attribute(body, RTA_PRIORITY)),
        info->rtm_tos,
    };
    struct network_fact fact = {
        .kind = FACT_ROUTE,
        .link = number(attribute(body, RTA_OIF)),
        .place = hash_bytes(place, sizeof(place), 0),
    };
    fact.what = hash_bytes(&info->rtm_type, sizeof(info->rtm_type), fact.place);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        fact.what = hash_on(fact.what, attribute(body, ways[i]));
    return fact;
}

static bool read_route(struct network_facts *facts, const struct nlmsghdr *head, struct span body)
{
    struct rtmsg info;
    if (!network_facts_take_head(&body, &info, sizeof(info)))
        return false;
    if (info.rtm_dst_len != 0 || info.rtm_flags & RTM_F_CLONED)
        return false;
    struct network_fact fact = route_fact(&info, body);
    if (head->nlmsg_type == RTM_DELROUTE) {
        (void)network_facts_drop(facts, &fact);
        return true; /* even if the route is older than this process */
    }
    bool changed = network_facts_add(facts, &fact);
    if (changed &&
        head->nlmsg_flags & NLM_F_REPLACE) { /* the kernel does not report the replaced route */
        drop_routes_at(facts, fact.place);
        (void)network_facts_add(facts, &fact);
    }
    return changed;
}

static void read_message(struct network_facts *facts, const struct nlmsghdr *head, struct span body,
                         struct network_news *news)
{
    switch (head->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        news->changed |= read_link(facts, head, body);
        break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
        news->changed |= read_address(facts, head, body);
        break;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
        news->changed |= read_route(facts, head, body);
        break;
    case NLMSG_DONE:
    case NLMSG_ERROR:
        news->ended = true;
        break;
    default:
        break;
    }
}

struct network_news network_facts_read(struct network_facts *facts, struct span datagram)
{
    struct network_news news = {0};
    struct nlmsghdr head;

    while (datagram.len >= sizeof(head)) {
        memcpy(&head, datagram.data, sizeof(head));
        if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > datagram.len)
            break;
        read_message(facts, &head,
                     span_of(datagram.data + sizeof(head), head.nlmsg_len - sizeof(head)), &news);
        network_facts_skip(&datagram, aligned(head.nlmsg_len));
    }
    return news;
}
