//! The table of all cases. Each topic is a file.

mod access;
mod answers;
mod bodies;
mod connections;
mod ending;
mod framing;
mod gremlin_common;
mod gremlin_frames;
mod gremlin_work;
mod mongo_common;
mod mongo_frames;
mod mongo_work;
mod pages;
mod queries;
mod scripts;
mod settling;

use armilla_hostile::case::Case;

/// Every case, by topic.
pub(crate) const CASES: &[Case] = &[
    Case::new("access", "false-signatures-are-refused", |stage| {
        Box::pin(access::false_signatures_are_refused(stage))
    }),
    Case::new("access", "the-read-only-key-only-reads", |stage| {
        Box::pin(access::the_read_only_key_only_reads(stage))
    }),
    Case::new("access", "the-read-only-key-makes-no-tokens", |stage| {
        Box::pin(access::the_read_only_key_makes_no_tokens(stage))
    }),
    Case::new("access", "a-token-of-an-item-opens-one-item", |stage| {
        Box::pin(access::a_token_of_an_item_opens_one_item(stage))
    }),
    Case::new("access", "a-token-tells-nothing-of-the-rest", |stage| {
        Box::pin(access::a_token_tells_nothing_of_the_rest(stage))
    }),
    Case::new("access", "bent-tokens-are-refused", |stage| Box::pin(access::bent_tokens_are_refused(stage))),
    Case::new("access", "tokens-end-with-their-container", |stage| {
        Box::pin(access::tokens_end_with_their_container(stage))
    }),
    Case::new("access", "odd-paths-open-nothing", |stage| Box::pin(access::odd_paths_open_nothing(stage))),
    Case::new("access", "batches-reach-no-further-than-their-parts", |stage| {
        Box::pin(access::batches_reach_no_further_than_their_parts(stage))
    }),
    Case::new("access", "table-signatures-reach-no-further", |stage| {
        Box::pin(access::table_signatures_reach_no_further(stage))
    }),
    Case::new("framing", "garbage-is-refused", |stage| Box::pin(framing::garbage_is_refused(stage))),
    Case {
        arguments: &["--header-timeout-ms", "2000"],
        ..Case::new("framing", "slow-headers-hold-up-nobody", |stage| {
            Box::pin(framing::slow_headers_hold_up_nobody(stage))
        })
    },
    Case::new("framing", "unread-answers-are-bounded", |stage| {
        Box::pin(framing::unread_answers_of_http2_hold_up_nobody(stage))
    }),
    Case {
        arguments: &["--header-timeout-ms", "60000", "--body-timeout-ms", "60000"],
        ..Case::new("framing", "large-heads-hold-up-nobody", |stage| {
            Box::pin(framing::large_heads_hold_up_nobody(stage))
        })
    },
    Case {
        arguments: &["--script-seconds", "1"],
        ..Case::new("scripts", "generated-scripts-end-in-their-process", |stage| {
            Box::pin(scripts::generated_scripts(stage))
        })
    },
    Case::new("scripts", "endless-scripts-hold-up-nobody", |stage| {
        Box::pin(scripts::endless_scripts_hold_up_nobody(stage))
    }),
    Case::new("scripts", "endless-scripts-do-not-outlive-the-server", |stage| {
        Box::pin(scripts::endless_scripts_do_not_outlive_the_server(stage))
    }),
    Case::new("answers", "unread-streams-are-bounded", |stage| {
        Box::pin(answers::unread_streams_are_bounded(stage))
    }),
    Case {
        arguments: &["--body-timeout-ms", "2000"],
        ..Case::new("answers", "connections-that-take-no-answers-are-closed", |stage| {
            Box::pin(answers::connections_that_take_no_answers_are_closed(stage))
        })
    },
    Case::new("bodies", "slow-bodies-block-nobody", |stage| {
        Box::pin(bodies::slow_bodies_block_nobody(stage))
    }),
    Case {
        arguments: &["--body-timeout-ms", "2000"],
        ..Case::new("bodies", "dripping-bodies-are-given-up", |stage| {
            Box::pin(bodies::dripping_bodies_are_given_up(stage))
        })
    },
    Case::new("bodies", "bodies-without-an-end-give-way", |stage| {
        Box::pin(bodies::bodies_without_an_end_give_way(stage))
    }),
    Case::new("bodies", "pieces-of-one-byte-cost-no-more", |stage| {
        Box::pin(bodies::pieces_of_one_byte_cost_no_more(stage))
    }),
    Case {
        arguments: &["--body-timeout-ms", "60000"],
        ..Case::new("bodies", "frames-of-one-byte-cost-no-more", |stage| {
            Box::pin(bodies::frames_of_one_byte_cost_no_more(stage))
        })
    },
    Case::new("connections", "idle-connections-give-way", |stage| {
        Box::pin(connections::idle_connections_give_way(stage))
    }),
    Case::new("connections", "memory-goes-back-after-a-burst", |stage| {
        Box::pin(connections::memory_goes_back_after_a_burst(stage))
    }),
    Case::new("ending", "sigterm-ends-in-time", |stage| Box::pin(ending::sigterm_ends_in_time(stage))),
    Case::new("ending", "a-second-sigterm-ends-at-once", |stage| {
        Box::pin(ending::a_second_sigterm_ends_at_once(stage))
    }),
    Case::new("pages", "other-pages-change-nothing", |stage| {
        Box::pin(pages::other_pages_change_nothing(stage))
    }),
    Case::new("pages", "other-names-get-nothing", |stage| Box::pin(pages::other_names_get_nothing(stage))),
    Case::new("queries", "joins-without-an-end-hold-up-nobody", |stage| {
        Box::pin(queries::joins_without_an_end_hold_up_nobody(stage))
    }),
    Case::new("queries", "texts-made-by-queries-are-bounded", |stage| {
        Box::pin(queries::texts_made_by_queries_are_bounded(stage))
    }),
    Case::new("queries", "patterns-take-no-longer-than-their-text", |stage| {
        Box::pin(queries::patterns_take_no_longer_than_their_text(stage))
    }),
    Case::new("mongo_frames", "frames-that-lie-are-refused", |stage| {
        Box::pin(mongo_frames::frames_that_lie_are_refused(stage))
    }),
    Case::new("mongo_frames", "long-messages-take-what-came", |stage| {
        Box::pin(mongo_frames::long_messages_take_what_came(stage))
    }),
    Case {
        arguments: &["--header-timeout-ms", "2000", "--body-timeout-ms", "2000"],
        ..Case::new("mongo_frames", "half-messages-are-given-up", |stage| {
            Box::pin(mongo_frames::half_messages_are_given_up(stage))
        })
    },
    Case::new("mongo_frames", "deep-documents-are-refused", |stage| {
        Box::pin(mongo_frames::deep_documents_are_refused(stage))
    }),
    Case::new("mongo_frames", "little-does-not-become-much", |stage| {
        Box::pin(mongo_frames::little_does_not_become_much(stage))
    }),
    Case::new("mongo_frames", "unfinished-logins-hold-up-no-others", |stage| {
        Box::pin(mongo_frames::unfinished_logins_hold_up_no_others(stage))
    }),
    Case::new("mongo_work", "cursors-without-number-are-bounded", |stage| {
        Box::pin(mongo_work::cursors_without_number_are_bounded(stage))
    }),
    Case::new("mongo_work", "sessions-without-number-are-bounded", |stage| {
        Box::pin(mongo_work::sessions_without_number_are_bounded(stage))
    }),
    Case::new("mongo_work", "updates-that-grow-are-bounded", |stage| {
        Box::pin(mongo_work::updates_that_grow_are_bounded(stage))
    }),
    Case::new("mongo_work", "mongo-patterns-end", |stage| Box::pin(mongo_work::mongo_patterns_end(stage))),
    Case::new("mongo_work", "expressions-come-to-an-end", |stage| {
        Box::pin(mongo_work::expressions_come_to_an_end(stage))
    }),
    Case {
        arguments: &["--mongo-pipeline-seconds", "5"],
        ..Case::new("mongo_work", "pipelines-come-to-an-end", |stage| {
            Box::pin(mongo_work::pipelines_come_to_an_end(stage))
        })
    },
    Case::new("mongo_work", "circles-are-walked-once", |stage| {
        Box::pin(mongo_work::circles_are_walked_once(stage))
    }),
    Case::new("gremlin_frames", "handshakes-that-lie-are-refused", |stage| {
        Box::pin(gremlin_frames::handshakes_that_lie_are_refused(stage))
    }),
    Case::new("gremlin_frames", "web-socket-frames-that-lie-are-refused", |stage| {
        Box::pin(gremlin_frames::web_socket_frames_that_lie_are_refused(stage))
    }),
    Case::new("gremlin_frames", "parts-without-an-end-are-bounded", |stage| {
        Box::pin(gremlin_frames::parts_without_an_end_are_bounded(stage))
    }),
    Case {
        arguments: &["--header-timeout-ms", "2000", "--body-timeout-ms", "2000"],
        ..Case::new("gremlin_frames", "half-handshakes-are-given-up", |stage| {
            Box::pin(gremlin_frames::half_handshakes_are_given_up(stage))
        })
    },
    Case::new("gremlin_frames", "pings-without-number-hold-up-no-others", |stage| {
        Box::pin(gremlin_frames::pings_without_number_hold_up_no_others(stage))
    }),
    Case::new("gremlin_frames", "deep-and-huge-values-are-refused", |stage| {
        Box::pin(gremlin_frames::deep_and_huge_values_are_refused(stage))
    }),
    Case::new("gremlin_frames", "requests-without-a-login-are-bounded", |stage| {
        Box::pin(gremlin_frames::requests_without_a_login_are_bounded(stage))
    }),
    Case {
        arguments: &["--gremlin-timeout-seconds", "4"],
        ..Case::new("gremlin_work", "traversals-come-to-an-end", |stage| {
            Box::pin(gremlin_work::traversals_come_to_an_end(stage))
        })
    },
    Case {
        arguments: &["--gremlin-timeout-seconds", "4"],
        ..Case::new("gremlin_work", "scripts-without-a-bound-are-refused", |stage| {
            Box::pin(gremlin_work::scripts_without_a_bound_are_refused(stage))
        })
    },
    Case {
        arguments: &["--gremlin-timeout-seconds", "1"],
        ..Case::new("gremlin_work", "steps-that-multiply-are-bounded", |stage| {
            Box::pin(gremlin_work::steps_that_multiply_are_bounded(stage))
        })
    },
    Case::new("gremlin_work", "one-client-does-not-take-all-places", |stage| {
        Box::pin(gremlin_work::one_client_does_not_take_all_places(stage))
    }),
    Case {
        arguments: &["--body-timeout-ms", "3000"],
        ..Case::new("gremlin_work", "unread-answers-of-gremlin-are-bounded", |stage| {
            Box::pin(gremlin_work::unread_answers_of_gremlin_are_bounded(stage))
        })
    },
    Case::new("gremlin_work", "very-many-requests-are-each-answered", |stage| {
        Box::pin(gremlin_work::very_many_requests_are_each_answered(stage))
    }),
];
