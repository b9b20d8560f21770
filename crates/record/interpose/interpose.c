/* Times the calls of BLAS, LAPACK, FFTW and MKL's transforms of the program that preloads it (LD_PRELOAD).
 *
 * The object defines the routines under all their names. Each definition forwards its arguments as they are, to the routine of the library
 * that the caller would have reached, and counts the call in a file that GPUBENCH_RECORD names. Nothing is printed, no descriptor
 * stays open, and the file has its whole size from the start.
 *
 * All arguments of these routines are pointers, integers of at most 64 bits, or real scalars by value. The System V ABI passes the former in
 * one sequence and the latter in another, so that one C type serves all routines: arguments that a routine does not have are
 * read from registers and from the frames above, and have no effect. */

#define _GNU_SOURCE
#include "table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "routines.h"

#define PUBLIC __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- The routines ---- */

enum {
    ID_gemm, ID_symm, ID_syrk, ID_syr2k, ID_trmm, ID_trsm, ID_hemm, ID_herk, ID_her2k, ID_gemv, ID_trmv, ID_trsv, ID_ger, ID_symv, ID_syr,
    ID_geru, ID_gerc, ID_hemv, ID_axpy, ID_scal, ID_copy, ID_swap, ID_dot, ID_nrm2, ID_asum, ID_posv, ID_potrf, ID_potrs, ID_gesv,
    ID_getrf, ID_getrs, ID_geqrf, ID_gels, ID_gesvd, ID_gesdd, ID_geev, ID_syev, ID_syevd, ID_syevr, ID_heev, ID_heevd, ID_heevr, ID_fft, ID_spmv, ID_spgemm,
    ID_ufunc, ID_reduce,
    IDS, LAST_BLAS = ID_asum
};
static const char *const NAMES[IDS] = {
    "gemm", "symm", "syrk", "syr2k", "trmm", "trsm", "hemm", "herk", "her2k", "gemv", "trmv", "trsv", "ger", "symv", "syr",
    "geru", "gerc", "hemv", "axpy", "scal", "copy", "swap", "dot", "nrm2", "asum", "posv", "potrf", "potrs", "gesv",
    "getrf", "getrs", "geqrf", "gels", "gesvd", "gesdd", "geev", "syev", "syevd", "syevr", "heev", "heevd", "heevr", "fft", "spmv", "spgemm",
    "ufunc", "reduce",
};
_Static_assert(IDS <= ROUTINES, "the header has a name for each routine");

/* ---- The shared file ---- */

static struct table *table;
static atomic_uint generation = 1;
static __thread uint32_t shard_number __attribute__((tls_model("initial-exec")));
/* The entry of this thread's last call: most calls repeat it. */
static __thread struct entry *last __attribute__((tls_model("initial-exec")));
/* The frame of the outermost recorded call of this thread; NULL outside of one. */
static __thread char *outermost __attribute__((tls_model("initial-exec")));

static uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Where the counter of an x86 processor runs at one rate, it is read instead of the clock: that takes half the time. */
static uint64_t tick_scale;

static inline uint64_t ticks(void) {
#if defined(__x86_64__)
    if (tick_scale) return __builtin_ia32_rdtsc();
#endif
    return clock_ns();
}

static inline uint64_t elapsed_ns(uint64_t start) {
    uint64_t passed = ticks() - start;
    return tick_scale ? (uint64_t)((__uint128_t)passed * tick_scale >> 32) : passed;
}

/* Measures the counter against the clock for a millisecond. */
static uint64_t measured_tick_scale(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d >> 8 & 1)) return 0;
    uint64_t from = clock_ns(), first = __builtin_ia32_rdtsc(), to = from;
    while (to - from < 1000000) to = clock_ns();
    uint64_t passed = __builtin_ia32_rdtsc() - first;
    return passed ? (uint64_t)(((__uint128_t)(to - from) << 32) / passed) : 0;
#else
    return 0;
#endif
}

static void calibrate(void);
static void before_fork(void);
static void after_fork(void);
static void after_fork_in_child(void);

/* In a child of fork, which has one thread: the parent's goes on with the shard of the number that the child inherits. */
static void count_process(void) {
    shard_number = 0;
    last = NULL;
    atomic_fetch_add_explicit(&table->header.processes, 1, memory_order_relaxed);
}

/* Opens the shared file. Libraries that were initialised before this object may have called a routine, and so this function, already. */
__attribute__((constructor)) static void begin(void) {
    static atomic_bool has_begun;
    if (atomic_exchange(&has_begun, true)) return;
    const char *path = getenv("GPUBENCH_RECORD");
    if (!path) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    struct stat info;
    void *mapped = MAP_FAILED;
    if (fstat(file, &info) == 0 && info.st_size == (off_t)sizeof(struct table))
        mapped = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    struct table *opened = mapped;
    if (opened->header.magic != MAGIC || opened->header.bytes != sizeof(struct table)) return;
    tick_scale = atomic_load(&opened->header.tick_scale);
    if (!tick_scale && atomic_load(&opened->header.overhead_ns) == 0)
        atomic_store(&opened->header.tick_scale, tick_scale = measured_tick_scale());
    table = opened;
    count_process();
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    if (atomic_load(&table->header.overhead_ns) == 0) calibrate();
}

static struct shard *shard(void) {
    if (UNLIKELY(shard_number == 0))
        shard_number = 1 + atomic_fetch_add_explicit(&table->header.threads, 1, memory_order_relaxed);
    return &table->shards[shard_number <= OWNED ? shard_number - 1 : OWNED + shard_number % (SHARDS - OWNED)];
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

static uint64_t key_hash(const struct key *key) {
    uint64_t words[sizeof *key / 8], hash = 0;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof *key / 8; i++) hash = mixed(hash, words[i]);
    return hash;
}

/* The entry of a key, made if there is none; NULL if the shard is full. */
static struct entry *entry_of(struct shard *shard, const struct key *key) {
    uint32_t at = (uint32_t)key_hash(key);
    for (uint32_t step = 0; step < ENTRIES; step++) {
        struct entry *entry = &shard->entries[(at + step) % ENTRIES];
        uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == 0 && atomic_compare_exchange_strong(&entry->state, &state, 1)) {
            entry->key = *key;
            atomic_store_explicit(&entry->least_ns, UINT64_MAX, memory_order_relaxed);
            atomic_store_explicit(&entry->state, 2, memory_order_release);
            return entry;
        }
        /* Another thread is writing the key. If that thread is killed, the entry stays as it is, and is passed over. */
        for (int spin = 0; state == 1 && spin < 1000; spin++)
            state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == 2 && memcmp(&entry->key, key, sizeof *key) == 0) return entry;
    }
    return NULL;
}

/* Eight bins per octave: the position of the highest bit and the three bits below it. */
static uint32_t bin(uint64_t ns) {
    if (ns < 8) return (uint32_t)ns;
    uint32_t high = 63u - (uint32_t)__builtin_clzll(ns);
    uint32_t index = (high - 2) * 8 + (uint32_t)((ns >> (high - 3)) & 7);
    return index < BINS ? index : BINS - 1;
}

static void add(_Atomic uint64_t *to, uint64_t value) {
    if (shard_number <= OWNED)
        atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + value, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

static void add_to_bin(_Atomic uint32_t *to) {
    if (shard_number <= OWNED)
        atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(to, 1, memory_order_relaxed);
}

static void extreme(_Atomic uint64_t *to, uint64_t value, bool least) {
    uint64_t seen = atomic_load_explicit(to, memory_order_relaxed);
    while (least ? value < seen : value > seen)
        if (atomic_compare_exchange_weak_explicit(to, &seen, value, memory_order_relaxed, memory_order_relaxed)) return;
}

/* Counts a call whose kind is not known, or has no entry. */
static void count_other(uint64_t ns) {
    struct shard *mine = shard();
    add(&mine->other_count, 1);
    add(&mine->other_ns, ns);
}

static void count_call(const struct key *key, uint64_t ns, uint64_t result_bytes, uint64_t repeated_bytes) {
    struct shard *mine = shard();
    struct entry *entry = last;
    if (!entry || memcmp(&entry->key, key, sizeof *key) != 0) {
        entry = entry_of(mine, key);
        if (UNLIKELY(!entry)) {
            count_other(ns);
            return;
        }
        last = entry;
    }
    add(&entry->count, 1);
    add(&entry->total_ns, ns);
    add_to_bin(&entry->bins[bin(ns)]);
    extreme(&entry->least_ns, ns, true);
    extreme(&entry->longest_ns, ns, false);
    if (result_bytes) add(&entry->result_bytes, result_bytes);
    if (repeated_bytes) add(&entry->repeated_bytes, repeated_bytes);
}

/* ---- The routine that the caller would have reached ---- */

/* Where the calls of one name go. Of those that everything loaded at the start can reach there is one; what was loaded at run time may have
 * a library of its own, so these targets hold for callers between two addresses. */
struct target {
    const char *first, *end;
    void *routine;
    int (*library_threads)(void);
    _Atomic uint32_t generation;
    uint16_t object;
    bool is_mkl;
};

/* Per name: its targets. Nothing but their generation changes once they are here. */
struct site {
    _Atomic(struct target *) targets[8];
    atomic_uint next;
};

/* Targets come from a pool, since a malloc of the program may itself call the routine. */
static struct target pool[8192];
static atomic_uint pool_used;

static uint16_t object_named(const char *path) {
    struct header *header = &table->header;
    for (uint16_t index = 0; index < OBJECTS; index++) {
        uint32_t state = atomic_load_explicit(&header->objects[index].state, memory_order_acquire);
        if (state == 0 && atomic_compare_exchange_strong(&header->objects[index].state, &state, 1)) {
            strncpy(header->objects[index].path, path, sizeof header->objects[index].path - 1);
            atomic_store_explicit(&header->objects[index].state, 2, memory_order_release);
            return (uint16_t)(index + 1);
        }
        for (int spin = 0; state == 1 && spin < 1000; spin++)
            state = atomic_load_explicit(&header->objects[index].state, memory_order_acquire);
        if (state == 2 && strncmp(header->objects[index].path, path, sizeof header->objects[index].path - 1) == 0)
            return (uint16_t)(index + 1);
    }
    return 0;
}

static int real_dlclose(void *handle) {
    static _Atomic(void *) real;
    void *found = atomic_load_explicit(&real, memory_order_relaxed);
    if (!found) atomic_store_explicit(&real, found = dlsym(RTLD_NEXT, "dlclose"), memory_order_relaxed);
    return ((int (*)(void *))found)(handle);
}

static uint16_t object_of(const void *routine) {
    Dl_info info;
    return object_named(dladdr(routine, &info) && info.dli_fname ? info.dli_fname : "?");
}

/* A symbol of a loaded object or of what that object was linked with. */
static void *symbol_in(const char *object, const char *name, const void *self) {
    void *handle = dlopen(object, RTLD_NOLOAD | RTLD_LAZY);
    if (!handle) return NULL;
    void *found = dlsym(handle, name);
    real_dlclose(handle);
    return found == self ? NULL : found;
}

struct search {
    const char *name;
    const void *self;
    void *found;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct search *search = data;
    if (info->dlpi_name && *info->dlpi_name) search->found = symbol_in(info->dlpi_name, search->name, search->self);
    return search->found != NULL;
}

/* The addresses of the object that contains one; all where that is unknown. */
struct address_range {
    const char *address, *first, *end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct address_range *range = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *first = (const char *)(info->dlpi_addr + header->p_vaddr), *end = first + header->p_memsz;
        if (header->p_type == PT_LOAD && range->address >= first && range->address < end) {
            range->first = first;
            range->end = end;
            return 1;
        }
    }
    return 0;
}

/* As the dynamic linker searches: the program with what it was linked with, then what the caller was linked with. Sets the callers for which
 * the result holds. */
static void *find_routine(const char *name, const void *caller, const void *self, struct target *target) {
    Dl_info info;
    struct link_map *map = NULL;
    target->first = NULL;
    target->end = (const char *)UINTPTR_MAX;
    void *found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    struct address_range range = {caller, NULL, (const char *)UINTPTR_MAX};
    dl_iterate_phdr(find_range, &range);
    target->first = range.first;
    target->end = range.end;
    if (dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name && *map->l_name)
        found = symbol_in(map->l_name, name, self);
    if (!found) {
        struct search search = {name, self, NULL};
        dl_iterate_phdr(search_object, &search);
        found = search.found;
    }
    if (!found) {
        /* What the dynamic linker does with a symbol that nothing defines. */
        static const char text[] = ": symbol lookup error: undefined symbol\n";
        (void)!write(2, name, strlen(name));
        (void)!write(2, text, sizeof text - 1);
        _exit(127);
    }
    return found;
}

static int (*find_library_threads(void *routine, bool *is_mkl))(void) {
    static const char *names[] = {
        "openblas_get_num_threads", "openblas_get_num_threads64_", "openblas_get_num_threads_64_", "scipy_openblas_get_num_threads",
        "scipy_openblas_get_num_threads64_", "bli_thread_get_num_threads", "MKL_Get_Max_Threads",
    };
    const size_t MKL_NAME = sizeof names / sizeof *names - 1;
    *is_mkl = false;
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(routine, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name || !*map->l_name) return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = symbol_in(map->l_name, names[i], NULL);
        if (found) {
            *is_mkl = i == MKL_NAME;
            return (int (*)(void))found;
        }
    }
    return NULL;
}

static struct target *new_target(struct site *site, const char *name, const void *caller, const void *self, struct target *spare) {
    begin();
    uint32_t current = atomic_load_explicit(&generation, memory_order_relaxed);
    void *routine = find_routine(name, caller, self, spare);
    uint16_t object = table ? object_of(routine) : 0;
    for (int slot = 0; slot < 8; slot++) {
        struct target *known = atomic_load_explicit(&site->targets[slot], memory_order_acquire);
        if (known && known->routine == routine && known->object == object && known->first == spare->first && known->end == spare->end) {
            atomic_store_explicit(&known->generation, current, memory_order_relaxed);
            return known;
        }
    }
    uint32_t index = atomic_fetch_add_explicit(&pool_used, 1, memory_order_relaxed);
    bool has_room = index < sizeof pool / sizeof *pool;
    if (!has_room) atomic_store_explicit(&pool_used, sizeof pool / sizeof *pool, memory_order_relaxed);
    struct target *target = has_room ? &pool[index] : spare;
    *target = *spare;
    target->generation = current;
    target->routine = routine;
    target->object = object;
    target->library_threads = find_library_threads(target->routine, &target->is_mkl);
    if (has_room) {
        uint32_t slot = atomic_fetch_add_explicit(&site->next, 1, memory_order_relaxed) % 8;
        atomic_store_explicit(&site->targets[slot], target, memory_order_release);
    }
    return target;
}

static inline struct target *target_of(struct site *site, const char *name, const void *caller, const void *self, struct target *spare) {
    uint32_t current = atomic_load_explicit(&generation, memory_order_relaxed);
    for (int slot = 0; slot < 8; slot++) {
        struct target *target = atomic_load_explicit(&site->targets[slot], memory_order_acquire);
        if (!target) break;
        if ((const char *)caller >= target->first && (const char *)caller < target->end &&
            atomic_load_explicit(&target->generation, memory_order_relaxed) == current)
            return target;
    }
    return new_target(site, name, caller, self, spare);
}

/* A library that is unloaded may be followed by another at its addresses. */
PUBLIC int dlclose(void *handle) {
    int status = real_dlclose(handle);
    atomic_fetch_add(&generation, 1);
    return status;
}

/* ---- Which data could have stayed on a device ---- */

/* Operands of fewer bytes are not looked at: they are cheaper to copy than to keep. */
#define LEAST_BYTES 4096
#define MEMORY 1024

struct operand {
    const char *data;
    /* Bytes between columns, and of a column. */
    int64_t stride, column, columns;
    bool is_read, is_written;
};

/* An operand of an earlier call of this process. Threads that write one slot at a time leave one that matches nothing. */
struct memory {
    _Atomic uint64_t address, fingerprint;
};
static struct memory written[MEMORY], seen[MEMORY];

static int64_t operand_bytes(const struct operand *one) {
    return one->column > 0 && one->columns > 0 ? one->column * one->columns : 0;
}

/* A hash of eight bytes each at a few places of the operand, the first and the last among them; 0 if all are equal. */
static uint64_t fingerprint(const struct operand *one) {
    uint64_t hash = mixed((uint64_t)one->column, (uint64_t)one->columns), random = hash, first = 0;
    bool differ = false;
    for (int i = 0; i < 8; i++) {
        random = mixed(random, (uint64_t)i + 1);
        int64_t column = i == 0 ? 0 : i == 1 ? one->columns - 1 : (int64_t)(random % (uint64_t)one->columns);
        int64_t rows = one->column / 8, row = rows <= 1 || i == 0 ? 0 : i == 1 ? rows - 1 : (int64_t)((random >> 32) % (uint64_t)rows);
        uint64_t word = 0;
        int64_t bytes = one->column < 8 ? one->column : 8;
        memcpy(&word, one->data + column * one->stride + row * 8, (size_t)bytes);
        hash = mixed(hash, word);
        if (i == 0) first = word;
        differ |= word != first;
    }
    /* New memory is full of zeros, and says nothing about where it comes from. */
    return !differ ? 0 : hash ? hash : 1;
}

static bool is_known(struct memory *slots, const struct operand *one, uint64_t print) {
    uint64_t address = (uint64_t)one->data;
    size_t slot = mixed(0, address) % MEMORY;
    return print && atomic_load_explicit(&slots[slot].address, memory_order_relaxed) == address &&
        atomic_load_explicit(&slots[slot].fingerprint, memory_order_relaxed) == print;
}

static void remember(struct memory *slots, const struct operand *one, uint64_t print) {
    uint64_t address = (uint64_t)one->data;
    size_t slot = mixed(0, address) % MEMORY;
    atomic_store_explicit(&slots[slot].address, address, memory_order_relaxed);
    atomic_store_explicit(&slots[slot].fingerprint, print, memory_order_relaxed);
}

/* ---- Reading the arguments ---- */

#define MOST_OPERANDS 3

/* A routine's arguments as routines.h describes them, as positions. */
struct plan {
    atomic_int ready;
    /* Bytes of a Fortran integer; 0 where integers are passed by value, as in C. */
    int integer;
    int element;
    bool has_matrix;
    int8_t order, alpha, workspaces[3], workspace_count, flag_count, flags[FLAGS], dims[4], lds[LDS], ld_count, operand_count;
    struct {
        int8_t data, ld;
        char role, rows, columns, condition;
        bool is_vector;
    } operands[MOST_OPERANDS];
};

static void parse(struct plan *plan, const char *arguments, const char *operands, char dtype, int integer, bool has_order) {
    struct plan made = {.integer = integer, .order = -1, .alpha = -1};
    made.element = dtype == 's' ? 4 : dtype == 'z' ? 16 : 8;
    memset(made.dims, -1, sizeof made.dims);
    int8_t at = 0, data[26], ld[26];
    memset(data, -1, sizeof data);
    memset(ld, -1, sizeof ld);
    if (has_order) made.order = at++;
    bool is_real = dtype == 's' || dtype == 'd', by_value = integer == 0;
    char vector = 0;
    for (const char *one = arguments; *one; one++) {
        /* C passes real scalars by value, in registers of their own. */
        if (by_value && (*one == '+' || (*one == '-' && is_real))) continue;
        if (*one == 'F' && made.flag_count < FLAGS) made.flags[made.flag_count++] = at;
        else if (*one == 'w' && made.workspace_count < 3) made.workspaces[made.workspace_count++] = at;
        else if ((*one == '-' || *one == '+') && made.alpha < 0) made.alpha = at;
        else if (*one == 'X' || *one == 'Y') data[(vector = *one) - 'A'] = at;
        else if (*one == 'i') ld[vector - 'A'] = at;
        else if (*one >= 'A' && *one <= 'Z') data[*one - 'A'] = at;
        else if (*one == 'm' || *one == 'n' || *one == 'k' || *one == 'r') made.dims[*one == 'm' ? 0 : *one == 'n' ? 1 : *one == 'k' ? 2 : 3] = at;
        else if (*one >= 'a' && *one <= 'z') ld[*one - 'a'] = at;
        if (strchr("abcuvi", *one) && made.ld_count < LDS) made.lds[made.ld_count++] = at;
        at++;
    }
    made.has_matrix = ld['A' - 'A'] >= 0;
    for (const char *one = operands; *one && made.operand_count < MOST_OPERANDS; one += one[5] ? 6 : 5) {
        made.operands[made.operand_count].data = data[one[0] - 'A'];
        made.operands[made.operand_count].ld = ld[one[0] - 'A'];
        made.operands[made.operand_count].role = one[1];
        made.operands[made.operand_count].rows = one[2];
        made.operands[made.operand_count].columns = one[3];
        made.operands[made.operand_count].condition = one[4];
        made.operands[made.operand_count].is_vector = one[0] == 'X' || one[0] == 'Y';
        made.operand_count++;
    }
    /* Threads that arrive together write the same values. */
    memcpy((char *)plan + offsetof(struct plan, integer), (char *)&made + offsetof(struct plan, integer),
        sizeof made - offsetof(struct plan, integer));
    atomic_store_explicit(&plan->ready, 1, memory_order_release);
}

static int64_t integer_at(const struct plan *plan, const long *a, int at, bool is_64) {
    if (at < 0) return 0;
    if (plan->integer == 0) return is_64 ? (int64_t)a[at] : (int32_t)a[at];
    if (!a[at]) return 0;
    return plan->integer == 8 ? *(const int64_t *)a[at] : *(const int32_t *)a[at];
}

static uint8_t flag_at(const struct plan *plan, const long *a, int at) {
    if (plan->integer) {
        if (!a[at]) return 0;
        char letter = *(const char *)a[at];
        return (uint8_t)(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
    }
    switch ((int32_t)a[at]) {
        case 111: case 131: return 'N';
        case 112: return 'T';
        case 113: return 'C';
        case 121: case 132: return 'U';
        case 122: case 141: return 'L';
        case 142: return 'R';
        default: return 0;
    }
}

struct call {
    struct key key;
    struct operand operands[MOST_OPERANDS];
    int operand_count;
    uint64_t result_bytes, repeated_bytes;
};

static bool is_transposed(uint8_t flag) { return flag == 'T' || flag == 'C'; }

static int64_t extent(const struct key *key, char name) {
    int64_t m = key->dims[0], n = key->dims[1];
    switch (name) {
        case 'm': return m;
        case 'n': return n;
        case 'k': return key->dims[2];
        case 'r': return key->dims[3];
        case 'q': return m < n ? m : n;
        case 's': return key->flags[0] == 'L' ? m : n;
        case 'x': return is_transposed(key->flags[0]) ? m : n;
        case 'y': return is_transposed(key->flags[0]) ? n : m;
        default: return 1;
    }
}

static struct operand operand_at(const struct plan *plan, const struct key *key, const long *a, int index, bool is_64) {
    struct operand one = {0};
    char condition = plan->operands[index].condition, role = plan->operands[index].role;
    if (plan->operands[index].data < 0) return one;
    if (condition == '!' || condition == '?') {
        uint8_t flag = key->flags[condition == '?'];
        if (flag == 'N' || flag == 'O') return one;
    }
    int64_t rows = extent(key, plan->operands[index].rows), columns = extent(key, plan->operands[index].columns);
    bool swapped = condition >= '0' && condition <= '9' && is_transposed(key->flags[condition - '0']);
    if (!plan->operands[index].is_vector && key->row_major) swapped = !swapped;
    if (swapped) { int64_t other = rows; rows = columns; columns = other; }
    int64_t ld = integer_at(plan, a, plan->operands[index].ld, is_64);
    one.data = (const char *)a[plan->operands[index].data];
    one.column = rows * plan->element;
    one.columns = columns;
    one.stride = ld * plan->element;
    if (plan->operands[index].is_vector && ld == 1) {
        one.column = columns * plan->element;
        one.columns = 1;
    }
    if (plan->operands[index].is_vector && ld < 1) one.columns = 0;
    one.is_read = role != '>';
    one.is_written = role != '<';
    return one;
}

/* Whether the first scalar is 0: behind a pointer, or as C passes real ones, in the register `alpha`. */
static bool is_alpha_zero(const struct plan *plan, const long *a, double alpha, char dtype) {
    float single;
    bool is_single = dtype == 's' || dtype == 'c';
    if (plan->alpha < 0) {
        if (plan->integer || dtype == 'c' || dtype == 'z') return false;
        memcpy(&single, &alpha, sizeof single);
        return is_single ? single == 0 : alpha == 0;
    }
    const void *scalar = (const void *)a[plan->alpha];
    if (!scalar) return false;
    if (is_single) return *(const float *)scalar == 0 && (dtype == 's' || ((const float *)scalar)[1] == 0);
    return *(const double *)scalar == 0 && (dtype == 'd' || ((const double *)scalar)[1] == 0);
}

/* Reads what identifies the call. Returns false for what is no call: a question for the size of the workspace, negative sizes. */
static bool read_call(struct call *call, const struct plan *plan, const long *a, int routine, char dtype, const struct target *target, bool is_64, double alpha) {
    memset(&call->key, 0, sizeof call->key);
    for (int i = 0; i < plan->workspace_count; i++)
        if (integer_at(plan, a, plan->workspaces[i], is_64) == -1) return false;
    struct key *key = &call->key;
    bool is_empty = false;
    key->routine = (uint16_t)routine;
    key->dtype = (uint8_t)dtype;
    key->object = target->object;
    key->row_major = plan->order >= 0 && (int32_t)a[plan->order] == 101;
    int threads = target->library_threads ? target->library_threads() : 0;
    key->threads = (uint16_t)(threads > 0 && threads < 65536 ? threads : 0);
    for (int i = 0; i < plan->flag_count; i++) key->flags[i] = flag_at(plan, a, plan->flags[i]);
    for (int i = 0; i < 4; i++) {
        key->dims[i] = integer_at(plan, a, plan->dims[i], is_64);
        if (key->dims[i] < 0) return false;
        is_empty |= key->dims[i] == 0 && plan->dims[i] >= 0;
    }
    for (int i = 0; i < plan->ld_count; i++) key->lds[i] = integer_at(plan, a, plan->lds[i], is_64);
    call->operand_count = 0;
    call->result_bytes = call->repeated_bytes = 0;
    /* BLAS does not refer to operands that an alpha of 0 removes, nor to any of an empty problem. Otherwise none may be large enough. */
    if (is_empty || (routine <= LAST_BLAS && is_alpha_zero(plan, a, alpha, dtype))) return true;
    int64_t longest = 0;
    for (int i = 0; i < 4; i++) longest = key->dims[i] > longest ? key->dims[i] : longest;
    if (longest < LEAST_BYTES && longest * (plan->has_matrix ? longest : 1) * plan->element < LEAST_BYTES) return true;
    uint64_t prints[MOST_OPERANDS];
    for (int i = 0; i < plan->operand_count; i++) {
        struct operand one = operand_at(plan, key, a, i, is_64);
        int64_t bytes = operand_bytes(&one);
        bool is_matrix = !plan->operands[i].is_vector;
        if (!one.data || bytes < LEAST_BYTES || (is_matrix && one.stride < one.column)) continue;
        uint64_t print = one.is_read ? fingerprint(&one) : 0;
        if (is_known(written, &one, print)) call->result_bytes += (uint64_t)bytes;
        else if (is_known(seen, &one, print)) call->repeated_bytes += (uint64_t)bytes;
        prints[call->operand_count] = print;
        call->operands[call->operand_count++] = one;
    }
    /* An operand that one call reads twice is new in that call. */
    for (int i = 0; i < call->operand_count; i++)
        if (prints[i]) remember(seen, &call->operands[i], prints[i]);
    return true;
}

static void end_call(struct call *call, uint64_t ns) {
    for (int i = 0; i < call->operand_count; i++)
        if (call->operands[i].is_written) remember(written, &call->operands[i], fingerprint(&call->operands[i]));
    count_call(&call->key, ns, call->result_bytes, call->repeated_bytes);
}

/* Returns whether this is the outermost call of the thread. Calls within calls belong to the outer one. A call that was left by longjmp has a frame
 * below this one's. */
static inline bool enter(char *frame) {
    if (UNLIKELY(!table)) return false;
    if (outermost && frame < outermost) return false;
    outermost = frame;
    return true;
}

/* Runs when a call returns, and when an exception of C++ passes through it. */
static inline void leave(char **frame) {
    if (*frame) outermost = NULL;
}

/* A jump leaves the recorded call, if it was in one. */
#define JUMP(symbol)                                                                                                               \
    PUBLIC __attribute__((noreturn)) void symbol(void *environment, int value) {                                                   \
        static _Atomic(void *) real;                                                                                               \
        void *found = atomic_load_explicit(&real, memory_order_relaxed);                                                           \
        if (!found) atomic_store_explicit(&real, found = dlsym(RTLD_NEXT, #symbol), memory_order_relaxed);                         \
        outermost = NULL;                                                                                                          \
        ((void (*)(void *, int))found)(environment, value);                                                                        \
        __builtin_unreachable();                                                                                                   \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/* ---- The definitions ---- */

#define PARAMETERS_8 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7
#define PARAMETERS_18 PARAMETERS_8, long a8, long a9, long a10, long a11, long a12, long a13, long a14, long a15, long a16, long a17
#define PARAMETERS_28 PARAMETERS_18, long a18, long a19, long a20, long a21, long a22, long a23, long a24, long a25, long a26, long a27
#define ARGUMENTS_8 a0, a1, a2, a3, a4, a5, a6, a7
#define ARGUMENTS_18 ARGUMENTS_8, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17
#define ARGUMENTS_28 ARGUMENTS_18, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27

/* Declares `target`, where the calls of a definition go. */
#define FIND_TARGET(symbol)                                                                                                        \
    static struct site site;                                                                                                       \
    struct target spare;                                                                                                           \
    const struct target *target =                                                                                                  \
        target_of(&site, #symbol, __builtin_return_address(0), (const void *)(uintptr_t)&symbol, &spare);

/* COUNT arguments of which a routine reads the first; INTEGER 4 or 8 bytes behind pointers, 0 by value; RETURNED long or double. */
#define DEFINE(RETURNED, symbol, id, dtype, COUNT, arguments, operands, INTEGER, IS_64, HAS_ORDER, MKL_ONLY)                       \
    PUBLIC RETURNED symbol(double f0, double f1, PARAMETERS_##COUNT) {                                                             \
        static struct plan plan;                                                                                                   \
        FIND_TARGET(symbol)                                                                                                        \
        char *frame = __builtin_frame_address(0);                                                                                  \
        RETURNED (*real)(double, double, PARAMETERS_##COUNT) = (RETURNED (*)(double, double, PARAMETERS_##COUNT))target->routine;  \
        if (!enter(frame)) return real(f0, f1, ARGUMENTS_##COUNT);                                                                 \
        char *entered __attribute__((cleanup(leave))) = frame;                                                                     \
        long a[] = {ARGUMENTS_##COUNT};                                                                                            \
        if (UNLIKELY(!atomic_load_explicit(&plan.ready, memory_order_acquire)))                                                    \
            parse(&plan, arguments, operands, dtype, INTEGER, HAS_ORDER);                                                          \
        struct call call;                                                                                                          \
        bool is_call = (!MKL_ONLY || target->is_mkl) && read_call(&call, &plan, a, id, dtype, target, IS_64, f0);                                                       \
        uint64_t start = ticks();                                                                                                  \
        RETURNED returned = real(f0, f1, ARGUMENTS_##COUNT);                                                                       \
        uint64_t ns = elapsed_ns(start);                                                                                           \
        if (is_call) end_call(&call, ns);                                                                                          \
        return returned;                                                                                                           \
    }

/* The names of a Fortran routine: MKL's, which other programs may have for functions of their own; the usual one; those with 64-bit integers,
 * and those of SciPy's build of OpenBLAS. */
#define FORTRAN(RETURNED, name, id, dtype, COUNT, arguments, operands)                                                             \
    DEFINE(RETURNED, name, id, dtype, COUNT, arguments, operands, 4, false, false, true)                                           \
    DEFINE(RETURNED, name##_, id, dtype, COUNT, arguments, operands, 4, false, false, false)                                              \
    DEFINE(RETURNED, name##_64_, id, dtype, COUNT, arguments, operands, 8, true, false, false)                                            \
    DEFINE(RETURNED, name##_64, id, dtype, COUNT, arguments, operands, 8, true, false, false)                                             \
    DEFINE(RETURNED, name##64_, id, dtype, COUNT, arguments, operands, 8, true, false, false)                                             \
    DEFINE(RETURNED, scipy_##name##_, id, dtype, COUNT, arguments, operands, 4, false, false, false)                                      \
    DEFINE(RETURNED, scipy_##name##_64_, id, dtype, COUNT, arguments, operands, 8, true, false, false)                                    \
    DEFINE(RETURNED, scipy_##name##64_, id, dtype, COUNT, arguments, operands, 8, true, false, false)
#define CBLAS(RETURNED, name, id, dtype, COUNT, arguments, operands, HAS_ORDER)                                                    \
    DEFINE(RETURNED, cblas_##name, id, dtype, COUNT, arguments, operands, 0, false, HAS_ORDER, false)                                     \
    DEFINE(RETURNED, cblas_##name##_64, id, dtype, COUNT, arguments, operands, 0, true, HAS_ORDER, false)                                 \
    DEFINE(RETURNED, cblas_##name##64_, id, dtype, COUNT, arguments, operands, 0, true, HAS_ORDER, false)                                 \
    DEFINE(RETURNED, scipy_cblas_##name, id, dtype, COUNT, arguments, operands, 0, false, HAS_ORDER, false)                               \
    DEFINE(RETURNED, scipy_cblas_##name##64_, id, dtype, COUNT, arguments, operands, 0, true, HAS_ORDER, false)
#define BLAS(name, id, dtype, COUNT, arguments, operands)                                                                          \
    FORTRAN(long, name, id, dtype, COUNT, arguments, operands)                                                                     \
    CBLAS(long, name, id, dtype, COUNT, arguments, operands, true)
#define LEVEL1(RETURNED, name, id, dtype, arguments, operands)                                                                     \
    FORTRAN(RETURNED, name, id, dtype, 8, arguments, operands)                                                                     \
    CBLAS(RETURNED, name, id, dtype, 8, arguments, operands, false)

#define S(name, arguments, operands) BLAS(s##name, ID_##name, 's', 18, arguments, operands)
#define D(name, arguments, operands) BLAS(d##name, ID_##name, 'd', 18, arguments, operands)
#define C(name, arguments, operands) BLAS(c##name, ID_##name, 'c', 18, arguments, operands)
#define Z(name, arguments, operands) BLAS(z##name, ID_##name, 'z', 18, arguments, operands)
BLAS3_SDCZ(S) BLAS3_SDCZ(D) BLAS3_SDCZ(C) BLAS3_SDCZ(Z)
BLAS3_CZ(C) BLAS3_CZ(Z)
BLAS2_SDCZ(S) BLAS2_SDCZ(D) BLAS2_SDCZ(C) BLAS2_SDCZ(Z)
BLAS2_SD(S) BLAS2_SD(D) BLAS2_CZ(C) BLAS2_CZ(Z)
#undef S
#undef D
#undef C
#undef Z

#define S(name, arguments, operands) LEVEL1(long, s##name, ID_##name, 's', arguments, operands)
#define D(name, arguments, operands) LEVEL1(long, d##name, ID_##name, 'd', arguments, operands)
#define C(name, arguments, operands) LEVEL1(long, c##name, ID_##name, 'c', arguments, operands)
#define Z(name, arguments, operands) LEVEL1(long, z##name, ID_##name, 'z', arguments, operands)
BLAS1_SDCZ(S) BLAS1_SDCZ(D) BLAS1_SDCZ(C) BLAS1_SDCZ(Z)
#undef S
#undef D
#undef C
#undef Z
/* A float is returned in the lower half of the register of a double. */
#define S(name, arguments, operands) LEVEL1(double, s##name, ID_##name, 's', arguments, operands)
#define D(name, arguments, operands) LEVEL1(double, d##name, ID_##name, 'd', arguments, operands)
BLAS1_REAL(S) BLAS1_REAL(D)
#undef S
#undef D
LEVEL1(long, csscal, ID_scal, 'c', "n+Xi", "X=1n.")
LEVEL1(long, zdscal, ID_scal, 'z', "n+Xi", "X=1n.")
LEVEL1(double, scnrm2, ID_nrm2, 'c', "nXi", "X<1n.")
LEVEL1(double, dznrm2, ID_nrm2, 'z', "nXi", "X<1n.")
LEVEL1(double, scasum, ID_asum, 'c', "nXi", "X<1n.")
LEVEL1(double, dzasum, ID_asum, 'z', "nXi", "X<1n.")

#define S(name, arguments, operands) FORTRAN(long, s##name, ID_##name, 's', 28, arguments, operands)
#define D(name, arguments, operands) FORTRAN(long, d##name, ID_##name, 'd', 28, arguments, operands)
#define C(name, arguments, operands) FORTRAN(long, c##name, ID_##name, 'c', 28, arguments, operands)
#define Z(name, arguments, operands) FORTRAN(long, z##name, ID_##name, 'z', 28, arguments, operands)
LAPACK_SDCZ(S) LAPACK_SDCZ(D) LAPACK_SDCZ(C) LAPACK_SDCZ(Z)
LAPACK_SD(S) LAPACK_SD(D) LAPACK_CZ(C) LAPACK_CZ(Z)

#include "fft.h"

/* Counts a call that sitecustomize.py has timed: a transform with its extents and batch, a product of sparse matrices with m, n, k and the
 * stored entries of both, or a ufunc, whose name is in the flags, with its number of elements. */
PUBLIC void gpubench_record_call(const char *routine, const char *library, char dtype, const char *flags, int64_t d0, int64_t d1, int64_t d2,
    int64_t d3, int64_t d4, int64_t ns) {
    if (!table) return;
    for (int id = ID_fft; id < IDS; id++)
        if (strcmp(NAMES[id], routine) == 0) {
            struct key key;
            memset(&key, 0, sizeof key);
            key.routine = (uint16_t)id;
            key.dtype = (uint8_t)dtype;
            key.object = object_named(library);
            memcpy(key.flags, flags, strnlen(flags, sizeof key.flags));
            int64_t dims[] = {d0, d1, d2, d3};
            memcpy(key.dims, dims, sizeof dims);
            key.lds[0] = d4;
            count_call(&key, ns > 0 ? (uint64_t)ns : 0, 0, 0);
        }
}

static void calibrate(void) {
    for (int i = 0; i < IDS; i++) strncpy(table->header.routines[i], NAMES[i], sizeof table->header.routines[i] - 1);
    static const long size = 8;
    double data[64] = {0};
    struct plan plan;
    parse(&plan, "FFmnk-AaBb-Cc", "A<mk0 B<kn1 C>mn.", 'd', 8, false);
    long n = (long)&size, letter = (long)"N", x = (long)data;
    long a[] = {letter, letter, n, n, n, x, x, n, x, n, x, x, n};
    struct target target = {0};
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < 5; round++) {
        uint64_t start = clock_ns();
        for (int i = 0; i < 200; i++) {
            struct call call;
            read_call(&call, &plan, a, ID_gemm, 'd', &target, true, 1.0);
            call.key.routine = IDS;
            end_call(&call, elapsed_ns(ticks()));
        }
        uint64_t ns = (clock_ns() - start) / 200;
        if (ns < least) least = ns;
    }
    atomic_store(&table->header.overhead_ns, (uint32_t)(least ? least : 1));
}
