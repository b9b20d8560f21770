//! Applies `--versus` to reports.

use anyhow::{Result, anyhow};

use crate::answer::Versus;
use crate::fleet::Member;
use crate::settings::options::Contenders;

/// Makes reports that are shown together compare the same contenders: those that `names` has; otherwise their own, or CPU
/// and GPU where the reports have different ones.
///
/// # Errors
/// A report has no times of a contender.
pub(crate) fn choose<'m>(
    members: impl IntoIterator<Item = &'m mut Member>,
    names: Option<&Contenders>,
) -> Result<()> {
    let mut members: Vec<&mut Member> = members.into_iter().collect();
    let several = members.len() > 1;
    if let Some(Contenders(names)) = names {
        for Member { name, report } in members {
            let origin = if several { format!("{name}: ") } else { String::new() };
            Versus::choose(report, names).map_err(|problem| anyhow!("--versus: {origin}{problem}"))?;
        }
    } else if members.windows(2).any(|pair| Versus::of(&pair[0].report) != Versus::of(&pair[1].report)) {
        members.iter_mut().for_each(|member| Versus::clear(&mut member.report));
    }
    Ok(())
}
