/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Sets up the TUN device without extra headers and without offloads, so that a packet looks as on a
 * real line, checksums included.
 *
 * Never takes a name, address or network that an interface already uses.
 */

#include "cable_device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEVICE_PATH "/dev/net/tun"

bool cable_device_name_is_good(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return len > 0 && len < IFNAMSIZ && name[len] == '\0';
}

static const char *address_text(uint32_t address, char out[INET_ADDRSTRLEN])
{
    return inet_ntop(AF_INET, &address, out, INET_ADDRSTRLEN);
}

/* Returns whether that interface has the address, or a network that contains it. */
static bool holds(const struct ifaddrs *one, uint32_t address)
{
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !one->ifa_netmask)
        return false;
    uint32_t has = ((const struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr;
    uint32_t mask = ((const struct sockaddr_in *)one->ifa_netmask)->sin_addr.s_addr;
    uint32_t peer = 0;
    if (one->ifa_flags & IFF_POINTOPOINT && one->ifa_dstaddr)
        peer = ((const struct sockaddr_in *)one->ifa_dstaddr)->sin_addr.s_addr;
    return ((has ^ address) & mask) == 0 || has == address || peer == address;
}

static bool are_free(const struct cable_device_options *options, char *why)
{
    struct ifaddrs *all;
    char text[INET_ADDRSTRLEN];
    bool good = true;
    if (if_nametoindex(options->name))
        return snprintf(why, CABLE_WHY_MAX, "there is a device %s already", options->name) < 0;
    if (getifaddrs(&all))
        return snprintf(why, CABLE_WHY_MAX, "cannot list addresses: %s", strerror(errno)) < 0;
    for (const struct ifaddrs *one = all; one && good; one = one->ifa_next) {
        bool holds_here = holds(one, options->ends.here);
        if (!holds_here && !holds(one, options->ends.there))
            continue;
        snprintf(why, CABLE_WHY_MAX, "%s is in use at %s",
                 address_text(holds_here ? options->ends.here : options->ends.there, text),
                 one->ifa_name);
        good = false;
    }
    freeifaddrs(all);
    return good;
}

/* Explains why the device could not be opened or attached, from errno. */
static void say_why_not(const char *name, char *why)
{
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
        snprintf(why, CABLE_WHY_MAX, "there is no " DEVICE_PATH ": this kernel has no TUN");
    else if (errno == EPERM || errno == EACCES)
        snprintf(why, CABLE_WHY_MAX,
                 "may not make a device: it takes CAP_NET_ADMIN in this network namespace and the "
                 "right to open " DEVICE_PATH);
    else
        snprintf(why, CABLE_WHY_MAX, "cannot make the device %s: %s", name, strerror(errno));
}

static int make_device(const char *name, char *why)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int fd = open(DEVICE_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strcpy(request.ifr_name, name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request)) {
        say_why_not(name, why);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* Otherwise the device would send router solicitations, which would count as packets. A kernel
 * without IPv6 does not have this file. */
static void turn_off_ipv6(const char *name)
{
    char path[64 + IFNAMSIZ];
    snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1", 1) < 0)
        errno = 0; /* the solicitations then count */
    close(fd);
}

static struct ifreq request_of(const char *name)
{
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    strcpy(request.ifr_name, name);
    return request;
}

static bool set_address(int socket, const char *name, unsigned long what, uint32_t address)
{
    struct ifreq request = request_of(name);
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    memcpy(&request.ifr_addr, &in, sizeof(in));
    return ioctl(socket, what, &request) == 0;
}

static bool set_number(int socket, const char *name, unsigned long what, int value)
{
    struct ifreq request = request_of(name);
    request.ifr_ifru.ifru_ivalue = value; /* SIOCSIFMTU and SIOCSIFTXQLEN both read this field */
    return ioctl(socket, what, &request) == 0;
}

static bool bring_up(int socket, const char *name)
{
    struct ifreq request = request_of(name);
    if (ioctl(socket, SIOCGIFFLAGS, &request))
        return false;
    request.ifr_flags |= IFF_UP;
    return ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

static bool set_up(const struct cable_device_options *options)
{
    const char *name = options->name;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    turn_off_ipv6(name);
    bool good = set_number(fd, name, SIOCSIFTXQLEN, (int)options->queue_max) &&
                set_number(fd, name, SIOCSIFMTU, (int)options->mtu) &&
                set_address(fd, name, SIOCSIFADDR, options->ends.here) &&
                set_address(fd, name, SIOCSIFDSTADDR, options->ends.there) && bring_up(fd, name);
    int number = errno;
    close(fd);
    errno = number;
    return good;
}

int cable_device_open(const struct cable_device_options *options, char why[CABLE_WHY_MAX])
{
    if (!are_free(options, why))
        return -1;
    int fd = make_device(options->name, why);
    if (fd < 0 || set_up(options))
        return fd;
    snprintf(why, CABLE_WHY_MAX, "cannot set up the device %s: %s", options->name, strerror(errno));
    close(fd);
    return -1;
}

uint64_t cable_device_overruns(const char *name)
{
    char line[512];
    uint64_t found = 0;
    FILE *in = fopen("/proc/net/dev", "re");
    while (in && fgets(line, sizeof(line), in)) {
        char *start = line + strspn(line, " "), *colon = strchr(line, ':');
        if (!colon || (size_t)(colon - start) != strlen(name) ||
            strncmp(start, name, strlen(name)) != 0)
            continue;
        /* The line has eight columns for received packets, then eight for sent ones, each beginning
         * with bytes, packets, errors and drops. */
        if (sscanf(colon + 1, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64, &found) != 1)
            found = 0;
    }
    if (in)
        fclose(in);
    return found;
}
