//! Requests that let the server wait until there is something to answer with (`Prefer: wait=20`).
//!
//! Not here: the waiting itself, which is the engine's business. The server has to know of it, because such a request
//! is not slow when it takes its time.

use std::time::Duration;

use armilla_rest_wire::names::PREFERENCE_APPLIED;
use http::HeaderMap;

/// The preference to wait for so many seconds at most.
const WAIT: &str = "wait";

/// How long the server may have waited, as its answer says.
pub(crate) fn waited_max(response: &HeaderMap) -> Duration {
    let texts = response.get_all(&PREFERENCE_APPLIED).iter().filter_map(|value| value.to_str().ok());
    let seconds = texts.flat_map(|text| text.split(',')).find_map(|preference| {
        let (name, seconds) = preference.split_once('=')?;
        if name.trim().eq_ignore_ascii_case(WAIT) { seconds.trim().parse().ok() } else { None }
    });
    Duration::from_secs(seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences() {
        for (texts, expected) in [
            (&["wait=20"][..], 20),
            (&["return=minimal, wait=5"], 5),
            (&["return=minimal", "Wait = 7"], 7),
            (&["wait"], 0),
            (&["wait=long"], 0),
            (&["await=3"], 0),
            (&["return=minimal"], 0),
            (&[], 0),
        ] {
            let mut headers = HeaderMap::new();
            for text in texts {
                headers.append(PREFERENCE_APPLIED.clone(), text.parse().unwrap());
            }
            assert_eq!(waited_max(&headers), Duration::from_secs(expected), "{texts:?}");
        }
    }
}
