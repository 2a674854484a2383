//! Turns a panic inside a future into a value, so that one broken request is one broken request.
//!
//! A panic hook writes every panic to the log. Inside a [`CatchPanic`] the hook keeps quiet and leaves
//! what it knows to whoever gets the [`Panicked`], who also knows which request it was.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sends panics to the log instead of to the bare standard error.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text =
            text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let place = info.location().map_or_else(|| "nowhere".to_string(), ToString::to_string);
        if CATCHING.get() {
            LAST_PANIC.set(Some(format!("{text} (at {place})")));
        } else {
            tracing::error!(place, "panicked: {text}");
        }
    }));
}

/// What is known about a panic.
#[derive(Debug)]
pub(crate) struct Panicked {
    message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

/// A future that ends with an error where the one inside panics.
pub(crate) struct CatchPanic<F> {
    inside: Pin<Box<F>>,
}

impl<F> CatchPanic<F> {
    /// Watches over a future.
    pub(crate) fn new(inside: F) -> CatchPanic<F> {
        CatchPanic { inside: Box::pin(inside) }
    }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let inside = self.inside.as_mut();
        let outer = CATCHING.replace(true);
        // Nothing of the future is looked at again after a panic: it is only dropped.
        let polled = catch_unwind(AssertUnwindSafe(|| inside.poll(cx)));
        CATCHING.set(outer);
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(_) => {
                let message = LAST_PANIC.take().unwrap_or_else(|| "no message".to_string());
                Poll::Ready(Err(Panicked { message }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panics_become_errors_and_values_pass() {
        install_hook();
        assert_eq!(CatchPanic::new(async { 7 }).await.unwrap(), 7);
        let waited = CatchPanic::new(async {
            tokio::task::yield_now().await;
            if CATCHING.get() {
                panic!("after {} wait", 1);
            }
        });
        let message = waited.await.unwrap_err().to_string();
        assert!(message.starts_with("after 1 wait (at "), "{message}");
        assert!(message.contains("catch_panic.rs"), "{message}");
        assert!(!CATCHING.get());
    }
}
