//! Bytes a second that the device reads, copies and adds within its memory. Knows no library.

use std::time::Instant;

use gpubench_backend::Peaks;
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::super::ffi::launch::{BLOCK, Map};
use super::super::timing::Timer;
use super::{SOURCE, uniform};

/// The ways of `kernels/peaks.cu` whose threads go round.
const WAYS: [&str; 4] = ["plain_4", "plain_8", "streaming_1", "streaming_4"];
/// Bytes of each of the three arrays where memory allows it.
const MOST: u64 = 2 << 30;
/// How many times the L2 cache an array has at least.
const CACHES: u64 = 4;
/// Bytes of the L2 cache where the driver does not tell.
const UNKNOWN_CACHE: u64 = 128 << 20;
/// The share of free memory that an array may take, as a divisor.
const SHARE_OF_FREE: u64 = 8;
/// Seconds of reading after which the clocks have risen.
const WARM_UP_S: f64 = 0.05;
/// Seconds for each way.
const SECONDS: f64 = 0.02;
/// Executions between two events, so that what the events cost is little against them.
const EXECUTIONS: u32 = 4;
/// Readings of the events, at least.
const READINGS: u32 = 3;

/// Bytes of each array, a multiple of 16; `None` when there is too little memory to exceed the cache.
fn bytes_each(cache: u64, free: u64) -> Option<u64> {
    let each = MOST.max(CACHES * cache).min(free / SHARE_OF_FREE) / 16 * 16;
    (each > 0 && each >= CACHES * cache).then_some(each)
}

/// Reading, copying and the triad, each by its best way. Copies are the driver's too.
pub(crate) fn rates(cuda: &Cuda, timer: &Timer) -> Result<Peaks, CellError> {
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
    let one = |kind: &str, way: &str| Map::<f32, f32, 1>::load(cuda, &SOURCE, &format!("{kind}_{way}"), len);

    let warm = one("read", WAYS[0])?;
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < WARM_UP_S {
        warm.run(stream, [&b], &mut a)?;
        cuda.synchronize()?;
    }
    let (mut read_s, mut copy_s, mut triad_s) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for way in WAYS {
        let read = one("read", way)?;
        read_s = read_s.min(least_s(timer, &mut || read.run(stream, [&b], &mut a))?);
        let copy = one("copy", way)?;
        copy_s = copy_s.min(least_s(timer, &mut || copy.run(stream, [&b], &mut a))?);
        let triad = Map::<f32, f32, 2>::load(cuda, &SOURCE, &format!("triad_{way}"), len)?;
        triad_s = triad_s.min(least_s(timer, &mut || triad.run(stream, [&b, &c], &mut a))?);
    }
    copy_s = copy_s.min(least_s(timer, &mut || cuda.copy(&b, &mut a))?);
    let tile = (BLOCK, 4 * BLOCK as usize);
    let copy = Map::<f32, f32, 1>::tiled(cuda, &SOURCE, "copy_once", len, tile)?;
    copy_s = copy_s.min(least_s(timer, &mut || copy.run(stream, [&b], &mut a))?);
    let triad = Map::<f32, f32, 2>::tiled(cuda, &SOURCE, "triad_once", len, tile)?;
    triad_s = triad_s.min(least_s(timer, &mut || triad.run(stream, [&b, &c], &mut a))?);
    Ok(Peaks {
        read: Some(bytes / read_s),
        copy: Some(2.0 * bytes / copy_s),
        triad: Some(3.0 * bytes / triad_s),
        ..Peaks::default()
    })
}

/// The least seconds of one execution, after one that is not counted.
fn least_s(timer: &Timer, work: &mut dyn FnMut() -> Result<(), CellError>) -> Result<f64, CellError> {
    work()?;
    let begun = Instant::now();
    let (mut least, mut readings) = (f64::INFINITY, 0);
    while readings < READINGS || begun.elapsed().as_secs_f64() < SECONDS {
        let span_s = timer.span_s(&mut || (0..EXECUTIONS).try_for_each(|_| work()))?;
        least = least.min(span_s / f64::from(EXECUTIONS));
        readings += 1;
    }
    Ok(least)
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
