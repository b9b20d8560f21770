//! One block after another: each cell is prepared and checked in its first turn, all are sampled in rounds, and what
//! the budget leaves is spent on the widest.

use std::ops::Range;
use std::time::Instant;

use gpubench_answer::peak_share;
use gpubench_model::measure::stopping::{Reason, Rule};
use gpubench_model::report::{Outcome, Report, Row};

use super::budget;
use super::course::Course;
use super::inputs::Inputs;
use super::journal::Journal;
use super::visit::{Interrupted, Visit};
use super::workers::Workers;
use super::{PlannedCell, Run, advice, order};
use crate::observe::Observer;

pub(crate) struct Rounds<'a> {
    run: &'a Run,
    start: Instant,
    visits: Visit<'a>,
    journal: Journal,
    budget_s: Option<f64>,
    /// Whether times are simulated, so that the budget is meant in simulated seconds.
    simulated: bool,
    /// Seconds of sampling in blocks that are over.
    sampled_s: f64,
    /// Cells of the plan that have not had their block yet.
    left: usize,
    wide: Vec<advice::Wide>,
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(
        run: &'a Run,
        observer: &'a mut dyn Observer,
        start: Instant,
        workers: Workers,
        journal: Journal,
    ) -> Self {
        let is_simulated = |name: &str| run.registry.find(name).is_some_and(|found| found.simulated);
        Rounds {
            run,
            start,
            visits: Visit { workers, observer, inputs: Inputs::default(), limit: run.cell_timeout },
            journal,
            budget_s: run.budget_s.map(|all_s| budget::of_plan(all_s, run.refine)),
            simulated: run.cells.iter().all(|planned| is_simulated(&planned.cell.backend)),
            sampled_s: 0.0,
            left: run.cells.len(),
            wide: vec![],
        }
    }

    /// Runs the cells at these positions of `cells`: those of the plan, then those that refinement added. Whether the
    /// user has ended the run meanwhile.
    pub(crate) fn run(&mut self, cells: &[PlannedCell], block: Range<usize>) -> anyhow::Result<bool> {
        let course = |at: usize| {
            let mut course = Course::new(at, &cells[at], self.run.cell_timeout);
            course.row.added_by_refinement = at >= self.run.cells.len();
            course
        };
        let mut courses: Vec<Course<'_>> = block.clone().map(course).collect();
        // The load of a machine does not disturb what it only simulates.
        for course in courses.iter_mut().filter(|_| !self.simulated) {
            course.series.load = self.journal.load();
        }
        match self.steps(&mut courses, cells, &block) {
            Err(error) if error.is::<Interrupted>() => {
                courses.iter().for_each(|course| self.enter(course));
                return Ok(true);
            }
            done => done?,
        }
        self.sampled_s += sampled_s(&courses);
        self.left -= block.len();
        self.wide.extend(courses.iter().filter_map(advice::Wide::of));
        Ok(false)
    }

    pub(crate) fn report(&self) -> &Report {
        self.journal.report()
    }

    /// Makes ready for `added` more cells, `total` in all, which may spend one of `passes` equal parts of what is left of a
    /// budget.
    pub(crate) fn extend(&mut self, added: usize, total: usize, passes: usize) {
        self.journal.plan(added);
        (self.left, self.budget_s) = (passes * added, self.run.budget_s);
        self.visits.observer.cells_added(total);
    }

    /// Seconds that the cell of this row took, by the clock that the budget is meant in.
    pub(crate) fn cost_s(&self, row: &Row) -> f64 {
        let sampled_s = row.execute.as_ref().map_or(0.0, |execute| execute.spent_s);
        let around = row.phases.as_ref().filter(|_| !self.simulated);
        sampled_s + around.map_or(0.0, |p| p.inputs_s + p.prepare_s + p.first_s + p.download_s + p.check_s)
    }

    /// Ends the workers, saves the report for the last time, and hands it over with the number of finished cells.
    pub(crate) fn finish(mut self) -> anyhow::Result<(usize, Report)> {
        self.visits.observer.run_finished();
        let took = self.spent_s(&[]);
        let budget = self.run.budget_s.map(|asked| [asked, took]);
        let states = self.visits.workers.end();
        let thread_speeds = states.iter().find_map(|state| state.timer_overhead.as_ref()?.thread_speeds);
        let machine = advice::Machine { load: self.journal.load(), thread_speeds };
        self.journal.advise(advice::of_run(&self.wide, budget, machine));
        let finished = self.journal.finished();
        Ok((finished, self.journal.finish(states)?))
    }

    /// Takes every step of a block; an error is [`Interrupted`], or that the report cannot be saved.
    fn steps(
        &mut self,
        courses: &mut [Course<'_>],
        cells: &[PlannedCell],
        block: &Range<usize>,
    ) -> anyhow::Result<()> {
        let begin_s = self.spent_s(courses);
        let end_s =
            self.budget_s.map(|all_s| begin_s + budget::share(all_s, begin_s, block.len(), self.left));
        let rounds = courses.iter().map(|course| course.planned.sampling.rounds).max().unwrap_or(0);
        let mut turns = courses.len() * rounds as usize;
        for round in 0..rounds {
            for position in order::of_round(cells, block.clone(), self.run.seed, round) {
                let left_s = end_s.map_or(f64::INFINITY, |end| (end - self.spent_s(courses)).max(0.0));
                let cap_s = left_s / turns as f64 * f64::from(rounds);
                self.turn(courses, position - block.start, round, cap_s)?;
                turns -= 1;
            }
        }
        if let Some(end_s) = end_s {
            self.spend(courses, rounds, end_s)?;
        }
        courses.iter_mut().try_for_each(|course| self.conclude(course))
    }

    /// One cell's part of one round. Its last part ends it, unless a budget may bring it more.
    fn turn(&mut self, courses: &mut [Course<'_>], at: usize, round: u32, cap_s: f64) -> anyhow::Result<()> {
        let Course { planned, series, .. } = &courses[at];
        if courses[at].has_ended() || series.stopped.is_some() || round >= planned.sampling.rounds {
            return Ok(());
        }
        self.visits.observer.cell_started(&planned.cell, Some(round));
        let rule = budget::base(planned.rule(), cap_s);
        self.sample(courses, at, &rule, round)?;
        if courses[at].has_ended() {
            return self.finished(&courses[at]);
        }
        let stopped = courses[at].series.stopped;
        if stopped.is_none() || (self.budget_s.is_some() && stopped == Some(Reason::OutOfTime)) {
            return self.save_samples(&courses[at]);
        }
        self.conclude(&mut courses[at])
    }

    /// Gives extra rounds to the cells with the widest intervals until `end_s`.
    fn spend(&mut self, courses: &mut [Course<'_>], rounds: u32, end_s: f64) -> anyhow::Result<()> {
        let mut round = rounds;
        while self.spent_s(courses) < end_s {
            let Some(at) = budget::widest(courses) else { break };
            let course = &mut courses[at];
            self.visits.observer.cell_started(&course.planned.cell, Some(round));
            let rule = budget::extra(course.planned, course.series.spent_s);
            course.series.stopped = None;
            self.sample(courses, at, &rule, round)?;
            match courses[at].has_ended() {
                true => self.finished(&courses[at])?,
                false => self.save_samples(&courses[at])?,
            }
            round += 1;
        }
        Ok(())
    }

    /// Samples a cell, which is prepared first where its worker was lost or had to let it go.
    fn sample(
        &mut self,
        courses: &mut [Course<'_>],
        at: usize,
        rule: &Rule,
        round: u32,
    ) -> Result<(), Interrupted> {
        self.prepare(courses, at)?;
        self.visits.sample(&mut courses[at], rule, round)
    }

    /// Prepares a cell; where memory is short, once more after every other job has been let go.
    fn prepare(&mut self, courses: &mut [Course<'_>], at: usize) -> Result<(), Interrupted> {
        let visit = &mut self.visits;
        let mut short = visit.prepare(&mut courses[at])?;
        // Workers share the memory of the host, so the jobs of every worker count.
        if short.is_some() && courses.iter().any(|course| visit.holds(course)) {
            courses.iter_mut().try_for_each(|course| visit.release(course))?;
            short = visit.prepare(&mut courses[at])?;
        }
        if let Some(short) = short {
            courses[at].skip(short);
        }
        Ok(())
    }

    fn conclude(&mut self, course: &mut Course<'_>) -> anyhow::Result<()> {
        if course.has_ended() {
            return Ok(());
        }
        self.visits.verify(course)?;
        self.visits.release(course)?;
        course.conclude();
        self.refuse_impossible(course);
        self.finished(course)
    }

    /// Takes the time of a cell for an error where it is less than this machine's peaks allow.
    fn refuse_impossible(&self, course: &mut Course<'_>) {
        let peaks = self.visits.workers.peaks(&course.worker);
        if let Some(reason) = peaks.and_then(|peaks| peak_share::impossible(peaks, &course.row)) {
            course.close(Outcome::Incorrect, reason, None);
        }
    }

    /// Saves the row of a cell that has ended.
    fn finished(&mut self, course: &Course<'_>) -> anyhow::Result<()> {
        self.journal.enter(course.position, course.row.clone());
        self.journal.save_soon(|| self.visits.workers.states())?;
        self.visits.observer.cell_finished(&course.row);
        Ok(())
    }

    /// Saves what a cell has so far, so that a run that is killed has lost no round.
    fn save_samples(&mut self, course: &Course<'_>) -> anyhow::Result<()> {
        self.enter(course);
        self.journal.save_soon(|| self.visits.workers.states())
    }

    /// Enters the row of a cell as it would be if the run ended now, where there is one.
    fn enter(&mut self, course: &Course<'_>) {
        if let Some(row) = course.snapshot() {
            self.journal.enter(course.position, row);
        }
    }

    /// Seconds the run has taken, by the clock that the budget is meant in.
    pub(crate) fn spent_s(&self, courses: &[Course<'_>]) -> f64 {
        match self.simulated {
            true => self.sampled_s + sampled_s(courses),
            false => self.start.elapsed().as_secs_f64(),
        }
    }
}

fn sampled_s(courses: &[Course<'_>]) -> f64 {
    courses.iter().map(|course| course.series.spent_s).sum()
}
