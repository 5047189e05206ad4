//! Traces of what real use showed: what goes out, request by request, when the true counts are known.
//!
//! A trace says what is right by the definitions of the design, not what the proxy does today. What it does not do yet
//! is listed in [`EXPECTED_FAILURES`], and each name is struck off as it is mended.
//!
//! A6 (surely cold: 61 idle minutes at an OpenAI-shaped upstream may still be warm) has no trace, since nobody can move
//! the clock of a proxy from outside: the core's unit tests of `surely_cold` cover it. A10 is the engine's
//! `left_alone`. What a plan that failed costs the second time (B9) is a unit test too.

#[path = "traces/designs.rs"]
pub(crate) mod designs;
#[path = "traces/epochs.rs"]
mod epochs;
#[path = "traces/hooks.rs"]
mod hooks;
#[path = "traces/hostile.rs"]
mod hostile;
#[path = "traces/parity.rs"]
mod parity;
#[path = "traces/pruning.rs"]
mod pruning;
#[path = "traces/random.rs"]
mod random;
#[path = "traces/refusals.rs"]
mod refusals;
#[path = "traces/rig.rs"]
mod rig;
#[path = "traces/sizes.rs"]
mod sizes;
#[path = "traces/spirals.rs"]
mod spirals;
#[path = "traces/steering.rs"]
mod steering;
#[path = "traces/windows.rs"]
mod windows;

use std::pin::Pin;

use epitome_testkit::expectation;

/// Traces that do not hold yet. A trace that holds while it is listed fails, so that the list cannot lie.
const EXPECTED_FAILURES: &[&str] = &[];

type Trace = fn() -> Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! traces {
    ($($module:ident { $($name:ident),* $(,)? })*) => {
        /// Every trace by its name. One that does not hold panics.
        const TRACES: &[(&str, Trace)] = &[$($(
            (stringify!($name), || Box::pin($module::$name())),
        )*)*];

        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                run(stringify!($name)).await;
            }
        )*)*
    };
}

traces! {
    designs {
        every_design_in_every_format,
        every_design_survives_a_restart,
        a_good_model_writes_in_the_background,
        a_silent_model_is_not_waited_for,
        a_mad_model_is_not_believed,
    }
    hostile {
        no_order_out_of_data,
    }
    hooks {
        a_hook_that_cancels_is_obeyed_in_the_background,
        hooks_are_told_once_of_what_takes_effect,
        a_hook_that_hangs_holds_up_no_request,
    }
    parity {
        engine_and_proxy_decide_alike,
    }
    steering {
        an_undo_takes_effect_on_the_next_request,
        a_private_conversation_is_not_stored,
        a_dropped_pin_is_dropped_in_its_branches,
    }
    pruning {
        old_results_give_way_first,
        nothing_is_pruned_unless_it_is_set,
        what_lines_cannot_help_is_summarised,
        a_pruned_view_survives_a_restart_and_is_undone,
    }
    epochs {
        a1_back_on_the_larger_model,
        a1_back_on_the_larger_model_after_a_restart,
        a1_after_one_large_max_tokens,
        a4_credit_runs_out_four_times,
        a4_a_gateway_without_count_tokens,
        a5_a_prepared_compaction_lasts_as_long_as_a_fresh_one,
    }
    windows {
        a2_an_echo_of_words_about_an_overflow,
        a2_a_stop_reason_on_a_good_answer,
        a2_a_refusal_without_numbers_of_a_small_request,
        a_small_window_without_numbers_is_found_in_the_end,
        a2_the_length_of_a_tools_name,
        a2_a_server_restarted_with_a_larger_window,
        b6_a_configured_window_raises_the_tables,
        b6_a_configured_window_lowers_the_tables,
        b6_gpt_4_is_known,
        b6_gpt_5_1_codex_is_known,
        b6_claude_opus_4_1_is_known,
        b6_a_name_of_bedrock_is_known,
    }
    sizes {
        a3_a_pdf_that_counts_much,
        a3_a_streamed_web_search,
        a7_a_request_may_use_most_of_the_window,
        a7_a_fresh_result_is_not_cut_to_a_fraction,
        a8_the_same_first_words_of_another_program,
        a9_counts_below_the_estimate_in_16_000,
        a9_counts_below_the_estimate_in_100_000,
        a9_results_above_and_below_the_estimate_in_16_000,
        a9_results_above_and_below_the_estimate_in_100_000,
        a9_requests_above_and_below_the_estimate_in_16_000,
        a9_requests_above_and_below_the_estimate_in_100_000,
    }
    spirals {
        steady_growth_with_constant_counts,
        steady_growth_with_drifting_counts,
        steady_growth_with_alternating_counts,
    }
    refusals {
        b2_a_large_output_where_it_is_counted,
        b2_a_large_output_where_it_is_not_counted,
        b4_roles_that_must_alternate,
        a_result_that_has_to_be_shortened_further,
        b9_an_unreachable_floor_is_named_each_time,
        headers_after_a_recovery_that_could_not_help,
        headers_after_an_output_that_leaves_no_room,
    }
    random {
        random_traces,
    }
}

/// Runs the trace of this name.
async fn run(name: &str) {
    let (_, trace) = TRACES
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a trace of this name");
    expectation::check(name, EXPECTED_FAILURES, trace()).await;
}

#[test]
fn only_traces_are_expected_to_fail() {
    for name in EXPECTED_FAILURES {
        let known = TRACES.iter().any(|(known, _)| known == name);
        assert!(known, "{name} is no trace: strike it off");
    }
}
