//! Charts as a whole: what they say, and that files and fragments are sound and repeatable.

use gpubench_model::Accuracy;
use gpubench_model::report::Row;
use gpubench_model::report::example::{self, empty, full, measured, peaks};
use gpubench_text::palette::{Rgb, Role, Tint};

use super::text_dump::text_dump;
use super::*;

/// Two ops at three sizes on a machine with peaks; the GPU wins at large sizes, one kind of speed-up after the other.
fn two_ops() -> Report {
    let mut report = empty();
    report.environment.backends[0].peaks = Some(peaks());
    report.environment.backends[1].peaks = Some(peaks());
    report.environment.backends[1].description["context_s"] = 0.15.into();
    for n in [100, 400, 1600] {
        let cube = (n as f64).powi(3);
        report.rows.extend([
            measured("matmul", n, "cpu", "openblas", 3e-12 * cube),
            measured("matmul", n, "cpu", "faer", 4e-12 * cube),
            measured("matmul", n, "cuda", "cublas", 4e-6 + 5e-14 * cube),
            Row {
                accuracy: Accuracy::Tf32,
                ..measured("matmul", n, "cuda", "cublas-tf32", 4e-6 + 1e-14 * cube)
            },
        ]);
    }
    for n in [100, 400, 1600] {
        let square = (n as f64).powi(2);
        let mut rows = [
            measured("reduction", n, "cpu", "rayon", 1e-6 + 2e-11 * square),
            measured("reduction", n, "cuda", "cub", 5e-6 + 1e-12 * square),
        ];
        for row in &mut rows {
            row.work = gpubench_ops::Work { flop: square, bytes: 4.0 * square };
        }
        report.rows.extend(rows);
    }
    report
}

/// Compares the text of every kind of chart with the stored one. When a change is meant, `GPUBENCH_BLESS=1 cargo test
/// charts_say` keeps the new text, which is then read before it is committed.
#[test]
fn charts_match_their_stored_texts() {
    let found = text_dump(&charts(&[("", &two_ops())]));
    if std::env::var_os("GPUBENCH_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/chart/testdata/charts.txt");
        std::fs::write(path, &found).unwrap();
    }
    let kept = include_str!("testdata/charts.txt");
    for (number, (found, kept)) in found.lines().zip(kept.lines()).enumerate() {
        assert_eq!(found, kept, "line {} of charts.txt", number + 1);
    }
    assert_eq!(found.lines().count(), kept.lines().count());
}

#[test]
fn one_report_has_every_kind_of_chart_and_several_share_those_against_size() {
    let report = two_ops();
    let names = |reports: &[(&str, &Report)]| {
        charts(reports).iter().map(|chart| chart.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let alone = "overview time-matmul-f32 speedup-matmul-f32 phases-matmul-f32 time-reduction-f32 \
                 speedup-reduction-f32 phases-reduction-f32 roofline-cpu-f32 roofline-cuda-f32";
    assert_eq!(names(&[("", &report)]), alone);
    assert!(alone.split(' ').all(is_name) && !is_name("overviews") && !is_name("report"));
    let shared = "time-matmul-f32 speedup-matmul-f32 time-reduction-f32 speedup-reduction-f32";
    assert_eq!(names(&[("before", &report), ("after", &report)]), shared);
}

#[test]
fn a_report_of_both_states_of_the_caches_has_charts_of_each() {
    let mut report = two_ops();
    let hot = report.rows.iter().map(|row| Row { cache: Cache::Hot, ..row.clone() });
    report.rows = report.rows.iter().cloned().chain(hot.collect::<Vec<_>>()).collect();
    let charts = charts(&[("", &report)]);
    for name in ["speedup-matmul-f32", "phases-matmul-f32", "roofline-cuda-f32"] {
        for cache in Cache::ALL {
            let name = format!("{name}-{cache}");
            assert!(charts.iter().any(|chart| chart.name() == name), "{name}");
        }
    }
    let Chart::Overview(overview) = &charts[0] else { panic!("{:?}", charts[0]) };
    let headings: Vec<&str> = overview.panels.iter().map(|panel| panel.heading.as_str()).collect();
    assert_eq!(headings[..2], ["matmul, cold cache", "matmul, hot cache"]);
}

#[test]
fn nothing_measured_makes_no_chart_and_one_side_no_speed_up() {
    assert!(charts(&[("", &empty())]).is_empty());
    let report = example::of([measured("fft", 8, "cpu", "realfft", 1e-6)]);
    assert_eq!(charts(&[("", &report)]).len(), 1);
}

#[test]
fn a_picture_decodes_at_the_right_size_is_not_blank_and_repeats_byte_for_byte() {
    let report = two_ops();
    let overview = &charts(&[("", &report)])[..1];
    for theme in Theme::ALL {
        let files = pictures(overview, &[Format::Png], theme).unwrap();
        let picture = ::image::load_from_memory(&files[0].bytes).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), SIZE);
        let (red, green, blue) = Role::Ink.rgb(theme);
        let near = |pixel: [u8; 3]| pixel.iter().zip([red, green, blue]).all(|(a, b)| a.abs_diff(b) < 0x40);
        let ink = picture.pixels().filter(|pixel| near(pixel.0)).count();
        assert!(ink > 2000, "{}: {ink} pixels of ink, so text is missing", theme.name());
        let ground = Role::Ground.rgb(theme);
        assert_eq!(picture.get_pixel(1, 1).0, [ground.0, ground.1, ground.2]);
        if theme == Theme::Dark {
            assert_eq!(files, pictures(overview, &[Format::Png], theme).unwrap());
        }
    }
}

#[test]
fn vectors_carry_their_font_their_text_and_repeat_byte_for_byte() {
    let report = two_ops();
    let first = files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap();
    assert_eq!(first.len(), 9);
    assert_eq!(first, files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap());
    assert_ne!(first, files(&[("", &report)], &[Format::Svg], Theme::Dark).unwrap());
    for file in &first {
        let text = std::str::from_utf8(&file.bytes).unwrap();
        assert!(text.starts_with("<svg width=\"1600\" height=\"1000\" viewBox=\"0 0 4800 3000\""));
        assert_eq!(text.matches("@font-face").count(), 2);
        assert!(text.contains("NVIDIA H200") && text.contains("2026-11-21"), "{}", file.name);
    }
    let text = std::str::from_utf8(&first[1].bytes).unwrap();
    for part in ["matmul, float32", "cublas", "openblas", "100 µs"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn fragments_are_the_charts_without_a_font_and_the_page_has_it_once() {
    let report = full();
    let fragments = svg_fragments(&report).unwrap();
    let files = files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap();
    assert_eq!(fragments.len(), files.len());
    for (fragment, file) in fragments.iter().zip(files) {
        assert_eq!(format!("{}.svg", fragment.name), file.name);
        let svg = fragment.svg.trim_end();
        assert!(svg.starts_with("<svg width=\"1600\"") && svg.ends_with("</svg>"));
        assert!(!fragment.svg.contains("@font-face") && !fragment.svg.contains("<style"));
        assert!(fragment.svg.contains(&fragment.title), "{}", fragment.name);
    }
    assert_eq!(font_faces().matches("@font-face").count(), 2);
}

/// A page shows the picture that a file shows in the same theme.
#[test]
fn fragments_with_the_colours_of_a_theme_are_the_files_of_that_theme() {
    let report = two_ops();
    let fragments = svg_fragments(&report).unwrap();
    for theme in Theme::ALL {
        let hex = |(red, green, blue): Rgb| format!("#{red:02X}{green:02X}{blue:02X}");
        let colored = |svg: &str| {
            let mut svg = svg.to_owned();
            for role in Role::ALL {
                svg = svg.replace(&format!("var(--{})", role.name()), &hex(role.rgb(theme)));
            }
            for tint in Tint::ALL {
                svg = svg.replace(&format!("var(--{})", tint.name), &tint.strength(theme).to_string());
            }
            svg
        };
        let files = files(&[("", &report)], &[Format::Svg], theme).unwrap();
        let mut mixtures = 0;
        for (fragment, file) in fragments.iter().zip(files) {
            let (ours, file) = (colored(&fragment.svg), String::from_utf8(file.bytes).unwrap());
            let style = file.find("<style>").unwrap()..file.find("</style>\n").unwrap() + "</style>\n".len();
            let file = file.replace(&file[style], "").replace(" opacity=\"1\"", "");
            assert_eq!(ours.matches('"').count(), file.matches('"').count(), "{}", fragment.name);
            for (ours, file) in ours.split('"').zip(file.split('"')) {
                let is_mixture = ours.starts_with("color-mix(") && file.starts_with('#');
                mixtures += usize::from(is_mixture);
                assert!(ours == file || is_mixture, "{}: {ours} and {file}", fragment.name);
            }
        }
        assert!(mixtures > 0, "fainter cells of rooflines");
    }
}

#[test]
fn figures_at_the_ends_of_float64_are_drawn() {
    for (cpu, gpu) in [(1e308, 1e308), (5e-324, 5e-324), (1e308, 1e-308), (1e-308, 1e308), (5e-324, 1.0)] {
        let mut report = two_ops();
        report.rows = example::both_sides("fft", 8, cpu, gpu).to_vec();
        assert!(!files(&[("", &report)], &[Format::Svg], Theme::Dark).unwrap().is_empty());
        for (flop, bytes) in [(1e308, 5e-324), (5e-324, 1e308), (f64::MAX, f64::MAX)] {
            report.rows.iter_mut().for_each(|row| row.work = gpubench_ops::Work { flop, bytes });
            files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap();
        }
    }
}
