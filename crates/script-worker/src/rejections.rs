//! Promises that were rejected while nothing waited for them.

use std::cell::RefCell;

use rquickjs::{Ctx, Runtime, Value};

/// Promises that were rejected while nothing waited for them, each followed by its reason. Kept as data of the
/// interpreter's user, because values must not leave it.
pub(crate) type Rejections<'js> = RefCell<Vec<Value<'js>>>;

/// Notes rejections, and that they were handled after all.
pub(crate) fn track_rejections(runtime: &Runtime) {
    runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, is_handled| {
        note_rejection(&ctx, promise, reason, is_handled);
    })));
}

fn note_rejection<'js>(ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
    let Some(rejections) = ctx.userdata::<Rejections<'js>>() else { return };
    let Ok(mut rejections) = rejections.try_borrow_mut() else { return };
    if !is_handled {
        rejections.push(promise);
        rejections.push(reason);
    } else if let Some(pair) = rejections.chunks(2).position(|pair| pair[0] == promise) {
        rejections.drain(2 * pair..2 * pair + 2);
    }
}

/// Returns the reason of the first rejection that was not taken care of.
pub(crate) fn first_rejection<'js>(ctx: &Ctx<'js>) -> Option<Value<'js>> {
    let rejections = ctx.userdata::<Rejections<'js>>()?;
    let open = rejections.try_borrow().ok()?;
    open.get(1).cloned()
}
