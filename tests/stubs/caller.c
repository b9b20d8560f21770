/* A program that calls a substitute of BLAS in the ways that are hard to record; its argument names the way. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
    double beta, double *c, int ldc);
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *a, const int *lda,
    const double *b, const int *ldb, const double *beta, double *c, const int *ldc, size_t, size_t);
double ddot_(const int *n, const double *x, const int *ix, const double *y, const int *iy);
float sdot_(const int *n, const float *x, const int *ix, const float *y, const int *iy);
void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda, double *s, double *u, const int *ldu, double *vt,
    const int *ldvt, double *work, const int *lwork, int *iwork, int *info, size_t);
void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work, const int *lwork,
    int *iwork, const int *liwork, int *info, size_t, size_t);
extern void (*on_call)(void);

static double a[4096], b[4096], c[4096];
static jmp_buf away;

static void gemm(int n) { cblas_dgemm(102, 111, 112, n, n, n, 1.5, a, n, b, n, 0.5, c, n); }
static void leave(void) { longjmp(away, 1); }
/* A call from a deeper frame than any before. */
static void __attribute__((noinline)) deeper(int levels) {
    volatile char room[1024];
    room[0] = (char)levels;
    if (levels) deeper(levels - 1);
    else gemm(16);
    room[1] = room[0];
}
#define DOT sum += ddot_(&four, a, &one, b, &one);
#define TEN(x) x x x x x x x x x x
static void sites(void) {
    int four = 4, one = 1;
    double sum = 0;
    for (int i = 0; i < 10000; i++) { TEN(TEN(DOT)) }
    printf("%g\n", sum);
}
static void *many(void *count) {
    for (long i = 0; i < (long)count; i++) {
        double one[4] = {0};
        cblas_dgemm(101, 111, 111, 2, 2, 2, 1, a, 2, b, 2, 0, one, 2);
    }
    return NULL;
}

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "plain";
    int n = 64, one = 1, eight = 8, query = -1, info = 7;
    double alpha = 2, work[8];
    float x[8] = {1, 2, 3}, y[8] = {4, 5, 6};
    for (int i = 0; i < 4096; i++) a[i] = i, b[i] = -i;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!strcmp(way, "plain")) {
        gemm(64);
        dgemm_("T", "n", &n, &eight, &one, &alpha, a, &one, b, &one, &alpha, c, &n, 1, 1);
        printf("%g %g\n", ddot_(&eight, a, &one, b, &one), (double)sdot_(&eight, x, &one, y, &one));
        dgesdd_("S", &n, &eight, a, &n, b, c, &n, work, &eight, work, &query, NULL, &info, 1);
        dgesdd_("S", &n, &eight, a, &n, b, c, &n, work, &eight, work, &eight, NULL, &info, 1);
        printf("%d\n", info);
    } else if (!strcmp(way, "jump")) {
        on_call = leave;
        if (!setjmp(away)) gemm(8);
        on_call = NULL;
        gemm(16);
        deeper(10);
    } else if (!strcmp(way, "threads")) {
        pthread_t threads[64];
        for (int i = 0; i < 64; i++) pthread_create(&threads[i], NULL, many, (void *)1000L);
        for (int i = 0; i < 64; i++) pthread_join(threads[i], NULL);
    } else if (!strcmp(way, "forks")) {
        for (int i = 0; i < 100; i++)
            if (fork() == 0) {
                gemm(16);
                _exit(i % 3);
            }
        int status, sum = 0;
        while (wait(&status) > 0) sum += WEXITSTATUS(status);
        printf("%d\n", sum);
    } else if (!strcmp(way, "closes")) {
        for (int i = 3; i < 1000; i++) close(i);
        if (chdir("/")) return 9;
        gemm(16);
    } else if (!strcmp(way, "exec")) {
        gemm(16);
        execl(words[0], words[0], "closes", NULL);
    } else if (!strcmp(way, "killed") || !strcmp(way, "crash")) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        gemm(16);
        kill(getpid(), way[0] == 'k' ? SIGKILL : SIGSEGV);
        pause();
    } else if (!strcmp(way, "waits")) {
        gemm(16);
        puts("waiting");
        pause();
    } else if (!strcmp(way, "tiny")) {
        many((void *)1000000L);
    } else if (!strcmp(way, "shapes")) {
        double *large = calloc(5000, 8);
        for (int i = 1; i <= 5000; i++) cblas_dgemm(101, 111, 111, 1, 1, i, 1, large, i, large, 1, 0, c, 1);
    } else if (!strcmp(way, "sites")) {
        sites();
    } else if (!strcmp(way, "unread")) {
        double *nowhere = (double *)4096;
        cblas_dgemm(102, 111, 111, 900, 900, 900, 0, nowhere, 900, nowhere, 900, 1, nowhere, 900);
        cblas_dgemm(102, 111, 111, 900, 0, 900, 1, nowhere, 900, nowhere, 900, 1, nowhere, 900);
        int large = 900, sizes[1] = {0}, space = 2000000;
        dsyevd_("V", "U", &large, nowhere, &large, nowhere, work, &space, sizes, &query, &info, 1, 1);
        printf("%d\n", sizes[0]);
    } else if (!strcmp(way, "chain")) {
        cblas_dgemm(102, 111, 111, 32, 32, 32, 1, a, 32, b, 32, 0, c, 32);
        cblas_dgemm(102, 111, 111, 32, 32, 32, 1, c, 32, b, 32, 0, a, 32);
        b[0] += 1;
        cblas_dgemm(102, 111, 111, 32, 32, 32, 1, a, 32, b, 32, 0, c, 32);
    }
    return 5;
}
