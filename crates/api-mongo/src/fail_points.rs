//! Failures on demand, for the tests of drivers. There are none unless the options say so.

use std::time::Duration;

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};
use parking_lot::Mutex;

use crate::arguments::number;
use crate::failure::{Failure, Result};

/// Fail points that are on at once.
const POINTS_MAX: usize = 100;

/// The fail points that there are.
const KNOWN: [&str; 4] =
    ["failCommand", "maxTimeAlwaysTimeOut", "failGetMoreAfterCursorCheckout", "onPrimaryTransactionalWrite"];

/// What a write that may be sent again meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteHit {
    /// It fails with this code before anything is stored, else after it.
    pub(crate) code: Option<i32>,
    /// Whether the connection is closed.
    pub(crate) closes: bool,
}

/// What fails.
#[derive(Default)]
pub(crate) struct FailPoints {
    points: Mutex<Vec<Point>>,
}

struct Point {
    name: String,
    mode: Mode,
    data: Object,
}

enum Mode {
    Always,
    Times(i64),
    Skip(i64),
}

/// What a command that was hit does.
#[derive(Default)]
pub(crate) struct Hit {
    pub(crate) wait: Option<Duration>,
    pub(crate) closes: bool,
    pub(crate) failure: Option<Failure>,
    pub(crate) write_concern_error: Option<Object>,
    pub(crate) labels: Option<Vec<String>>,
}

impl FailPoints {
    /// Turns a fail point on or off.
    pub(crate) fn configure(&self, name: &str, mode: &Value, data: Option<&Object>) -> Result<()> {
        if !KNOWN.contains(&name) {
            return Err(Failure::new(
                codes::COMMAND_NOT_SUPPORTED,
                format!("there is no fail point '{name}'"),
            ));
        }
        let mode = match mode {
            Value::String(mode) if mode == "off" => None,
            Value::String(mode) if mode == "alwaysOn" => Some(Mode::Always),
            Value::Object(mode) => match (mode.get("times"), mode.get("skip")) {
                (Some(times), _) => Some(Mode::Times(count(times)?)),
                (None, Some(skip)) => Some(Mode::Skip(count(skip)?)),
                _ => return Err(Failure::bad_value("the mode of a fail point has times or skip")),
            },
            _ => {
                return Err(Failure::bad_value(
                    "the mode of a fail point is off, alwaysOn, {times} or {skip}",
                ));
            }
        };
        let mut points = self.points.lock();
        points.retain(|point| point.name != name);
        if let Some(mode) = mode
            && points.len() < POINTS_MAX
        {
            points.push(Point { name: name.to_owned(), mode, data: data.cloned().unwrap_or_default() });
        }
        Ok(())
    }

    /// Says whether the time of every command is over.
    pub(crate) fn ends_all_time(&self) -> bool {
        self.points.lock().iter().any(|point| point.name == "maxTimeAlwaysTimeOut")
    }

    /// Returns the failure of a `getMore` that has found its cursor, if it is to fail.
    pub(crate) fn hit_cursor(&self) -> Option<Failure> {
        let mut points = self.points.lock();
        let position = points.iter().position(|point| point.name == "failGetMoreAfterCursorCheckout")?;
        let failure = hit_of(&points[position].data).failure;
        if let Mode::Times(left) = &mut points[position].mode {
            *left -= 1;
            if *left <= 0 {
                points.remove(position);
            }
        }
        failure
    }

    /// Says what a write of so many statements meets that may be sent again.
    pub(crate) fn hit_write(&self, statements: i64) -> Option<WriteHit> {
        let mut points = self.points.lock();
        let position = points.iter().position(|point| point.name == "onPrimaryTransactionalWrite")?;
        let point = &mut points[position];
        let is_hit = match &mut point.mode {
            Mode::Always => true,
            Mode::Times(left) => {
                *left -= 1;
                *left >= 0
            }
            Mode::Skip(left) => {
                *left -= statements;
                *left < 0
            }
        };
        is_hit.then(|| WriteHit {
            code: point
                .data
                .get("failBeforeCommitExceptionCode")
                .and_then(number)
                .and_then(|code| i32::try_from(code).ok()),
            closes: point.data.get("closeConnection").and_then(Value::as_bool).unwrap_or(true),
        })
    }

    /// Says what a command meets.
    pub(crate) fn hit(&self, command: &str, application: Option<&str>, namespace: &str) -> Option<Hit> {
        let mut points = self.points.lock();
        let position = points.iter().position(|point| {
            let named = point.data.get("failCommands").and_then(Value::as_array).unwrap_or_default();
            // The old name of `hello` knows no case.
            let is_same =
                |name: &str| name == command || (command == "isMaster" && name.eq_ignore_ascii_case(command));
            let is_named = named.iter().any(|name| name.as_str().is_some_and(is_same));
            let of_application = point.data.get("appName").and_then(Value::as_str);
            let of_namespace = point.data.get("namespace").and_then(Value::as_str);
            point.name == "failCommand"
                && is_named
                && of_application.is_none_or(|name| Some(name) == application)
                && of_namespace.is_none_or(|name| name == namespace)
        })?;
        let is_hit = match &mut points[position].mode {
            Mode::Always => true,
            Mode::Times(left) => {
                *left -= 1;
                *left >= 0
            }
            Mode::Skip(left) => {
                *left -= 1;
                *left < 0
            }
        };
        if !is_hit {
            return None;
        }
        let hit = hit_of(&points[position].data);
        if matches!(points[position].mode, Mode::Times(left) if left <= 0) {
            points.remove(position);
        }
        Some(hit)
    }
}

fn count(value: &Value) -> Result<i64> {
    number(value)
        .filter(|count| *count >= 0)
        .ok_or_else(|| Failure::bad_value("times and skip of a fail point are numbers"))
}

fn hit_of(data: &Object) -> Hit {
    let truth = |name: &str| data.get(name).and_then(Value::as_bool).unwrap_or(false);
    let labels = data.get("errorLabels").and_then(Value::as_array);
    let labels: Option<Vec<String>> =
        labels.map(|labels| labels.iter().filter_map(|label| label.as_str().map(str::to_owned)).collect());
    let wait = truth("blockConnection").then(|| {
        let ms = data.get("blockTimeMS").and_then(number).unwrap_or(0);
        Duration::from_millis(u64::try_from(ms).unwrap_or(0).min(600_000))
    });
    let failure = data.get("errorCode").and_then(number).map(|code| {
        let code = i32::try_from(code).unwrap_or(codes::UNKNOWN_ERROR);
        let mut failure = Failure::new(code, "Failing command via 'failCommand' failpoint");
        if let Some(labels) = &labels {
            failure.labels = labels.iter().map(|label| label.clone().into()).collect();
            failure.labels_are_final = true;
        }
        failure
    });
    Hit {
        wait,
        closes: truth("closeConnection"),
        failure,
        write_concern_error: data.get("writeConcernError").and_then(Value::as_object).cloned(),
        labels,
    }
}
