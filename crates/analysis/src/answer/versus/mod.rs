//! The two contenders of the answer: the best of the CPU and of the GPU, or what `--versus A:B` names.

use gpubench_report::report::machine::machine_of;
use gpubench_report::report::{Report, Row};
use gpubench_report::{Origin, Side};
use gpubench_text::glob::glob;
use gpubench_text::grouped::distinct;

/// Key of a report's settings that holds the contenders.
pub(crate) const KEY: &str = "versus";

/// The text for the CPU's side against the GPU's.
const SIDES: &str = "sides";

/// The text for the sides with gpubench's tuned code.
const TUNED: &str = "tuned";

/// Characters of a name for which tables and charts have room.
const MAX_LABEL: usize = 12;

/// One of the two contenders. A speed-up is the time of A over the time of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The first: the CPU's side unless `--versus` names another.
    A,
    /// The second: the GPU's side unless `--versus` names another.
    B,
}

impl Contender {
    /// Both, in the order of `--versus`.
    pub const BOTH: [Contender; 2] = [Contender::A, Contender::B];

    /// Returns the contender that it is compared with.
    pub fn other(self) -> Contender {
        match self {
            Contender::A => Contender::B,
            Contender::B => Contender::A,
        }
    }
}

/// The rows among which the best represents a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContenderRows<'a> {
    /// The rows of every backend of a side: without tuned code, those that a reader can call, of origin `library` or `plain`.
    Side { side: Side, has_tuned: bool },
    /// The rows of backends, or of variants as `backend/variant`, separated by commas; `*` and `?` are wildcards.
    Named(&'a str),
}

impl<'a> ContenderRows<'a> {
    fn items(self) -> impl Iterator<Item = &'a str> {
        let list = if let ContenderRows::Named(list) = self { list } else { "" };
        list.split(',').map(str::trim).filter(|item| !item.is_empty())
    }

    /// Returns whether a row may represent it. A variant that is named in full may have reduced precision or fewer threads.
    fn has(self, row: &Row) -> bool {
        match self {
            ContenderRows::Side { .. } => row.is_headline() && self.has_on_any_threads(row),
            ContenderRows::Named(_) => self.items().any(|item| {
                let is_one_variant = item.contains('/') && !item.contains(['*', '?']);
                is_of(item, &row.backend, &row.variant) && (row.is_headline() || is_one_variant)
            }),
        }
    }

    fn has_on_any_threads(self, row: &Row) -> bool {
        match self {
            ContenderRows::Side { side, has_tuned } => {
                row.side == side && row.is_whole() && (has_tuned || row.origin() != Origin::Tuned)
            }
            ContenderRows::Named(_) => self.has(row),
        }
    }
}

/// Returns whether an item of a selection names the variant or its backend.
fn is_of(item: &str, backend: &str, variant: &str) -> bool {
    match item.split_once('/') {
        Some((of_backend, of_variant)) => glob(of_backend, backend) && glob(of_variant, variant),
        None => glob(item, backend),
    }
}

/// The contenders of a report's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versus<'a>([ContenderRows<'a>; 2]);

impl<'a> Versus<'a> {
    /// The CPU's side against the GPU's.
    pub const SIDES: Versus<'static> = Versus::both_sides(false);

    /// The CPU's side against the GPU's, with gpubench's tuned code on both.
    pub const TUNED: Versus<'static> = Versus::both_sides(true);

    const fn both_sides(has_tuned: bool) -> Versus<'static> {
        let [a, b] = [Side::Cpu, Side::Gpu];
        Versus([ContenderRows::Side { side: a, has_tuned }, ContenderRows::Side { side: b, has_tuned }])
    }

    /// Returns the contenders in a report's settings; without these, its [sides](Self::sides_of).
    pub fn of(report: &'a Report) -> Versus<'a> {
        let text = report.environment.settings.get(KEY).and_then(|value| value.as_str());
        text.and_then(|text| Versus::parse(text).ok()).unwrap_or_else(|| Versus::sides_of(report))
    }

    /// Returns the two sides; with tuned code where one has times of that alone, as in reports of earlier versions.
    pub fn sides_of(report: &Report) -> Versus<'static> {
        let has_times = |versus: Versus<'_>, one| {
            report.rows.iter().any(|row| row.execute.is_some() && versus.has(one, row))
        };
        let is_tuned_alone = |one| !has_times(Versus::SIDES, one) && has_times(Versus::TUNED, one);
        if Contender::BOTH.into_iter().any(is_tuned_alone) { Versus::TUNED } else { Versus::SIDES }
    }

    /// Parses `A:B`, `sides`, or `tuned`.
    ///
    /// # Errors
    /// The text has another form, or both contenders are the same; in one line that says what to write.
    pub fn parse(text: &'a str) -> Result<Versus<'a>, String> {
        match text {
            SIDES => return Ok(Versus::SIDES),
            TUNED => return Ok(Versus::TUNED),
            _ => {}
        }
        let example =
            "write A:B with the names of backends or backend/variant, such as numpy:cupy or cpu,numpy:cuda";
        let pair = text.split_once(':').filter(|(_, b)| !b.contains(':'));
        let (a, b) = pair.ok_or_else(|| format!("'{text}' does not name two contenders: {example}"))?;
        let found = Versus([ContenderRows::Named(a), ContenderRows::Named(b)]);
        let [mut items, mut others] = found.0.map(|one| distinct(one.items()));
        if items.is_empty() || others.is_empty() {
            return Err(format!("'{text}' leaves a contender empty: {example}"));
        }
        items.sort_unstable();
        others.sort_unstable();
        if items == others {
            return Err(format!(
                "'{text}' compares {a} with itself: name another backend or variant after the colon"
            ));
        }
        Ok(found)
    }

    /// Checks that each name of the contenders is one of these backends and variants.
    ///
    /// # Errors
    /// A name is unknown; in one line that lists those there are.
    pub fn check<'n>(self, known: impl Iterator<Item = (&'n str, &'n str)>) -> Result<(), String> {
        let known: Vec<(&str, &str)> = distinct(known);
        let unknown = |item: &&str| !known.iter().any(|(backend, variant)| is_of(item, backend, variant));
        let Some(item) = self.0.into_iter().flat_map(ContenderRows::items).find(unknown) else {
            return Ok(());
        };
        let of_backend = item.split_once('/').map_or("", |(backend, _)| backend);
        let variants = known.iter().filter(|(backend, _)| *backend == of_backend);
        let variants: Vec<String> = variants.map(|(backend, name)| format!("{backend}/{name}")).collect();
        let backends = distinct(known.iter().map(|(backend, _)| (*backend).to_owned()));
        let names = if variants.is_empty() { backends } else { variants };
        Err(format!("there are no cells of '{item}': name one of {}", names.join(", ")))
    }

    fn selection(self, contender: Contender) -> ContenderRows<'a> {
        self.0[contender as usize]
    }

    /// Returns whether a row may represent a contender, once it is measured.
    pub fn has(self, contender: Contender, row: &Row) -> bool {
        self.selection(contender).has(row)
    }

    /// Returns whether a row may represent a contender but for its number of threads.
    pub fn has_on_any_threads(self, contender: Contender, row: &Row) -> bool {
        self.selection(contender).has_on_any_threads(row)
    }

    /// Returns whether gpubench's tuned code takes part on both sides.
    pub fn is_tuned(self) -> bool {
        self == Versus::TUNED
    }

    /// Returns whether a row is of a contender, whether it may represent it or not; every row is of the CPU or the GPU.
    pub fn covers(self, row: &Row) -> bool {
        let covers = |item| is_of(item, &row.backend, &row.variant);
        !self.is_named() || self.0.into_iter().flat_map(ContenderRows::items).any(covers)
    }

    /// Returns whether `--versus` names the contenders.
    pub fn is_named(self) -> bool {
        matches!(self.0[0], ContenderRows::Named(_))
    }

    /// Returns the contender's name in tables and charts: `GPU`, `cupy`; `others`, `A` or `B` for one without room there.
    pub fn label(self, contender: Contender) -> &'a str {
        let is_short = |one| self.name(one).chars().count() <= MAX_LABEL;
        match contender {
            _ if is_short(contender) => self.name(contender),
            _ if is_short(contender.other()) => "others",
            Contender::A => "A",
            Contender::B => "B",
        }
    }

    /// Returns the contender's whole name: `GPU`, `cupy`, `cpu,numpy,torch-cpu`.
    pub fn name(self, contender: Contender) -> &'a str {
        match self.selection(contender) {
            ContenderRows::Side { side, .. } => side.label(),
            ContenderRows::Named(list) => list,
        }
    }

    /// Returns the name with the label where that is another: `cupy`, `A (cpu,numpy,torch-cpu)`.
    pub fn label_and_name(self, contender: Contender) -> String {
        let (label, name) = (self.label(contender), self.name(contender));
        if label == name { name.to_owned() } else { format!("{label} ({name})") }
    }

    /// Returns the contender's name in sentences: `the GPU`, `cupy`.
    pub fn noun(self, contender: Contender) -> String {
        match self.selection(contender) {
            ContenderRows::Side { side, .. } => format!("the {}", side.label()),
            ContenderRows::Named(list) => list.to_owned(),
        }
    }

    /// Returns the contender's key in JSON: `cpu` and `gpu`, or `a` and `b` where `--versus` names them.
    pub fn key(self, contender: Contender) -> &'static str {
        match (self.selection(contender), contender) {
            (ContenderRows::Side { side, .. }, _) => side.name(),
            (ContenderRows::Named(_), Contender::A) => "a",
            (ContenderRows::Named(_), Contender::B) => "b",
        }
    }

    /// Returns `NVIDIA H200`, or `cupy on NVIDIA H200` where `--versus` has the name; `None` without rows or a named device.
    pub fn machine(self, report: &Report, contender: Contender) -> Option<String> {
        let machine = self.device(report, contender);
        match self.selection(contender) {
            ContenderRows::Side { .. } => machine,
            ContenderRows::Named(_) => {
                let name = self.label_and_name(contender);
                let is_there = report.rows.iter().any(|row| self.has(contender, row));
                machine.map(|machine| format!("{name} on {machine}")).or(is_there.then_some(name))
            }
        }
    }

    /// Returns the machine of a contender without its name: the device, or the host's CPU with the threads in use.
    pub fn device(self, report: &Report, contender: Contender) -> Option<String> {
        machine_of(report, |row| match self.selection(contender) {
            ContenderRows::Side { side, .. } => row.side == side,
            ContenderRows::Named(_) => self.has(contender, row),
        })
    }

    /// Returns both machines: `NVIDIA H200 against Intel Xeon, 16 threads`, `cupy against cuda on NVIDIA H200`.
    pub fn machines(self, report: &Report) -> Option<String> {
        let [a, b] = Contender::BOTH.map(|one| self.device(report, one));
        if self.is_named()
            && a == b
            && let Some(machine) = a
        {
            let [a, b] = Contender::BOTH.map(|one| self.label_and_name(one));
            return Some(format!("{b} against {a} on {machine}"));
        }
        let [a, b] = Contender::BOTH.map(|one| self.machine(report, one));
        Some(format!("{} against {}", b?, a?))
    }
}

#[cfg(test)]
mod tests;
