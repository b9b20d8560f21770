/* The routines that are recorded: R(name, Fortran arguments, operands).
 *
 * Arguments, in the order of the Fortran routine: F a character, m n k r dimensions, A B U V Z a matrix and lower case its leading
 * dimension, X Y a vector and i its increment, - a scalar or what is not recorded, + a scalar that is real also in complex routines,
 * w the size of a workspace: -1 asks for the best size and is no call of its own.
 *
 * Operands: name, role (< read, > written, = both), rows, columns, and a condition: a digit is the character whose T or C swaps rows and
 * columns; ! and ? are operands that exist unless the first or second character is N or O. Dimensions are m n k r, 1, q for the
 * smaller of m and n, s for m if the first character is L and otherwise n, x and y for the lengths of the vectors of gemv. */

/* BLAS 3 */
#define BLAS3_SDCZ(R)                                                                                                              \
    R(gemm, "FFmnk-AaBb-Cc", "A<mk0 B<kn1 C>mn.")                                                                                  \
    R(symm, "FFmn-AaBb-Cc", "A<ss. B<mn. C>mn.")                                                                                   \
    R(syrk, "FFnk-Aa-Cc", "A<nk1 C>nn.")                                                                                           \
    R(syr2k, "FFnk-AaBb-Cc", "A<nk1 B<nk1 C>nn.")                                                                                  \
    R(trmm, "FFFFmn-AaBb", "A<ss. B=mn.")                                                                                          \
    R(trsm, "FFFFmn-AaBb", "A<ss. B=mn.")
#define BLAS3_CZ(R)                                                                                                                \
    R(hemm, "FFmn-AaBb-Cc", "A<ss. B<mn. C>mn.")                                                                                   \
    R(herk, "FFnk+Aa+Cc", "A<nk1 C>nn.")                                                                                           \
    R(her2k, "FFnk-AaBb+Cc", "A<nk1 B<nk1 C>nn.")
/* BLAS 2 */
#define BLAS2_SDCZ(R)                                                                                                              \
    R(gemv, "Fmn-AaXi-Yi", "A<mn. X<1x. Y>1y.")                                                                                    \
    R(trmv, "FFFnAaXi", "A<nn. X=1n.")                                                                                             \
    R(trsv, "FFFnAaXi", "A<nn. X=1n.")
#define BLAS2_SD(R)                                                                                                                \
    R(ger, "mn-XiYiAa", "X<1m. Y<1n. A=mn.")                                                                                       \
    R(symv, "Fn-AaXi-Yi", "A<nn. X<1n. Y>1n.")                                                                                     \
    R(syr, "Fn-XiAa", "X<1n. A=nn.")
#define BLAS2_CZ(R)                                                                                                                \
    R(geru, "mn-XiYiAa", "X<1m. Y<1n. A=mn.")                                                                                      \
    R(gerc, "mn-XiYiAa", "X<1m. Y<1n. A=mn.")                                                                                      \
    R(hemv, "Fn-AaXi-Yi", "A<nn. X<1n. Y>1n.")
/* BLAS 1. Complex dot products return their result in ways that differ between compilers, and are not recorded. */
#define BLAS1_SDCZ(R)                                                                                                              \
    R(axpy, "n-XiYi", "X<1n. Y=1n.")                                                                                               \
    R(scal, "n-Xi", "X=1n.")                                                                                                       \
    R(copy, "nXiYi", "X<1n. Y>1n.")                                                                                                \
    R(swap, "nXiYi", "X=1n. Y=1n.")
#define BLAS1_REAL(R)                                                                                                              \
    R(dot, "nXiYi", "X<1n. Y<1n.")                                                                                                 \
    R(nrm2, "nXi", "X<1n.")                                                                                                        \
    R(asum, "nXi", "X<1n.")
/* LAPACK's drivers and factorisations */
#define LAPACK_SDCZ(R)                                                                                                             \
    R(posv, "FnrAaBb-", "A=nn. B=nr.")                                                                                             \
    R(potrf, "FnAa-", "A=nn.")                                                                                                     \
    R(potrs, "FnrAaBb-", "A<nn. B=nr.")                                                                                            \
    R(gesv, "nrAa-Bb-", "A=nn. B=nr.")                                                                                             \
    R(getrf, "mnAa--", "A=mn.")                                                                                                    \
    R(getrs, "FnrAa-Bb-", "A<nn. B=nr.")                                                                                           \
    R(geqrf, "mnAa--w-", "A=mn.")                                                                                                  \
    R(gels, "FmnrAaBb-w-", "A=mn.")                                                                                                \
    R(gesvd, "FFmnAa-UuVv-w--", "A=mn. U>mq! V>qn?")                                                                                           \
    R(gesdd, "FmnAa-UuVv-w---", "A=mn. U>mq! V>qn!")
#define LAPACK_SD(R)                                                                                                               \
    R(geev, "FFnAa-------w-", "A=nn.")                                                                                             \
    R(syev, "FFnAa--w-", "A=nn.")                                                                                                  \
    R(syevd, "FFnAa--w-w-", "A=nn.")                                                                                               \
    R(syevr, "FFFnAa-----------w-w-", "A=nn.")
#define LAPACK_CZ(R)                                                                                                               \
    R(geev, "FFnAa------w--", "A=nn.")                                                                                             \
    R(heev, "FFnAa--w--", "A=nn.")                                                                                                 \
    R(heevd, "FFnAa--w-w-w-", "A=nn.")                                                                                             \
    R(heevr, "FFFnAa-----------w-w-w-", "A=nn.")
