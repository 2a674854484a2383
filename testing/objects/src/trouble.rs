//! Random trouble with an object store, as much as is wanted.

use std::sync::Arc;
use std::time::Duration;

use armilla_env::Random;
use object_store::path::Path;
use parking_lot::Mutex;

use crate::{Fate, Op, Plan};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everything is answered at once.
    None,
    /// One of a hundred requests is late or lost, as on a day like any other.
    Some,
    /// A tenth of requests and of answers is seconds late, and a twentieth is lost.
    Much,
}

/// Late requests and answers take up to this long.
const LATE_MS: u64 = 9_000;

/// What may be made of requests, by a generator that everything of one history shares.
#[derive(Clone)]
pub struct Trouble {
    random: Arc<Mutex<Random>>,
    level: Arc<Mutex<Level>>,
}

impl Trouble {
    /// Returns a source of trouble.
    pub fn new(random: Arc<Mutex<Random>>, level: Level) -> Trouble {
        Trouble { random, level: Arc::new(Mutex::new(level)) }
    }

    /// Makes it better or worse.
    pub fn set(&self, level: Level) {
        *self.level.lock() = level;
    }

    /// Returns the plan of an object store in trouble.
    pub fn plan(&self) -> Arc<Plan> {
        let trouble = self.clone();
        Arc::new(move |_: Op, _: &Path| trouble.fate())
    }

    fn fate(&self) -> Fate {
        // An answer comes to a process that goes on.
        let mut fate = Fate { back: Duration::from_millis(1), ..Fate::default() };
        let (late_percent, lost_percent, usual_ms) = match *self.level.lock() {
            Level::None => return fate,
            Level::Some => (1, 1, 50),
            Level::Much => (10, 5, 200),
        };
        let mut random = self.random.lock();
        let mut late = || {
            let most = if random.percent(late_percent) { LATE_MS } else { usual_ms };
            Duration::from_millis(random.below(most))
        };
        (fate.there, fate.back) = (late(), fate.back + late());
        fate.is_lost = random.percent(lost_percent);
        fate.is_answer_lost = random.percent(lost_percent);
        fate
    }
}
