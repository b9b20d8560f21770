/* The file that the recorded program and its children share: counts and times per distinct call. Read by ../src/table.rs. */
#ifndef GPUBENCH_TABLE_H
#define GPUBENCH_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#define MAGIC 0x3130434552425047u /* "GPBREC01" */
/* The first threads have a shard each, which they change without locks; further ones share the others. */
#define SHARDS 12u
#define OWNED 6u
/* Distinct calls per shard; further ones are counted together. */
#define ENTRIES 1024u
/* Eight bins per octave of nanoseconds. */
#define BINS 288u
#define OBJECTS 64u
#define ROUTINES 64u
#define DIMS 5
#define LDS 3
#define FLAGS 4

/* What makes two calls the same. Every byte is set, so that keys can be compared as memory. */
struct key {
    uint16_t routine;
    /* s, d, c, z */
    uint8_t dtype;
    uint8_t row_major;
    /* Index of the library, 1 more than in the header. */
    uint16_t object;
    /* Threads that the library uses; 0 if it does not say. */
    uint16_t threads;
    uint8_t flags[8];
    int64_t dims[DIMS];
    int64_t lds[LDS];
};

struct entry {
    /* 0: free, 1: being claimed, 2: has its key. */
    _Atomic uint32_t state;
    uint32_t reserved;
    struct key key;
    _Atomic uint64_t count, total_ns, least_ns, longest_ns;
    /* Bytes of operands that an earlier recorded call wrote, or read, and that have not changed since. */
    _Atomic uint64_t result_bytes, repeated_bytes;
    _Atomic uint32_t bins[BINS];
};

struct shard {
    /* Calls that found no free entry. */
    _Atomic uint64_t other_count, other_ns;
    struct entry entries[ENTRIES];
};

struct header {
    uint64_t magic;
    /* Of the whole file. */
    uint32_t bytes;
    _Atomic uint32_t processes, threads;
    /* Nanoseconds that recording adds to a call, 0 until a process has measured it. */
    _Atomic uint32_t overhead_ns;
    /* Nanoseconds per tick of the processor's counter, times 2^32; 0 where the system's clock is read instead. */
    _Atomic uint64_t tick_scale;
    char routines[ROUTINES][16];
    struct {
        _Atomic uint32_t state;
        char path[508];
    } objects[OBJECTS];
};

struct table {
    struct header header;
    struct shard shards[SHARDS];
};

#endif
