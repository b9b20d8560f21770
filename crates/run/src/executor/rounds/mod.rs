//! Runs one block after another: prepares and checks each cell in its first turn, and samples all cells in rounds.

mod race;
mod refine;
pub(super) mod screen;

pub use refine::{NextSize, NextSizes, PASSES};

use std::collections::HashMap;
use std::time::Instant;

use gpubench_backend::external::judge_of_ops;
use gpubench_backend::host::{environment, memory};
use gpubench_ops::peak_share;
use gpubench_report::measure::stopping::Rule;
use gpubench_report::report::quantity::time_text;
use gpubench_report::report::{Execute, Outcome, Report, variables};

use super::cell_run::CellRun;
use super::cell_session::CellSession;
use super::judge::AnswerJudge;
use super::report_writer::ReportWriter;
use super::workers::{Interrupted, Workers};
use super::{PlannedCell, RunSpec, advice, block, order};
use crate::observe::Observer;

pub(crate) struct Rounds<'a> {
    run: &'a RunSpec,
    start: Instant,
    session: CellSession<'a>,
    writer: ReportWriter,
    /// True if times are simulated; the limit of refinement then counts simulated seconds.
    simulated: bool,
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(
        run: &'a RunSpec,
        observer: &'a mut dyn Observer,
        start: Instant,
        workers: Workers,
        writer: ReportWriter,
    ) -> Self {
        Rounds {
            run,
            start,
            session: CellSession {
                workers,
                observer,
                inputs: HashMap::new(),
                judge: AnswerJudge::new(judge_of_ops(&run.externals), run.options.files.clone()),
                earlier: run.earlier.as_ref(),
                limit: run.cell_timeout,
                sampled_s: 0.0,
            },
            writer,
            simulated: run.is_simulated(),
        }
    }

    /// Runs the cells of the plan, and those that narrow crossovers.
    pub(crate) fn run(&mut self) -> Result<(), Interrupted> {
        self.run_cells(&self.run.cells, 0)?;
        self.refine()
    }

    /// Runs cells block by block; `first` is the position of the first one.
    fn run_cells(&mut self, cells: &[PlannedCell], first: usize) -> Result<(), Interrupted> {
        let cell_runs = cells.iter().zip(first..).map(|(planned, position)| self.cell_run(planned, position));
        for mut block in block::blocks(cell_runs.collect(), memory::free_host_bytes()) {
            block.iter().for_each(|cell_run| self.record(cell_run));
            let steps = self.steps(&mut block);
            steps.inspect_err(|_| block.iter().for_each(|cell_run| self.record(cell_run)))?;
        }
        Ok(())
    }

    /// Returns the run of a cell, which has ended if an earlier start of the run has finished it.
    fn cell_run<'c>(&self, planned: &'c PlannedCell, position: usize) -> CellRun<'c> {
        let earlier = self.run.earlier.as_ref();
        let mut cell_run = match earlier.and_then(|earlier| earlier.finished(&planned.cell)) {
            Some(row) => CellRun::resumed(position, planned, row.clone()),
            None => CellRun::new(position, planned, self.run.cell_timeout),
        };
        cell_run.row.added_by_refinement = position >= self.run.cells.len();
        // Other programs and a quota do not affect simulated times.
        if !self.simulated {
            cell_run.series.other_programs = self.writer.report.environment.other_programs;
            cell_run.series.quota = self.writer.quota.clone();
        }
        cell_run
    }

    /// Ends the workers and saves the report for the last time. Returns it, and the error if it could not be saved.
    pub(crate) fn finish(mut self) -> (Report, Option<anyhow::Error>) {
        self.session.observer.run_finished();
        let states = self.session.workers.end();
        let thread_speeds = states.iter().find_map(|state| state.timer_overhead.as_ref()?.thread_speeds);
        let other_programs = self.writer.report.environment.other_programs;
        if !self.simulated {
            let quota = self.writer.quota.as_ref().and_then(|watch| Some((watch.cpus, watch.pauses()?)));
            let set = environment::set_variables().filter(|(_, value)| !variables::is_off(value));
            let (names, environment) = (set.map(|(name, _)| name), &self.writer.report.environment);
            self.writer.advise(advice::of_environment(environment, names, &states, quota));
        }
        self.writer.advise(advice::of_run(other_programs, thread_speeds));
        for state in &states {
            let vectors = state.description["simd"].as_str().unwrap_or_default();
            self.writer.advise(advice::slow_kernels(&state.libraries, vectors));
        }
        self.writer.finish(states)
    }

    fn steps(&mut self, cell_runs: &mut [CellRun<'_>]) -> Result<(), Interrupted> {
        let rounds = cell_runs.iter().map(|cell_run| cell_run.planned.sampling.rounds).max().unwrap_or(0);
        for round in 0..rounds {
            for mut group in order::of_round(cell_runs, self.run.seed, round) {
                if round == 0 {
                    self.screen(&mut group)?;
                }
                for cell_run in group {
                    self.check_ending()?;
                    self.turn(cell_run, round)?;
                }
            }
        }
        cell_runs.iter_mut().try_for_each(|cell_run| self.conclude(cell_run))
    }

    /// Runs one cell's turn in one round. The last turn ends the cell. If the user asks to stop meanwhile, the cell's other
    /// rounds follow immediately.
    fn turn(&mut self, cell_run: &mut CellRun<'_>, round: u32) -> Result<(), Interrupted> {
        let rounds = cell_run.planned.sampling.rounds;
        if cell_run.has_ended() || cell_run.series.stopped.is_some() || round >= rounds {
            return Ok(());
        }
        self.session.observer.cell_started(&cell_run.planned.cell, Some(round));
        let rule = cell_run.planned.rule();
        self.sample(cell_run, &rule, round)?;
        for later in round + 1..rounds {
            if self.is_ending() && cell_run.series.stopped.is_none() {
                self.sample(cell_run, &rule, later)?;
            }
        }
        if cell_run.has_ended() {
            self.finished(cell_run);
        } else if cell_run.series.stopped.is_none() && !self.is_ending() {
            // So that a killed run loses no round.
            self.record(cell_run);
            self.save_soon();
        } else {
            self.conclude(cell_run)?;
        }
        Ok(())
    }

    /// Returns whether the user has asked to stop, so that no other cell gets a turn.
    fn is_ending(&self) -> bool {
        self.session.workers.stop().is_asked()
    }

    fn check_ending(&self) -> Result<(), Interrupted> {
        if self.is_ending() { Err(Interrupted) } else { Ok(()) }
    }

    /// Samples a cell, and prepares it first if its worker was lost or released it.
    fn sample(&mut self, cell_run: &mut CellRun<'_>, rule: &Rule, round: u32) -> Result<(), Interrupted> {
        self.session.prepare(cell_run)?;
        self.session.sample(cell_run, rule, round)
    }

    fn conclude(&mut self, cell_run: &mut CellRun<'_>) -> Result<(), Interrupted> {
        if cell_run.has_ended() {
            return Ok(());
        }
        self.session.verify(cell_run)?;
        self.session.release(cell_run)?;
        cell_run.conclude();
        self.refuse_impossible(cell_run);
        self.finished(cell_run);
        Ok(())
    }

    /// Marks a cell as incorrect if it is faster than the machine's peaks allow.
    fn refuse_impossible(&self, cell_run: &mut CellRun<'_>) {
        let peaks = self.session.workers.peaks(&cell_run.worker, cell_run.planned.variant.side);
        if let Some(found) = peaks.and_then(|peaks| peak_share::impossible(peaks, &cell_run.row)) {
            let median = cell_run.row.execute.as_ref().map(Execute::median_text).unwrap_or_default();
            let reason = format!(
                "its median of {median} is shorter than the {} that {} takes at this machine's peak, so the time cannot be \
                 right; measure the peaks again (GPUBENCH_PEAK_CACHE=off), or report the variant",
                time_text(found.min_s),
                found.work
            );
            cell_run.close(Outcome::Incorrect, reason, None);
        }
    }

    fn finished(&mut self, cell_run: &CellRun<'_>) {
        let CellSession { workers, observer, .. } = &mut self.session;
        self.writer.record_finished(cell_run.position, cell_run.row.clone(), workers.states(), *observer);
        self.save_soon();
        self.session.observer.cell_finished(&cell_run.row);
    }

    fn save_soon(&mut self) {
        let CellSession { workers, observer, .. } = &mut self.session;
        self.writer.save_soon(|| workers.states(), *observer);
    }

    /// Records the row of a cell as it would be if the run ended now, if there is one.
    fn record(&mut self, cell_run: &CellRun<'_>) {
        if let Some(row) = cell_run.snapshot() {
            self.writer.record(cell_run.position, row);
        }
    }

    /// Returns the seconds the run has taken; simulated ones if times are simulated.
    fn spent_s(&self) -> f64 {
        match self.simulated {
            true => self.session.sampled_s,
            false => self.start.elapsed().as_secs_f64(),
        }
    }
}
