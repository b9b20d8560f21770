//! The table of the phases around the timed one, for the best variants of each case that run on a GPU.

use crate::table::{Column, Field, Table};
use gpubench_analysis::answer::{Kind, Names, Section, sections};
use gpubench_report::measure::stats::median;
use gpubench_report::report::quantity::{bytes_text, time_text};
use gpubench_report::report::{Phases, Report, Row};
use gpubench_report::{HostMemory, Transfer};

use super::host_memories;

/// The phases of each case's best variants on a GPU; `None` where no row has them.
pub fn phases(report: &Report) -> Option<Table> {
    let names = Names::of(report);
    let sections = sections(report);
    let mut found = vec![];
    for section in &sections {
        for comparison in &section.comparisons {
            let bests = comparison.bests().into_iter().flatten();
            let phases = bests.filter_map(|row| Some((row, row.phases.as_ref()?)));
            let copied = phases.filter(|(_, phases)| phases.upload.is_some());
            found.extend(copied.map(|(row, phases)| (section, comparison.n, row, phases)));
        }
    }
    let memory = host_memories(found.iter().map(|(_, _, row, _)| *row), &[Kind::EndToEnd]).join(" or ");
    let has_pinned = found.iter().any(|(.., phases)| phases.pinned.is_some());
    let mut columns = vec![Column::words("case"), Column::figures("N"), Column::words("variant")];
    columns.extend(["compile", "from cache", "plan"].map(Column::figures));
    columns.extend(copy_columns("upload", &memory, has_pinned));
    columns.extend(["first call", "execute"].map(Column::figures));
    columns.extend(copy_columns("download", &memory, has_pinned));
    columns.push(Column::figures("device memory"));
    let time = |seconds: Option<f64>| seconds.map_or("-".into(), time_text);
    let row = |(section, n, row, phases): (&Section<'_>, u64, &Row, &Phases)| -> Vec<Field> {
        let (compile, pinned) = (phases.compile.unwrap_or_default(), phases.pinned.as_ref());
        let mut texts = vec![format!("{} {}, {}", section.op, section.dtype, section.cache)];
        texts.extend([n.to_string(), names.name(row)]);
        texts.extend([time(compile.cold_s), time(compile.cached_s), time(phases.plan_s)]);
        texts.push(copied(phases.upload.as_ref()));
        texts.extend(has_pinned.then(|| copied(pinned.map(|pinned| &pinned.upload))));
        texts.extend([time(Some(phases.first_s)), time(row.median_s())]);
        texts.push(copied(phases.download.as_ref()));
        texts.extend(has_pinned.then(|| copied(pinned.map(|pinned| &pinned.download))));
        texts.push(phases.peak_device_bytes.map_or("-".into(), bytes_text));
        texts.into_iter().map(Field::from).collect()
    };
    let rows: Vec<Vec<Field>> = found.into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Table::new("Phases", columns, rows))
}

fn copy_columns(way: &str, memory: &str, has_pinned: bool) -> impl Iterator<Item = Column> {
    let memories = [Some(memory), has_pinned.then_some(HostMemory::Pinned.name())];
    memories.into_iter().flatten().map(move |memory| Column::figures(format!("{way}, {memory}")))
}

/// `60.0 MiB in 1.20 ms`, by the host's clock.
fn copied(transfer: Option<&Transfer>) -> String {
    let found = transfer.and_then(|transfer| Some((transfer.bytes, median(&transfer.host_s)?)));
    found.map_or("-".into(), |(bytes, seconds)| format!("{} in {}", bytes_text(bytes), time_text(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn the_best_gpu_variant_of_each_case_has_its_phases() {
        let table = phases(&example::full()).unwrap().fields_text();
        let expected = "| matmul f32, cold | 100 | cublas | 210 ms | 1.20 ms | 4.00 ms | 78.1 KiB in 31.0 µs | 30.0 ms | 12.4 µs | 39.1 KiB in 31.0 µs | 117 KiB |\n";
        assert!(table.contains(expected), "{table}");
        assert_eq!(table.lines().count(), 1 + 2);
        assert!(table.contains("| upload, pageable |") && !table.contains("pinned"), "{table}");
    }

    #[test]
    fn copies_with_pinned_memory_have_columns_of_their_own() {
        let table = phases(&example::with_pinned(example::full(), 10.0)).unwrap().fields_text();
        let [up, down] = ["upload", "download"].map(|way| format!("| {way}, pageable | {way}, pinned |"));
        assert!(table.contains(&up) && table.contains(&down), "{table}");
        assert!(table.contains("| 78.1 KiB in 31.0 µs | 78.1 KiB in 3.10 µs |"), "{table}");
    }
}
