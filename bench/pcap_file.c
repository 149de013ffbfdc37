/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Removes the layers of a packet one by one. Each step takes a span and returns the rest of it. An
 * empty span means that the packet is not a query. No content of a packet makes the file faulty.
 */

#include "pcap_file.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
    DNS_PORT = 53,
    VLAN_TAGS_MAX = 2,
};

enum { ETHER_IPV4 = 0x0800, ETHER_IPV6 = 0x86dd, ETHER_VLAN = 0x8100, ETHER_QINQ = 0x88a8 };
enum { IP_UDP = 17 };

static const struct span no_query;

static struct span pcap_skip(struct span bytes, size_t count)
{
    return bytes.len < count ? no_query : span_of(bytes.data + count, bytes.len - count);
}

/* Returns the payload of a UDP datagram to the DNS port. */
static struct span pcap_of_udp(struct span udp)
{
    if (udp.len < 8 || get_u16(udp.data + 2) != DNS_PORT)
        return no_query;
    size_t len = get_u16(udp.data + 4);
    return len < 8 || len > udp.len ? no_query : span_of(udp.data + 8, len - 8);
}

static void pcap_set_source(struct addr *from, int family, const uint8_t *bytes)
{
    memset(from, 0, sizeof(*from));
    from->sa.sa_family = (sa_family_t)family;
    if (family == AF_INET)
        memcpy(&from->in.sin_addr, bytes, sizeof(from->in.sin_addr));
    else
        memcpy(&from->in6.sin6_addr, bytes, sizeof(from->in6.sin6_addr));
}

static struct span pcap_of_ipv4(struct span ip, struct addr *from)
{
    if (ip.len < 20)
        return no_query;
    size_t head = (ip.data[0] & 15u) * 4u, len = get_u16(ip.data + 2);
    bool is_fragment = get_u16(ip.data + 6) & 0x3fff;
    if (head < 20 || len < head || len > ip.len || is_fragment || ip.data[9] != IP_UDP)
        return no_query;
    pcap_set_source(from, AF_INET, ip.data + 12);
    return pcap_of_udp(span_of(ip.data + head, len - head));
}

static struct span pcap_of_ipv6(struct span ip, struct addr *from)
{
    if (ip.len < 40 || ip.data[6] != IP_UDP)
        return no_query;
    size_t len = get_u16(ip.data + 4);
    pcap_set_source(from, AF_INET6, ip.data + 8);
    return len > ip.len - 40 ? no_query : pcap_of_udp(span_of(ip.data + 40, len));
}

static struct span pcap_of_ip(struct span ip, struct addr *from)
{
    if (ip.len == 0)
        return no_query;
    return ip.data[0] >> 4 == 4   ? pcap_of_ipv4(ip, from)
           : ip.data[0] >> 4 == 6 ? pcap_of_ipv6(ip, from)
                                  : no_query;
}

/* Reads a frame, beginning with the number of its protocol. */
static struct span pcap_of_ether(struct span from_type, struct addr *from)
{
    for (int tags = 0; tags <= VLAN_TAGS_MAX && from_type.len >= 2; tags++) {
        uint16_t type = get_u16(from_type.data);
        if (type == ETHER_IPV4 || type == ETHER_IPV6)
            return pcap_of_ip(pcap_skip(from_type, 2), from);
        if (type != ETHER_VLAN && type != ETHER_QINQ)
            return no_query;
        from_type = pcap_skip(from_type, 4);
    }
    return no_query;
}

static struct span pcap_of_packet(const struct pcap_packet *packet, struct addr *from)
{
    struct span bytes = packet->bytes;
    switch (packet->link) {
    case LINK_UNKNOWN:
        return no_query;
    case LINK_ETHERNET:
        return pcap_of_ether(pcap_skip(bytes, 12), from);
    case LINK_COOKED:
        return pcap_of_ether(pcap_skip(bytes, 14), from);
    case LINK_COOKED_2: /* the protocol comes first, and the packet follows 20 bytes later */
        return pcap_of_ip(pcap_skip(bytes, 20), from);
    case LINK_NULL:
    case LINK_LOOP:
        return pcap_of_ip(pcap_skip(bytes, 4), from);
    default:
        return pcap_of_ip(bytes, from);
    }
}

/* ---- the file ---- */

static enum pcap_fault pcap_read(struct pcap *pcap, struct capture *capture, size_t *packets)
{
    bool is_end = false;
    struct pcap_packet packet = {0};
    enum pcap_fault fault = pcap_begin(pcap);
    while (!fault && !(fault = pcap_next(pcap, &packet, &is_end)) && !is_end) {
        struct addr from;
        struct span message = pcap_of_packet(&packet, &from);
        ++*packets;
        if (message.len > 0 && capture_add(capture, message, &from, packet.at_ns))
            fault = PCAP_FULL;
    }
    if (fault || capture->queries.count > 0)
        return fault;
    return pcap->has_unknown_link ? PCAP_LINK : PCAP_EMPTY;
}

enum pcap_fault pcap_file_load(struct capture *capture, FILE *in, size_t *packets)
{
    struct pcap pcap = {.in = in, .room = malloc(PCAP_BLOCK_MAX)};
    memset(capture, 0, sizeof(*capture));
    *packets = 0;
    enum pcap_fault fault = pcap.room ? pcap_read(&pcap, capture, packets) : PCAP_FULL;
    free(pcap.room);
    if (fault)
        capture_deinit(capture);
    return fault;
}

const char *pcap_fault_text(enum pcap_fault fault)
{
    static const char *const texts[] = {
        [PCAP_FINE] = "no fault",
        [PCAP_NO_PCAP] = "it is no pcap or pcapng file: tcpdump -w writes one",
        [PCAP_LINK] = "its link type is unknown: capture on an Ethernet or with -i any",
        [PCAP_CUT] = "it ends within a packet: copy the file again or end the capture first",
        [PCAP_PACKET] = "a packet is too long: the file is damaged",
        [PCAP_BLOCK] = "a block has a wrong length: the file is damaged",
        [PCAP_INTERFACES] = "it has too many interfaces: capture on fewer of them",
        [PCAP_EMPTY] = "no packet is a query over UDP to port 53",
        [PCAP_FULL] = "it has more queries than memory holds",
    };
    MUST((size_t)fault < sizeof(texts) / sizeof(*texts));
    return texts[fault];
}
