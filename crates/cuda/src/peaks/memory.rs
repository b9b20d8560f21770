//! Measures the bandwidth of device memory: read, copy and triad.

use std::time::Instant;

use gpubench_backend::Peaks;

use super::super::ffi::launch::BLOCK;
use super::super::ffi::map::Map;
use super::super::timing::Timer;
use super::{SOURCE, uniform};
use crate::{CellError, Cuda, Result};

/// The access patterns of `kernels/measure/peaks.cu` with grid-stride loops.
const PATTERNS: [&str; 4] = ["plain_4", "plain_8", "streaming_1", "streaming_4"];
/// Bytes of each of the three arrays, if memory allows.
const MAX_BYTES: u64 = 2 << 30;
/// Minimum size of an array, in multiples of the L2 cache.
const MIN_L2_SIZES: u64 = 4;
/// Assumed bytes of the L2 cache if the driver does not report them.
const UNKNOWN_CACHE: u64 = 128 << 20;
/// An array takes at most this fraction (1/8) of free memory.
const SHARE_OF_FREE: u64 = 8;
/// Seconds of reading that bring the clocks up.
const WARM_UP_S: f64 = 0.05;
/// Seconds of measurement per access pattern.
const SECONDS: f64 = 0.02;
/// Executions between two events, which makes the timer overhead negligible.
const EXECUTIONS: u32 = 4;
/// Minimum number of event readings.
const READINGS: u32 = 3;

/// Returns the bytes of each array, a multiple of 16, or `None` when too little memory is free to exceed the cache.
fn bytes_each(cache: u64, free: u64) -> Option<u64> {
    let each = MAX_BYTES.max(MIN_L2_SIZES * cache).min(free / SHARE_OF_FREE) / 16 * 16;
    (each > 0 && each >= MIN_L2_SIZES * cache).then_some(each)
}

/// Measures read, copy and triad, each by its fastest access pattern. Copies also try the driver's copy.
pub(crate) fn rates(cuda: &Cuda, timer: &Timer) -> Result<Peaks> {
    let cache = cuda.l2_bytes().map(|bytes| bytes as u64);
    let free = u64::try_from(cuda.free_bytes()?).unwrap_or(u64::MAX);
    let bytes = bytes_each(cache.unwrap_or(UNKNOWN_CACHE), free).ok_or_else(|| {
        CellError::Failed("too little device memory is free: the arrays must exceed the L2 cache".into())
    })?;
    cuda.reserve(3 * u128::from(bytes))?;
    let len = usize::try_from(bytes / 4).unwrap_or(0);
    let (mut a, b, c) = (
        uniform::<f32>(cuda, "fill_f32", len)?,
        uniform::<f32>(cuda, "fill_f32", len)?,
        uniform::<f32>(cuda, "fill_f32", len)?,
    );
    let bytes = bytes as f64;
    let stream = &cuda.stream;
    let one = |kind: &str, pattern: &str| {
        Map::<f32, f32, 1>::load(cuda, &SOURCE, &format!("{kind}_{pattern}"), len)
    };

    let warm = one("read", PATTERNS[0])?;
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < WARM_UP_S {
        warm.run(stream, [&b], &mut a)?;
        cuda.synchronize()?;
    }
    let (mut read_s, mut copy_s, mut triad_s) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for pattern in PATTERNS {
        let read = one("read", pattern)?;
        read_s = read_s.min(min_s(timer, &mut || read.run(stream, [&b], &mut a))?);
        let copy = one("copy", pattern)?;
        copy_s = copy_s.min(min_s(timer, &mut || copy.run(stream, [&b], &mut a))?);
        let triad = Map::<f32, f32, 2>::load(cuda, &SOURCE, &format!("triad_{pattern}"), len)?;
        triad_s = triad_s.min(min_s(timer, &mut || triad.run(stream, [&b, &c], &mut a))?);
    }
    copy_s = copy_s.min(min_s(timer, &mut || cuda.copy(&b, &mut a))?);
    let tile = (BLOCK, 4 * BLOCK as usize);
    let copy = Map::<f32, f32, 1>::tiled(cuda, &SOURCE, "copy_once", len, tile)?;
    copy_s = copy_s.min(min_s(timer, &mut || copy.run(stream, [&b], &mut a))?);
    let triad = Map::<f32, f32, 2>::tiled(cuda, &SOURCE, "triad_once", len, tile)?;
    triad_s = triad_s.min(min_s(timer, &mut || triad.run(stream, [&b, &c], &mut a))?);
    Ok(Peaks {
        read: Some(bytes / read_s),
        copy: Some(2.0 * bytes / copy_s),
        triad: Some(3.0 * bytes / triad_s),
        ..Peaks::default()
    })
}

/// Returns the minimum seconds of one execution. A first execution is not counted.
fn min_s(timer: &Timer, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    work()?;
    let begun = Instant::now();
    let (mut min_span_s, mut readings) = (f64::INFINITY, 0);
    while readings < READINGS || begun.elapsed().as_secs_f64() < SECONDS {
        let span_s = timer.span_s(&mut || (0..EXECUTIONS).try_for_each(|_| work()))?;
        min_span_s = min_span_s.min(span_s / f64::from(EXECUTIONS));
        readings += 1;
    }
    Ok(min_span_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_exceed_the_cache_or_there_are_none() {
        let gib = 1 << 30;
        assert_eq!(bytes_each(60 << 20, 139 * gib), Some(2 * gib));
        assert_eq!(bytes_each(60 << 20, 10 * gib), Some(10 * gib / 8));
        assert_eq!(bytes_each(60 << 20, gib), None);
        assert_eq!(bytes_each(0, 0), None);
        assert_eq!(bytes_each(1 << 30, 139 * gib), Some(4 * gib));
        assert_eq!(bytes_each(4 << 20, gib + 100).map(|bytes| bytes % 16), Some(0));
    }
}
