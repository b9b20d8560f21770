// Sines and cosines without a branch and without a table: the functions of CUDA load the coefficients of float64 from
// memory after they have reduced the argument, and branch, so that the compiler computes one after the other.
//
// An argument loses the nearest multiple of pi / 2, taken off in three parts (Cody and Waite 1980), and both polynomials
// of the rest are evaluated: those of Cephes' sinf and cosf for float32, those of fdlibm for float64. Within 1.6 units
// in the last place for |x| < LIMIT, where CUDA's are within 2.

#pragma once

#include "common.cuh"

// Larger arguments lose too many digits: the third part of pi / 2 ends.
template <typename T> constexpr T LIMIT = 0;
template <> constexpr float LIMIT<float> = 1e5f;
template <> constexpr double LIMIT<double> = 0x1p31;

// x less the multiple of pi / 2 nearest to it, and that multiple, modulo 2^32.
template <typename T> struct Reduced {
    T rest;
    u32 quarters;
};

// Adding 1.5 * 2^23 (2^52) rounds to an integer, which the low bits of the sum then hold.
__device__ __forceinline__ Reduced<float> reduced(float x) {
    constexpr float ROUND = 0x1.8p23f;
    const float sum = fmaf(x, 0x1.45f306p-1f, ROUND), multiple = sum - ROUND;
    const float rest = fmaf(-multiple, 0x1.4442d0p-24f, fmaf(-multiple, 0x1.921fb4p0f, x));
    return {fmaf(-multiple, 0x1.846988p-48f, rest), __float_as_uint(sum)};
}
__device__ __forceinline__ Reduced<double> reduced(double x) {
    constexpr double ROUND = 0x1.8p52;
    const double sum = fma(x, 0x1.45f306dc9c883p-1, ROUND), multiple = sum - ROUND;
    const double rest = fma(-multiple, 0x1.1a62633145c00p-54, fma(-multiple, 0x1.921fb54442d18p0, x));
    return {fma(-multiple, 0x1.b839a252049c0p-104, rest), (u32)__double2loint(sum)};
}

// A polynomial in z, by its coefficients in order of rising powers.
template <typename T> __device__ __forceinline__ T polynomial(T, T last) { return last; }
template <typename T, typename... Rest> __device__ __forceinline__ T polynomial(T z, T first, Rest... rest) {
    return fma(polynomial(z, rest...), z, first);
}

// sin r and cos r for |r| <= pi / 4, with z = r * r.
__device__ __forceinline__ float sine_of_rest(float r, float z) {
    return fmaf(polynomial(z, -1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f), r * z, r);
}
__device__ __forceinline__ float cosine_of_rest(float z) {
    return polynomial(z, 1.0f, -0.5f, 4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f);
}
__device__ __forceinline__ double sine_of_rest(double r, double z) {
    return fma(polynomial(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                          2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),
               r * z, r);
}
__device__ __forceinline__ double cosine_of_rest(double z) {
    return polynomial(z, 1.0, -0.5, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                      -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
}

// Makes the compiler compute both values. Otherwise it branches around the one that is not selected.
__device__ __forceinline__ void evaluate(float& a, float& b) { asm volatile("" : "+f"(a), "+f"(b)); }
__device__ __forceinline__ void evaluate(double& a, double& b) { asm volatile("" : "+d"(a), "+d"(b)); }

// The sine of `x` and `quarters` quarter turns more.
template <typename T> __device__ __forceinline__ T sine_after(const Reduced<T>& x, u32 quarters) {
    const T z = x.rest * x.rest;
    T sine = sine_of_rest(x.rest, z), cosine = cosine_of_rest(z);
    evaluate(sine, cosine);
    quarters += x.quarters;
    const T value = quarters & 1 ? cosine : sine;
    return quarters & 2 ? -value : value;
}
