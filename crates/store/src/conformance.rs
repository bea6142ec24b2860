//! What every engine must do, as one suite.
//!
//! An engine supplies a [`Harness`] and calls [`conformance_suite!`](crate::conformance_suite); each case
//! becomes a test on a store of its own. The cases speak through the seam alone: what only one engine has
//! (its locks, its files) is tested beside it.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a case that fails panics; that is its use"
)]

mod clock;
mod fixture;
mod shop;

pub mod batches;
pub mod chain;
pub mod coupons;
pub mod customers;
pub mod history;
pub mod keys;
pub mod leases;
pub mod ledger;
pub mod letters;
pub mod money;
pub mod orders;
pub mod payments;
pub mod products;
pub mod reconciling;
pub mod refunds;
pub mod repayments;
pub mod requests;
pub mod rounds;
pub mod sets;
pub mod states;
pub mod stock;
pub mod sweeping;
pub mod texts;
pub mod transactions;
pub mod waitlists;

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Clock, Store};

pub use clock::MockClock;
pub use fixture::Fixture;

/// One database of its own for one case.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Opens the database as a process would: the first time with nothing in it, not even a schema, and
    /// later with what was committed.
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// Expands to one `#[tokio::test]` per case of the suite.
///
/// Takes an expression that makes a [`Harness`](crate::conformance::Harness), evaluated afresh in each test;
/// it may `.await`. The calling crate needs `tokio` with `macros` and `rt`.
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite!(@cases $harness, open_empty, transactions: [
            new_store_is_empty_until_it_is_migrated,
        ]);
        $crate::conformance_suite!(@cases $harness, open, transactions: [
            time_never_runs_backwards,
            dropped_transaction_never_was,
            refused_set_leaves_nothing,
            committed_data_survives_a_restart,
            snapshot_sees_one_state_while_another_commits,
            snapshot_does_not_wait_for_a_writer,
            concurrent_transactions_lose_no_count,
            generation_stays_while_sets_rise,
            generation_that_ended_is_known,
            suspended_store_counts_no_set,
            server_is_the_one_that_was_seen,
            partitions_are_read_as_they_were_put,
            migrating_again_changes_nothing,
            closed_store_is_unavailable,
        ]);
        $crate::conformance_suite!(@cases $harness, open, sets: [
            empty_sets_are_harmless,
            largest_sets_are_done_whole,
        ]);
        $crate::conformance_suite!(@cases $harness, open, texts: [
            texts_of_orders_round_trip,
            texts_of_payments_round_trip,
            texts_of_letters_round_trip,
            texts_of_leases_round_trip,
            sku_of_digits_stays_text,
        ]);
        $crate::conformance_suite!(@cases $harness, open, products: [
            product_is_read_as_it_was_put,
            product_put_again_is_replaced,
            taken_sku_is_a_data_fault,
            unknown_products_are_absent,
            products_are_listed_newest_first,
            product_counts_as_sold_once_it_is_in_an_order,
        ]);
        $crate::conformance_suite!(@cases $harness, open, stock: [
            claims_add_up,
            claims_of_one_product_in_one_set_add_up,
            claim_below_zero_is_a_data_fault,
            claim_that_does_not_fit_is_a_data_fault,
            shelf_holds_the_unissued_of_open_batches,
            figures_tell_where_the_codes_are,
            claims_fall_only_when_they_are_moved,
            unknown_products_can_be_locked,
        ]);
        $crate::conformance_suite!(@cases $harness, open, customers: [
            locking_a_customer_twice_is_no_fault,
            unknown_customer_has_no_standing,
            customer_written_differently_is_one,
            standing_counts_open_orders_and_units,
            customer_who_paid_is_new_no_more,
            units_add_up,
            units_below_zero_are_a_data_fault,
            units_of_an_unknown_customer_are_a_data_fault,
            customer_without_an_order_is_forgotten,
        ]);
        $crate::conformance_suite!(@cases $harness, open, orders: [
            order_is_read_as_it_was_inserted,
            order_keeps_the_writing_of_its_customer,
            free_order_is_inserted_paid,
            unknown_orders_are_absent,
            lines_come_by_order_and_number,
            lowest_product_chooses_the_queue,
            impossible_orders_are_data_faults,
            orders_are_listed_newest_first,
            list_holds_to_every_part_of_its_filter,
            orders_are_found_by_when_they_were_placed,
        ]);
        $crate::conformance_suite!(@cases $harness, open, states: [
            every_state_is_read_as_it_was_written,
            advance_raises_an_orders_own_version_by_one,
            stale_version_moves_nothing,
            versions_tell_of_every_move,
        ]);
        $crate::conformance_suite!(@cases $harness, open, requests: [
            request_is_claimed_once,
            stale_request_is_taken_over,
            released_request_is_free,
            request_without_its_order_is_a_data_fault,
            old_requests_are_purged_in_bits,
        ]);
        $crate::conformance_suite!(@cases $harness, open, sweeping: [
            ended_holds_are_due_oldest_first,
            paid_orders_are_unheard_oldest_first,
            told_order_is_unheard_again_later,
            told_at_once_are_unheard_as_they_paid,
            only_paid_orders_are_unheard,
            letter_keeps_the_sweeper_off,
        ]);
        $crate::conformance_suite!(@cases $harness, open, payments: [
            payment_is_claimed_once,
            reference_twice_in_one_set_is_claimed_once,
            reference_of_another_provider_is_another,
            unclaimed_payment_is_free_again,
            payment_of_nothing_is_a_data_fault,
            payment_is_matched_with_a_known_order_only,
            notices_are_listed_newest_first,
        ]);
        $crate::conformance_suite!(@cases $harness, open, money: [
            money_is_summed_by_payment_and_state,
            sums_of_zero_are_absent,
            unmatched_money_is_no_orders,
            amounts_are_exact_up_to_the_largest,
            impossible_entries_are_data_faults,
        ]);
        $crate::conformance_suite!(@cases $harness, open, refunds: [
            payment_is_read_with_what_became_of_it,
            payments_are_listed_by_where_their_money_is,
            refunds_are_found_by_name_and_payment,
            a_refunds_name_is_taken_once,
            impossible_refunds_are_data_faults,
            refunded_money_without_its_refund_is_found,
        ]);
        $crate::conformance_suite!(@cases $harness, open, batches: [
            opened_batch_is_on_sale,
            batches_are_used_oldest_first,
            batch_opens_only_with_the_codes_it_says,
            open_batch_cannot_be_opened_again,
            open_batch_takes_no_more_codes,
            impossible_batches_are_data_faults,
            batch_closes_when_its_last_code_is_given,
            code_is_stored_once,
            known_codes_are_found,
            codes_are_read_by_range,
            loading_batches_are_listed_oldest_first,
            loading_batch_is_discarded_in_bits,
            discarding_ends_where_nothing_is_loading,
        ]);
        $crate::conformance_suite!(@cases $harness, open, chain: [
            issued_spans_are_told_by_order_line_and_part,
            overlap_is_a_data_fault,
            overlap_within_one_set_is_a_data_fault,
            gap_is_a_data_fault,
            span_outside_its_batch_is_a_data_fault,
            part_of_a_line_is_issued_once,
            span_belongs_to_whom_its_kind_says,
            batch_moves_only_where_its_chain_ends,
            loading_batch_issues_nothing,
        ]);
        $crate::conformance_suite!(@cases $harness, open, waitlists: [
            waitlist_is_ordered_by_payment_and_id,
            limit_counts_from_the_head_of_each_waitlist,
            order_joins_a_waitlist_once,
            order_leaves_every_waitlist,
            impossible_places_are_data_faults,
            head_is_fillable_when_its_codes_are_there,
            heads_of_several_products_are_fillable,
            told_head_is_fillable_again_later,
            letter_keeps_a_head_from_being_filled,
        ]);
        $crate::conformance_suite!(@cases $harness, open, letters: [
            letter_is_read_as_it_was_put,
            order_has_one_live_letter,
            settled_letter_is_left_alone,
            letter_put_again_is_one_letter,
            resolving_settles_the_live_letter,
            letters_are_listed_newest_first,
            lone_tries_are_counted_until_they_are_cleared,
        ]);
        $crate::conformance_suite!(@cases $harness, open, leases: [
            lease_is_held_by_one,
            holder_renews_its_lease,
            lease_that_ran_out_is_free,
            lease_is_released_by_its_holder_alone,
        ]);
        $crate::conformance_suite!(@cases $harness, open, keys: [
            api_key_is_found_by_its_hash,
            hash_of_another_key_is_a_data_fault,
            api_key_is_revoked_once,
            api_keys_are_listed_newest_first,
            keyring_is_learned_once,
            audit_log_takes_entries,
        ]);
        $crate::conformance_suite!(@cases $harness, open, ledger: [
            batches_tell_where_their_codes_are,
            movements_tell_of_each_code,
            movements_are_listed_in_pages_by_filter,
            places_tell_what_covers_them,
            place_is_voided_and_replaced_once,
            cause_is_said_once_and_of_a_span,
            claimants_come_in_their_turn,
            replacement_is_a_part_of_its_line,
            replacement_that_does_not_match_is_found,
        ]);
        $crate::conformance_suite!(@cases $harness, open, history: [
            money_is_told_entry_by_entry,
            audit_entries_are_found_by_their_subject,
            letters_are_found_by_their_order,
            reissued_order_has_the_next_epoch,
            orders_are_found_by_time_and_when_they_are_stuck,
        ]);
        $crate::conformance_suite!(@cases $harness, open, rounds: [
            raffle_is_read_with_its_round_on_sale,
            second_round_on_sale_is_a_data_fault,
            full_round_is_followed_in_the_same_transaction,
            rounds_that_wait_for_a_beacon_are_not_due,
            draw_is_written_once,
            claims_begin_with_the_last_round,
        ]);
        $crate::conformance_suite!(@cases $harness, open, repayments: [
            repayment_goes_on_where_it_was_left,
        ]);
        $crate::conformance_suite!(@cases $harness, open, coupons: [
            pools_take_consecutive_indexes,
            overlapping_pool_is_a_data_fault,
            rest_of_all_batches_is_voided,
        ]);
        $crate::conformance_suite!(@cases $harness, open, reconciling: [
            new_shop_is_balanced,
            correct_shop_is_balanced,
            claim_without_an_order_is_found,
            units_without_an_order_are_found,
            payment_without_entries_is_found,
            money_below_zero_is_found,
            paid_order_without_money_is_found,
            issued_order_without_codes_is_found,
            codes_without_an_issue_are_found,
            waiting_order_that_is_not_backordered_is_found,
            backordered_order_that_does_not_wait_is_found,
        ]);
    };
    (@cases $harness:expr, $open:ident, $group:ident: [$($case:ident,)+]) => {
        $(
            #[tokio::test]
            async fn $case() {
                let fixture = $crate::conformance::Fixture::$open($harness).await;
                $crate::conformance::$group::$case(&fixture).await;
            }
        )+
    };
}
