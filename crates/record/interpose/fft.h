/* Transforms of FFTW and of MKL: extents are known when a plan is made, and counted when it is executed. Included by interpose.c. */

#define PLANS 4096

struct transform {
    void *plan;
    int64_t extents[3], batch;
    /* C complex, R from real to complex, B back to real. */
    uint8_t kind;
};
static struct transform transforms[PLANS];
static pthread_mutex_t transforms_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_transform(const struct transform *made) {
    if (!made->plan || !table) return;
    size_t at = mixed(0, (uint64_t)made->plan) % PLANS;
    pthread_mutex_lock(&transforms_lock);
    for (size_t step = 0; step < 64; step++) {
        struct transform *slot = &transforms[(at + step) % PLANS];
        if (!slot->plan || slot->plan == made->plan) {
            *slot = *made;
            break;
        }
    }
    pthread_mutex_unlock(&transforms_lock);
}

/* Plans that were destroyed stay until another has their address: removing one would break the chain of those behind it. */
static bool find_transform(void *plan, struct transform *found) {
    size_t at = mixed(0, (uint64_t)plan) % PLANS;
    bool is_found = false;
    pthread_mutex_lock(&transforms_lock);
    for (size_t step = 0; step < 64 && !is_found && transforms[(at + step) % PLANS].plan; step++) {
        *found = transforms[(at + step) % PLANS];
        is_found = found->plan == plan;
    }
    pthread_mutex_unlock(&transforms_lock);
    return is_found;
}

static void transform_key(struct key *key, const struct transform *one, char dtype, const struct target *target) {
    memset(key, 0, sizeof *key);
    key->routine = ID_fft;
    key->dtype = (uint8_t)dtype;
    key->object = target->object;
    key->flags[0] = one->kind;
    memcpy(key->dims, one->extents, sizeof one->extents);
    key->dims[3] = one->batch;
}

/* No thread of the parent holds the lock while the process forks, so that the child can use it. */
static void before_fork(void) { pthread_mutex_lock(&transforms_lock); }
static void after_fork(void) { pthread_mutex_unlock(&transforms_lock); }
static void after_fork_in_child(void) {
    pthread_mutex_unlock(&transforms_lock);
    count_process();
}

/* Fills the extents from a rank and its lengths; transforms of more than three axes have the product of the first as one. */
static struct transform of_lengths(uint8_t kind, long rank, const int *lengths, long batch) {
    struct transform made = {.kind = kind, .batch = batch, .extents = {1, 1, 1}};
    for (long axis = 0; axis < rank; axis++) {
        long index = rank <= 3 ? axis : axis < rank - 2 ? 0 : axis - (rank - 3);
        made.extents[index] *= lengths[axis];
    }
    for (long axis = rank; axis < 3; axis++) made.extents[axis] = 0;
    return made;
}

/* A function that makes a plan; MADE describes it by the arguments a0 and so on. */
#define PLANNER(symbol, MADE)                                                                                                      \
    PUBLIC void *symbol(PARAMETERS_18) {                                                                                           \
        FIND_TARGET(symbol)                                                                                                        \
        void *plan = ((void *(*)(PARAMETERS_18))target->routine)(ARGUMENTS_18);                                                    \
        struct transform made = MADE;                                                                                              \
        made.plan = plan;                                                                                                          \
        keep_transform(&made);                                                                                                     \
        return plan;                                                                                                               \
    }
#define LENGTH(at) (int)a##at
#define PLANNERS(prefix)                                                                                                           \
    PLANNER(prefix##_plan_dft_1d, of_lengths('C', 1, (int[]){LENGTH(0)}, 1))                                                       \
    PLANNER(prefix##_plan_dft_2d, of_lengths('C', 2, ((int[]){LENGTH(0), LENGTH(1)}), 1))                                          \
    PLANNER(prefix##_plan_dft_3d, of_lengths('C', 3, ((int[]){LENGTH(0), LENGTH(1), LENGTH(2)}), 1))                               \
    PLANNER(prefix##_plan_dft_r2c_1d, of_lengths('R', 1, (int[]){LENGTH(0)}, 1))                                                   \
    PLANNER(prefix##_plan_dft_r2c_2d, of_lengths('R', 2, ((int[]){LENGTH(0), LENGTH(1)}), 1))                                      \
    PLANNER(prefix##_plan_dft_r2c_3d, of_lengths('R', 3, ((int[]){LENGTH(0), LENGTH(1), LENGTH(2)}), 1))                           \
    PLANNER(prefix##_plan_dft_c2r_1d, of_lengths('B', 1, (int[]){LENGTH(0)}, 1))                                                   \
    PLANNER(prefix##_plan_dft_c2r_2d, of_lengths('B', 2, ((int[]){LENGTH(0), LENGTH(1)}), 1))                                      \
    PLANNER(prefix##_plan_dft_c2r_3d, of_lengths('B', 3, ((int[]){LENGTH(0), LENGTH(1), LENGTH(2)}), 1))                           \
    PLANNER(prefix##_plan_dft, of_lengths('C', (int)a0, (const int *)a1, 1))                                                       \
    PLANNER(prefix##_plan_dft_r2c, of_lengths('R', (int)a0, (const int *)a1, 1))                                                   \
    PLANNER(prefix##_plan_dft_c2r, of_lengths('B', (int)a0, (const int *)a1, 1))                                                   \
    PLANNER(prefix##_plan_many_dft, of_lengths('C', (int)a0, (const int *)a1, (int)a2))                                            \
    PLANNER(prefix##_plan_many_dft_r2c, of_lengths('R', (int)a0, (const int *)a1, (int)a2))                                        \
    PLANNER(prefix##_plan_many_dft_c2r, of_lengths('B', (int)a0, (const int *)a1, (int)a2))
PLANNERS(fftw)
PLANNERS(fftwf)

/* A function whose first argument is a plan that it executes; FOUND fills `transform` and `dtype`, and returns whether it could. */
#define EXECUTOR(symbol, FOUND)                                                                                                    \
    PUBLIC long symbol(PARAMETERS_8) {                                                                                             \
        FIND_TARGET(symbol)                                                                                                        \
        long (*real)(PARAMETERS_8) = (long (*)(PARAMETERS_8))target->routine;                                                      \
        char *frame = __builtin_frame_address(0);                                                                                  \
        if (!enter(frame)) return real(ARGUMENTS_8);                                                                               \
        char *entered __attribute__((cleanup(leave))) = frame;                                                                     \
        struct transform transform;                                                                                                \
        char dtype = 0;                                                                                                            \
        bool is_found = FOUND;                                                                                                     \
        uint64_t start = ticks();                                                                                                  \
        long returned = real(ARGUMENTS_8);                                                                                         \
        uint64_t ns = elapsed_ns(start);                                                                                           \
        if (is_found) {                                                                                                            \
            struct key key;                                                                                                        \
            transform_key(&key, &transform, dtype, target);                                                                        \
            count_call(&key, ns, 0, 0);                                                                                            \
        } else {                                                                                                                   \
            count_other(ns);                                                                                                       \
        }                                                                                                                          \
        return returned;                                                                                                           \
    }
#define EXECUTORS(prefix, letter)                                                                                                  \
    EXECUTOR(prefix##_execute, (dtype = letter, find_transform((void *)a0, &transform)))                                           \
    EXECUTOR(prefix##_execute_dft, (dtype = letter, find_transform((void *)a0, &transform)))                                       \
    EXECUTOR(prefix##_execute_dft_r2c, (dtype = letter, find_transform((void *)a0, &transform)))                                   \
    EXECUTOR(prefix##_execute_dft_c2r, (dtype = letter, find_transform((void *)a0, &transform)))
EXECUTORS(fftw, 'd')
EXECUTORS(fftwf, 's')

/* MKL's descriptors answer for themselves. The numbers are those of mkl_dfti.h. */
static bool find_descriptor(const struct target *target, void *descriptor, bool is_forward, struct transform *found, char *dtype) {
    static _Atomic(void *) known;
    void *getter = atomic_load_explicit(&known, memory_order_relaxed);
    if (!getter) {
        Dl_info info;
        struct link_map *map = NULL;
        if (!dladdr1(target->routine, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !*map->l_name) return false;
        getter = symbol_in(map->l_name, "DftiGetValue", NULL);
        atomic_store_explicit(&known, getter, memory_order_relaxed);
    }
    long (*get)(void *, int, ...) = (long (*)(void *, int, ...))getter;
    long rank = 0, batch = 1, lengths[8] = {0};
    int domain = 0, precision = 0;
    if (!get || get(descriptor, 1, &rank) || rank < 1 || rank > 7 || get(descriptor, 0, &domain) || get(descriptor, 3, &precision)) return false;
    if (get(descriptor, 2, lengths) || get(descriptor, 7, &batch)) return false;
    int short_lengths[8];
    for (int axis = 0; axis < 8; axis++) short_lengths[axis] = (int)lengths[axis];
    *found = of_lengths(domain == 32 ? 'C' : is_forward ? 'R' : 'B', rank, short_lengths, batch);
    *dtype = precision == 36 ? 'd' : 's';
    return true;
}

EXECUTOR(DftiComputeForward, find_descriptor(target, (void *)a0, true, &transform, &dtype))
EXECUTOR(DftiComputeBackward, find_descriptor(target, (void *)a0, false, &transform, &dtype))
