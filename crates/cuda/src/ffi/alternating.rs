//! Pairs of workspaces for kernels that need a cleared one.

/// Two workspaces: each launch uses one, which is all zero, and clears the other for the next launch.
pub(crate) struct Alternating<W> {
    both: [W; 2],
    next: usize,
}

impl<W> Alternating<W> {
    /// Takes two workspaces. The first launch uses the first.
    pub(crate) fn new(both: [W; 2]) -> Self {
        Alternating { both, next: 0 }
    }

    /// Returns the workspace that a launch uses and the one that it clears, and counts the launch.
    pub(crate) fn take(&mut self) -> [&mut W; 2] {
        let [zero, one] = &mut self.both;
        let taken = if self.next == 0 { [zero, one] } else { [one, zero] };
        self.next = 1 - self.next;
        taken
    }

    /// Returns the workspace that the last launch used.
    pub(crate) fn last(&self) -> &W {
        &self.both[1 - self.next]
    }
}

#[cfg(test)]
mod tests {
    use super::Alternating;

    #[test]
    fn a_launch_uses_what_the_one_before_cleared() {
        let mut pair = Alternating::new([0, 1]);
        assert_eq!(pair.take(), [&mut 0, &mut 1]);
        assert_eq!(*pair.last(), 0);
        assert_eq!(pair.take(), [&mut 1, &mut 0]);
        assert_eq!(*pair.last(), 1);
        assert_eq!(pair.take(), [&mut 0, &mut 1]);
    }
}
