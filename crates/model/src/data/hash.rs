//! Hashes names and keys to values that are the same on every machine and in every release of Rust.

/// FNV-1a (Fowler, Noll and Vo) of `bytes`, with a start that depends on `seed`; 0 gives the usual one.
pub fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xCBF2_9CE4_8422_2325 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bytes.iter().fold(start, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(fnv1a(0, b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(0, b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a(0, b"foobar"), 0x8594_4171_F739_67E8);
        assert_ne!(fnv1a(1, b"a"), fnv1a(0, b"a"));
    }
}
