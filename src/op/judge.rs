//! Numerical pieces shared by the checks: float64 projections and norms.
