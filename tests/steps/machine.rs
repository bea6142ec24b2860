//! Random lives of a shop against a reference in plain memory, compared after every step.
//!
//! A failure prints the shortest script that shows it, one transition a line, and its seed is kept.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::test_runner::{Config, FailurePersistence, FileFailurePersistence, TestCaseError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use tessera_testbed::Shop;
use tokio::runtime::Runtime;

mod catalogue;
mod transition;

mod model;
mod strategy;

mod checks;
mod shop;

use model::Model;
use shop::Machine;
use strategy::Reference;
use transition::{Act, File, Transition};

/// Transitions of one case: enough for three dozen orders.
const LENGTH: std::ops::RangeInclusive<usize> = 60..=120;

/// Cases of a run that says nothing else.
const CASES: u32 = 8;

/// Transitions between two proofs of every balance.
const RECONCILE_EVERY: u64 = 10;

/// Transitions between two lines on how far a long run is.
const TELL_EVERY: u64 = 10_000;

/// The most rounds of sweeping and delivering until a shop is quiet; each fills at least one order.
const ROUNDS_MAX: usize = 1_000;

/// How long a failing script is made shorter: some hundred transitions, each left out and each made smaller.
const SHRINKS_MAX: u32 = 4_096;
const SHRINK_MILLIS_MAX: u32 = 120_000;

/// Transitions done by this process, shrinking included.
static DONE: AtomicU64 = AtomicU64::new(0);

struct Running {
    runtime: Runtime,
    machine: Machine,
    steps: u64,
}

impl Running {
    fn step(&mut self, transition: &Transition, model: &Model) {
        self.steps += 1;
        let (machine, is_time) = (&mut self.machine, self.steps.is_multiple_of(RECONCILE_EVERY));
        self.runtime.block_on(async {
            machine.act(&transition.act, transition.fault, model).await;
            machine.compare(model).await;
            if is_time {
                machine.reconcile(model).await;
            }
        });
    }

    /// One more transition, of nobody's script.
    fn also(&mut self, act: Act, model: Model) -> Model {
        let transition = Transition { act, fault: None };
        let model = model.after(&transition);
        self.step(&transition, &model);
        model
    }
}

struct Shops;

impl StateMachineTest for Shops {
    type SystemUnderTest = Running;
    type Reference = Reference;

    fn init_test(_: &Model) -> Running {
        let (runtime, before) = match SPARE.take() {
            Some((runtime, shop)) => (runtime, Some(shop)),
            None => (tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(), None),
        };
        let machine = runtime.block_on(Machine::begin(before));
        Running { runtime, machine, steps: 0 }
    }

    fn apply(mut running: Running, model: &Model, transition: Transition) -> Running {
        running.step(&transition, model);
        tell(DONE.fetch_add(1, Ordering::Relaxed) + 1);
        running
    }

    /// Sweeps and delivers until nothing moves: then every paid order that can be filled has its codes.
    fn teardown(mut running: Running, mut model: Model) {
        // Clears away what a refused import left behind.
        model = running.also(Act::Import(File { article: 0, fresh: 1, again: None }), model);
        for _ in 0..ROUNDS_MAX {
            let before = model.progress();
            model = running.also(Act::Wait(61), model);
            model = running.also(Act::Sweep, model);
            model = running.also(Act::Deliver, model);
            if model.progress() == before {
                break;
            }
        }
        model.assert_nobody_is_forgotten();
        let Running { runtime, machine, .. } = running;
        runtime.block_on(machine.reconcile(&model));
        SPARE.set(Some((runtime, machine.shop)));
    }
}

#[expect(clippy::print_stderr, reason = "a run of hours says how far it is")]
fn tell(done: u64) {
    if done.is_multiple_of(TELL_EVERY) && steps_wanted().is_some() {
        eprintln!("{done} transitions done");
    }
}

/// How many transitions `MACHINE_STEPS` asks for.
#[expect(clippy::disallowed_methods, reason = "how long a run is to be, the caller's environment says")]
fn steps_wanted() -> Option<u32> {
    let steps = std::env::var("MACHINE_STEPS").ok()?;
    Some(steps.parse().unwrap_or_else(|_| panic!("MACHINE_STEPS is a number of transitions, not `{steps}`")))
}

fn config() -> Config {
    let (least, most) = (u32::try_from(*LENGTH.start()).unwrap(), u32::try_from(*LENGTH.end()).unwrap());
    let cases = steps_wanted().map_or(CASES, |steps| steps.div_ceil(u32::midpoint(least, most)));
    let kept = FileFailurePersistence::Direct("proptest-regressions/machine.txt");
    let (max_shrink_iters, max_shrink_time) = (SHRINKS_MAX, SHRINK_MILLIS_MAX);
    let failure_persistence: Option<Box<dyn FailurePersistence>> = Some(Box::new(kept));
    Config { cases, failure_persistence, max_shrink_iters, max_shrink_time, ..Config::default() }
}

thread_local! {
    /// The shop of the case before, if that was a good one: emptying it is cheaper than opening another.
    static SPARE: Cell<Option<(Runtime, Shop)>> = const { Cell::new(None) };
    static IN_SCRIPT: Cell<bool> = const { Cell::new(false) };
}

/// A script that is being made shorter fails hundreds of times; the last says why, with the script.
fn quiet_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !IN_SCRIPT.get() {
            usual(info);
        }
    }));
}

#[test]
fn whatever_is_done_the_shop_does_as_the_reference() {
    quiet_panics();
    let config = config();
    let mut runner = TestRunner::new(config.clone());
    let scripts = Reference::sequential_strategy(LENGTH);
    let result = runner.run(&scripts, |(model, script, seen)| {
        IN_SCRIPT.set(true);
        Shops::test_sequential(config.clone(), model, script, seen);
        Ok::<(), TestCaseError>(())
    });
    IN_SCRIPT.set(false);
    if let Some((runtime, shop)) = SPARE.take() {
        runtime.block_on(shop.close());
    }
    if let Err(failure) = result {
        panic!("{failure}\n{runner}");
    }
}
