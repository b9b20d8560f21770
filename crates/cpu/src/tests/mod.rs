//! What every variant owes, whichever its op: tests of all of them.

mod cold;
mod dense;
mod judged;
