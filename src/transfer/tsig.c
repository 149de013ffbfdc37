/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A TSIG signature covers these bytes (RFC 8945 section 4.3), in this order:
 *   the previous MAC, with its length: that of the query, then that of each signed answer
 *   the messages since then: without the TSIG record, with the original id
 *   the TSIG variables; from the second signature of an answer on, only the two time fields
 *
 * Invariant: the hash stream of an exchange begins with the previous MAC as soon as that is known.
 */
#include "transfer/tsig.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"

enum {
    RR_FIXED = 10,       /* type, class, TTL, RDLENGTH */
    TIMES_LEN = 8,       /* time signed and fudge */
    SERVER_TIME_LEN = 6, /* other data of BADTIME */
    ALGORITHM_WIRE_MAX = 16,
};

/* ---- algorithms and keys ---- */

static const char *const words[TSIG_HASHES] = {
    [TSIG_SHA1] = "hmac-sha1",     [TSIG_SHA224] = "hmac-sha224", [TSIG_SHA256] = "hmac-sha256",
    [TSIG_SHA384] = "hmac-sha384", [TSIG_SHA512] = "hmac-sha512",
};

static size_t shortest_mac(enum tsig_hash hash)
{
    return MAX(tsig_hmac_len(hash) / 2, (size_t)TSIG_MAC_SHORTEST);
}

/* Reads the bits at the end of "hmac-sha256-128". Returns their bytes, or 0. */
static size_t read_mac_len(const char *bits, enum tsig_hash hash)
{
    unsigned value;
    int end = 0;
    if (*bits == '\0')
        return tsig_hmac_len(hash);
    if (sscanf(bits, "-%3u%n", &value, &end) != 1 || bits[end] != '\0' || value % 8 != 0)
        return 0;
    size_t len = value / 8;
    return len >= shortest_mac(hash) && len <= tsig_hmac_len(hash) ? len : 0;
}

static bool parse_algorithm(struct tsig_key *key, const char *text)
{
    for (int hash = 0; hash < TSIG_HASHES; hash++) {
        size_t len = strlen(words[hash]);
        if (strncasecmp(text, words[hash], len) != 0)
            continue;
        key->hash = (enum tsig_hash)hash;
        key->mac_len = (uint8_t)read_mac_len(text + len, key->hash);
        if (key->mac_len > 0)
            return true;
    }
    return false;
}

enum err tsig_key_make(struct tsig_key *out, struct name name, const char *algorithm,
                       struct span secret)
{
    memset(out, 0, sizeof(*out));
    if (secret.len == 0 || secret.len > TSIG_SECRET_MAX || !parse_algorithm(out, algorithm))
        return ERR_INVALID;
    out->name_len = name_fold(name, out->name_wire).len;
    out->secret_len = (uint16_t)secret.len;
    memcpy(out->secret, secret.data, secret.len);
    return ERR_OK;
}

const char *tsig_key_algorithm(const struct tsig_key *key, char out[TSIG_ALGORITHM_MAX])
{
    if (key->mac_len == tsig_hmac_len(key->hash))
        snprintf(out, TSIG_ALGORITHM_MAX, "%s", words[key->hash]);
    else
        snprintf(out, TSIG_ALGORITHM_MAX, "%s-%u", words[key->hash], 8U * key->mac_len);
    return out;
}

static struct name key_name(const struct tsig_key *key)
{
    return (struct name){.wire = key->name_wire, .len = key->name_len};
}

bool tsig_key_equal(const struct tsig_key *a, const struct tsig_key *b)
{
    return name_equal(key_name(a), key_name(b)) && a->hash == b->hash && a->mac_len == b->mac_len &&
           a->secret_len == b->secret_len && memcmp(a->secret, b->secret, a->secret_len) == 0;
}

void tsig_key_wipe(struct tsig_key *key)
{
    tsig_hmac_wipe(key, sizeof(*key));
}

/* Writes the algorithm as a name of one label. Returns its length. */
static size_t algorithm_wire(enum tsig_hash hash, uint8_t out[ALGORITHM_WIRE_MAX])
{
    size_t len = strlen(words[hash]);
    MUST(len + 2 <= ALGORITHM_WIRE_MAX);
    out[0] = (uint8_t)len;
    memcpy(out + 1, words[hash], len + 1);
    return len + 2;
}

const char *tsig_result_text(enum tsig_result result)
{
    static const char *const texts[] = {
        [TSIG_GOOD] = "the TSIG signature is right",
        [TSIG_AWAITED] = "the TSIG signature has not come yet",
        [TSIG_MISSING] = "the message lacks its TSIG signature",
        [TSIG_MALFORMED] = "the TSIG record is malformed",
        [TSIG_UNKNOWN_KEY] = "the message has another TSIG key or algorithm",
        [TSIG_BAD_MAC] = "the TSIG signature is wrong: the secrets may differ",
        [TSIG_SHORT_MAC] = "the TSIG signature is too short",
        [TSIG_BAD_TIME] = "the TSIG time is wrong: the clocks may differ",
        [TSIG_PEER_KEY] = "the server does not know the TSIG key (BADKEY)",
        [TSIG_PEER_MAC] = "the server found our TSIG signature wrong (BADSIG)",
        [TSIG_PEER_TIME] = "the server found our TSIG time wrong (BADTIME)",
        [TSIG_PEER_SHORT] = "the server found our TSIG signature too short (BADTRUNC)",
        [TSIG_OUR_FAILURE] = "the TSIG signature could not be computed",
    };
    return texts[result];
}

/* ---- exchanges ---- */

enum err tsig_exchange_begin(struct tsig_exchange *exchange, const struct tsig_key *key)
{
    *exchange = (struct tsig_exchange){
        .key = key,
        .hmac = tsig_hmac_new(key->hash, span_of(key->secret, key->secret_len)),
        .is_first = true,
    };
    return exchange->hmac ? ERR_OK : ERR_NO_MEMORY;
}

void tsig_exchange_end(struct tsig_exchange *exchange)
{
    tsig_hmac_free(exchange->hmac);
    exchange->hmac = NULL;
}

static void add_u16(struct tsig_hmac *hmac, uint16_t value)
{
    uint8_t bytes[2];
    put_u16(bytes, value);
    tsig_hmac_add(hmac, span_of(bytes, sizeof(bytes)));
}

/* Remembers the MAC on the wire, and begins the next stream with it. */
static void chain_mac(struct tsig_exchange *exchange, struct span mac)
{
    MUST(mac.len <= TSIG_MAC_MAX);
    exchange->mac_len = (uint8_t)mac.len;
    if (mac.len > 0)
        memcpy(exchange->mac, mac.data, mac.len);
    add_u16(exchange->hmac, (uint16_t)mac.len);
    tsig_hmac_add(exchange->hmac, mac);
}

/* ---- the record ---- */

struct tsig_record {
    uint8_t owner_wire[NAME_WIRE_MAX];
    struct name owner; /* in lower case */
    struct name algorithm;
    size_t offset;        /* the record's offset in the message */
    const uint8_t *times; /* TIMES_LEN bytes */
    uint64_t signed_at_s;
    uint16_t fudge_s;
    struct span mac, other;
    uint16_t id, error;
};

static uint64_t get_u48(const uint8_t *at)
{
    return (uint64_t)get_u16(at) << 32 | get_u32(at + 2);
}

static void put_u48(uint8_t *at, uint64_t value)
{
    put_u16(at, (uint16_t)(value >> 32));
    put_u32(at + 2, (uint32_t)value);
}

static bool tsig_read_rdata(struct tsig_record *out, struct span rdata)
{
    uint16_t mac_len, other_len;
    struct span times;
    size_t after = name_view(rdata, 0, &out->algorithm);
    if (after == 0)
        return false;
    rdata = span_of(rdata.data + after, rdata.len - after);
    if (!span_take(&rdata, TIMES_LEN, &times) || !span_take_u16(&rdata, &mac_len) ||
        !span_take(&rdata, mac_len, &out->mac) || !span_take_u16(&rdata, &out->id) ||
        !span_take_u16(&rdata, &out->error) || !span_take_u16(&rdata, &other_len) ||
        !span_take(&rdata, other_len, &out->other))
        return false;
    out->times = times.data;
    out->signed_at_s = get_u48(times.data);
    out->fudge_s = get_u16(times.data + 6);
    return rdata.len == 0;
}

enum tsig_presence { TSIG_ABSENT, TSIG_PRESENT, TSIG_BROKEN };

/* Finds the TSIG record: message_parse() has made sure that it is the last one. */
static enum tsig_presence tsig_read_record(struct tsig_record *out, struct span bytes)
{
    struct message message;
    struct rr rr;
    if (message_parse(&message, bytes) != MESSAGE_OK || message.has_trailing)
        return TSIG_BROKEN;
    if (!message.has_tsig)
        return TSIG_ABSENT;
    struct rr_iter iter = message_rrs(&message, SECTION_ADDITIONAL);
    do {
        if (!message_rr_next(&iter, &rr))
            return TSIG_BROKEN;
    } while (rr.type != RRTYPE_TSIG);
    if (rr.cls != RRCLASS_ANY || rr.ttl != 0 || !tsig_read_rdata(out, message_rdata(&message, &rr)))
        return TSIG_BROKEN;
    out->offset = rr.owner_offset;
    out->owner = name_fold(message_owner(&message, &rr, out->owner_wire), out->owner_wire);
    return TSIG_PRESENT;
}

static bool is_our_key(const struct tsig_key *key, const struct tsig_record *record)
{
    uint8_t wire[ALGORITHM_WIRE_MAX];
    struct name algorithm = {.wire = wire, .len = (uint8_t)algorithm_wire(key->hash, wire)};
    return name_equal(record->owner, key_name(key)) && name_equal(record->algorithm, algorithm);
}

/* ---- the signature ---- */

/* Adds a message as it was before its TSIG record was appended. */
static void add_message(struct tsig_hmac *hmac, struct span bytes, const struct tsig_record *record)
{
    uint8_t header[HEADER_LEN];
    memcpy(header, bytes.data, HEADER_LEN);
    header_set_id(header, record->id);
    header_set_count(header, SECTION_ADDITIONAL,
                     (uint16_t)(header_count(header, SECTION_ADDITIONAL) - 1));
    tsig_hmac_add(hmac, span_of(header, HEADER_LEN));
    tsig_hmac_add(hmac, span_of(bytes.data + HEADER_LEN, record->offset - HEADER_LEN));
}

/* Adds the TSIG variables (section 4.3.3), or only the times. */
static void add_variables(struct tsig_exchange *exchange, const struct tsig_record *record,
                          bool only_times)
{
    struct tsig_hmac *hmac = exchange->hmac;
    uint8_t algorithm[ALGORITHM_WIRE_MAX];
    static const uint8_t class_and_ttl[] = {0, RRCLASS_ANY, 0, 0, 0, 0};
    if (!only_times) {
        tsig_hmac_add(hmac, span_of(exchange->key->name_wire, exchange->key->name_len));
        tsig_hmac_add(hmac, span_of(class_and_ttl, sizeof(class_and_ttl)));
        tsig_hmac_add(hmac, span_of(algorithm, algorithm_wire(exchange->key->hash, algorithm)));
    }
    tsig_hmac_add(hmac, span_of(record->times, TIMES_LEN));
    if (!only_times) {
        add_u16(hmac, record->error);
        add_u16(hmac, (uint16_t)record->other.len);
        tsig_hmac_add(hmac, record->other);
    }
}

static bool is_in_time(const struct tsig_record *record, uint64_t now_s)
{
    uint64_t apart =
        record->signed_at_s > now_s ? record->signed_at_s - now_s : now_s - record->signed_at_s;
    return apart <= record->fudge_s;
}

/* Compares the record's MAC with the stream, which must be complete. */
static enum tsig_result check_mac(struct tsig_exchange *exchange, const struct tsig_record *record,
                                  uint64_t now_s)
{
    const struct tsig_key *key = exchange->key;
    uint8_t mac[TSIG_MAC_MAX];
    if (!tsig_hmac_end(exchange->hmac, mac))
        return TSIG_OUR_FAILURE;
    if (record->mac.len > tsig_hmac_len(key->hash) || record->mac.len < shortest_mac(key->hash))
        return TSIG_MALFORMED; /* section 5.2.2.1: FORMERR */
    if (!tsig_hmac_equal(mac, record->mac.data, record->mac.len))
        return TSIG_BAD_MAC;
    chain_mac(exchange, record->mac);
    if (record->mac.len < key->mac_len)
        return TSIG_SHORT_MAC;
    return is_in_time(record, now_s) ? TSIG_GOOD : TSIG_BAD_TIME;
}

/* ---- as a client ---- */

/* Writes a record for this MAC after the message and returns the new length. */
static size_t tsig_append(const struct tsig_exchange *exchange, const struct tsig_record *record,
                          uint8_t *message, size_t len, size_t size)
{
    const struct tsig_key *key = exchange->key;
    uint8_t algorithm[ALGORITHM_WIRE_MAX];
    size_t algorithm_len = algorithm_wire(key->hash, algorithm);
    size_t rdata_len = algorithm_len + TIMES_LEN + 2 + record->mac.len + 6 + record->other.len;
    size_t whole = len + key->name_len + RR_FIXED + rdata_len;
    if (whole > size || whole > MESSAGE_MAX)
        return 0;
    uint8_t *at = message + len;
    memcpy(at, key->name_wire, key->name_len);
    at += key->name_len;
    put_u16(at, RRTYPE_TSIG);
    put_u16(at + 2, RRCLASS_ANY);
    put_u32(at + 4, 0);
    put_u16(at + 8, (uint16_t)rdata_len);
    at += RR_FIXED;
    memcpy(at, algorithm, algorithm_len);
    at += algorithm_len;
    memcpy(at, record->times, TIMES_LEN);
    put_u16(at + TIMES_LEN, (uint16_t)record->mac.len);
    at += TIMES_LEN + 2;
    if (record->mac.len > 0)
        memcpy(at, record->mac.data, record->mac.len);
    at += record->mac.len;
    put_u16(at, record->id);
    put_u16(at + 2, record->error);
    put_u16(at + 4, (uint16_t)record->other.len);
    if (record->other.len > 0)
        memcpy(at + 6, record->other.data, record->other.len);
    header_set_count(message, SECTION_ADDITIONAL,
                     (uint16_t)(header_count(message, SECTION_ADDITIONAL) + 1));
    return whole;
}

/* Signs the stream with the message and the record's variables, and appends the record. */
static size_t tsig_sign(struct tsig_exchange *exchange, struct tsig_record *record,
                        uint8_t *message, size_t len, size_t size)
{
    uint8_t mac[TSIG_MAC_MAX];
    record->id = header_id(message);
    tsig_hmac_add(exchange->hmac, span_of(message, len));
    add_variables(exchange, record, false);
    if (!tsig_hmac_end(exchange->hmac, mac))
        return 0;
    record->mac = span_of(mac, exchange->key->mac_len);
    chain_mac(exchange, record->mac);
    return tsig_append(exchange, record, message, len, size);
}

static void times_write(uint8_t times[TIMES_LEN], uint64_t signed_at_s)
{
    put_u48(times, signed_at_s);
    put_u16(times + 6, TSIG_FUDGE_S);
}

size_t tsig_sign_query(struct tsig_exchange *exchange, uint8_t *query, size_t len, size_t size,
                       uint64_t now_s)
{
    uint8_t times[TIMES_LEN];
    times_write(times, now_s);
    struct tsig_record record = {.times = times};
    return tsig_sign(exchange, &record, query, len, size);
}

/* The server's verdict about our query. Such a record may be unsigned, so it proves only that this
 * exchange has failed. */
static enum tsig_result peer_error(uint16_t error)
{
    switch (error) {
    case RCODE_BADVERS: /* 16 is BADSIG in a TSIG record */
        return TSIG_PEER_MAC;
    case RCODE_BADKEY:
        return TSIG_PEER_KEY;
    case RCODE_BADTIME:
        return TSIG_PEER_TIME;
    case RCODE_BADTRUNC:
        return TSIG_PEER_SHORT;
    default:
        return TSIG_MALFORMED;
    }
}

static enum tsig_result note_unsigned(struct tsig_exchange *exchange, struct span message)
{
    if (exchange->is_first || exchange->unsigned_count == TSIG_UNSIGNED_MAX)
        return TSIG_MISSING;
    exchange->unsigned_count++;
    tsig_hmac_add(exchange->hmac, message);
    return TSIG_AWAITED;
}

enum tsig_result tsig_check_answer(struct tsig_exchange *exchange, struct span message,
                                   uint64_t now_s)
{
    struct tsig_record record;
    enum tsig_presence presence = tsig_read_record(&record, message);
    if (presence == TSIG_BROKEN)
        return TSIG_MALFORMED;
    if (presence == TSIG_ABSENT)
        return note_unsigned(exchange, message);
    if (record.error != 0)
        return peer_error(record.error);
    if (!is_our_key(exchange->key, &record))
        return TSIG_UNKNOWN_KEY;
    add_message(exchange->hmac, message, &record);
    add_variables(exchange, &record, !exchange->is_first);
    exchange->is_first = false;
    exchange->unsigned_count = 0;
    return check_mac(exchange, &record, now_s);
}

/* ---- as a server ---- */

bool tsig_query_key(struct span query, uint8_t out[NAME_WIRE_MAX], struct name *name)
{
    struct tsig_record record;
    if (tsig_read_record(&record, query) != TSIG_PRESENT)
        return false;
    *name = name_copy(record.owner, out);
    return true;
}

enum tsig_result tsig_check_query(struct tsig_exchange *exchange, struct span query, uint64_t now_s)
{
    struct tsig_record record;
    enum tsig_presence presence = tsig_read_record(&record, query);
    if (presence != TSIG_PRESENT)
        return presence == TSIG_ABSENT ? TSIG_MISSING : TSIG_MALFORMED;
    if (!is_our_key(exchange->key, &record))
        return TSIG_UNKNOWN_KEY;
    exchange->query_signed_at_s = record.signed_at_s;
    add_message(exchange->hmac, query, &record);
    add_variables(exchange, &record, false);
    return check_mac(exchange, &record, now_s);
}

static uint16_t error_of(enum tsig_result result)
{
    switch (result) {
    case TSIG_BAD_MAC:
        return RCODE_BADVERS; /* 16, BADSIG */
    case TSIG_BAD_TIME:
        return RCODE_BADTIME;
    case TSIG_SHORT_MAC:
        return RCODE_BADTRUNC;
    default:
        return 0;
    }
}

size_t tsig_sign_answer(struct tsig_exchange *exchange, enum tsig_result result, uint8_t *answer,
                        size_t len, size_t size, uint64_t now_s)
{
    uint8_t times[TIMES_LEN], server_time[SERVER_TIME_LEN];
    struct tsig_record record = {.times = times, .error = error_of(result)};
    if (result != TSIG_GOOD && record.error == 0)
        return 0;
    times_write(times, now_s);
    if (result == TSIG_BAD_TIME) { /* section 5.2.3: the query's time, and ours as other data */
        put_u48(times, exchange->query_signed_at_s);
        put_u48(server_time, now_s);
        record.other = span_of(server_time, sizeof(server_time));
    }
    if (result != TSIG_BAD_MAC)
        return tsig_sign(exchange, &record, answer, len, size);
    record.id = header_id(answer);
    return tsig_append(exchange, &record, answer, len, size);
}
