//! Writes a report as Markdown.

use gpubench_document::report::parts;
use gpubench_report::format::Makes;

use super::Format;
use crate::markdown;

pub(crate) static MARKDOWN: Format = Format {
    name: "md",
    summary: "the answer and the tables as Markdown, with environment and method",
    by_default: true,
    makes: Makes::Text("report.md", |report, view| {
        Ok(markdown::document(&parts::document(report, view.all_variants)))
    }),
};

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::Finding;
    use gpubench_report::report::{Report, example};

    fn text(report: &Report) -> String {
        MARKDOWN.text(report, &super::super::View::default()).unwrap()
    }

    #[test]
    fn the_environment_shows_timer_overhead_checks_and_device_state() {
        let mut report = example::full();
        let execute = report.rows[1].execute.as_mut().unwrap();
        (execute.discarded, execute.throttled, execute.sm_mhz[3]) = (3, 2, 1755.0);
        execute.conditions[1][0].throttle = vec!["sw_power_cap".into()];
        report.environment.build_profile = Some("debug".into());
        let text = text(&report);
        for line in [
            "- gpubench: 0.1.0, debug build\n",
            "- Frequency governor: performance\n- Simultaneous multithreading: on\n- NUMA nodes: 1\n",
            "- CPU quota: 15.5 CPUs\n- Transparent huge pages: madvise\n- Last-level caches: 105 MiB\n- Load when the run started: 0.40\n",
            "- Clock of the multiprocessors around samples: 1755–1980 MHz\n",
            "- Temperature of the device: 41 °C\n",
            "- Throttled samples: 3 discarded, 2 kept, of 27\n",
            "- Reasons for throttling: sw\\_power\\_cap\n",
            "| cpu | 21.0 ns | - | - | - | 510 µs | 520 µs |\n| cuda | 1.40 µs | 2.70 µs | 6.10 µs | 1.50 µs | - | - |\n",
            "| cuda | 10.00 µs | 11.52 µs | 10.02 µs |\n| cuda | 1.000 ms | 1.002 ms | 1.000 ms |\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn arguments_and_paths_stay_on_their_lines() {
        let mut report = example::full();
        report.environment.argv.push("a\n# b `c`".into());
        let path = Some("/lib\n# d `e`".into());
        let library =
            Finding { name: "BLAS".into(), path, version: None, serves: vec![], problem: None, fix: None };
        report.environment.backends[0].libraries.push(library);
        let text = text(&report);
        assert!(text.contains("- command: `gpubench run a\\n# b 'c'`\n"), "{text}");
        assert!(text.contains("| BLAS | - | /lib # d \\`e\\` |\n"), "{text}");
    }
}
