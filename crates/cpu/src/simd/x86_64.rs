//! Vectors of AVX2 with fused multiply-add, and of AVX-512.

use std::arch::x86_64::*;

use super::number::vector;

/// AVX2 and FMA.
pub(super) struct Avx2;

impl super::Instructions for Avx2 {
    const FEW_REGISTERS: bool = true;
    type F32 = F32x8;
    type F64 = F64x4;
}

/// AVX-512F and AVX-512DQ.
pub(super) struct Avx512;

impl super::Instructions for Avx512 {
    const FEW_REGISTERS: bool = false;
    type F32 = F32x16;
    type F64 = F64x8;
}

vector!(
    F32x8(__m256): [f32; 8],
    splat _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps, stream _mm256_stream_ps,
    add _mm256_add_ps, sub _mm256_sub_ps, mul _mm256_mul_ps, larger _mm256_max_ps,
    fused |a, b, c| _mm256_fmadd_ps(a, b, c),
    magnitude |x| _mm256_andnot_ps(_mm256_set1_ps(-0.0), x),
    negate_if_odd |x, parity| {
        let sign = _mm256_slli_epi32::<31>(_mm256_castps_si256(parity));
        _mm256_xor_ps(x, _mm256_castsi256_ps(sign))
    },
);

vector!(
    F64x4(__m256d): [f64; 4],
    splat _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd, stream _mm256_stream_pd,
    add _mm256_add_pd, sub _mm256_sub_pd, mul _mm256_mul_pd, larger _mm256_max_pd,
    fused |a, b, c| _mm256_fmadd_pd(a, b, c),
    magnitude |x| _mm256_andnot_pd(_mm256_set1_pd(-0.0), x),
    negate_if_odd |x, parity| {
        let sign = _mm256_slli_epi64::<63>(_mm256_castpd_si256(parity));
        _mm256_xor_pd(x, _mm256_castsi256_pd(sign))
    },
);

vector!(
    F32x16(__m512): [f32; 16],
    splat _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps, stream _mm512_stream_ps,
    add _mm512_add_ps, sub _mm512_sub_ps, mul _mm512_mul_ps, larger _mm512_max_ps,
    fused |a, b, c| _mm512_fmadd_ps(a, b, c),
    magnitude |x| _mm512_abs_ps(x),
    negate_if_odd |x, parity| {
        let sign = _mm512_slli_epi32::<31>(_mm512_castps_si512(parity));
        _mm512_xor_ps(x, _mm512_castsi512_ps(sign))
    },
);

vector!(
    F64x8(__m512d): [f64; 8],
    splat _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd, stream _mm512_stream_pd,
    add _mm512_add_pd, sub _mm512_sub_pd, mul _mm512_mul_pd, larger _mm512_max_pd,
    fused |a, b, c| _mm512_fmadd_pd(a, b, c),
    magnitude |x| _mm512_abs_pd(x),
    negate_if_odd |x, parity| {
        let sign = _mm512_slli_epi64::<63>(_mm512_castpd_si512(parity));
        _mm512_xor_pd(x, _mm512_castsi512_pd(sign))
    },
);
