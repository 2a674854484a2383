//! Request headers by meaning.
//!
//! Each header is read when it is asked for: a point read looks at a handful, and none of them is copied. A value that cannot be understood is refused with the name of its header.
//!
//! Not here: dates and `Authorization` (`auth`).

use std::time::Duration;

use armilla_engine::{
    Bucket, FEED_WAIT_MAX, Migration, Priority, TOKEN_SECONDS_MAX, TOKEN_SECONDS_MIN, Triggers,
};
use armilla_rest_wire::{http_date, names};
use http::{HeaderMap, HeaderName};

use crate::limits::{
    CONTINUATION_BYTES_MAX, FEED_POSITION_BYTES_MAX, PAGE_ITEMS_MAX, PARTITION_KEY_HEADER_BYTES_MAX,
    SESSION_TOKEN_BYTES_MAX,
};
use crate::reply::failure::Failure;

/// The version of the envelopes that changes can come in.
const CHANGE_FEED_WIRE_FORMAT: &str = "2021-09-15";

/// An entity tag in a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag<'h> {
    /// `*`: whatever there is.
    Any,
    /// This one, with its quotes.
    Exactly(&'h str),
}

/// Which changes a feed asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeedMode {
    /// The newest state of what changed.
    Incremental,
    /// All versions and deletes.
    FullFidelity,
}

/// Whether an item is indexed, whatever the policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexingDirective {
    Default,
    Include,
    Exclude,
}

/// How a query is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explain {
    /// How it would be answered, instead of an answer.
    Plan,
    /// How its page was answered and what that cost, beside the rows.
    Run,
}

/// How a query tells which indexes served it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexMetricsForm {
    /// JSON in base64.
    First,
    /// Percent-encoded JSON.
    Second,
}

/// What a POST to a feed asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostKind {
    QueryPlan,
    Query,
    Batch,
    Upsert,
    Create,
}

/// The headers of a request.
#[derive(Clone, Copy)]
pub(crate) struct RequestHeaders<'h>(pub(crate) &'h HeaderMap);

impl<'h> RequestHeaders<'h> {
    /// Returns the text of a header.
    fn text(self, name: &HeaderName, bytes_max: usize) -> Result<Option<&'h str>, Failure> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        if value.len() > bytes_max {
            return Err(Failure::bad_request(format!("the header {name} is longer than {bytes_max} bytes")));
        }
        match std::str::from_utf8(value.as_bytes()) {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(Failure::bad_request(format!("the header {name} is not UTF-8"))),
        }
    }

    /// Returns the text of a short header.
    fn word(self, name: &HeaderName) -> Result<Option<&'h str>, Failure> {
        const WORD_BYTES_MAX: usize = 4_096;
        self.text(name, WORD_BYTES_MAX)
    }

    /// Returns a boolean header; an absent or empty one says nothing.
    fn boolean(self, name: &HeaderName) -> Result<Option<bool>, Failure> {
        match self.word(name)? {
            None | Some("") => Ok(None),
            Some(word) if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(word) if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(word) => Err(invalid(name, word, "true or false")),
        }
    }

    /// Returns a boolean header; an absent one is false.
    pub(crate) fn flag(self, name: &HeaderName) -> Result<bool, Failure> {
        Ok(self.boolean(name)?.unwrap_or(false))
    }

    /// Returns the partition key, as the JSON array that the client wrote.
    pub(crate) fn partition_key(self) -> Result<Option<&'h str>, Failure> {
        self.text(&names::PARTITION_KEY, PARTITION_KEY_HEADER_BYTES_MAX)
    }

    /// Returns the id of the physical partition that a feed is restricted to.
    pub(crate) fn partition_key_range_id(self) -> Result<Option<&'h str>, Failure> {
        self.word(&names::PARTITION_KEY_RANGE_ID)
    }

    /// Returns the range of hashed keys that a feed is restricted to.
    ///
    /// Python names the kind of range without bounds when it means the whole partition.
    pub(crate) fn effective_key_range(self) -> Result<Option<(&'h str, &'h str)>, Failure> {
        if let Some(kind) = self.word(&names::READ_KEY_TYPE)?
            && !kind.eq_ignore_ascii_case("EffectivePartitionKeyRange")
        {
            return Err(invalid(&names::READ_KEY_TYPE, kind, "EffectivePartitionKeyRange"));
        }
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (self.word(&names::START_EPK)?, self.word(&names::END_EPK)?) {
            (None, None) => Ok(None),
            (Some(start), _) if !is_hex(start) => {
                Err(invalid(&names::START_EPK, start, "hexadecimal digits"))
            }
            (_, Some(end)) if !is_hex(end) => Err(invalid(&names::END_EPK, end, "hexadecimal digits")),
            (start, end) => Ok(Some((start.unwrap_or(""), end.unwrap_or("FF")))),
        }
    }

    /// Returns the most entries that a page may hold, unless it is left to the server.
    pub(crate) fn page_items_max(self) -> Result<Option<usize>, Failure> {
        match self.word(&names::MAX_ITEM_COUNT)? {
            None | Some("" | "-1") => Ok(None),
            Some(word) => match word.parse::<usize>() {
                Ok(count) if count > 0 => Ok(Some(count.min(PAGE_ITEMS_MAX))),
                // A number of any length is still a number, and more than enough.
                Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => {
                    Ok(Some(PAGE_ITEMS_MAX))
                }
                _ => Err(invalid(&names::MAX_ITEM_COUNT, word, "-1 or a positive number")),
            },
        }
    }

    /// Returns the most rows that a page of a query may hold; without a number the server decides.
    ///
    /// A client that says -1 wants pages as long as they get: how many bytes a page has is bounded anyway.
    pub(crate) fn page_rows_max(self) -> Result<Option<usize>, Failure> {
        match self.word(&names::MAX_ITEM_COUNT)? {
            Some("-1") => Ok(Some(PAGE_ITEMS_MAX)),
            _ => self.page_items_max(),
        }
    }

    /// Returns in which form a query shall tell which indexes served it, if in any.
    pub(crate) fn index_metrics(self) -> Result<Option<IndexMetricsForm>, Failure> {
        Ok(if self.flag(&names::POPULATE_INDEX_METRICS_V2)? {
            Some(IndexMetricsForm::Second)
        } else if self.flag(&names::POPULATE_INDEX_METRICS)? {
            Some(IndexMetricsForm::First)
        } else {
            None
        })
    }

    /// Returns whether a query shall be explained, and how.
    pub(crate) fn explain(self) -> Result<Option<Explain>, Failure> {
        match self.word(&names::EXPLAIN)? {
            None => Ok(None),
            Some(word) if word.eq_ignore_ascii_case("plan") => Ok(Some(Explain::Plan)),
            Some(word) if word.eq_ignore_ascii_case("run") => Ok(Some(Explain::Run)),
            Some(word) => Err(Failure::bad_request(format!(
                "the header {} must be plan or run, it is '{word}'",
                names::EXPLAIN
            ))),
        }
    }

    /// Returns the names of what the client can merge by itself, separated by commas.
    pub(crate) fn supported_query_features(self) -> Result<&'h str, Failure> {
        Ok(self.word(&names::SUPPORTED_QUERY_FEATURES)?.unwrap_or_default())
    }

    /// Returns the token that a page of a feed begins with.
    pub(crate) fn continuation(self) -> Result<Option<&'h str>, Failure> {
        Ok(self.text(&names::CONTINUATION, CONTINUATION_BYTES_MAX)?.filter(|token| !token.is_empty()))
    }

    /// Returns the session token.
    pub(crate) fn session_token(self) -> Result<Option<&'h str>, Failure> {
        Ok(self.text(&names::SESSION_TOKEN, SESSION_TOKEN_BYTES_MAX)?.filter(|token| !token.is_empty()))
    }

    /// Returns the name of the consistency level that a read asks for.
    pub(crate) fn consistency_level(self) -> Result<Option<&'h str>, Failure> {
        Ok(self.word(&names::CONSISTENCY_LEVEL)?.filter(|name| !name.is_empty()))
    }

    fn tag(self, name: &HeaderName) -> Result<Option<Tag<'h>>, Failure> {
        Ok(match self.word(name)? {
            None | Some("") => None,
            Some("*") => Some(Tag::Any),
            Some(tag) => Some(Tag::Exactly(tag)),
        })
    }

    /// Returns the condition that the resource still has a tag.
    pub(crate) fn if_match(self) -> Result<Option<Tag<'h>>, Failure> {
        self.tag(&http::header::IF_MATCH)
    }

    /// Returns the condition that the resource no longer has a tag.
    pub(crate) fn if_none_match(self) -> Result<Option<Tag<'h>>, Failure> {
        self.tag(&http::header::IF_NONE_MATCH)
    }

    /// Returns the position that a change feed goes on from, without its quotes.
    pub(crate) fn feed_position(self) -> Result<Option<Tag<'h>>, Failure> {
        let Some(text) = self.text(&http::header::IF_NONE_MATCH, FEED_POSITION_BYTES_MAX)? else {
            return Ok(None);
        };
        Ok(match text {
            "" => None,
            "*" => Some(Tag::Any),
            tag => {
                // Intermediaries that compress an answer weaken its tag.
                let strong = tag.strip_prefix("W/").unwrap_or(tag);
                let inner = strong.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                Some(Tag::Exactly(inner.unwrap_or(strong)))
            }
        })
    }

    /// Returns the time since which a change feed is to be read, in seconds since 1970. What is no date says nothing, as
    /// everywhere in HTTP.
    pub(crate) fn if_modified_since(self) -> Result<Option<u32>, Failure> {
        let name = &http::header::IF_MODIFIED_SINCE;
        Ok(self.word(name)?.and_then(http_date::parse_seconds))
    }

    /// Whether changes are to come in envelopes.
    pub(crate) fn wants_change_envelopes(self) -> Result<bool, Failure> {
        match self.word(&names::CHANGE_FEED_WIRE_FORMAT)? {
            None | Some("") => Ok(false),
            Some(CHANGE_FEED_WIRE_FORMAT) => Ok(true),
            Some(word) => Err(invalid(&names::CHANGE_FEED_WIRE_FORMAT, word, CHANGE_FEED_WIRE_FORMAT)),
        }
    }

    /// Returns what the client would like (RFC 7240), in the order that it says so.
    fn preferences(self) -> impl Iterator<Item = &'h str> {
        let values = self.0.get_all(&names::PREFER).into_iter();
        let texts = values.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok());
        texts.flat_map(|text| text.split([',', ';'])).map(str::trim)
    }

    /// Returns how long the client would like to wait for an answer. What cannot be understood is no preference, as the
    /// standard has it.
    pub(crate) fn wait(self) -> Option<Duration> {
        let waits = self.preferences().filter_map(|preference| preference.split_once('='));
        let mut waits = waits.filter(|(name, _)| name.trim().eq_ignore_ascii_case("wait"));
        let (_, value) = waits.next()?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
        match value.parse::<u32>() {
            Ok(seconds) => Some(Duration::from_secs(seconds.into())),
            Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => Some(FEED_WAIT_MAX),
            Err(_) => None,
        }
    }

    /// Whether the client wants no body in the answer to a write.
    pub(crate) fn prefers_minimal(self) -> Result<bool, Failure> {
        if self.preferences().any(|preference| preference.eq_ignore_ascii_case("return=minimal")) {
            return Ok(true);
        }
        Ok(self.boolean(&names::POPULATE_CONTENT_ON_WRITE)? == Some(false))
    }

    /// Whether a POST is a query.
    pub(crate) fn is_query(self) -> Result<bool, Failure> {
        if self.flag(&names::IS_QUERY)? || self.flag(&names::IS_QUERY_LEGACY)? {
            return Ok(true);
        }
        let content_type = self.0.get(http::header::CONTENT_TYPE).map(http::HeaderValue::as_bytes);
        let kind = b"application/query+json";
        Ok(content_type.is_some_and(|value| {
            value.len() >= kind.len()
                && value[..kind.len()].eq_ignore_ascii_case(kind)
                && matches!(value.get(kind.len()), None | Some(b';' | b' '))
        }))
    }

    /// Returns what a POST to a feed asks for. The first header in this order wins.
    pub(crate) fn post_kind(self) -> Result<PostKind, Failure> {
        Ok(if self.flag(&names::IS_QUERY_PLAN)? {
            PostKind::QueryPlan
        } else if self.is_query()? {
            PostKind::Query
        } else if self.flag(&names::IS_BATCH)? {
            PostKind::Batch
        } else if self.flag(&names::IS_UPSERT)? {
            PostKind::Upsert
        } else {
            PostKind::Create
        })
    }

    /// Returns which changes a GET of a feed asks for; without the header it reads the feed itself.
    pub(crate) fn feed_mode(self) -> Result<Option<FeedMode>, Failure> {
        match self.word(&names::A_IM)? {
            None | Some("") => Ok(None),
            Some(word) if word.eq_ignore_ascii_case("Incremental Feed") => Ok(Some(FeedMode::Incremental)),
            Some(word) if word.eq_ignore_ascii_case("Full-Fidelity Feed") => Ok(Some(FeedMode::FullFidelity)),
            Some(word) => Err(invalid(&names::A_IM, word, "Incremental Feed or Full-Fidelity Feed")),
        }
    }

    /// Returns whether the item is to be indexed. Python sends numbers.
    pub(crate) fn indexing_directive(self) -> Result<IndexingDirective, Failure> {
        match self.word(&names::INDEXING_DIRECTIVE)? {
            None | Some("" | "0") => Ok(IndexingDirective::Default),
            Some("1") => Ok(IndexingDirective::Exclude),
            Some("2") => Ok(IndexingDirective::Include),
            Some(word) if word.eq_ignore_ascii_case("default") => Ok(IndexingDirective::Default),
            Some(word) if word.eq_ignore_ascii_case("include") => Ok(IndexingDirective::Include),
            Some(word) if word.eq_ignore_ascii_case("exclude") => Ok(IndexingDirective::Exclude),
            Some(word) => Err(invalid(&names::INDEXING_DIRECTIVE, word, "Default, Include or Exclude")),
        }
    }

    /// Returns the triggers that a write names.
    pub(crate) fn triggers(self) -> Result<Triggers, Failure> {
        Ok(Triggers {
            pre: self.trigger(&names::PRE_TRIGGER_INCLUDE, &names::PRE_TRIGGER_EXCLUDE)?,
            post: self.trigger(&names::POST_TRIGGER_INCLUDE, &names::POST_TRIGGER_EXCLUDE)?,
        })
    }

    /// Returns the one trigger that is included and not excluded.
    fn trigger(self, include: &HeaderName, exclude: &HeaderName) -> Result<Option<String>, Failure> {
        let list = |name| Ok::<_, Failure>(self.word(name)?.unwrap_or_default().split(',').map(str::trim));
        let mut found: Option<&str> = None;
        for name in list(include)?.filter(|name| !name.is_empty()) {
            let is_known = found == Some(name);
            if is_known || list(exclude)?.any(|excluded| excluded == name) {
                continue;
            }
            if let Some(first) = found {
                return Err(Failure::bad_request(format!(
                    "the header {include} names more than one trigger, '{first}' and '{name}'; a write runs at most one \
                     before and one after it"
                )));
            }
            found = Some(name);
        }
        Ok(found.map(str::to_owned))
    }

    /// Refuses triggers where none can run: better than a write without the one that was asked for.
    pub(crate) fn refuse_triggers(self, what: &str) -> Result<(), Failure> {
        let triggers = self.triggers()?;
        match triggers.pre.or(triggers.post) {
            None => Ok(()),
            Some(name) => Err(Failure::bad_request(format!(
                "the trigger '{name}' cannot run with {what}: triggers run with creates, upserts, replaces and deletes \
                 of single items"
            ))),
        }
    }

    /// Whether the operations of a batch are done all or none. A batch that does not say so is not taken apart.
    pub(crate) fn batch_is_atomic(self) -> Result<bool, Failure> {
        Ok(self.boolean(&names::BATCH_ATOMIC)?.unwrap_or(true))
    }

    /// Returns the manual throughput that a new database or container asks for, in request units a second.
    pub(crate) fn offer_throughput(self) -> Result<Option<u32>, Failure> {
        match self.word(&names::OFFER_THROUGHPUT)? {
            None | Some("") => Ok(None),
            Some(word) => word
                .parse()
                .map(Some)
                .map_err(|_| invalid(&names::OFFER_THROUGHPUT, word, "a number of request units a second")),
        }
    }

    /// Returns the autoscale settings of a new database or container, as the JSON that the client wrote.
    pub(crate) fn offer_autopilot(self) -> Result<Option<&'h str>, Failure> {
        Ok(self.word(&names::OFFER_AUTOPILOT)?.filter(|value| !value.is_empty()))
    }

    /// Returns the legacy performance level as throughput, in request units a second.
    pub(crate) fn offer_type_throughput(self) -> Result<Option<u32>, Failure> {
        match self.word(&names::OFFER_TYPE)? {
            None | Some("") => Ok(None),
            Some(word) if word.eq_ignore_ascii_case("invalid") => Ok(None),
            // S1 had 250 and is raised to today's minimum.
            Some(word) if word.eq_ignore_ascii_case("S1") => Ok(Some(400)),
            Some(word) if word.eq_ignore_ascii_case("S2") => Ok(Some(1_000)),
            Some(word) if word.eq_ignore_ascii_case("S3") => Ok(Some(2_500)),
            Some(word) => Err(invalid(&names::OFFER_TYPE, word, "S1, S2 or S3")),
        }
    }

    /// Returns how long the token of a permission shall live.
    pub(crate) fn expiry_seconds(self) -> Result<Option<u32>, Failure> {
        match self.word(&names::EXPIRY_SECONDS)? {
            None | Some("") => Ok(None),
            Some(word) => match word.parse::<u32>() {
                Ok(seconds) if (TOKEN_SECONDS_MIN..=TOKEN_SECONDS_MAX).contains(&seconds) => {
                    Ok(Some(seconds))
                }
                _ => Err(invalid(&names::EXPIRY_SECONDS, word, "10 to 86400 seconds")),
            },
        }
    }

    /// Returns the resource id that the client believes the container to have.
    pub(crate) fn intended_container_rid(self) -> Result<Option<&'h str>, Failure> {
        Ok(self.word(&names::INTENDED_CONTAINER_RID)?.filter(|rid| !rid.is_empty()))
    }

    /// Returns which requests give way first when throughput runs short.
    pub(crate) fn priority(self) -> Result<Priority, Failure> {
        match self.word(&names::PRIORITY_LEVEL)? {
            None | Some("") => Ok(Priority::High),
            Some(word) if word.eq_ignore_ascii_case("high") => Ok(Priority::High),
            Some(word) if word.eq_ignore_ascii_case("low") => Ok(Priority::Low),
            Some(word) => Err(invalid(&names::PRIORITY_LEVEL, word, "High or Low")),
        }
    }

    /// Returns the part of the container's throughput that a request is to be counted against. Where the container has no
    /// such part, it makes no difference, as with the service.
    pub(crate) fn throughput_bucket(self) -> Result<Option<Bucket>, Failure> {
        let Some(word) = self.word(&names::THROUGHPUT_BUCKET)?.filter(|word| !word.is_empty()) else {
            return Ok(None);
        };
        let bucket = word.parse().ok().and_then(Bucket::new);
        let expected = || invalid(&names::THROUGHPUT_BUCKET, word, "a number from 1 to 5");
        bucket.map(Some).ok_or_else(expected)
    }

    /// Returns the kind of throughput that an offer is to have from now on, if it is to change.
    pub(crate) fn migration(self) -> Result<Option<Migration>, Failure> {
        match (self.flag(&names::MIGRATE_TO_AUTOSCALE)?, self.flag(&names::MIGRATE_TO_MANUAL)?) {
            (true, true) => Err(Failure::bad_request(format!(
                "the headers {} and {} exclude each other: throughput is manual or autoscale",
                names::MIGRATE_TO_AUTOSCALE,
                names::MIGRATE_TO_MANUAL
            ))),
            (true, false) => Ok(Some(Migration::ToAutoscale)),
            (false, true) => Ok(Some(Migration::ToManual)),
            (false, false) => Ok(None),
        }
    }
}

/// Returns the refusal of a header's value.
pub(crate) fn invalid(name: &HeaderName, value: &str, expected: &str) -> Failure {
    Failure::bad_request(format!("the header {name} has the invalid value '{value}'; expected {expected}"))
}

#[cfg(test)]
mod tests;
