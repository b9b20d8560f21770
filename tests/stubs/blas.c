/* A substitute of BLAS and LAPACK that prints the arguments it receives; its first call within a call is its own. */
#include <stddef.h>
#include <stdio.h>

#ifndef NAME
#define NAME "fake"
#endif
void (*on_call)(void);
double ddot_(const int *n, const double *x, const int *ix, const double *y, const int *iy) {
    double sum = 0;
    for (int i = 0; i < *n; i++) sum += x[i * *ix] * y[i * *iy];
    return sum;
}
float sdot_(const int *n, const float *x, const int *ix, const float *y, const int *iy) {
    float sum = 0;
    for (int i = 0; i < *n; i++) sum += x[i * *ix] * y[i * *iy];
    return sum;
}
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
    double beta, double *c, int ldc) {
    if (on_call) on_call();
    if (alpha == 0 || m == 0 || n == 0) return;
    int one = 1;
    if (m * n > 4) printf(NAME " %d %d %d %d %d %d %g %g %d %d %d %g\n", order, ta, tb, m, n, k, alpha, beta, lda, ldb, ldc, a[1] + b[1]);
    /* Through the dynamic linker, as LAPACK calls BLAS. */
    for (int i = 0; i < m * n && i < 1024; i++) c[i] = ddot_(&one, &a[i % 8], &one, &b[i % 4], &one) + i;
}
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *a, const int *lda,
    const double *b, const int *ldb, const double *beta, double *c, const int *ldc, size_t la, size_t lb) {
    printf(NAME " %c%c %d %d %d %g %g %d %d %d %zu %zu\n", *ta, *tb, *m, *n, *k, *alpha, *beta, *lda, *ldb, *ldc, la, lb);
}
void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda, double *s, double *u, const int *ldu, double *vt,
    const int *ldvt, double *work, const int *lwork, int *iwork, int *info, size_t length) {
    printf(NAME " %c %d %d %d %d %d %d %zu %d\n", *job, *m, *n, *lda, *ldu, *ldvt, *lwork, length, iwork == NULL);
    *info = 0;
}
void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work, const int *lwork,
    int *iwork, const int *liwork, int *info, size_t l1, size_t l2) {
    *iwork = 3 + 5 * *n;
    *info = 0;
}
void call(int n) {
    static double a[4096], b[4096], c[4096];
    cblas_dgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
}
