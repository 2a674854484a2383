//! What differs, and where.

use std::fmt;
use std::path::PathBuf;

/// A case that did not give what it must.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The file.
    pub path: PathBuf,
    /// The line of the case, from 1.
    pub line: usize,
    /// The statement.
    pub text: String,
    /// The ways of running it that fail.
    pub variants: Vec<String>,
    /// What differs in the first of them.
    pub difference: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.path.display(), self.line, self.variants.join("; "))?;
        for line in self.text.lines() {
            writeln!(f, "    {line}")?;
        }
        write!(f, "{}", self.difference)?;
        if self.difference.ends_with('\n') { Ok(()) } else { writeln!(f) }
    }
}

/// What came of a run.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Files read.
    pub file_count: usize,
    /// Cases run.
    pub case_count: usize,
    /// Cases that failed.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Adds another run.
    pub fn add(&mut self, other: Report) {
        self.file_count += other.file_count;
        self.case_count += other.case_count;
        self.failures.extend(other.failures);
    }

    /// Says whether nothing failed.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        writeln!(f, "{} cases in {} files, {} failed", self.case_count, self.file_count, self.failures.len())
    }
}
