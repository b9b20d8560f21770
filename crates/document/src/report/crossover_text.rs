//! Writes crossovers as text, for tables and for sentences.

use gpubench_report::measure::stats::significant_digits;

use gpubench_analysis::answer::crossover::{Crossover, Place, Stretch};
use gpubench_analysis::answer::{Contender, Versus};

/// A size with the digits that its interval supports and one more, from 2 to 4: `310`, `1450`.
pub fn size_text(size: f64, interval: [Place; 2]) -> String {
    let digits = match interval {
        [Place::At(low), Place::At(high)] if high > low => {
            (significant_digits(size, (high - low) / 2.0) + 1).clamp(2, 4)
        }
        [Place::At(_), Place::At(_)] => 4,
        _ => 3,
    };
    let places = digits as i32 - 1 - size.max(1.0).log10().floor() as i32;
    let unit = 10f64.powi(places.min(0));
    format!("{:.0}", (size * unit).round() / unit)
}

/// `290 to 335`; `None` without a crossover, or where the interval is a point.
pub fn interval_text(found: &Crossover<'_>) -> Option<String> {
    let (Some(Place::At(_)), [Place::At(low), Place::At(high)]) = (found.from, found.interval) else {
        return None;
    };
    let [low, high] = [low, high].map(|end| size_text(end, found.interval));
    (low != high).then(|| format!("{low} to {high}"))
}

/// The crossover for a table: `310 (290 to 335)`, `100 or less`, `not up to 2048`, `at most 187`, or `not measurable`.
pub fn crossover_text(found: &Crossover<'_>) -> String {
    let place = place_text(found);
    match interval_text(found) {
        Some(interval) => format!("{place} ({interval})"),
        None => place,
    }
}

/// The crossover in a column of the table of sweeps: `~312`, `≤ 100` (faster at every size), `none`, `some`, the range of an
/// unknown one (`100–187`, or `1330–?` without an end), or `?`. A `+` says that B is also faster at some smaller sizes.
pub(crate) fn short(found: &Crossover<'_>) -> String {
    let size = |size| size_text(size, found.interval);
    let place = match (found.from, found.interval) {
        (Some(Place::Below), _) => format!("≤ {}", found.smallest),
        (Some(Place::Beyond), _) if found.is_mixed() => "some".into(),
        (Some(Place::Beyond), _) => "none".into(),
        (Some(Place::At(at)), _) => format!("~{}", size(at)),
        (None, [_, Place::At(max)]) => format!("{}–{}", found.smallest, size(max)),
        (None, [Place::At(min), _]) => format!("{}–?", size(min)),
        (None, _) => "?".into(),
    };
    let has_plus = found.is_mixed() && !matches!(found.from, Some(Place::Below | Place::Beyond));
    let plus = if has_plus { "+" } else { "" };
    let mark = if found.is_unreliable && place != "?" { "!" } else { "" };
    format!("{place}{plus}{mark}")
}

/// The crossover without its interval, with a `!` where it comes from unreliable times.
fn place_text(found: &Crossover<'_>) -> String {
    let place = match found.from {
        Some(Place::Below) => format!("{} or less", found.smallest),
        Some(Place::At(size)) => size_text(size, found.interval),
        Some(Place::Beyond) => format!("not up to {}", found.largest),
        None => match found.interval {
            [_, Place::At(max)] => format!("at most {}", size_text(max, found.interval)),
            [Place::At(min), _] => format!("at least {}", size_text(min, found.interval)),
            _ => "not measurable".into(),
        },
    };
    if found.is_unreliable { place + "!" } else { place }
}

/// `the GPU is faster from N = 310 (290 to 335)`, or the faster contender per range of sizes.
pub fn crossover_clause(found: &Crossover<'_>, versus: Versus<'_>) -> String {
    let clause = clause(found, versus);
    if found.is_unreliable { clause + " (unreliable)" } else { clause }
}

fn clause(found: &Crossover<'_>, versus: Versus<'_>) -> String {
    let [a, b] = Contender::BOTH.map(|one| versus.noun(one));
    let stretches_text = |stretches: &[Stretch]| stretches_text(stretches, versus);
    if found.smallest == found.largest {
        return format!("{}, the only size", stretches_text(&found.stretches));
    }
    match (found.from, ranges_below(found)) {
        (Some(Place::At(size)), also) => {
            let size_text = size_text(size, found.interval);
            let interval = interval_text(found).map(|interval| format!(" ({interval})")).unwrap_or_default();
            let also = also.map(|also| format!(", and {also}")).unwrap_or_default();
            let end = if let Place::At(end) = found.interval[1] { end } else { size };
            let unlike =
                |stretch: &&Stretch| stretch.first as f64 > end && stretch.winner != Some(Contender::B);
            let above: Vec<Stretch> = found.stretches.iter().filter(unlike).copied().collect();
            let but = if above.is_empty() { String::new() } else { format!("; {}", stretches_text(&above)) };
            format!("{b} is faster from N = {size_text}{interval}{also}{but}")
        }
        (Some(Place::Beyond), Some(also)) => {
            format!("{a} is faster at N = {}, {b} only {also}", found.largest)
        }
        _ => match &found.stretches[..] {
            [Stretch { first, last, winner: Some(winner) }] => {
                format!("{} is faster at every size from {first} to {last}", versus.noun(*winner))
            }
            [Stretch { first, last, winner: None }] => {
                format!("{} is measurably faster at any size from {first} to {last}", neither(versus))
            }
            several => stretches_text(several),
        },
    }
}

/// `the CPU is faster from N = 50 to 100; neither side is measurably faster at N = 200`.
fn stretches_text(stretches: &[Stretch], versus: Versus<'_>) -> String {
    let text = |Stretch { first, last, winner }: &Stretch| {
        let sizes = match first == last {
            true => format!("at N = {first}"),
            false => format!("from N = {first} to {last}"),
        };
        match winner {
            Some(winner) => format!("{} is faster {sizes}", versus.noun(*winner)),
            None => format!("{} is measurably faster {sizes}", neither(versus)),
        }
    };
    stretches.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// `neither side`, or `neither` where the contenders have names.
pub(crate) fn neither(versus: Versus<'_>) -> &'static str {
    if versus.is_named() { "neither" } else { "neither side" }
}

/// The ranges below the crossover in which B is faster: `up to 200 and from 450 to 700`.
pub fn ranges_below(found: &Crossover<'_>) -> Option<String> {
    let mut begins: Option<f64> = None;
    let mut ranges = vec![];
    for (size, above) in &found.changes {
        match (above, begins.take()) {
            (Contender::B, _) => begins = Some(*size),
            (Contender::A, Some(from)) => ranges.push(format!("from {from:.0} to {size:.0}")),
            (Contender::A, None) => ranges.push(format!("up to {size:.0}")),
        }
    }
    (!ranges.is_empty()).then(|| ranges.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::answer::Kind;
    use gpubench_report::case::Family;

    fn found(
        from: Option<Place>,
        interval: [Place; 2],
        stretches: &[(u64, u64, Option<Contender>)],
    ) -> Crossover<'static> {
        let changes = if let Some(Place::At(size)) = from { vec![(size, Contender::B)] } else { vec![] };
        let stretch = |&(first, last, winner): &(u64, u64, _)| Stretch { first, last, winner };
        Crossover {
            family: Family::default(),
            kind: Kind::Resident,
            smallest: 100,
            largest: 2048,
            from,
            interval,
            changes,
            stretches: stretches.iter().map(stretch).collect(),
            is_unreliable: false,
        }
    }

    #[test]
    fn a_crossover_of_unreliable_times_is_marked() {
        let mut found = found(Some(Place::Below), [Place::Below; 2], &[(100, 2048, GPU)]);
        found.is_unreliable = true;
        let expected = ["100 or less!", "the GPU is faster at every size from 100 to 2048 (unreliable)"];
        assert_eq!(shown(&found), expected);
    }

    const CPU: Option<Contender> = Some(Contender::A);
    const GPU: Option<Contender> = Some(Contender::B);

    #[test]
    fn sizes_have_the_digits_that_their_interval_allows() {
        let at = |[low, high]: [f64; 2]| [low, high].map(Place::At);
        for (size, interval, expected) in [
            (312.4, at([290.3, 334.9]), "310"),
            (312.4, at([312.1, 312.9]), "312"),
            (1448.2, at([1447.0, 1449.0]), "1448"),
            (1448.2, at([1300.0, 1700.0]), "1400"),
            (1448.2, at([1400.0, 1490.0]), "1450"),
            (31.24, [Place::Below, Place::At(400.0)], "31"),
            (3.4, at([3.4, 3.4]), "3"),
        ] {
            assert_eq!(size_text(size, interval), expected);
        }
    }

    fn words(found: &Crossover<'_>) -> String {
        crossover_clause(found, Versus::SIDES)
    }

    fn shown(found: &Crossover<'_>) -> [String; 2] {
        [crossover_text(found), words(found)]
    }

    #[test]
    fn crossovers_are_stated_in_words() {
        let at = Place::At;
        let both = [(100, 200, CPU), (500, 2048, GPU)];
        assert_eq!(
            shown(&found(Some(at(312.0)), [at(291.0), at(336.0)], &both)),
            ["310 (290 to 340)", "the GPU is faster from N = 310 (290 to 340)"]
        );
        assert_eq!(
            shown(&found(Some(Place::Below), [Place::Below; 2], &[(100, 2048, GPU)])),
            ["100 or less", "the GPU is faster at every size from 100 to 2048"]
        );
        assert_eq!(
            shown(&found(Some(Place::Beyond), [Place::Beyond; 2], &[(100, 2048, CPU)])),
            ["not up to 2048", "the CPU is faster at every size from 100 to 2048"]
        );
        let open_above = [(100, 200, CPU), (320, 320, None), (500, 1000, GPU), (2048, 2048, None)];
        assert_eq!(
            words(&found(Some(at(312.0)), [at(291.0), at(336.0)], &open_above)),
            "the GPU is faster from N = 310 (290 to 340); neither side is measurably faster at N = 2048"
        );
        let mut small_only =
            found(Some(Place::Beyond), [Place::Beyond; 2], &[(100, 200, GPU), (500, 2048, CPU)]);
        small_only.changes = vec![(500.4, Contender::A)];
        assert_eq!(words(&small_only), "the CPU is faster at N = 2048, the GPU only up to 500");
    }

    #[test]
    fn without_a_crossover_the_words_name_the_faster_side_per_range() {
        let (low, high) = (Place::Below, Place::Beyond);
        assert_eq!(
            shown(&found(None, [low, high], &[(100, 2048, None)])),
            ["not measurable", "neither side is measurably faster at any size from 100 to 2048"]
        );
        assert_eq!(
            shown(&found(None, [low, Place::At(187.3)], &[(100, 100, None), (200, 2048, GPU)])),
            [
                "at most 187",
                "neither side is measurably faster at N = 100; the GPU is faster from N = 200 to 2048"
            ]
        );
        assert_eq!(crossover_text(&found(None, [Place::At(120.0), high], &[])), "at least 120");
        let mut one = found(None, [low, high], &[(100, 100, None)]);
        one.largest = 100;
        assert_eq!(words(&one), "neither side is measurably faster at N = 100, the only size");
    }
}
