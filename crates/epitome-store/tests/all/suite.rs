//! What every store must do.

#[path = "suite/chains.rs"]
pub(crate) mod chains;
#[path = "suite/changes.rs"]
pub(crate) mod changes;
#[path = "suite/compactions.rs"]
pub(crate) mod compactions;
#[path = "suite/counted.rs"]
pub(crate) mod counted;
#[path = "suite/deleting.rs"]
pub(crate) mod deleting;
#[path = "suite/housekeeping.rs"]
pub(crate) mod housekeeping;
#[path = "suite/importing.rs"]
pub(crate) mod importing;
#[path = "suite/jobs.rs"]
pub(crate) mod jobs;
#[path = "suite/leases.rs"]
pub(crate) mod leases;
#[path = "suite/listings.rs"]
pub(crate) mod listings;
#[path = "suite/log.rs"]
pub(crate) mod log;
#[path = "suite/memories.rs"]
pub(crate) mod memories;
#[path = "suite/pins.rs"]
pub(crate) mod pins;
#[path = "suite/recall.rs"]
pub(crate) mod recall;
#[path = "suite/shared.rs"]
pub(crate) mod shared;
#[path = "suite/tenants.rs"]
pub(crate) mod tenants;
#[path = "suite/turns.rs"]
pub(crate) mod turns;
#[path = "suite/usage.rs"]
pub(crate) mod usage;

/// Makes a test of every body, in a module named after the fixture that opens an empty store. The bodies that need several
/// handles on one store are in a module named after the fixture that opens those; a store that only one handle can reach
/// has none.
macro_rules! run_over {
    ($open:ident, $open_shared:ident) => {
        $crate::suite::run_over!($open);
        $crate::suite::run_over!(@bodies $open_shared,
            shared: one_of_many_gets_the_lease, one_of_many_changes_the_conversation,
                words_written_by_one_are_found_by_another, one_of_many_extends_the_conversation,
                one_of_many_commits_the_compaction, many_append_the_same,
                deleted_while_others_append;
            jobs: never_more_run_than_may;
        );
    };
    ($open:ident) => {
        $crate::suite::run_over!(@bodies $open,
            log: append_is_idempotent, history_is_byte_exact, forks_share_their_prefix,
                unknown_tip_has_no_history, different_bytes_conflict, dangling_rows_are_refused,
                failed_append_changes_nothing, five_thousand_digests, huge_entry, empty_entry,
                dropped_write_leaves_nothing_behind;
            compactions: first_writer_wins, span_commits_with_compaction, commit_is_idempotent,
                undone_rows_are_not_returned, states_only_move_forward, taken_id,
                model_classes_are_apart,
                a_line_of_forks_nearest_first;
            changes: single_rows, changes_come_in_order, superseded_change_leaves_nothing,
                dangling_changes_are_refused;
            deleting: a_conversation_goes_with_all_that_is_its_own, forks_stay_whole,
                what_was_deleted_does_not_come_back, another_may_begin_alike,
                a_deleted_one_leaves_others_their_beginning, idle_ones_may_come_back,
                nothing_forks_off_what_was_deleted,
                forks_of_engines_keep_it, brothers_keep_their_own_pins;
            housekeeping: oldest_first, a_snapshot_has_everything, another_secret_is_refused,
                vacuum_changes_nothing;
            importing: a_fork_made_here_outlives_a_deletion, what_was_deleted_here_stays_deleted,
                a_newer_window_leaves_the_counts;
            chains: one_question_says_what_many_would;
            counted: counts_are_known_to_all;
            jobs: a_job_is_done_by_one, a_job_of_the_dead_is_taken_over, deleted_with_its_conversation;
            leases: leases_have_one_holder, lost_lease_supersedes;
            memories: memories_are_kept_once, memories_by_words;
            pins: pins_are_dropped_and_restored, forks_share_dropped_pins;
            recall: entries_by_words, any_query_is_words, scopes, repeated_entry_is_found_once,
                indexed_later_and_once;
            tenants: tenants_never_meet, nothing_is_recalled_across_tenants, key_race;
            turns: turns_lead_to_an_answer, turns_in_a_circle_lead_nowhere, a_thousand_turns;
            usage: spend_adds_up_by_day;
            listings: conversations_newest_first, outcomes_newest_first, window_upsert,
                closed_store;
        );
    };
    // Sizes, and copies that stores without a key bring in: `encrypted` has what is different there.
    (@clear $open:ident) => {
        $crate::suite::run_over!(@bodies $open,
            housekeeping: statistics_count, sweeping_leaves_what_is_used, brought_in_once;
            importing: a_fork_outlives_a_deletion_that_comes_with_it;
            usage: usage_is_of_one_tenant;
        );
    };
    (@clear $open:ident, $open_shared:ident) => {
        $crate::suite::run_over!(@clear $open);
        $crate::suite::run_over!(@bodies $open_shared, shared: a_snapshot_is_one_moment;);
    };
    (@callers_clock $open:ident, $open_shared:ident) => {
        $crate::suite::run_over!(@bodies $open, leases: leases_end_by_the_callers_clock;);
        $crate::suite::run_over!(@bodies $open_shared, shared: one_of_many_gets_the_lease_that_ended;);
    };
    (@bodies $open:ident, $($group:ident: $($body:ident),+;)+) => {
        mod $open {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $body() {
                    // Where there is no such server the fixture has said so.
                    if let Some(opened) = $crate::fixtures::$open().await {
                        $crate::suite::$group::$body(opened.store.clone()).await;
                    }
                }
            )+)+
        }
    };
}
pub(crate) use run_over;
