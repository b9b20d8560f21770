//! Parses lists of sizes: `100,500`, `100..2000:x2`, `64..1024:+64`.

use anyhow::{Context, Result, bail, ensure};

/// Maximum number of sizes; a longer list is a typing error.
const MAX_SIZES: u64 = 1_000_000;

/// Parses a comma-separated list of whole numbers and ranges into ascending sizes, each once, at least 1.
pub fn parse(text: &str) -> Result<Vec<u64>> {
    let mut sizes = Vec::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        match item.split_once("..") {
            Some((first, rest)) => add_range(&mut sizes, item, first, rest)?,
            None => sizes.push(size(item)?),
        }
        ensure!(
            sizes.len() as u64 <= MAX_SIZES,
            "more than {MAX_SIZES} sizes: name fewer, or use a larger step"
        );
    }
    ensure!(
        !sizes.is_empty(),
        "give at least one size: write sizes such as 100,1000 or a range such as 64..4096:x2"
    );
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

fn size(text: &str) -> Result<u64> {
    let text = text.trim();
    ensure!(
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
        "size '{text}' is not a whole number, 1 or more: write sizes such as 100,1000 or a range such as 64..4096:x2"
    );
    let size = text.parse().with_context(|| format!("size {text} is too large for any memory"))?;
    ensure!(size >= 1, "size 0 has nothing to measure: sizes start at 1");
    Ok(size)
}

/// Appends the sizes of a range `FIRST..LAST:STEP`; the last one belongs to it if the steps reach it.
fn add_range(sizes: &mut Vec<u64>, item: &str, first: &str, rest: &str) -> Result<()> {
    let (last, step) = rest.split_once(':').map_or((rest, None), |(last, step)| (last, Some(step)));
    let (first, last) = (size(first)?, size(last)?);
    ensure!(first <= last, "range '{item}' is reversed: write the smaller end first");
    let Some(step) = step else {
        bail!("range '{item}' has no step: write {item}:x2 to double or {item}:+64 to add 64");
    };
    let (factor, addend) = parse_step(item, step.trim())?;
    // A factor at least doubles, so that there are 64 sizes at most.
    let count = (last - first).checked_div(addend).map_or(1, |steps| steps + 1);
    ensure!(count <= MAX_SIZES, "range '{item}' has {count} sizes, more than {MAX_SIZES}: use a larger step");
    let mut size = Some(first);
    while let Some(present) = size.filter(|size| *size <= last) {
        sizes.push(present);
        size = present.checked_mul(factor).and_then(|size| size.checked_add(addend));
    }
    Ok(())
}

/// Returns the factor and the addend that lead from each size of a range to the next.
fn parse_step(item: &str, text: &str) -> Result<(u64, u64)> {
    let number = |digits: &str| digits.trim().parse::<u64>().ok();
    match (text.strip_prefix(['x', '*']).map(number), text.strip_prefix('+').map(number)) {
        (Some(Some(factor)), _) if factor >= 2 => Ok((factor, 0)),
        (Some(Some(_)), _) => bail!("range '{item}' never ends: the factor after x must be at least 2"),
        (_, Some(Some(step))) if step >= 1 => Ok((1, step)),
        (_, Some(Some(_))) => bail!("range '{item}' never ends: the step after + must be at least 1"),
        _ => bail!("step '{text}' of range '{item}' is not understood: write x2 to double or +64 to add 64"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_sorted_and_lose_duplicates_and_spaces() {
        assert_eq!(parse("1000, 100 ,100").ok(), Some(vec![100, 1000]));
        assert_eq!(parse("1").ok(), Some(vec![1]));
        assert_eq!(parse("7,").ok(), Some(vec![7]));
    }

    #[test]
    fn ranges_include_both_ends_when_the_step_hits_them() {
        assert_eq!(parse("100..2000:x2").ok(), Some(vec![100, 200, 400, 800, 1600]));
        assert_eq!(parse("100..1600:x2").ok(), Some(vec![100, 200, 400, 800, 1600]));
        assert_eq!(parse("64..256:+64").ok(), Some(vec![64, 128, 192, 256]));
        assert_eq!(parse("5..5:+1, 3 .. 4 : +1").ok(), Some(vec![3, 4, 5]));
        assert_eq!(parse("1..18446744073709551615:x4").map(|sizes| sizes.len()).ok(), Some(32));
    }

    #[test]
    fn every_wrong_list_says_what_is_wrong_with_it() {
        for (text, expected) in [
            ("0", "sizes start at 1"),
            ("-5", "'-5' is not a whole number, 1 or more"),
            ("ten", "'ten' is not a whole number"),
            ("10.5", "'10.5' is not a whole number"),
            ("99999999999999999999", "too large"),
            ("1..10:x1", "never ends"),
            ("1..10:+0", "never ends"),
            ("10..1", "is reversed"),
            ("1..10", "has no step"),
            ("1..10:2", "is not understood"),
            ("..10:x2", "'' is not a whole number"),
            ("1..10000000:+1", "more than 1000000"),
            ("1..999999:+1,2000000..2999999:+1", "more than 1000000"),
            ("", "give at least one size"),
        ] {
            let message = parse(text).map_or_else(|e| e.to_string(), |sizes| format!("accepted: {sizes:?}"));
            assert!(message.contains(expected), "{text}: {message}");
            assert!(!message.contains('\n'), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_sorted_unique_and_positive(text in prop_oneof![".{0,40}", "[0-9x+:., -]{0,20}"]) {
            if let Ok(sizes) = parse(&text) {
                prop_assert!(!sizes.is_empty() && sizes[0] >= 1);
                prop_assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }

        #[test]
        fn a_range_holds_what_counting_holds(first in 1u64..500, length in 0u64..500, step in 1u64..50) {
            let last = first + length;
            let expected: Vec<u64> = (first..=last).step_by(step as usize).collect();
            prop_assert_eq!(parse(&format!("{first}..{last}:+{step}")).ok(), Some(expected));
        }
    }
}
