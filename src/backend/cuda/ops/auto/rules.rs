//! Which variant is picked for which op; `docs/variants.md` tells why.

/// One rule. Of those about an op the first whose variant can do the case is followed.
#[derive(Debug)]
pub(super) struct Rule {
    /// The op that it is about.
    pub op: &'static str,
    /// The variant that it names.
    pub variant: &'static str,
}

const fn rule(op: &'static str, variant: &'static str) -> Rule {
    Rule { op, variant }
}

/// The rules, the first first.
pub(super) static RULES: &[Rule] = &[
    rule("matmul", "cublas"),
    rule("elementwise", "fused"),
    rule("reduction", "one-pass"),
    rule("fft", "r2c"),
    rule("solve", "potrf"),
    rule("spgemm", "cusparse"),
    rule("spmv", "cusparse"),
    rule("svd", "gesvdp"),
];
