//! What a worker does from its start to its end: one order after the other.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use armilla_script::wire::{Notice, Order};

use crate::arena::Exhausted;
use crate::channel::{Channel, Over};
use crate::code::CodeCache;
use crate::confine;
use crate::execute;
use crate::functions::Functions;
use crate::host::Given;
use crate::kind::Kind;
use crate::warm::WarmPool;

/// Runs this process as a worker: orders come from standard input, notices go to standard output.
pub fn main() -> ExitCode {
    let pipes = || -> std::io::Result<(PipeReader, PipeWriter)> {
        let input = std::io::stdin().as_fd().try_clone_to_owned()?;
        let output = std::io::stdout().as_fd().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    };
    let Ok((input, output)) = pipes() else { return ExitCode::FAILURE };
    if confine::confine().is_err() {
        return ExitCode::FAILURE;
    }
    work(Channel::new(input, output), Exhausted::EndProcess);
    ExitCode::SUCCESS
}

/// Does the same in a thread of another process, without any of the walls. For tests.
pub fn serve(input: PipeReader, output: PipeWriter) {
    work(Channel::new(input, output), Exhausted::ReturnNull);
}

fn work(channel: Channel, exhausted: Exhausted) {
    let mut worker =
        Worker { warm: WarmPool::new(channel.clone(), exhausted), code: CodeCache::default(), channel };
    // The end of the input is the end of the worker.
    let Err(Over) = worker.work();
}

struct Worker {
    warm: WarmPool,
    code: CodeCache,
    channel: Channel,
}

/// What an order asks for, without what is borrowed from its frame.
enum Task {
    Run(execute::Task),
    Functions,
    Nothing,
    Wrong,
}

impl Worker {
    fn work(&mut self) -> Result<std::convert::Infallible, Over> {
        // Made ahead, so that the first script finds it.
        self.warm.prepare(Kind::Procedure);
        self.channel.send(&Notice::Ready)?;
        loop {
            let task = self.channel.receive(|order| match order {
                Order::Run { program, role, keeps_log, window, self_link, alt_link } => {
                    let given = Given::new(&role, keeps_log, window, self_link, alt_link);
                    Task::Run(execute::Task::new(program, &role, given))
                }
                Order::Functions => Task::Functions,
                // It came too late.
                Order::Stop => Task::Nothing,
                Order::Add { .. }
                | Order::Call { .. }
                | Order::Close
                | Order::Body(_)
                | Order::Reply(_)
                | Order::Replied { .. } => Task::Wrong,
            })?;
            match task {
                Task::Run(task) => execute::execute(&mut self.warm, &mut self.code, &self.channel, task)?,
                Task::Functions => Functions::serve(&mut self.warm, &mut self.code, &self.channel)?,
                Task::Nothing => {}
                Task::Wrong => return Err(Over),
            }
        }
    }
}
