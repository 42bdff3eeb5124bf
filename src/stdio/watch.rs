//! The reasons to end that do not come over the wire: signals, and the parent's end.

use std::io;
use std::process;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// How long the requests in flight have to end after a signal. Clients wait from 0.4 to 2 s
/// before they kill.
const GRACE: Duration = Duration::from_millis(300);

#[cfg(unix)]
use unix::Reasons;
#[cfg(windows)]
use windows::Reasons;

/// Waits for a reason to end, on a thread and a runtime of its own: it also ends a server
/// whose own threads are all busy.
pub(super) struct Watch {
    runtime: Runtime,
    reasons: Reasons,
}

impl Watch {
    /// Takes over the signals, and remembers the parent.
    ///
    /// # Errors
    ///
    /// The system refuses the handlers.
    pub(super) fn install() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let reasons = Reasons::install()?;
        drop(entered);
        Ok(Self { runtime, reasons })
    }

    /// Calls `stop` at the first reason; when the process still runs after a grace period,
    /// ends it.
    ///
    /// The exit code is 0 in either case: a signal is how most clients end a server that has
    /// done nothing wrong, and another code would be reported as a crash. The system frees
    /// the ledger's locks; a transaction that was open counts as never begun.
    ///
    /// # Errors
    ///
    /// The system refuses another thread.
    pub(super) fn start(self, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Self { runtime, mut reasons } = self;
        thread::Builder::new().name("watch".to_owned()).spawn(move || {
            // No word of it to the log: a stderr that nobody reads would hold this thread up.
            runtime.block_on(reasons.next());
            stop();
            thread::sleep(GRACE);
            process::exit(0);
        })?;
        Ok(())
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::unix::process::parent_id;
    use std::time::Duration;

    use tokio::signal::unix::{Signal, SignalKind, signal};
    use tokio::time::sleep;

    /// How often the parent is looked for.
    const LOOK: Duration = Duration::from_secs(1);

    /// `SIGXFSZ`, on Linux (but for MIPS), macOS and the BSDs.
    const FILE_SIZE_EXCEEDED: i32 = 25;

    pub(super) struct Reasons {
        terminate: Signal,
        interrupt: Signal,
        hang_up: Signal,
        parent: u32,
    }

    impl Reasons {
        pub(super) fn install() -> io::Result<Self> {
            // Without a handler, a write beyond a limit on the size of files ends the process;
            // with one, it is an error like that of a full disk.
            drop(signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED))?);
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                hang_up: signal(SignalKind::hangup())?,
                parent: parent_id(),
            })
        }

        pub(super) async fn next(&mut self) {
            let parent = self.parent;
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
                _ = self.hang_up.recv() => {}
                () = orphaned(parent) => {}
            }
        }
    }

    /// Waits until the process has another parent.
    ///
    /// A look each second costs next to nothing and works on every Unix. Linux could send a
    /// signal instead, but does so when the thread that started this process ends, and
    /// clients start servers from threads that come and go.
    async fn orphaned(parent: u32) {
        while parent_id() == parent {
            sleep(LOOK).await;
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::io;

    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
        ctrl_logoff, ctrl_shutdown,
    };

    /// The events of the console. The parent's end shows as the end of the input: on Windows
    /// nothing else holds the other end of the pipe, unless the parent let it be inherited.
    pub(super) struct Reasons {
        interrupt: CtrlC,
        stop: CtrlBreak,
        close: CtrlClose,
        log_off: CtrlLogoff,
        shut_down: CtrlShutdown,
    }

    impl Reasons {
        pub(super) fn install() -> io::Result<Self> {
            Ok(Self {
                interrupt: ctrl_c()?,
                stop: ctrl_break()?,
                close: ctrl_close()?,
                log_off: ctrl_logoff()?,
                shut_down: ctrl_shutdown()?,
            })
        }

        pub(super) async fn next(&mut self) {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.stop.recv() => {}
                _ = self.close.recv() => {}
                _ = self.log_off.recv() => {}
                _ = self.shut_down.recv() => {}
            }
        }
    }
}
