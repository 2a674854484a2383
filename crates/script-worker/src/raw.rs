//! What rquickjs has no safe words for: compiled scripts.
//!
//! QuickJS trusts bytecode blindly, so one is only made here, from text, and never leaves the process.
#![expect(unsafe_code, reason = "QuickJS's own functions")]

use std::ffi::CString;
use std::sync::Arc;

use rquickjs::{Ctx, Error, Result, Value, qjs};

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
