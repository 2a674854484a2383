//! The text of errors as the service lays it out, which applications match with patterns.

use std::fmt::{self, Write};

use crate::uuid_text;

/// What the text of an error is made of.
#[derive(Debug, Clone, Copy)]
pub struct ErrorText<'t> {
    /// The activity, which logs name too.
    pub activity_id: u128,
    /// Such as `GraphCompileException`.
    pub exception_type: &'t str,
    /// What is wrong, in one or more lines.
    pub message: &'t str,
    /// The request.
    pub request_id: Option<u128>,
    /// Which part of the service it was: `graphcompute`.
    pub context: &'t str,
    /// Where in that part, such as `graphparse-translate-csharpexpressionbinding`.
    pub scope: Option<&'t str>,
    /// Such as `QuerySyntaxError`.
    pub status: &'t str,
    /// A code of .NET; [`ErrorText::HRESULT`] is that of every recorded error.
    pub hresult: u32,
}

impl ErrorText<'_> {
    /// The code of a general exception of .NET.
    pub const HRESULT: u32 = 0x8013_1500;
}

impl fmt::Display for ErrorText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\n\nActivityId : {}\n", uuid_text(self.activity_id))?;
        write!(out, "ExceptionType : {}\nExceptionMessage :\n", self.exception_type)?;
        for line in self.message.lines() {
            writeln!(out, "\t{line}")?;
        }
        if let Some(id) = self.request_id {
            writeln!(out, "\tGremlinRequestId : {}", uuid_text(id))?;
        }
        writeln!(out, "\tContext : {}", self.context)?;
        if let Some(scope) = self.scope {
            writeln!(out, "\tScope : {scope}")?;
        }
        write!(out, "\tGraphInterOpStatusCode : {}\n\tHResult : 0x{:08X}", self.status, self.hresult)?;
        out.write_char('\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_service() {
        let text = ErrorText {
            activity_id: 1,
            exception_type: "GraphCompileException",
            message: "Gremlin Query Compilation Error: Unable to find any method 'fail' @ line 1, column 11.\n1 Error(s)",
            request_id: Some(2),
            context: "graphcompute",
            scope: Some("graphparse-translate-csharpexpressionbinding"),
            status: "QuerySyntaxError",
            hresult: ErrorText::HRESULT,
        };
        assert_eq!(
            text.to_string(),
            "\n\nActivityId : 00000000-0000-0000-0000-000000000001\nExceptionType : GraphCompileException\n\
             ExceptionMessage :\n\tGremlin Query Compilation Error: Unable to find any method 'fail' @ line 1, \
             column 11.\n\t1 Error(s)\n\tGremlinRequestId : 00000000-0000-0000-0000-000000000002\n\
             \tContext : graphcompute\n\tScope : graphparse-translate-csharpexpressionbinding\n\
             \tGraphInterOpStatusCode : QuerySyntaxError\n\tHResult : 0x80131500\n"
        );
        let short = ErrorText { request_id: None, scope: None, message: "x", ..text };
        assert!(short.to_string().contains(" :\n\tx\n\tContext : graphcompute\n\tGraphInterOpStatusCode : "));
    }
}
