//! The walls around a worker: what the operating system refuses it from here on.
//!
//! Whatever a script makes of the interpreter, this process can compute, use a bounded amount of memory, and speak to
//! the server. The system refuses anything else it tries: refuses, and does not end it, because libraries and
//! allocators try one thing or the other that they can do without. Where there is no seccomp, which is everywhere but
//! on Linux, the limits of the process remain.

use armilla_script::limits::WORKER_MEMORY_BYTES_MAX;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::interpreter;

/// Why a worker cannot shut itself in. It must not serve then.
#[derive(Debug)]
pub(crate) struct NotConfined;

impl From<rustix::io::Errno> for NotConfined {
    fn from(_: rustix::io::Errno) -> NotConfined {
        NotConfined
    }
}

/// Shuts this process in. There is no way out again.
pub(crate) fn confine() -> Result<(), NotConfined> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none)?;
    setrlimit(Resource::Fsize, none)?;
    // The system's library reads the time zone from a file when it is asked for it first.
    interpreter::learn_time_zone().map_err(|_| NotConfined)?;
    #[cfg(target_os = "linux")]
    {
        die_with_the_server()?;
        bound_memory()?;
        filter()?;
    }
    #[cfg(not(target_os = "linux"))]
    {
        let most = Rlimit { current: Some(WORKER_MEMORY_BYTES_MAX), maximum: Some(WORKER_MEMORY_BYTES_MAX) };
        // Not every system has this one.
        let _ = setrlimit(Resource::Data, most);
    }
    Ok(())
}

/// A worker that computes does not notice that the server does not listen any more.
#[cfg(target_os = "linux")]
fn die_with_the_server() -> Result<(), NotConfined> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The server may have died before; then another process has adopted this one, and its output has no reader.
    let stdout = std::io::stdout();
    let mut output = [rustix::event::PollFd::new(&stdout, rustix::event::PollFlags::OUT)];
    rustix::event::poll(&mut output, Some(&rustix::event::Timespec::default()))?;
    if output[0].revents().contains(rustix::event::PollFlags::ERR) { Err(NotConfined) } else { Ok(()) }
}

/// Bounds the memory to what there is now and some more: the allocator has reserved addresses that it does not use.
#[cfg(target_os = "linux")]
fn bound_memory() -> Result<(), NotConfined> {
    let statm = std::fs::read_to_string("/proc/self/statm").map_err(|_| NotConfined)?;
    let data_pages: u64 = statm.split(' ').nth(5).and_then(|pages| pages.parse().ok()).ok_or(NotConfined)?;
    let bytes = data_pages * rustix::param::page_size() as u64 + WORKER_MEMORY_BYTES_MAX;
    setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
    Ok(())
}

/// Lets the system refuse every call but those that computing takes.
#[cfg(target_os = "linux")]
fn filter() -> Result<(), NotConfined> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        // The other walls stand.
        return Ok(());
    };
    let rule = |argument: u8, operator: SeccompCmpOp, value: u64| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
        Ok::<_, seccompiler::BackendError>(vec![SeccompRule::new(vec![condition])?])
    };
    // Memory is for data: nothing that a script writes can be run.
    let is_no_code = || rule(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0);
    let program = || -> Result<BpfProgram, seccompiler::BackendError> {
        let mut allowed: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
        allowed.insert(libc::SYS_mmap, is_no_code()?);
        allowed.insert(libc::SYS_mprotect, is_no_code()?);
        // Programs built for tests ask whether what they close is open, and end if they are not told.
        allowed.insert(libc::SYS_fcntl, rule(1, SeccompCmpOp::Eq, libc::F_GETFD as u64)?);
        let (otherwise, allow) = (SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow);
        SeccompFilter::new(allowed, otherwise, allow, architecture)?.try_into()
    };
    let program = program().map_err(|_| NotConfined)?;
    seccompiler::apply_filter(&program).map_err(|_| NotConfined)
}

/// What computing takes: the pipes, memory, the end.
#[cfg(target_os = "linux")]
const ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_ppoll,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigreturn,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::ErrorKind::PermissionDenied;
    use std::process::Command;

    use super::*;

    /// Set for the process that shuts itself in.
    const INSIDE: &str = "ARMILLA_TEST_CONFINED";

    /// What that process ends with when everything was refused.
    const REFUSED: i32 = 7;

    #[test]
    fn a_confined_process_reaches_nothing() {
        if std::env::var_os(INSIDE).is_some() {
            confine().unwrap();
            let refused = [
                std::fs::File::open("/etc/passwd").map(drop),
                std::fs::write("/tmp/armilla-test-confined", "x"),
                std::net::TcpStream::connect("127.0.0.1:9").map(drop),
                std::net::UdpSocket::bind("127.0.0.1:0").map(drop),
                Command::new("/bin/true").spawn().map(drop),
                std::fs::read_dir("/proc").map(drop),
            ];
            let is_refused = refused
                .iter()
                .all(|tried| tried.as_ref().is_err_and(|error| error.kind() == PermissionDenied));
            // This process cannot even start a thread to say more.
            std::process::exit(if is_refused { REFUSED } else { 1 });
        }
        let name = "confine::tests::a_confined_process_reaches_nothing";
        let program = std::env::current_exe().unwrap();
        let inside = Command::new(program)
            .args(["--exact", name, "--test-threads=1"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        assert_eq!(inside.status.code(), Some(REFUSED), "{inside:?}");
    }
}
