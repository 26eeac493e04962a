//! The examples that each teach one thing.

use crate::programs::{example, run_well};

fn says(name: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run_well(&mut example(name, folder.path())), expected);
}

#[test]
fn a_transfer_that_cannot_reach_its_account_is_put_back() {
    says(
        "transfer",
        "\
bob has 4200 cents more
ada has its money back: the bank does not know `nobody`
ada: -4200, bob: 4200
",
    );
}

#[test]
fn an_approval_reminds_twice_and_then_asks_the_boss() {
    says(
        "approval",
        "\
to kim: a day off?
kim said yes
to kim: a new chair?
to kim: reminder 1
to kim: reminder 2
to the boss: kim does not answer
run `slow` gave no output: it failed: the boss said no
",
    );
}

#[test]
fn a_subscription_bills_what_its_plan_says_until_it_is_cancelled() {
    says(
        "subscription",
        "\
bill: 500 for small
bill: 500 for small
upgrade from small
bill: 900 for large
bill: 900 for large
bill: 900 for large
output: 3700
asked after the end: 3700
",
    );
}

#[test]
fn a_thousand_branches_are_joined_once() {
    says(
        "fan_out",
        "\
3997 of 3997 words were counted
",
    );
}
