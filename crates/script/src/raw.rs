//! The only unsafe code of the crate: what rquickjs has no safe words for.
//!
//! * [`Bytecode`]: compiled scripts. QuickJS trusts bytecode blindly, so one is only made here, from text, and never
//!   leaves the process.
//! * [`memory_bytes`]: a question that would otherwise wait for itself.
//! * [`lend`]: a borrowed collection in the hands of closures that the interpreter owns.
#![expect(unsafe_code, reason = "QuickJS's own functions; a lifetime that closures cannot name")]

use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use rquickjs::{Ctx, Error, Result, Value, qjs};

use crate::collection::Collection;

/// A compiled script. Any interpreter of this process can load it.
#[derive(Debug, Clone)]
pub(crate) struct Bytecode {
    bytes: Arc<[u8]>,
}

/// What a compiled script remembers of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Names, lines and the text itself, for stacks and `toString`.
    Text,
    /// Names and lines.
    Lines,
}

impl Bytecode {
    /// Compiles a text as a sloppy script, without running any of it.
    pub(crate) fn compile(ctx: &Ctx<'_>, text: &str, name: &str, keep: Keep) -> Result<Bytecode> {
        let source = CString::new(text)?;
        let name = CString::new(name)?;
        let evaluation = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        let writing = match keep {
            Keep::Text => qjs::JS_WRITE_OBJ_BYTECODE,
            Keep::Lines => qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE,
        };
        // SAFETY: the context is alive and locked as long as `ctx` is. Both texts end with NUL, as QuickJS demands of
        // the source, and outlive the call. The value that comes back is ours to free: `Value` does, also when it is
        // the mark of an exception, which owns nothing.
        let compiled = unsafe {
            let raw = qjs::JS_Eval(
                ctx.as_raw().as_ptr(),
                source.as_ptr(),
                text.len() as qjs::size_t,
                name.as_ptr(),
                evaluation as i32,
            );
            if qjs::JS_IsException(raw) {
                return Err(Error::Exception);
            }
            Value::from_raw(ctx.clone(), raw)
        };
        let mut length: qjs::size_t = 0;
        // SAFETY: the value is alive and of this context. QuickJS gives a buffer of `length` bytes, or null after an
        // exception; the bytes are copied before the buffer goes back to the allocator that it came from.
        let bytes = unsafe {
            let context = ctx.as_raw().as_ptr();
            let buffer = qjs::JS_WriteObject(context, &mut length, compiled.as_raw(), writing as i32);
            if buffer.is_null() {
                return Err(Error::Exception);
            }
            let bytes: Arc<[u8]> = std::slice::from_raw_parts(buffer, length as usize).into();
            qjs::js_free(context, buffer.cast());
            bytes
        };
        Ok(Bytecode { bytes })
    }

    /// Runs the script in a context and returns its value.
    pub(crate) fn evaluate<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        // SAFETY: the context is alive and locked as long as `ctx` is. The bytes come from `compile`, so from this
        // very QuickJS, which is what makes them trustworthy; they outlive the call, which copies what it keeps.
        // `JS_EvalFunction` takes the function over; the value that it gives is ours, and `Value` frees it.
        unsafe {
            let context = ctx.as_raw().as_ptr();
            let function = qjs::JS_ReadObject(
                context,
                self.bytes.as_ptr(),
                self.bytes.len() as qjs::size_t,
                qjs::JS_READ_OBJ_BYTECODE as i32,
            );
            if qjs::JS_IsException(function) {
                return Err(Error::Exception);
            }
            let raw = qjs::JS_EvalFunction(context, function);
            if qjs::JS_IsException(raw) {
                return Err(Error::Exception);
            }
            Ok(Value::from_raw(ctx.clone(), raw))
        }
    }
}

/// Counts the memory that the interpreter holds. The safe way to ask would wait for the lock that `ctx` holds.
pub(crate) fn memory_bytes(ctx: &Ctx<'_>) -> usize {
    // SAFETY: the runtime is alive and locked as long as `ctx` is, and only writes the figures, for which zeroes are
    // a valid beginning.
    let usage = unsafe {
        let mut usage: qjs::JSMemoryUsage = std::mem::zeroed();
        qjs::JS_ComputeMemoryUsage(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), &mut usage);
        usage
    };
    usize::try_from(usage.malloc_size).unwrap_or(usize::MAX)
}

/// A collection that was lent. It can be asked until the loan ends, from wherever a clone of this is.
#[derive(Clone)]
pub(crate) struct Lent {
    collection: Arc<Mutex<Option<&'static mut dyn Collection>>>,
}

impl Lent {
    /// Asks the collection something, if the loan has not ended.
    pub(crate) fn with<R>(&self, ask: impl FnOnce(&mut dyn Collection) -> R) -> Option<R> {
        let mut collection = self.collection.lock().unwrap_or_else(PoisonError::into_inner);
        collection.as_mut().map(|collection| ask(&mut **collection))
    }
}

/// Lends a collection for as long as `work` takes.
pub(crate) fn lend<R>(collection: &mut dyn Collection, work: impl FnOnce(Lent) -> R) -> R {
    struct EndOfLoan(Lent);
    impl Drop for EndOfLoan {
        fn drop(&mut self) {
            *self.0.collection.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
    // SAFETY: only the lifetime changes. The reference never leaves the mutex: `with` reborrows it for the time of
    // one closure that must accept any lifetime. It is taken out of the mutex before this function returns or
    // unwinds, by the guard, which waits for a running `with`; so nobody uses it after the borrow that it came from.
    let forever: &'static mut dyn Collection =
        unsafe { std::mem::transmute::<&mut dyn Collection, &'static mut dyn Collection>(collection) };
    let lent = Lent { collection: Arc::new(Mutex::new(Some(forever))) };
    let end_of_loan = EndOfLoan(lent);
    work(end_of_loan.0.clone())
}
