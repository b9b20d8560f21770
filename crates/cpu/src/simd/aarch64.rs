//! Vectors of NEON. Its stores past the caches are only hints, which the compiler does not offer.

use std::arch::aarch64::*;

use super::number::vector;

/// NEON, which every AArch64 CPU has.
pub(super) struct Neon;

impl super::Instructions for Neon {
    const FEW_REGISTERS: bool = false;
    type F32 = F32x4;
    type F64 = F64x2;
}

vector!(
    F32x4(float32x4_t): [f32; 4],
    splat vdupq_n_f32, load vld1q_f32, store vst1q_f32, stream vst1q_f32,
    add vaddq_f32, sub vsubq_f32, mul vmulq_f32, larger vmaxnmq_f32,
    fused |a, b, c| vfmaq_f32(c, a, b),
    magnitude |x| vabsq_f32(x),
    negate_if_odd |x, parity| {
        let sign = vshlq_n_u32::<31>(vreinterpretq_u32_f32(parity));
        vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(x), sign))
    },
);

vector!(
    F64x2(float64x2_t): [f64; 2],
    splat vdupq_n_f64, load vld1q_f64, store vst1q_f64, stream vst1q_f64,
    add vaddq_f64, sub vsubq_f64, mul vmulq_f64, larger vmaxnmq_f64,
    fused |a, b, c| vfmaq_f64(c, a, b),
    magnitude |x| vabsq_f64(x),
    negate_if_odd |x, parity| {
        let sign = vshlq_n_u64::<63>(vreinterpretq_u64_f64(parity));
        vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(x), sign))
    },
);
